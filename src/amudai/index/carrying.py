"""Indexes of shards that are merged: merged, kept with their rows, rebuilt or dropped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy

from amudai.edit import DROP_HINT, IndexPart, Merging, index_parts
from amudai.errors import InvalidArgument, UnsupportedFeature, located
from amudai.format import IndexCollection, IndexDescriptor, moved_indexes
from amudai.index.build import index_sinks, paths_for
from amudai.index.catalog import index_type
from amudai.index.contract import BuildPlan, IndexSpec
from amudai.shard import ArtifactSpace, ShardReader
from amudai.threads import Crew, thread_count
from amudai.types import nodes_below

__all__ = ["carried_indexes", "is_movable", "specs_of"]

Report = Callable[[int, int, int], object]


def is_movable(name: str) -> bool:
    """Whether a stripe keeps its index of this type when it moves to another shard. Other types are not known."""
    return index_type(name) is not None


def specs_of(
    readers: Sequence[ShardReader], *, with_stripes: bool = True, known_only: bool = False
) -> tuple[IndexSpec, ...]:
    """The indexes that any of the shards has, of the whole shard and, `with_stripes`, of stripes.

    Indexes that this version cannot build raise UnsupportedFeature, or are left out if `known_only`.
    """
    found: dict[IndexSpec, None] = {}
    for reader in readers:
        for descriptor in (*reader.indexes, *(each for each, _ in reader.field_indexes())):
            if not known_only or _known_spec(descriptor, reader) is not None:
                found[_spec_of(descriptor, reader)] = None
        nodes = () if reader.is_own or not with_stripes else tuple(nodes_below(reader.schema.fields()))
        for stripe in reader.stripes if with_stripes else ():
            own = stripe.indexes if stripe.directory.indexes is not None else ()
            for descriptor in (*own, *(each for each, _ in stripe.field_indexes(nodes))):
                if not known_only or _known_spec(descriptor, reader) is not None:
                    found[_at_stripes(_spec_of(descriptor, reader))] = None
    return tuple(found)


def _at_stripes(spec: IndexSpec) -> IndexSpec:
    moved = copy(spec)
    object.__setattr__(moved, "level", "stripe")
    return moved


def carried_indexes(
    merging: Merging,
    policy: str,
    space: ArtifactSpace,
    *,
    memory: int,
    temp_folder: str | None,
    profile: str,
    report: Report,
) -> bytes:
    """The payload of an `IndexCollection` with the indexes of the merged shard as a whole.

    Parameters
    ----------
    policy
        `"merge"`, `"keep"`, `"rebuild"` or `"drop"`, as `amudai.merge` takes them.
    report
        Called now and then with the rows that are done, the bytes that were read, and 0.
    """
    if policy == "drop":
        _refuse_required(merging)
        return b""
    if policy == "keep":
        return _kept(merging)
    found = [(_spec(part), part) for part in index_parts(merging)]
    specs = list(dict.fromkeys(spec for spec, _ in found))
    if policy == "rebuild":
        return _rebuilt(merging, specs, space, memory, temp_folder, profile, report)
    works = []
    crew = Crew(thread_count(None))
    for spec in specs:
        parts = [part for each, part in found if each == spec and part.rows]
        _require_all(merging, spec, parts)
        kind = index_type(spec.index_type)
        assert kind is not None
        if kind.merge is None:
            expected = f'expected a type that can be merged, found {kind.name}; use indexes="keep" or "rebuild"'
            raise UnsupportedFeature(f"index: {expected}")
        plan = BuildPlan(paths_for(spec, kind, merging.columns), memory, temp_folder, profile, crew)
        works.append(kind.merge(spec, plan, parts))
    try:
        return space.indexes(works).encode()
    finally:
        for work in works:
            work.close()


def _spec(part: IndexPart) -> IndexSpec:
    """The spec of an index that can be merged or rebuilt. An error for any other."""
    return _spec_of(part.descriptor, part.shard, DROP_HINT)


def _spec_of(descriptor: IndexDescriptor, shard: ShardReader, hint: str = "indexes= names those to build") -> IndexSpec:
    with located(url=shard.url, index=descriptor.index_type):
        spec = _known_spec(descriptor, shard)
        if spec is None:
            expected = "expected one that this version can merge or rebuild"
            raise UnsupportedFeature(f"index: {expected}, found another; {hint}")
        return spec


def _known_spec(descriptor: IndexDescriptor, shard: ShardReader) -> IndexSpec | None:
    """The spec of an index; None if this version cannot build one like it."""
    kind = index_type(descriptor.index_type)
    return None if kind is None or kind.spec is None else kind.spec(descriptor, shard)


def _require_all(merging: Merging, spec: IndexSpec, parts: Sequence[IndexPart]) -> None:
    """Raise InvalidArgument if a shard has no such index for some of its rows, or hashed narrower values."""
    hint = 'indexes="keep" leaves each index with the rows of its shard, "rebuild" builds them anew, "drop" drops them'
    for part in parts:
        if not all(part.descriptor.indexed_fields):
            message = f"indexes: expected indexes of all their columns, found {spec!r} of a column that was dropped"
            raise InvalidArgument(f"{message} in {part.shard.url}; {hint}")
    for source in merging.sources:
        end = 0
        for part in (part for part in parts if part.source is source):
            if part.rows.start > end:
                break
            end = max(end, part.rows.stop)
        if end < source.reader.num_positions:
            place = source.reader.url
            owner = next((part.shard.url for part in parts), "")
            message = f"indexes: expected {spec!r} in all shards, as in {owner}, found none in {place}"
            if any(part.source is source for part in parts):
                message = f"indexes: expected {spec!r} over all rows, found it over some of the rows of {place}"
            raise InvalidArgument(f"{message}; {hint}")
        widened = {each.node.schema_id for column in source.columns if column.is_widened for each in column.walk()}
        for part in parts:
            if part.source is source and widened.intersection(part.ids.values()):
                message = f"indexes: expected columns of one type, found {spec!r} of a column that is stored as another"
                raise InvalidArgument(f"{message} in {source.reader.url}; {hint}")


def _kept(merging: Merging) -> bytes:
    """All indexes, each with the rows of its shard."""
    found = []
    for source in merging.sources:
        stored = source.root.metadata.indexes
        if not stored:
            continue
        for descriptor in IndexCollection.decode(stored):
            if not is_movable(descriptor.index_type):
                expected = "expected one of a known type"
                raise UnsupportedFeature(
                    f"index: {expected}, found {descriptor.index_type!r}; {DROP_HINT}",
                    url=source.reader.url,
                )
        stored = source.valid_indexes(stored, is_movable)
        if len(merging.sources) > 1 or any(old != new for old, new in source.ids.items()):
            stored = moved_indexes(
                stored,
                first_row=source.first_row,
                first_stripe=source.first_stripe,
                rows=source.reader.num_positions,
                ids=source.ids,
            )
        found.append(stored)
    # The concatenation of payloads is one message with the repeated fields of all.
    return b"".join(found)


def _rebuilt(
    merging: Merging,
    specs: Sequence[IndexSpec],
    space: ArtifactSpace,
    memory: int,
    temp_folder: str | None,
    profile: str,
    report: Report,
) -> bytes:
    if not specs:
        return b""
    crew = Crew(thread_count(None))
    sinks = index_sinks(specs, merging.columns, memory=memory, temp_folder=temp_folder, profile=profile, crew=crew)
    done = size = 0
    try:
        for source in merging.sources:
            source.reader.require_work()
            wanted = [column for column in source.columns if sinks.wanting(column.node.schema_id)]
            for stripe, ordinal, first_row in source.stripes:
                for column in wanted:
                    at = first_row
                    for values, taken in source.read(stripe, column):
                        for sink in sinks.wanting(column.node.schema_id):
                            sink.append(values, ordinal, at)
                        at += values.length
                        size += taken
                done += stripe.num_positions
                report(done, size, 0)
        return space.indexes(sinks.shard).encode()
    finally:
        sinks.close()


def _refuse_required(merging: Merging) -> None:
    for source in merging.sources:
        for descriptor in source.reader.indexes:
            if descriptor.required:
                message = f"required index {descriptor.index_type!r}: expected it to be kept, found indexes='drop'"
                raise UnsupportedFeature(message, url=source.reader.url)
