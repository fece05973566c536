"""What the footers of Parquet files say: where column chunks are, and the bounds of their values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import pyarrow as pa

from amudai.arrow import schema_nodes, stored_form, to_storage
from amudai.column import ParquetFile
from amudai.errors import AmudaiError, CorruptedData, UnsupportedFeature, located
from amudai.format import (
    AnyValue,
    DataRef,
    Fingerprint,
    ParquetChunkFacts,
    ParquetColumnChunk,
    ParquetFileColumn,
    ParquetFooter,
    RangeStats,
    noted_time,
)
from amudai.lazy import lazy
from amudai.stats import FieldStatistics, merge
from amudai.storage import Artifact
from amudai.types import BasicType, SchemaNode, nodes_below

__all__ = ["AttachedFile", "RowGroups", "fingerprint_of_parquet", "footer_statistics", "leaf_nodes"]

_STORAGE_TYPES: Final = ("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
_VALUE_SIZES: Final = (1, 4, 8, 12, 4, 8, 0, 0)
# Writers that compared some types wrongly before these versions.
_VERSION: Final = re.compile(r"(parquet-mr|parquet-cpp)(?![\w-])(?: version ([0-9]{1,9})\.([0-9]{1,9}))?")
_SOUND_SINCE: Final = {"parquet-mr": (1, 10), "parquet-cpp": (1, 3)}
_BYTES_SOUND_SINCE: Final = (1, 8)
_UNITS: Final = {"milliseconds": "ms", "microseconds": "us"}


class _ParquetLeaf(NamedTuple):
    """What the schema of a file states about a leaf."""

    type: str
    type_number: int
    levels: tuple[int, int]
    """The greatest repetition and definition level."""
    width: int
    """The bytes of a value; 0 if they differ."""
    logical: Mapping[str, Any]
    has_order: bool
    """Whether values of this type can be compared."""

    @classmethod
    def of(cls, column: Any) -> _ParquetLeaf:
        number, logical = _STORAGE_TYPES.index(column.physical_type), column.logical_type
        unordered = column.physical_type == "INT96" or column.converted_type == "INTERVAL"
        return cls(
            type=column.physical_type,
            type_number=number,
            levels=(column.max_repetition_level, column.max_definition_level),
            width=column.length if column.physical_type == "FIXED_LEN_BYTE_ARRAY" else _VALUE_SIZES[number],
            logical=json.loads(logical.to_json()),
            has_order=not unordered and logical.type not in ("UNKNOWN", "GEOMETRY", "GEOGRAPHY"),
        )


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

    @lazy
    def footer(self) -> ParquetFooter:
        """What the footer states."""
        return ParquetFooter.decode(self.file.footer)

    @lazy
    def columns(self) -> list[_ParquetLeaf]:
        """What the schema states about each leaf."""
        return [_ParquetLeaf.of(self.file.metadata.schema.column(at)) for at in range(self.file.metadata.num_columns)]

    def facts(self, row_group: int, leaf: int) -> ParquetChunkFacts:
        """What the footer states about a leaf in a row group.

        CorruptedData if it contradicts the schema of the file. Arrow would end the process, or read no value.
        """
        with located(url=self.artifact.url):
            try:
                stored = self.footer.chunk(row_group, leaf)
                _require_possible(stored, self.columns[leaf])
            except (CorruptedData, UnsupportedFeature) as error:
                message = f"column chunk {leaf} of row group {row_group}: {error.message}"
                raise type(error)(message, **error.place) from error
            return stored

    def chunk(self, row_group: int, leaf: int) -> ParquetColumnChunk:
        """The place of a leaf in a row group."""
        stored = self.facts(row_group, leaf)
        pages = stored.data_pages
        # Some writers state an offset of 0 where there is no dictionary.
        dictionary = stored.dictionary
        start = pages if not dictionary else min(pages, dictionary)
        end = start + stored.size
        if not 0 <= start <= pages <= end <= self.artifact.size:
            found = f"expected pages within {self.artifact.size} bytes, found {start}..{end}"
            raise CorruptedData(f"column chunk {leaf} of row group {row_group}: {found}", url=self.artifact.url)
        return ParquetColumnChunk(
            storage_type=stored.storage_type,
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


def fingerprint_of_parquet(parquet: ParquetFile) -> Fingerprint:
    """What tells a Parquet file from another of its name: its size, its footer, and when it was modified."""
    file, footer = parquet.artifact, parquet.footer
    mark = Fingerprint.of(file.size, file.size - len(footer), footer)
    modified = noted_time(file.store.describe(file.url).modified)
    return Fingerprint(mark.size, mark.start, mark.end, mark.digest, modified)


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
            found = merge(found, _of_chunk(node, part.file, number, leaf, kind, is_flat))
    return found


def _require_possible(stored: ParquetChunkFacts, leaf: _ParquetLeaf) -> None:
    """Raise CorruptedData if the facts of a chunk contradict the leaf of the schema."""
    number = stored.storage_type
    if number != leaf.type_number:
        found = _STORAGE_TYPES[number] if 0 <= number < len(_STORAGE_TYPES) else f"a type {number}"
        raise CorruptedData(f"expected {leaf.type}, found {found}")
    for what, counted in (("values", stored.values), ("nulls", stored.nulls or 0)):
        if counted < 0:
            raise CorruptedData(f"expected a number of {what} that is not negative, found {counted}")
    for what, most, count in zip(("repetition", "definition"), leaf.levels, stored.level_counts, strict=True):
        if count not in (0, most + 1):
            raise CorruptedData(f"expected counts of {most + 1} {what} levels, found {count}")
    if stored.text_bytes is not None and leaf.type != "BYTE_ARRAY":
        raise CorruptedData(f"expected a size of texts only in columns of BYTE_ARRAY, found {stored.text_bytes}")
    for end in (*(stored.bounds or ()), *(stored.old_bounds or ())):
        if 0 < len(end) < leaf.width:
            raise CorruptedData(f"expected bounds of {leaf.width} bytes, found {len(end)}")


def _of_chunk(
    node: SchemaNode, file: AttachedFile, row_group: int, leaf: int, kind: pa.DataType, is_flat: bool
) -> FieldStatistics:
    stored, column = file.facts(row_group, leaf), file.columns[leaf]
    if not (is_flat and _is_trusted(file.footer.created_by, stored, column)):
        return FieldStatistics(position_count=stored.values)
    bounds: RangeStats | None
    if stored.nulls == stored.values:
        bounds = RangeStats(min=None, max=None)
    else:
        is_ordered = leaf < len(file.footer.ordered) and file.footer.ordered[leaf]
        bounds = _bounds(node, column, stored, kind, is_ordered=is_ordered)
    return FieldStatistics(position_count=stored.values, null_count=stored.nulls, range_stats=bounds)


def _is_trusted(created_by: str, stored: ParquetChunkFacts, leaf: _ParquetLeaf) -> bool:
    """Whether what is said about the values of a chunk is of use: not of types without an order.

    Nor of some that old versions of two writers have compared wrongly.
    """
    if not stored.has_statistics or not leaf.has_order:
        return False
    writer = _VERSION.match(created_by.lower())
    if writer is None:
        return True
    version = int(writer[2] or 0), int(writer[3] or 0)
    if version >= _SOUND_SINCE[writer[1]]:
        return True
    of_bytes = leaf.type in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
    is_signed = leaf.logical["Type"] in ("Decimal", "Float16") if of_bytes else leaf.logical.get("isSigned", True)
    if of_bytes and writer[1] == "parquet-mr" and version < _BYTES_SOUND_SINCE:
        return False
    said = stored.bounds or stored.old_bounds
    return is_signed or (said is not None and said[0] == said[1])


def _bounds(
    node: SchemaNode, leaf: _ParquetLeaf, stored: ParquetChunkFacts, kind: pa.DataType, *, is_ordered: bool
) -> RangeStats | None:
    """The least and the greatest value, as the shard states them; None if the footer's are of no use here."""
    said = stored.bounds if is_ordered else stored.old_bounds
    if said is None or leaf.type not in ("INT32", "INT64") or not all(said):
        return None
    is_signed = not (is_ordered and pa.types.is_unsigned_integer(kind))
    ends = [int.from_bytes(end[: leaf.width], "little", signed=is_signed) for end in said]
    if pa.types.is_timestamp(kind) and node.basic_type is BasicType.DATETIME:
        unit = _UNITS.get(leaf.logical.get("timeUnit", ""))
        if unit is None:
            return None
        kind = pa.timestamp(unit)
    elif not pa.types.is_integer(kind) or node.basic_type is BasicType.DATETIME:
        return None  # floats may have a NaN, of which footers say nothing
    try:
        values = to_storage(pa.array(ends, kind), node, node.name)
    except (AmudaiError, pa.ArrowException, OverflowError, TypeError):
        return None
    assert values.data is not None
    unsigned = pa.types.is_unsigned_integer(stored_form(node))
    low, high = (AnyValue("u64" if unsigned else "i64", int(end)) for end in values.data.tolist())
    return RangeStats(min=low, max=high)
