"""Does the index find every row of every value, and no other?"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.index import Keys, Terms
from amudai.index.questions import Match
from tests.effort import examples
from tests.index.hash import shards
from tests.oracle.decimal128 import from_decimal

EPOCH = datetime(1970, 1, 1)


def ticks(value: datetime) -> bytes:
    past = value - EPOCH
    microseconds = (past.days * 86400 + past.seconds) * 10**6 + past.microseconds
    return struct.pack("<Q", microseconds * 10 + 621_355_968_000_000_000)


def packed(code: str) -> Callable[[Any], bytes]:
    return lambda value: struct.pack(f"<{code}", value)


# Arrow type, some values of which few are different, and the bytes by which a value is asked for.
Leaf = tuple[pa.DataType, st.SearchStrategy[Any], Callable[[Any], bytes]]
LEAVES: dict[str, Leaf] = {
    "boolean": (pa.bool_(), st.booleans(), lambda value: bytes([value])),
    "int8": (pa.int8(), st.integers(-3, 3), packed("b")),
    "uint16": (pa.uint16(), st.sampled_from([0, 1, 65535]), packed("H")),
    "int32": (pa.int32(), st.integers(-3, 3), packed("i")),
    "uint64": (pa.uint64(), st.sampled_from([0, 1, (1 << 64) - 1]), packed("Q")),
    "float32": (pa.float32(), st.sampled_from([0.0, -0.0, 1.5, math.inf, math.nan]), packed("f")),
    "float64": (pa.float64(), st.sampled_from([0.0, -0.0, 1.5, -math.inf, math.nan, -math.nan]), packed("d")),
    "datetime": (
        pa.timestamp("us"),
        st.sampled_from([datetime(1970, 1, 1), datetime(2024, 2, 29, 1, 2, 3, 4), datetime(1, 1, 1)]),
        ticks,
    ),
    "string": (pa.string(), st.sampled_from(["", "a", "ä", "word", "x" * 300, "y" * 5000]), str.encode),
    "large_string": (pa.large_string(), st.sampled_from(["", "a", "word"]), str.encode),
    "binary": (pa.binary(), st.sampled_from([b"", b"\0", b"\0\0", b"word"]), bytes),
    "fixed": (pa.binary(5), st.sampled_from([b"\0" * 5, b"abcde", b"abcdf"]), bytes),
    "decimal": (
        pa.decimal128(9, 2),
        st.sampled_from([Decimal("0.00"), Decimal("1.50"), Decimal("-7.25"), Decimal("1234567.89")]),
        from_decimal,
    ),
}


def same(left: Any, right: Any) -> bool:
    """Equality by value, with NaN equal to itself: the index knows no better."""
    return bool(left == right) or (left != left and right != right)


def values_below(value: Any, path: list[str]) -> Iterator[Any]:
    """The leaves of a value, including nulls. A null has no leaves below it."""
    if not path:
        yield value
    elif value is None:
        return
    elif isinstance(value, dict):
        yield from values_below(value[path[0]], path[1:])
    else:
        for each in value:
            yield from values_below(each, path[1:])


SHAPES: dict[str, tuple[Callable[[pa.DataType], pa.DataType], Callable[[Any], Any], str]] = {
    "flat": (lambda kind: kind, lambda leaf: leaf, "x"),
    "struct": (
        lambda kind: pa.struct([("other", pa.int8()), ("in", kind)]),
        lambda leaf: st.none() | st.fixed_dictionaries({"other": st.just(1), "in": leaf}),
        "x.in",
    ),
    "list": (lambda kind: pa.list_(kind), lambda leaf: st.none() | st.lists(leaf, max_size=4), "x.item"),
    "large_list": (lambda kind: pa.large_list(kind), lambda leaf: st.none() | st.lists(leaf, max_size=4), "x.item"),
    "fixed_list": (
        lambda kind: pa.list_(kind, 2),
        lambda leaf: st.none() | st.lists(leaf, min_size=2, max_size=2),
        "x.item",
    ),
    "structs in lists": (
        lambda kind: pa.list_(pa.struct([("in", kind)])),
        lambda leaf: st.none() | st.lists(st.none() | st.fixed_dictionaries({"in": leaf}), max_size=3),
        "x.item.in",
    ),
    "lists in structs in lists": (
        lambda kind: pa.list_(pa.struct([("in", pa.list_(kind))])),
        lambda leaf: st.lists(
            st.none() | st.fixed_dictionaries({"in": st.none() | st.lists(leaf, max_size=2)}), max_size=2
        ),
        "x.item.in.item",
    ),
}


def check(target: Path, table: pa.Table, path: str, candidates: list[Any], to_bytes: Callable[[Any], bytes]) -> None:
    index, descriptor, nodes = shards.opened(target)
    nodes = shards.resolved(nodes, path)
    steps = path.split(".")
    rows = [list(values_below(value, steps[1:])) for value in table.column(steps[0]).to_pylist()]
    for wanted in candidates:
        key = b"" if wanted is None else to_bytes(wanted)
        found = index.answer(nodes, Keys((key,)))
        assert found is not None
        assert not found.yes, "never sure"
        expected = [
            row
            for row, values in enumerate(rows)
            # A null has the key of an empty value.
            if any(same(value, wanted) or (not key and (value is None or value in ("", b""))) for value in values)
        ]
        assert found.maybe.positions().tolist() == expected, wanted
    assert descriptor.indexed_fields == ((nodes[-1].schema_id,),)


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("leaf", LEAVES)
def test_every_value_of_every_type(leaf: str, shape: str, tmp_path: Path) -> None:
    kind, values, to_bytes = LEAVES[leaf]
    wrap, nest, path = SHAPES[shape]

    @examples(5)
    @given(st.lists(nest(st.none() | values), max_size=30), st.lists(values, max_size=3))
    def run(rows: list[Any], others: list[Any]) -> None:
        table = pa.table({"x": pa.array(rows, wrap(kind))})
        target = tmp_path / "t.amudai.shard"
        shards.build(table, target, path, stripe_rows=11, batch_rows=7)
        held = [each for row in table.column("x").to_pylist() for each in values_below(row, path.split(".")[1:])]
        check(target, table, path, [None, *held, *others], to_bytes)

    run()


def test_decimals_are_found_whatever_their_zeros(tmp_path: Path) -> None:
    target = tmp_path / "t.amudai.shard"
    shards.build(pa.table({"d": pa.array([Decimal("1.50"), Decimal("2.00"), None], pa.decimal128(9, 2))}), target, "d")
    index, descriptor, nodes = shards.opened(target)
    for text in ("1.5", "1.50", "1.500", "150E-2"):
        found = index.answer(nodes, Keys((from_decimal(Decimal(text)),)))
        assert found is not None
        assert found.maybe.positions().tolist() == [0]
    assert dict(descriptor.properties)["by_value"].value[0].value == 0  # type: ignore[index]


def test_several_fields_and_keys(tmp_path: Path) -> None:
    table = pa.table({"a": ["x", "y", "z"] * 5, "b": [0, 1, 2, 3, 4] * 3, "c": ["x"] * 15})
    target = tmp_path / "t.amudai.shard"
    shards.build(table, target, "a", "b")
    index, descriptor, nodes = shards.opened(target)
    assert descriptor.indexed_fields == ((0,), (1,))
    assert [artifact.name for artifact in descriptor.artifacts] == [f"part{number}" for number in range(8)]
    assert dict(descriptor.properties)["complete"].value is True
    assert descriptor.index_size is not None
    found = index.answer(nodes[:1], Keys((b"x", b"nowhere", b"z")))
    assert found is not None
    assert found.maybe.positions().tolist() == [row for row in range(15) if row % 3 != 1]
    found = index.answer(nodes[1:2], Keys((struct.pack("<q", 4),)))
    assert found is not None
    assert found.maybe.positions().tolist() == [4, 9, 14]
    missing = index.answer(nodes[:1], Keys((b"nowhere",)))
    assert missing is not None
    assert missing.count == 0
    assert index.answer(nodes[2:], Keys((b"x",))) is None, "not indexed"
    assert index.answer(nodes[:1], Terms("x", Match.EQUAL, case_sensitive=True)) is None


def test_a_dictionary_is_hashed_once_and_found(tmp_path: Path) -> None:
    words = pa.array(["a", None, "b", "a", None, "c"] * 50)
    target = tmp_path / "t.amudai.shard"
    table = pa.table({"x": words.dictionary_encode()})
    shards.build(table, target, "x", batch_rows=13)
    check(target, table, "x", ["a", "b", "c", "d", None], str.encode)


@pytest.mark.parametrize("two_level", [False, True])
def test_nothing_and_two_levels(tmp_path: Path, two_level: bool) -> None:
    for rows in (0, 1, 1000):
        target = tmp_path / f"{rows}.amudai.shard"
        table = pa.table({"x": pa.array([f"value {row % 97}" for row in range(rows)], pa.string())})
        shards.build(table, target, "x", two_level=two_level)
        check(target, table, "x", ["value 0", "value 96", "value 97"], str.encode)


def test_the_keys_are_those_of_the_format() -> None:
    """The worked example of the format's description."""
    from amudai.index.hash.keys import hash_key
    from amudai.types import BasicType, SchemaNode

    def node(kind: BasicType) -> SchemaNode:
        return SchemaNode(schema_id=0, name="x", basic_type=kind, signed=True)

    text, small, large = node(BasicType.STRING), node(BasicType.INT32), node(BasicType.INT64)
    assert hash_key(b"a.name:", text, b"alice") == 0x41B89736230C13AF
    assert hash_key(b"a.name:", text, b"") == 0xDC052399835C23C7
    assert hash_key(b"a.id:", small, b"\1\0\0\0") == 0x8C5319DE82E916EC
    assert hash_key(b"user_id:", large, b"\x2a" + b"\0" * 7) == 0x7453FC07ABE53DD8
    assert hash_key(b"flag:", node(BasicType.BOOLEAN), b"\1") == 0x62EAEA30D41212DD
    assert hash_key(b"flag:", node(BasicType.BOOLEAN), b"1") == 0x62EAEA30D41212DD


def test_keys_that_no_value_has() -> None:
    from amudai.errors import InvalidArgument
    from amudai.index.hash.keys import hash_key
    from amudai.types import BasicType, SchemaNode

    for kind, value in [(BasicType.BOOLEAN, b"\2"), (BasicType.INT32, b"\0\0\0"), (BasicType.FLOAT64, b"\0")]:
        with pytest.raises(InvalidArgument, match="key of"):
            hash_key(b"x:", SchemaNode(schema_id=0, name="x", basic_type=kind), value)
