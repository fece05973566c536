"""Files become batches: every format, compressed or not, several files as one, and what happens to bad records."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import uuid
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import lz4.frame
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from amudai.errors import CorruptedData, InvalidArgument, InvalidSchema, StorageError
from amudai.sources import FORMATS
from amudai.sources.files import InputFile
from amudai.sources.records import BadRecords, LineReader
from tests.sources.reading import bad, content, read, table, write

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".zst": zstandard.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".lz4": lz4.frame.compress,
}
TABLE = pa.table({"n": [1, 2, None], "s": ["a", 'ü, "quoted"', "c"], "f": [0.5, None, -1.0]})


def encoded(name: str) -> bytes:
    """The table in the format that a file name tells."""
    sink = io.BytesIO()
    match os.path.splitext(name)[1]:
        case ".parquet":
            pa.parquet.write_table(TABLE, sink)
        case ".csv":
            pa.csv.write_csv(TABLE, sink)
        case ".jsonl":
            sink.write("".join(json.dumps(row) + "\n" for row in TABLE.to_pylist()).encode())
        case ".feather":
            pa.feather.write_feather(TABLE, sink)
        case ".arrow":
            with pa.ipc.new_file(sink, TABLE.schema) as out:
                out.write_table(TABLE)
        case ".arrows":
            with pa.ipc.new_stream(sink, TABLE.schema) as out:
                out.write_table(TABLE)
    return sink.getvalue()


# ---- formats ----


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.jsonl", "t.feather", "t.arrow", "t.arrows"])
@pytest.mark.parametrize("compression", COMPRESS)
def test_every_format(name: str, compression: str, tmp_path: Path) -> None:
    path = write(tmp_path, name + compression, COMPRESS[compression](encoded(name)))
    if compression and name in ("t.parquet", "t.feather", "t.arrow"):
        with pytest.raises(InvalidArgument, match=f"{name}{compression}"):
            read(path)
        return
    source = read(path)
    assert source.schema.equals(TABLE.schema)
    assert table(source).equals(TABLE)
    assert table(source).equals(TABLE)  # once more: batches start anew
    assert source.files == [str(path)]
    assert source.bad_records.count == 0


def test_a_format_that_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, "data", encoded("t.csv"))
    assert table(read(path, format="csv")).equals(TABLE)
    assert [known.name for known in FORMATS] == ["parquet", "csv", "json", "arrow", "log"]
    with pytest.raises(InvalidArgument, match="format: expected one of parquet, csv, json, arrow, log, found 'xml'"):
        read(path, format="xml")


def test_parquet_keeps_types_and_metadata(tmp_path: Path) -> None:
    schema = pa.schema(
        [pa.field("d", pa.dictionary(pa.int32(), pa.string()), metadata={"k": "v"})], metadata={"m": "1"}
    )
    original = pa.table([pa.array(["a", "b", "a"]).dictionary_encode()], schema=schema)
    pa.parquet.write_table(original, tmp_path / "t.parquet", row_group_size=2)
    found = table(read(tmp_path / "t.parquet"))
    assert found.schema.field("d").type == schema.field("d").type
    assert found.to_pydict() == {"d": ["a", "b", "a"]}
    assert found.schema.metadata[b"m"] == b"1"


def test_empty_files(tmp_path: Path) -> None:
    for name in ("a.csv", "a.jsonl", "a.log"):
        source = read(write(tmp_path, name, b""))
        assert list(source.batches()) == []
    assert read(tmp_path / "a.csv").schema == pa.schema([])
    assert read(write(tmp_path, "h.csv", "a,b\n")).schema == pa.schema({"a": pa.null(), "b": pa.null()})


def test_line_ends_and_byte_order_marks(tmp_path: Path) -> None:
    expected = {"a": [1, 2], "b": ["x", "y"]}
    mark = b"\xef\xbb\xbf"
    assert content(write(tmp_path, "a.csv", mark + b"a,b\r\n1,x\r\n\r\n2,y")) == expected
    assert content(write(tmp_path, "a.jsonl", mark + b'{"a":1,"b":"x"}\r\n\n  \n{"a":2,"b":"y"}')) == expected
    assert content(write(tmp_path, "a.log", mark + b"one\r\n\ntwo\rthree\n"))["line"] == ["one", "", "two\rthree"]


# ---- which files ----


def test_folders_and_patterns(tmp_path: Path) -> None:
    for name in ("b/2.csv", "b/1.csv", "a.csv.gz", ".hidden.csv", "_tmp/x.csv", "README", "c.dat"):
        data = b"n\n1\n"
        write(tmp_path, name, gzip.compress(data) if name.endswith(".gz") else data)
    names = ["a.csv.gz", "b/1.csv", "b/2.csv"]
    assert [os.path.relpath(path, tmp_path) for path in read(tmp_path).files] == names
    reason = "it is text beside files in csv"
    skipped = [(str(tmp_path / "README"), reason), (str(tmp_path / "c.dat"), reason)]
    assert read(tmp_path).skipped == skipped
    assert [os.path.relpath(path, tmp_path) for path in read(f"{tmp_path}/b*/**/*.csv").files] == names[1:]
    both = read([tmp_path / "b" / "2.csv", tmp_path / "b" / "1.csv"])
    assert [os.path.basename(path) for path in both.files] == ["2.csv", "1.csv"]
    assert table(both).num_rows == 2
    write(tmp_path, "odd[1].csv", "n\n7\n")
    assert content(tmp_path / "odd[1].csv") == {"n": [7]}


def test_rotated_logs(tmp_path: Path) -> None:
    for name in ("app.log", "app.log.1", "app.log.2.gz", "app.log-20240131", "app.log.2024-01-31"):
        write(tmp_path, name, gzip.compress(b"x\n") if name.endswith(".gz") else b"x\n")
    assert table(read(tmp_path)).num_rows == 5


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"expected one that can be read, found none.*nothing\.csv"):
        read(tmp_path / "nothing.csv")
    with pytest.raises(StorageError, match="expected some file to match, found none"):
        read(f"{tmp_path}/*.csv")
    with pytest.raises(StorageError, match="folder: expected files, found none"):
        read(tmp_path)
    write(tmp_path, "a.bin", bytes(range(256)))
    with pytest.raises(StorageError, match=r"expected files of a known format, found none \(.*a\.bin: it is no text"):
        read(tmp_path)
    with pytest.raises(InvalidArgument, match="paths: expected at least one"):
        read([])
    with pytest.raises(InvalidArgument, match="paths: expected names of files, found int"):
        read([1])  # type: ignore[list-item]


@pytest.mark.parametrize(
    "name", ["t.parquet", "t.feather", "t.arrow", "t.csv.gz", "t.jsonl.zst", "t.csv.xz", "t.csv.lz4"]
)
def test_damaged_files(name: str, tmp_path: Path) -> None:
    stem, last = os.path.splitext(name)
    whole = COMPRESS[last](encoded(stem)) if last in COMPRESS else encoded(name)
    path = write(tmp_path, name, whole[: len(whole) - 9])
    with pytest.raises(CorruptedData, match=name):
        list(read(path, on_error="skip").batches())


@pytest.mark.parametrize("between", [b"", bytes(8)], ids=["nothing", "padding"])
def test_xz_files_of_several_streams(between: bytes, tmp_path: Path) -> None:
    """Python's own reader takes whatever is no stream for the end of the file."""
    first, second = lzma.compress(b"a\n1\n"), lzma.compress(b"2\n3\n")
    path = write(tmp_path, "t.csv.xz", first + between + second + between)
    assert content(path) == {"a": [1, 2, 3]}
    write(tmp_path, "t.csv.xz", first + between + b"damage" + second[6:])
    with pytest.raises(CorruptedData, match=r"t\.csv\.xz"):
        content(path, on_error="skip")


# ---- several files as one ----


def test_missing_columns_are_null(tmp_path: Path) -> None:
    write(tmp_path, "1.csv", "a,b\n1,x\n")
    write(tmp_path, "2.jsonl", '{"b": "y", "c": {"d": 1}}\n')
    pa.parquet.write_table(pa.table({"c": pa.array([{"e": "z"}]), "a": pa.nulls(1)}), tmp_path / "3.parquet")
    source = read(tmp_path)
    members = pa.struct([("d", pa.int64()), ("e", pa.string())])
    assert source.schema == pa.schema({"a": pa.int64(), "b": pa.string(), "c": members})
    assert table(source).to_pylist() == [
        {"a": 1, "b": "x", "c": None},
        {"a": None, "b": "y", "c": {"d": 1, "e": None}},
        {"a": None, "b": None, "c": {"d": None, "e": "z"}},
    ]


def test_types_that_differ(tmp_path: Path) -> None:
    write(tmp_path, "1.csv", "n\n1\n")
    write(tmp_path, "2.csv", "n\nx\n")
    expected = rf"column 'n': expected int64 as in {tmp_path}/1\.csv, found string: set the type of column 'n'.*2\.csv"
    with pytest.raises(InvalidSchema, match=expected):
        read(tmp_path)
    assert content(tmp_path, types={"n": "string"}) == {"n": ["1", "x"]}
    write(tmp_path, "2.csv", "n\n1.5\n")
    assert content(tmp_path) == {"n": [1.0, 1.5]}
    pa.parquet.write_table(pa.table({"n": [2**53 + 1]}), tmp_path / "3.parquet")
    with pytest.raises(InvalidSchema, match=r"column 'n': expected what double can hold.*3\.parquet"):
        content(tmp_path, types={"n": pa.float64()})


TEXTS = pa.array(["x", None])


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (TEXTS, TEXTS.cast(pa.large_string()), pa.large_string()),
        (TEXTS.cast(pa.string_view()), TEXTS, pa.large_string()),
        (TEXTS.dictionary_encode(), TEXTS, pa.string()),
        (TEXTS.dictionary_encode(), TEXTS.cast(pa.dictionary(pa.int8(), pa.string())), pa.string()),
        (pa.array([1]).dictionary_encode(), pa.array([0.5]), pa.float64()),
        (pa.array([b"x"]), pa.array([b"yy"], pa.binary(2)), pa.large_binary()),
        (pa.array([[1]]), pa.array([[0.5]], pa.large_list(pa.float64())), pa.large_list(pa.float64())),
        (pa.array([Decimal("1.5")]), pa.array([Decimal("20.125")]), pa.decimal128(5, 3)),
        (pa.array([Decimal("1.5")]), pa.array([2**62]), pa.decimal128(21, 1)),
        (pa.array([Decimal("1.5")]), pa.array([0.5]), None),
        (pa.array([Decimal("1.5")], pa.decimal128(38, 37)), pa.array([Decimal(10) ** 30]), None),
        (TEXTS, pa.array([1]), None),
    ],
)
def test_types_that_one_type_holds_unite(
    first: pa.Array, second: pa.Array, kind: pa.DataType | None, tmp_path: Path
) -> None:
    for name, column in (("1.arrow", first), ("2.arrow", second)):
        with pa.ipc.new_file(tmp_path / name, pa.schema({"a": column.type})) as file:
            file.write(pa.table({"a": column}))
    if kind is None:
        with pytest.raises(InvalidSchema, match=r"column 'a': expected .* as in .*1\.arrow, found"):
            read(tmp_path)
        return
    source = read(tmp_path)
    assert source.schema.field("a").type == kind
    assert table(source)["a"].to_pylist() == [*first.to_pylist(), *second.to_pylist()]


def test_text_files_unite_with_large_strings(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table({"a": pa.array(["x"], pa.large_string())}), tmp_path / "1.parquet")
    write(tmp_path, "2.csv", "a\ny\n")
    write(tmp_path, "3.jsonl", '{"a": "z"}\n')
    assert content(tmp_path) == {"a": ["x", "y", "z"]}


def test_json_text_has_no_numbers_that_json_lacks(tmp_path: Path) -> None:
    write(tmp_path, "1.jsonl", '{"a": 1}\n{"a": "x"}\n')
    pa.parquet.write_table(pa.table({"a": [0.5, None]}), tmp_path / "2.parquet")
    assert content(tmp_path) == {"a": ["1", '"x"', "0.5", None]}
    pa.parquet.write_table(pa.table({"a": [float("nan")]}), tmp_path / "2.parquet")
    with pytest.raises(InvalidSchema, match=r"JSON has neither NaN nor infinite numbers.*2\.parquet"):
        content(tmp_path)


def test_a_column_that_only_some_files_have_may_be_null(tmp_path: Path) -> None:
    strict = pa.schema([pa.field("a", pa.int64(), nullable=False)])
    pa.parquet.write_table(pa.table({"a": [1]}, schema=strict), tmp_path / "1.parquet")
    assert read(tmp_path).schema == strict
    pa.parquet.write_table(pa.table({"b": [1]}), tmp_path / "2.parquet")
    assert read(tmp_path).schema.field("a").nullable


UUIDS = [uuid.UUID(int=7), None, uuid.UUID("0f8fad5b-d9cb-469f-a165-70867728950e")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", "id,n\n{0},1\n,2\n{2},3\nno uuid here,4\n"),
        ("t.jsonl", '{{"id":"{0}","n":1}}\n{{"n":2}}\n{{"id":"{2}","n":3}}\n{{"id":"sixteen letters.","n":4}}\n'),
    ],
)
def test_uuids_in_text(name: str, text: str, tmp_path: Path) -> None:
    """Arrow takes 16 letters for the bytes of a UUID, and no text of a UUID."""
    path = write(tmp_path, name, text.format(str(UUIDS[0]), None, f"{{{str(UUIDS[2]).upper()}}}"))
    source = read(path, types={"id": "uuid"}, on_error="skip")
    assert source.schema.field("id").type == pa.uuid()
    assert table(source).to_pydict() == {"id": UUIDS, "n": [1, 2, 3]}
    assert [each.line for each in source.bad_records.examples] == [5 if name == "t.csv" else 4]
    with pytest.raises(CorruptedData, match=r"'(no uuid here|sixteen letters\.)'"):
        table(read(path, types={"id": "uuid"}))


def test_uuids_in_a_column_of_text(tmp_path: Path) -> None:
    texts = pa.array([None if value is None else value.hex for value in UUIDS], pa.large_string())
    pa.parquet.write_table(pa.table({"id": texts}), tmp_path / "t.parquet")
    assert content(tmp_path / "t.parquet", types={"id": "uuid"}) == {"id": UUIDS}
    pa.parquet.write_table(pa.table({"id": ["sixteen letters."]}), tmp_path / "u.parquet")
    with pytest.raises(InvalidSchema, match=r"invalid value 'sixteen letters\.' for uuid"):
        content(tmp_path / "u.parquet", types={"id": "uuid"})


def test_types_are_checked(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "a\n1\n")
    for types, trouble in (
        ({"b": pa.int8()}, "expected columns of the files, found 'b'"),
        ({"a": "int7"}, "expected an Arrow type for 'a', found 'int7'"),
        ({"a": 7}, "expected an Arrow type for 'a', found int"),
    ):
        with pytest.raises(InvalidArgument, match=f"types: {trouble}"):
            read(path, types=types)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="on_error: expected 'raise' or 'skip' or 'keep', found 'ignore'"):
        read(path, on_error="ignore")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="list"):
        content(path, types={"a": pa.list_(pa.int8())})
    assert content(path, types={"a": pa.decimal128(5, 2)})["a"][0] == 1


# ---- bad records ----


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    cases = {
        "t.jsonl": b'{"s":"a"}\n{"s":"\xff"}\n{"s":"b"}\n',
        "t.log": b"a\n\xff\nb\n",
    }
    for name, data in cases.items():
        path = write(tmp_path, name, data)
        line = 2
        with pytest.raises(CorruptedData, match=rf"(?i)utf-?8.*\(file .*{name}, line {line}\)"):
            content(path)
        source = read(path, on_error="skip")
        column = "line" if name == "t.log" else "s"
        assert table(source)[column].to_pylist() == ["a", "b"]
        assert bad(source) == [(name, line)]
        assert source.bad_records.examples[0].text.count("\ufffd") == 1


# ---- records and lines, wherever blocks end ----


@settings(deadline=None)
@given(text=st.text(st.sampled_from("a\n\rü"), max_size=30), size=st.integers(1, 40))
def test_lines_are_found_in_any_block(text: str, size: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = write(tmp_path_factory.mktemp("log"), "t.log", text)
    found, number = [], 1
    for lines in LineReader(InputFile.at(str(path)), size):
        assert lines.first == number
        number += len(lines.ends)
        found += [lines.text(line).decode() for line in range(len(lines.ends))]
    expected = text.split("\n")
    if expected[-1] == "":
        expected.pop()
    assert found == [line.removesuffix("\r") for line in expected]


def test_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amudai.sources.records.LONGEST", 1000)
    path = write(tmp_path, "t.log", b"short\n" + b"x" * 5000)
    with pytest.raises(CorruptedData, match=r"record: expected at most 1000 bytes, found more \(.*line 2\)"):
        list(LineReader(InputFile.at(str(path)), 100))
    assert table(read(path)).num_rows == 2
    path = write(tmp_path, "u.log", b"short\n" + b"x" * 5000 + b"\n\nlast\n" + b"y" * 2000)
    skipped = BadRecords("skip")
    blocks = list(LineReader(InputFile.at(str(path)), 100, bad=skipped))
    found = [(block.first + line, block.text(line)) for block in blocks for line in range(len(block.ends))]
    assert found == [(1, b"short"), (3, b""), (4, b"last")]
    assert [(record.line, record.text[:3]) for record in skipped.examples] == [(2, "xxx"), (5, "yyy")]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "log"])
def test_small_files_share_a_batch(ending: str, tmp_path: Path) -> None:
    """And large ones have their own, whatever is around them."""
    counts = [3, 5, 30_000, 2, 1, 60_000, 4]
    for at, count in enumerate(counts):
        lines = [f'{{"n": {at}}}' if ending == "jsonl" else f"{at}" for _ in range(count)]
        head = ["n"] if ending == "csv" else []
        (tmp_path / f"{at}.{ending}").write_text("\n".join([*head, *lines, ""]))
    batches = list(read(tmp_path).batches())
    column = "line" if ending == "log" else "n"
    found = [int(value) for batch in batches for value in batch[column].to_pylist()]
    assert found == [at for at, count in enumerate(counts) for _ in range(count)]
    assert [batch.num_rows for batch in batches] == [8, 30_000, 3, 60_000, 4]


def test_few_rows_of_many_bytes_share_no_batch(tmp_path: Path) -> None:
    for at in range(4):
        (tmp_path / f"{at}.jsonl").write_text(json.dumps({"text": "x" * 700_000}) + "\n")
    assert [batch.num_rows for batch in read(tmp_path).batches()] == [2, 2]
