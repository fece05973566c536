"""Are the questions for indexes such that no row is missed, and exact where they say so?"""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.index import Match, Terms
from amudai.predicate import BoundLeaf, Predicate, Text, col, term_questions
from tests.effort import examples
from tests.oracle import operators
from tests.predicate.shards import Bindable
from tests.predicate.texts import OPERATORS, texts


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Bindable:
    table = pa.table({"s": ["a"], "n": [1], "l": [["a"]], "d": pa.array(["a"]).dictionary_encode()})
    return Bindable(table, tmp_path_factory.mktemp("literals"))


def bound(shard: Bindable, predicate: Predicate) -> BoundLeaf:
    leaf = shard.bind(predicate)
    assert isinstance(leaf, BoundLeaf)
    return leaf


def holds(term: Terms, value: str) -> bool:
    """What an index answers: whether the value has such a term."""
    op = {Match.EQUAL: "equals", Match.PREFIX: "startswith", Match.SUFFIX: "endswith", Match.WITHIN: "contains"}[
        term.match
    ]
    candidates = [value] if term.whole else [word for word, _, _ in operators.words(value)]
    return any(operators.is_true(op, each, term.text, term.case_sensitive) for each in candidates)


def check(shard: Bindable, predicate: Predicate, value: str, answer: bool) -> None:
    for alternative in term_questions(bound(shard, predicate)):
        assert all(term.whole is alternative.whole for group in alternative.questions for term in group)
        found = any(all(holds(term, value) for term in group) for group in alternative.questions)
        if answer:
            assert found, (alternative, value)
        elif alternative.exact:
            assert not found, (alternative, value)


@pytest.mark.parametrize("op", OPERATORS)
@examples(120)
@given(value=texts(), text=texts(4).filter(bool), case_sensitive=st.booleans())
def test_no_row_is_missed(shard: Bindable, op: str, value: str, text: str, case_sensitive: bool) -> None:
    answer = operators.is_true(op, value, text, case_sensitive)
    assert answer is not None
    check(shard, Text("s", op, text, case_sensitive), value, answer)  # type: ignore[arg-type]


@pytest.mark.parametrize("op", OPERATORS)
@examples(80)
@given(data=st.data(), case_sensitive=st.booleans())
def test_no_row_with_a_part_is_missed(shard: Bindable, op: str, data: st.DataObject, case_sensitive: bool) -> None:
    value = data.draw(texts(10).filter(bool))
    start = data.draw(st.integers(0, len(value) - 1))
    text = value[start : data.draw(st.integers(start + 1, len(value)))]
    text = text if case_sensitive else text.swapcase()
    answer = operators.is_true(op, value, text, case_sensitive)
    assert answer is not None
    check(shard, Text("s", op, text, case_sensitive), value, answer)  # type: ignore[arg-type]


@examples(100)
@given(value=texts(), others=st.lists(texts(), min_size=1, max_size=3))
def test_equality(shard: Bindable, value: str, others: list[str]) -> None:
    check(shard, col("s").isin(others), value, value in others)
    check(shard, col("s") == others[0], value, value == others[0])
    check(shard, col("s") == value, value, True)


W, P, S, E = Match.WITHIN, Match.PREFIX, Match.SUFFIX, Match.EQUAL
WORDS: list[tuple[Predicate, tuple[tuple[Terms, ...], ...] | None, bool]] = [
    (col("s").has("ab"), ((Terms("ab", E, False),),), True),
    (col("s").has_cs("ab"), ((Terms("ab", E, True),),), True),
    (col("s").has(".ab"), ((Terms("ab", E, False),),), False),
    (col("s").has("ab-cd"), ((Terms("ab", E, False), Terms("cd", E, False)),), False),
    (col("s").hasprefix("ab"), ((Terms("ab", P, False),),), True),
    (col("s").hasprefix("ab cd"), ((Terms("ab", E, False), Terms("cd", P, False)),), False),
    (col("s").hasprefix("ab."), ((Terms("ab", E, False),),), False),
    (col("s").hassuffix("ab"), ((Terms("ab", S, False),),), True),
    (col("s").hassuffix("ab cd"), ((Terms("ab", S, False), Terms("cd", E, False)),), False),
    (col("s").contains("ab"), ((Terms("ab", W, False),),), True),
    (col("s").contains("ab cd ef"), ((Terms("ab", S, False), Terms("cd", E, False), Terms("ef", P, False)),), False),
    (col("s").contains(" ab "), ((Terms("ab", E, False),),), False),
    (col("s").startswith("ab"), ((Terms("ab", P, False),),), False),
    (col("s").startswith("ab cd"), ((Terms("ab", E, False), Terms("cd", P, False)),), False),
    (col("s").endswith("ab"), ((Terms("ab", S, False),),), False),
    (col("s") == "ab cd", ((Terms("ab", E, True), Terms("cd", E, True)),), False),
    (col("s").iequals("ab"), ((Terms("ab", E, False),),), False),
    (col("s").isin(["ab", "cd"]), ((Terms("ab", E, True),), (Terms("cd", E, True),)), False),
    (col("s").isin(["ab", "-"]), None, False),
    (col("s").has("--"), None, False),
    (col("s") == "", None, False),
    (col("s").matches("ab.*(?:cd|ef)-gh+"), ((Terms("ab", W, True), Terms("g", P, True), Terms("h", W, True)),), False),
    (col("s").matches("a*"), None, False),
    (col("l").has("ab"), ((Terms("ab", E, False),),), True),
    (col("d").has("ab"), ((Terms("ab", E, False),),), True),
]  # fmt: skip


@pytest.mark.parametrize(("predicate", "groups", "exact"), WORDS)
def test_questions_about_words(
    shard: Bindable, predicate: Predicate, groups: tuple[tuple[Terms, ...], ...] | None, exact: bool
) -> None:
    found = [each for each in term_questions(bound(shard, predicate)) if not each.whole]
    assert [(each.questions, each.exact) for each in found] == ([] if groups is None else [(groups, exact)])


WHOLE: list[tuple[Predicate, tuple[tuple[Terms, ...], ...] | None, bool]] = [
    (col("s") == "ab cd", ((Terms("ab cd", E, True, True),),), True),
    (col("s") == "", ((Terms("", E, True, True),),), True),
    (col("s").isin(["a", "b"]), ((Terms("a", E, True, True),), (Terms("b", E, True, True),)), True),
    (col("s").iequals("ab"), ((Terms("ab", E, False, True),),), True),
    (col("s").startswith_cs("-"), ((Terms("-", P, True, True),),), True),
    (col("s").endswith("ab"), ((Terms("ab", S, False, True),),), True),
    (col("s").contains("ab"), ((Terms("ab", W, False, True),),), True),
    (col("s").has("ab"), ((Terms("ab", W, False, True),),), False),
    (col("s").hasprefix("ab"), ((Terms("ab", W, False, True),),), False),
    (col("s").matches("ab.cd"), ((Terms("ab", W, True, True), Terms("cd", W, True, True)),), False),
    (col("s").matches("a?"), None, False),
]  # fmt: skip


@pytest.mark.parametrize(("predicate", "groups", "exact"), WHOLE)
def test_questions_about_whole_values(
    shard: Bindable, predicate: Predicate, groups: tuple[tuple[Terms, ...], ...] | None, exact: bool
) -> None:
    found = [each for each in term_questions(bound(shard, predicate)) if each.whole]
    assert [(each.questions, each.exact) for each in found] == ([] if groups is None else [(groups, exact)])


def test_no_question_about_other_things(shard: Bindable) -> None:
    for predicate in (col("n") == 1, col("s") < "a", col("s") != "a", col("s").is_null()):
        assert term_questions(bound(shard, predicate)) == []
