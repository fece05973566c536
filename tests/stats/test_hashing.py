"""Hashes of values: published ones, and that equal bytes count once whatever Arrow type carries them."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from amudai.errors import InvalidArgument
from amudai.stats.hashing import BLOOM_SEED, HLL_SEED, hash_value, hash_values


@pytest.mark.parametrize(
    ("value", "seed", "expected"),
    [
        (b"apple", HLL_SEED, 0x29EC303170129658),
        (b"banana", HLL_SEED, 0xC68CEC4712605049),
        (b"cherry", HLL_SEED, 0x6C3FD167D5271158),
        (b"", HLL_SEED, 0x31433EF5389C7D79),
        (b"apple", BLOOM_SEED, 0x98D044A5DF131E5E),
        (b"banana", BLOOM_SEED, 0x7D23A9DD32B962DA),
        (b"", BLOOM_SEED, 0x0D1C3BBD29DFB497),
        (b"value_00", BLOOM_SEED, 0xCBB6639EADC15021),
        (b"value_01", BLOOM_SEED, 0x52960D68A01D82C1),
    ],
)
def test_published_hashes(value: bytes, seed: int, expected: int) -> None:
    assert hash_value(value, seed) == expected
    assert hash_values([value, memoryview(value)], seed).tolist() == [expected]


def test_seeds_on_the_wire() -> None:
    assert HLL_SEED.to_bytes(8, "little").hex(" ") == "31 4c 4c 48 64 75 6d 41"
    assert BLOOM_SEED.to_bytes(8, "little").hex(" ") == "46 46 42 69 61 64 75 4d"


KINDS = [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=str)
@given(values=st.lists(st.none() | st.text(max_size=3), max_size=20), start=st.integers(0, 3))
def test_arrow_types_hash_alike(kind: pa.DataType, values: list[str | None], start: int) -> None:
    array = pa.array(values, pa.string()).cast(pa.binary() if "binary" in str(kind) else pa.string()).cast(kind)
    expected = dict.fromkeys(value.encode() for value in values[start:] if value is not None)
    assert hash_values(array[start:], 7).tolist() == [xxh3_64_intdigest(value, 7) for value in expected]


def test_fixed_size_values() -> None:
    array = pa.array([b"ab", None, b"cd", b"ab"], pa.binary(2))
    assert hash_values(array, 7).tolist() == [xxh3_64_intdigest(b"ab", 7), xxh3_64_intdigest(b"cd", 7)]


def test_numbers_have_no_hash() -> None:
    with pytest.raises(InvalidArgument, match="expected strings or bytes, found int64"):
        hash_values(pa.array([1]), 7)
