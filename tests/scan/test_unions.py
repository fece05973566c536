"""Predicates that reach into unions: a variant is null where another one is chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import amudai
from amudai import col
from tests.effort import examples
from tests.oracle.predicates import rows_of

VALUES = st.lists(
    st.tuples(st.just(0), st.none() | st.integers(-3, 3))
    | st.tuples(st.just(1), st.none() | st.sampled_from(["a", "b", "error: b"]))
    | st.tuples(st.just(2), st.none() | st.fixed_dictionaries({"x": st.integers(0, 2)})),
    min_size=1,
    max_size=30,
)
NAMES = ("n", "s", "p")
TYPES = (pa.int64(), pa.string(), pa.struct([("x", pa.int64())]))
PREDICATES = [
    col("u.n") == 1,
    col("u.n") != 1,
    ~(col("u.n") > 0),
    col("u.n").isin([1, 2]),
    col("u.n").is_null(),
    col("u.s").is_valid(),
    ~col("u.s").is_null(),
    col("u.s") == "b",
    ~(col("u.s") == "b"),
    col("u.s").contains("rr"),
    ~col("u.s").contains("rr"),
    col("u.p.x") >= 1,
    (col("u.n") > 0) | (col("u.s") == "a"),
    (col("u.n") > -2) & (col("u.n") < 2),
]


def union(values: list[tuple[int, Any]], *, dense: bool, codes: list[int]) -> pa.UnionArray:
    kinds = pa.array([codes[variant] for variant, _ in values], pa.int8())
    if not dense:
        # Slots that are not chosen hold values, too, which must never be found.
        filler = (1, "b", {"x": 1})
        below = [
            pa.array([value if variant == at else filler[at] for variant, value in values], kind)
            for at, kind in enumerate(TYPES)
        ]
        return pa.UnionArray.from_sparse(kinds, below, list(NAMES), codes)
    places = [sum(other == variant for other, _ in values[:row]) for row, (variant, _) in enumerate(values)]
    below = [pa.array([value for variant, value in values if variant == at], kind) for at, kind in enumerate(TYPES)]
    return pa.UnionArray.from_dense(kinds, pa.array(places, pa.int32()), below, list(NAMES), codes)


def row(variant: int, value: Any) -> dict[str, Any]:
    found: dict[str, Any] = {"n": None, "s": None, "p": {"x": None}}
    if value is not None:
        found[NAMES[variant]] = value
    return {"u": found}


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=VALUES, dense=st.booleans(), codes=st.sampled_from([[0, 1, 2], [5, 3, 9]]), stripes=st.booleans())
def test_every_row_that_is_meant(
    values: list[tuple[int, Any]], dense: bool, codes: list[int], stripes: bool, tmp_path: Path
) -> None:
    array = union(values, dense=dense, codes=codes)
    target = tmp_path / "u.amudai.shard"
    shard = amudai.write({"u": array}, target, overwrite=True, stripe_rows=7 if stripes else None)
    rows = [row(*each) for each in values]
    for predicate in PREDICATES:
        assert shard.scan(where=predicate).positions().tolist() == rows_of(predicate, rows), predicate
        assert shard.scan(where=predicate).count() == len(rows_of(predicate, rows))
    nulls = [at for at, (_, value) in enumerate(values) if value is None]
    assert shard.scan(where=col("u").is_null()).positions().tolist() == nulls
    assert shard.scan(where=col("u").is_valid()).count() == len(values) - len(nulls)
    assert shard["u.n"].read().to_pylist() == [value if variant == 0 else None for variant, value in values]
    assert shard["u.p.x"].read().to_pylist() == [
        value["x"] if variant == 2 and value is not None else None for variant, value in values
    ]


def test_statistics_of_a_variant_rule_out_nothing(tmp_path: Path) -> None:
    """Every slot of the variant matches, and every one of them is hidden by another variant."""
    kinds = pa.array(np.tile(np.array([1, 1, 0], np.int8), 5000))
    below = [pa.array(np.where(np.arange(15_000) % 3 == 2, 1, 7)), pa.array(["text"] * 15_000)]
    shard = amudai.write({"u": pa.UnionArray.from_sparse(kinds, below, ["n", "s"])}, tmp_path / "u.amudai.shard")
    assert shard.scan(where=col("u.n") == 7).count() == 0
    assert shard.scan(where=col("u.n") != 7).count() == 5000
    assert shard.scan(where=col("u.s") == "text").count() == 10_000
    assert shard.scan(where=col("u.s").has("text")).count() == 10_000
    dropped = amudai.delete(shard, "u.n = 1", to=tmp_path / "d.amudai.shard")
    assert dropped.scan(where=col("u.n").is_valid()).count() == 0
    assert dropped.num_rows == 10_000
    folder = amudai.dataset([tmp_path / "u.amudai.shard", tmp_path / "d.amudai.shard"])
    assert folder.scan(where=col("u.n") == 1).count() == 5000


def test_unions_inside_lists_and_unions(tmp_path: Path) -> None:
    inner = pa.UnionArray.from_sparse(
        pa.array([0, 1, 0], pa.int8()), [pa.array([1, 2, 3]), pa.array(["a", "b", "c"])], ["n", "s"]
    )
    outer = pa.UnionArray.from_sparse(pa.array([0, 0, 1], pa.int8()), [inner, pa.array([1.5, 2.5, 3.5])], ["u", "f"])
    lists = pa.ListArray.from_arrays([0, 2, 3, 3], inner)
    shard = amudai.write({"o": outer, "l": lists}, tmp_path / "t.amudai.shard")
    assert shard.scan(where=col("o.u.n") >= 1).positions().tolist() == [0]
    assert shard.scan(where=col("o.u.s") == "b").positions().tolist() == [1]
    assert shard.scan(where=col("o.f") > 0).positions().tolist() == [2]
    assert shard.scan(where=col("l.s") == "b").positions().tolist() == [0]
    assert shard.scan(where=col("l.n") == 3).positions().tolist() == [1]
    assert shard.scan(where=~(col("l.n") == 3)).positions().tolist() == [0, 2]


def test_a_union_is_not_compared_as_a_whole(tmp_path: Path) -> None:
    shard = amudai.write({"u": union([(0, 1)], dense=True, codes=[0, 1, 2])}, tmp_path / "t.amudai.shard")
    with pytest.raises(amudai.AmudaiError, match="u"):
        shard.scan(where=col("u") == 1).count()


RUNS = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array(["a", "b"]))
DENSE = pa.UnionArray.from_dense(
    pa.array([0, 0, 1], pa.int8()), pa.array([0, 1, 0], pa.int32()), [pa.array(["a", "a"]), pa.array([1])], ["s", "n"]
)
SPARSE = pa.UnionArray.from_sparse(
    pa.array([0, 0, 1], pa.int8()), [pa.array(["a", "a", "x"]), pa.array([1, 2, 3])], ["s", "n"]
)


@pytest.mark.parametrize(("member", "path"), [(RUNS, "x.m"), (DENSE, "x.m.s"), (SPARSE, "x.m.s")])
def test_members_of_a_null_struct_are_null_even_if_their_type_has_no_nulls(
    tmp_path: Path, member: pa.Array, path: str
) -> None:
    """Arrow ended the process where such a member is a union, and returned what lies behind the null for runs."""
    structs = pa.StructArray.from_arrays([member], ["m"], mask=pa.array([False, True, False]))
    shard = amudai.write(pa.table({"x": structs}), tmp_path / "x.amudai.shard")

    def found(where: amudai.Predicate) -> list[int]:
        return list(shard.scan(where=where).positions())

    assert found(col(path) == "a") == [0]
    assert found(col(path).has("a")) == [0]
    assert found(col("x.m").is_null()) == [1]
    assert found(col("x.m").is_valid()) == [0, 2]
    assert shard[path].read().to_pylist() == ["a", None, "b" if path == "x.m" else None]
    by_member = amudai.compact(shard, tmp_path / "by.amudai.shard", sort_by=path) if path == "x.m" else None
    assert by_member is None or by_member["x.m"].read().to_pylist() == ["a", "b", None]
