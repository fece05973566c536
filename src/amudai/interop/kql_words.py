"""What a KQL query says about words: `has` and its kin, `has_any`, `has_all`, `search`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa

from amudai.errors import UnsupportedFeature
from amudai.interop.kql_language import KqlText, nodes
from amudai.interop.kql_scope import ColumnScope

__all__ = ["WORDS", "joined", "search_of", "searched_columns", "words_of"]

WORDS: Final = ("has", "has_cs", "hasprefix", "hasprefix_cs", "hassuffix", "hassuffix_cs")


def words_of(node: Any, scope: ColumnScope, text: KqlText) -> list[Any]:
    """The words of `has_any` and `has_all`, one by one."""
    ir = nodes()
    found: list[Any] = []
    for item in node.items:
        if isinstance(item, ir.LetRef) and scope.visible is not None and item.name not in scope.visible:
            item = item.value
        if isinstance(item, ir.Literal) and item.kind == "dynamic":
            values = json.loads(str(item.value))
            found += [ir.Literal(str(value), "string") for value in (values if isinstance(values, list) else [values])]
        else:
            found.append(item)
    if node.subquery is not None or not found:
        what = "has_all" if node.require_all else "has_any"
        raise UnsupportedFeature(f"kql: expected {what} with words, found a query{text.place_of(what)}")
    return found


def search_of(call: Any, text: KqlText) -> tuple[str | None, Any, Any]:
    """What `search` asks: the operator, the word, and the column; None for any text."""
    ir = nodes()
    arguments = list(call.args)
    column = arguments.pop(0) if call.name == "amudai_match" else None
    if call.name == "amudai_any":
        return str(arguments[0].value), arguments[1], None
    word, sensitive = arguments
    if not isinstance(word, ir.Literal) or word.kind != "string":
        raise UnsupportedFeature(f"kql: expected search with a text{text.place_of('search')}")
    asked = str(word.value)
    bare = asked.strip("*")
    if "*" in bare:
        raise UnsupportedFeature(
            f"kql: expected search with * at the ends of a text, found {asked!r}{text.place_of('search')}"
        )
    begins, ends = asked.startswith("*"), asked.endswith("*")
    op = "contains" if begins and ends else "hassuffix" if begins else "hasprefix" if ends else "has"
    if not bare:
        return None, word, column
    return op + ("_cs" if sensitive.value else ""), ir.Literal(bare, "string"), column


def searched_columns(scope: ColumnScope, text: KqlText) -> Mapping[str, tuple[str, pa.DataType]]:
    """The columns that `search` looks into: their paths and types."""
    if not scope.is_whole:
        place = text.place_of("search") or text.place_of("where *")
        expected = "search before operators that make columns"
        raise UnsupportedFeature(f"kql: expected {expected}, found it after one{place}")
    return scope.known


def joined(terms: list[Any], op: str) -> Any:
    """Some expressions with an operator between them."""
    found = terms[0]
    for term in terms[1:]:
        found = nodes().BinaryOp(op, found, term)
    return found
