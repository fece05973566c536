"""Are the kernels between Arrow and blocks right: LZ4's search, the check of text, division without a rest?"""

from __future__ import annotations

from typing import Any

import lz4.block
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amudai import _kernels
from tests.effort import examples
from tests.oracle import codec

pytestmark = pytest.mark.native


def inflated(compressed: bytes, size: int) -> bytes:
    found: bytes = lz4.block.decompress(compressed, uncompressed_size=size)
    return found


# Words of few kinds, so that matches overlap, repeat and meet the end.
REPETITIVE = st.lists(
    st.sampled_from([b"a", b"ab", b"abc", b"request ", b"-" * 40, b"\0", bytes(range(256))]), max_size=400
)


@given(words=REPETITIVE, tail=st.binary(max_size=40), thorough=st.booleans())
@examples(150)
@example(words=[b"a"] * 13, tail=b"", thorough=True)
@example(words=[b"abcd" * 3], tail=b"", thorough=False)
@example(words=[b"-" * 40] * 400, tail=b"x", thorough=False)
def test_lz4_inflates_to_what_it_was(words: list[bytes], tail: bytes, thorough: bool) -> None:
    text = b"".join(words) + tail
    compressed = _kernels.lz4_compress(np.frombuffer(text, np.uint8), thorough)
    assert inflated(compressed, len(text)) == text
    assert codec.lz4_decompress(len(text).to_bytes(4, "little") + compressed, len(text)) == text


@pytest.mark.parametrize("size", [0, 1, 12, 13, 14, 23, 24, 65_535, 65_536, 65_537, 262_143, 262_145, 300_000])
@pytest.mark.parametrize("kinds", [1, 2, 20, 256])
def test_lz4_of_any_size(size: int, kinds: int) -> None:
    text = np.random.default_rng(size + kinds).integers(0, kinds, size).astype(np.uint8)
    for thorough in (False, True):
        compressed = _kernels.lz4_compress(text, thorough)
        assert inflated(compressed, size) == text.tobytes()
        # What does not repeat costs next to nothing.
        assert len(compressed) <= size + size // 255 + 16


@pytest.mark.parametrize("thorough", [False, True])
def test_lz4_finds_matches_as_far_as_they_may_reach(thorough: bool) -> None:
    word = np.random.default_rng(1).integers(0, 256, 4000).astype(np.uint8)
    for distance, found in ((65_535, True), (65_536, False)):
        noise = np.random.default_rng(2).integers(0, 256, distance - 4000).astype(np.uint8)
        text = np.concatenate((word, noise, word, np.zeros(16, np.uint8)))
        compressed = _kernels.lz4_compress(text, thorough)
        assert inflated(compressed, len(text)) == text.tobytes()
        assert (len(compressed) < len(text) - 3000) == found


def test_lz4_is_nearly_as_small_as_the_slow_search() -> None:
    rng = np.random.default_rng(3)
    lines = [f"GET /api/v{rng.integers(3)}/users/{rng.integers(900)} took {rng.integers(99)} ms\n" for _ in range(1500)]
    text = "".join(lines).encode()
    slow = len(lz4.block.compress(text, mode="high_compression", compression=3, store_size=False))
    quick, thorough = (len(_kernels.lz4_compress(np.frombuffer(text, np.uint8), each)) for each in (False, True))
    assert thorough < quick < 1.3 * slow
    assert thorough < 1.1 * slow


@given(texts=st.lists(st.one_of(st.text(max_size=6), st.binary(max_size=3)), max_size=8), wide=st.booleans())
@examples(150)
def test_text_is_what_python_decodes(texts: list[str | bytes], wide: bool) -> None:
    values = [text.encode() if isinstance(text, str) else text for text in texts]
    offsets = np.cumsum([0, *map(len, values)]).astype(np.int64 if wide else np.int32)

    def decodes(value: bytes) -> bool:
        try:
            value.decode()
        except UnicodeDecodeError:
            return False
        return True

    found = _kernels.is_text(offsets, np.frombuffer(b"".join(values), np.uint8))
    assert found == all(map(decodes, values))


@pytest.mark.parametrize("offsets", [[0, 2, 1], [-1, 0], [0, 9]])
def test_offsets_that_are_none_cut_no_text(offsets: list[int]) -> None:
    assert not _kernels.is_text(np.array(offsets, np.int32), np.frombuffer(b"abc", np.uint8))


@given(
    values=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=20),
    origin=st.sampled_from([0, 621_355_968_000_000_000, -7]),
    by=st.sampled_from([1, 2, 7, 10, 10_000, 10_000_000, 864_000_000_000, 2**62]),
    exact=st.booleans(),
)
@examples(200)
def test_division_says_whether_something_is_lost(values: list[int], origin: int, by: int, exact: bool) -> None:
    if exact:
        values = [value // by * by + origin for value in values]
        values = [value for value in values if -(2**63) <= value < 2**63 and -(2**63) <= value - origin < 2**63]
    else:
        values = [value for value in values if -(2**63) <= value - origin < 2**63]
    out = np.zeros(len(values), np.int64)
    found = _kernels.divide_exactly(np.array(values, np.int64), origin, by, out)
    assert found == all((value - origin) % by == 0 for value in values)
    if found:
        assert out.tolist() == [(value - origin) // by for value in values]


def test_division_into_days() -> None:
    out: Any = np.zeros(2, np.int32)
    assert _kernels.divide_exactly(np.array([864_000_000_000 * 3, 0]), 864_000_000_000, 864_000_000_000, out)
    assert out.tolist() == [2, -1]
