"""Does `col("x").str` mean what it means in Polars?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.predicate import Matches, Predicate, bind, col
from amudai.predicate.rust_regex import rust_to_re2
from tests.effort import examples
from tests.predicate.shards import PlainSchema, rows_of
from tests.predicate.texts import texts

VALUES = [
    "Read timeout after 5 s",
    "read TIMEOUT",
    "time-out",
    "",
    None,
    "caf\u00e9 \u00c9t\u00e9",
    "caf\u00e9s",
    "a.b",
    "axb",
    "\u0661\u0662 \u00b2",
    "a\nb",
    "a\u00a0b\x0bc",
    "K\u212a\u017fs",
    "foo_bar",
    "foo bar",
    "bar.foo",
    "[x]{2}^$",
    "\U0001f600",
    "snake_foo",
    "foo\u0301",
    "back\\slash",
]
SCHEMA = PlainSchema(pa.schema({"s": pa.string()}))


def both(predicate: Predicate, values: list[str | None]) -> tuple[list[int], list[int]]:
    """The rows for which a predicate is true, and those for which it is false."""
    table = pa.table({"s": pa.array(values, pa.string())})
    return rows_of(bind(predicate, SCHEMA), table), rows_of(bind(~predicate, SCHEMA), table)


def of_polars(ask: Callable[[Any], pl.Expr], values: list[str | None]) -> tuple[list[int], list[int]]:
    answers = pl.DataFrame({"s": pl.Series(values, dtype=pl.String)}).select(ask(pl.col("s").str)).to_series().to_list()
    return [row for row, each in enumerate(answers) if each], [row for row, each in enumerate(answers) if each is False]


PATTERNS = [
    "timeout", "(?i)timeout", "^read", "out$", r"\d", r"\D", r"^\D*$", r"\w+", r"^\w+$", r"\W", r"\s", r"^\S+$",
    r"\s\S", r"[\d.]", r"[^\d\s]", r"[\s\S]", r"^[\w\W]$", r"[\D]", r"[\S\d]b", "[[:alpha:]]", "[^[:alpha:] ]",
    r"[a\-z]x", "[a-c]x", "[]x]", "[^]x]$", "[x-]", r"a\.b", r"a\x2eb", r"\u00e9", r"\u{e9}s", r"\U0001F600",
    r"[\u00e0-\u00ff]", r"\p{Lu}", r"\pL\P{L}", r"\p{Greek}", "a.b", "(?s)a.b", "(?m)^b$", "a|e", "(a|b)c",
    "(?P<n>foo)", "(?<n>foo)", "(?:a)(b)?", "o{2}", "o{2,}", "o{1,2}?", "o*?b", "(?i)k", "(?i)s", "(?i)[k]",
    "(?i)\u00e9", "", r"\[x\]\{2\}\^\$", "]", "}", r"\_", r"foo\_bar", r"\bfoo", r"foo\b", r"\bfoo\b",
    r"(?i)\bTIME\b", r"\b\w+\b", r"\bcaf\w+\b", r"\b\d+\b", r"back\\", r"\A\z", r"[\[\]]", r"[\\]", r"[&]", r"[~-]",
    r"\x{1F600}", r"[\n\x0b]", r"a\vb|a\nb", "(?i-s:A.B)", "(?U)a+", r"\#\-\ ",
]  # fmt: skip


BOUNDARIES = [
    r"\b(foo|bar)\b", r"\b(?:foo|ba\w)", r"(?i)\b(?P<n>FOO|(t|T)ime)\b", r"\b((a|e)|foo)", r"\bfoo|bar\b",
    r"\b(foo)+\b", r"(foo|bar{1,2})\b", r"\b\w{2,}\b",
]  # fmt: skip


@pytest.mark.parametrize("pattern", [*PATTERNS, *BOUNDARIES])
def test_contains(pattern: str) -> None:
    expected = of_polars(lambda text: text.contains(pattern), VALUES)
    assert both(col("s").str.contains(pattern), VALUES) == expected


PIECES = [
    *["a", "b", "k", "S", "\u00e9", " ", ".", "-", "_", r"\.", r"\-", r"\_", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S"],
    *["[a-b]", "[^a]", r"[\w.]", r"[^\s]", r"[\d-]", "[]a]", "[[:alpha:]]", "[é-ü]", r"\x61", r"\u{e9}", r"\pL"],
    *["(", "(?:", "(?i:", "(?P<n>", ")", "|", "*", "+", "?", "{2}", "{1,}", "^", "$", r"\b", "(?i)", "(?s)", r"\A"],
]
values = st.lists(
    st.one_of(st.none(), st.text("abkKsS. -_\u00e9\u00c9\u212a\u017f\u0131\u0661\u00b2\u0301\n\x0b\u3000", max_size=8)),
    max_size=8,
)


@examples(500)
@given(pattern=st.lists(st.sampled_from(PIECES), max_size=7).map("".join), values=values)
def test_patterns_mean_what_they_mean_in_polars_or_are_refused(pattern: str, values: list[str | None]) -> None:
    try:
        predicate = col("s").str.contains(pattern)
    except (InvalidArgument, UnsupportedFeature):
        return
    try:
        expected = of_polars(lambda text: text.contains(pattern), values)
    except pl.exceptions.PolarsError:
        return
    assert both(predicate, values) == expected


@examples(200)
@given(values=st.lists(st.one_of(st.none(), texts()), max_size=6), text=texts(4))
def test_literal_texts(values: list[str | None], text: str) -> None:
    ours = col("s").str
    assert both(ours.contains(text, literal=True), values) == of_polars(
        lambda theirs: theirs.contains(text, literal=True), values
    )
    assert both(ours.starts_with(text), values) == of_polars(lambda theirs: theirs.starts_with(text), values)
    assert both(ours.ends_with(text), values) == of_polars(lambda theirs: theirs.ends_with(text), values)


@examples(200)
@given(
    values=st.lists(st.one_of(st.none(), texts()), max_size=6),
    patterns=st.lists(texts(4), max_size=3),
    ci=st.booleans(),
)
def test_contains_any(values: list[str | None], patterns: list[str], ci: bool) -> None:
    expected = of_polars(
        lambda theirs: theirs.contains_any(pl.Series(patterns, dtype=pl.String).implode(), ascii_case_insensitive=ci),
        values,
    )
    assert both(col("s").str.contains_any(patterns, ascii_case_insensitive=ci), values) == expected


CLASSES = [r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"[\d]", r"[\w]", r"[\s]", r"[\D]", r"[\S]", r"[^\w]"]
PROPERTIES = [rf"\p{{{name}}}" for name in ("L", "Lu", "Lt", "M", "Nd", "N", "Pc", "P", "S", "Sm", "Z", "Cc", "Han")]


@pytest.mark.slow
@pytest.mark.parametrize("pattern", [*CLASSES, *PROPERTIES])
def test_classes_have_the_characters_that_they_have_in_polars(pattern: str) -> None:
    """All of them, but for characters that RE2's version of Unicode does not have yet."""
    characters = [chr(code) for code in range(0x30000) if not 0xD800 <= code < 0xE000]
    array = pa.array(characters)
    assigned = pc.match_substring_regex(array, r"[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Z}\p{C}]").to_pylist()
    ours = pc.match_substring_regex(array, rust_to_re2("x", pattern)).to_pylist()
    theirs = pl.Series(characters).str.contains(pattern).to_list()
    rows = zip(characters, assigned, ours, theirs, strict=True)
    assert [character for character, known, mine, other in rows if known and mine != other] == []


REFUSED = [
    ("a(?=b)", "lookahead (?="),
    ("(?<!a)b", "lookbehind (?<!"),
    (r"(a)\1", r"backreferences \1"),
    ("(?x)a b", "flag (?x)"),
    ("(?-u:a)", "(?-u"),
    ("[a-z&&[^b]]", "&& in a set"),
    ("[a-z--b]", "-- in a set"),
    ("[a[bc]]", "[ in a set"),
    (r"[\W]", r"[\W]"),
    (r"\<a", r"\<"),
    (r"\b{start}a", r"\b{"),
    (r"\Ba", r"\B"),
    (r"a\b-", r"\b (only beside a word, at the start or end of the pattern)"),
    (r"\b(a|-)", r"\b (only beside a word"),
    (r"\b(a)?b", r"\b (only beside a word"),
    (r"\ba*", r"\b (only beside a word"),
    (r"^\ba", r"\b (only beside a word"),
    (r"\p{Alphabetic}", r"\p{Alphabetic}"),
    (r"a\pC", r"\pC"),
    (r"[\P{C}]", r"\P{C}"),
    ("a{,3}", "{,3}"),
    ("a**", "**"),
    ("a*{2}", "*{2}"),
    ("a(?", "(?"),
    ("a\\", "\\"),
    (r"\Qa", r"\Q"),
    (r"\01", r"\0"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "construct"), REFUSED)
def test_what_re2_cannot_express_is_named(pattern: str, construct: str) -> None:
    with pytest.raises(UnsupportedFeature) as error:
        col("s").str.contains(pattern)
    expected = f"str.contains: expected a regular expression that RE2 can express, found {construct}"
    assert str(error.value).startswith(expected)


MISTAKES: list[tuple[Callable[[Any], object], str]] = [
    (lambda text: text.contains("(a"), "str.contains: expected a regular expression"),
    (lambda text: text.contains("[a"), r"str.contains: expected a closing \]"),
    (lambda text: text.contains(r"\x{110000}"), "str.contains: expected the code of a character"),
    (lambda text: text.contains(5), "str.contains: expected a text, found 5"),
    (lambda text: text.contains(None, literal=True), "str.contains: expected a text, found None"),
    (lambda text: text.starts_with(b"a"), "str.startswith: expected a text, found b'a'"),
    (lambda text: text.contains_any("abc"), "str.contains_any: expected a list of values, found 'abc'"),
    (lambda text: text.contains_any(["a", None]), "str.contains_any: expected a text, found None"),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES)
def test_mistakes(mistake: Callable[[Any], object], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        mistake(col("s").str)


def test_leaves() -> None:
    text = col("a").str
    assert repr(text) == 'col("a").str'
    assert text.contains("a.b", literal=True) == col("a").contains_cs("a.b")
    assert text.contains("a.b") == Matches("a", "a.b")
    assert text.contains_any(["a", "b"]) == col("a").contains_cs("a") | col("a").contains_cs("b")
    assert text.starts_with("a") == col("a").startswith_cs("a")
    assert text.ends_with("a") == col("a").endswith_cs("a")


def test_a_scan_answers_as_polars_does(tmp_path: Path) -> None:
    shard = amudai.write(
        pa.table({"s": VALUES}), tmp_path / "s.amudai.shard", indexes=[amudai.TermIndex("s")], overwrite=True
    )
    text = col("s").str
    for ours, theirs in (
        (text.contains(r"\bfoo"), pl.col("s").str.contains(r"\bfoo")),
        (text.contains("foo", literal=True), pl.col("s").str.contains("foo", literal=True)),
        (text.contains_any(["FOO", "b"], ascii_case_insensitive=True), pl.col("s").str.contains("(?-u)(?i)foo|b")),
    ):
        expected = pl.DataFrame({"s": VALUES}).with_row_index().filter(theirs)["index"].to_list()
        assert list(shard.scan(where=ours).positions()) == expected
