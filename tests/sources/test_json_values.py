"""JSON whose records are no objects: they are the values of one column."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import amudai
from amudai.errors import CorruptedData, InvalidSchema
from tests.sources.reading import content, read, table
from tests.sources.test_json import notes, reasons, rows, shape, write


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("[1, 2, 3]", pa.int64(), [1, 2, 3]),
        ("[1, null, 18446744073709551615]", pa.uint64(), [1, None, 2**64 - 1]),
        ("[1, 2.5]", pa.float64(), [1.0, 2.5]),
        ('[\n  "a",\n  "\\u00fc, ]",\n  null\n]\n', pa.string(), ["a", "ü, ]", None]),
        ("[true, false]", pa.bool_(), [True, False]),
        ("[null]", pa.null(), [None]),
        ("[[1, 2], [], null]", pa.list_(pa.int64()), [[1, 2], [], None]),
        ('[[{"a": 1}], [{"a": 2}]]', pa.list_(pa.struct([("a", pa.int64())])), [[{"a": 1}], [{"a": 2}]]),
        ("1\n2\n\n3", pa.int64(), [1, 2, 3]),
        ('"x"\n"y"\n', pa.string(), ["x", "y"]),
        ("5", pa.int64(), [5]),
        ("[1, 2][3]", pa.int64(), [1, 2, 3]),
        ("\ufeff[1]", pa.int64(), [1]),
        # An array in each line is a record, as lines with an object are.
        ("[1, 2]\n[3]\n", pa.list_(pa.int64()), [[1, 2], [3]]),
        ("[1, 2]\r\n\r\n[3]\r\n", pa.list_(pa.int64()), [[1, 2], [3]]),
        ("[[1, 2],\n[3]]", pa.list_(pa.int64()), [[1, 2], [3]]),
    ],
)
def test_values_are_one_column(text: str, kind: pa.DataType, values: list[Any], tmp_path: Path) -> None:
    path = write(tmp_path, text)
    assert shape(path) == "values"
    found = table(read(path))
    assert found.schema == pa.schema([("value", kind)])
    assert found["value"].to_pylist() == values


def test_values_that_are_times(tmp_path: Path) -> None:
    path = write(tmp_path, '["2024-01-02T03:04:05Z", "2024-01-02T03:04:05+01:00"]')
    assert read(path).schema.field("value").type == pa.timestamp("us", "UTC")
    mixed = write(tmp_path, '["2024-01-02T03:04:05Z", "2024-01-02T03:04:05"]', "mixed.json")
    with pytest.raises(InvalidSchema, match="'value': expected times that all name a zone"):
        read(mixed)


@pytest.mark.parametrize(
    ("text", "values", "kinds"),
    [
        ('[1, "a", {"b": [1, 2]}]', ["1", '"a"', '{"b":[1,2]}'], "numbers, texts and objects"),
        ('"a"\n[1]\n', ['"a"', "[1]"], "texts and arrays"),
    ],
)
def test_mixed_kinds_are_json_text(text: str, values: list[str], kinds: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    assert notes(path) == (f"column value: kept as JSON text, as it holds {kinds}",)
    assert table(read(path))["value"].to_pylist() == values


def test_objects_stay_records(tmp_path: Path) -> None:
    """Where at least as many records are objects as are other values, the others are damaged."""
    assert rows(write(tmp_path, '[{"a": 1}]\n[{"a": 2}]\n')) == [{"a": 1}, {"a": 2}]
    assert rows(write(tmp_path, '[null, null, {"a": 1}]'), on_error="skip") == [{"a": 1}]
    assert reasons(write(tmp_path, '[5, {"a": 1}]')) == [(1, "expected an object, found a number")]
    damaged = write(tmp_path, '[oops, {"a": 1}, oops]')
    assert reasons(damaged) == [(1, "expected a JSON value, found oops at byte 1")] * 2
    assert reasons(write(tmp_path, '1\n2\n{"a": 1}\n')) == [
        (1, "expected an object, found a number"),
        (2, "expected an object, found a number"),
    ]


def test_text_that_is_no_json_has_no_values(tmp_path: Path) -> None:
    path = write(tmp_path, "foo\nbar\n")
    with pytest.raises(CorruptedData, match=r"expected a JSON value, found foo at byte 1 .*line 1"):
        rows(path)


def test_bad_values(tmp_path: Path) -> None:
    many = ",\n".join(map(str, range(1_000_000)))
    path = write(tmp_path, f'[{many},\n"x",\n{{"a": 1}},\n2, oops, 3]')
    way_out = "set the type of column 'value' (types= or --type)"
    assert reasons(path) == [
        (1_000_001, f"expected int64 in column 'value', found a text, \"x\": {way_out}"),
        (1_000_002, f"expected int64 in column 'value', found an object, {{\"a\": 1}}: {way_out}"),
        (1_000_003, "expected a JSON value, found oops at byte 1"),
    ]
    found = table(read(path, on_error="skip"))["value"]
    assert found.to_pylist() == [*range(1_000_000), 2, 3]
    kept = table(read(path, on_error="keep"))
    assert kept["bad_record"].drop_null().to_pylist() == ['"x"', '{"a": 1}', "oops"]


@pytest.mark.parametrize("text", ["[1, 2", "[1,]", "[1 2]", "[, 1]"])
def test_damaged_arrays_of_values(text: str, tmp_path: Path) -> None:
    with pytest.raises(CorruptedData, match=r"record: expected .*t\.json, line 1"):
        rows(write(tmp_path, text))


def test_the_type_of_values(tmp_path: Path) -> None:
    path = write(tmp_path, '[1, "2.50", null]')
    assert table(read(path, types={"value": "text"}))["value"].to_pylist() == ["1", "2.50", None]
    assert [str(each) for each in table(read(path, types={"value": "decimal128(5, 2)"}))["value"].to_pylist()] == [
        "1.00",
        "2.50",
        "None",
    ]
    with pytest.raises(CorruptedData, match="expected struct<a: int64> in column 'value', found a number"):
        rows(path, types={"value": pa.struct([("a", pa.int64())])})


def test_values_beside_other_files(tmp_path: Path) -> None:
    write(tmp_path, "[1, 2]", "1.json")
    write(tmp_path, '{"value": 3, "other": "x"}\n', "2.json")
    assert content(tmp_path) == {"value": [1, 2, 3], "other": [None, None, "x"]}


def test_lines_of_values_are_followed(tmp_path: Path) -> None:
    path = write(tmp_path, "[1, 2]\n[3]\n", "t.jsonl")
    shards = list(amudai.follow(path, tmp_path / "shards", at_end="stop"))
    assert shards[-1].read()["value"].to_pylist() == [[1, 2], [3]]
    with path.open("a") as file:
        file.write("[4]\n")
    list(amudai.follow(path, tmp_path / "shards", at_end="stop"))
    assert amudai.dataset(tmp_path / "shards").read()["value"].to_pylist() == [[1, 2], [3], [4]]


_SCALARS = st.one_of(st.integers(-(2**63), 2**63 - 1), st.text(max_size=9), st.booleans(), st.none())
_VALUES = st.recursive(_SCALARS, lambda below: st.lists(below, max_size=3), max_leaves=9)


@settings(deadline=None)
@given(st.lists(_VALUES, min_size=1, max_size=20), st.sampled_from(["array", "lines"]), st.sampled_from([None, 1]))
@example([[1], [2]], "lines", None)
@example([[1]], "array", None)
def test_any_values(values: list[Any], form: str, indent: int | None) -> None:
    """Nothing is lost: each value comes back, as JSON text where the kinds are mixed."""
    lines = [json.dumps(value) for value in values]
    if form == "lines" and not (len(lines) == 1 and lines[0].startswith("[")):  # one array is an array of values
        text = "\n".join(lines)
    else:
        text = json.dumps(values, indent=indent)
    found = table(read(io.BytesIO(text.encode("utf-8", "surrogatepass")), format="json", types={"value": pa.json_()}))
    assert [None if each is None else json.loads(each) for each in found["value"].to_pylist()] == values
