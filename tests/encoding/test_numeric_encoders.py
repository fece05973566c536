"""Does everything the kernels write come back, bit by bit, and can the reference's reader take it?

What the kernels encode is decoded twice, by the oracle and by the kernels. `walk` reads the sections once more, as
layouts: it finds what no writer may produce, and tells what was produced.
"""

import math
import struct
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import lz4.block
import numpy as np
import numpy.typing as npt
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from amudai import _kernels
from tests.effort import examples, some
from tests.encoding.runs import inflated
from tests.oracle import block as oracle_block
from tests.oracle import codec
from tests.oracle import presence as oracle_presence
from tests.oracle.common import ALL, FLOATS, INTEGERS, SIGNED, UNSIGNED, align8, size_of, unsigned

pytestmark = pytest.mark.native

Array = npt.NDArray[Any]

PLAIN, FL, FOR, FFOR, DELTA, RUNS, SINGLE = 1, 2, 3, 4, 5, 6, 7
T8, T16, T32, T64, ALP, ALPRD, DICTIONARY, ZSTD, LZ4, ZIGZAG, SPARSE = 8, 9, 10, 11, 12, 13, 14, 16, 17, 18, 19
RAW = 0
PATCHED, CHIMP, PCO, SNAPPY = 0x81, 0x82, 0x83, 0x84  # as programs name the codes from 0x8001 on
NAMES = _kernels.numeric_encodings()
SEARCH = (255, 255, 0)
OUTLIERS = (255, 255, 1)

quick = examples(30)


# What was written, as layouts.


class Section(NamedTuple):
    code: int
    dtype: str
    count: int
    at: int  # offset in the block
    data: bytes


def parts(found: Section) -> Iterator[Section]:
    """The sections inside a section. Raw parts are not sections."""
    code, dtype, count, at, data = found
    size = size_of(dtype)

    def nested(kind: str, n: int, start: int, end: int | None = None) -> Section:
        part = data[start:end]
        return Section(int.from_bytes(part[:2], "little"), kind, n, at + start, part)

    if code == FOR:
        yield nested(unsigned(dtype), count, align8(2 + size))
    elif code == DELTA:
        yield nested(dtype, count - 1, align8(2 + size))
    elif code in (T8, T16, T32, T64) and data[2]:
        yield nested({T8: "u1", T16: "u2", T32: "u4", T64: "u8"}[code], count, 8)
    elif code == ZIGZAG and data[2]:
        yield nested(unsigned(dtype), count, 8)
    elif code == RUNS:
        values_size, runs, values_nested, lengths_nested = struct.unpack_from("<IIBB", data, 2)
        if values_nested:
            yield nested(dtype, runs, 16, 16 + values_size)
        if lengths_nested:
            yield nested("u4", runs, 16 + align8(values_size))
    elif code == SPARSE:
        filled, positions_size, positions_nested, values_nested = struct.unpack_from("<IIBB", data, 2)
        if positions_nested:
            yield nested("u4", filled, 16, 16 + positions_size)
        if values_nested:
            yield nested(dtype, filled, 16 + align8(positions_size))
    elif code == ALP:
        (integers_size,) = struct.unpack_from("<I", data, 2)
        yield nested("i" + dtype[1], count, 16, 16 + integers_size)
    elif code == ALPRD:
        left_size, right_size, _, _, entries = struct.unpack_from("<IIHBB", data, 2)
        left_at = 16 + 2 * entries
        yield nested("u2", count, left_at, left_at + left_size)
        yield nested(unsigned(dtype), count, left_at + left_size, left_at + left_size + right_size)
    elif code == DICTIONARY:
        codes_size, entries, values_nested = struct.unpack_from("<IIB", data, 2)
        yield nested("u4", count, 16, 16 + codes_size)
        if values_nested:
            yield nested(dtype, entries, 16 + codes_size)


def walk(found: Section) -> Iterator[Section]:
    """A section and everything inside."""
    yield found
    for part in parts(found):
        yield from walk(part)


def forbidden(found: Section) -> str | None:
    """The property of this section that the reference's reader could not handle, if there is one."""
    code, dtype, count, at, data = found
    if count == 0:
        return "no values"
    if at % 8 and code in (FL, FFOR, RUNS, SPARSE):
        return "misaligned"
    if code in (FL, FFOR):
        width = data[2] if code == FL else data[2 + size_of(dtype)]
        header = 8 if code == FL else align8(3 + size_of(dtype))
        if not 1 <= width <= 8 * size_of(dtype):
            return f"width {width}"
        if len(data) != header + (count + 1023) // 1024 * 128 * width:
            return "packed bytes"
    if code == PLAIN and len(data) != 2 + count * size_of(dtype):
        return "plain bytes"
    if code == DELTA and count < 2:
        return "delta of one value"
    if code == ZIGZAG and not data[2] and dtype != "i1":
        return "raw zigzag"
    if code == ALPRD:
        left, right = parts(found)
        if left.code == RUNS:
            return "runs on the left"
        exceptions, width, entries = struct.unpack_from("<HBB", data, 10)
        if entries not in (4, 8) or not 8 * size_of(dtype) - 16 <= width < 8 * size_of(dtype):
            return "cut"
        if len(data) != 16 + 2 * entries + len(left.data) + len(right.data) + 6 * exceptions:
            return "tail"
    if code == DICTIONARY:
        codes_size, entries, nested = struct.unpack_from("<IIB", data, 2)
        # Readers skip zeros behind raw entries; a section inside another may need them.
        if not nested and data[16 + codes_size + entries * size_of(dtype) :] not in (bytes(n) for n in range(8)):
            return "entries"
    if code == ALP:
        (inner,) = parts(found)
        if len(data) != 16 + len(inner.data) + struct.unpack_from("<H", data, 6)[0] * (4 + size_of(dtype)):
            return "tail"
    return None


# Encoding and decoding.


def compress(leaves: list[tuple[int, str, bytes]]) -> list[bytes]:
    codecs: dict[int, Callable[[str, bytes], bytes]] = {
        ZSTD: lambda _, raw: zstandard.ZstdCompressor(level=3).compress(raw),
        LZ4: lambda _, raw: lz4.block.compress(raw, mode="high_compression", compression=4, store_size=False),
        0x8000 | PCO & 0x7F: lambda dtype, raw: codec.pco_compress(np.frombuffer(raw, dtype)),
        0x8000 | SNAPPY & 0x7F: lambda _, raw: codec.snappy_compress(raw),
    }
    return [codecs[code](dtype, raw) for code, dtype, raw in leaves]


def bits_of_array(values: Array) -> list[int]:
    """Integers as they are, floats as bit patterns: what the oracle speaks."""
    found: list[int] = (values.view("u" + values.dtype.str[2:]) if values.dtype.kind == "f" else values).tolist()
    return found


def filled(values: Array, present: npt.NDArray[np.bool_]) -> Array:
    """Nulls as the value before them, or the first after them, or zero."""
    result = values.copy()
    last = values[present][0] if present.any() else values.dtype.type(0)
    for i in range(len(values)):
        last = result[i] = values[i] if present[i] else last
    return result


class Encoded(NamedTuple):
    blocks: list[bytes]
    sections: list[Section]
    described: dict[str, int]

    @property
    def plan(self) -> str:
        (plan,) = self.described
        return plan


def opened(blocks: list[bytes], counts: list[int], checksums: bool = True) -> _kernels.Blocks:
    sizes = np.array([len(block) for block in blocks], np.uint64)
    starts = (np.cumsum(sizes) - sizes).astype(np.uint64)
    which, ordinals = np.zeros(len(blocks), np.uint32), np.arange(len(blocks), dtype=np.uint64)
    data = memoryview(b"".join(blocks))
    return _kernels.Blocks([data], which, starts, sizes, np.array(counts, np.uint64), ordinals, checksums, True)


def kernel_decode(blocks: list[bytes], counts: list[int], dtype: str, checksums: bool) -> tuple[Array, Array]:
    run = opened(blocks, counts, checksums)
    data = b"".join(blocks)
    frames = _kernels.numeric_frames(run, dtype)
    contents = [inflated(bytes(data[start:end]), size, name) for _, start, end, size, name in frames]
    run.add_inflated(frames, contents)
    total = sum(counts)
    out, validity = np.empty(total, dtype), np.zeros(total // 8 + 1, np.uint8)
    block, first = np.arange(len(blocks), dtype=np.uint32), np.zeros(len(blocks), np.uint32)
    _kernels.decode_numbers(run, block, first, np.array(counts, np.uint32), out, validity, 0)
    return out, np.unpackbits(validity, count=total, bitorder="little").astype(bool)


def encode(
    values: Array,
    program: bytes | list[int],
    *,
    block_values: int = 8192,
    present: npt.NDArray[np.bool_] | None = None,
    at: int = 0,
    checksums: bool = True,
    oracle: bool = True,
) -> Encoded:
    """Blocks of `values`, decoded and compared, their sections found sound."""
    program = bytes(program)
    dtype = values.dtype.str[1:]
    validity = None if present is None else np.packbits(np.concatenate((np.ones(at, bool), present)), bitorder="little")
    leaves = _kernels.codec_leaves(values, validity, at, program, block_values)
    data, sizes = _kernels.encode_numbers(values, validity, at, program, block_values, compress(leaves), checksums)
    assert sizes.dtype == np.uint32
    assert int(sizes.sum()) == len(data)
    if checksums and present is None and len(values) and not {ZSTD, LZ4, PCO, SNAPPY} & set(program):
        assert _kernels.encoded_sizes(values, [program, program], [block_values] * 2) == [int(sizes[0])] * 2
    ends = np.cumsum(sizes).tolist()
    blocks = [data[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    counts = [min(block_values, len(values) - start) for start in range(0, len(values), block_values)]
    assert len(blocks) == len(counts)
    assert all(len(block) % 8 == 0 for block in blocks)

    sections = []
    expected = values if present is None else values.copy()
    for i, (block, count) in enumerate(zip(blocks, counts, strict=True)):
        slots = slice(i * block_values, i * block_values + count)
        if present is not None:
            expected[slots] = filled(values[slots], present[slots])
        presence, section = oracle_block.open_block(block, checksums)
        start = 8 + align8(len(presence))
        top = Section(int.from_bytes(section[:2], "little"), dtype, count, start, section)
        for found in walk(top):
            assert forbidden(found) is None, f"{NAMES[found.code]} at {found.at}: {forbidden(found)}"
        sections.append(top)
        if oracle:
            decoded = oracle_block.decode_numeric(block, count, dtype, checksums)
            here = present[slots].tolist() if present is not None else [True] * count
            assert decoded == [v if p else None for v, p in zip(bits_of_array(values[slots]), here, strict=True)]
    out, found_present = kernel_decode(blocks, counts, dtype, checksums)
    assert out.tobytes() == expected.tobytes()
    assert found_present.all() if present is None else (found_present == present).all()
    return Encoded(blocks, sections, _kernels.describe_numbers(opened(blocks, counts, checksums), dtype))


# Values.

RANDOM = np.random.default_rng(7)
SIZES = [1, 2, 3, 1023, 1024, 1025, 2500]


def small(dtype: str, count: int = 2500) -> Array:
    """Values of a few bits, not all equal."""
    values = RANDOM.integers(1, 100, count)
    values[:2] = [1, 2]
    return (values / 4).astype(dtype) if dtype in FLOATS else values.astype(dtype)


def specials(dtype: str) -> Array:
    """What breaks arithmetic: ends of the range, signs of zero, NaNs with payloads."""
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        return np.array([info.min, info.max, 0, 1, info.max, info.min, info.max - 1, info.min + 1, 0], dtype)
    bits = np.dtype(unsigned(dtype))
    top = 1 << (8 * size_of(dtype) - 1)
    quiet = int(np.array([np.nan], dtype).view(bits)[0])
    nans = [quiet, quiet + 1, quiet | top, quiet + 12345, top - 1, 2 * top - 1, (quiet ^ quiet >> 1 & quiet) | 1]
    floats = np.array(
        [0.0, -0.0, math.inf, -math.inf, 1.5, -1.5, np.finfo(dtype).max, np.finfo(dtype).tiny, 5e-324], dtype
    )
    return np.concatenate((floats, np.array(nans, bits).view(dtype), floats[:2]))


def values_of(dtype: str) -> st.SearchStrategy[Array]:
    """Values of the whole range, of a few neighbours, of few that repeat, or in runs; specials among them."""
    kind = np.dtype(dtype)
    whole = npst.from_dtype(np.dtype(unsigned(dtype)))
    count = st.integers(1, 40) | st.sampled_from([1, 2, 64, 65, 1023, 1024, 1025])

    def of(elements: st.SearchStrategy[Any]) -> st.SearchStrategy[Array]:
        return count.flatmap(lambda n: npst.arrays(np.dtype(unsigned(dtype)), n, elements=elements, fill=st.nothing()))

    def drawn(pool: Array) -> st.SearchStrategy[Array]:
        bits = pool.view(unsigned(dtype))
        return st.tuples(count, st.integers(0, 2**32 - 1), st.booleans()).map(
            lambda spec: _picked(bits, *spec).view(kind)
        )

    near = small(dtype, 50)
    pools = [specials(dtype), near[:3], near, np.concatenate((near, specials(dtype)[:4]))]
    if dtype in SIGNED:
        pools.append((near.astype(np.int64) - 50).astype(dtype))
    few = st.integers(0, len(pools) - 1).flatmap(lambda i: drawn(pools[i]))
    return of(whole).map(lambda array: array.view(kind)) | few


def _picked(pool: Array, count: int, seed: int, runs: bool) -> Array:
    random = np.random.default_rng(seed)
    if not runs:
        return pool[random.integers(0, len(pool), count)]
    return np.repeat(pool[random.integers(0, len(pool), count)], random.integers(1, 9, count))[:count]


@cache
def programs(dtype: str, depth: int = 3, may_be_raw: bool = False, left: bool = False) -> st.SearchStrategy[list[int]]:
    """Any program that is legal for the type."""
    leaves = [[PLAIN], [SINGLE], [ZSTD], [LZ4], [SNAPPY]]
    if size_of(dtype) > 1:
        leaves.append([PCO])
    leaves.append([CHIMP] if dtype in FLOATS else [PATCHED])
    if may_be_raw:
        leaves.append([RAW])
    if dtype in UNSIGNED:
        leaves.append([FL])
    if dtype in INTEGERS:
        leaves.append([FFOR])
    choice: st.SearchStrategy[list[int]] = st.sampled_from(leaves)
    if depth == 0:
        return choice

    def below(kind: str, raw: bool = False, on_the_left: bool = False) -> st.SearchStrategy[list[int]]:
        return programs(kind, depth - 1, raw, on_the_left)

    def with_parts(code: list[int], *strategies: st.SearchStrategy[list[int]]) -> st.SearchStrategy[list[int]]:
        return st.tuples(*strategies).map(lambda found: sum(found, code))

    nested = [
        with_parts([DICTIONARY], below("u4"), below(dtype, True)),
        with_parts([SPARSE], below("u4", True), below(dtype, True)),
    ]
    if not left:
        nested.append(with_parts([RUNS], below(dtype, True), below("u4", True)))
    if dtype in INTEGERS:
        nested += [with_parts([FOR], below(unsigned(dtype))), with_parts([DELTA], below(dtype))]
    if dtype in SIGNED:
        nested.append(with_parts([ZIGZAG], below(unsigned(dtype), dtype == "i1")))
    if dtype in ("i2", "i4", "i8"):
        for code, target in zip((T8, T16, T32, T64), UNSIGNED, strict=True):
            if size_of(target) <= size_of(dtype):
                nested.append(with_parts([code], below(target, True)))
    if dtype in FLOATS:
        last = 10 if dtype == "f4" else 23
        pair = st.tuples(st.integers(0, last), st.integers(0, last), st.integers(0, 1)).map(list)
        parameters = st.sampled_from([list(SEARCH), list(OUTLIERS)]) | pair
        nested.append(with_parts([ALP], parameters, below("i" + dtype[1])))
        nested.append(with_parts([ALPRD], below("u2", False, True), below(unsigned(dtype))))
    return choice | st.one_of(nested)


# Every encoding, asserted.


class Forced(NamedTuple):
    program: list[int]
    plan: str
    values: Array


def forced() -> Iterator[Forced]:
    for dtype in ALL:
        near = small(dtype)
        runs = np.repeat(small(dtype, 500), RANDOM.integers(1, 9, 500))
        yield Forced([PLAIN], "plain", near)
        yield Forced([SINGLE], "single_value", near[:1].repeat(2000))
        yield Forced([RUNS, RAW, RAW], "run_length", runs)
        yield Forced([RUNS, PLAIN, FL], "run_length(plain, fl_bit_pack)", runs)
        yield Forced([DICTIONARY, FFOR, RAW], "block_dictionary(ffor)", near)
        yield Forced([DICTIONARY, FL, PLAIN], "block_dictionary(fl_bit_pack, plain)", near)
        yield Forced([SPARSE, RAW, RAW], "sparse", near * (RANDOM.random(2500) < 0.05).astype(dtype))
        yield Forced([SPARSE, FL, PLAIN], "sparse(fl_bit_pack, plain)", near)
        yield Forced([ZSTD], "zstd", near)
        yield Forced([LZ4], "lz4", runs)
        yield Forced([SNAPPY], "snappy", runs)
        if size_of(dtype) > 1:
            yield Forced([PCO], "pco", near)
            yield Forced([RUNS, PCO, FL], "run_length(pco, fl_bit_pack)", runs)
        if dtype in INTEGERS:
            yield Forced([FFOR], "ffor", near)
            yield Forced([PATCHED], "patched", near)
            yield Forced([DELTA, PATCHED], "delta(patched)", near)
            yield Forced([FOR, FL], "for(fl_bit_pack)", near)
            yield Forced([DELTA, FFOR], "delta(ffor)", near)
            yield Forced([DELTA, DICTIONARY, FFOR, RAW], "delta(block_dictionary(ffor))", near)
            sorted_entries = [DICTIONARY, FFOR, DELTA, DICTIONARY, FFOR, RAW]
            yield Forced(sorted_entries, "block_dictionary(ffor, delta(block_dictionary(ffor)))", near[near % 3 != 0])
        if dtype in UNSIGNED:
            yield Forced([FL], "fl_bit_pack", near)
        if dtype in SIGNED:
            signed = (near.astype(np.int64) - 50).astype(dtype)
            yield Forced([ZIGZAG, FL], "zig_zag(fl_bit_pack)", signed)
            if dtype != "i1":
                yield Forced([T8, RAW], "truncate_u8", signed)
                yield Forced([T8, FL], "truncate_u8(fl_bit_pack)", near)
                yield Forced([T16, ZSTD], "truncate_u16(zstd)", signed)
            else:
                yield Forced([ZIGZAG, RAW], "zig_zag", signed)
        if dtype in ("i4", "i8"):
            yield Forced([T32, RAW], "truncate_u32", near)
        if dtype == "i8":
            yield Forced([T64, DELTA, FFOR], "truncate_u64(delta(ffor))", near)
        if dtype in FLOATS:
            yield Forced([ALP, *SEARCH, FFOR], "alp(ffor)", near)
            yield Forced([ALP, *OUTLIERS, T8, FL], "alp(truncate_u16(fl_bit_pack))", near * 20)
            yield Forced([ALP, 2, 0, 0, FFOR], "alp(ffor)", near)
            real = RANDOM.random(2500).astype(dtype)
            yield Forced([CHIMP], "chimp", np.repeat(real, 2))
            yield Forced([ALPRD, FL, FL], "alprd(fl_bit_pack, fl_bit_pack)", real)
            yield Forced([ALPRD, PLAIN, PLAIN], "alprd(plain, plain)", real)


FORCED = list(forced())


@pytest.mark.parametrize("case", FORCED, ids=lambda case: f"{case.values.dtype.str[1:]}-{case.plan}")
def test_every_encoding_of_every_type(case: Forced) -> None:
    assert encode(case.values, case.program).described == {case.plan: 1}


@pytest.mark.slow
def test_every_encoding_is_forced_somewhere() -> None:
    codes = {found.code for case in FORCED for top in encode(case.values, case.program).sections for found in walk(top)}
    assert codes == set(NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ALL)
@examples(150)
@given(data=st.data())
def test_every_cascade_comes_back(dtype: str, data: st.DataObject) -> None:
    values = data.draw(values_of(dtype))
    program = data.draw(programs(dtype))
    present = None
    if data.draw(st.booleans()):
        present = np.array(data.draw(st.lists(st.booleans(), min_size=1, max_size=9)))
        present = np.resize(present, len(values))
    block_values = data.draw(st.sampled_from([max(1, len(values) // 3), 8192]))
    at = data.draw(st.integers(0, 70))
    checksums = data.draw(st.booleans())
    encode(values, program, block_values=block_values, present=present, at=at, checksums=checksums)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ALL)
def test_specials_survive_every_encoding(dtype: str) -> None:
    values = specials(dtype)
    for case in FORCED:
        if case.values.dtype.str[1:] == dtype:
            encode(values, case.program)
            encode(np.tile(values, 100), case.program)
            encode(np.concatenate((values, case.values)), case.program)


@pytest.mark.slow
@pytest.mark.parametrize("count", SIZES)
def test_sizes_around_a_chunk(count: int) -> None:
    for case in FORCED:
        if len(case.values) >= count:
            encoded = encode(case.values[:count], case.program)
            if count == 1:
                assert encoded.plan == "single_value"


@pytest.mark.parametrize("dtype", ["u1", "i4", "u8", "f8"])
def test_a_large_block(dtype: str) -> None:
    values = small(dtype, 65536 + 300)
    for case in FORCED:
        if case.values.dtype.str[1:] == dtype and case.program[0] not in (SINGLE, LZ4):
            assert len(encode(values, case.program, block_values=65536, oracle=False).blocks) == 2


def test_no_values_no_blocks() -> None:
    data, sizes = _kernels.encode_numbers(np.array([], np.int64), None, 0, bytes([FFOR]), 8192, None, True)
    assert data == b""
    assert sizes.tolist() == []


def test_without_checksums() -> None:
    encode(small("i8"), [FFOR], checksums=False, block_values=1000)


# What the encoders decide themselves.


@pytest.mark.parametrize("dtype", ALL)
def test_equal_values_are_single_whatever_the_program(dtype: str) -> None:
    for value in specials(dtype):
        for case in FORCED:
            if case.values.dtype.str[1:] == dtype:
                encoded = encode(np.full(70, value), case.program)
                assert encoded.plan == "single_value"


@pytest.mark.parametrize("dtype", FLOATS)
def test_zeros_of_either_sign_are_not_equal(dtype: str) -> None:
    zeros = np.array([0.0, -0.0] * 50, dtype)
    assert encode(zeros, [SINGLE]).plan == "plain"
    assert encode(zeros.repeat(5), [RUNS, RAW, RAW]).plan == "run_length(single_value)"
    dictionary = encode(zeros, [DICTIONARY, FFOR, RAW]).sections[0].data
    assert struct.unpack_from("<I", dictionary, 6) == (2,)
    nans = specials(dtype)[np.isnan(specials(dtype))]
    dictionary = encode(np.tile(nans, 20), [DICTIONARY, FFOR, RAW]).sections[0].data
    assert struct.unpack_from("<I", dictionary, 6) == (len(nans),)


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_differences_around_zero_wrap(dtype: str) -> None:
    steps = np.tile([3, -2, 1, 0, -3, 2], 500)
    values = (20 + np.cumsum(steps)).astype(dtype)
    encoded = encode(values, [DELTA, FFOR])
    (nested,) = parts(encoded.sections[0])
    size = size_of(dtype)
    assert nested.data[2 + size] == 3  # bits of -3 .. 3
    assert int.from_bytes(nested.data[2 : 2 + size], "little") == (1 << 8 * size) - 3


def test_a_frame_is_wrapped_only_where_that_is_narrower() -> None:
    across = np.array([2**63 - 1, 2**63, 2**63 + 5] * 10, np.uint64)
    data = encode(across, [FFOR]).sections[0].data
    assert int.from_bytes(data[2:10], "little") == 2**63 - 1
    assert data[10] == 3
    whole = np.array([0, 2**63, 2**64 - 1], np.uint64)
    assert encode(whole, [FFOR]).sections[0].data[10] == 64


def test_signed_spans_that_overflow_keep_a_reference_of_zero() -> None:
    # The reference adds without wrapping, and a debug build of it would stop.
    for dtype in SIGNED:
        data = encode(np.tile(specials(dtype), 10), [FOR, PLAIN]).sections[0].data
        assert int.from_bytes(data[2 : 2 + size_of(dtype)], "little") == 0
        data = encode(small(dtype), [FOR, PLAIN]).sections[0].data
        assert int.from_bytes(data[2 : 2 + size_of(dtype)], "little") == 1


@pytest.mark.parametrize(
    ("dtype", "largest", "program", "plan"),
    [
        ("i8", 127, [T8, RAW], "truncate_u8"),
        ("i8", 128, [T8, RAW], "truncate_u16"),
        ("i8", -129, [T8, FL], "truncate_u16(fl_bit_pack)"),
        ("i8", 40000, [T8, RAW], "truncate_u32"),
        ("i8", 2**40, [T8, RAW], "plain"),
        ("i8", 2**40, [T8, FL], "truncate_u64(fl_bit_pack)"),
        ("i8", 2**40, [T64, RAW], "truncate_u64"),
        ("i4", 40000, [T16, RAW], "plain"),
        ("i4", 40000, [T16, FL], "truncate_u32(fl_bit_pack)"),
        ("i2", 128, [T8, RAW], "plain"),
        ("i2", -128, [T8, RAW], "truncate_u8"),
    ],
)
def test_truncate_widens(dtype: str, largest: int, program: list[int], plan: str) -> None:
    assert encode(np.array([1, 2, largest] * 20, dtype), program).plan == plan


@pytest.mark.parametrize("dtype", FLOATS)
def test_hopeless_floats_stay_plain(dtype: str) -> None:
    random = np.frombuffer(np.random.default_rng(3).bytes(4000 * size_of(dtype)), dtype).copy()
    assert encode(random, [ALP, *SEARCH, FFOR]).plan == "plain"
    assert encode(random, [ALP, 3, 1, 1, FFOR]).plan == "plain"
    encode(random, [ALPRD, FL, FL])
    many = np.full(200_000, np.nan, dtype)
    many[:130_000] = np.arange(130_000) % 1000  # 70,000 exceptions are more than a section can count
    program = [ALP, 0, 0, 0, FFOR]
    assert encode(many, program, block_values=200_000, oracle=False).plan == "plain"
    assert encode(many[:195_000], program, block_values=200_000, oracle=False).plan == "alp(ffor)"


def alp_facts(encoded: Encoded) -> tuple[int, int, int, int]:
    """Exceptions, exponent, factor and the width of the integers."""
    data = encoded.sections[0].data
    exceptions, exponent, factor = struct.unpack_from("<HBB", data, 6)
    (integers,) = parts(encoded.sections[0])
    assert integers.code == FFOR
    return exceptions, exponent, factor, integers.data[2 + size_of(integers.dtype)]


def test_alp_finds_decimals() -> None:
    cents = encode(RANDOM.integers(0, 100_000, 5000) / 100, [ALP, *SEARCH, FFOR])
    exceptions, exponent, factor, width = alp_facts(cents)
    assert (exceptions, exponent - factor, width) == (0, 2, 17)
    whole = encode(RANDOM.integers(0, 1000, 5000).astype("f8"), [ALP, *SEARCH, FFOR])
    assert alp_facts(whole) == (0, 0, 0, 10)
    large = np.arange(4000) * 256.0 + 1.7e18  # beyond what the rounding trick holds
    exceptions, *_, width = alp_facts(encode(large, [ALP, *SEARCH, FFOR]))
    assert (exceptions, width) == (0, 20)


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize("dtype", FLOATS)
def test_alp_keeps_halves_of_large_numbers(dtype: str, sign: int) -> None:
    """Rounding must leave no half in numbers that nearly have no fractions any more, whatever their sign."""
    random = np.random.default_rng(3)
    last = {"f4": 23, "f8": 52}[dtype]
    for power in range(last - 3, last + 2):
        halves = sign * (random.integers(1 << power, 2 << power, 200) + 0.5)
        for exponent, factor in ((0, 0), (1, 1), (1, 0), (9, 8), SEARCH[:2]):
            values = (halves / 10.0 ** (exponent - factor)).astype(dtype)
            encode(values, [ALP, exponent, factor, 0, FFOR])  # which decodes and compares
            encode(values, [ALP, exponent, factor, 1, FFOR])


@pytest.mark.slow
@pytest.mark.parametrize("spoil", ["above", "below", "both", "all over"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_outliers_become_exceptions(dtype: str, spoil: str) -> None:
    random = np.random.default_rng(11)
    values = random.integers(500, 1500, 8192).astype(dtype)
    far = random.random(8192) < 0.004
    sign = {"above": np.ones(8192), "below": -np.ones(8192)}.get(spoil, random.choice([-1.0, 1.0], 8192))
    distance = 2 ** random.uniform(14, 20, 8192) if spoil == "all over" else np.full(8192, 1e6)
    values[far] = np.rint(sign * distance)[far]
    plain = encode(values, [ALP, 0, 0, 0, FFOR])
    moved = encode(values, [ALP, 0, 0, 1, FFOR])
    assert alp_facts(plain)[0] == 0
    assert alp_facts(plain)[3] >= 18
    assert alp_facts(moved)[3] == 10
    assert alp_facts(moved)[0] == far.sum()
    assert len(moved.blocks[0]) < len(plain.blocks[0])


def test_outliers_stay_where_moving_does_not_pay() -> None:
    values = np.random.default_rng(5).integers(0, 1 << 20, 8192).astype("f8")
    assert encode(values, [ALP, 0, 0, 1, FFOR]).blocks == encode(values, [ALP, 0, 0, 0, FFOR]).blocks
    mostly_zero = np.zeros(8192)
    mostly_zero[::100] = 7.25
    encoded = encode(mostly_zero, [ALP, 2, 0, 1, FFOR])
    assert encoded.plan == "alp(single_value)"


@quick
@given(
    dtype=st.sampled_from(FLOATS),
    widths=st.lists(st.integers(0, 22), min_size=1, max_size=4),
    seed=st.integers(0, 2**32 - 1),
    count=st.sampled_from([10, 1000, 1024, 5000]),
)
def test_moving_outliers_never_costs(dtype: str, widths: list[int], seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    spans = 2.0 ** np.array(widths)[random.integers(0, len(widths), count)]
    values = np.rint(random.uniform(-1, 1, count) * spans).astype(dtype)
    kept = encode(values, [ALP, 0, 0, 0, FFOR], oracle=False)
    moved = encode(values, [ALP, 0, 0, 1, FFOR], oracle=False)
    assert len(moved.blocks[0]) <= len(kept.blocks[0])


def test_alprd_pads_its_left_part() -> None:
    random = 1 + np.random.default_rng(5).random(3000)  # one exponent: all fronts are equal
    encoded = encode(random, [ALPRD, FL, FL])
    left, right = parts(encoded.sections[0])
    assert (left.code, len(left.data), left.data[4:]) == (SINGLE, 8, bytes(4))
    assert right.at % 8 == 0
    # A left part that ends anywhere becomes bit-packed where the right one minds.
    spread = np.random.default_rng(6).random(3001)
    assert encode(spread, [ALPRD, PLAIN, FL]).plan == "alprd(fl_bit_pack, fl_bit_pack)"
    assert encode(spread, [ALPRD, ZSTD, FFOR]).plan == "alprd(fl_bit_pack, ffor)"
    assert encode(spread, [ALPRD, ZSTD, PLAIN]).plan == "alprd(zstd, plain)"


def test_dictionary_entries_stay_raw_where_they_would_be_misaligned() -> None:
    values = small("i8", 2501) ** 2
    assert encode(values, [DICTIONARY, PLAIN, FFOR]).plan == "block_dictionary(plain)"
    assert encode(values, [DICTIONARY, FFOR, FFOR]).plan == "block_dictionary(ffor, ffor)"
    assert encode(values, [DICTIONARY, PLAIN, DELTA, FFOR]).plan == "block_dictionary(plain)"
    # How long compressed codes are is the compressor's matter: only then does a nested part stay aligned.
    compressed = encode(values, [DICTIONARY, ZSTD, RUNS, ZSTD, RAW])
    (codes_size,) = struct.unpack_from("<I", compressed.sections[0].data, 2)
    assert (compressed.plan == "block_dictionary(zstd)") == (codes_size % 8 != 0)
    ascending = np.arange(500).astype("i8")
    padded = encode(ascending, [DICTIONARY, DELTA, FL, FFOR])
    assert padded.plan == "block_dictionary(delta(single_value), ffor)"


def test_dictionary_entries_ascend_and_codes_begin_at_one() -> None:
    for dtype in ALL:
        values = specials(dtype)
        data = encode(np.tile(values, 30), [DICTIONARY, FFOR, RAW]).sections[0].data
        codes_size, count = struct.unpack_from("<II", data, 2)
        entries = np.frombuffer(data[16 + codes_size :], unsigned(dtype) if dtype in FLOATS else dtype)
        assert len(entries) == count
        assert (entries[:-1] < entries[1:]).all()
        assert struct.unpack_from("<I", data, 18) == (1,)  # the codes' reference


def test_raw_parts_that_are_all_equal_become_single() -> None:
    values = np.arange(1000).repeat(8).astype("u4")
    encoded = encode(values, [RUNS, RAW, RAW])
    assert encoded.plan == "run_length(single_value)"


# Codecs.


def test_small_and_incompressible_leaves_stay_plain() -> None:
    values = small("i8", 8)
    assert [raw for _, raw in _kernels.codec_leaves(values[:7], None, 0, bytes([ZSTD]), 100)] == []
    assert _kernels.codec_leaves(values, None, 0, bytes([LZ4]), 100) == [(LZ4, values.dtype.str[1:], values.tobytes())]
    noise = np.frombuffer(np.random.default_rng(1).bytes(8000), np.uint64)
    for code in (LZ4, ZSTD):
        assert encode(noise, [code]).plan == "plain"
        assert encode(values[:7], [code]).plan == "plain"
        assert encode(np.arange(8192).astype("u8"), [code]).plan == NAMES[code]


def test_leaves_come_in_order_over_all_blocks() -> None:
    values = np.repeat(np.arange(1000), 9).astype("i8")
    program = bytes([RUNS, DELTA, ZSTD, LZ4])
    leaves = _kernels.codec_leaves(values, None, 0, bytes([RUNS, ZSTD, LZ4]), 900)
    assert [code for code, _, _ in leaves] == [ZSTD] * 10  # the lengths are all equal
    assert np.frombuffer(leaves[3][2], "i8").tolist() == list(range(300, 400))
    assert _kernels.codec_leaves(values, None, 0, program, 900) == []  # so are the differences
    assert _kernels.codec_leaves(values, None, 0, bytes([FFOR]), 900) == []


def test_leaves_must_be_supplied() -> None:
    values = np.arange(1000)
    with pytest.raises(ValueError, match="found None"):
        _kernels.encode_numbers(values, None, 0, bytes([DELTA, ZSTD]), 8192, None, True)
    with pytest.raises(ValueError, match="fewer"):
        _kernels.encode_numbers(values, None, 0, bytes([ZSTD]), 100, [b"x"] * 9, True)
    with pytest.raises(ValueError, match="more"):
        _kernels.encode_numbers(values, None, 0, bytes([ZSTD]), 100, [b"x"] * 11, True)
    with pytest.raises(ValueError, match="more"):
        _kernels.encode_numbers(values, None, 0, bytes([FFOR]), 100, [b"x"], True)


# Programs that are none.


@pytest.mark.parametrize(
    ("dtype", "program", "message"),
    [
        ("i8", [], "ends before"),
        ("i8", [RAW], "cannot be raw"),
        ("i8", [FFOR, PLAIN], "1 bytes behind"),
        ("i8", [DELTA], "ends before"),
        ("i8", [DELTA, RAW], "cannot be raw"),
        ("i8", [FL], "code 2"),
        ("u8", [T8, RAW], "code 8"),
        ("i4", [T64, RAW], "code 11"),
        ("i1", [T8, RAW], "code 8"),
        ("i8", [ZIGZAG, RAW], "cannot be raw"),
        ("i8", [15], "code 15"),
        ("i8", [99], "code 99"),
        ("f8", [FFOR], "code 4"),
        ("f8", [ALP, 24, 0, 0, FFOR], "up to 23"),
        ("f4", [ALP, 11, 0, 0, FFOR], "up to 10"),
        ("f8", [ALP, 255, 3, 0, FFOR], "up to 23"),
        ("f8", [ALP, 3, 3, 2, FFOR], "0 or 1"),
        ("f8", [ALP, 3, 3, 0, RAW], "cannot be raw"),
        ("f8", [ALPRD, RUNS, RAW, RAW, FL], "left part"),
        ("f8", [ALPRD, FL], "ends before"),
        ("i8", [DICTIONARY, RAW, RAW], "cannot be raw"),
        ("i8", [DELTA] * 16 + [PLAIN], "deep"),
    ],
)
def test_bad_programs_are_refused(dtype: str, program: list[int], message: str) -> None:
    values = np.arange(10).astype(dtype)
    with pytest.raises(ValueError, match=message):
        _kernels.encode_numbers(values, None, 0, bytes(program), 8192, None, True)
    with pytest.raises(ValueError, match=message):
        _kernels.codec_leaves(values, None, 0, bytes(program), 8192)


def test_bad_arguments_are_refused() -> None:
    values = np.arange(100)
    for block_values in (0, 1 << 25):
        with pytest.raises(ValueError, match="block_values"):
            _kernels.encode_numbers(values, None, 0, bytes([PLAIN]), block_values, None, True)
    with pytest.raises(ValueError, match="validity"):
        _kernels.encode_numbers(values, np.zeros(12, np.uint8), 0, bytes([PLAIN]), 100, None, True)
    with pytest.raises(ValueError, match="validity"):
        _kernels.encode_numbers(values, np.zeros(13, np.uint8), 5, bytes([PLAIN]), 100, None, True)
    with pytest.raises(TypeError):
        _kernels.encode_numbers(values[::2], None, 0, bytes([PLAIN]), 100, None, True)
    with pytest.raises(TypeError):
        _kernels.encode_numbers(values.astype(bool), None, 0, bytes([PLAIN]), 100, None, True)
    frozen = values.copy()
    frozen.flags.writeable = False
    encode(frozen, [PLAIN])


# Presence.


def null_patterns(count: int) -> dict[str, npt.NDArray[np.bool_]]:
    random = np.random.default_rng(count)
    some = {f"{share} null": random.random(count) >= share for share in (0.001, 0.04, 0.3, 0.5, 0.7, 0.96, 0.999)}
    slots = np.arange(count)
    return some | {
        "none": slots >= 0,
        "all": slots < 0,
        "first": slots > 0,
        "last": slots < count - 1,
        "only first": slots == 0,
        "only last": slots == count - 1,
        "alternating": slots % 2 == 0,
        "halves": slots < count // 2,
        "middle": (slots < count // 3) | (slots > count // 2),
        "stripes": slots // 100 % 2 == 0,
    }


def presence_sizes(present: npt.NDArray[np.bool_]) -> list[int]:
    """Bytes of every form, by the format's own arithmetic, for up to 65,536 slots."""
    count, sizes = len(present), [1 + len(present)]
    for listed in (present, ~present):
        cardinality = int(listed.sum())
        runs = int(listed[0]) + int((listed[1:] & ~listed[:-1]).sum())
        if cardinality <= 4096:
            sizes.append(18 + 2 * cardinality)
        elif count > 32768:
            sizes.append(18 + 8192)
        if 2 + 4 * runs < (2 * cardinality if cardinality <= 4096 else 8192):
            sizes.append(13 + 4 * runs)
    return sizes


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 7, 64, 65, 1000, 8192, 9000, 32768, 40000, 65536])
def test_presence_is_the_smallest(count: int) -> None:
    for name, present in null_patterns(count).items():
        for at in (0, 3):
            bits = np.packbits(np.concatenate((np.zeros(at, bool), present)), bitorder="little")
            section = _kernels.presence_section(bits, at, count)
            assert oracle_presence.decode(section, count) == present.tolist(), name
            if present.all():
                assert section == b""
            elif not present.any():
                assert section == b"\1"
            else:
                assert len(section) == min(presence_sizes(present)), name


@pytest.mark.slow
def test_presence_of_several_containers() -> None:
    for count in (65537, 200_000):
        for name, present in null_patterns(count).items():
            section = _kernels.presence_section(np.packbits(present, bitorder="little"), 0, count)
            assert oracle_presence.decode(section, count) == present.tolist(), name
            assert len(section) < 8300 * (count // 65536 + 1), name
    mixed = np.ones(400_000, bool)
    mixed[[5, 70_000, 70_002]] = False  # arrays,
    mixed[140_000:160_000:2] = False  # a bitmap,
    mixed[200_000:250_000] = False  # runs,
    mixed[270_000:280_000] = False
    section = _kernels.presence_section(np.packbits(mixed, bitorder="little"), 0, len(mixed))
    assert oracle_presence.decode(section, len(mixed)) == mixed.tolist()
    assert section[:4] == bytes([3, 1]) + (12347).to_bytes(2, "little")


@pytest.mark.parametrize("dtype", ["u1", "i8", "f4"])
@pytest.mark.parametrize("count", [1, 70, 3000])
def test_nulls_take_the_value_before_them(dtype: str, count: int) -> None:
    values = np.resize(specials(dtype), count)
    for present in null_patterns(count).values():
        for at in (0, 5):
            encode(values, [PLAIN], present=present, at=at, block_values=1000)


def test_nulls_do_not_spoil_the_frame() -> None:
    values = np.full(2000, 2**40)
    present = np.arange(2000) % 3 > 0
    values[present] = np.arange(present.sum()) % 7
    assert encode(values, [FFOR], present=present).sections[0].data[10] == 3


@given(presence=st.binary(max_size=30), values=st.binary(max_size=30), checksums=st.booleans())
def test_blocks_are_built_as_the_oracle_builds_them(presence: bytes, values: bytes, checksums: bool) -> None:
    assert _kernels.build_block(presence, values, checksums) == oracle_block.build(presence, values, checksums)


# Analysis.


def analyzed(values: Array, present: npt.NDArray[np.bool_] | None = None) -> dict[str, object]:
    """The same facts, in Python."""
    stored = values if present is None else filled(values, present)
    bits = bits_of_array(stored)
    numbers: list[Any] = stored.tolist()
    ordered = [number for number in numbers if number == number]
    deltas = [after - before for before, after in pairwise(numbers)]
    integers = values.dtype.kind != "f"
    distinct = len(set(bits))
    return {
        "count": len(values),
        "nulls": 0 if present is None else int((~present).sum()),
        "min": min(ordered, default=None),
        "max": max(ordered, default=None),
        "delta_min": min(deltas, default=None) if integers else None,
        "delta_max": max(deltas, default=None) if integers else None,
        "runs": sum(before != after for before, after in pairwise(bits)) + (len(bits) > 0),
        "distinct": distinct if distinct <= 4096 else 4097,
        "gcd": math.gcd(*(number - numbers[0] for number in numbers)) if integers else None,
    }


@pytest.mark.parametrize("dtype", ALL)
@quick
@given(data=st.data())
def test_analysis_is_exact(dtype: str, data: st.DataObject) -> None:
    values = data.draw(values_of(dtype))
    assert _kernels.analyze_numbers(values, None, 0) == analyzed(values)
    present = np.resize(np.array(data.draw(st.lists(st.booleans(), min_size=1, max_size=9))), len(values))
    bits = np.packbits(np.concatenate(([True] * 3, present)), bitorder="little")
    assert _kernels.analyze_numbers(values, bits, 3) == analyzed(values, present)


LARGE: dict[str, Callable[[npt.NDArray[np.int64]], Array]] = {
    "sorted": lambda n: np.cumsum(n % 1000).astype("i8"),
    "few": lambda n: (n % 4096).astype("u4"),
    "one more": lambda n: (n % 4097).astype("u4"),
    "many": lambda n: n.astype("i4"),
    "dates": lambda n: (n % 2500 * 864_000_000_000 + 77).astype("u8"),
    "multiples": lambda n: (n % 300 * 48 - 1000).astype("i2"),
    "bytes": lambda n: (n // 3 % 251).astype("u1"),
    "decimals": lambda n: (n % 999 / 100).astype("f4"),
    "jumps": lambda n: np.where(n % 2500, n, -(2**63)).astype("i8"),
    "unsigned jumps": lambda n: np.where(n % 2500, n.astype("u8") + np.uint64(2**63), n.astype("u8")),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("count", some([2047, 2048, 2049, 4095, 10_000], 1))
def test_analysis_of_many_values(name: str, count: int) -> None:
    values = LARGE[name](np.random.default_rng(count).integers(0, 1 << 20, count, dtype=np.int64))
    assert _kernels.analyze_numbers(values, None, 0) == analyzed(values)
    for present in null_patterns(count).values():
        bits = np.packbits(present, bitorder="little")
        assert _kernels.analyze_numbers(values, bits, 0) == analyzed(values, present)


def test_analysis_of_nothing() -> None:
    facts = _kernels.analyze_numbers(np.array([], np.int16), None, 0)
    assert facts["count"] == facts["runs"] == facts["distinct"] == facts["gcd"] == 0
    assert facts["min"] is facts["max"] is facts["delta_min"] is None
    assert _kernels.analyze_numbers(np.full(3, np.nan), None, 0)["max"] is None
