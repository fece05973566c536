"""Tables and predicates about them, made at random, small enough for everything to meet."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, TypeVar

import pyarrow as pa
from hypothesis import strategies as st

from amudai.predicate import And, Compare, IsIn, IsNull, IsValid, Matches, Predicate, Text

T = TypeVar("T")

EPOCH = datetime(2026, 1, 1)
WORDS = ["disk", "Disk", "DISK", "full", "timeout", "time", "out", "10.0.0.1", "é1", "straße", "x_y", "a-b", "7", ""]
SCHEMA = pa.schema(
    [
        ("n", pa.int64()),
        ("u", pa.uint8()),
        ("f", pa.float64()),
        ("t", pa.timestamp("us")),
        ("d", pa.decimal128(12, 2)),
        ("b", pa.bool_()),
        ("level", pa.string()),
        ("message", pa.large_string()),
        ("code", pa.dictionary(pa.int8(), pa.string())),
        ("tags", pa.list_(pa.string())),
        ("http", pa.struct([("status", pa.int32()), ("path", pa.string())])),
        ("same", pa.int32()),
    ]
)


def messages() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(WORDS), max_size=5).flatmap(
        lambda words: st.sampled_from([" ", ", ", "-", "_", ""]).map(lambda between: between.join(words))
    )


def values(name: str) -> st.SearchStrategy[Any]:
    """Values of a column that are not null."""
    match name:
        case "n":
            return st.integers(-5, 5) | st.sampled_from([-(2**63), 2**63 - 1])
        case "u":
            return st.integers(0, 9) | st.just(255)
        case "f":
            return st.sampled_from([-1.5, -0.0, 0.0, 0.5, 2.0, float("nan"), float("inf"), float("-inf"), 5e-324])
        case "t":
            return st.integers(0, 9).map(lambda n: EPOCH + timedelta(microseconds=n))
        case "d":
            return st.integers(-300, 300).map(lambda n: Decimal(n) / 100)
        case "b":
            return st.booleans()
        case "level" | "code":
            return st.sampled_from(["info", "Info", "warn", "error", ""])
        case "message" | "http.path":
            return messages()
        case "http.status":
            return st.sampled_from([200, 404, 500])
        case "same":
            return st.just(7)
        case "tags":
            return st.lists(st.none() | st.sampled_from(WORDS), max_size=3)
        case "http":
            return st.fixed_dictionaries(
                {"status": st.none() | values("http.status"), "path": st.none() | values("http.path")}
            )
    raise AssertionError(name)


@st.composite
def tables(draw: st.DrawFn, most: int = 40) -> pa.Table:
    """A table; rows may repeat many times, so that blocks, stretches and dictionaries fill."""
    rows = draw(st.integers(0, most))
    columns: dict[str, list[Any]] = {}
    for field in SCHEMA:
        nullable = field.name != "same" and draw(st.booleans())
        each = values(field.name)
        columns[field.name] = draw(st.lists(st.none() | each if nullable else each, min_size=rows, max_size=rows))
    table = pa.table(columns, schema=SCHEMA)
    repeats = draw(st.sampled_from([1, 1, 1, 20, 60]))
    return pa.concat_tables([table] * repeats).combine_chunks() if rows else table


SCALARS = ("n", "u", "f", "t", "d", "level", "message", "code", "http.status", "http.path", "same")
TEXTS = ("level", "message", "code", "tags", "http.path")


def texts(name: str) -> st.SearchStrategy[Predicate]:
    return st.builds(
        Text,
        st.just(name),
        st.sampled_from(["has", "hasprefix", "hassuffix", "contains", "startswith", "endswith", "equals"]),
        st.sampled_from([*WORDS, "dis", "isk", "ime", "disk full", "disk-full", "0.0", " ", "ß", "STRASSE", "k f"]),
        st.booleans(),
    )


def leaves() -> st.SearchStrategy[Predicate]:
    ops = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
    compare = st.sampled_from(SCALARS).flatmap(
        lambda name: st.builds(Compare, st.just(name), ops, values(name).filter(lambda value: value == value))
    )
    elsewhere = st.sampled_from(
        [
            Compare("n", "<", 2.5),
            Compare("n", ">=", -(2**70)),
            Compare("u", ">", -3),
            Compare("u", "==", 300),
            Compare("f", "<=", 1),
            Compare("b", "==", True),
            Compare("tags", "==", "disk"),
        ]
    )
    is_in = st.sampled_from(("n", "level", "message", "t", "http.status")).flatmap(
        lambda name: st.builds(IsIn, st.just(name), st.lists(values(name), min_size=1, max_size=3).map(tuple))
    )
    nulls = st.builds(
        lambda kind, name: kind(name),
        st.sampled_from([IsNull, IsValid]),
        st.sampled_from(("n", "f", "message", "tags", "http", "http.path", "code")),
    )
    text = st.sampled_from(TEXTS).flatmap(texts)
    together = st.sampled_from(TEXTS).flatmap(
        lambda name: st.lists(texts(name), min_size=2, max_size=4).map(lambda terms: And(tuple(terms)))
    )
    matches = st.builds(
        Matches,
        st.sampled_from(("message", "level")),
        st.sampled_from(["d.sk", "time(out)?", "(full|out)", "^disk", "x_"]),
    )
    return compare | elsewhere | is_in | nulls | text | together | matches


def predicates() -> st.SearchStrategy[Predicate]:
    return trees(leaves(), 4)


def trees(leaves: st.SearchStrategy[T], most: int) -> st.SearchStrategy[T]:
    """Leaves joined by and, or and not: of whatever has these operators."""
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(lambda a, b: a & b, inner, inner)
            | st.builds(lambda a, b: a | b, inner, inner)
            | st.builds(lambda a: ~a, inner)
        ),
        max_leaves=most,
    )
