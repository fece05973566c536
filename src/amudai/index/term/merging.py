"""Merging term indexes: sorted terms are merged, and their lists get other numbers. No value is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from amudai.edit import IndexPart, MergedSource
from amudai.errors import InvalidArgument, located
from amudai.format import IndexDescriptor
from amudai.index.contract import BuildPlan, IndexSpec
from amudai.index.numbering import Numbering
from amudai.index.paths import paths_of
from amudai.index.term.custom import Collation, Tokenizer, collation_of, tokenizer_of
from amudai.index.term.merge_sources import FedMerge, IndexSource
from amudai.index.term.positions_writer import SpooledBlocks
from amudai.index.term.slots import SlotMap
from amudai.index.term.spec import TermIndex
from amudai.index.term.stored_form import COLLATIONS, ELEMENT, GRANULARITIES, TOKENIZERS
from amudai.index.term.tuning import tuning_of
from amudai.index.term.writing import placed, written
from amudai.shard import ArtifactSpace, ShardReader
from amudai.storage import Spool
from amudai.types import BasicType, NodePath, SchemaNode

__all__ = ["TermMerging", "term_spec"]


def term_spec(descriptor: IndexDescriptor, shard: ShardReader) -> TermIndex | None:
    """The index that a user would ask for to get one like this; None if it is not complete, or not known in full."""
    paths = paths_of(descriptor, shard)
    properties = {name.lower(): value.value for name, value in descriptor.properties}
    collation = _name_of(COLLATIONS, properties.get("collation"), collation_of)
    if paths is None or collation is None or not Numbering.of(descriptor, shard).complete:
        return None
    entries = len(descriptor.indexed_fields)
    stored = _listed(properties.get("tokenizers"), entries, TOKENIZERS["word"])
    tokenizers = [_name_of(TOKENIZERS, stored[entry], tokenizer_of) for entry in paths]
    granularities = [_listed(properties.get("granularities"), entries, GRANULARITIES[0])[entry] for entry in paths]
    if None in tokenizers or not set(granularities) <= set(GRANULARITIES):
        return None
    return TermIndex(
        *paths.values(),
        tokenizer=[str(each) for each in tokenizers],
        collation=collation,
        granularity=[str(each) for each in granularities],
    )


class TermMerging:
    """A term index that is made of others."""

    def __init__(self, spec: IndexSpec, plan: BuildPlan, parts: Sequence[IndexPart]) -> None:
        if not isinstance(spec, TermIndex):
            raise InvalidArgument(f"index: expected a TermIndex, found {spec!r}")
        self._spec = spec
        self._plan = plan
        self._parts = parts
        self._spool = Spool(plan.temp_folder, plan.memory * 3 // 8)
        self._slots: dict[str, list[int]] = {}  # of the shards before each, for fields whose positions are slots

    def finish(self, space: ArtifactSpace) -> IndexDescriptor:
        """Write the index and return its descriptor."""
        # A quarter of the memory for what the sources read, less for each if there are many.
        memory = self._plan.memory // (4 * max(1, len(self._parts)))
        blocks = SpooledBlocks()
        merge = FedMerge([self._source(part, blocks, memory) for part in self._parts])
        built = written(merge, self._spool, tuning_of(self._plan.profile), self._plan.crew, blocks)
        found = placed(built, space, self._spec, self._plan)
        self.close()
        return found

    def close(self) -> None:
        """Release memory and temporary files, finished or not."""
        self._spool.close()

    def _source(self, part: IndexPart, blocks: SpooledBlocks, memory: int) -> IndexSource:
        with located(url=part.shard.url, index=part.descriptor.index_type):
            return IndexSource(part, self._shifts(part), self._spool, blocks, memory)

    def _shifts(self, part: IndexPart) -> dict[int, int]:
        """What is added to the positions of each field of an index, by its new schema id."""
        shifts = dict.fromkeys(part.ids.values(), part.first_row)
        for name, path, granularity in zip(self._spec.fields, self._plan.paths, self._spec.granularities, strict=True):
            if granularity == ELEMENT:
                shifts[path[-1].schema_id] = self._slots_before(part, name, path)
        return shifts

    def _slots_before(self, part: IndexPart, name: str, path: NodePath) -> int:
        """How many slots of a field are before the first stripe of an index."""
        if name not in self._slots:
            counts = [_slots_of(source, path) for source in part.merging.sources]
            self._slots[name] = [0, *accumulate(counts)]
        own = SlotMap(part.shard, stored_path(part.source, path)[0])
        return self._slots[name][part.merging.sources.index(part.source)] + own.before(part.own_first_stripe)


def stored_path(source: MergedSource, path: NodePath) -> tuple[NodePath, NodePath]:
    """The nodes of a shard for a path of the new shard, and the nodes of the path that the shard does not have."""
    found: list[SchemaNode] = []
    below = source.columns
    for at, node in enumerate(path):
        column = next(each for each in below if each.node.schema_id == node.schema_id)
        if column.stored is None:
            return tuple(found), path[at:]
        found.append(column.stored)
        below = column.children
    return tuple(found), ()


def _slots_of(source: MergedSource, path: NodePath) -> int:
    """How many slots a field has in a shard. Where the shard lacks the field, nulls take its place."""
    stored, missing = stored_path(source, path)
    count = SlotMap(source.reader, stored).count if stored else source.reader.num_positions
    for node in missing[:-1]:
        if node.basic_type in (BasicType.LIST, BasicType.MAP):
            return 0
        count *= node.fixed_size if node.basic_type is BasicType.FIXED_SIZE_LIST else 1
    return count


def _name_of(
    names: Mapping[str, str], stored: object, registered: Callable[[object], Tokenizer | Collation | None]
) -> str | None:
    """The name for users of a stored name: that of this library, or of a package that is registered."""
    own = next((name for name, value in names.items() if value == stored), None)
    if own is not None:
        return own
    found = registered(stored)
    return None if found is None else found.name


def _listed(stored: object, count: int, missing: str) -> list[object]:
    """One setting for each field; `missing` where the descriptor has none."""
    found: list[object] = [each.value for each in stored] if isinstance(stored, tuple) else []
    return [*found[:count], *[missing] * (count - len(found))]
