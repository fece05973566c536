"""Do the native sketches and statistics say what the obvious ones in Python say?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from amudai.format.statistics import BinaryStats, StringStats
from amudai.stats import BLOOM_SEED, Hll, bloom
from amudai.types import BasicType, SchemaNode
from tests.effort import examples
from tests.kernel_modules import with_each_kernel
from tests.oracle.statistics import collect, hll_sketch

quick = examples(80)

Array = npt.NDArray[Any]
STRING = SchemaNode(schema_id=0, name="s", basic_type=BasicType.STRING)


def parts(array: pa.Array) -> tuple[Array | None, Array, int | None, Array | None, int, int]:
    """Offsets, data, fixed size, validity, its first bit, and the number of slots."""
    buffers = array.buffers()
    validity = None if buffers[0] is None else np.frombuffer(buffers[0], np.uint8)
    if pa.types.is_fixed_size_binary(array.type):
        width = array.type.byte_width
        return (
            None,
            np.frombuffer(buffers[1], np.uint8)[array.offset * width :],
            width,
            validity,
            array.offset,
            len(array),
        )
    offsets = np.frombuffer(buffers[1], np.int64 if pa.types.is_large_string(array.type) else np.int32)
    cut = offsets[array.offset : array.offset + len(array) + 1]
    return cut, np.frombuffer(buffers[2] or b"", np.uint8), None, validity, array.offset, len(array)


texts = st.text(max_size=12) | st.text(alphabet="aé", min_size=5, max_size=40) | st.text(max_size=300)
strings = st.lists(st.none() | texts, min_size=1, max_size=150)
kinds = st.sampled_from([pa.string(), pa.large_string()])


def strings_of(values: Sequence[str | None], kind: pa.DataType, before: int) -> pa.Array:
    return pa.array(["é"] * before + list(values), kind).slice(before)


# ---- hashes, HyperLogLog, Bloom filters ----


@with_each_kernel
@given(values=strings, kind=kinds, before=st.integers(0, 9), seed=st.integers(0, 2**64 - 1))
@quick
def test_hashes_are_xxh3_of_each_value(
    kernel: ModuleType, values: list[str | None], kind: pa.DataType, before: int, seed: int
) -> None:
    array = strings_of(values, kind, before)
    expected = [xxh3_64_intdigest(value.encode(), seed) for value in values if value is not None]
    assert kernel.hash_values(*parts(array), seed).tolist() == expected


@with_each_kernel
@given(values=strings, kind=kinds, before=st.integers(0, 9), bits=st.integers(4, 18))
@quick
def test_registers_are_those_of_the_sketch(
    kernel: ModuleType, values: list[str | None], kind: pa.DataType, before: int, bits: int
) -> None:
    array = strings_of(values, kind, before)
    sketch = hll_sketch([value.encode() for value in values if value is not None], bits)
    registers = np.zeros(1 << bits, np.uint8)
    kernel.hll_update(*parts(array), registers)
    assert registers.tobytes() == sketch.counters.tobytes()


@with_each_kernel
def test_registers_of_many_values(kernel: ModuleType) -> None:
    values = pa.array([f"value_{index:08}" for index in range(10_000)])
    registers = np.zeros(128, np.uint8)
    for start in range(0, 10_000, 997):  # a sketch grows from batch to batch
        kernel.hll_update(*parts(values.slice(start, 997)), registers)
    assert Hll.from_counters(registers.tobytes()).estimate() == 10_191
    guids = [index.to_bytes(16, "big") for index in range(300)]
    registers[:] = 0
    kernel.hll_update(*parts(pa.array([*guids, None], pa.binary(16))), registers)
    assert registers.tobytes() == hll_sketch(guids).counters.tobytes()


@with_each_kernel
@pytest.mark.parametrize("size", [0, 8, 100, 1 << 19])
def test_registers_are_a_power_of_two(kernel: ModuleType, size: int) -> None:
    with pytest.raises(ValueError, match="registers"):
        kernel.hll_update(np.zeros(1, np.int32), np.zeros(0, np.uint8), None, None, 0, 0, np.zeros(size, np.uint8))


@with_each_kernel
@given(
    batches=st.lists(st.lists(st.integers(0, 40) | st.integers(0, 2**64 - 1), max_size=30), max_size=5),
    limit=st.integers(0, 40),
)
@example(batches=[[0, 0], [0]], limit=1)
@quick
def test_a_hash_set_holds_up_to_its_limit(kernel: ModuleType, batches: list[list[int]], limit: int) -> None:
    kept = kernel.HashSet(limit)
    seen: dict[int, None] = {}
    for batch in batches:
        seen.update(dict.fromkeys(batch))
        assert kept.add(np.array(batch, np.uint64)) == (len(seen) <= limit)
    if len(seen) <= limit:
        assert kept.values().tolist() == list(seen)
    else:
        with pytest.raises(ValueError, match="limit"):
            kept.values()


@with_each_kernel
@pytest.mark.parametrize("count", [1, 26, 27, 1024, 1025])
def test_filters_are_those_of_the_values(kernel: ModuleType, count: int) -> None:
    array = pa.array([None, *(f"k{index % count}" for index in range(3 * count))])
    kept = kernel.HashSet(bloom.MOST_VALUES)
    expected = collect(array, STRING).bloom_filter
    if kept.add(kernel.hash_values(*parts(array), BLOOM_SEED)):
        assert expected is not None
        assert bloom.build_filter(kept.values()) == expected.data
    else:
        assert expected is None


# ---- lengths ----


@with_each_kernel
@given(values=strings, kind=kinds, before=st.integers(0, 9))
@example(values=[None], kind=pa.string(), before=0)
@example(values=["", None, ""], kind=pa.string(), before=3)
@quick
def test_text_statistics_are_those_of_the_field(
    kernel: ModuleType, values: list[str | None], kind: pa.DataType, before: int
) -> None:
    array = strings_of(values, kind, before)
    total, low, low_non_empty, high, ascii_count = kernel.text_stats(*parts(array))
    found = collect(array, STRING)
    size = found.raw_data_size or 0
    assert total == (size - math.ceil(len(array) / 8) if 0 < array.null_count < len(array) else size)
    expected = StringStats(
        min_size=low,
        min_non_empty_size=None if low_non_empty == -1 else low_non_empty,
        max_size=high,
        ascii_count=ascii_count,
    )
    assert found.type_stats == expected


@with_each_kernel
def test_bytes_under_nulls_do_not_count(kernel: ModuleType) -> None:
    offsets, data = np.array([0, 2, 5, 6], np.int32), np.frombuffer(b"ab\xff\xff\xffc", np.uint8)
    validity = np.array([0b101], np.uint8)
    assert kernel.text_stats(offsets, data, None, validity, 0, 3) == (3, 1, 1, 2, 2)
    assert kernel.text_stats(offsets, data, None, None, 0, 3) == (6, 1, 1, 3, 2)


@with_each_kernel
def test_text_statistics_of_one_size(kernel: ModuleType) -> None:
    array = pa.array([b"ab\xff", None, b"abc"], pa.binary(3))
    assert kernel.text_stats(*parts(array)) == (6, 3, 3, 3, 1)
    node = SchemaNode(schema_id=0, name="b", basic_type=BasicType.FIXED_SIZE_BINARY, fixed_size=3)
    assert collect(array, node).type_stats == BinaryStats(min_length=3, min_non_empty_length=3, max_length=3)


# ---- numbers ----

NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]


def same_bits(a: Array, b: Array) -> bool:
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


def obvious_ranges(values: Array, valid: npt.NDArray[np.bool_], span: int) -> tuple[Array, Array, Array]:
    """Of equal values the last one is kept: only zeros differ in their bits."""
    low, high, invalid = [], [], []
    for at in range(0, len(values), span):
        here = values[at : at + span][valid[at : at + span]]
        numbers = here[here == here][::-1]
        low.append(numbers[np.argmin(numbers)] if len(numbers) else 0)
        high.append(numbers[np.argmax(numbers)] if len(numbers) else 0)
        invalid.append(len(values[at : at + span]) - len(numbers))
    return np.array(low, values.dtype), np.array(high, values.dtype), np.array(invalid, np.uint16)


def numbers(data: st.DataObject, dtype: str, most: int = 700) -> tuple[Array, npt.NDArray[np.bool_], Array | None, int]:
    """Values, which of them are valid, and that as a bitmap that begins at some bit."""
    count = data.draw(st.integers(0, 70) | st.integers(0, most))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    if dtype[0] == "f" and data.draw(st.booleans()):
        pool = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1.5, -2.5, 1e-40, -1e-40, 1e30], dtype)
        values = pool[rng.integers(0, rng.integers(1, len(pool) + 1), count)]
    else:
        values = np.frombuffer(rng.bytes(count * int(dtype[1])), dtype)
    nulls = data.draw(st.sampled_from([None, 0.0, 0.1, 0.9, 1.0]))
    if nulls is None:
        return values, np.ones(count, np.bool_), None, 0
    valid, at = rng.random(count) >= nulls, int(rng.integers(0, 70))
    return values, valid, np.packbits(np.concatenate((rng.random(at) < 0.5, valid)), bitorder="little"), at


@with_each_kernel
@pytest.mark.parametrize("dtype", NUMBERS)
@given(data=st.data(), span=st.sampled_from([1, 7, 64, 100, 256, 65535]))
@quick
def test_ranges_are_numpys(kernel: ModuleType, dtype: str, data: st.DataObject, span: int) -> None:
    values, valid, bitmap, at = numbers(data, dtype)
    found = kernel.range_minmax(values, bitmap, at, span)
    assert all(same_bits(*pair) for pair in zip(found, obvious_ranges(values, valid, span), strict=True))


@with_each_kernel
def test_ranges_without_a_valid_value_are_zero(kernel: ModuleType) -> None:
    values = np.array([np.nan, 5.0, -np.inf, np.nan, np.nan, 7.0])
    low, high, invalid = kernel.range_minmax(values, np.array([0b011111], np.uint8), 0, 2)
    assert low.tolist() == [5.0, -np.inf, 0.0]
    assert high.tolist() == [5.0, -np.inf, 0.0]
    assert invalid.tolist() == [1, 1, 2]
    full = np.full(65_535, -7, np.int64)
    low, high, invalid = kernel.range_minmax(full, np.zeros(8192, np.uint8), 0, 65_535)
    assert (low.tolist(), high.tolist(), invalid.tolist()) == ([0], [0], [65_535])


@with_each_kernel
def test_ranges_have_a_span(kernel: ModuleType) -> None:
    for span in (0, 65_536):
        with pytest.raises(ValueError, match="span"):
            kernel.range_minmax(np.zeros(3), None, 0, span)
    with pytest.raises(ValueError, match="validity"):
        kernel.range_minmax(np.zeros(9), np.zeros(1, np.uint8), 0, 256)
    with pytest.raises(TypeError):
        kernel.range_minmax(np.zeros(3, np.bool_), None, 0, 256)
