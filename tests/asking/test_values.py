"""Is every value written down so that nothing is lost?"""

from __future__ import annotations

import json
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

import pyarrow as pa
import pytest

from amudai.asking import json_line, json_values, texts

CASES = [
    (pa.array([1, None]), [1, None]),
    (pa.array([2**63], pa.uint64()), [2**63]),
    (pa.array([True, None]), [True, None]),
    (pa.array([float("inf"), float("-inf"), float("nan"), 0.5]), ["Infinity", "-Infinity", "NaN", 0.5]),
    (pa.array(["é", None], pa.large_string()), ["é", None]),
    (pa.array(["é", None], pa.string_view()), ["é", None]),
    (pa.array([b"\x00\xff", None]), ["00ff", None]),
    (pa.array([b"\x00\xff"], pa.binary(2)), ["00ff"]),
    (pa.array([1_700_000_000_123_456_789], pa.timestamp("ns")), ["2023-11-14T22:13:20.123456789"]),
    (pa.array([0], pa.timestamp("s", "Europe/Berlin")), ["1970-01-01T01:00:00+01:00"]),
    (pa.array([0], pa.timestamp("s", "UTC")), ["1970-01-01T00:00:00Z"]),
    (pa.array([datetime(2026, 1, 31, 10), None]), ["2026-01-31T10:00:00.000000", None]),
    (pa.array([date(2026, 1, 31)]), ["2026-01-31"]),
    (pa.array([time(10, 30)]), ["10:30:00.000000"]),
    (pa.array([timedelta(seconds=90, milliseconds=5), -timedelta(hours=1)]), ["PT90.005S", "-PT3600S"]),
    (pa.array([1], pa.duration("ns")), ["PT0.000000001S"]),
    (pa.array([Decimal("1.10")]), ["1.10"]),
    (pa.array([UUID(int=1).bytes], pa.uuid()), ["00000000-0000-0000-0000-000000000001"]),
    (
        pa.array([{"a": 1, "b": [b"x"]}, None, {"a": None, "b": None}]),
        [{"a": 1, "b": ["78"]}, None, {"a": None, "b": None}],
    ),
    (pa.array([[1, 2], None, []]), [[1, 2], None, []]),
    (pa.array([[1, 2], None], pa.list_(pa.int8(), 2)), [[1, 2], None]),
    (
        pa.array([[("k", 1)], None, [("k", 1), ("k", 2)]], pa.map_(pa.string(), pa.int8())),
        [{"k": 1}, None, [["k", 1], ["k", 2]]],
    ),
    (pa.array([[(1, date(2026, 1, 1))]], pa.map_(pa.int8(), pa.date32())), [[[1, "2026-01-01"]]]),
    (pa.array(["x", None, "x"]).dictionary_encode(), ["x", None, "x"]),
    (
        pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([date(2026, 1, 1), None])),
        ["2026-01-01"] * 2 + [None],
    ),
    (pa.nulls(2), [None, None]),
    (
        pa.UnionArray.from_sparse(pa.array([0, 1], pa.int8()), [pa.array([1, 2]), pa.array([b"a", b"b"])]),
        [1, "62"],
    ),
    (pa.array([1.5], pa.float16()), [1.5]),
]


@pytest.mark.parametrize(("array", "expected"), CASES, ids=[str(array.type) for array, _ in CASES])
def test_values_as_json(array: pa.Array, expected: list[object]) -> None:
    assert json_values(array) == expected
    assert json_values(pa.chunked_array([array, array[1:]])) == expected + expected[1:]
    assert json.loads(json_line(expected)) == expected
    assert [text is None for text in texts(array)] == [value is None for value in expected]
