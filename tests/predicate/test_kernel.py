"""Do the native operators mean what the oracle says they mean?"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import examples
from tests.kernel_modules import KERNELS
from tests.oracle import operators
from tests.predicate.texts import ALPHABET, OPERATORS, texts

pytestmark = [pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__), pytest.mark.native]

KNOWN = [
    chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000 and unicodedata.category(chr(code)) != "Cn"
]


def match(
    kernels: ModuleType, values: Sequence[str], op: str, text: str, case_sensitive: bool, dtype: Any = np.int32
) -> list[bool]:
    encoded = [value.encode() for value in values]
    # Nothing before the first text and behind the last one may be looked at.
    data = np.frombuffer(b"time" + b"".join(encoded) + b"out", np.uint8)
    offsets = np.cumsum([4, *map(len, encoded)]).astype(dtype)
    out = np.full(len(values), 7, np.uint8)
    kernels.match_text(offsets, data, op, text, case_sensitive, out)
    return [bool(each) for each in out if each in (0, 1)]


@pytest.mark.parametrize("op", OPERATORS)
@examples(120)
@given(
    values=st.lists(texts(), max_size=12),
    text=texts(4),
    case_sensitive=st.booleans(),
    dtype=st.sampled_from([np.int32, np.int64, np.uint64]),
)
def test_operators_mean_what_they_say(
    kernels: ModuleType, op: str, values: list[str], text: str, case_sensitive: bool, dtype: Any
) -> None:
    expected = [operators.is_true(op, value, text, case_sensitive) for value in values]
    assert match(kernels, values, op, text, case_sensitive, dtype) == expected


@pytest.mark.parametrize("op", OPERATORS)
@examples(60)
@given(data=st.data())
def test_a_part_of_a_value_is_found_or_not_for_a_reason(kernels: ModuleType, op: str, data: st.DataObject) -> None:
    value = data.draw(texts(12))
    start = data.draw(st.integers(0, len(value)))
    end = data.draw(st.integers(start, len(value)))
    text = "".join(
        data.draw(st.sampled_from([each, each.swapcase(), operators.fold(each)])) for each in value[start:end]
    )
    for case_sensitive in (False, True):
        expected = operators.is_true(op, value, text, case_sensitive)
        assert match(kernels, [value], op, text, case_sensitive) == [expected], (value, text)


@pytest.mark.slow
@pytest.mark.parametrize("op", ["has", "hasprefix", "hassuffix", "contains"])
@pytest.mark.parametrize("case_sensitive", [False, True])
def test_long_data_is_searched_in_steps(kernels: ModuleType, op: str, case_sensitive: bool) -> None:
    """Matches at every place of a step and over its border, several in a row, between texts of all lengths."""
    rng = np.random.default_rng(5)
    parts = ["xyz", " ", "zyx", "xy", "XYZ", "Xyz", ".", "a", "\u00e9", "i\u017fx"]
    values = ["".join(rng.choice(parts, int(rng.integers(0, 40)))) for _ in range(400)]
    for text in ("xyz", "z", " xyz", "zyx.", "\u00e9", "six", "XYZ"):
        expected = [operators.is_true(op, value, text, case_sensitive) for value in values]
        assert match(kernels, values, op, text, case_sensitive) == expected, text


@pytest.mark.slow
@pytest.mark.skipif(unicodedata.unidata_version != "14.0.0", reason="the folds are those of Unicode 14")
def test_every_character_folds_and_parts_words_as_the_oracle_says(kernels: ModuleType) -> None:
    """Of Unicode 14, which Python's tables know, but for signs that are alphabetic without being letters."""
    folded = [operators.fold(each) for each in KNOWN]
    same = [
        match(kernels, [f"{each}"], "equals", other, False)[0]
        for each, other in zip(KNOWN, folded, strict=True)
        if each != other
    ]
    assert len(same) == 1424
    assert all(same)
    # All at once: each character equals, in any case, those that fold to what it folds to.
    groups: dict[str, list[str]] = {}
    for each, other in zip(KNOWN, folded, strict=True):
        groups.setdefault(other, []).append(each)
    for code in ["\u0131", "\u0130", "\u017f", "\u212a", "\u00b5", "\u01c5", "\u00df", "k", "S", "i"]:
        found = match(kernels, KNOWN, "equals", code, False)
        assert [each for each, true in zip(KNOWN, found, strict=True) if true] == groups[operators.fold(code)]


def test_folding_keeps_words_words(kernels: ModuleType) -> None:
    """So the words of a folded text are the folded words, and an index may fold."""
    for each in KNOWN:
        other = operators.fold(each)
        if each != other:
            assert len(kernels.split_words(each)) == len(kernels.split_words(other)), each


@pytest.mark.slow
def test_words_are_made_of_letters_and_numbers(kernels: ModuleType) -> None:
    categories = {"Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No"}
    wrong = [
        each
        for each in KNOWN
        if bool(kernels.split_words(each)) != (unicodedata.category(each) in categories)
        and unicodedata.category(each) not in {"Mn", "Mc", "So"}  # some of these are alphabetic
    ]
    assert wrong == []


@examples(200)
@given(text=st.text(ALPHABET, max_size=12))
def test_words(kernels: ModuleType, text: str) -> None:
    assert kernels.split_words(text) == operators.words(text)


@examples(200)
@given(
    content=st.binary(max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=5),
    text=texts(3),
    op=st.sampled_from(OPERATORS),
)
def test_bytes_that_are_no_text_do_no_harm(
    kernels: ModuleType, content: bytes, cuts: list[int], text: str, op: str
) -> None:
    offsets = np.array([0, *sorted(min(cut, len(content)) for cut in cuts), len(content)], np.int32)
    out = np.full(len(offsets) - 1, 7, np.uint8)
    for case_sensitive in (False, True):
        kernels.match_text(offsets, np.frombuffer(content, np.uint8).copy(), op, text, case_sensitive, out)
        assert set(out.tolist()) <= {0, 1}


@pytest.mark.parametrize("offsets", [[0, 3, 2], [0, 5], [-1, 2], [3, 1]])
def test_offsets_outside_of_the_data_are_refused(kernels: ModuleType, offsets: list[int]) -> None:
    out = np.zeros(len(offsets) - 1, np.uint8)
    with pytest.raises(ValueError, match="ascending and inside the data"):
        kernels.match_text(np.array(offsets, np.int32), np.zeros(4, np.uint8), "has", "a", True, out)


def test_arguments_that_do_not_fit_are_refused(kernels: ModuleType) -> None:
    data: npt.NDArray[np.uint8] = np.zeros(4, np.uint8)
    with pytest.raises(ValueError, match="one less"):
        kernels.match_text(np.zeros(3, np.int32), data, "has", "a", True, np.zeros(3, np.uint8))
    with pytest.raises(ValueError, match="name of a text operator"):
        kernels.match_text(np.zeros(3, np.int32), data, "like", "a", True, np.zeros(2, np.uint8))
    with pytest.raises(TypeError, match="int32, int64 or uint64"):
        kernels.match_text(np.zeros(3, np.uint8), data, "has", "a", True, np.zeros(2, np.uint8))
