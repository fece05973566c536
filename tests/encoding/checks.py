"""Do the kernels and the package make of blocks what the oracle makes of them?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from amudai import encoding as package
from amudai.encoding import ByteKeys, NumberRanges, Values
from tests.encoding import runs
from tests.encoding.runs import Block, Opened
from tests.oracle import block
from tests.oracle.common import FLOATS, unsigned

Bits = npt.NDArray[Any]


# ---- numbers ----


class Numbers:
    """What the oracle decodes from blocks: values as bit patterns, and which of them are not null."""

    def __init__(self, blocks: Sequence[Block], dtype: str, *, checksums: bool = True) -> None:
        found: list[int | None] = []
        for each in blocks:
            found += block.decode_numeric(each.data, each.count, dtype, checksums)
        self.kind = unsigned(dtype) if dtype in FLOATS else dtype
        self.valid = np.array([value is not None for value in found], np.bool_)
        self.values: Bits = np.array([value or 0 for value in found], self.kind)

    def check(self, spans: Sequence[runs.Span], values: Bits, valid: Bits, nulls: int) -> None:
        wanted = runs.positions_of(spans)
        expected = self.valid[wanted]
        np.testing.assert_array_equal(valid, expected)
        assert nulls == np.count_nonzero(~expected)
        np.testing.assert_array_equal(values.view(self.kind)[expected], self.values[wanted][expected])

    def draw(self, rng: np.random.Generator, dtype: str) -> NumberRanges:
        """Rows between values that are stored, their neighbours and the ends of the type; none, one or a few."""
        known = self.values.view(dtype)
        kind: Any = np.iinfo(dtype) if known.dtype.kind in "iu" else np.finfo(dtype)
        ends = np.concatenate([rng.choice(known, 6), np.array([0, kind.min, kind.max], dtype)])
        with np.errstate(over="ignore", invalid="ignore"):
            ends = np.concatenate([ends, ends + known.dtype.type(1)])
        ends = ends[ends == ends]
        pairs = rng.choice(ends, (int(rng.choice([0, 1, 1, 1, 2, 5])), 2))
        single = rng.random(len(pairs)) < 0.4
        pairs[single, 1] = pairs[single, 0]
        pairs.sort(axis=1)
        return NumberRanges(pairs[:, 0].copy(), pairs[:, 1].copy())

    def check_wanted(self, spans: Sequence[runs.Span], wanted: NumberRanges, inverted: bool, found: Bits) -> None:
        positions = runs.positions_of(spans)
        values = self.values.view(wanted.low.dtype)[positions]
        held = np.zeros(len(values), np.bool_)
        for low, high in zip(wanted.low, wanted.high, strict=True):
            held |= (values >= low) & (values <= high)
        np.testing.assert_array_equal(found, (held != inverted) & self.valid[positions])


def decode_numbers(run: Opened, dtype: str, spans: Sequence[runs.Span], at: int = 3) -> tuple[Bits, Bits, int]:
    """Values, validity and nulls of a run; nothing before `at` and nothing behind the last value is touched."""
    count, behind = runs.size_of(spans), 9
    out = np.frombuffer(bytes([0xA5]) * (at + count + behind) * int(dtype[1]), dtype).copy()
    validity = np.full((at + count + behind + 7) // 8, 0xA5, np.uint8)
    guard, guard_bits = out.copy(), np.unpackbits(validity, bitorder="little")
    nulls = run.kernels.decode_numbers(run.blocks, *run.spans(spans), out, validity, at)
    bits = np.unpackbits(validity, bitorder="little")
    for border in (slice(0, at), slice(at + count, at + count + behind)):
        assert out[border].tobytes() == guard[border].tobytes()
        np.testing.assert_array_equal(bits[border], guard_bits[border])
    return out[at : at + count], bits[at : at + count].astype(np.bool_), nulls


def compare_numbers(run: Opened, spans: Sequence[runs.Span], wanted: NumberRanges, inverted: bool, at: int) -> Bits:
    def compare(*arguments: Any) -> int:
        return int(run.kernels.compare_numbers(run.blocks, *run.spans(spans), wanted.low, wanted.high, *arguments))

    return guarded(compare, runs.size_of(spans), inverted, at)


def guarded(compare: Callable[[bool, npt.NDArray[np.uint8], int], int], count: int, inverted: bool, at: int) -> Bits:
    """The answers of a kernel; no bit before `at` and none behind the last answer is touched."""
    behind = 9
    out = np.full((at + count + behind + 7) // 8, 0xA5, np.uint8)
    guard = np.unpackbits(out, bitorder="little")
    found = compare(inverted, out, at)
    bits = np.unpackbits(out, bitorder="little")
    for border in (slice(0, at), slice(at + count, None)):
        np.testing.assert_array_equal(bits[border], guard[border])
    answers = bits[at : at + count].astype(np.bool_)
    assert found == np.count_nonzero(answers)
    return answers


def check_numbers(blocks: Sequence[Block], dtype: str, seed: int, *, checksums: bool = True) -> None:
    """Every kernel and the package agree with the oracle on every way to ask for slots of these blocks."""
    rng = np.random.default_rng(seed)
    expected = Numbers(blocks, dtype, checksums=checksums)
    opened = runs.open_all(blocks, checksums=checksums)
    for run in opened:
        run.inflate(run.kernels.numeric_frames(run.blocks, dtype))
    buffer = runs.buffer_of(blocks, checksums=checksums)
    for name, spans in runs.patterns([each.count for each in blocks], rng):
        if not spans:
            continue
        try:
            for run in opened:
                expected.check(spans, *decode_numbers(run, dtype, spans, at=int(rng.integers(0, 20))))
            found = package.decode_numbers(buffer, runs.ranges_of(spans), dtype)
            valid = found.valid()
            expected.check(
                spans, found.numbers(dtype), np.ones(found.length, np.bool_) if valid is None else valid, found.nulls
            )
            wanted, inverted = expected.draw(rng, dtype), bool(rng.integers(2))
            for run in opened:
                answers = compare_numbers(run, spans, wanted, inverted, int(rng.integers(0, 20)))
                expected.check_wanted(spans, wanted, inverted, answers)
            bitmap = package.compare_numbers(buffer, runs.ranges_of(spans), wanted, inverted=inverted)
            expected.check_wanted(spans, wanted, inverted, runs.bits_to_bools(bitmap, 0, found.length))
        except AssertionError as error:
            error.add_note(f"asked for: {name}")
            raise


def described_numbers(blocks: Sequence[Block], dtype: str) -> list[dict[str, int]]:
    found = [run.kernels.describe_numbers(run.blocks, dtype) for run in runs.open_all(blocks)]
    return [*found, dict(package.describe_numbers(runs.buffer_of(blocks), dtype))]


# ---- strings and bytes ----


class Strings:
    """What the oracle makes of blocks."""

    def __init__(self, blocks: Sequence[Block], size: int | None) -> None:
        self.values: list[bytes | None] = []
        for each in blocks:
            self.values += block.decode_binary(each.data, each.count, size)

    def check(self, spans: Sequence[runs.Span], found: list[bytes | None], nulls: int) -> None:
        expected = [self.values[at] for at in runs.positions_of(spans)]
        assert nulls == expected.count(None)
        if found != expected:  # plainly, and not the difference of two long lists
            at = next(at for at, pair in enumerate(zip(found, expected, strict=True)) if pair[0] != pair[1])
            raise AssertionError(f"value {at}: expected {expected[at]!r:.100}, found {found[at]!r:.100}")

    def draw(self, rng: np.random.Generator) -> ByteKeys:
        """Stored values, parts of them, values that differ from them in one byte, and values that are not stored."""
        known = [value for value in self.values if value is not None] or [b"", b"other"]
        keys: list[bytes] = []
        for kind in rng.integers(0, 5, int(rng.choice([0, 1, 1, 1, 2, 5]))):
            key = known[int(rng.integers(len(known)))]
            at = int(rng.integers(len(key) + 1))
            changed = key[:at] + bytes([key[at] ^ 1]) + key[at + 1 :] if at < len(key) else key + b"!"
            keys.append([key, key, key[:at], changed, rng.bytes(5)][kind])
        return ByteKeys(tuple(keys), prefixes=bool(rng.integers(2)))

    def check_wanted(self, spans: Sequence[runs.Span], wanted: ByteKeys, inverted: bool, found: Bits) -> None:
        expected = []
        for at in runs.positions_of(spans):
            value = self.values[at]
            held = value is not None and (value.startswith(wanted.keys) if wanted.prefixes else value in wanted.keys)
            expected.append(value is not None and held != inverted)
        np.testing.assert_array_equal(found, np.array(expected, np.bool_))


def cut(data: npt.NDArray[np.uint8], offsets: Sequence[int], valid: Sequence[bool]) -> list[bytes | None]:
    content = data.tobytes()
    return [content[start:end] if here else None for start, end, here in zip(offsets, offsets[1:], valid, strict=False)]


def values_in(found: Values, size: int | None, wide: bool) -> list[bytes | None]:
    """Decoded values as Python sees them."""
    valid = found.valid()
    present = [True] * found.length if valid is None else valid.tolist()
    if size is not None:
        offsets = [at * size for at in range(found.length + 1)]
    else:
        offsets = np.frombuffer(found.offsets, "i8" if wide else "i4", found.length + 1).tolist()
    return cut(np.frombuffer(found.data or b"", np.uint8), offsets, present)


def decode_variable(
    run: Opened, spans: Sequence[runs.Span], dtype: str, text: bool, at: int
) -> tuple[list[bytes | None], int]:
    """Values decoded by the kernels alone, after `at` slots and 5 bytes that were there before."""
    kernels, count = run.kernels, runs.size_of(spans)
    where = run.spans(spans)
    offsets = np.full(at + count + 1, 77, dtype)
    offsets[at] = 5
    validity = np.full((at + count + 7) // 8, 0xA5, np.uint8)
    before = np.unpackbits(validity, bitorder="little")[:at]
    origins, sizes = np.zeros(len(where[0]), np.uint64), np.zeros(len(run.blocks), np.uint64)
    nulls = kernels.decode_offsets(run.blocks, *where, offsets, validity, at, origins, sizes)
    assert (np.diff(offsets[at:]) >= 0).all()
    assert (offsets[:at] == 77).all()
    np.testing.assert_array_equal(np.unpackbits(validity, bitorder="little")[:at], before)
    run.inflate(kernels.payload_frames(run.blocks, sizes))
    # No slack behind the last byte: kernels may use it where it is, but must not count on it.
    out = np.full(int(offsets[-1]), 0xEE, np.uint8)
    kernels.decode_bytes(run.blocks, *where, origins, offsets, at, text, out)
    assert (out[:5] == 0xEE).all()
    return cut(out, offsets[at:].tolist(), runs.bits_to_bools(validity, at, count).tolist()), nulls


def decode_few_bytes(run: Opened, span: runs.Span) -> list[bytes | None] | None:
    """The values of one span of a single block, by the short way; None if one of them is null."""
    (_, (first,), (count,)) = run.spans([span])
    found = run.kernels.decode_few_offsets(run.blocks, int(first), int(count))
    if found is None:
        return None
    offsets, origin, frames = found
    run.inflate(frames)
    data = run.kernels.decode_few_bytes(run.blocks, int(first), offsets, origin)
    assert len(data) == offsets[-1]
    return cut(data, offsets.tolist(), [True] * int(count))


def decode_fixed(run: Opened, spans: Sequence[runs.Span], size: int, at: int) -> tuple[list[bytes | None], int]:
    count = runs.size_of(spans)
    out = np.full((at + count) * size, 0xEE, np.uint8)
    validity = np.full((at + count + 7) // 8, 0xA5, np.uint8)
    before = np.unpackbits(validity, bitorder="little")[:at]
    nulls = run.kernels.decode_fixed(run.blocks, *run.spans(spans), size, out, validity, at)
    assert (out[: at * size] == 0xEE).all()
    np.testing.assert_array_equal(np.unpackbits(validity, bitorder="little")[:at], before)
    offsets = [(at + i) * size for i in range(count + 1)]
    return cut(out, offsets, runs.bits_to_bools(validity, at, count).tolist()), nulls


def compare_bytes(
    run: Opened, spans: Sequence[runs.Span], size: int | None, wanted: ByteKeys, inverted: bool, at: int
) -> Bits:
    offsets = np.cumsum([0, *map(len, wanted.keys)], dtype=np.uint64)
    keys = np.frombuffer(b"".join(wanted.keys), np.uint8)

    def compare(*arguments: Any) -> int:
        where = run.spans(spans)
        return int(run.kernels.compare_bytes(run.blocks, *where, size, offsets, keys, wanted.prefixes, *arguments))

    return guarded(compare, runs.size_of(spans), inverted, at)


def check_strings(blocks: Sequence[Block], size: int | None, text: bool, seed: int) -> None:
    """Every kernel and the package agree with the oracle on every way to ask for slots of these blocks."""
    rng = np.random.default_rng(seed)
    expected = Strings(blocks, size)
    buffer = runs.buffer_of(blocks)
    for turn, (name, spans) in enumerate(runs.patterns([each.count for each in blocks], rng)):
        if not spans:
            continue
        at, wide = int(rng.integers(0, 20)), turn % 2 == 0
        try:
            used, moved = runs.touched(blocks, spans)
            wanted, inverted = expected.draw(rng), bool(rng.integers(2))
            for run in runs.open_all(used):
                run.inflate(run.kernels.binary_frames(run.blocks, size))
                if size is None:
                    expected.check(spans, *decode_variable(run, moved, "i8" if wide else "i4", text, at))
                    if len(used) == len(moved) == 1:
                        few = decode_few_bytes(run, moved[0])
                        assert (few is None) == (None in [expected.values[each] for each in runs.positions_of(spans)])
                        if few is not None:
                            expected.check(spans, few, 0)
                else:
                    expected.check(spans, *decode_fixed(run, moved, size, at))
                expected.check_wanted(spans, wanted, inverted, compare_bytes(run, moved, size, wanted, inverted, at))
            if size is None:
                found = package.decode_variable(buffer, runs.ranges_of(spans), text=text, wide=not wide)
            else:
                found = package.decode_fixed(buffer, runs.ranges_of(spans), size)
            expected.check(spans, values_in(found, size, not wide), found.nulls)
            ranges = runs.ranges_of(spans)
            bitmap = package.compare_bytes(buffer, ranges, wanted, fixed_size=size, inverted=inverted)
            expected.check_wanted(spans, wanted, inverted, runs.bits_to_bools(bitmap, 0, ranges.count))
        except AssertionError as error:
            error.add_note(f"asked for: {name}")
            raise


def described_strings(blocks: Sequence[Block], size: int | None) -> list[dict[str, int]]:
    found = [run.kernels.describe_binary(run.blocks, size) for run in runs.open_all(blocks)]
    return [*found, dict(package.describe_binary(runs.buffer_of(blocks), size))]
