"""Sections of numbers for tests: values of many shapes, in cascades of encodings chosen at random."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import numpy as np

from amudai.encoding import NUMERIC
from tests.oracle.common import FLOATS, SIGNED, Encoder, bits_of, size_of, unsigned, wrap
from tests.oracle.numeric import (
    alp,
    alprd,
    block_dictionary,
    chimp,
    delta,
    ffor,
    fl_bit_pack,
    frame_of_reference,
    lz4,
    patched,
    pco,
    plain,
    run_length,
    single_value,
    snappy,
    sparse,
    truncate,
    zig_zag,
    zstd,
)

MAX_DEPTH = 4


@dataclass
class Cascade:
    """One section and those inside it. `parts` are the names of the sections inside, once they have been made."""

    random: Random
    depth: int
    parts: list[str] = field(default_factory=list)

    def part(self, values: list[int], dtype: str) -> bytes:
        """A section inside this one."""
        data, name = encode(self.random, values, dtype, self.depth - 1)
        self.parts.append(name)
        return data

    def part_or_raw(self) -> Encoder | None:
        """None where the part is to be raw, as it must be at the innermost level."""
        return self.part if self.depth > 1 and self.random.random() < 0.6 else None


def _ffor(values: list[int], dtype: str, cascade: Cascade) -> bytes:
    if cascade.random.random() < 0.5:
        return ffor.encode(values, dtype)
    # Any reference will do: distances wrap. A width may be larger than it needs to be.
    reference = cascade.random.choice(values) - cascade.random.randrange(3)
    distances = [wrap(value - reference, unsigned(dtype)) for value in values]
    needed = max(1, max(distances).bit_length())
    width = cascade.random.randint(needed, bits_of(dtype))
    return ffor.encode(values, dtype, wrap(reference, dtype), width)


def _patched(values: list[int], dtype: str, cascade: Cascade) -> bytes:
    # Any frame will do, also one that holds no value.
    reference = cascade.random.choice(values) - cascade.random.randrange(3)
    return patched.encode(values, dtype, wrap(reference, dtype), cascade.random.randint(0, bits_of(dtype)))


def _alp(values: list[int], dtype: str, cascade: Cascade) -> bytes:
    exponent = cascade.random.randrange(len(alp.F10[dtype]))
    return alp.encode(values, dtype, exponent, cascade.random.randint(0, exponent), cascade.part)


def _alprd(values: list[int], dtype: str, cascade: Cascade) -> bytes:
    right = bits_of(dtype) - cascade.random.randint(1, 16)
    dictionary = sorted({value >> right for value in values})[: cascade.random.randint(1, 8)]
    return alprd.encode(values, dtype, right, cascade.part, cascade.part, dictionary)


def _truncate(target: str) -> Callable[[list[int], str, Cascade], bytes]:
    return lambda values, dtype, cascade: truncate.encode(values, dtype, target, cascade.part_or_raw())


# By the names of the catalog.
ENCODERS: dict[str, Callable[[list[int], str, Cascade], bytes]] = {
    "plain": lambda values, dtype, _: plain.encode(values, dtype),
    "fl_bit_pack": lambda values, dtype, _: fl_bit_pack.encode(values, dtype),
    "for": lambda values, dtype, cascade: frame_of_reference.encode(values, dtype, cascade.part),
    "ffor": _ffor,
    "delta": lambda values, dtype, cascade: delta.encode(values, dtype, cascade.part),
    "run_length": lambda values, dtype, cascade: run_length.encode(
        values, dtype, cascade.part_or_raw(), cascade.part_or_raw()
    ),
    "single_value": lambda values, dtype, _: single_value.encode(values, dtype),
    "truncate_u8": _truncate("u1"),
    "truncate_u16": _truncate("u2"),
    "truncate_u32": _truncate("u4"),
    "truncate_u64": _truncate("u8"),
    "alp": _alp,
    "alprd": _alprd,
    "block_dictionary": lambda values, dtype, cascade: block_dictionary.encode(
        values, dtype, cascade.part, cascade.part_or_raw()
    ),
    "zstd": lambda values, dtype, _: zstd.encode(values, dtype),
    "lz4": lambda values, dtype, _: lz4.encode(values, dtype),
    "zig_zag": lambda values, dtype, cascade: zig_zag.encode(values, dtype, cascade.part_or_raw()),
    "sparse": lambda values, dtype, cascade: sparse.encode(values, dtype, cascade.part_or_raw(), cascade.part_or_raw()),
    "patched": _patched,
    "chimp": lambda values, dtype, _: chimp.encode(values, dtype),
    "pco": lambda values, dtype, _: pco.encode(values, dtype),
    "snappy": lambda values, dtype, _: snappy.encode(values, dtype),
}
# Those with a part that is never raw.
BRANCHES = frozenset({"for", "delta", "alp", "alprd", "block_dictionary"})
# The signed types that truncation keeps.
TRUNCATED = {"truncate_u8": "i1", "truncate_u16": "i2", "truncate_u32": "i4", "truncate_u64": "i8"}


def encode(random: Random, values: list[int], dtype: str, depth: int, name: str | None = None) -> tuple[bytes, str]:
    """A section of these values, of the encoding `name` or of any legal one, and what kernels call the cascade."""
    if not values:
        return plain.encode(values, dtype), "empty"
    if name is None:
        name = random.choice(legal(values, dtype, depth))
    cascade = Cascade(random, depth)
    data = ENCODERS[name](values, dtype, cascade)
    return data, f"{name}({', '.join(cascade.parts)})" if cascade.parts else name


def legal(values: list[int], dtype: str, depth: int) -> list[str]:
    """The encodings that can hold these values at this depth; 1 is the innermost."""
    names = [encoding.name for encoding in NUMERIC if dtype in encoding.accepts]
    return [name for name in names if (depth > 1 or name not in BRANCHES) and fits(name, values)]


def fits(name: str, values: list[int]) -> bool:
    """Whether an encoding can hold these values at all, and in a time that a test can wait for."""
    if name == "single_value":
        return len(set(values)) == 1
    if name in TRUNCATED:
        limit = 1 << (bits_of(TRUNCATED[name]) - 1)
        return all(-limit <= value < limit for value in values)
    # The oracle looks every value up in a list.
    return name != "block_dictionary" or len(values) * len(set(values)) < 100_000


# ---- values: integers as they are, floats as bit patterns ----

Shape = Callable[[np.random.Generator, int, str], list[int]]


def float_bits(values: list[float], dtype: str) -> list[int]:
    """Bit patterns of floats."""
    return np.array(values, dtype).view(unsigned(dtype)).tolist()


def special_bits(dtype: str) -> list[int]:
    """Zeros, infinities, NaNs with payloads of either sign and kind, subnormal and extreme numbers."""
    exponent = {"f4": 0xFF << 23, "f8": 0x7FF << 52}[dtype]
    quiet = exponent >> 1 & ~exponent | exponent  # the highest bit of the fraction is set
    sign = 1 << (bits_of(dtype) - 1)
    found = [0, 1, exponent - 1, exponent, exponent | 1, exponent | 77, quiet, quiet | 0x1234, sign - 1]
    return [*found, *(sign | bits for bits in found)]


def _extremes(rng: np.random.Generator, count: int, dtype: str) -> list[int]:
    if dtype in FLOATS:
        return rng.choice(np.array(special_bits(dtype), unsigned(dtype)), count).tolist()
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return [[low, low + 1, 0, 1, high - 1, high][at] for at in rng.integers(0, 6, count)]


def _any(rng: np.random.Generator, count: int, dtype: str) -> list[int]:
    kind = unsigned(dtype) if dtype in FLOATS else dtype
    return np.frombuffer(rng.bytes(count * size_of(dtype)), kind).tolist()


def _equal(rng: np.random.Generator, count: int, dtype: str) -> list[int]:
    return _extremes(rng, 1, dtype) * count if rng.integers(2) else _any(rng, 1, dtype) * count


def _sorted(rng: np.random.Generator, count: int, dtype: str) -> list[int]:
    return sorted(_any(rng, count, dtype))


def _steps(rng: np.random.Generator, count: int, dtype: str) -> list[int]:
    first, step = _any(rng, 1, dtype)[0], int(rng.integers(-9, 10))
    if dtype in FLOATS:
        return float_bits([at * step / 10 for at in range(count)], dtype)
    return [wrap(first + at * step, dtype) for at in range(count)]


def _runs(rng: np.random.Generator, count: int, dtype: str) -> list[int]:
    values: list[int] = []
    while len(values) < count:
        values += _extremes(rng, 1, dtype) * int(rng.choice([1, 2, 5, 31, 32, 33, 200]))
    return values[:count]


def _few(rng: np.random.Generator, count: int, dtype: str) -> list[int]:
    choice = _any(rng, 5, dtype)
    return [choice[at] for at in rng.integers(0, 5, count)]


def _small(rng: np.random.Generator, count: int, dtype: str) -> list[int]:
    if dtype in FLOATS:
        return float_bits((rng.integers(-9999, 9999, count) / 100).tolist(), dtype)
    return rng.integers(-20 if dtype in SIGNED else 0, 40, count).tolist()


def _rare(rng: np.random.Generator, count: int, dtype: str) -> list[int]:
    values = [0] * count
    for at in rng.integers(0, count, count // 20 + 1):
        values[at] = _any(rng, 1, dtype)[0]
    return values


def _near(rng: np.random.Generator, count: int, dtype: str) -> list[int]:
    """Neighbours in memory order: floats that share their leading bits."""
    first = struct.unpack({"f4": "<I", "f8": "<Q"}[dtype], np.array(1.5, dtype).tobytes())[0] if dtype in FLOATS else 50
    return [first + int(more) for more in rng.integers(0, 50, count)]


SHAPES: dict[str, Shape] = {
    "extremes": _extremes,
    "equal": _equal,
    "sorted": _sorted,
    "runs": _runs,
    "few": _few,
    "any": _any,
    "small": _small,
    "steps": _steps,
    "rare": _rare,
    "near": _near,
}


def shaped(rng: np.random.Generator, count: int, dtype: str, name: str, turn: int) -> list[int]:
    """Values that the encoding `name` can hold; which shape they have goes round with `turn`."""
    if name == "single_value":
        return _equal(rng, count, dtype)
    kind = TRUNCATED.get(name, dtype)
    shapes = list(SHAPES.values())
    values = shapes[turn % len(shapes)](rng, count, kind)
    return values if fits(name, values) else _few(rng, count, kind)
