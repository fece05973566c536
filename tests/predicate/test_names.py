"""Does every leaf of a bound predicate have a name of its own, whatever it is bound to?"""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given

from amudai.predicate import Bound, BoundLeaf, Predicate, bind, col
from tests.effort import examples
from tests.predicate.shards import PlainSchema
from tests.predicate.test_binding import TABLE, leaves, parts, trees

SCHEMA = PlainSchema(TABLE.schema)


def names(bound: Bound) -> dict[str, str]:
    return {part.name: str(part) for part in parts(bound) if isinstance(part, BoundLeaf)}


@examples(200)
@given(predicate=trees(leaves))
def test_names_are_unique(predicate: Predicate) -> None:
    bound = bind(predicate, SCHEMA)
    assert len(names(bound)) == sum(isinstance(part, BoundLeaf) for part in parts(bound))
    assert names(bind(predicate, SCHEMA)) == names(bound)


NAMED: list[tuple[Predicate, dict[str, str]]] = [
    (col("n") == 1, {"1": 'col("n") == 1'}),
    (
        (col("n") == 1) & col("s").has("x") | ~col("b").is_null(),
        {"1": 'col("n") == 1', "2": 'col("s").has("x")', "3": 'col("b").is_valid()'},
    ),
    (  # the same question twice is two leaves
        col("s").has("x") & (col("n") == 1) | col("s").has("x"),
        {"1": 'col("s").has("x")', "2": 'col("n") == 1', "3": 'col("s").has("x")'},
    ),
    (  # two comparisons that became an interval
        (col("n") >= 1) & col("s").has("x") & (col("n") <= 5),
        {"1+3": '(col("n") >= 1) & (col("n") <= 5)', "2": 'col("s").has("x")'},
    ),
    (  # a leaf that no value can make true keeps its number
        (col("n") == 5.5) | col("s").has("x"),
        {"2": 'col("s").has("x")'},
    ),
]


@pytest.mark.parametrize(("predicate", "expected"), NAMED)
def test_names_count_the_leaves_of_the_predicate(predicate: Predicate, expected: dict[str, str]) -> None:
    assert names(bind(predicate, SCHEMA)) == expected


def test_a_name_means_the_same_in_every_schema() -> None:
    predicate = (col("n") == 300) | (col("m") == 1)
    narrow = PlainSchema(pa.schema({"n": pa.int8(), "m": pa.int64()}))
    wide = PlainSchema(pa.schema({"n": pa.int64(), "m": pa.int64()}))
    assert names(bind(predicate, narrow)) == {"2": 'col("m") == 1'}
    assert names(bind(predicate, wide)) == {"1": 'col("n") == 300', "2": 'col("m") == 1'}
