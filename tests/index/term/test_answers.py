"""Does an index find every row, and no other?"""

from __future__ import annotations

import tempfile
from functools import cache, lru_cache
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.index import Match, TermIndex, Terms
from amudai.index.term.stored_form import MAYBE_CUT, TOKENIZERS
from amudai.rows import Positions
from tests.effort import examples
from tests.index.term.indexed_shards import SMALL, Indexed, indexed
from tests.index.term.test_tokenizers import TEXTS
from tests.oracle import text as oracle

WORDS = [
    "error",
    "Error",
    "ERROR",
    "err",
    "e",
    "disk",
    "Disk",
    "stra\u00dfe",
    "STRA\u1e9eE",
    "10.0.0.1",
    "\u00e91.2.3.4",
]
WORDS += ["sun", "\u017fun", "\u0131a", "Ia", "a1", "A1b", "10", "9", 124 * "w", 125 * "w", 128 * "w", 129 * "w"]
WORDS += [126 * "w" + "\u00e9", 70 * "\u017f", 64 * "s", 64 * "\u017f", 300 * "w"]


@lru_cache(8)
def rows_by_part(values: tuple[str | None, ...], whole: bool) -> dict[str, set[int]]:
    """The rows of each word, or of each value that is not empty."""
    found: dict[str, set[int]] = {}
    for row, value in enumerate(values):
        for part in ([value] if whole else oracle.words(value)) if value else []:
            found.setdefault(part, set()).add(row)
    return found


def truth(values: list[str | None], question: Terms) -> set[int]:
    """The rows for which the question is true, by the values themselves."""
    return {
        row
        for part, rows in rows_by_part(tuple(values), question.whole).items()
        if oracle.matches(part, question.text, question.match.value, question.case_sensitive)
        for row in rows
    }


def check(answer: Positions | None, expected: set[int], *, exact: bool) -> None:
    assert answer is not None
    yes, maybe = set(answer.yes.positions().tolist()), set(answer.maybe.positions().tolist())
    assert not yes & maybe
    assert yes <= expected
    assert expected <= yes | maybe
    if exact:
        assert yes == expected
        assert not maybe


def questions(values: list[str | None], tokenizer: str, extra: list[str]) -> list[Terms]:
    """All kinds of questions about the terms of these values, and about some that they lack."""
    whole = tokenizer == "trivial"
    found = {part for value in values if value for part in ([value] if whole else oracle.words(value))}
    texts = sorted(found)[:40] + extra
    texts += [text[: len(text) // 2 + 1] for text in texts] + [text[len(text) // 2 :] for text in texts]
    texts += [text.swapcase() for text in texts]
    return [
        Terms(text, match, case_sensitive, whole)
        for text in dict.fromkeys(texts)
        for match in Match
        for case_sensitive in (True, False)
        if text and (whole or oracle.words(text) == [text])
    ]


def check_all(made: Indexed, field: str, values: list[str | None], tokenizer: str, extra: list[str]) -> None:
    reader = made.reader()
    sensitive = dict(made.descriptor.properties)["collation"].value == "unicode-case-preserving"
    # Only what may have been cut, and the spelling where it is not kept, is left to be checked.
    long = any(len(term.encode()) >= MAYBE_CUT for value in values if value for term in [*oracle.words(value), value])
    for question in questions(values, tokenizer, extra):
        exact = not long and (sensitive or not question.case_sensitive)
        answer = reader.answer(made.path(field), question)
        check(answer, truth(values, question), exact=exact)


@pytest.mark.slow
@given(
    st.lists(st.none() | TEXTS | st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), max_size=60),
    st.sampled_from(list(TOKENIZERS)),
    st.sampled_from(["case_preserving", "case_insensitive"]),
    st.sampled_from([None, 7, 25]),
    st.sampled_from([3, 1000]),
    st.sampled_from([0, 64 << 20]),
    st.booleans(),
)
@examples(60)
def test_every_row_is_found(
    values: list[str | None],
    tokenizer: str,
    collation: str,
    stripe_rows: int | None,
    batch_rows: int,
    memory: int,
    small: bool,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        made = indexed(
            pa.table({"n": pa.array(range(len(values)), pa.int32()), "text": pa.array(values, pa.string())}),
            TermIndex("text", tokenizer=tokenizer, collation=collation),
            Path(folder) / "made.amudai.shard",
            stripe_rows=stripe_rows,
            batch_rows=batch_rows,
            memory=memory,
            tuning=SMALL if small else None,
        )
        check_all(made, "text", values, tokenizer, ["zz", "Error", 130 * "w", 64 * "S", 70 * "s"])


LINES = [
    f"{['info', 'Warn', 'ERROR'][i % 3]} request {i} from 10.0.{i % 7}.{i % 251} took {i * i % 977}ms user{i % 40}"
    for i in range(6000)
]


LISTS: list[str | None] = [
    f"{line} {'all' if i % 1000 else ''} {'run' * (i // 1500 % 2)}" for i, line in enumerate(LINES)
]


@cache
def truth_of_lists(question: Terms) -> set[int]:
    return truth(LISTS, question)


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["plain", "minimal_compression", "balanced", "high_compression", "minimal_size"])
@pytest.mark.parametrize("stripe_rows", [None, 2500])
def test_lists_of_every_length(profile: str, stripe_rows: int | None, tmp_path: Path) -> None:
    """Long and short lists, dense and sparse ones, and ranges."""
    table = pa.table({"text": LISTS})
    spec = TermIndex("text")
    made = indexed(table, spec, tmp_path / "a.amudai.shard", stripe_rows=stripe_rows, profile=profile)
    reader = made.reader()
    texts = ["all", "run", "request", "ERROR", "error", "user7", "10", "42", "977ms", "took", "info", "5999"]
    for text in texts:
        for match in Match:
            for case_sensitive in (True, False):
                question = Terms(text, match, case_sensitive)
                check(reader.answer(made.path("text"), question), truth_of_lists(question), exact=True)


def test_a_small_memory_makes_the_same_index(tmp_path: Path) -> None:
    """Runs that are spilled and merged are those of one pass, byte for byte."""
    table = pa.table({"text": LINES})
    made = [
        indexed(table, TermIndex("text"), tmp_path / f"{memory}.amudai.shard", memory=memory, batch_rows=501)
        for memory in (0, 1 << 20, 1 << 28)
    ]
    bytes_of = [Path(each.location).read_bytes() for each in made]
    assert bytes_of[0] == bytes_of[1] == bytes_of[2]


def test_an_index_without_terms_finds_nothing(tmp_path: Path) -> None:
    for name, values in [("none", []), ("nulls", [None, None]), ("blank", ["", "--", " "])]:
        table = pa.table({"text": pa.array(values, pa.string())})
        made = indexed(table, TermIndex("text"), tmp_path / f"{name}.amudai.shard")
        for match in Match:
            answer = made.reader().answer(made.path("text"), Terms("a", match, False))
            assert answer is not None
            assert answer.count == 0


def test_questions_of_another_kind_are_not_answered(tmp_path: Path) -> None:
    table = pa.table({"text": ["a b"], "value": ["a b"], "other": ["a b"]})
    spec = TermIndex("text", "value", tokenizer=["word", "trivial"])
    made = indexed(table, spec, tmp_path / "a.amudai.shard")
    reader = made.reader()
    assert reader.answer(made.path("other"), Terms("a", Match.EQUAL, True)) is None
    assert reader.answer(made.path("text"), Terms("a b", Match.EQUAL, True, whole=True)) is None
    assert reader.answer(made.path("value"), Terms("a", Match.EQUAL, True)) is None
    assert reader.answer(made.path("value"), Terms("", Match.PREFIX, True, whole=True)) is None
    found = reader.answer(made.path("value"), Terms("a b", Match.EQUAL, True, whole=True))
    assert found is not None
    assert found.yes.positions().tolist() == [0]
    nothing = reader.answer(made.path("text"), Terms("\ud800", Match.EQUAL, True))
    assert nothing is not None
    assert nothing.count == 0


def test_addresses_are_terms_but_no_words(tmp_path: Path) -> None:
    """`\u00e91.2.3.4` holds an address and the word `\u00e91`: nothing in it begins with 1."""
    table = pa.table({"text": ["\u00e91.2.3.4", "10.0.0.1 up", "1.2.3.4\u00e9"]})
    made = indexed(table, TermIndex("text"), tmp_path / "a.amudai.shard")
    reader = made.reader()

    def rows(text: str, match: Match) -> list[int]:
        found = reader.answer(made.path("text"), Terms(text, match, True))
        assert found is not None
        assert not found.maybe.count
        return found.yes.positions().tolist()

    assert rows("1", Match.PREFIX) == [1, 2]
    assert rows("4", Match.SUFFIX) == [0]
    assert rows("1", Match.WITHIN) == [0, 1, 2]
    assert rows("10.0.0.1", Match.EQUAL) == [1]
