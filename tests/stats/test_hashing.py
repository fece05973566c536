"""Hashes of values: published ones, and the seeds in the order of their bytes."""

from __future__ import annotations

import pytest

from amudai.stats.hashing import BLOOM_SEED, HLL_SEED, hash_value


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
    assert hash_value(memoryview(value), seed) == expected


def test_seeds_on_the_wire() -> None:
    assert HLL_SEED.to_bytes(8, "little").hex(" ") == "31 4c 4c 48 64 75 6d 41"
    assert BLOOM_SEED.to_bytes(8, "little").hex(" ") == "46 46 42 69 61 64 75 4d"
