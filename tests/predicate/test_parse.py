"""Does a predicate written as text mean what the tree means?"""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai import Predicate, col
from amudai.errors import InvalidArgument
from amudai.predicate import Always, And, Compare, IsIn, IsNull, IsValid, Matches, Not, Or, Text, parse_where
from amudai.predicate.tree import Real
from tests.effort import examples

c = col

CASES: list[tuple[str, Predicate]] = [
    ("status = 500", c("status") == 500),
    ("status == 500", c("status") == 500),
    ("status != 500", c("status") != 500),
    ("status <> 500", c("status") != 500),
    ("status<500", c("status") < 500),
    ("status <= -500", c("status") <= -500),
    ("status > +1_000", c("status") > 1000),
    ("status >= 0xFF", c("status") >= 255),
    ("500 <= status", c("status") >= 500),
    ("500 > status", c("status") < 500),
    ("'x' = name", c("name") == "x"),
    ("ratio < 1e3", c("ratio") < 1000.0),
    ("ratio < .5", c("ratio") < 0.5),
    ("ratio < -2.5E-1", c("ratio") < -0.25),
    ("ok = true", c("ok") == True),  # noqa: E712
    ("ok != FALSE", c("ok") != False),  # noqa: E712
    ("true = ok", c("ok") == True),  # noqa: E712
    ("status between 500 and 599", c("status").between(500, 599)),
    ("status between (500 .. 599)", c("status").between(500, 599)),
    ("status between (1.5..2.5)", c("status").between(1.5, 2.5)),
    ("status not between 1 and 2 and ok = true", ~c("status").between(1, 2) & (c("ok") == True)),  # noqa: E712
    ("level in ('a', \"b\")", c("level").isin(["a", "b"])),
    ("level not in ('a')", ~c("level").isin(["a"])),
    ("level !in ('a')", ~c("level").isin(["a"])),
    ("level in~ ('a', 'B')", c("level").iequals("a") | c("level").iequals("B")),
    ("level !in~ ('a', 'B')", ~(c("level").iequals("a") | c("level").iequals("B"))),
    ("m has 'x'", c("m").has("x")),
    ("m HAS_CS 'x'", c("m").has_cs("x")),
    ("m !has 'x'", ~c("m").has("x")),
    ("m not has 'x'", ~c("m").has("x")),
    ("m hasprefix 'x' or m hassuffix_cs 'y'", c("m").hasprefix("x") | c("m").hassuffix_cs("y")),
    ("m contains 'x' and m !contains_cs 'y'", c("m").contains("x") & ~c("m").contains_cs("y")),
    ("m startswith 'x' && m !endswith 'y'", c("m").startswith("x") & ~c("m").endswith("y")),
    ("m has_any ('x', 'y')", c("m").has_any(["x", "y"])),
    ("m has_all ('x', 'y')", c("m").has_all(["x", "y"])),
    ("m !has_any ('x', 'y')", ~c("m").has_any(["x", "y"])),
    ("m =~ 'x' || m !~ 'y'", c("m").iequals("x") | ~c("m").iequals("y")),
    (r"m matches regex @'\d+'", c("m").matches(r"\d+")),
    (r"m matches '\\d+'", c("m").matches(r"\d+")),
    ("m not matches regex 'x'", ~c("m").matches("x")),
    ("m is null", c("m").is_null()),
    ("m IS NOT NULL", c("m").is_valid()),
    ("not m is null", ~c("m").is_null()),
    ("!(a = 1)", ~(c("a") == 1)),
    ("not not a = 1", c("a") == 1),
    ("a = 1 or b = 2 and c = 3", (c("a") == 1) | ((c("b") == 2) & (c("c") == 3))),
    ("(a = 1 or b = 2) and c = 3", ((c("a") == 1) | (c("b") == 2)) & (c("c") == 3)),
    ("not a = 1 and b = 2", ~(c("a") == 1) & (c("b") == 2)),
    ("true", Always(True)),
    ("false or a = 1", Always(False) | (c("a") == 1)),
    ("http.status = 1", c("http.status") == 1),
    ("`k8s.pod`.name = 'x'", c("`k8s.pod`.name") == "x"),
    ("`and` = 1", c("`and`") == 1),
    ("has has 'has'", c("has").has("has")),
    ("datetime = 1 and decimal = 2", (c("datetime") == 1) & (c("decimal") == 2)),
    ("größe > 1", c("größe") > 1),
    ('a = "it\'s"', c("a") == "it's"),
    (r'a = "\"\\\n\t\u00e9\x41\U0001F600"', c("a") == '"\\\n\té' + "A😀"),
    ("a = @'c:\\x' and b = @'it''s'", (c("a") == "c:\\x") & (c("b") == "it's")),
    ("t >= datetime(2026-01-31)", c("t") >= datetime(2026, 1, 31)),
    ("t >= datetime('2026-01-31T10:00:00Z')", c("t") >= datetime(2026, 1, 31, 10, tzinfo=UTC)),
    ("t < datetime(2026-01-31 10:00:00.25)", c("t") < datetime(2026, 1, 31, 10, 0, 0, 250_000)),
    ("d > 1.5h and d < 250ms", (c("d") > timedelta(hours=1.5)) & (c("d") < timedelta(milliseconds=250))),
    ("d > -2d", c("d") > timedelta(days=-2)),
    ("p = decimal(19.99)", c("p") == Decimal("19.99")),
    ("  a\n=\t1  ", c("a") == 1),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[text for text, _ in CASES])
def test_a_text_means_its_predicate(text: str, expected: Predicate) -> None:
    assert parse_where(text) == expected


ERRORS = [
    ("", "a column, found the end", ""),
    ("status >= ", "a value, found the end", ""),
    ("status >= and x = 1", "a value, found `and`", "and"),
    ("status = ok", 'put text in "quotes"', "ok"),
    ("status", "found the end", ""),
    ("status resembles 'x'", "has_all, matches, like or ilike, found `resembles`", "resembles"),
    ("a = 1 b = 2", "`and`, `or` or the end, found `b`", "b"),
    ("(a = 1", "`)`, found the end", ""),
    ("a = 1)", "the end, found `)`", ")"),
    ("a = 'x", "a closing ', found none", "'x"),
    ("a = @'x", "a closing ', found none", "@'x"),
    (r"a = '\d'", r"found `\d`", r"\d"),
    (r"a = '\ud800'", "the code of a character", r"\ud800"),
    ("a = 12x", "a number such as", "12x"),
    ("a = 1__0", "a number such as", "1__0"),
    ("a = 1e999", "that 64 bits can hold", "1e999"),
    ("d = 0.5us", "a number, found `0.5us`", "0.5us"),
    ("a = null", "`is null` asks for nulls", "null"),
    ("a is nothing", "`null`, found `nothing`", "nothing"),
    ("a in ()", "a value, found `)`", ")"),
    ("a in ('x' 'y')", "`,` or `)`", "'y'"),
    ("a in 'x'", "`(`", "'x'"),
    ("a has 5", "a text in quotes", "5"),
    ("a has datetime(2026-01-01)", "a text in quotes", "datetime(2026-01-01)"),
    ("a between 1 or 2", "`and`", "or"),
    ("a ? 1", "a name, a value or an operator", "?"),
    ("`a = 1", "a closing backtick", "`"),
    ("t > datetime(yesterday)", "datetime(2026-01-31T10:00:00Z) or the like", "yesterday"),
    ("t > datetime(2026-01-01", "a closing parenthesis", "(2026-01-01"),
    ("p > decimal(x)", "decimal(19.99) or the like", "x"),
    ("5 has 'x'", "a comparison such as", "has"),
    ("a = - 'x'", "a number", "'x'"),
    ("not and", "a column, found `and`", "and"),
    ("a not = 1", "another word operator", "="),
    ("a !is null", "another word operator", "is"),
    ("(" * 200 + "a = 1" + ")" * 200, "at most 100", "("),
    ("not " * 200 + "a = 1", "at most 100", "not"),
]


@pytest.mark.parametrize(("text", "said", "marked"), ERRORS, ids=[text[:30] for text, _, _ in ERRORS])
def test_an_error_points_at_the_place(text: str, said: str, marked: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse_where(text)
    message, shown, marks = caught.value.message.split("\n")
    assert said in message
    assert shown == f"  {text}"
    start = marks.index("^")
    assert set(marks[:start]) <= {" "}
    assert shown[start : start + marks.count("^")] == marked


def test_an_error_shows_its_line_alone() -> None:
    with pytest.raises(InvalidArgument) as caught:
        parse_where("a = 1\nand b >\nand c = 3")
    assert caught.value.message.split("\n")[1:] == ["  and c = 3", "  ^^^"]


# ---- any predicate, written down and read ----

NAMES = st.sampled_from(["a", "http.status", "`x y`", "has", "`null`", "_b2"])
TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
NUMBERS = st.one_of(st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False))
SPANS = st.timedeltas(timedelta(days=-999), timedelta(days=999))
VALUES = st.one_of(
    NUMBERS,
    TEXTS,
    st.booleans(),
    SPANS,
    st.datetimes(timezones=st.none() | st.just(UTC)).map(lambda at: at.replace(fold=0)),
    st.decimals(-99, 99, places=2),
)


def written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    if isinstance(value, datetime):
        return f"datetime({value.isoformat()})"
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)}us"
    return f"decimal({value})" if isinstance(value, Decimal) else repr(value)


def text_of(predicate: Predicate) -> str:
    match predicate:
        case Compare(path, op, value):
            return f"{path} {op} {written(value)}"
        case IsIn(path, values):
            return f"{path} in ({', '.join(map(written, values))})"
        case IsNull(path):
            return f"{path} is null"
        case IsValid(path):
            return f"{path} is not null"
        case Text(path, "equals", text, _):
            return f"{path} =~ {written(text)}"
        case Text(path, operator, text, case_sensitive):
            return f"{path} {operator}{'_cs' if case_sensitive else ''} {written(text)}"
        case Matches(path, pattern):
            return f"{path} matches regex {written(pattern)}"
        case And(terms):
            return f"({' and '.join(map(text_of, terms))})"
        case Or(terms):
            return f"({' or '.join(map(text_of, terms))})"
        case Not(term):
            return f"not {text_of(term)}"
    raise AssertionError(predicate)


TEXT_OPS = st.sampled_from(["has", "hasprefix", "hassuffix", "contains", "startswith", "endswith"])
LEAVES: st.SearchStrategy[Predicate] = st.one_of(
    st.builds(Compare, NAMES, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), VALUES),
    st.builds(IsIn, NAMES, st.lists(VALUES, min_size=1, max_size=3).map(tuple)),
    st.builds(IsNull, NAMES),
    st.builds(IsValid, NAMES),
    st.builds(Text, NAMES, TEXT_OPS, TEXTS, st.booleans()),
    st.builds(Text, NAMES, st.just("equals"), TEXTS, st.just(False)),
    st.builds(Matches, NAMES, TEXTS),
)
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.builds(lambda a, b: a & b, inner, inner),
        st.builds(lambda a, b: a | b, inner, inner),
        st.builds(lambda a: ~a, inner),
    ),
    max_leaves=6,
)


@examples(150)
@given(TREES)
def test_what_is_written_down_is_read(predicate: Predicate) -> None:
    found = parse_where(text_of(predicate))
    assert found == predicate
    assert str(found) == str(predicate)


@examples(200)
@given(st.text(st.sampled_from("ab1.`'\"\\()=<>!&|~, \nandornthsix@-_"), max_size=30))
def test_any_text_is_a_predicate_or_an_error_of_ours(text: str) -> None:
    try:
        found = parse_where(text)
    except InvalidArgument as error:
        said = error.message
    else:
        assert isinstance(found, Predicate)
        return
    assert said.startswith("where: expected ")
    assert "^" in said.split("\n")[-1]


# ---- at a shard ----


def test_a_scan_takes_text(tmp_path: Path) -> None:
    price = pa.array([Decimal("19.99"), Decimal("20.00"), None], pa.decimal128(10, 2))
    table = pa.table({"price": price, "ratio": [19.99, 20.0, 0.1], "name": ["Read timeout", "ok", None]})
    shard = amudai.write(table, tmp_path / "x.amudai.shard")

    def rows(where: str) -> list[int]:
        return [int(row) for row in shard.scan(where=where).positions()]

    # The same digits find a decimal and a float, for which they mean different numbers.
    assert rows("price = 19.99") == [0]
    assert rows("ratio = 19.99") == [0]
    assert rows("price > 19.99") == [1]
    assert rows("ratio = 0.1 or name has 'timeout'") == [0, 2]
    assert rows("not name has 'timeout'") == [1]
    with pytest.raises(InvalidArgument, match="nope"):
        shard.scan(where="nope = 1")


def test_a_number_as_written_is_kept_when_pickled() -> None:
    found = pickle.loads(pickle.dumps(parse_where("a = 19.990")))
    assert found == parse_where("a = 19.99")
    assert isinstance(found, Compare)
    assert isinstance(found.value, Real)
    assert found.value.digits == Decimal("19.990")
