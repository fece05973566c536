"""Columns of a shard that is there already: more of them, fewer, or with other names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa

from amudai.api.advice import warn_of_needless_indexes
from amudai.api.compatibility import Compatibility, is_extended
from amudai.api.editing import NewRoot, reader_of
from amudai.api.packing import requested_groups
from amudai.api.progress import Report, reporting
from amudai.api.requested import Bloom, requested_distinct, requested_filters
from amudai.api.shard import Shard
from amudai.api.sizes import rows_at_once
from amudai.arguments import mapping, shown
from amudai.arrow import (
    SCHEMA_PROPERTY,
    ArrowFields,
    Decimals,
    Extension,
    Timestamps,
    annotated,
    changed_schema,
    check_aliases,
    columns_of,
    nanosecond_nodes,
    schema_nodes,
    stored_columns,
)
from amudai.edit import IndexChange, Root, add_columns, first_free_id, with_fields
from amudai.encoding import ProfileChoice, profiles_of
from amudai.errors import InvalidArgument, located
from amudai.index import IndexSpec, index_before_renaming, index_sinks, index_without
from amudai.shard import BuildOptions, ShardBuilder, ShardReader
from amudai.storage import Allow, Size, size_of
from amudai.threads import Crew, thread_count
from amudai.types import (
    NANOSECONDS,
    BasicType,
    NodePath,
    SchemaNode,
    nanoseconds_name,
    nodes_below,
    quote_name,
    with_first_id,
)

__all__ = ["drop_columns", "rename_columns", "with_columns"]


def with_columns(
    shard: Shard | str | os.PathLike[str],
    columns: Any,
    to: str | os.PathLike[str],
    *,
    indexes: Sequence[IndexSpec] = (),
    replace: bool = False,
    profile: ProfileChoice = "balanced",
    bloom: Bloom = (),
    distinct: Sequence[str] = (),
    extensions: Mapping[str, Extension | str] | None = None,
    aliases: Mapping[str, Sequence[str]] | None = None,
    packed_groups: Sequence[Sequence[str]] = (),
    packed: bool | Sequence[str] = False,
    compatibility: Compatibility = "reference",
    timestamps: Timestamps = "ticks",
    decimals: Decimals = "decimal128",
    store: object | None = None,
    allow: Allow = (),
    overwrite: bool = False,
    memory_limit: Size = "512MB",
    temp_dir: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    progress: bool | Report | None = None,
) -> Shard:
    """Add columns to a shard, and open the result.

    Only the new columns are written. The new root refers to the stripes of the old one, so the old files must stay. The
    other columns keep their values, statistics and indexes.

    Parameters
    ----------
    shard
        The shard, or where it is.
    columns
        The values by column, in a dict: lists, arrays, series, and streams of one column (readers, iterators of arrays
        or batches). Or a table, reader or frame with all new columns. Streams are not held in memory. There must be a
        value for each position of the shard, in order, deleted rows included: `shard.num_positions` in all.
    to
        Where the new root goes. It refers to files outside of its folder by their URLs, which `allow` must permit.
    indexes
        Indexes over the new columns, as `amudai.write` takes them.
    replace
        Whether a column that exists is replaced, at its place. Its indexes go with it. Otherwise it is an error.
    profile, bloom, distinct, extensions, aliases, packed_groups, packed, compatibility, timestamps, decimals
        As `amudai.write` takes them, for the new columns.
    store, overwrite, memory_limit, temp_dir, threads, progress
        As `amudai.write` takes them.
    allow
        As `amudai.open` takes it.

    Examples
    --------
    >>> shard = amudai.write({"word": ["a", "bb", "ccc"]}, "words.amudai.shard", overwrite=True)
    >>> more = amudai.with_columns(shard, {"length": [1, 2, 3]}, "more.amudai.shard", overwrite=True)
    >>> more.read().to_pydict()
    {'word': ['a', 'bb', 'ccc'], 'length': [1, 2, 3]}
    """
    source = _SourceShard(shard, to, store=store, overwrite=overwrite, allow=allow, temp_dir=temp_dir)
    reader, new = source.reader, source.new
    schema, batches = columns_of(columns)
    if not len(schema):
        raise InvalidArgument("columns: expected at least one, found none")
    _require_length(columns, schema, reader)
    old = source.schema
    taken = [name for name in schema.names if name in old.names]
    if taken and not replace:
        expected = "expected none of this name yet: replace=True replaces it"
        raise InvalidArgument(f"column {taken[0]!r}: {expected}", url=reader.url)
    folder = new.temp_folder
    memory = max(1 << 20, size_of(memory_limit))
    crew = Crew(thread_count(threads))
    with located(url=new.url), new, reporting(progress, reader.directory.total_records) as report:
        root = _without(source, [(node,) for node in source.columns if node.name in taken])
        nodes = annotated(schema_nodes(schema, timestamps=timestamps, decimals=decimals), extensions, aliases)
        nanoseconds = nanosecond_nodes(schema, nodes)
        stored = with_first_id((*nodes, *filter(None, nanoseconds)), first_free_id(root))
        gone = {*taken, *map(nanoseconds_name, taken)}
        together = (*(node for node in source.fields if node.name not in gone), *stored)
        _check_names(together)
        if aliases:
            check_aliases(together)
        profiles = profiles_of(profile, stored)
        sinks = index_sinks(
            indexes,
            stored[: len(nodes)],
            memory=memory // 4,
            temp_folder=folder,
            profile=profiles.default.name,
            crew=crew,
        )
        builder = ShardBuilder(
            stored,
            new.publication.sealing,
            new.publication.file,
            BuildOptions(
                profile=profiles.default,
                profiles=profiles.by_id,
                extended=is_extended(compatibility),
                memory=memory,
                temp_folder=folder,
                bloom=requested_filters(stored[: len(nodes)], bloom),
                distinct=requested_distinct(stored[: len(nodes)], distinct),
                groups=requested_groups(stored[: len(nodes)], packed_groups, packed),
            ),
            crew.each,
            sinks,
        )
        try:
            after = iter(stored[len(nodes) :])
            paired = [None if each is None else next(after) for each in nanoseconds]
            size = 0
            for part in _parts(schema, batches, reader, memory, builder.end_stripe):
                builder.append(stored_columns(part, stored[: len(nodes)], paired), part.num_rows)
                size += part.nbytes
                report(builder.rows, size, builder.encoded_bytes)
            new.publication.publish(add_columns(root, builder.finish(), _with_new(old, schema)))
        finally:
            builder.close()
    found = new.opened()
    warn_of_needless_indexes(found._reader, indexes)
    return found


def drop_columns(
    shard: Shard | str | os.PathLike[str],
    columns: Sequence[str],
    to: str | os.PathLike[str],
    *,
    store: object | None = None,
    allow: Allow = (),
    overwrite: bool = False,
) -> Shard:
    """Leave columns out of a shard, and open the result. No value is read or written.

    The new root refers to the stripes of the old one, so the old files must stay.
    The bytes of dropped columns stay in those files. An index that covers dropped columns alone is dropped, too. One
    that covers others as well stays for those.

    Parameters
    ----------
    shard
        The shard, or where it is.
    columns
        Names of the columns. A path such as `"http.status"` names a member of a struct.
    to
        Where the new root goes. It refers to files outside of its folder by their URLs, which `allow` must permit.
    store, overwrite
        As `amudai.write` takes them.
    allow
        As `amudai.open` takes it.

    Examples
    --------
    >>> shard = amudai.write({"a": [1, 2], "b": [3, 4]}, "ab.amudai.shard", overwrite=True)
    >>> amudai.drop_columns(shard, ["b"], "a.amudai.shard", overwrite=True).read().to_pydict()
    {'a': [1, 2]}
    """
    if isinstance(columns, str):
        raise InvalidArgument(f"columns: expected a list of names, found the name {columns!r}")
    source = _SourceShard(shard, to, store=store, overwrite=overwrite, allow=allow)
    paths = [source.changeable(name) for name in columns]
    return source.published(_without(source, paths))


def rename_columns(
    shard: Shard | str | os.PathLike[str],
    columns: Mapping[str, str],
    to: str | os.PathLike[str],
    *,
    store: object | None = None,
    allow: Allow = (),
    overwrite: bool = False,
) -> Shard:
    """Give columns other names, and open the result. No value is read or written, and all indexes stay in use.

    The new root refers to the stripes of the old one, so the old files must stay.

    Parameters
    ----------
    shard
        The shard, or where it is.
    columns
        The new names by old name. A path such as `"http.status"` names a member of a struct; its new name is a name,
        not a path. All names change at once, so two columns can swap theirs.
    to
        Where the new root goes. It refers to files outside of its folder by their URLs, which `allow` must permit.
    store, overwrite
        As `amudai.write` takes them.
    allow
        As `amudai.open` takes it.

    Examples
    --------
    >>> shard = amudai.write({"a": [1, 2], "b": [3, 4]}, "ab.amudai.shard", overwrite=True)
    >>> new = amudai.rename_columns(shard, {"a": "first"}, "renamed.amudai.shard", overwrite=True)
    >>> new.schema.names
    ['first', 'b']
    """
    source = _SourceShard(shard, to, store=store, overwrite=overwrite, allow=allow)
    names: dict[int, str] = {}
    for path, name in mapping(columns, "columns").items():
        if not isinstance(name, str) or not name:
            raise InvalidArgument(f"columns: expected a new name for {path!r}, found {shown(name)}")
        nodes = source.changeable(path)
        names[nodes[-1].schema_id] = name
        if len(nodes) == 1 and (hidden := source.nanoseconds_of(nodes[0])) is not None:
            names[hidden.schema_id] = nanoseconds_name(name)
    fields = tuple(_renamed(node, names) for node in source.fields)
    _check_names(fields)
    paths = dict(_paths(source.fields, ()))
    moved = {at for at, path in paths.items() if any(node.schema_id in names for node in path)}
    change = partial(index_before_renaming, renamed=moved, paths=paths)
    return source.published(source.changed(fields, change))


class _SourceShard:
    """A shard, and a new root that refers to it."""

    def __init__(
        self,
        shard: Shard | str | os.PathLike[str],
        to: str | os.PathLike[str],
        *,
        store: object | None,
        overwrite: bool,
        allow: Allow,
        temp_dir: str | os.PathLike[str] | None = None,
    ) -> None:
        self.reader = reader_of(shard, store, allow)
        allowed = allow or self.reader.allow
        self.new = NewRoot([self.reader], to, store, overwrite=overwrite, temp_dir=temp_dir, allow=allowed)
        self.root = self.new.root_of(self.reader)
        self._arrow = ArrowFields(self.reader)
        self.fields = self.reader.schema.fields()
        self.columns = self._arrow.visible()

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of all columns."""
        return self._arrow.schema

    def changeable(self, name: str) -> NodePath:
        """The nodes down to a column or a member of a struct."""
        nodes = self._arrow.find(name)
        above = nodes[-2] if len(nodes) > 1 else None
        if above is not None and above.basic_type is not BasicType.STRUCT:
            found = f"found one below a {above.basic_type.name.lower()}"
            raise InvalidArgument(f"column {name!r}: expected a column or a member of a struct, {found}")
        return nodes

    def nanoseconds_of(self, column: SchemaNode) -> SchemaNode | None:
        """The internal field with the nanoseconds after the ticks of a column."""
        hidden = nanoseconds_name(column.name)
        return next((node for node in self.fields if node.internal == NANOSECONDS and node.name == hidden), None)

    def changed(self, fields: Sequence[SchemaNode], change: IndexChange) -> Root:
        """The root with other fields."""
        left = {node.schema_id: node for node in nodes_below(fields)}
        kept = any(name == SCHEMA_PROPERTY for name, _ in self.reader.properties.custom)
        arrow = changed_schema(self.schema, self.columns, left) if kept else None
        return with_fields(self.root, fields, arrow, change)

    def published(self, root: Root) -> Shard:
        """Write the root and open it."""
        with located(url=self.new.url), self.new:
            self.new.publication.publish(root)
        return self.new.opened()


def _without(source: _SourceShard, paths: Sequence[NodePath]) -> Root:
    """The root without these columns, and without the nanoseconds of those."""
    if not paths:
        return source.root
    dropped = {node.schema_id for path in paths for node in nodes_below(path[-1:])}
    for path in paths:
        if len(path) == 1 and (hidden := source.nanoseconds_of(path[0])) is not None:
            dropped.add(hidden.schema_id)
    fields = tuple(_remaining(node, dropped) for node in source.fields if node.schema_id not in dropped)
    return source.changed(fields, partial(index_without, dropped=dropped))


def _remaining(node: SchemaNode, dropped: set[int]) -> SchemaNode:
    children = tuple(_remaining(child, dropped) for child in node.children if child.schema_id not in dropped)
    if node.children and not children:
        expected = "expected a member to remain: drop the struct itself"
        raise InvalidArgument(f"columns of {quote_name(node.name)!r}: {expected}")
    return replace(node, children=children)


def _renamed(node: SchemaNode, names: Mapping[int, str]) -> SchemaNode:
    children = tuple(_renamed(child, names) for child in node.children)
    return replace(node, name=names.get(node.schema_id, node.name), children=children)


def _check_names(fields: Sequence[SchemaNode]) -> None:
    """Raise an error if two columns, or two members of a struct, have the same name."""
    for siblings in (fields, *(node.children for node in nodes_below(fields) if node.basic_type is BasicType.STRUCT)):
        seen: set[str] = set()
        for node in siblings:
            if node.name and node.name in seen:
                raise InvalidArgument(f"columns: expected different names, found {shown(node.name)} twice")
            seen.add(node.name)


def _paths(nodes: Sequence[SchemaNode], above: NodePath) -> Iterator[tuple[int, NodePath]]:
    for node in nodes:
        path = (*above, node)
        yield node.schema_id, path
        yield from _paths(node.children, path)


def _with_new(old: pa.Schema, new: pa.Schema) -> pa.Schema:
    """The old columns, each replaced by a new one of its name, and then the other new ones."""
    replaced = {field.name: field for field in new}
    fields = [replaced.pop(field.name, field) for field in old]
    return pa.schema([*fields, *replaced.values()], metadata=old.metadata)


def _require_length(columns: Any, schema: pa.Schema, reader: ShardReader) -> None:
    """Raise an error if values that are not streamed have another length than the shard."""
    given = [columns] if isinstance(columns, pa.Table | pa.RecordBatch) else []
    given = list(columns.values()) if isinstance(columns, Mapping) else given
    for name, values in zip(schema.names, given, strict=False):
        found = len(values) if hasattr(values, "__len__") else reader.directory.total_records
        if found != reader.directory.total_records:
            raise _wrong_length(name, str(found), reader)


def _wrong_length(name: str, found: str, reader: ShardReader) -> InvalidArgument:
    positions, deleted = reader.directory.total_records, reader.directory.deleted_records
    expected = f"expected {positions} values, one for each position"
    if deleted and found == str(positions - deleted):
        found += ", one for each row that is not deleted: deleted rows need a value, too"
    return InvalidArgument(f"column {name!r}: {expected}, found {found}", url=reader.url)


def _parts(
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
    reader: ShardReader,
    memory: int,
    end_stripe: Callable[[], None],
) -> Iterator[pa.RecordBatch]:
    """The batches, cut where a stripe ends or where they are too large. Calls `end_stripe` after each stripe."""
    filled = (batch for batch in batches if batch.num_rows)
    rest = next(filled, None)
    rows = 0
    for stripe in reader.stripes:
        end = rows + stripe.num_positions
        if rows == end:
            yield pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)
        while rows < end:
            if rest is None:
                raise _wrong_length(schema.names[0], str(rows), reader)
            part = rest.slice(0, min(end - rows, rows_at_once(rest, memory)))
            yield part
            rows += part.num_rows
            rest = rest.slice(part.num_rows) if part.num_rows < rest.num_rows else next(filled, None)
        end_stripe()
    if rest is not None:
        raise _wrong_length(schema.names[0], "more", reader)
