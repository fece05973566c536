"""Are batches written whole, in order, and a piece at a time?"""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai import _kernels

pytestmark = pytest.mark.native

WRITERS: list[Any] = [amudai.CsvWriter, amudai.JsonLinesWriter]


class Pieces(io.BytesIO):
    """A file that counts the bytes of each write."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def write(self, data: Any) -> int:
        self.sizes.append(len(data))
        return super().write(data)


def written(writer: Any, columns: list[str], *batches: pa.RecordBatch) -> str:
    out = io.BytesIO()
    made = writer(out, columns)
    for batch in batches:
        made.write(batch)
    made.close()
    return out.getvalue().decode()


def test_a_file_without_rows_has_a_header() -> None:
    assert written(amudai.CsvWriter, ["a", 'b "c"', "", "d,e"]) == 'a,"b ""c""","","d,e"\n'
    assert written(amudai.JsonLinesWriter, ["a"]) == ""


def test_rows_of_several_batches_follow_each_other() -> None:
    first, second = pa.record_batch({"a": [1, 2], "b": ["x", None]}), pa.record_batch({"b": ["y"], "c": [True]})
    assert written(amudai.CsvWriter, ["a", "b", "c"], first, second) == "a,b,c\n1,x,\n2,,\n,y,true\n"
    assert written(amudai.JsonLinesWriter, ["c", "b"], first, second) == (
        '{"c": null, "b": "x"}\n{"c": null, "b": null}\n{"c": true, "b": "y"}\n'
    )


def test_rows_without_columns() -> None:
    batch = pa.record_batch({"a": [1, 2]})
    assert written(amudai.JsonLinesWriter, [], batch) == "{}\n{}\n"
    assert written(amudai.CsvWriter, [], batch) == "\n"


def test_names_are_escaped_in_json() -> None:
    name = 'say "é"\n\\'
    assert json.loads(written(amudai.JsonLinesWriter, [name], pa.record_batch({name: [1]}))) == {name: 1}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_long_batch_is_written_in_pieces(writer: Any) -> None:
    rows = 20_000
    batch = pa.record_batch({"n": range(rows), "t": ["x" * 200] * rows})
    out = Pieces()
    writer(out, ["n", "t"]).write(batch)
    assert max(out.sizes) < 1_500_000
    lines = out.getvalue().decode().splitlines()[-rows:]
    numbers = [json.loads(line)["n"] if writer is amudai.JsonLinesWriter else int(line.split(",")[0]) for line in lines]
    assert numbers == list(range(rows))


@pytest.mark.parametrize("writer", WRITERS)
def test_long_rows_are_written_one_by_one(writer: Any) -> None:
    out = Pieces()
    writer(out, ["t"]).write(pa.record_batch({"t": ["x" * 1_000_000] * 5}))
    assert [size for size in out.sizes if size > 10] == [1_000_000 + (1 if writer is amudai.CsvWriter else 10)] * 5


@pytest.mark.parametrize("writer", WRITERS)
def test_a_slice_of_a_batch_is_written_alone(writer: Any) -> None:
    batch = pa.record_batch({"a": [[1], None, [2, 3]], "b": [None, "x", "y"], "c": [True, None, False]})
    copied = pa.record_batch([pa.array(column.to_pylist(), column.type) for column in batch[1:]], batch.schema.names)
    assert written(writer, ["a", "b", "c"], batch[1:]) == written(writer, ["a", "b", "c"], copied)


# ---- kernels refuse what does not fit together ----


def i8(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.int64)


def numbers(*values: int) -> _kernels.TextColumn:
    return _kernels.TextColumn.integers(i8(*values), None, 0)


def test_lists_outside_of_their_items_are_refused() -> None:
    for starts, ends in ((i8(0), i8(3)), (i8(-1), i8(1)), (i8(1), i8(0)), (i8(0, 1), i8(1))):
        with pytest.raises(ValueError, match="lists: expected"):
            _kernels.TextColumn.lists(starts, ends, numbers(1, 2), None, 0)
        with pytest.raises(ValueError, match="lists: expected"):
            _kernels.TextColumn.maps(starts, ends, False, numbers(1, 2), numbers(1, 2, 3), None, 0)


def test_unions_outside_of_their_columns_are_refused() -> None:
    for which, slot in ((0, 2), (0, -1), (1, 0)):
        with pytest.raises(ValueError, match="slots: expected"):
            _kernels.TextColumn.unions(np.array([which], np.uint8), i8(slot), [numbers(1, 2)])


def test_columns_that_are_too_short_are_refused() -> None:
    with pytest.raises(ValueError, match="a value for each row"):
        _kernels.csv_lines([numbers(1, 2, 3), numbers(1, 2)], 1, 2)
    with pytest.raises(ValueError, match="a value for each row"):
        _kernels.json_lines(["a"], [numbers(1)], 0, 2)
    with pytest.raises(ValueError, match="a value for each row"):
        _kernels.json_lines(["a"], [numbers(1)], 2**64 - 1, 2)
    with pytest.raises(ValueError, match="one for each column"):
        _kernels.json_lines(["a", "b"], [numbers(1)], 0, 1)
    with pytest.raises(ValueError, match="a value for each row"):
        _kernels.TextColumn.structs(["a"], [numbers(1)], 2, None, 0)


def test_buffers_that_are_too_short_are_refused() -> None:
    short = np.zeros(1, np.uint8)
    with pytest.raises(ValueError, match="validity: too short"):
        _kernels.TextColumn.integers(i8(*range(9)), short, 0)
    with pytest.raises(ValueError, match="too short"):
        _kernels.TextColumn.booleans(short, 1, 8, None, 0)
    with pytest.raises(ValueError, match="shorter"):
        _kernels.TextColumn.texts(i8(0, 2), short, None, 1, None, 0)
    with pytest.raises(ValueError, match="ascending"):
        _kernels.TextColumn.texts(i8(0, 1, 0), short, None, 2, None, 0)
    with pytest.raises(ValueError, match="shorter"):
        _kernels.TextColumn.binary(None, short, 2, 1, None, 0)
    with pytest.raises(ValueError, match="16 bytes each"):
        _kernels.TextColumn.decimals(short, 2, None, 0)
    with pytest.raises(ValueError, match="expected 0, 3, 6 or 9"):
        _kernels.TextColumn.times(i8(1), 2, None, 0)


def test_columns_keep_their_values_alive() -> None:
    column = _kernels.TextColumn.lists(i8(0), i8(2), numbers(7, 8), None, 0)
    nested = _kernels.TextColumn.structs(["a"], [column], 1, None, 0)
    del column
    np.zeros(1000)
    assert _kernels.json_lines(["s"], [nested], 0, 1) == b'{"s": {"a": [7, 8]}}\n'
