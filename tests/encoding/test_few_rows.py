"""Are few rows of a compressed block, read without those before them, what the whole block holds?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from amudai import _kernels
from amudai.errors import CorruptedData, UnsupportedFeature
from amudai.rows import Rows
from tests import effort
from tests.damage.blocks import EDITS, Edit, Held, binaries, edited, examples
from tests.oracle import block, codec
from tests.oracle.binary import fsst, lz4, zstd
from tests.oracle.common import align8, header_size, make_header, pad8

pytestmark = pytest.mark.native

WORDS = [
    b"GET ",
    b"POST ",
    b"/api/v1/orders ",
    b"timeout ",
    b"retry ",
    b"session=",
    b"200 ",
    b"503 ",
    b"upstream closed ",
]


def logs(random: Random) -> list[bytes]:
    """Many short matches, few literals."""
    return [b"".join(random.choices(WORDS, k=random.randrange(1, 12))) for _ in range(1500)]


def noise(random: Random) -> list[bytes]:
    """Literals whose number takes several bytes."""
    return [random.randbytes(random.choice([0, 30, 700])) + b"=" * 8 for _ in range(300)]


def repeats(random: Random) -> list[bytes]:
    """Matches whose length takes several bytes, at all distances."""
    return [random.randbytes(random.randrange(1, 20)) * random.randrange(1, 90) for _ in range(300)]


def one_letter(random: Random) -> list[bytes]:
    """A single match that copies itself."""
    return [b"a" * random.choice([0, 1, 400]) for _ in range(300)]


def mixed(random: Random) -> list[bytes]:
    parts = [logs(random), noise(random), repeats(random), one_letter(random)]
    return [value for values in zip(*parts, strict=False) for value in values]


SHAPES: dict[str, Callable[[Random], list[bytes]]] = {
    shape.__name__: shape for shape in (logs, noise, repeats, one_letter, mixed)
}


def lz4_region(stream: bytes, values: list[bytes], size: int | None = None) -> bytes:
    """A region around an LZ4 block that somebody else made."""
    payload = (sum(map(len, values)) if size is None else size).to_bytes(4, "little") + stream
    offsets = np.cumsum([0, *map(len, values)], dtype=np.uint64).tobytes()
    return make_header(lz4.CODE, lz4.FIELDS, len(payload), 8, False) + pad8(payload) + offsets


def rows_of(held: Held, rows: list[int]) -> list[bytes | None]:
    return binaries(held, Rows.of_positions(np.array(rows, np.uint64)), None)


@pytest.mark.slow
@pytest.mark.parametrize("encode", [lz4.encode, fsst.encode, zstd.encode], ids=["lz4", "fsst", "zstd"])
@pytest.mark.parametrize("shape", SHAPES)
def test_scattered_rows(shape: str, encode: Callable[[list[bytes]], bytes]) -> None:
    random = Random(shape)
    values = SHAPES[shape](random)
    if encode is fsst.encode:
        values = values[: len(values) // 5]  # the oracle takes seconds for all
    held = Held((len(values), block.build(b"", encode(values))))
    assert rows_of(held, list(range(len(values)))) == values
    for count in [1] * effort.scaled(60) + [2, 3, 5, 9, len(values) // 3] * effort.scaled(8):
        rows = sorted(random.sample(range(len(values)), count))
        assert rows_of(held, rows) == [values[row] for row in rows]
    for row in (0, len(values) - 2, len(values) - 1):
        assert rows_of(held, [row]) == [values[row]]


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["logs", "repeats"])
def test_scattered_values_of_one_size(shape: str) -> None:
    random = Random(7)
    text = b"".join(SHAPES[shape](random))
    everything = [text[at : at + 16] for at in range(0, len(text) - 16, 16)]
    for encode, values in ((lz4.encode, everything), (fsst.encode, everything[: len(everything) // 5])):
        held = Held((len(values), block.build(b"", encode(values, 16))))
        for count in (1, 1, 1, 2, 3, 7):
            rows = sorted(random.sample(range(len(values)), count))
            found = binaries(held, Rows.of_positions(np.array(rows, np.uint64)), 16)
            assert found == [values[row] for row in rows]


def sequence(literals: bytes, distance: int, length: int) -> bytes:
    """A sequence of an LZ4 block: some bytes, and a match of those that lie `distance` before its place."""

    def more(rest: int) -> bytes:
        return b"" if rest < 0 else b"\xff" * (rest // 255) + bytes([rest % 255])

    token = min(len(literals), 15) << 4 | min(length - 4, 15)
    tail = distance.to_bytes(2, "little") + more(length - 4 - 15)
    return bytes([token]) + more(len(literals) - 15) + literals + tail


@pytest.mark.parametrize("distance", [*range(1, 36), 63, 64, 1000])
def test_matches_at_any_distance(distance: int) -> None:
    random = Random(distance)
    stream = sequence(random.randbytes(1000), distance, 20)
    size = 1020
    for length in [*range(4, 40), 63, 64, 65, 95, 96, 97, 127, 128, 129, 272, 273, 274, 600]:
        literals = random.randbytes(random.choice([0, 1, 14, 15, 16, 63, 64, 65, 300]))
        stream += sequence(literals, distance, length)
        size += len(literals) + length
    stream += bytes([0xC0]) + b"the end of i"
    size += 12
    text = codec.lz4_decompress(size.to_bytes(4, "little") + stream, size)
    values = [text[at : at + 37] for at in range(0, len(text), 37)]
    held = Held((len(values), block.build(b"", lz4_region(stream, values))))
    # A read of the first rows decodes only the sequences before their end.
    for count in (1, 30, len(values) - 1, len(values)):
        assert rows_of(held, list(range(count))) == values[:count]


def test_a_match_before_the_first_byte_is_damage() -> None:
    stream = sequence(b"abcd", 4, 20) + sequence(b"", 25, 20) + sequence(b"x" * 400, 1, 20) + bytes([0xC0]) + b"a" * 12
    values = [b"-" * 24, b"-" * 20, b"-" * 432]
    held = Held((3, block.build(b"", lz4_region(stream, values))))
    with pytest.raises(CorruptedData, match=r"lz4 match distance: expected 1\.\.24, found 25"):
        rows_of(held, [0, 1, 2])


def test_matches_of_matches() -> None:
    # A literal and a match of the four bytes before it, over and over: each byte has come through thousands of hands.
    stream = bytes([0x50]) + b"abcde" + (5).to_bytes(2, "little")
    stream += b"".join(bytes([0x10, 97 + at % 26]) + (5).to_bytes(2, "little") for at in range(12_000))
    stream += bytes([0xC0]) + b"the end of i"
    size = 5 + 4 + 12_000 * 5 + 12
    text = codec.lz4_decompress(size.to_bytes(4, "little") + stream, size)
    values = [text[at : at + 11] for at in range(0, len(text), 11)]
    held = Held((len(values), block.build(b"", lz4_region(stream, values))))
    for row in (0, 1, 40, 4000, len(values) - 2, len(values) - 1):
        assert rows_of(held, [row]) == [values[row]]
    assert rows_of(held, [10, 2000, 5000]) == [values[10], values[2000], values[5000]]


# ---- damage ----


def outcome(held: Held, rows: Rows) -> list[bytes | None] | str:
    try:
        return binaries(held, rows, None)
    except (CorruptedData, UnsupportedFeature) as error:
        return str(error)


def damaged_lz4(shape: str, seed: int, edits: list[Edit], flips: int) -> tuple[int, bytes]:
    random = Random(seed)
    values = SHAPES[shape](random)
    region = lz4.encode(values)
    at = header_size(lz4.FIELDS)
    stream = bytearray(edited(region[at + 4 : at + int.from_bytes(region[2:6], "little")], edits))
    for _ in range(flips if stream else 0):
        stream[random.randrange(len(stream))] ^= 1 << random.randrange(8)
    return len(values), lz4_region(bytes(stream), values)


@examples(150)
@given(
    st.sampled_from(sorted(SHAPES)),
    st.integers(0, 1 << 32),
    EDITS,
    st.sampled_from([0, 1, 1, 2, 20]),
    st.floats(0, 1),
)
def test_damage_is_seen_as_by_inflating(shape: str, seed: int, edits: list[Edit], flips: int, place: float) -> None:
    # Both ways end at the same byte, so they give the same bytes or the same error message.
    count, region = damaged_lz4(shape, seed, edits, flips)
    held = Held((count, block.build(b"", region)))
    row = min(count - 1, int(place * count))
    inflated = outcome(held, Rows.one(0, row + 1))
    expected = inflated if isinstance(inflated, str) else inflated[row:]
    assert outcome(held, Rows.one(row, row + 1)) == expected
    rows = sorted({row // 3, row // 2, row})
    several = outcome(held, Rows.of_positions(np.array(rows, np.uint64)))
    assert several == (inflated if isinstance(inflated, str) else [inflated[each] for each in rows])


@examples(60)
@given(st.binary(max_size=400), st.integers(1, 1 << 20))
def test_any_bytes_as_lz4(stream: bytes, size: int) -> None:
    values = [b"x" * (size // 3)] * 2 + [b"x" * (size - 2 * (size // 3) - 1), b"y"]
    held = Held((4, block.build(b"", lz4_region(stream, values))))
    inflated = outcome(held, Rows.one(0, 4))
    found = outcome(held, Rows.one(3, 4))
    assert found == (inflated if isinstance(inflated, str) else inflated[3:])


def fsst_symbols(text: bytes, order: str) -> list[bytes]:
    """Frequent pieces of all lengths. Codes of symbols in order of length are stepped over 64 at a time."""
    pieces = [
        piece
        for length in range(1, 9)
        for piece, _ in Counter(text[at : at + length] for at in range(len(text) - length)).most_common(length)
    ]
    if order == "255":
        singles = [bytes([at]) for at in range(256) if bytes([at]) not in pieces]
        pieces = singles[: 255 - len(pieces)] + pieces
    if order == "mixed":
        Random(order).shuffle(pieces)
    return pieces[::-1] if order == "longest first" else pieces


@pytest.mark.parametrize("order", ["shortest first", "longest first", "mixed", "255"])
@pytest.mark.parametrize("escapes", [0, 0.01, 0.3])
def test_codes_are_stepped_over_whatever_their_lengths(order: str, escapes: float) -> None:
    random = Random(order)
    text = b"".join(SHAPES["logs"](random))[:6000]
    symbols = fsst_symbols(text, order)
    # What has no symbol is escaped. The byte behind an escape may look like one, and may stand in the next 64 bytes.
    strange = [byte for byte in range(256) if bytes([byte]) not in symbols]
    data = bytes(random.choice([*strange, 255]) if random.random() < escapes else byte for byte in text)
    values, at = [], 0
    while at < len(data):
        values.append(data[at : at + random.choice([0, 1, 2, 5, 30, 200])])
        at += len(values[-1])
    held = Held((len(values), block.build(b"", fsst.encode(values, symbols=symbols))))
    for row, value in enumerate(values):
        assert rows_of(held, [row]) == [value]
    for count in (2, 3, 7):
        for _ in range(20):
            rows = sorted(random.sample(range(len(values)), count))
            assert rows_of(held, rows) == [values[row] for row in rows]


def test_codes_without_symbol_are_seen() -> None:
    values = [b"aaaa" * 3] * 3000
    region = bytearray(fsst.encode(values, symbols=[b"aaaa"]))
    codes = 16 + 9
    assert len(region) >= align8(codes + 9000)
    region[codes + 20] = 7
    held = Held((3000, block.build(b"", bytes(region))))
    assert rows_of(held, [0, 1]) == values[:2]
    for rows in ([2999], [0, 2999], [100, 1500, 2999]):
        with pytest.raises(CorruptedData, match="fsst code"):
            rows_of(held, rows)


# ---- frames ----


def are_whole(frame: bytes, size: int) -> bool:
    one, zero = np.ones(1, np.uint64), np.zeros(1, np.uint64)
    data = block.build(b"", frame)
    blocks = _kernels.Blocks(
        [memoryview(data)], np.zeros(1, np.uint32), zero, np.array([len(data)], np.uint64), one, zero, True, True
    )
    (found,) = blocks.are_whole([(0, 8, 8 + len(frame), size, "zstd")])
    return found


@pytest.mark.parametrize("size", [0, 1, 255, 256, 65_535, 65_791, 65_792, 300_000])
@pytest.mark.parametrize("kind", ["noise", "zeros", "text"])
@pytest.mark.parametrize("has_checksum", [False, True])
def test_frames_that_state_their_size(size: int, kind: str, has_checksum: bool) -> None:
    content = {"noise": Random(size).randbytes(size), "zeros": bytes(size), "text": (b"to be or not " * size)[:size]}[
        kind
    ]
    stated = zstandard.ZstdCompressor(write_checksum=has_checksum).compress(content)
    silent = zstandard.ZstdCompressor(write_checksum=has_checksum, write_content_size=False).compress(content)
    assert are_whole(stated, size)
    assert not are_whole(stated, size + 1)
    assert not are_whole(silent, size)
    assert not are_whole(stated + b"\0", size)
    assert not are_whole(stated + stated, 2 * size)
    for end in {*range(min(len(stated), 40)), len(stated) - 1, len(stated) - 4}:
        assert not are_whole(stated[: max(0, end)], size)


def test_frames_with_a_dictionary() -> None:
    content = b"".join(b"a line of text, number %d; " % at for at in range(2000))
    samples = [content[at : at + 200] for at in range(0, len(content), 200)]
    dictionary = zstandard.train_dictionary(2000, samples)
    frame = zstandard.ZstdCompressor(dict_data=dictionary, write_dict_id=True).compress(content)
    assert zstandard.get_frame_parameters(frame).dict_id == dictionary.dict_id()
    assert are_whole(frame, len(content))


def test_contents_are_forgotten_in_parts() -> None:
    values = [b"row %d" % at for at in range(64)]
    region = zstd.encode(values)
    data = block.build(b"", region)
    blocks = _kernels.Blocks(
        [memoryview(data)],
        np.zeros(1, np.uint32),
        np.zeros(1, np.uint64),
        np.array([len(data)], np.uint64),
        np.array([64], np.uint64),
        np.zeros(1, np.uint64),
        True,
        True,
    )
    sizes = np.array([sum(map(len, values))], np.uint64)
    frames = _kernels.payload_frames(blocks, sizes)
    assert len(frames) == 1
    assert _kernels.payload_frames(blocks, sizes, 1, 1) == []
    offsets = np.cumsum([0, *map(len, values)], dtype=np.int32)
    spans = np.zeros(1, np.uint32), np.zeros(1, np.uint32), np.array([64], np.uint32)
    out = np.zeros(int(sizes[0]) + 64, np.uint8)
    blocks.add_inflated(frames, [b"".join(values)])
    _kernels.decode_bytes(blocks, *spans, np.zeros(1, np.uint64), offsets, 0, True, out)
    assert out[: int(sizes[0])].tobytes() == b"".join(values)
    blocks.forget_inflated()
    with pytest.raises(RuntimeError, match="not inflated"):
        _kernels.decode_bytes(blocks, *spans, np.zeros(1, np.uint64), offsets, 0, True, out)
