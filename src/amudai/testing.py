"""Does a plug-in change any answer?

Batteries for authors of index types, tokenizers and collations. Each writes small shards in memory, asks the same
questions with the plug-in and without it, and raises AssertionError with the first question whose rows differ. The
plug-in must be registered.

>>> import amudai.testing
>>> amudai.testing.__all__
['check_collation', 'check_index', 'check_tokenizer', 'questions_for']
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import pyarrow as pa

from amudai.api import Collation, IndexPlugin, PluginIndex, Shard, TermIndex, Tokenizer, col, delete, merge, write
from amudai.api import rename_columns as renamed
from amudai.index import OPERATORS, IndexSpec
from amudai.predicate import Predicate
from amudai.storage import MemoryStore

__all__ = ["check_collation", "check_index", "check_tokenizer", "questions_for"]

_COLUMN: Final = "c"
_MOST: Final = 4  # values of which questions are made
_PARTS: Final = 3  # of a text
_ROWS: Final = 300
_SOME: Final = 11  # one question in eleven is asked of merged and edited shards, too
_POLICIES: Final[tuple[Literal["keep", "rebuild"], ...]] = ("keep", "rebuild")


def check_index(plugin: IndexPlugin, values: pa.Array, questions: Sequence[Predicate] | None = None) -> int:
    """Compare scans with and without an index over `values`; return the number of questions.

    The index is built for the shard and for each stripe, and is asked again after a merge, a deletion and a renaming.

    Parameters
    ----------
    values
        Values of a type that the plug-in accepts. Nulls, duplicates and odd values find more.
    questions
        Conditions on the column `c`; None for those of `questions_for`.

    Examples
    --------
    >>> from examples.plugin_index import EndingIndex
    >>> amudai.testing.check_index(EndingIndex(), pa.array(["a.log", None])) > 50
    True
    """
    asked = list(questions_for(values) if questions is None else questions)
    for level in ("shard", "stripe"):
        _compare(values, PluginIndex(plugin.name, _COLUMN, level=level), asked)
    return len(asked)


def check_tokenizer(tokenizer: Tokenizer, values: Sequence[str | None]) -> int:
    """Compare searches of text with and without an index of the tokenizer's terms; return the number of questions.

    Examples
    --------
    >>> from examples.plugin_text import TRIGRAMS
    >>> amudai.testing.check_tokenizer(TRIGRAMS, ["disk", None]) > 50
    True
    """
    texts = pa.array(values, pa.string())
    for value in filter(None, values):
        terms = {each.casefold() for each in tokenizer.terms(value)}
        for operator in OPERATORS:
            for term in tokenizer.required(operator, value):
                if term and term.casefold() not in terms:
                    message = (
                        f"{tokenizer.name}: expected a term {term!r} of {value!r}, which required({operator!r}) names"
                    )
                    raise AssertionError(f"{message} for this text, found {sorted(terms)[:20]}")
    asked = list(questions_for(texts))
    _compare(texts, TermIndex(_COLUMN, tokenizer=tokenizer.name), asked)
    return len(asked)


def check_collation(collation: Collation, values: Sequence[str | None]) -> int:
    """Compare searches of text with and without an index of this collation; return the number of questions.

    Examples
    --------
    >>> from examples.plugin_text import WITHOUT_MARKS
    >>> amudai.testing.check_collation(WITHOUT_MARKS, ["Café", None]) > 50
    True
    """
    texts = pa.array(values, pa.string())
    asked = list(questions_for(texts))
    for tokenizer in ("word", "log", "trivial"):
        _compare(texts, TermIndex(_COLUMN, tokenizer=tokenizer, collation=collation.name), asked)
    return len(asked)


def questions_for(values: pa.Array) -> Iterator[Predicate]:
    """Conditions on the column `c` that fit the values: comparisons, sets, operators of text, and their negations.

    >>> from amudai.testing import questions_for
    >>> [str(each) for each in questions_for(pa.array([3]))][:3]
    ['col("c") == 3', '~(col("c") == 3)', 'col("c") < 3']
    """
    column = col(_COLUMN)
    some = values.unique().drop_null()[:_MOST].to_pylist()
    for value in some:
        for condition in (column == value, column < value, column >= value, column.isin([value, some[0]])):
            yield condition
            yield ~condition
    if not (pa.types.is_string(values.type) or pa.types.is_large_string(values.type)):
        return
    for value in some:
        for text in dict.fromkeys((value.swapcase(), *_parts_of(value), f"{value}x")):
            if not text:
                continue
            for operator in OPERATORS[1:]:
                for suffix in ("", "_cs"):
                    condition = getattr(column, operator + suffix)(text)
                    yield condition
                    yield ~condition


def _parts_of(text: str) -> Iterator[str]:
    """Some parts of a text: beginnings, ends, and what is between."""
    step = max(1, len(text) // _PARTS)
    for at in range(0, len(text), step):
        yield text[at:]
        yield text[: at + 1]
        yield text[at : at + step + 1]


def _compare(values: pa.Array, index: IndexSpec, asked: Sequence[Predicate]) -> None:
    """Raise AssertionError if a question has other rows with the index than without it."""
    # Indexes are not asked about a few rows.
    values = pa.concat_arrays([values] * (_ROWS // max(1, len(values)) + 1))
    table = pa.table({_COLUMN: values, "n": pa.array(range(len(values)))})
    rows = max(1, len(values) // 3)
    store = MemoryStore({})
    plain = write(table, "plain", store=store, stripe_rows=rows)
    indexed = write(table, "indexed", store=store, stripe_rows=rows, indexes=[index])
    _same(plain, indexed, asked, "a new shard")
    some = asked[::_SOME]
    for policy in _POLICIES:
        merged = [merge([each, each], f"{each.url} {policy}", store=store, indexes=policy) for each in (plain, indexed)]
        both, known = merged
        _same(both, known, some, "a merged shard")
    if len(values):
        left, kept = (delete(each, positions=[0], to=f"{each.url} deleted", store=store) for each in (plain, indexed))
        _same(left, kept, some, "a shard with a deleted row")
    other = renamed(indexed, {"n": "m"}, to="renamed", store=store)
    _same(plain, other, some, "a shard with a renamed column")


def _same(plain: Shard, indexed: Shard, asked: Sequence[Predicate], what: str) -> None:
    for question in asked:
        expected = plain.scan([], where=question).positions().tolist()
        found = indexed.scan([], where=question).positions().tolist()
        if found != expected:
            message = f"{question}: expected the rows {expected[:20]} of {what}, as without the index"
            raise AssertionError(f"{message}, found {found[:20]}")
