"""The split-block Bloom filter: published sizes and bytes, and never a false no."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import CorruptedData, InvalidArgument
from amudai.stats import bloom
from amudai.stats.hashing import BLOOM_SEED, hash_value
from tests.oracle.statistics import hash_values

SALTS = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)


def filter_of(values: list[bytes]) -> bytes:
    data = bloom.build_filter(hash_values(values, BLOOM_SEED))
    assert data is not None
    return data


def bits_of(value: bytes) -> list[int]:
    words = np.frombuffer(filter_of([value]), "<u4").tolist()
    assert all(word.bit_count() == 1 for word in words)
    return [word.bit_length() - 1 for word in words]


@pytest.mark.parametrize(
    ("count", "blocks"),
    [(1, 1), (26, 1), (27, 2), (51, 2), (52, 3), (78, 4), (103, 4), (104, 5), (500, 20), (1000, 40), (1024, 40)],
)
def test_published_sizes(count: int, blocks: int) -> None:
    assert bloom.size_for(count) == 32 * blocks
    assert len(filter_of([b"%d" % index for index in range(count)])) == 32 * blocks


@pytest.mark.parametrize(
    ("value", "bits"),
    [
        (b"apple", [8, 31, 13, 31, 19, 12, 7, 29]),
        (b"banana", [27, 22, 0, 22, 4, 1, 25, 4]),
        (b"", [31, 20, 21, 9, 2, 15, 11, 3]),
        (b"value_00", [30, 18, 6, 29, 9, 31, 17, 4]),
    ],
)
def test_published_bits(value: bytes, bits: list[int]) -> None:
    assert bits_of(value) == bits


def test_published_filters() -> None:
    assert filter_of([b"apple", b"banana"]).hex(" ", 4) == (
        "00010008 00004080 01200000 00004080 10000800 02100000 80000002 10000020"
    )
    assert filter_of([b"value_%02d" % index for index in range(27)]).hex() == (
        "1c42ca67f014807208966451a47056936b3050bc1bab02c0287110e506796403"
        "604219ca09911d40d46420509461a034829650031008c49622001270115100e8"
    )


def test_no_filter_of_nothing_or_of_too_much() -> None:
    assert bloom.build_filter(np.array([], np.uint64)) is None
    assert bloom.build_filter(np.arange(1024, dtype=np.uint64)) is not None
    assert bloom.build_filter(np.arange(1025, dtype=np.uint64)) is None
    assert bloom.build_filter(np.zeros(5000, np.uint64)) is not None
    with pytest.raises(InvalidArgument, match="found 0"):
        bloom.size_for(0)


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=300))
def test_never_a_false_no(hashes: list[int]) -> None:
    data = bloom.build_filter(np.array(hashes, np.uint64))
    assert data is not None
    assert bloom.probe_many(data, np.array(hashes, np.uint64)).all()
    assert all(bloom.probe(data, value) for value in hashes)


@given(st.binary(min_size=32, max_size=160).map(lambda data: data[: len(data) // 32 * 32]), st.data())
def test_probing_is_as_defined(data: bytes, draw: st.DataObject) -> None:
    hashes = draw.draw(st.lists(st.integers(0, 2**64 - 1), max_size=20))
    words = np.frombuffer(data, "<u4").tolist()

    def may_hold(value: int) -> bool:
        block = words[((value >> 32) * (len(data) // 32) >> 32) * 8 :][:8]
        bits = [(value & 0xFFFFFFFF) * salt % 2**32 >> 27 for salt in SALTS]
        return all(word >> bit & 1 for word, bit in zip(block, bits, strict=True))

    expected = [may_hold(value) for value in hashes]
    assert bloom.probe_many(data, np.array(hashes, np.uint64)).tolist() == expected
    assert [bloom.probe(memoryview(data), value) for value in hashes] == expected


def test_absent_values_are_mostly_refused() -> None:
    data = filter_of([b"value_%d" % index for index in range(1000)])
    absent = hash_values([b"other_%d" % index for index in range(10_000)], BLOOM_SEED)
    assert bloom.probe_many(data, absent).mean() < 0.03


@pytest.mark.parametrize("size", [0, 1, 31, 33, 63])
def test_a_cut_filter_is_an_error(size: int) -> None:
    with pytest.raises(CorruptedData, match=f"expected blocks of 32 bytes, found {size} bytes"):
        bloom.probe(bytes(size), hash_value(b"apple", BLOOM_SEED))
