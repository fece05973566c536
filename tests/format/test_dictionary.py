"""Value dictionaries: the published ones, and those that contradict themselves or the schema."""

from __future__ import annotations

import struct
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import AmudaiError, CorruptedData, InvalidArgument
from amudai.format import DictionaryHeader, ValueDictionary, checksum, encode_dictionary, section
from amudai.types import BasicType, SchemaNode

STRING = SchemaNode(schema_id=0, name="s", basic_type=BasicType.STRING)
GUID = SchemaNode(schema_id=0, name="g", basic_type=BasicType.GUID, fixed_size=16)


def envelope(payload: bytes) -> bytes:
    out = struct.pack("<Q", len(payload)) + payload + bytes(64)
    out += bytes(-(len(out) + 4) % 16)
    return out + struct.pack("<I", checksum(payload))


def build(
    kind: int,
    count: int,
    null_id: int | None,
    fixed: int,
    values: bytes,
    offsets: list[int] | None,
    sorted_ids: list[int] | None,
    *,
    null_flag: int | None = None,
) -> bytes:
    """A dictionary buffer as the notes say it is written."""
    parts = [envelope(values)]
    parts.append(b"" if offsets is None else envelope(struct.pack(f"<{len(offsets)}Q", *offsets)))
    parts.append(b"" if sorted_ids is None else envelope(struct.pack(f"<{len(sorted_ids)}I", *sorted_ids)))
    ranges, at = [], 128
    for part in parts:
        ranges += [at, at + len(part)]
        at += len(part)
    flag = int(null_id is not None) if null_flag is None else null_flag
    header = struct.pack("<BIBII6Q62x", kind, count, flag, null_id or 0, fixed, *ranges)
    out = header + struct.pack("<I", checksum(header)) + b"".join(parts)
    return out + bytes(-len(out) % 64)


STRINGS = build(10, 4, 2, 0, b"aaaabcdefghijk1234567", [0, 3, 14, 14, 21], [3, 0, 1])
GUIDS = build(11, 2, 1, 16, bytes(range(16)) + bytes(16), None, [0])


def u64(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.uint64)


def u32(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.uint32)


def test_the_published_dictionaries_are_written() -> None:
    words = b"aaaabcdefghijk1234567"
    written = encode_dictionary(
        STRING, value_count=4, data=words, offsets=u64(0, 3, 14, 14, 21), null_id=2, sorted_ids=u32(3, 0, 1)
    )
    assert written == STRINGS
    guids = memoryview(bytes(range(16)) + bytes(16))
    assert encode_dictionary(GUID, value_count=2, data=guids, offsets=None, null_id=1, sorted_ids=u32(0)) == GUIDS
    assert DictionaryHeader.decode(GUIDS).encode() == GUIDS[:128]


@given(
    words=st.lists(st.binary(max_size=40), max_size=20, unique=True),
    null=st.none() | st.integers(0, 20),
    listed=st.booleans(),
)
def test_any_dictionary(words: list[bytes], null: int | None, listed: bool) -> None:
    entries: list[bytes | None] = list(words)
    if null is not None:
        null = min(null, len(words))
        entries.insert(null, None)
    offsets = u64(*np.cumsum([0] + [len(each or b"") for each in entries]).tolist())
    order = sorted((at for at, each in enumerate(entries) if each is not None), key=lambda at: entries[at] or b"")
    written = encode_dictionary(
        STRING,
        value_count=len(entries),
        data=b"".join(each or b"" for each in entries),
        offsets=offsets,
        null_id=null,
        sorted_ids=u32(*order) if listed else None,
    )
    assert len(written) % 64 == 0
    found = ValueDictionary.decode(written, STRING, expected_count=len(entries), sorted_ids=True)
    assert found.null_id == null
    assert found.offsets is not None
    assert found.offsets.tolist() == offsets.tolist()
    assert bytes(found.values) == b"".join(words)
    assert (None if found.sorted_ids is None else found.sorted_ids.tolist()) == (order if listed else None)


BOOLEAN = SchemaNode(schema_id=0, name="n", basic_type=BasicType.BOOLEAN)
INT = SchemaNode(schema_id=0, name="n", basic_type=BasicType.INT64)


@pytest.mark.parametrize(
    ("node", "facts", "message"),
    [
        (BOOLEAN, {}, "expected strings, binaries, guids or numbers"),
        (INT, {}, "expected offsets for values of any size, and only for them"),
        (INT, {"offsets": None}, "values: expected 8 bytes, found 2"),
        (STRING, {"offsets": None}, "expected offsets for values of any size, and only for them"),
        (GUID, {}, "expected offsets for values of any size, and only for them"),
        (GUID, {"offsets": None}, "values: expected 16 bytes, found 2"),
        (STRING, {"offsets": u64(0)}, "offsets: expected 2 of them up to 2, found 1 of them up to 0"),
        (STRING, {"offsets": u64(0, 3)}, "offsets: expected 2 of them up to 2, found 2 of them up to 3"),
        (STRING, {"offsets": u64()}, "offsets: expected 2 of them"),
        (STRING, {"null_id": 1}, "null_id: expected less than 1, found 1"),
        (STRING, {"null_id": 0, "sorted_ids": u32(0)}, "sorted ids: expected 0, found 1"),
        (STRING, {"value_count": 2**32}, "expected less than"),
    ],
)
def test_a_dictionary_that_no_reader_takes(node: SchemaNode, facts: dict[str, object], message: str) -> None:
    sound = {"value_count": 1, "data": b"ab", "offsets": u64(0, 2), "null_id": None, "sorted_ids": u32(0)}
    with pytest.raises(InvalidArgument, match=message):
        encode_dictionary(node, **{**sound, **facts})  # type: ignore[arg-type]


def test_the_published_strings() -> None:
    assert len(STRINGS) == 512
    assert STRINGS[:16].hex(" ") == "0a 04 00 00 00 01 02 00 00 00 00 00 00 00 80 00"
    assert [STRINGS[at : at + 4].hex(" ") for at in (0x7C, 0xEC, 0x16C, 0x1CC)] == [
        "d6 23 15 9f",
        "be a9 72 0d",
        "a8 7d 35 88",
        "6f 5d 7b a1",
    ]
    found = ValueDictionary.decode(STRINGS, STRING, expected_count=4, sorted_ids=True)
    assert (found.value_type, found.value_count, found.null_id, found.fixed_value_size) == (BasicType.STRING, 4, 2, 0)
    assert found.offsets is not None
    assert found.sorted_ids is not None
    assert found.offsets.tolist() == [0, 3, 14, 14, 21]
    assert [bytes(found.values[a:b]) for a, b in zip([0, 3, 14, 14], [3, 14, 14, 21], strict=True)] == [
        b"aaa",
        b"abcdefghijk",
        b"",
        b"1234567",
    ]
    assert found.sorted_ids.tolist() == [3, 0, 1]
    assert ValueDictionary.decode(STRINGS, STRING).sorted_ids is None


def test_the_published_guids() -> None:
    assert len(GUIDS) == 320
    assert GUIDS[124:128].hex(" ") == "31 f6 61 36"
    header = DictionaryHeader.decode(GUIDS[:128])
    assert (header.values, header.offsets, header.sorted_ids) == ((128, 240), (240, 240), (240, 320))
    found = ValueDictionary.decode(memoryview(GUIDS), GUID, expected_count=2, sorted_ids=True)
    assert (found.value_count, found.null_id, found.fixed_value_size, found.offsets) == (2, 1, 16, None)
    assert bytes(found.values) == bytes(range(16)) + bytes(16)
    assert found.sorted_ids is not None
    assert found.sorted_ids.tolist() == [0]


@pytest.mark.parametrize("shift", range(8))
def test_offsets_are_aligned_wherever_the_buffer_lies(shift: int) -> None:
    memory = np.zeros(len(STRINGS) + 8, np.uint8)
    start = shift + (-memory.ctypes.data % 8)
    memory = np.zeros(len(STRINGS) + 16, np.uint8) if start > 8 else memory
    memory[start : start + len(STRINGS)] = np.frombuffer(STRINGS, np.uint8)
    found = ValueDictionary.decode(memoryview(memory)[start : start + len(STRINGS)], STRING, sorted_ids=True)
    for array in (found.offsets, found.sorted_ids):
        assert array is not None
        assert array.flags.aligned
        assert array.tolist() in ([0, 3, 14, 14, 21], [3, 0, 1])


def test_small_dictionaries() -> None:
    nothing = ValueDictionary.decode(build(10, 0, None, 0, b"", [0], []), STRING, sorted_ids=True)
    assert (nothing.value_count, len(nothing.values), nothing.null_id) == (0, 0, None)
    only_null = ValueDictionary.decode(build(10, 1, 0, 0, b"", [0, 0], []), STRING, sorted_ids=True)
    assert (only_null.value_count, only_null.null_id) == (1, 0)
    unsorted = ValueDictionary.decode(build(10, 1, None, 0, b"x", [0, 1], None), STRING, sorted_ids=True)
    assert unsorted.sorted_ids is None


@pytest.mark.parametrize(
    ("buffer", "node", "message"),
    [
        (STRINGS[:127], STRING, "dictionary header: expected 128 bytes, found 127"),
        (STRINGS[:1] + b"\x05" + STRINGS[2:], STRING, "dictionary header checksum: expected 0x9f1523d6"),
        (build(13, 0, None, 0, b"", [0], []), STRING, r"value_type: expected one of \[2, .*, 11, 12\], found 13"),
        (build(5, 0, None, 0, b"", [0], []), STRING, "value_type: expected STRING, found INT64"),
        (build(5, 1, None, 4, bytes(4), None, None), INT, "fixed_value_size: expected 8, found 4"),
        (STRINGS, GUID, "value_type: expected GUID, found STRING"),
        (build(11, 1, None, 8, bytes(8), None, None), GUID, "fixed_value_size: expected 16, found 8"),
        (build(11, 1, None, 0, bytes(16), [0, 16], None), GUID, "fixed_value_size: expected 16, found 0"),
        (build(10, 1, None, 4, bytes(4), None, None), STRING, "fixed_value_size: expected 0, found 4"),
        (build(10, 1, 1, 0, b"", [0, 0], []), STRING, "null_id: expected less than 1, found 1"),
        (build(10, 1, None, 0, b"", [0, 0], [], null_flag=2), STRING, "null_entry_present: expected 0 or 1, found 2"),
        (build(10, 1, None, 0, b"x", None, None), STRING, "offsets: expected at least 12 bytes, found 0"),
        (build(10, 2, None, 0, b"x", [0, 1], None), STRING, "offsets: expected 24 bytes for 2 values, found 16"),
        (build(10, 1, None, 0, b"x", [0, 2], None), STRING, r"offsets: expected 0\.\.1, found 0\.\.2"),
        (build(10, 1, None, 0, b"x", [1, 1], None), STRING, r"offsets: expected 0\.\.1, found 1\.\.1"),
        (build(10, 2, None, 0, b"xyz", [0, 4, 3], None), STRING, "offsets: expected at least 4, found 3 at 2"),
        (build(10, 2, None, 0, b"xyz", [0, 2**64 - 1, 3], None), STRING, "offsets: expected at least"),
        (build(11, 3, None, 16, bytes(32), None, None), GUID, "values: expected 3 values of 16 bytes, found 32 bytes"),
        (build(11, 2**32 - 1, None, 16, bytes(32), None, None), GUID, "values: expected 4294967295 values"),
        (build(10, 2**32 - 1, None, 0, b"", [0], None), STRING, "offsets: expected 34359738368 bytes"),
        (build(10, 1, None, 0, b"x", [0, 1], [0, 0]), STRING, "sorted ids: expected 4 bytes for 1 values, found 8"),
        (build(10, 2, None, 0, b"xy", [0, 1, 2], [0, 2]), STRING, "sorted ids: expected less than 2, found 2"),
        (build(10, 2, None, 0, b"xy", [0, 1, 2], [1, 1]), STRING, "sorted ids: expected each of 2 values once"),
        (build(10, 2, 1, 0, b"x", [0, 1, 1], [1]), STRING, "sorted ids: expected each of 1 values once"),
    ],
)
def test_a_dictionary_that_cannot_be(buffer: bytes, node: SchemaNode, message: str) -> None:
    with pytest.raises(CorruptedData, match=message):
        ValueDictionary.decode(buffer, node, sorted_ids=True)


def test_another_number_of_entries_than_the_descriptor_says() -> None:
    with pytest.raises(CorruptedData, match=r"^dictionary value_count: expected 5, found 4$"):
        ValueDictionary.decode(STRINGS, STRING, expected_count=5)


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        (0, 112, "expected a range within 128..512, found 0..112"),
        (128, 513, "found 128..513"),
        (240, 128, "found 240..128"),
        (2**64 - 1, 2**64 - 1, "expected a range within"),
        (128, 139, "expected at least 12 bytes, found 11"),
        (128, 152, "expected 33 bytes, found 24"),
        (136, 240, "expected 7306075752453103989 bytes, found 104|expected .* bytes, found 104"),
        (128, 239, "checksum: expected"),
    ],
)
def test_a_section_that_cannot_be(start: int, end: int, message: str) -> None:
    with pytest.raises(CorruptedData, match=message):
        section(STRINGS, start, end, "values")


def test_every_flipped_bit_and_every_cut() -> None:
    sound = ValueDictionary.decode(STRINGS, STRING, sorted_ids=True)
    for at in range(len(STRINGS)):
        damaged = STRINGS[:at] + bytes([STRINGS[at] ^ 1 << at % 8]) + STRINGS[at + 1 :]
        with suppress(AmudaiError):
            found = ValueDictionary.decode(damaged, STRING, sorted_ids=True)
            assert found.values == sound.values, at
            assert np.array_equal(found.offsets, sound.offsets), at  # type: ignore[arg-type]
            assert np.array_equal(found.sorted_ids, sound.sorted_ids), at  # type: ignore[arg-type]
        if at < 464:
            with pytest.raises(CorruptedData):
                ValueDictionary.decode(STRINGS[:at], STRING, sorted_ids=True)


def test_a_dictionary_may_be_trusted() -> None:
    damaged = bytearray(STRINGS)
    damaged[136] ^= 1
    with pytest.raises(CorruptedData, match="dictionary values checksum: expected 0x0d72a9be, found"):
        ValueDictionary.decode(bytes(damaged), STRING)
    assert bytes(ValueDictionary.decode(bytes(damaged), STRING, verify=False).values[:3]) == b"`aa"
