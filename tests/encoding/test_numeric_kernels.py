"""Do the kernels read every numeric encoding as the oracle does?"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from random import Random
from typing import Any
from zlib import crc32

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from amudai import encoding as package
from amudai.encoding import NUMERIC
from amudai.encoding.numeric.contract import NumericEncoding
from amudai.errors import CorruptedData, UnsupportedFeature
from amudai.rows import Rows
from tests import effort
from tests.encoding import cascades, runs
from tests.encoding.checks import check_numbers, compare_numbers, described_numbers
from tests.encoding.runs import Block
from tests.oracle import block, examples, presence, section
from tests.oracle.common import ALL, FLOATS, UNSIGNED, Encoder, bits_of, make_header, pack, unsigned, wrap
from tests.oracle.numeric import (
    alprd,
    block_dictionary,
    delta,
    ffor,
    fl_bit_pack,
    frame_of_reference,
    plain,
    run_length,
    single_value,
    sparse,
    zstd,
)

pytestmark = pytest.mark.native

SIZES = [1, 2, 255, 1023, 1024, 1025, 2048, 3000]
CASES = [
    pytest.param(encoding, dtype, id=f"{encoding.name}-{dtype}")
    for encoding in NUMERIC
    for dtype in sorted(encoding.accepts)
]

# ---- the battery ----


def test_every_encoding_has_an_oracle_and_an_encoder() -> None:
    assert set(cascades.ENCODERS) == {encoding.name for encoding in NUMERIC}
    assert set(section.CATALOG) == {encoding.code for encoding in NUMERIC}
    for encoding in NUMERIC:
        oracle = section.CATALOG[encoding.code]
        assert encoding.accepts <= set(oracle.TYPES), encoding.name
        if encoding.name not in cascades.TRUNCATED:
            assert encoding.accepts == set(oracle.TYPES), encoding.name


@pytest.mark.slow
@pytest.mark.parametrize(("encoding", "dtype"), CASES)
def test_kernel_and_oracle_agree(encoding: NumericEncoding, dtype: str) -> None:
    seed = crc32(f"{encoding.name} {dtype}".encode())
    rng, random = np.random.default_rng(seed), Random(seed)
    blocks, names = [], []
    for turn, count in enumerate(effort.some(SIZES, seed)):
        values = cascades.shaped(rng, count, dtype, encoding.name, seed + turn)
        data, name = cascades.encode(random, values, dtype, random.randint(2, cascades.MAX_DEPTH), encoding.name)
        kind = runs.PRESENCE[(seed + turn) % len(runs.PRESENCE)]
        part, present = runs.presence_of(kind, count, rng)
        blocks.append(Block(block.build(part, data), count))
        names.append(name)
        stored = block.decode_numeric(blocks[-1].data, count, dtype)
        assert stored == [value if here else None for value, here in zip(values, present, strict=True)]
    for found in described_numbers(blocks, dtype):
        assert found == Counter(names)
    check_numbers(blocks, dtype, seed)


def arrays(dtype: str, name: str) -> st.SearchStrategy[list[int]]:
    """Any values that the encoding can hold, floats as bit patterns."""
    size = st.sampled_from([1, 2, 3, 40, 255, 1025])
    if name == "single_value":
        one = npst.arrays(unsigned(dtype), 1)
        return st.tuples(one, size).map(lambda drawn: [wrap(int(drawn[0][0]), dtype)] * drawn[1])
    kind = cascades.TRUNCATED.get(name, dtype)
    if dtype not in FLOATS:
        return npst.arrays(kind, size).map(lambda array: array.tolist())
    drawn = npst.arrays(dtype, size) | npst.arrays(unsigned(dtype), size)
    return drawn.map(lambda array: array.view(unsigned(dtype)).tolist())


@pytest.mark.slow
@pytest.mark.parametrize(("encoding", "dtype"), CASES)
@effort.examples(6)
@given(data=st.data())
def test_any_values_and_any_cascade(encoding: NumericEncoding, dtype: str, data: st.DataObject) -> None:
    blocks = []
    for _ in range(data.draw(st.integers(1, 2))):
        values = data.draw(arrays(dtype, encoding.name).filter(lambda values: cascades.fits(encoding.name, values)))
        seed, depth = data.draw(st.integers(0, 1 << 30)), data.draw(st.integers(2, cascades.MAX_DEPTH))
        encoded, _ = cascades.encode(Random(seed), values, dtype, depth, encoding.name)
        kind = data.draw(st.sampled_from(runs.PRESENCE))
        part, _ = runs.presence_of(kind, len(values), np.random.default_rng(seed))
        blocks.append(Block(block.build(part, encoded), len(values)))
    check_numbers(blocks, dtype, data.draw(st.integers(0, 1 << 30)))


# ---- what the battery does not reach ----


@pytest.mark.slow
@pytest.mark.parametrize("dtype", UNSIGNED)
def test_every_bit_width(dtype: str) -> None:
    rng = np.random.default_rng(len(dtype))
    blocks = []
    for width in range(1, bits_of(dtype) + 1):
        values = [int(value) % (1 << width) for value in np.frombuffer(rng.bytes(8 * 1030), "u8")]
        packed = fl_bit_pack.encode(values, dtype, width)
        reference = int(rng.integers(0, 1 << bits_of(dtype), dtype=np.uint64, endpoint=False)) if width % 2 else 1
        distances = [wrap(value + reference, dtype) for value in values]
        framed = ffor.encode(distances, dtype, reference, width)
        blocks += [Block(block.build(b"", packed), 1030), Block(block.build(b"", framed), 1030)]
    check_numbers(blocks, dtype, 7)


@pytest.mark.parametrize("example", examples.SECTIONS, ids=lambda example: example.name)
def test_published_sections(example: examples.Example) -> None:
    data = bytes.fromhex(example.dump)
    check_numbers([Block(block.build(b"", data), len(example.values))], example.dtype, 1)


@pytest.mark.parametrize("example", examples.NUMERIC_BLOCKS, ids=lambda example: example.name)
def test_published_blocks(example: examples.NumericBlock) -> None:
    data = bytes.fromhex(example.dump)
    check_numbers([Block(data, len(example.values))] * 3, example.dtype, 2)


def test_blocks_without_checksums() -> None:
    values = list(range(100))
    blocks = [Block(block.build(b"", plain.encode(values, "i4"), checksums=False), 100)] * 2
    check_numbers(blocks, "i4", 3, checksums=False)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["negated", "direct"])
@pytest.mark.parametrize("containers", ["bitmap", "several", "runs", "many runs", "empty"])
def test_roaring_containers_of_every_kind(kind: str, containers: str) -> None:
    rng = np.random.default_rng(5)
    count = {"bitmap": 12_000, "several": 135_000, "runs": 70_000, "many runs": 140_000, "empty": 500}[containers]
    if containers == "bitmap":
        listed = rng.random(count) < 0.6
    elif containers == "several":  # a bitmap, an array and a container that is full
        listed = np.concatenate([rng.random(65536) < 0.5, rng.random(65536) < 0.01, np.ones(count - 131072, np.bool_)])
    else:
        listed = np.arange(count) // 1000 % 2 == 0
        listed &= containers != "empty"
    negated = kind == "negated"
    present = (listed != negated).tolist()
    part = presence.encode(present, presence.ROARING, negated, "runs" in containers)
    small = Block(block.build(presence.encode([True, False, True]), plain.encode([1, 2, 3], "u2")), 3)
    blocks = [small, Block(block.build(part, single_value.encode([9] * count, "u2")), count), small]
    check_numbers(blocks, "u2", 6)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("entries", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize(
    ("nested", "inner"),
    [
        (None, ""),
        (plain.encode, "(plain)"),
        (fl_bit_pack.encode, "(fl_bit_pack)"),
        (zstd.encode, "(zstd)"),
        (functools.partial(frame_of_reference.encode, nested=ffor.encode), "(for(ffor))"),
    ],
    ids=["raw", "plain", "fl_bit_pack", "zstd", "for"],
)
@pytest.mark.parametrize("by_block", [False, True], ids=["by the section", "by the block"])
def test_run_lengths_padded_by_the_block(
    dtype: str, entries: int, nested: Encoder | None, inner: str, by_block: bool
) -> None:
    right_bits = bits_of(dtype) - 8
    values = [(i // 7 % entries) << right_bits | i for i in range(200)]
    offset = 8 + 16 + 2 * entries
    left = functools.partial(run_length.encode, nested_lengths=nested, padded_for=offset if by_block else 0)
    data = alprd.encode(values, dtype, right_bits, left, plain.encode, list(range(entries)))
    blocks = [Block(block.build(b"", data), 200)] * 2
    check_numbers(blocks, dtype, 8)
    for found in described_numbers(blocks, dtype):
        assert found == {f"alprd(run_length{inner}, plain)": 2}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["u1", "i1"])
@pytest.mark.parametrize("width", [1, 3, 7, 8])
def test_frames_and_ranges_that_go_around_the_end_of_their_type(dtype: str, width: int) -> None:
    limits = np.iinfo(dtype)
    ends = sorted({*range(limits.min, limits.max, 19), limits.min + 1, -1, 0, 1, limits.max - 1, limits.max})
    ends = [end for end in ends if end >= limits.min]
    for reference in effort.some((0, 1, 100, 126, 127, 128, 129, 200, 254, 255), width):
        reference = wrap(reference, dtype)
        values = [wrap(reference + distance, dtype) for distance in range(1 << width)]
        data = ffor.encode(values, dtype, reference, width)
        opened = runs.open_all([Block(block.build(b"", data), len(values))])
        for low, high in itertools.combinations_with_replacement(ends, 2):
            wanted = package.NumberRanges(np.array([low], dtype), np.array([high], dtype))
            expected = [low <= value <= high for value in values]
            for run in opened:
                assert compare_numbers(run, [(0, len(values))], wanted, False, 0).tolist() == expected, (low, high)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ALL)
def test_null_codes_and_absent_positions_are_zero(dtype: str) -> None:
    values, present = [5, 6, 5, 7, 7] * 30, [True, False, True, True, False] * 30
    dictionary = block_dictionary.encode(values, dtype, fl_bit_pack.encode, plain.encode, present)
    positions = sparse.encode(values, dtype, plain.encode, None, present)
    expected = [value if here else 0 for value, here in zip(values, present, strict=True)]
    for data in (dictionary, positions, sparse.encode([0] * 150, dtype, plain.encode, plain.encode)):
        blocks = [Block(block.build(b"", data), 150)]
        check_numbers(blocks, dtype, 9)
    assert block.decode_numeric(block.build(b"", dictionary), 150, dtype) == expected


FRAMES = {
    "without size": lambda data: zstandard.ZstdCompressor(write_content_size=False).compress(data),
    "with size": lambda data: zstandard.ZstdCompressor(write_content_size=True).compress(data),
    "with checksum": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
    "128 MiB window": lambda data: _windowed(data),
    "two frames": lambda data: zstandard.compress(data[:100]) + zstandard.compress(data[100:]),
    "frames without sizes": lambda data: b"".join(_stream(data[at : at + 70]) for at in range(0, len(data), 70)),
    "an empty frame first": lambda data: zstandard.compress(b"") + zstandard.compress(data),
}


def _stream(data: bytes) -> bytes:
    compressor = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    return compressor.compress(data) + compressor.flush()


def _windowed(data: bytes) -> bytes:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=False)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return compressor.compress(data) + compressor.flush()


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_of_every_kind(frame: str) -> None:
    values = [i * 7 % 91 for i in range(500)]

    def encode(values: list[int], dtype: str) -> bytes:
        return make_header(zstd.CODE, zstd.FIELDS) + FRAMES[frame](pack(values, dtype))

    direct = block.build(b"", encode(values, "i4"))
    nested = block.build(b"", delta.encode(values, "i4", lambda v, t: frame_of_reference.encode(v, t, encode)))
    check_numbers([Block(direct, 500), Block(nested, 500)], "i4", 10)


@pytest.mark.parametrize(
    "damage",
    [
        lambda frame: frame[:-1],
        lambda frame: frame + b"\0",
        lambda frame: frame + zstandard.compress(b"more"),
        lambda frame: zstandard.compress(b"x" * 399),
        lambda frame: _stream(b"x" * 401),
        lambda frame: b"",
        lambda frame: b"no frame",
    ],
)
def test_frames_that_hold_something_else_are_refused(damage: Any) -> None:
    frame = make_header(zstd.CODE, zstd.FIELDS) + damage(zstandard.compress(b"x" * 400))
    with pytest.raises(CorruptedData):
        package.decode_numbers(runs.buffer_of([Block(block.build(b"", frame), 100)]), Rows.one(0, 100), "u4")


def test_nesting_has_an_end() -> None:
    encoder: Encoder = plain.encode
    for _ in range(15):
        encoder = functools.partial(frame_of_reference.encode, nested=encoder, reference=1)
    blocks = [Block(block.build(b"", encoder([20, 30, 40], "i8")), 3)]
    check_numbers(blocks, "i8", 11)
    deep = plain.encode([20, 30, 40], "u8")
    for _ in range(5000):
        deep = make_header(frame_of_reference.CODE, "Q", 1) + deep
    for read in (package.decode_numbers, lambda buffer, _, dtype: package.describe_numbers(buffer, dtype)):
        with pytest.raises(CorruptedData, match="nested"):
            read(runs.buffer_of([Block(block.build(b"", deep), 3)]), Rows.one(0, 3), "i8")


def test_errors_name_the_block() -> None:
    good = Block(block.build(b"", plain.encode([1, 2, 3], "u4")), 3)
    for code, error in ((99, UnsupportedFeature), (15, UnsupportedFeature), (12, CorruptedData)):
        bad = Block(block.build(b"", make_header(code, "IHBB", 0, 0, 0, 0)), 3)
        with pytest.raises(error, match=f"encoding code {code}") as caught:
            package.decode_numbers(runs.buffer_of([good, good, bad]), Rows.one(0, 9), "u4")
        assert caught.value.place["block"] == 2


def test_nulls_where_none_may_be() -> None:
    some = Block(block.build(presence.encode([True, False, True]), plain.encode([1, 2, 3], "u4")), 3)
    none = Block(block.build(presence.encode([True] * 3, presence.PLAIN), plain.encode([1, 2, 3], "u4")), 3)
    whole = Rows.one(0, 3)
    found = package.decode_numbers(runs.buffer_of([none]), whole, "u4", nullable=False)
    assert (found.nulls, found.numbers("u4").tolist()) == (0, [1, 2, 3])
    with pytest.raises(CorruptedData, match="expected no nulls"):
        package.decode_numbers(runs.buffer_of([some]), whole, "u4", nullable=False)


def test_nothing_asked_for() -> None:
    buffer = runs.buffer_of([Block(block.build(b"", plain.encode([1, 2, 3], "u4")), 3)])
    found = package.decode_numbers(buffer, Rows.one(2, 2), "u4")
    assert (found.length, found.nulls, found.numbers("u4").tolist()) == (0, 0, [])
