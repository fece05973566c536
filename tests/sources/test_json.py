"""JSON becomes batches: shapes of files, types of columns, what is kept as text, and bad records."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amudai.errors import AmudaiError, CorruptedData, InvalidArgument, InvalidSchema
from amudai.sources import Source
from amudai.sources import read_files as read
from amudai.sources.files import InputFile
from amudai.sources.json.records import Shape, blocks_of


def write(folder: Path, content: str | bytes, name: str = "t.json") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def table(source: Source) -> pa.Table:
    return pa.Table.from_batches(list(source.batches()), source.schema)


def rows(path: Path, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = table(read(path, **options)).to_pylist()
    return found


def reasons(path: Path, **options: Any) -> list[tuple[int, str]]:
    """The lines of bad records, and why they are bad."""
    source = read(path, on_error="skip", **options)
    list(source.batches())
    return [(record.line, record.reason) for record in source.bad_records.examples]


def shape(path: Path) -> object:
    (found,) = read(path).decisions.values()
    return {each.option: each.value for each in found}["shape"]


def notes(path: Path, **options: Any) -> tuple[str, ...]:
    return read(path, **options)._readers[0].notes()


# ---- shapes ----


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('{"a": 1}\n{"a": 2}\n', "lines"),
        ('\n {"a": 1} \r\n\n{"a": 2}', "lines"),
        ('{"a": 1}', "lines"),
        ('[{"a": 1}, {"a": 2}]', "array"),
        ('[\n  {\n    "a": 1\n  },\n{"a": 2}\n]\n', "array"),
        ('[{"a": 1}]\n[{"a": 2}]', "array"),
        ('{\n  "a": 1\n}\n', "document"),
        ('{"a": 1}{"a": 2}', "document"),
        ('{\n"a": 1}\n{\n"a": 2}', "document"),
    ],
)
def test_shapes(content: str, expected: str, tmp_path: Path) -> None:
    path = write(tmp_path, content)
    assert shape(path) == expected
    assert rows(path) == [{"a": number} for number in range(1, content.count("a") + 1)]


def test_one_document_is_one_row(tmp_path: Path) -> None:
    document = {"type": "FeatureCollection", "features": [{"id": 1}, {"id": 2}]}
    text = json.dumps(document, indent=2)
    assert rows(write(tmp_path, text)) == [document]
    # A last line that is an object does not make lines of a document.
    text = '{"type": "FeatureCollection", "features": [\n{"id": 1},\n{"id": 2}\n]}'
    assert shape(write(tmp_path, text)) == "document"
    assert rows(tmp_path / "t.json") == [document]


def test_a_damaged_first_line_does_not_hide_lines(tmp_path: Path) -> None:
    path = write(tmp_path, '{"a": 1, "b": [\n{"a": 2}\n{"a": 3}\n')
    assert shape(path) == "lines"
    assert reasons(path) == [(1, "expected a JSON value, found the end of the record")]
    assert rows(path, on_error="skip") == [{"a": 2}, {"a": 3}]


def test_empty_files_and_arrays(tmp_path: Path) -> None:
    for content in ("", "\n \n", "[]", " [ ] \n"):
        assert rows(write(tmp_path, content)) == []
    assert rows(write(tmp_path, "{}\n{}")) == [{}, {}]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("first", ["{}", '{"a": 0}'])
def test_an_object_of_one_line_before_objects_of_several(first: str, end: str, tmp_path: Path) -> None:
    text = end.join([first, *(json.dumps({"a": each, "b": [each]}, indent=2).replace("\n", end) for each in (1, 2))])
    assert table(read(write(tmp_path, text)))["b"].to_pylist() == [None, [1], [2]]
    damaged = '{"a": 1}\n{\n{"a": 2}\n{"a": 3}\n'
    source = read(write(tmp_path, damaged), on_error="skip")
    assert table(source)["a"].to_pylist() == [1, 2, 3]
    assert [each.line for each in source.bad_records.examples] == [2]


@settings(deadline=None)
@given(
    values=st.lists(
        st.dictionaries(
            st.text(max_size=4),
            st.one_of(
                st.none(), st.integers(), st.text(st.sampled_from('a"\\[]{},\n ü'), max_size=6), st.lists(st.booleans())
            ),
            max_size=3,
        ),
        max_size=6,
    ),
    indent=st.sampled_from([None, 0, 2]),
    kind=st.sampled_from(list(Shape)),
    size=st.integers(1, 60),
)
def test_records_are_found_in_any_block(
    values: list[dict[str, Any]], indent: int | None, kind: Shape, size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Where blocks end does not matter for records and their lines."""
    indent = None if kind is Shape.LINES else indent
    texts = [json.dumps(value, indent=indent) for value in values]
    text = (
        json.dumps(values, indent=indent) if kind is Shape.ARRAY else ("\n" if kind is Shape.LINES else " ").join(texts)
    )
    path = write(tmp_path_factory.mktemp("json"), text)
    found, lines = [], []
    for block in blocks_of(InputFile.at(str(path)), None, kind, size):
        assert block.refused == ()
        found += [json.loads(block.records.text(index)) for index in range(len(block.records))]
        lines += block.records.lines.tolist()
    assert found == values
    assert lines == list(expected_lines(text, values))


def expected_lines(text: str, values: list[Any]) -> Iterator[int]:
    decoder, at = json.JSONDecoder(), 0
    for _ in values:
        at = text.index("{", at)
        yield 1 + text.count("\n", 0, at)
        _, at = decoder.raw_decode(text, at)


def test_errors_name_the_line_of_an_element(tmp_path: Path) -> None:
    path = write(tmp_path, '[\n{"a": 1},\n{"a": 2,\n "a": 3},\n\n{"a" 4}, 5,\n{"a": 6}]')
    assert rows(path, on_error="skip") == [{"a": 1}, {"a": 6}]
    assert reasons(path) == [
        (3, "expected each name once in an object, found 'a' twice"),
        (6, "expected a colon after a name, found 4} at byte 6"),
        (6, "expected an object, found a number"),
    ]


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        ('[{"a": 1},\n]', 2, "expected a value in the array, found ]"),
        ('[{"a": 1},\n,{"a": 1}]', 2, "expected a value in the array, found ,"),
        ('[{"a": 1}\n{"a": 1}]', 2, "expected a comma between two values of the array, found none"),
        ('[{"a": 1}\n', 1, "expected a bracket that closes the array, found the end of the file"),
        ('[{"a": 1},\n{"a": "x]', 2, "expected the end of the value, found the end of the file"),
        ('[{"a": 1}] x', 1, "expected a JSON value, found x at byte 1"),
    ],
)
def test_damaged_arrays(content: str, line: int, reason: str, tmp_path: Path) -> None:
    path = write(tmp_path, content)
    assert reasons(path) == [(line, reason)]
    assert rows(path, on_error="skip")[0] == {"a": 1}
    with pytest.raises(CorruptedData, match=rf"line {line}\)"):
        rows(path)


def test_arrays_are_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, json.dumps([{"n": number, "s": "x" * 90} for number in range(100_000)]))
    sizes = [batch.num_rows for batch in read(path).batches()]
    assert len(sizes) > 2
    assert sum(sizes) == 100_000
    assert table(read(path))["n"].to_pylist() == list(range(100_000))


# ---- types ----


@pytest.mark.parametrize(
    ("values", "kind", "found"),
    [
        ("1 null -9223372036854775808", pa.int64(), [1, None, -(2**63)]),
        ("0 18446744073709551615", pa.uint64(), [0, 2**64 - 1]),
        ("1 1.5 9007199254740992", pa.float64(), [1.0, 1.5, 2.0**53]),
        ("1e3 100000000000000000000 1e-400", pa.float64(), [1000.0, 1e20, 0.0]),
        ("true null false", pa.bool_(), [True, None, False]),
        ('"a" "\\u00e9\\ud83d\\ude00\\n\\"" ""', pa.string(), ["a", 'é😀\n"', ""]),
        ("[] [1,null]", pa.list_(pa.int64()), [[], [1, None]]),
        ("null null", pa.null(), [None, None]),
        ("{} null", pa.struct([]), [{}, None]),
    ],
)
def test_types(values: str, kind: pa.DataType, found: list[Any], tmp_path: Path) -> None:
    path = write(tmp_path, "".join(f'{{"v": {value}}}\n' for value in values.split()))
    assert read(path).schema == pa.schema({"v": kind})
    assert [row["v"] for row in rows(path)] == found
    # The same holds for a value inside of others.
    path = write(tmp_path, "".join(f'{{"v": {{"w": [{value}]}}}}\n' for value in values.split()))
    assert read(path).schema == pa.schema({"v": pa.struct({"w": pa.list_(kind)})})
    assert [row["v"]["w"][0] for row in rows(path)] == found


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ('1 "a" {"b":[2,"c d"]}', "it holds numbers, texts and objects"),
        ('true "a"', "it holds booleans and texts"),
        ("[1] 2", "it holds numbers and arrays"),
        ("1.5 9007199254740993", "it holds integers that float64 would round"),
        ("18446744073709551617", "it holds integers that float64 would round"),
        ("-1 18446744073709551615", "it holds integers that float64 would round"),
        ("1e400 1", "it holds numbers that are too large for float64"),
    ],
)
def test_values_that_no_type_holds_are_kept_as_json(values: str, reason: str, tmp_path: Path) -> None:
    texts = values.replace("c d", "c_d").split()
    texts = [text.replace("c_d", "c d") for text in texts]
    path = write(tmp_path, "".join(f'{{"v": {text}}}\n' for text in [*texts, "null"]))
    assert read(path).schema == pa.schema({"v": pa.json_()})
    assert [row["v"] for row in rows(path)] == [*texts, None]
    assert notes(path) == (f"column v: kept as JSON text, as {reason}",)
    path = write(tmp_path, "".join(f'{{"v": [{{"w":\n {text} }}]}}\n' for text in texts))
    assert [row["v"][0]["w"] for row in rows(path)] == texts
    assert notes(path) == (f"column v.item.w: kept as JSON text, as {reason}",)


def test_names_without_characters(tmp_path: Path) -> None:
    path = write(tmp_path, '{"v": {"": 1, "a": 2}}')
    assert rows(path) == [{"v": '{"":1,"a":2}'}]
    assert notes(path) == ("column v: kept as JSON text, as its objects have an empty name",)
    with pytest.raises(InvalidSchema, match=r"columns: expected names, found an empty one \(file .*t\.json\)"):
        read(write(tmp_path, '{"": 1}'))


def test_objects_with_too_many_names_are_kept_as_json(tmp_path: Path) -> None:
    path = write(tmp_path, "".join(f'{{"v": {{"k{number}": {number}}}}}\n' for number in range(1001)))
    assert read(path).schema == pa.schema({"v": pa.json_()})
    assert rows(path)[7] == {"v": '{"k7":7}'}
    assert notes(path) == ("column v: kept as JSON text, as its objects have more than 1000 different names",)
    pairs = table(read(path, types={"v": pa.map_(pa.string(), pa.int64())}))["v"]
    assert pairs[7].as_py() == [("k7", 7)]


def test_times(tmp_path: Path) -> None:
    moments = ["2013-01-10T07:58:30Z", "2013-01-10T09:58:30.25+02:00"]
    lines = [{"z": moments[0], "c": "2024-05-01 10:00:00", "d": "2024-05-01", "n": ["2024-05-01T00:00:00.123456789"]}]
    lines += [{"z": moments[1], "c": "2024-05-01 10:00:00.5", "d": None, "n": []}]
    path = write(tmp_path, "\n".join(map(json.dumps, lines)))
    source = read(path)
    assert source.schema == pa.schema(
        {
            "z": pa.timestamp("us", "UTC"),
            "c": pa.timestamp("us"),
            "d": pa.date32(),
            "n": pa.list_(pa.timestamp("ns")),
        }
    )
    found = table(source)
    assert found["z"].to_pylist() == [
        datetime(2013, 1, 10, 7, 58, 30, tzinfo=UTC),
        datetime(2013, 1, 10, 7, 58, 30, 250_000, tzinfo=UTC),
    ]
    assert found["c"].to_pylist() == [datetime(2024, 5, 1, 10), datetime(2024, 5, 1, 10, 0, 0, 500_000)]
    assert found["d"].to_pylist() == [date(2024, 5, 1), None]
    assert found["n"].combine_chunks().values.cast(pa.int64()).to_pylist() == [1_714_521_600_123_456_789]


def test_times_with_and_without_a_zone(tmp_path: Path) -> None:
    path = write(tmp_path, '{"t": ["2013-01-10T07:58:30Z"]}\n{"t": ["2013-01-10T07:58:30"]}')
    with pytest.raises(InvalidSchema, match=r"column 't.item': expected times that all name a zone.*t\.json"):
        read(path)
    assert rows(path, mixed_zones="text") == [{"t": ["2013-01-10T07:58:30Z"]}, {"t": ["2013-01-10T07:58:30"]}]
    assert notes(path, mixed_zones="text") == (
        "column t.item: kept as text, as some of its times name a zone and others do not",
    )
    assert rows(path, types={"t": pa.list_(pa.string())})[0] == {"t": ["2013-01-10T07:58:30Z"]}


def test_types_from_the_caller(tmp_path: Path) -> None:
    path = write(
        tmp_path, '{"a": 1.25, "b": 7, "c": {"x": 1}, "d": [1, 2], "e": "2024-05-01"}\n{"a": "2.5", "b": "y"}\n'
    )
    types: dict[str, Any] = {
        "a": pa.decimal128(10, 2),
        "b": "string",
        "c": pa.map_(pa.string(), pa.int8()),
        "d": pa.list_(pa.float32(), 2),
        "e": "timestamp[ms, UTC]",
        "f": "int8",
    }
    with pytest.raises(CorruptedData, match=r"expected timestamp\[ms, tz=UTC\] in column 'e', found '2024-05-01': set"):
        rows(path, types=types)
    types["e"] = pa.dictionary(pa.int8(), pa.string())
    found = table(read(path, types=types))
    assert found.schema.types == [
        *[types[name] for name in "acd"][:1],
        pa.string(),
        types["c"],
        types["d"],
        types["e"],
        pa.int8(),
    ]
    assert [str(value) for value in found["a"].to_pylist()] == ["1.25", "2.50"]
    assert found["b"].to_pylist() == ["7", "y"]
    assert found["c"].to_pylist() == [[("x", 1)], None]
    assert found["d"].to_pylist() == [[1.0, 2.0], None]
    assert found["e"].to_pylist() == ["2024-05-01", None]
    assert rows(path, types={"c": "json", "b": "json"})[0]["c"] == '{"x":1}'
    assert [row["b"] for row in rows(path, types={"b": "json"})] == ["7", '"y"']
    with pytest.raises(InvalidArgument, match=r"types: expected a type that JSON can hold for 'a', found"):
        rows(path, types={"a": pa.month_day_nano_interval()})


def test_told_floats_round(tmp_path: Path) -> None:
    path = write(tmp_path, '{"n": 0.5}\n{"n": 9007199254740993}')
    assert rows(path, types={"n": "float64"}) == [{"n": 0.5}, {"n": 2.0**53}]


def test_nan_only_where_told(tmp_path: Path) -> None:
    path = write(tmp_path, '{"v": NaN}\n{"v": -Infinity}\n{"v": Infinity}\n{"v": 1}')
    reason = "expected a JSON number, found NaN at byte 7: the option nan (--nan) reads it"
    assert reasons(path)[0] == (1, reason)
    assert rows(path, on_error="skip") == [{"v": 1}]
    values = table(read(path, nan=True))["v"].to_numpy()
    assert values.dtype == np.float64
    assert np.array_equal(values, [np.nan, -np.inf, np.inf, 1.0], equal_nan=True)


# ---- several files ----


def two_files(folder: Path, first: str, second: str) -> Path:
    write(folder, f'{{"v": {first}}}\n', "1.jsonl")
    write(folder, f'{{"v": {second}}}\n', "2.jsonl")
    return folder


@pytest.mark.parametrize(
    ("first", "second", "kind", "found"),
    [
        ("1", "1.5", pa.float64(), [1.0, 1.5]),
        ("[1]", "[0.5]", pa.list_(pa.float64()), [[1.0], [0.5]]),
        ("1", "18446744073709551615", pa.uint64(), [1, 2**64 - 1]),
        ("null", '"x"', pa.string(), [None, "x"]),
        (
            '{"a":1}',
            '{"a":2.5,"b":"x"}',
            pa.struct({"a": pa.float64(), "b": pa.string()}),
            [{"a": 1.0, "b": None}, {"a": 2.5, "b": "x"}],
        ),
        ('[1, "a"]', "[2]", pa.list_(pa.json_()), [["1", '"a"'], ["2"]]),
        ('"2024-05-01"', '"2024-05-01 10:00:00"', pa.timestamp("us"), [datetime(2024, 5, 1), datetime(2024, 5, 1, 10)]),
    ],
)
def test_files_whose_types_unite(first: str, second: str, kind: pa.DataType, found: list[Any], tmp_path: Path) -> None:
    source = read(two_files(tmp_path, first, second))
    assert source.schema == pa.schema({"v": kind})
    assert [row["v"] for row in table(source).to_pylist()] == found


def test_units_of_times_unite(tmp_path: Path) -> None:
    source = read(two_files(tmp_path, '"2024-05-01T00:00:00Z"', '"2024-05-01T02:00:00.000000001+02:00"'))
    assert source.schema == pa.schema({"v": pa.timestamp("ns", "UTC")})
    ticks = 1_714_521_600_000_000_000
    assert table(source)["v"].cast(pa.int64()).to_pylist() == [ticks, ticks + 1]


def test_zones_of_files_do_not_mix(tmp_path: Path) -> None:
    folder = two_files(tmp_path, '"2024-05-01T00:00:00Z"', '"2024-05-01T00:00:00"')
    with pytest.raises(InvalidSchema, match=r"column 'v': expected timestamp\[us, tz=UTC\] as in .*1\.jsonl.*2\.jsonl"):
        read(folder)
    assert [row["v"] for row in table(read(folder, mixed_zones="text")).to_pylist()] == [
        "2024-05-01T00:00:00Z",
        "2024-05-01T00:00:00",
    ]


def test_integers_of_one_file_that_the_floats_of_another_would_round(tmp_path: Path) -> None:
    folder = two_files(tmp_path, "9007199254740993", "0.5")
    with pytest.raises(
        CorruptedData, match=r"numbers that double can hold in column 'v', found 9007199254740993.*1\.jsonl"
    ):
        table(read(folder))
    assert table(read(folder, types={"v": "string"}))["v"].to_pylist() == ["9007199254740993", "0.5"]
    (tmp_path / "1.jsonl").unlink()
    pa.parquet.write_table(pa.table({"v": [2**53 + 1]}), tmp_path / "1.parquet")
    with pytest.raises(InvalidSchema, match=r"column 'v': expected what double can hold.*set the type.*1\.parquet"):
        table(read(tmp_path))


def test_widths_of_integers_unite(tmp_path: Path) -> None:
    kinds = [pa.int8(), pa.uint8(), pa.int32(), pa.uint32(), pa.int64()]
    for number, kind in enumerate(kinds):
        pa.parquet.write_table(pa.table({"v": pa.array([number], kind)}), tmp_path / f"{number}.parquet")
        expected = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.int64()][number]
        assert read(tmp_path).schema == pa.schema({"v": expected})
    assert table(read(tmp_path))["v"].to_pylist() == [0, 1, 2, 3, 4]


# ---- bad records ----


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"a": ', "expected a JSON value, found the end of the record"),
        ("{a: 1}", "expected a name in quotes, found a: 1} at byte 2"),
        ('{"a": 1,}', "expected a name in quotes, found } at byte 9"),
        ('{"a": 1 "b": 2}', 'expected a comma or a closing brace after a member, found "b": 2} at byte 9'),
        ('{"b": [1 2]}', "expected a comma or a closing bracket after an element, found 2]} at byte 10"),
        ('{"a": "x}', 'expected a quote that closes the text, found "x} at byte 7'),
        ('{"a": "x\ty"}', 'expected an escape such as \\n in a text, not a control character, found y"} at byte 9'),
        ('{"a": "\\x"}', 'expected a known escape in a text, found x"} at byte 9'),
        ('{"a": "\\ud800"}', 'expected both halves of an escaped surrogate pair, found \\ud800"} at byte 8'),
        ('{"\\udc00": 1}', 'expected both halves of an escaped surrogate pair, found \\udc00": 1} at byte 3'),
        ('{"a": 01}', "expected a JSON number, found 01} at byte 7"),
        ('{"a": 1.}', "expected a JSON number, found 1.} at byte 7"),
        ('{"a": 2} {"a": 3}', 'expected the end of the record, found {"a": 3} at byte 10'),
        ("[1]", "expected an object, found an array"),
        ('"x"', "expected an object, found a text"),
        ('{"a": 4, "a": 5}', "expected each name once in an object, found 'a' twice"),
        ('{"o": {"x": 1, "\\u0078": 2}}', "expected each name once in an object, found 'x' twice"),
        ('{"a": ' + "[" * 10_000 + "]" * 10_000 + "}", "expected at most 64 levels of brackets, found more"),
        ('{"a": ' + '{"a": ' * 64, "expected at most 64 levels of brackets, found more"),
    ],
)
def test_bad_records(line: str, reason: str, tmp_path: Path) -> None:
    path = write(tmp_path, '{"a": 1}\n' * 3 + line + '\n{"a": 6}\n')
    assert reasons(path) == [(4, reason)]
    assert rows(path, on_error="skip") == [{"a": 1}] * 3 + [{"a": 6}]
    with pytest.raises(CorruptedData, match=r"record: expected .*\(file .*t\.json, line 4\)"):
        rows(path)


def test_brackets_in_texts_are_not_levels(tmp_path: Path) -> None:
    text = "[{" * 500 + '"' + "\\"
    assert rows(write(tmp_path, json.dumps({"a": text}))) == [{"a": text}]
    deepest = '{"a": ' * 63 + "{}" + "}" * 63
    assert rows(write(tmp_path, deepest)) == [json.loads(deepest)]


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    path = write(tmp_path, b'{"a": 1}\n{"\xff\xfe": 1}\n{"a": "\xed\xa0\x80"}\n')
    assert reasons(path) == [(2, "expected UTF-8, found other bytes"), (3, "expected UTF-8, found other bytes")]
    assert rows(path, on_error="skip") == [{"a": 1}]
    assert rows(write(tmp_path, '{"a": "ü"}'.encode("latin-1")), encoding="latin-1") == [{"a": "ü"}]
    assert rows(write(tmp_path, '[{"a": "ü"}]'.encode("utf-16"))) == [{"a": "ü"}]
    assert rows(write(tmp_path, '{"a": "ü"}'.encode("utf-8-sig"))) == [{"a": "ü"}]
    with pytest.raises(InvalidArgument, match=r"encoding: expected a name such as utf-8, .*, found 'klingon'"):
        rows(path, encoding="klingon")
    with pytest.raises(CorruptedData, match=r"found other bytes .*t\.json, line 1"):
        rows(path, encoding="ascii")


def test_a_line_that_is_too_long_can_be_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amudai.sources.records.LONGEST", 5000)
    long = json.dumps({"a": "x[" * 4000})
    for content in (f'{{"a": "1"}}\n{long}\n{{"a": "2"}}\n', f'[{{"a": "1"}},\n{long},\n{{"a": "2"}}]'):
        path = write(tmp_path, content)
        found, refused = [], []
        for block in blocks_of(InputFile.at(str(path)), None, size=1000):
            found += [json.loads(block.records.text(index)) for index in range(len(block.records))]
            refused += [(each.line, each.reason) for each in block.refused]
        assert found == [{"a": "1"}, {"a": "2"}]
        assert refused == [(2, "expected at most 5000 bytes, found more")]


@pytest.mark.slow
def test_what_turns_up_late(tmp_path: Path) -> None:
    first = '{"a":1,"o":{"x":1},"n":null,"t":"2024-05-01T00:00:00Z"}\n' * 100_000
    late = [
        '{"a":2,"b":3}',
        '{"o":{"y":1}}',
        '{"a":1.5}',
        '{"n":"x"}',
        '{"t":"noon"}',
        '{"a":99999999999999999999}',
        '{"a":9}',
    ]
    path = write(tmp_path, first + "\n".join(late), "t.jsonl")
    way_out = "set the type of column '{}' (types= or --type)"
    assert [(line - 100_000, reason) for line, reason in reasons(path)] == [
        (1, f"expected the names in the first records, found 'b': {way_out.format('b')}"),
        (2, f"expected the names in column 'o', found 'y': {way_out.format('o')}"),
        (3, f"expected int64 in column 'a', found a number, 1.5: {way_out.format('a')}"),
        (4, f"expected null in column 'n', found a text, \"x\": {way_out.format('n')}"),
        (5, f"expected timestamp[us, tz=UTC] in column 't', found 'noon': {way_out.format('t')}"),
        (6, f"expected numbers that int64 can hold in column 'a', found 99999999999999999999: {way_out.format('a')}"),
    ]
    types = {"b": pa.int8(), "a": pa.float64(), "n": "string", "t": "string", "o": "json"}
    assert table(read(path, types=types)).num_rows == 100_007


VALUES = st.sampled_from(["1", "1.5", '"x"', "null", "true", "[1]", '{"b": 1}', "12345678901234567890", '"\\ud800"'])


@settings(deadline=None)
@given(
    lines=st.lists(
        st.one_of(
            VALUES.map(lambda value: f'{{"a": {value}}}'),
            VALUES.map(lambda value: f'{{"a": 1, "b": {value}}}'),
            VALUES.map(lambda value: f'{{"c": [{{"d": {value}}}, {value}]}}'),
            st.sampled_from(["{", "[]", '{"a": 1', '{"a": 1}{"a": 2}', '{"a": 1, "a": 2}', '{"a": NaN}', "}"]),
        ),
        min_size=1,
        max_size=8,
    ),
    kind=st.sampled_from([pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.list_(pa.int64()), pa.int8()]),
)
def test_skipping_agrees_with_reading_one_by_one(
    lines: list[str], kind: pa.DataType, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Bad records leave no trace in the rows beside them."""
    folder = tmp_path_factory.mktemp("skip")
    types = {"a": kind, "b": pa.int64(), "c": pa.list_(pa.struct({"d": kind}))}
    first = '{"a": null}\n'  # says that the file has lines
    source = read(write(folder, first + "\n".join(lines)), types=types, on_error="skip")
    found = table(source)
    found.validate(full=True)
    expected = [{"a": None, "b": None, "c": None}]
    for line in lines:
        expected += rows(write(folder, first + line, "one.json"), types=types, on_error="skip")[1:]
    assert found.to_pylist() == expected
    assert source.bad_records.count == len(lines) + 1 - len(expected)


# ---- agreement with Python ----

JSON_VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(2**63), 2**64 - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(codec="utf-8"), max_size=8),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=3), inner, max_size=3),
    ),
    max_leaves=12,
)


def restored(value: Any, kind: pa.DataType) -> Any:
    """A value of a column as Python's json would give it."""
    if value is None:
        return None
    if isinstance(kind, pa.JsonType):
        return json.loads(value)
    if pa.types.is_list(kind):
        return [restored(each, kind.value_type) for each in value]
    if pa.types.is_struct(kind):
        # A member that is absent cannot be told from one that is null.
        members = {name: restored(each, kind.field(name).type) for name, each in value.items()}
        return {name: each for name, each in members.items() if each is not None}
    return value


def without_nulls(value: Any, kind: pa.DataType) -> Any:
    """Drop the members that `restored` drops: those of objects that are structs."""
    if isinstance(kind, pa.JsonType):
        return value
    if isinstance(value, list):
        return [without_nulls(each, kind.value_type) for each in value]
    if isinstance(value, dict):
        members = {name: without_nulls(each, kind.field(name).type) for name, each in value.items()}
        return {name: each for name, each in members.items() if each is not None}
    return value


@settings(deadline=None)
@given(values=st.lists(JSON_VALUES, min_size=1, max_size=5), ascii_only=st.booleans())
def test_any_values_come_back(values: list[Any], ascii_only: bool, tmp_path_factory: pytest.TempPathFactory) -> None:
    text = "\n".join(json.dumps({"v": value}, ensure_ascii=ascii_only) for value in values)
    source = read(write(tmp_path_factory.mktemp("json"), text))
    kind = source.schema.field("v").type
    found = table(source)
    found.validate(full=True)
    assert [restored(row["v"], kind) for row in found.to_pylist()] == [without_nulls(value, kind) for value in values]


MUTATIONS = st.tuples(
    st.integers(0, 400), st.sampled_from([b"", b'"', b"{", b"]", b",", b"\\", b"\xff", b"9", b"\n", b"\x00", b"null"])
)


@settings(deadline=None)
@given(
    changes=st.lists(MUTATIONS, min_size=1, max_size=6),
    size=st.sampled_from([0, 1, 3]),
    kind=st.sampled_from(list(Shape)),
)
def test_damaged_files_give_rows_or_errors(
    changes: list[tuple[int, bytes]], size: int, kind: Shape, tmp_path_factory: pytest.TempPathFactory
) -> None:
    objects = [
        {"id": number, "t": "2024-05-01T00:00:00Z", "l": [1.5, None], "o": {"x": "ü\n", "y": [{}]}}
        for number in range(5)
    ]
    text = json.dumps(objects, indent=1) if kind is Shape.ARRAY else "\n".join(json.dumps(each) for each in objects)
    if kind is Shape.DOCUMENT:
        text = "".join(json.dumps(each, indent=1) for each in objects)
    content = text.encode()
    for at, piece in changes:
        at %= len(content)
        content = content[:at] + piece + content[at + size :]
    path = write(tmp_path_factory.mktemp("json"), content)
    for on_error in ("raise", "skip"):
        with suppress(AmudaiError):
            table(read(path, on_error=on_error)).validate(full=True)  # type: ignore[arg-type]
