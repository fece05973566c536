"""Do predicates travel: small, to another process, and to the columns they find there?"""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pyarrow as pa
import pytest
from hypothesis import given

from amudai.predicate import Predicate, bind, col
from tests.effort import examples
from tests.predicate.shards import PlainSchema, rows_of
from tests.predicate.test_binding import TABLE, leaves, trees

PREDICATES: list[tuple[Predicate, tuple[str | bytes, ...]]] = [
    (
        col("message").has("timeout") & (col("status") >= 500) & ~col("level").isin(["debug", "info"]),
        ("timeout", "debug", "info"),
    ),
    (col("http.status").between(500, 599) | col("message").matches("a.*b"), ("a.*b",)),
    (
        (col("time") >= "2026-01-31T10:00:00Z") & col("trace").is_valid() & (col("span") == b"0123"),
        ("2026-01-31T10:00:00Z", b"0123"),
    ),
    (col("message").like("a%b_c") & col("message").ilike("%x%") & col("user").str.contains("y", literal=True), ()),
]


@pytest.mark.parametrize(("predicate", "literals"), PREDICATES, ids=lambda value: str(value)[:40])
def test_three_leaves_are_small(predicate: Predicate, literals: tuple[str | bytes, ...]) -> None:
    assert len(pickle.dumps(predicate)) - sum(map(len, literals)) < 400


def test_the_width_of_a_schema_does_not_matter() -> None:
    """What is pickled is the predicate: it is bound again where it arrives."""
    wide = pa.struct([(f"member{number}", pa.int64()) for number in range(1000)])
    schema = PlainSchema(pa.schema({"wide": wide, **{f"c{number}": pa.string() for number in range(1000)}}))
    predicate = (col("wide.member500") > 5) & col("c7").has("x")
    again = pickle.loads(pickle.dumps(predicate))
    assert len(pickle.dumps(predicate)) < 250
    assert bind(again, schema) == bind(predicate, schema)


@examples(200)
@given(predicate=trees(leaves))
def test_bound_predicates_pickle(predicate: Predicate) -> None:
    bound = bind(predicate, PlainSchema(TABLE.schema))
    again = pickle.loads(pickle.dumps(bound))
    assert str(again) == str(bound)
    assert rows_of(again, TABLE) == rows_of(bound, TABLE)


def bound_elsewhere(pickled: bytes) -> list[int]:
    return rows_of(bind(pickle.loads(pickled), PlainSchema(TABLE.schema)), TABLE)


@pytest.mark.slow
def test_a_predicate_is_bound_in_another_process() -> None:
    predicate = (col("n") > 1) & ~col("s").has("x") | col("t").is_null()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        found = pool.submit(bound_elsewhere, pickle.dumps(predicate)).result()
    assert found == bound_elsewhere(pickle.dumps(predicate)) == [1, 3, 5, 6]
