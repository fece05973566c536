"""What a writer notes of a field's values, in plain Python: one value after the other.

`collect` takes the values of one schema node in the form in which they are stored: datetimes are uint64 ticks,
timespans int64, decimals and GUIDs 16 bytes. Children of containers are not looked at. There is a Bloom filter
wherever the type has one; a writer may have left it out.

Facts are stated in the classes of the package, so that they can be compared. The estimate of a HyperLogLog sketch is
the package's too, as it needs a long table. Everything else is counted here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from amudai.format import (
    AnyValue,
    BinaryStats,
    BloomFilter,
    BooleanStats,
    Cardinality,
    DecimalStats,
    FloatingStats,
    HllSketch,
    ListStats,
    RangeStats,
    StringStats,
    TypeStats,
)
from amudai.stats import BLOOM_SEED, HLL_SEED, FieldStatistics, Hll
from amudai.types import BasicType, SchemaNode, decimal128

__all__ = ["bloom_filter", "collect", "hash_values", "hll_registers", "hll_sketch"]

SALTS = (0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947, 0x5C6BFB31)
MOST_FILTERED = 1024  # with more distinct values there is no filter


def collect(array: pa.Array, node: SchemaNode) -> FieldStatistics:
    """The statistics of these values."""
    kind, values = node.basic_type, array.to_pylist()
    known = [value for value in values if value is not None]
    if kind in (BasicType.UNIT, BasicType.UNION):
        return FieldStatistics(position_count=len(values))
    if kind is BasicType.BOOLEAN:
        flags = BooleanStats(true_count=known.count(True), false_count=known.count(False))
        return counted(values, math.ceil(len(values) / 8), type_stats=flags)
    if kind in (BasicType.STRUCT, BasicType.FIXED_SIZE_LIST):
        return counted(values, 0)
    if kind in (BasicType.LIST, BasicType.MAP):
        return counted(values, 8 * len(values), type_stats=ListStats(**lengths(known, "length")) if values else None)
    if kind in (BasicType.FLOAT32, BasicType.FLOAT64):
        return floats(values, known, 4 if kind is BasicType.FLOAT32 else 8)
    if node.is_decimal:
        return decimals(values, known)
    if kind in (BasicType.STRING, BasicType.BINARY, BasicType.FIXED_SIZE_BINARY, BasicType.GUID):
        return texts(values, known, kind)
    bounds = value_range("i64" if node.signed and kind is not BasicType.DATETIME else "u64", known)
    return counted(values, len(known) * array.type.bit_width // 8, range_stats=bounds)


def counted(values: list[Any], data_size: int, **more: Any) -> FieldStatistics:
    """The counts that all types have; the size is that of the values, and a bit for each position if some are null."""
    nulls = sum(value is None for value in values)
    bitmap = math.ceil(len(values) / 8) if nulls else 0
    size = 0 if nulls == len(values) else data_size + bitmap
    return FieldStatistics(position_count=len(values), null_count=nulls, raw_data_size=size, **more)


def value_range(kind: Any, values: list[Any]) -> RangeStats:
    low, high = (AnyValue(kind, min(values)), AnyValue(kind, max(values))) if values else (None, None)
    return RangeStats(min=low, min_inclusive=True, max=high, max_inclusive=True)


def lengths(values: list[Any], word: str) -> dict[str, int | None]:
    """The smallest length, the smallest but 0, and the largest."""
    found = [len(value) for value in values]
    return {
        f"min_{word}": min(found, default=0),
        f"min_non_empty_{word}": min((length for length in found if length), default=None),
        f"max_{word}": max(found, default=0),
    }


def floats(values: list[Any], known: list[float], width: int) -> FieldStatistics:
    numbers = [value for value in known if not math.isnan(value)]
    stats = FloatingStats(
        zero_count=numbers.count(0.0),
        positive_count=sum(0 < value < math.inf for value in numbers),
        negative_count=sum(-math.inf < value < 0 for value in numbers),
        nan_count=len(known) - len(numbers),
        positive_infinity_count=numbers.count(math.inf),
        negative_infinity_count=numbers.count(-math.inf),
    )
    return counted(values, width * len(known), range_stats=value_range("double", numbers), type_stats=stats)


def decimals(values: list[Any], known: list[bytes]) -> FieldStatistics:
    """Bounds are the stored bytes of the first value that is smallest, or largest."""
    numbers = [(decimal128.to_decimal(row), row) for row in known]
    numbers = [(number, row) for number, row in numbers if not number.is_nan()]
    stats = DecimalStats(
        zero_count=sum(number == 0 for number, _ in numbers),
        positive_count=sum(number > 0 for number, _ in numbers),
        negative_count=sum(number < 0 for number, _ in numbers),
        nan_count=len(known) - len(numbers),
    )
    bounds = value_range("decimal", [])
    if numbers:
        low, high = min(numbers, key=lambda pair: pair[0])[1], max(numbers, key=lambda pair: pair[0])[1]
        bounds = RangeStats(
            min=AnyValue("decimal", low), min_inclusive=True, max=AnyValue("decimal", high), max_inclusive=True
        )
    return counted(values, 16 * len(known), range_stats=bounds, type_stats=stats)


def texts(values: list[Any], known: list[Any], kind: BasicType) -> FieldStatistics:
    contents = [value.encode() if isinstance(value, str) else value for value in known]
    stats: TypeStats = BinaryStats(**lengths(contents, "length"))  # type: ignore[arg-type]
    if kind is BasicType.STRING:
        ascii_count = sum(content.isascii() for content in contents)
        stats = StringStats(**lengths(contents, "size"), ascii_count=ascii_count)  # type: ignore[arg-type]
    size = sum(map(len, contents))
    bounds = byte_range(contents, kind)
    if not contents:
        return counted(values, size, type_stats=stats, range_stats=bounds)
    different = set(contents)
    return counted(
        values,
        size,
        type_stats=stats,
        range_stats=bounds,
        cardinality=cardinality(different),
        bloom_filter=bloom_filter(different),
    )


def byte_range(contents: list[bytes], kind: BasicType, most: int = 32) -> RangeStats:
    """The least and the greatest, of at most `most` bytes. What is cut off the greatest makes its end grow by one."""
    if not contents:
        return RangeStats(min=None, max=None)
    is_text = kind is BasicType.STRING
    low, high = min(contents), max(contents)
    # One character more than could fit is enough to see that not all fit.
    units, first = (
        [char.encode() for char in each.decode()[: most + 1]]
        if is_text
        else [bytes([byte]) for byte in each[: most + 1]]
        for each in (high, low)
    )
    while len(b"".join(first)) > most:
        first.pop()
    grown: bytes | None = high
    while len(b"".join(units)) > most:
        units.pop()
        grown = None
    while units and grown is None:
        unit = units.pop()
        point = ord(unit.decode()) + 1 if is_text else unit[0] + 1
        if point > (0x10FFFF if is_text else 0xFF):
            continue
        unit = chr(0xE000 if point == 0xD800 else point).encode() if is_text else bytes([point])
        if len(b"".join(units) + unit) <= most:
            grown = b"".join(units) + unit
    make = (lambda bound: AnyValue("string", bound.decode())) if is_text else (lambda bound: AnyValue("bytes", bound))
    return RangeStats(
        min=make(b"".join(first)),
        min_inclusive=b"".join(first) == low,
        max=None if grown is None else make(grown),
        max_inclusive=grown == high,
    )


def hash_values(values: Iterable[bytes], seed: int) -> NDArray[np.uint64]:
    """A hash for each different value, in the order of first appearance."""
    return np.array([xxh3_64_intdigest(value, seed) for value in dict.fromkeys(values)], np.uint64)


def hll_registers(hashes: Iterable[int], bits_per_index: int = 7) -> bytes:
    """The upper bits of a hash pick a register; it keeps the most zeros that lead the other bits, and one."""
    rest_bits = 64 - bits_per_index
    registers = bytearray(1 << bits_per_index)
    for value in hashes:
        register, rest = value >> rest_bits, value & ((1 << rest_bits) - 1)
        registers[register] = max(registers[register], rest_bits + 1 - rest.bit_length())
    return bytes(registers)


def hll_sketch(values: Iterable[bytes], bits_per_index: int = 7) -> Hll:
    """The sketch of some values."""
    return Hll.from_counters(hll_registers(hash_values(values, HLL_SEED).tolist(), bits_per_index), bits_per_index)


def cardinality(different: set[bytes]) -> Cardinality:
    found = hll_sketch(different)
    sketch = HllSketch(
        hash_algorithm="xxh3_64", hash_seed=HLL_SEED, bits_per_index=7, counters=found.counters.tobytes()
    )
    return Cardinality(count=found.estimate(), is_estimate=True, sketch=sketch)


def bloom_filter(different: set[bytes]) -> BloomFilter | None:
    """Blocks of eight words: the upper half of a hash picks the block, the lower half a bit in each word."""
    if len(different) > MOST_FILTERED:
        return None
    count = len(different)
    bits = math.ceil(-count * math.log(0.01) / math.log(2) ** 2)
    blocks = max(1, math.ceil(math.ceil(bits / count) * count // 8 / 32))
    words = np.zeros((blocks, 8), "<u4")
    for value in hash_values(different, BLOOM_SEED).tolist():
        for word, salt in enumerate(SALTS):
            words[(value >> 32) * blocks >> 32, word] |= 1 << ((value & 0xFFFFFFFF) * salt % 2**32 >> 27)
    return BloomFilter(
        num_blocks=blocks,
        target_fpp=0.01,
        num_values=count,
        hash_algorithm="xxh3_64",
        hash_seed=BLOOM_SEED,
        data=words.tobytes(),
    )
