"""The parts of a predicate that have one answer for all rows of a shard.

A column whose values come from the names of folders has one value in a shard. A column that a shard lacks is null in
all of its rows. What is left of a predicate is about stored values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pyarrow as pa

from amudai.datasets.masks import true_rows
from amudai.predicate import (
    Always,
    And,
    Compare,
    IsIn,
    IsNull,
    IsValid,
    Matches,
    Not,
    Or,
    Predicate,
    Text,
)
from amudai.types import parse_path

__all__ = ["paths_of", "settled"]


def paths_of(predicate: Predicate) -> Iterator[str]:
    """The paths of all leaves of a predicate."""
    match predicate:
        case And(terms) | Or(terms):
            for term in terms:
                yield from paths_of(term)
        case Not(term):
            yield from paths_of(term)
        case Compare(path=path) | IsIn(path=path) | IsNull(path=path) | IsValid(path=path):
            yield path
        case Text(path=path) | Matches(path=path):
            yield path


def settled(
    predicate: Predicate, constants: Mapping[str, pa.Scalar], is_stored: Callable[[str], bool], negated: bool = False
) -> Predicate:
    """What is left of a predicate if some columns are constant and others, which are not stored, are null.

    The result is true for the same rows. `negated` says whether the predicate is inside an odd number of negations.

    >>> from amudai import col
    >>> year = {"year": pa.scalar(2024)}
    >>> settled((col("year") == 2024) & (col("n") > 5), year, lambda path: True)
    col("n") > 5
    >>> settled((col("year") == 2023) & (col("n") > 5), year, lambda path: True)
    Always(False)
    >>> settled(~(col("m") > 5), {}, lambda path: False)
    Always(False)
    """
    match predicate:
        case And(terms):
            return _joined([settled(term, constants, is_stored, negated) for term in terms], And, neutral=True)
        case Or(terms):
            return _joined([settled(term, constants, is_stored, negated) for term in terms], Or, neutral=False)
        case Not(term):
            found = settled(term, constants, is_stored, not negated)
            return Always(not found.value) if isinstance(found, Always) else Not(found)
        case Compare() | IsIn() | IsNull() | IsValid() | Text() | Matches():
            value = _constant(predicate.path, constants)
            if value is not None:
                return _answer(predicate, value, negated)
            if is_stored(predicate.path):
                return predicate
            if isinstance(predicate, IsNull | IsValid):
                return Always(isinstance(predicate, IsNull))
            return Always(negated)  # neither true nor false: a row is not returned, negated or not
    return predicate


def _joined(terms: list[Predicate], kind: type[And] | type[Or], *, neutral: bool) -> Predicate:
    left = [term for term in terms if not (isinstance(term, Always) and term.value is neutral)]
    if any(isinstance(term, Always) for term in left):
        return Always(not neutral)
    return Always(neutral) if not left else left[0] if len(left) == 1 else kind(tuple(left))


def _constant(path: str, constants: Mapping[str, pa.Scalar]) -> pa.Scalar | None:
    steps = parse_path(path)
    return constants.get(steps[0]) if len(steps) == 1 else None


def _answer(leaf: Predicate, value: pa.Scalar, negated: bool) -> Always:
    assert isinstance(leaf, Compare | IsIn | IsNull | IsValid | Text | Matches)
    row = pa.table({parse_path(leaf.path)[0]: pa.array([value.as_py()], value.type)})
    if true_rows(leaf, row)[0]:
        return Always(True)
    return Always(False) if true_rows(Not(leaf), row)[0] else Always(negated)
