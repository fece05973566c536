"""Terms, their order and what matches, slowly: docs/format/term-index.md in Python, and nothing of the kernels.

Alphabetic comes from the `regex` package, whose releases up to 2026.1 know Unicode 17.0. Upper case comes from Python,
less the pairs that came after Unicode 14.0.
"""

from __future__ import annotations

from functools import lru_cache

import regex

WORD = regex.compile(r"[\p{Alphabetic}\p{Nd}\p{Nl}\p{No}]+")
DIGITS = "0123456789"
ASCII_WORD = DIGITS + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
MAX_TERM = 128
# Capitals that Unicode got after 14.0: the table of an index does not know them.
LATER_CAPITALS = {0x1C89, 0xA7CB, 0xA7CC, 0xA7CE, 0xA7D2, 0xA7D4, 0xA7DA, 0xA7DC}
LATER_CAPITALS |= {*range(0x10D50, 0x10D66), *range(0x16EA0, 0x16EB9)}


@lru_cache(1 << 16)
def words(text: str) -> list[str]:
    """Runs of alphanumeric code points, whole."""
    return WORD.findall(text)


def cut(term: str) -> str:
    """At most 128 bytes, at a code point."""
    while len(term.encode()) > MAX_TERM:
        term = term[:-1]
    return term


def _octets_end(text: bytes, at: int) -> int | None:
    for octet in range(4):
        if octet:
            if text[at : at + 1] != b".":
                return None
            at += 1
        start = at
        while at < len(text) and chr(text[at]) in DIGITS:
            at += 1
        if not 1 <= at - start <= 3 or int(text[start:at]) > 255:
            return None
    return at


def addresses(value: str) -> list[str]:
    """IPv4 addresses between bytes that are no ASCII letters or digits."""
    text, found, at = value.encode(), [], 0
    while at < len(text):
        if chr(text[at]) in DIGITS and (at == 0 or chr(text[at - 1]) not in ASCII_WORD):
            end = _octets_end(text, at)
            if end is not None and (end == len(text) or chr(text[end]) not in ASCII_WORD):
                found.append(text[at:end].decode())
                at = end
                continue
        at += 1
    return found


def tokens(value: str, tokenizer: str) -> list[str]:
    """The terms of a value."""
    if tokenizer == "trivial":
        return [cut(value)] if value else []
    found = [cut(word) for word in words(value)]
    return addresses(value) + found if tokenizer == "unicode-log" else found


@lru_cache(1 << 16)
def fold(text: str) -> str:
    """The case-folded form of a text."""
    return "".join(map(_upper, text))


def _upper(char: str) -> str:
    if char == "\u00df":
        return "\u1e9e"
    upper = char.upper()
    return upper if len(upper) == 1 and ord(upper) not in LATER_CAPITALS else char


def matches(whole: str, text: str, match: str, case_sensitive: bool) -> bool:
    """Whether a word or value matches `text` in the way that a question asks for."""
    if not case_sensitive:
        whole, text = fold(whole), fold(text)
    if match == "equal":
        return whole == text
    if match == "prefix":
        return whole.startswith(text)
    return whole.endswith(text) if match == "suffix" else text in whole
