"""The HyperLogLog sketch: published registers and estimates, and the algebra of merging."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import InvalidArgument
from amudai.stats.hll import Hll
from tests.oracle.statistics import hll_registers, hll_sketch

hashes = st.lists(st.integers(0, 2**64 - 1), max_size=50)
bits = st.integers(4, 18)


def sketch(values: list[int], bits_per_index: int = 7) -> Hll:
    return Hll.from_counters(hll_registers(values, bits_per_index), bits_per_index)


def fruits(count: int, bits_per_index: int = 7) -> Hll:
    return hll_sketch([b"apple", b"banana", b"cherry"][:count], bits_per_index)


@pytest.mark.parametrize(("count", "registers"), [(2, {20: 1, 99: 2}), (3, {20: 1, 99: 2, 54: 4})])
def test_published_registers(count: int, registers: dict[int, int]) -> None:
    found = fruits(count)
    assert {int(index): int(found.counters[index]) for index in np.flatnonzero(found.counters)} == registers
    assert found.estimate() == count


def test_published_registers_of_a_small_sketch() -> None:
    assert fruits(3, 4).counters.tobytes().hex(" ") == "00 00 01 00 00 00 01 00 00 00 00 00 02 00 00 00"


@pytest.mark.parametrize(
    ("count", "estimate"),
    [
        (1, 1),
        (2, 2),
        (3, 3),
        (5, 5),
        (10, 10),
        (100, 96),
        (1000, 992),
        (10_000, 10_191),
        (100_000, 97_503),
        pytest.param(1_000_000, 961_372, marks=pytest.mark.slow),
    ],
)
def test_published_estimates(count: int, estimate: int) -> None:
    assert hll_sketch(b"value_%08d" % index for index in range(count)).estimate() == estimate


def test_an_empty_sketch_estimates_nothing() -> None:
    assert [Hll(bits_per_index).estimate() for bits_per_index in range(4, 19)] == [0] * 15


def test_hostile_registers_still_give_a_number() -> None:
    assert Hll.from_counters(b"\xff" * 128).estimate() > 2**63


def test_estimate_without_empty_registers_is_corrected() -> None:
    # Every register holds 1: the raw estimate, 183.1, lies between the entries 181.4476:147 and 184.5882:151.
    alpha = 0.7213 / (1 + 1.079 / 128)
    raw = 2 * alpha * 128
    expected = 147 + 4 * (raw - 181.4476) / (184.5882 - 181.4476)
    assert Hll.from_counters(b"\x01" * 128).estimate() == round(expected)


@given(hashes, hashes, bits)
def test_a_merge_is_the_sketch_of_the_union(a: list[int], b: list[int], bits_per_index: int) -> None:
    merged = sketch(a, bits_per_index)
    merged.merge(sketch(b, bits_per_index))
    assert (merged.counters == sketch(a + b, bits_per_index).counters).all()
    assert merged.estimate() == sketch(b + a + a, bits_per_index).estimate()


@pytest.mark.slow
@pytest.mark.parametrize("bits_per_index", [10, 12, 14])
def test_other_sizes_estimate_roughly(bits_per_index: int) -> None:
    for count in (10, 500, 200_000, 1_000_000):
        values = np.random.default_rng(count).integers(0, 2**64, count, np.uint64)
        assert sketch(values.tolist(), bits_per_index).estimate() == pytest.approx(count, rel=0.15)


def test_registers_survive() -> None:
    counters = fruits(3).counters.tobytes()
    assert Hll.from_counters(counters).counters.tobytes() == counters


def test_impossible_sketches() -> None:
    for bits_per_index in (3, 19, 0):
        with pytest.raises(InvalidArgument, match=f"expected 4..18, found {bits_per_index}"):
            Hll(bits_per_index)
    with pytest.raises(InvalidArgument, match="expected 128 bytes, found 127"):
        Hll.from_counters(bytes(127))
    with pytest.raises(InvalidArgument, match="expected 7, found 8"):
        Hll(7).merge(Hll(8))
