"""Footers of Parquet files: the same facts as Arrow's, and one error for bytes that are none."""

from __future__ import annotations

import io
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from amudai.errors import CorruptedData
from amudai.format import ParquetFooter

TYPES = ("BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
TABLE = pa.table(
    {
        "n": pa.array([None, *range(-19, 20)], pa.int64()),
        "word": [f"w{at % 5}" for at in range(40)],
        "flag": [at % 2 == 0 for at in range(40)],
        "price": pa.array([at / 2 for at in range(40)], pa.float32()),
        "nested": [{"x": at, "y": [{"z": str(at)}]} for at in range(40)],
        "none": pa.nulls(40, pa.int32()),
        "map": pa.array([[("k", at)] for at in range(40)], pa.map_(pa.string(), pa.int16())),
    }
)


def footer_of(table: pa.Table = TABLE, **options: object) -> tuple[pq.FileMetaData, bytes]:
    out = io.BytesIO()
    pq.write_table(table, out, row_group_size=15, **options)
    file = out.getvalue()
    return pq.read_metadata(io.BytesIO(file)), file[-8 - int.from_bytes(file[-8:-4], "little") :]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_dictionary": False, "version": "1.0", "compression": "none"},
        {"write_statistics": False},
        {"write_page_index": True, "data_page_version": "2.0"},
        {"sorting_columns": [pq.SortingColumn(0)]},
    ],
    ids=str,
)
def test_facts_are_those_of_arrow(options: dict[str, object]) -> None:
    expected, footer = footer_of(**options)
    found = ParquetFooter.decode(footer)
    assert found.created_by == expected.created_by
    assert found.ordered == (True,) * expected.num_columns
    for row_group in range(expected.num_row_groups):
        for leaf in range(expected.num_columns):
            stored, own = expected.row_group(row_group).column(leaf), found.chunk(row_group, leaf)
            assert TYPES[own.storage_type] == stored.physical_type
            assert own.values == stored.num_values
            assert own.size == stored.total_compressed_size
            assert own.data_pages == stored.data_page_offset
            assert own.dictionary == stored.dictionary_page_offset
            assert own.has_statistics == stored.is_stats_set
            if stored.is_stats_set:
                assert own.nulls == stored.statistics.null_count
                assert (own.bounds is not None) == stored.statistics.has_min_max
            if own.bounds is not None and stored.physical_type in ("INT32", "INT64"):
                ends = tuple(int.from_bytes(end, "little", signed=True) for end in own.bounds)
                assert ends == (stored.statistics.min_raw, stored.statistics.max_raw)
    with pytest.raises(CorruptedData, match=r"row group: expected less than 3, found 3"):
        found.chunk(3, 0)
    with pytest.raises(CorruptedData, match="expected a column chunk for each column, found 9 chunks"):
        found.chunk(0, 9)


def test_levels_are_counted() -> None:
    _, footer = footer_of()
    found = ParquetFooter.decode(footer)
    assert [found.chunk(0, leaf).level_counts for leaf in range(9)] == [
        *[(0, 2)] * 4,
        (0, 3),
        (2, 6),
        (0, 2),
        (2, 3),
        (2, 4),
    ]
    assert [found.chunk(0, leaf).text_bytes for leaf in (0, 1)] == [None, 30]


def test_more_than_a_footer_has_bytes_for_is_refused() -> None:
    _, footer = footer_of()
    size = len(footer) - 8
    for end in range(0, size, 7):
        with pytest.raises(CorruptedData, match="footer: expected values within its bytes"):
            ParquetFooter.decode(footer[:end])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x1c" * 100_000, "at most 64 structs and lists in each other"),
        (b"\x19" + b"\x19" * 100_000, "at most 64 structs and lists in each other"),
        (b"\x1b" + b"\x01\xbb" * 100_000, "at most 64 structs and lists in each other"),
        (b"\x49\xfc\xff\xff\xff\xff\x0f\x00", "values within its bytes"),  # 4 billion row groups
        (b"\x1b\xff\xff\xff\xff\x0f\x55\x00", "values within its bytes"),
        (b"\x18\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00", "values within its bytes"),
        (b"\x17\x00", "values within its bytes"),
        (b"\x16" + b"\xff" * 11 + b"\x00", "numbers of at most 64 bits"),
        (b"\x16" + b"\xff" * 9 + b"\x02\x00", "numbers of at most 64 bits"),
        (b"\x1d\x00", "types from 1 to 12, found 13"),
        (b"\x49\x18\x00\x00", "a list of items of type 12, found type 8"),
        (b"", "values within its bytes"),
    ],
    ids=[
        "structs",
        "lists",
        "maps",
        "row groups",
        "map",
        "text",
        "double",
        "number",
        "65 bits",
        "type",
        "items",
        "nothing",
    ],
)
def test_hostile_bytes_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(CorruptedData, match=message):
        ParquetFooter.decode(content)


def test_flipped_bits_give_facts_or_an_error() -> None:
    _, footer = footer_of()
    random_source = random.Random(7)
    refused = 0
    for _ in range(300):
        content = bytearray(footer)
        for _ in range(3):
            content[random_source.randrange(len(content))] ^= 1 << random_source.randrange(8)
        try:
            found = ParquetFooter.decode(bytes(content))
            for leaf in range(9):
                found.chunk(0, leaf)
        except CorruptedData:
            refused += 1
    assert 20 < refused < 280
