"""Predicates on nanoseconds are exact, although statistics, range indexes and hash indexes know ticks only."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import amudai
from amudai import Predicate, col
from amudai.plan.prune import Pruner
from tests.effort import examples

NUMBERS = itertools.count()
KINDS = [pa.timestamp("ns"), pa.timestamp("ns", "UTC"), pa.duration("ns")]
BASES = [0, -(10**15), 1_700_000_000_000_000_000, -(2**63) + 500, 2**63 - 1 - 500]
AT = col("at")


def questions(a: pa.ChunkedArray, x: pa.Scalar, y: pa.Scalar) -> list[tuple[Predicate, Any]]:
    """Predicates, each with the answer of pyarrow."""
    inside = pc.and_(pc.greater_equal(a, x), pc.less_equal(a, y))
    among = pc.is_in(a, pa.array([x.value, y.value], a.type))
    return [
        (x == AT, pc.equal(a, x)),
        (x != AT, pc.not_equal(a, x)),
        (x > AT, pc.less(a, x)),
        (x >= AT, pc.less_equal(a, x)),
        (x < AT, pc.greater(a, x)),
        (x <= AT, pc.greater_equal(a, x)),
        (AT.between(x, y), inside),
        (~AT.between(x, y), pc.invert(inside)),
        ((x < AT) & (y > AT), pc.and_(pc.greater(a, x), pc.less(a, y))),
        ((x == AT) | (y < AT), pc.or_(pc.equal(a, x), pc.greater(a, y))),
        (AT.isin([x, y]), among),
        (~AT.isin([x, y]), pc.and_(pc.invert(among), a.is_valid())),
        (AT.is_null(), a.is_null()),
        (AT.is_valid(), a.is_valid()),
    ]


@pytest.fixture(params=["evidence", "values"])
def knowledge(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all evidence, or with nothing known before values are looked at."""
    if request.param == "values":
        make = Pruner.__init__

        def without(self: Pruner, *arguments: Any) -> None:
            make(self, *arguments)
            self._evidence = ()

        monkeypatch.setattr(Pruner, "__init__", without)


@pytest.mark.slow
@examples(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    kind=st.sampled_from(KINDS),
    base=st.sampled_from(BASES),
    offsets=st.lists(st.none() | st.integers(-450, 450), min_size=1, max_size=30),
    repeat=st.sampled_from([1, 40]),
    ordered=st.booleans(),
    whole_first_half=st.booleans(),
    stripe_rows=st.sampled_from([None, 7, 300]),
    indexed=st.booleans(),
    asked=st.lists(st.tuples(st.integers(-500, 500), st.integers(-500, 500)), min_size=1, max_size=3),
)
@pytest.mark.usefixtures("knowledge")
def test_answers_are_exact(
    kind: pa.DataType,
    base: int,
    offsets: list[int | None],
    repeat: int,
    ordered: bool,
    whole_first_half: bool,
    stripe_rows: int | None,
    indexed: bool,
    asked: list[tuple[int, int]],
    tmp_path: Path,
) -> None:
    values = [None if offset is None else base + offset for offset in offsets for _ in range(repeat)]
    if ordered:
        values.sort(key=lambda value: (value is None, value))
    if whole_first_half:
        half = len(values) // 2
        values[:half] = [value if value is None else (value + 99) // 100 * 100 for value in values[:half]]
    table = pa.table({"at": pa.array(values, kind)})
    if stripe_rows is not None:
        stripe_rows = max(stripe_rows, -(-len(values) // 12))
    indexes = [amudai.HashIndex("at")] if indexed else []
    target = tmp_path / f"{next(NUMBERS)}.amudai.shard"
    shard = amudai.write(table, target, stripe_rows=stripe_rows, indexes=indexes)
    known = [value for value in values if value is not None]
    pairs = [(base + low, base + high) for low, high in asked] + [(value, value) for value in known[:2]]
    for low, high in pairs:
        for where, answer in questions(table["at"], pa.scalar(low, kind), pa.scalar(high, kind)):
            expected = np.flatnonzero(pc.fill_null(answer, False).to_numpy()).tolist()
            scan = shard.scan(where=where)
            assert scan.positions().tolist() == expected, where
            assert scan.count() == len(expected), where
            assert scan.to_table()["at"].to_pylist() == table["at"].take(pa.array(expected, pa.int64())).to_pylist()


def shard_of(values: Any, tmp_path: Path, **options: Any) -> amudai.Shard:
    table = pa.table({"at": pa.array(values, pa.timestamp("ns"))})
    return amudai.write(table, tmp_path / "t.amudai.shard", **options)


def at(value: int) -> pa.Scalar:
    return pa.scalar(value, pa.timestamp("ns"))


def test_only_the_edges_of_a_range_are_in_doubt(tmp_path: Path) -> None:
    """The range index decides about all stretches of 256 rows but those of the two ends, and these are compared."""
    times = np.arange(100_000) * 101
    shard = shard_of(times, tmp_path)
    scan = shard.scan(where=AT.between(at(1_000_001), at(9_000_001)))
    assert scan.count() == np.count_nonzero((times >= 1_000_001) & (times <= 9_000_001))
    explained = scan.explain()
    assert explained.doubtful <= 512
    assert explained.sure > 78_000


@pytest.mark.parametrize("where", [at(500_000) <= AT, at(500_000) > AT], ids=str)
def test_a_bound_that_is_a_tick_is_decided_by_ticks(where: Predicate, tmp_path: Path) -> None:
    shard = shard_of([499_999, 500_000, 500_001, 499_901], tmp_path)
    assert shard.scan(where=where).positions().tolist() == ([1, 2] if where.op == ">=" else [0, 3])  # type: ignore[attr-defined]


def test_statistics_rule_stripes_out(tmp_path: Path) -> None:
    shard = shard_of([1, 2, 1001, 1002, 2001, 2002], tmp_path, stripe_rows=2)
    explained = shard.scan(where=at(1050) <= AT).explain()
    assert (explained.sure, explained.doubtful) == (2, 2)
    assert shard.scan(where=at(1050) <= AT).positions().tolist() == [4, 5]


def test_a_constant_tick_is_no_constant_time(tmp_path: Path) -> None:
    shard = shard_of([101, 102, 103], tmp_path)
    assert shard.scan(where=at(101) == AT).positions().tolist() == [0]
    assert shard.scan(where=at(101) != AT).positions().tolist() == [1, 2]
    same = shard_of([147, 147, 147], tmp_path, overwrite=True)
    assert same.scan(where=at(147) == AT).positions().tolist() == [0, 1, 2]
    assert same.scan(where=at(147) == AT).explain().doubtful == 0
    assert same.scan(where=at(100) == AT).positions().tolist() == []


def test_texts_with_nine_digits(tmp_path: Path) -> None:
    shard = shard_of([1_700_000_000_123_456_788, 1_700_000_000_123_456_789], tmp_path)
    assert shard.scan(where="at = datetime(2023-11-14T22:13:20.123456789)").positions().tolist() == [1]
    assert shard.scan(where=AT < "2023-11-14T22:13:20.123456789").positions().tolist() == [0]
