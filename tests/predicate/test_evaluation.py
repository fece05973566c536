"""Are rows found in arrays of every type, whatever their layout?"""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.predicate import BoundLeaf, col, evaluate, evaluate_values
from tests.effort import examples
from tests.predicate.shards import Bindable
from tests.predicate.test_comparison import OPERATORS
from tests.predicate.test_regex import PIECES

TEXTS = ["b", "a", None, "", "bc", "\u00e9"]
DAYS = [date(2020, 1, day) for day in (1, 2, 3)]
MOMENTS = [datetime(2020, 1, 1, hour) for hour in (1, 2, 3)]

# A type, some of its values, and one to compare them with.
TYPES: list[tuple[pa.DataType, list[Any], Any]] = [
    (pa.bool_(), [True, False, None], True),
    (pa.int8(), [1, -128, 127, None], 1),
    (pa.uint64(), [1, 2**64 - 1, None, 0], 2**63),
    (pa.float16(), [0.5, 2.0, None, -0.0], 0.5),
    (pa.float32(), [0.5, 2.0, None, -0.0], 0.0),
    (pa.float64(), [0.5, float("nan"), None, -0.0], 0.0),
    (pa.decimal32(5, 2), [Decimal("1.25"), Decimal("-3.00"), None], Decimal("1.25")),
    (pa.decimal64(12, 2), [Decimal("1.25"), Decimal("-3.00"), None], Decimal("1.25")),
    (pa.decimal128(20, 2), [Decimal("1.25"), Decimal("-3.00"), None], Decimal("1.25")),
    (pa.string(), TEXTS, "b"),
    (pa.large_string(), TEXTS, "b"),
    (pa.string_view(), TEXTS, "b"),
    (pa.dictionary(pa.int8(), pa.string()), TEXTS, "b"),
    (pa.run_end_encoded(pa.int32(), pa.string()), ["b", "b", None, None, "a", "a", "a"], "b"),
    (pa.binary(), [b"b", b"", None, b"bc"], b"b"),
    (pa.large_binary(), [b"b", b"", None, b"bc"], b"b"),
    (pa.binary_view(), [b"b", b"", None, b"bc"], b"b"),
    (pa.binary(2), [b"bb", b"\0\0", None, b"bc"], b"bb"),
    (pa.timestamp("us"), [*MOMENTS, None], MOMENTS[1]),
    (pa.timestamp("ms", "UTC"), [each.replace(tzinfo=UTC) for each in MOMENTS], MOMENTS[1].replace(tzinfo=UTC)),
    (pa.date32(), [*DAYS, None], DAYS[1]),
    (pa.date64(), [*DAYS, None], DAYS[1]),
    (pa.time32("s"), [time(1), time(2), None], time(1)),
    (pa.time64("us"), [time(1), time(2), None], time(1)),
    (pa.duration("ms"), [timedelta(1), timedelta(2), None], timedelta(1)),
]


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Bindable:
    return Bindable(pa.table({"s": ["a"]}), tmp_path_factory.mktemp("evaluate"))


def array_of(kind: pa.DataType, values: list[Any]) -> pa.Array:
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).dictionary_encode().cast(kind)
    if pa.types.is_run_end_encoded(kind):
        return pc.run_end_encode(pa.array(values, kind.value_type), kind.run_end_type)
    if pa.types.is_float16(kind):
        return pa.array([None if each is None else np.float16(each) for each in values], kind)
    return pa.array(values, kind)


@pytest.mark.parametrize(
    ("kind", "values", "other"), TYPES, ids=lambda given: str(given) if isinstance(given, pa.DataType) else ""
)
def test_comparisons_of_every_type(kind: pa.DataType, values: list[Any], other: Any, tmp_path: Path) -> None:
    array = array_of(kind, values)
    shard = Bindable(pa.table({"c": array}), tmp_path)
    assert shard.fields.schema.field("c").type == kind
    predicates = [(op(col("c"), other), lambda value, op=op: op(value, other)) for op in OPERATORS.values()]
    predicates.append((col("c").isin([other, values[0]]), lambda value: value in (other, values[0])))
    predicates.append((col("c").is_null(), None))
    for predicate, is_true in predicates:
        leaf = shard.bind(predicate)
        if is_true is None:
            expected = [value is None for value in values]
        else:
            expected = [value is not None and bool(is_true(value)) for value in values]
        if not isinstance(leaf, BoundLeaf):
            continue  # known without a look
        assert evaluate(leaf, array).tolist() == expected, predicate
        # Slices, pieces and what is left after some rows were cut off.
        assert evaluate(leaf, array[1:]).tolist() == expected[1:]
        assert evaluate(leaf, array[:0]).tolist() == []
        chunks = pa.chunked_array([array[:1], array[1:1], array[1:]])
        assert evaluate(leaf, chunks).tolist() == expected
        assert evaluate(leaf, pa.chunked_array([], kind)).tolist() == []


def test_uuids_and_json(tmp_path: Path) -> None:
    ids = [UUID(int=number << 90) for number in (1, 2, 3)]
    table = pa.table(
        {
            "u": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([each.bytes for each in ids], pa.binary(16))),
            "j": pa.ExtensionArray.from_storage(pa.json_(pa.string()), pa.array(['{"a": 1}', None, '{"b": 2}'])),
        }
    )
    shard = Bindable(table, tmp_path)
    assert shard.rows(col("u") == ids[1]) == [1]
    assert shard.rows(col("u") > str(ids[1])) == [2]
    assert shard.rows(col("u").isin(ids[:2])) == [0, 1]
    assert shard.rows(col("j").has("b")) == [2]
    assert shard.rows(~col("j").has("b")) == [0]


@pytest.mark.parametrize(
    "kind",
    [pa.list_(pa.string()), pa.large_list(pa.string()), pa.list_(pa.string(), 2), pa.list_view(pa.string())],
    ids=str,
)
def test_lists_of_every_kind(kind: pa.DataType, tmp_path: Path) -> None:
    array = pa.array([["a", "b"], None, ["b", None], ["x", "y"]], kind)
    shard = Bindable(pa.table({"c": array}), tmp_path)
    for predicate, expected in [(col("c") == "b", [0, 2]), (~(col("c") == "b"), [3]), (col("c.item").is_null(), [2])]:
        leaf = shard.bind(predicate)
        assert isinstance(leaf, BoundLeaf)
        assert np.flatnonzero(evaluate(leaf, array)).tolist() == expected
        assert np.flatnonzero(evaluate(leaf, array[2:])).tolist() == [row - 2 for row in expected if row >= 2]


def test_a_struct_may_have_lost_members(tmp_path: Path) -> None:
    table = pa.table({"s": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, None]})
    leaf = Bindable(table, tmp_path).bind(col("s.b") == "y")
    assert isinstance(leaf, BoundLeaf)
    assert evaluate(leaf, pa.array([{"b": "x"}, {"b": "y"}, None])).tolist() == [False, True, False]
    with pytest.raises(InvalidArgument, match="expected a struct with 'b'"):
        evaluate(leaf, pa.array([{"a": 1}]))


def test_nulls_with_bytes_below_them_are_nulls(tmp_path: Path) -> None:
    shard = Bindable(pa.table({"s": ["a"]}), tmp_path)
    hidden = pa.Array.from_buffers(
        pa.string(), 2, [pa.py_buffer(b"\x01"), pa.py_buffer(np.array([0, 1, 2], np.int32)), pa.py_buffer(b"aa")]
    )
    for predicate in (col("s").has("a"), col("s") == "a", col("s").matches("a")):
        leaf = shard.bind(predicate)
        assert isinstance(leaf, BoundLeaf)
        assert evaluate(leaf, hidden).tolist() == [True, False]


def test_dictionaries_with_nulls_in_both_places(tmp_path: Path) -> None:
    values = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2, 0], pa.int8()), pa.array(["a", None, "b"]))
    shard = Bindable(pa.table({"d": values.cast(pa.string()).dictionary_encode()}), tmp_path)
    for predicate, expected in [
        (col("d").has("a"), [0, 4]),
        (~col("d").has("a"), [3]),
        (col("d").is_null(), [1, 2]),
        (col("d").is_valid(), [0, 3, 4]),
        (col("d") != "a", [3]),
    ]:
        leaf = shard.bind(predicate)
        assert isinstance(leaf, BoundLeaf)
        assert np.flatnonzero(evaluate(leaf, values)).tolist() == expected
        assert evaluate(
            leaf, pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), pa.array([], pa.string()))
        ).tolist() == [predicate == col("d").is_null()]


@pytest.mark.slow
@examples(300)
@given(
    pattern=st.lists(st.sampled_from(PIECES), max_size=6).map("".join),
    values=st.lists(st.one_of(st.none(), st.text("abkKsSi.- \u00e9\u212a\u017f", max_size=8)), max_size=12),
)
def test_regular_expressions_are_pyarrows(shard: Bindable, pattern: str, values: list[str | None]) -> None:
    array = pa.array(values, pa.string())
    try:
        expected = pc.match_substring_regex(pa.array([*values, ""]), pattern).to_pylist()[:-1]
    except pa.ArrowInvalid:
        with pytest.raises(
            (InvalidArgument, UnsupportedFeature), match=r"expected (a regular expression|the syntax of RE2)"
        ):
            shard.bind(col("s").matches(pattern))
        return
    for predicate, answer in [(col("s").matches(pattern), True), (~col("s").matches(pattern), False)]:
        leaf = shard.bind(predicate)
        assert isinstance(leaf, BoundLeaf)
        assert evaluate(leaf, array).tolist() == [each is answer for each in expected]


def test_values_of_a_dictionary(tmp_path: Path) -> None:
    shard = Bindable(pa.table({"s": ["a"], "b": [b"a"], "f": pa.array([b"aa"], pa.binary(2)), "n": [1]}), tmp_path)
    data, offsets = np.frombuffer(b"..bananaaA", np.uint8), np.array([2, 8, 8, 9, 10], np.uint64)  # banana, "", a, A

    def found(predicate: Any, places: np.ndarray[Any, Any] = offsets) -> list[bool]:
        leaf = shard.bind(predicate)
        assert isinstance(leaf, BoundLeaf)
        return evaluate_values(leaf, places, data).tolist()

    assert found(col("s").has("a")) == [False, False, True, True]
    assert found(col("s").contains_cs("a")) == [True, False, True, False]
    assert found(~col("s").contains_cs("a")) == [True, False, True, False]
    assert found(col("s") == "a") == [False, False, True, False]
    assert found(col("s") > "a") == [True, False, False, False]
    assert found(col("s").isin(["a", ""])) == [False, True, True, False]
    assert found(col("s").matches("n.n")) == [True, False, False, False]
    assert found(col("s").is_valid()) == [True] * 4
    assert found(col("s").is_null()) == [False] * 4
    assert found(col("b") <= b"a") == [False, True, True, True]
    assert found(col("f") == b"na", np.array([2, 4, 6, 8], np.uint64)) == [False, True, True]
    with pytest.raises(InvalidArgument, match="expected text or bytes, found int64"):
        found(col("n") == 1)
