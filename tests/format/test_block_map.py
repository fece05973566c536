"""Block maps: the published ones, those of any blocks, and those that contradict themselves."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import AmudaiError, CorruptedData, InvalidArgument
from amudai.format import BlockMap, decode_block_map, encode_block_map
from tests.effort import examples

pytestmark = pytest.mark.native

EMPTY = bytes.fromhex("00" * 40 + "00 04 00 00 00 00 00 00" + "00" * 8)

EXAMPLE_A = bytes.fromhex("""
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 64 00 00 00 c8 00 00 00 08 08 03 00 00 32 64 00
    00 32 64 00 00 00 00 00 00 00 00 00 00 00 00 00 c2 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00
    28 00 00 00 00 00 00 00 c2 01 00 00 00 00 00 00 03 00 00 00 00 00 00 00 01 00 00 00 00 00 00 00
    00 04 00 00 00 00 00 00 ee 02 00 00 00 00 00 00
""")

EXAMPLE_B = bytes.fromhex("""
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 88 03 00 00 98 0f 00 00 10 10 04 00 78 04 78 04
    78 04 00 00 88 00 80 00 00 00 90 13 00 00 00 00 00 00 00 00 00 00 00 00 88 1b 00 00 00 00 00 00
    00 00 00 00 00 00 00 00 30 00 00 00 00 00 00 00 88 1b 00 00 00 00 00 00 04 00 00 00 00 00 00 00
    01 00 00 00 00 00 00 00 00 04 00 00 00 00 00 00 f8 52 00 00 00 00 00 00
""")

EXAMPLE_C_TAIL = bytes.fromhex("""
    00 00 20 00 00 00 00 00 00 00 40 00 00 00 00 00 00 08 00 00 00 10 00 00 08 08 01 00 00 00 00 00
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 20 00 00 00 00 00 00 08 20 00 00 00 00 00
    00 00 00 00 00 00 00 00 20 08 00 00 00 00 00 00 48 08 00 00 00 00 00 00 00 08 20 00 00 00 00 00
    01 04 00 00 00 00 00 00 02 00 00 00 00 00 00 00 00 04 00 00 00 00 00 00 00 10 40 00 00 00 00 00
""")

Blocks = Sequence[tuple[int, int]]


def decoded(payload: bytes | memoryview, **expected: int) -> BlockMap:
    """The map, after all its segments were read."""
    found = decode_block_map(payload, **expected)  # type: ignore[arg-type]
    assert len(found.values) == len(found.offsets) == found.block_count + 1
    return found


def write(blocks: Blocks, segment_size: int = 1024, widths: tuple[int, int] | None = None) -> bytes:
    """The map of these blocks (values, bytes), as the notes say it is written."""
    out, logical, records, values, offset = b"", [0], [0], 0, 0
    for first in range(0, len(blocks), segment_size):
        segment = blocks[first : first + segment_size]
        columns = [list(column) for column in zip(*segment, strict=True)]
        lows = [min(column) if widths is None else 0 for column in columns]
        bits = widths or tuple(width(max(column) - min(column)) for column in columns)
        record = struct.pack("<QQIIBBH", values, offset, *lows, *bits, len(segment))
        for column, low, size, align in zip(columns, lows, bits, (4, 8), strict=True):
            record += np.array([number - low for number in column], f"<u{size // 8}").tobytes()
            record += bytes(-len(record) % align)
        out += record
        values, offset = values + sum(columns[0]), offset + sum(columns[1])
        logical.append(values)
        records.append(len(out))
    lists = struct.pack(f"<{2 * len(logical)}Q", *logical, *records)
    return out + lists + struct.pack("<5Q", values, len(blocks), len(logical) - 1, segment_size, offset)


def width(distance: int) -> int:
    return 8 if distance < 2**8 else 16 if distance < 2**16 else 32


def ends(sizes: Sequence[int]) -> list[int]:
    return [sum(sizes[:count]) for count in range(len(sizes) + 1)]


@pytest.mark.parametrize(
    ("payload", "values", "sizes"),
    [
        (EMPTY, [], []),
        (EXAMPLE_A, [100, 150, 200], [200, 250, 300]),
        (EXAMPLE_B, [2048, 2048, 2048, 904], [4128, 4120, 3992, 9000]),
    ],
    ids=["empty", "A", "B"],
)
def test_published_maps(payload: bytes, values: list[int], sizes: list[int]) -> None:
    for given_payload in (payload, memoryview(payload)):
        found = decoded(given_payload, data_size=sum(sizes), expected_values=sum(values))
        assert found.values.tolist() == ends(values)
        assert found.offsets.tolist() == ends(sizes)
        assert (found.block_count, found.value_count) == (len(values), sum(values))
        assert (found.values.dtype, found.offsets.dtype) == (np.uint64, np.uint64)
        assert not found.values.flags.writeable
    assert write(list(zip(values, sizes, strict=True))) == payload
    assert encode_block_map(values, sizes) == payload
    assert encode_block_map(np.array(values, np.uint32), np.array(sizes, np.uint64)) == payload


def test_the_published_map_of_two_segments() -> None:
    payload = write([(2048, 4096)] * 1025)
    assert len(payload) == 2208
    assert payload[0x820:] == EXAMPLE_C_TAIL
    assert encode_block_map([2048] * 1025, [4096] * 1025) == payload
    found = decoded(payload, data_size=4198400, expected_values=2099200, expected_blocks=1025)
    assert found.values.tolist() == list(range(0, 2099201, 2048))
    assert found.offsets.tolist() == list(range(0, 4198401, 4096))


@examples(60)
@given(
    blocks=st.lists(
        st.tuples(
            st.one_of(st.integers(1, 300), st.integers(1, 2**32 - 1)),
            st.one_of(st.integers(8, 300), st.integers(8, 2**32 - 1)),
        ),
        max_size=40,
    ),
    segment_size=st.integers(1, 50),
    shift=st.integers(0, 8),
    wide=st.booleans(),
)
def test_any_blocks(blocks: Blocks, segment_size: int, shift: int, wide: bool) -> None:
    payload = write(blocks, segment_size, (32, 32) if wide else None)
    unaligned = memoryview(bytes(shift) + payload)[shift:]
    sizes = [size for _, size in blocks]
    found = decoded(unaligned, data_size=sum(sizes) + 15, expected_blocks=len(blocks))
    assert found.values.tolist() == ends([values for values, _ in blocks])
    assert found.offsets.tolist() == ends(sizes)


@examples(60)
@given(
    blocks=st.lists(
        st.tuples(
            st.one_of(st.integers(1, 300), st.integers(1, 2**32 - 2)),
            st.one_of(st.integers(8, 300), st.integers(8, 2**32 - 2)),
        ),
        max_size=40,
    ),
    times=st.sampled_from([1, 60, 400]),
)
def test_any_map_is_written_as_the_notes_say(blocks: Blocks, times: int) -> None:
    blocks = list(blocks) * times
    counts, sizes = [count for count, _ in blocks], [size for _, size in blocks]
    payload = encode_block_map(counts, sizes)
    assert payload == write(blocks)
    found = decoded(payload, data_size=sum(sizes), expected_blocks=len(blocks))
    assert (found.value_count, int(found.offsets[-1])) == (sum(counts), sum(sizes))


@pytest.mark.parametrize(
    ("counts", "sizes", "message"),
    [
        ([1, 2], [8], "expected as many counts as sizes, found 2 and 1"),
        ([1, 0], [8, 8], r"logical size: expected 1\.\.4294967294, found 0\.\.1"),
        ([1, 2**32 - 1], [8, 8], r"logical size: expected 1\.\.4294967294, found 1\.\.4294967295"),
        ([1], [7], r"block size: expected 8\.\.4294967294, found 7\.\.7"),
        ([1], [2**40], "block size: expected"),
        ([-1], [8], "logical size: expected"),
    ],
)
def test_blocks_that_no_map_can_hold(counts: list[int], sizes: list[int], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        encode_block_map(counts, sizes)


def test_what_the_caller_expects() -> None:
    decoded(EXAMPLE_A, data_size=750, expected_values=450, expected_blocks=3)
    with pytest.raises(CorruptedData, match=r"^block map value_count: expected 451, found 450$"):
        decoded(EXAMPLE_A, data_size=750, expected_values=451)
    with pytest.raises(CorruptedData, match=r"^block map block_count: expected 4, found 3$"):
        decoded(EXAMPLE_A, data_size=750, expected_blocks=4)
    with pytest.raises(CorruptedData, match=r"^block map data_size: expected at most 749, found 750$"):
        decoded(EXAMPLE_A, data_size=749)


def changed(payload: bytes, at: int, form: str, value: int) -> bytes:
    out = bytearray(payload)
    struct.pack_into(form, out, at % len(payload), value)
    return bytes(out)


HUGE = [2**31, 2**32 - 1, 2**32, 2**60, 2**63 - 1, 2**63, 2**64 - 1]


@pytest.mark.parametrize("number", [0, 1, 2, 5, *HUGE])
@pytest.mark.parametrize("at", range(-72, 0, 8), ids=lambda at: f"byte{at}")
def test_any_number_of_the_list_and_the_footer_that_is_wrong(at: int, number: int) -> None:
    for payload in (EXAMPLE_A, EXAMPLE_B):
        damaged = changed(payload, at, "<Q", number)
        if damaged == payload or at == -16:  # segment_size has two sound values here
            continue
        with pytest.raises(CorruptedData, match=r"^block map"):
            decoded(damaged, data_size=2**64)


@pytest.mark.parametrize(
    ("at", "form", "value", "message"),
    [
        (0, "<Q", 1, "segment 0: expected to begin at value 0 and byte 0, found value 1"),
        (8, "<Q", 2**63, "segment 0: expected to begin at value 0 and byte 0, found .* byte 9223372036854775808"),
        (16, "<I", 99, "footer: expected the end at value 447 and byte 750, found value 450"),
        (16, "<I", 2**32 - 1, f"logical size: expected at most {2**32 - 1}, found {2**32 + 99}"),
        (20, "<I", 199, "footer: expected the end at value 450 and byte 747, found value 450 and byte 750"),
        (20, "<I", 2**32 - 1, f"block size: expected at most {2**32 - 1}, found {2**32 + 99}"),
        (20, "<I", 0, "block size: expected at least 8, found 0"),
        (16, "<I", 0, "logical size: expected at least 1, found 0"),
        (24, "<B", 7, "segment 0: expected widths of 8, 16 or 32 bits, found 7 and 8"),
        (24, "<B", 16, "found"),
        (25, "<B", 64, "segment 0: expected widths of 8, 16 or 32 bits, found 8 and 64"),
        (25, "<B", 32, "segment 0: expected 48 bytes, found 40"),
        (26, "<H", 2, "segment 0: expected 3 blocks, found 2"),
        (26, "<H", 65535, "segment 0: expected 3 blocks, found 65535"),
    ],
)
def test_a_segment_that_is_wrong(at: int, form: str, value: int, message: str) -> None:
    with pytest.raises(CorruptedData, match=message):
        decoded(changed(EXAMPLE_A, at, form, value), data_size=2**64)


def test_segments_that_do_not_follow_each_other() -> None:
    sound = write([(10, 16)] * 5, segment_size=2)
    decoded(sound, data_size=80)
    for at in (40, 48, 80, 88):  # first_logical_pos and first_block_offset of segments 1 and 2
        (number,) = struct.unpack_from("<Q", sound, at)
        for wrong in (number - 1, number + 1, 2**64 - 1):
            with pytest.raises(CorruptedData, match="expected to begin"):
                decoded(changed(sound, at, "<Q", wrong), data_size=80)
    short = bytearray(sound)
    struct.pack_into("<H", short, 26, 1)  # only the last segment may be short
    with pytest.raises(CorruptedData, match="segment 0: expected 2 blocks, found 1"):
        decoded(bytes(short), data_size=80)


@pytest.mark.parametrize("length", [*range(120)])
def test_every_length(length: int) -> None:
    for cut in (EXAMPLE_B[:length], EXAMPLE_B[120 - length :]):
        if len(cut) < len(EXAMPLE_B):
            with pytest.raises(CorruptedData):
                decoded(cut, data_size=21240)


def test_a_count_that_only_memory_could_hold() -> None:
    for blocks, segments, size in [(2**40, 2**34, 64), (2**32, 1, 2**32), (1000, 1, 1024), (2**63, 2**63, 1)]:
        footer = struct.pack("<5Q", 2**64 - 1, blocks, segments, size, 0)
        with pytest.raises(CorruptedData):
            decoded(EXAMPLE_A[:-40] + footer, data_size=0)


@pytest.mark.parametrize("payload", [EXAMPLE_A, EXAMPLE_B, write([(10, 16), (9, 24)] * 3, 2)], ids=["A", "B", "three"])
def test_a_flipped_bit_never_moves_a_block_alone(payload: bytes) -> None:
    """A map has no checksum: what a flip does must contradict something else, or be padding."""
    sound = decoded(payload, data_size=2**40)
    moved = []
    for at in range(len(payload)):
        for bit in range(8):
            damaged = changed(payload, at, "<B", payload[at] ^ 1 << bit)
            with suppress(AmudaiError):
                found = decoded(damaged, data_size=2**40)
                if found.values.tolist() != sound.values.tolist() or found.offsets.tolist() != sound.offsets.tolist():
                    moved.append((at, bit))
    assert moved == []


@given(content=st.binary(max_size=300))
def test_any_bytes(content: bytes) -> None:
    with suppress(AmudaiError):
        decoded(content, data_size=1000)
