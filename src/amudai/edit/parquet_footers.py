"""What the footers of Parquet files say: where column chunks are, and the bounds of their values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow as pa

from amudai.arrow import schema_nodes, stored_form, to_storage
from amudai.column import ParquetFile
from amudai.errors import AmudaiError, CorruptedData, UnsupportedFeature
from amudai.format import AnyValue, DataRef, Fingerprint, ParquetColumnChunk, ParquetFileColumn, RangeStats
from amudai.lazy import lazy
from amudai.stats import FieldStatistics, merge
from amudai.storage import Artifact
from amudai.types import BasicType, SchemaNode, nodes_below

__all__ = ["AttachedFile", "RowGroups", "fingerprint_of_parquet", "footer_statistics", "leaf_nodes"]

_STORAGE_TYPES: Final = ("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
_UNITS: Final = {"milliseconds": "ms", "microseconds": "us"}


@dataclass(frozen=True, eq=False)
class AttachedFile:
    """A Parquet file that becomes a part of a shard.

    Attributes
    ----------
    name
        How the shard refers to it.
    file
        The open file.
    constants
        The values that the names of its folders give to all of its rows.
    chosen
        The numbers of the row groups that become a part of the shard; None for all.
    """

    name: str
    file: ParquetFile
    constants: Mapping[str, pa.Scalar] = field(default_factory=dict)
    chosen: Sequence[int] | None = None

    @property
    def artifact(self) -> Artifact:
        """The file itself."""
        return self.file.artifact

    @property
    def row_groups(self) -> Sequence[int]:
        """The numbers of the row groups that become a part of the shard."""
        return range(self.file.metadata.num_row_groups) if self.chosen is None else self.chosen

    @lazy
    def leaves(self) -> dict[str, range]:
        """The column chunks of each top-level column, by its name."""
        found: dict[str, range] = {}
        at = 0
        for node in schema_nodes(self.file.schema):
            count = sum(1 for _ in leaf_nodes(node))
            found[node.name] = range(at, at + count)
            at += count
        if at != self.file.metadata.num_columns:
            expected = f"{at} column chunks for the columns of its Arrow schema"
            message = f"Parquet: expected {expected}, found {self.file.metadata.num_columns}"
            raise UnsupportedFeature(message, url=self.artifact.url)
        return found

    @lazy
    def element_ids(self) -> list[int]:
        """The number of each leaf in the list of schema elements of the footer, groups included."""
        seen: dict[tuple[str, ...], int] = {}
        schema = self.file.metadata.schema
        tops = [name for name, leaves in self.leaves.items() for _ in leaves]
        for at, top in enumerate(tops):
            path = schema.column(at).path
            parts = (top, *(part for part in path[len(top) + 1 :].split(".") if part))
            for depth in range(1, len(parts) + 1):
                seen.setdefault(parts[:depth], len(seen) + 1)  # the root is element 0
        leaves = (schema.column(at).path for at in range(len(tops)))
        return [
            seen[(top, *(part for part in path[len(top) + 1 :].split(".") if part))]
            for top, path in zip(tops, leaves, strict=True)
        ]

    def chunk(self, row_group: int, leaf: int) -> ParquetColumnChunk:
        """The place of a leaf in a row group."""
        stored = self.file.metadata.row_group(row_group).column(leaf)
        pages = stored.data_page_offset
        # Some writers state an offset of 0 where there is no dictionary.
        dictionary = stored.dictionary_page_offset if stored.has_dictionary_page else None
        start = pages if not dictionary else min(pages, dictionary)
        end = start + stored.total_compressed_size
        if not 0 <= start <= pages <= end <= self.artifact.size:
            found = f"expected pages within {self.artifact.size} bytes, found {start}..{end}"
            raise CorruptedData(f"column chunk {leaf} of row group {row_group}: {found}", url=self.artifact.url)
        return ParquetColumnChunk(
            storage_type=_STORAGE_TYPES.index(stored.physical_type),
            schema_element_id=self.element_ids[leaf],
            row_group_id=row_group,
            column_chunk_id=leaf,
            file_url=None,
            data_pages=(pages, end),
            data_page_count=0,  # only reading the pages would tell
            dictionary=(dictionary, pages) if dictionary else None,
            data_page_map=None,
        )

    def column(self, row_groups: Sequence[int], leaf: int) -> ParquetFileColumn:
        """A leaf in these row groups."""
        whole = DataRef(self.name, 0, self.artifact.size)
        return ParquetFileColumn(whole, tuple(self.chunk(each, leaf) for each in row_groups))


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Some row groups of a file, in order."""

    file: AttachedFile
    numbers: tuple[int, ...]

    @property
    def rows(self) -> tuple[int, ...]:
        """How many rows each of them has."""
        return tuple(self.file.file.rows(each) for each in self.numbers)


def fingerprint_of_parquet(file: Artifact) -> Fingerprint:
    """What tells a Parquet file from another of its name: its size, its footer, and when it was modified."""
    footer = ParquetFile(file).footer
    mark = Fingerprint.of(file.size, file.size - len(footer), footer)
    modified = file.store.describe(file.url).modified
    return Fingerprint(mark.size, mark.start, mark.end, mark.digest, modified or 0)


def leaf_nodes(node: SchemaNode) -> Iterator[SchemaNode]:
    """The nodes below which nothing is, in the order of the columns of a Parquet file."""
    return (each for each in nodes_below((node,)) if not each.children)


def footer_statistics(
    node: SchemaNode, leaf: int, parts: Sequence[RowGroups], kind: pa.DataType, *, is_flat: bool
) -> FieldStatistics:
    """What footers say about a leaf in these row groups: how many values, how many nulls, the least and the greatest.

    Without `is_flat`, below lists, only a bound on the number of values is known.
    """
    found = FieldStatistics()
    for part in parts:
        for number in part.numbers:
            stored = part.file.file.metadata.row_group(number).column(leaf)
            found = merge(found, _of_chunk(node, part.file, leaf, stored, kind, is_flat))
    return found


def _of_chunk(
    node: SchemaNode, file: AttachedFile, leaf: int, stored: Any, kind: pa.DataType, is_flat: bool
) -> FieldStatistics:
    said = stored.statistics if is_flat and stored.is_stats_set else None
    nulls = said.null_count if said is not None and said.has_null_count else None
    bounds = None
    if nulls == stored.num_values:
        bounds = RangeStats(min=None, max=None)
    elif said is not None and said.has_min_max:
        bounds = _bounds(node, file.file.metadata.schema.column(leaf), said, kind)
    return FieldStatistics(position_count=stored.num_values, null_count=nulls, range_stats=bounds)


def _bounds(node: SchemaNode, column: Any, said: Any, kind: pa.DataType) -> RangeStats | None:
    """The least and the greatest value, as the shard states them; None if the footer's are of no use here."""
    if pa.types.is_timestamp(kind) and node.basic_type is BasicType.DATETIME:
        unit = _UNITS.get(json.loads(column.logical_type.to_json()).get("timeUnit", ""))
        if unit is None or not isinstance(said.min_raw, int):
            return None
        ends, kind = [said.min_raw, said.max_raw], pa.timestamp(unit)
    elif not pa.types.is_integer(kind) or node.basic_type is BasicType.DATETIME:
        return None  # floats may have a NaN, of which footers say nothing
    else:
        ends = [said.min, said.max]
    try:
        stored = to_storage(pa.array(ends, kind), node, node.name)
    except (AmudaiError, pa.ArrowException, OverflowError, TypeError):
        return None
    assert stored.data is not None
    unsigned = pa.types.is_unsigned_integer(stored_form(node))
    low, high = (AnyValue("u64" if unsigned else "i64", int(end)) for end in stored.data.tolist())
    return RangeStats(min=low, max=high)
