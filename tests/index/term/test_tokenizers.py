"""What are the terms of a text?"""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai import _kernels
from tests.effort import examples
from tests.index.term import runs
from tests.oracle import text as oracle

pytestmark = pytest.mark.native

LOG = "unicode-log"
WORD = "unicode-word"

WORDS = [
    ("Typically 3-4 levels deep,", "Typically 3 4 levels deep"),
    ("snake_case and kebab-case", "snake case and kebab case"),
    ("don't", "don t"),
    ("caf\u00e9", "caf\u00e9"),
    ("cafe\u0301s", "cafe s"),
    ("x\u00b2+\u00bd", "x\u00b2 \u00bd"),
    ("\u2167 \u24b6 \u00aa", "\u2167 \u24b6 \u00aa"),
    ("\u0928\u092e\u0938\u094d\u0924\u0947", "\u0928\u092e\u0938 \u0924\u0947"),
    ("\u0e44\u0e17\u0e22\u0e14\u0e35", "\u0e44\u0e17\u0e22\u0e14\u0e35"),
    ("e\u200dmail", "e mail"),
    ("a\u00adb", "a b"),
    ("\U0001f44b\U0001f3fda", "a"),
    ("1\ufe0f\u20e3", "1"),
    ("2024\u5e74", "2024\u5e74"),
    ("\ufb01sh", "\ufb01sh"),
    ("\u0661\u0662\u0663", "\u0661\u0662\u0663"),
    ("!@#$%^&*()", ""),
    ("", ""),
]

LOGS = [
    (
        "10.0.0.1|192.168.1.1,,8.8.8.8 1.1.1.1",
        "10.0.0.1 192.168.1.1 8.8.8.8 1.1.1.1 10 0 0 1 192 168 1 1 8 8 8 8 1 1 1 1",
    ),
    ("127.0.0.1:8080", "127.0.0.1 127 0 0 1 8080"),
    ("1.2.3.4.5", "1.2.3.4 1 2 3 4 5"),
    ("1.2.3.4.5.6.7.8", "1.2.3.4 5.6.7.8 1 2 3 4 5 6 7 8"),
    ("300.1.2.3.4", "1.2.3.4 300 1 2 3 4"),
    ("1.2.3.256", "1 2 3 256"),
    ("999.999.999.999", "999 999 999 999"),
    ("v1.2.3.4", "v1 2 3 4"),
    ("1.2.3.4a", "1 2 3 4a"),
    ("1.2.3.4_x", "1.2.3.4 1 2 3 4 x"),
    ("\u00e91.2.3.4", "1.2.3.4 \u00e91 2 3 4"),
    ("1.2.3.4\u00e9", "1.2.3.4 1 2 3 4\u00e9"),
    ("010.001.000.001", "010.001.000.001 010 001 000 001"),
    ("0000.1.1.1", "0000 1 1 1"),
    ("1.2.3.", "1 2 3"),
    ("\uff11.\uff12.\uff13.\uff14", "\uff11 \uff12 \uff13 \uff14"),
    ("start192.168.1.1end", "start192 168 1 1end"),
    ("172.16.0.0/16", "172.16.0.0 172 16 0 0 16"),
]

CUT = [
    ("a" + 64 * "\u00e9", 127),
    (65 * "\u00e9", 128),
    (43 * "\u4e2d", 126),
    (128 * "a", 128),
    (33 * "\U00020000", 128),
    ("abc" + 33 * "\U00020000", 127),
]

# Texts with words in many scripts, addresses and separators close together.
ASCII = ["a", "Z", "9", "1.2.3.4", "255.255.255.255", ".", "10", "256", " ", "-", "_", "word", 130 * "x", "\0", "\n"]
OTHERS = ["\u00e9", "\u00df", "\u0131", "\u4e2d", "\u0301", "\u094d", "\U00020000", "\U0001f44b", 50 * "\u00e9"]
PIECES = st.sampled_from(ASCII + OTHERS)
TEXTS = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(st.characters(codec="utf-8"), max_size=80))


def words(text: str) -> list[str]:
    """As questions are cut into words: whole."""
    return [word for word, _, _ in _kernels.split_words(text)]


def tokens(value: str, tokenizer: str) -> set[str]:
    """The different terms that an index would have of a value."""
    return runs.tokens(value.encode(), tokenizer)


@pytest.mark.parametrize(("value", "expected"), WORDS)
def test_words(value: str, expected: str) -> None:
    assert words(value) == expected.split(" " if expected else None)
    assert tokens(value, WORD) == set(words(value))


@pytest.mark.parametrize(("value", "expected"), LOGS)
def test_logs(value: str, expected: str) -> None:
    assert tokens(value, LOG) == set(expected.split())
    assert oracle.tokens(value, LOG) == expected.split()


@pytest.mark.parametrize(("value", "size"), CUT)
@pytest.mark.parametrize("tokenizer", [WORD, LOG, "trivial"])
def test_long_terms_are_cut_at_a_code_point(value: str, size: int, tokenizer: str) -> None:
    (term,) = tokens(value, tokenizer)
    assert len(term.encode()) == size
    assert value.startswith(term)


def test_what_is_cut_off_is_no_term() -> None:
    assert tokens(300 * "a" + " b", WORD) == {128 * "a", "b"}
    assert words(300 * "a" + " b") == [300 * "a", "b"]


def test_a_value_is_one_trivial_term() -> None:
    assert tokens("Error: disk full ", "trivial") == {"Error: disk full "}
    assert tokens("", "trivial") == set()


@pytest.mark.slow
def test_every_code_point_is_in_a_word_or_is_not() -> None:
    codes = [code for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
    text = " ".join(map(chr, codes))
    assert words(text) == oracle.words(text)
    assert tokens(text, WORD) == set(words(text))
    assert len(words(text)) == 149_106


@pytest.mark.slow
def test_every_code_point_folds_as_the_table_says() -> None:
    codes = [code for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
    text = "".join(map(chr, codes))
    folded = _kernels.fold(text.encode()).decode()
    assert folded == oracle.fold(text)
    assert sum(a != b for a, b in zip(text, folded, strict=True)) == 1_424


@pytest.mark.slow
def test_folding_leaves_at_least_half_the_bytes() -> None:
    """The least length of a text whose term may have been cut follows from this."""
    text = "".join(chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF)
    changed = [(a, b) for a, b in zip(text, oracle.fold(text), strict=True) if a != b]
    assert len(changed) == 1_424
    assert all(2 * len(folded.encode()) >= len(char.encode()) for char, folded in changed)


@given(TEXTS, st.sampled_from([WORD, LOG, "trivial"]))
@examples(300)
def test_terms_are_those_of_the_model(value: str, tokenizer: str) -> None:
    assert tokens(value, tokenizer) == set(oracle.tokens(value, tokenizer))


@pytest.mark.parametrize("length", range(0, 200, 7))
def test_words_across_the_steps_of_the_search(length: int) -> None:
    """Words end before, at and behind every 8 and 64 bytes."""
    for word in (1, 7, 8, 9, 63, 64, 65):
        value = (length * "-" + word * "w") * 3 + "!"
        assert words(value) == oracle.words(value)
        assert tokens(value, WORD) == {oracle.cut(word) for word in oracle.words(value)}


@pytest.mark.parametrize("value", [b"\xff", b"a\xc3", b"\xe4\xb8", b"\xed\xa0\x80", b"\xc0\x80 word"])
def test_other_bytes_are_refused(value: bytes) -> None:
    for tokenizer in (WORD, LOG, "trivial"):
        with pytest.raises(ValueError, match="UTF-8"):
            runs.tokens(value, tokenizer)
