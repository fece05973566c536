"""Does the comparison notice what it must?"""

from __future__ import annotations

import struct
from decimal import Decimal

import pyarrow as pa
import pytest

from tests.reading.same import same_values


def table(values: object, kind: pa.DataType | None = None) -> pa.Table:
    return pa.table({"x": pa.array(values, kind)})


NAN = struct.unpack("<d", bytes.fromhex("010000000000f87f"))[0]
POINT = pa.struct([("a", pa.float64()), ("b", pa.list_(pa.int8()))])
PAIRS = [
    (table([1, 2], pa.int64()), table([1, 3], pa.int64())),
    (table([1, 2], pa.int64()), table([1, None], pa.int64())),
    (table([1, 0], pa.int64()), table([1, 2], pa.int32())),
    (table([0.0]), table([-0.0])),
    (table([float("nan")]), table([NAN])),
    (table([[0.0]]), table([[-0.0]])),
    (table([[1], []]), table([[1], None], pa.list_(pa.int64()))),
    (table([[1], [2]]), table([[1, 2], []])),
    (table([{"a": 0.0, "b": [1]}], POINT), table([{"a": -0.0, "b": [1]}], POINT)),
    (table([{"a": 0.0, "b": [1]}], POINT), table([{"a": 0.0, "b": [None]}], POINT)),
    (table([{"a": None, "b": None}], POINT), table([None], POINT)),
    (table([[("k", 0.0)]], pa.map_("string", "double")), table([[("k", -0.0)]], pa.map_("string", "double"))),
    (table([[("k", 1)]], pa.map_("string", "int8")), table([[("l", 1)]], pa.map_("string", "int8"))),
    (table([[1, 2]], pa.list_(pa.int8(), 2)), table([[1, None]], pa.list_(pa.int8(), 2))),
    (table(["a"]), table(["b"])),
    (table([b"a"]), table(["a"])),
    (table([100], pa.timestamp("ns")), table([101], pa.timestamp("ns"))),
]


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_differences_are_noticed(left: pa.Table, right: pa.Table) -> None:
    assert same_values(left, left)
    assert same_values(right, right)
    with pytest.raises(AssertionError):
        same_values(left, right)
    with pytest.raises(AssertionError):
        same_values(right, left)
    with pytest.raises(AssertionError):
        same_values(left, pa.concat_tables([left, left]))
    with pytest.raises(AssertionError):
        same_values(left, left.rename_columns(["y"]))


def test_what_may_differ() -> None:
    assert same_values(table([1_000], pa.timestamp("ns")), table([1], pa.timestamp("us")))
    assert same_values(table([86_400 * 10**9], pa.timestamp("ns")), table([1], pa.date32()))
    wide = pa.decimal256(76, 38)
    assert same_values(table([Decimal("1.5")], wide), table([Decimal("1.50")], pa.decimal128(10, 2)))
    cut = table([100, -100, None], pa.timestamp("ns"))
    assert same_values(cut, table([199, -199, None], pa.timestamp("ns")), as_ticks=True)
    with pytest.raises(AssertionError):
        same_values(cut, table([200, -199, None], pa.timestamp("ns")), as_ticks=True)
    with pytest.raises(AssertionError):
        same_values(table([Decimal("1.5")], wide), table([Decimal("1.6")], pa.decimal128(10, 2)))
    # Below null parents nothing counts; slices and chunks are no difference.
    hidden = pa.StructArray.from_arrays([pa.array([1, 2])], ["a"], mask=pa.array([False, True]))
    shown = pa.StructArray.from_arrays([pa.array([1, 3])], ["a"], mask=pa.array([False, True]))
    assert same_values(table(hidden), table(shown))
    lists = pa.ListArray.from_arrays(
        pa.array([0, 1, 3, 4]), pa.array([1.5, 2.5, 3.5, 4.5]), mask=pa.array([False, True, False])
    )
    assert same_values(table(lists), table([[1.5], None, [4.5]]))
    maps = table([[("a", 1)], [("b", 2), ("c", 3)], None], pa.map_("string", "int8"))
    assert same_values(maps.slice(1), pa.table({"x": maps["x"].combine_chunks()[1:]}))
    assert same_values(pa.concat_tables([maps.slice(0, 1), maps.slice(1)]), maps)
