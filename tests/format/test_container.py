"""Header, footer, the way to the directory, and frames."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import AmudaiError, CorruptedData, InvalidArgument, UnsupportedFeature
from amudai.format import (
    FOOTER,
    HEADER,
    MAX_DIRECTORY,
    check_footer,
    check_header,
    checksum,
    directory_length,
    directory_range,
    frame_directory,
    unframe,
)
from amudai.format import frame as written_frame
from tests.format.worked_example import SHARD


def frame(payload: bytes) -> bytes:
    return struct.pack("<I", len(payload)) + payload + struct.pack("<I", checksum(payload))


@pytest.mark.parametrize(
    ("payload", "expected"),
    [(b"", "00 00 00 00 c7 14 d5 15"), (b"testdata", "08 00 00 00 74 65 73 74 64 61 74 61 02 14 98 59")],
)
def test_published_frames(payload: bytes, expected: str) -> None:
    assert frame(payload) == written_frame(payload) == bytes.fromhex(expected)
    assert unframe(bytes.fromhex(expected), "Test") == payload


@given(payload=st.binary(max_size=300), surplus=st.binary(max_size=20))
def test_a_frame_gives_its_payload_back(payload: bytes, surplus: bytes) -> None:
    assert unframe(frame(payload), "Test") == payload
    assert written_frame(payload) == written_frame(memoryview(payload)) == frame(payload)
    assert unframe(memoryview(frame(payload) + surplus), "Test") == payload


class Huge(bytes):
    def __len__(self) -> int:
        return 2**32 - 1


def test_a_message_that_no_frame_holds() -> None:
    with pytest.raises(InvalidArgument, match="message: expected at most 4294967294 bytes, found 4294967295"):
        written_frame(Huge())


def test_the_end_of_a_shard() -> None:
    directory = bytes(unframe(SHARD[394:517], "ShardDirectory"))
    assert frame_directory(directory) + FOOTER == SHARD[394:]
    with pytest.raises(InvalidArgument, match=f"shard directory: expected less than {MAX_DIRECTORY} bytes"):
        frame_directory(bytes(MAX_DIRECTORY))


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (b"", "UrlList frame: expected at least 8 bytes, found 0"),
        (frame(b"testdata")[:7], "UrlList frame: expected at least 8 bytes, found 7"),
        (frame(b"testdata")[:15], "UrlList frame: expected 16 bytes, found 15"),
        (b"\xff\xff\xff\xff" + bytes(100), "UrlList frame: expected 4294967303 bytes, found 104"),
        (frame(b"testdata")[:-1] + b"\x00", "UrlList checksum: expected 0x00981402, found 0x59981402"),
    ],
)
def test_a_damaged_frame_says_what_is_wrong(damaged: bytes, message: str) -> None:
    with pytest.raises(CorruptedData) as error:
        unframe(damaged, "UrlList")
    assert str(error.value) == message


def test_a_frame_may_be_trusted() -> None:
    assert unframe(frame(b"testdata")[:-1] + b"\x00", "Test", verify=False) == b"testdata"
    with pytest.raises(CorruptedData):
        unframe(frame(b"testdata")[:-1], "Test", verify=False)


@pytest.mark.parametrize("check", [check_header, check_footer])
def test_marks(check: object) -> None:
    assert callable(check)
    check(HEADER)
    check(memoryview(FOOTER))
    check(b"amud\x07\xff\xff\x00")  # patch and minor version of the future
    with pytest.raises(UnsupportedFeature, match="expected major version 0, found 1"):
        check(b"amud\x00\x01\x00\x01")
    for foreign in (b"", b"amud", b"PAR1PAR1", bytes(8)):
        with pytest.raises(CorruptedData, match=r"^not an Amudai shard: "):
            check(foreign)


def test_the_directory_of_the_worked_example() -> None:
    assert directory_range(SHARD, len(SHARD)) == (394, 517)
    assert directory_range(SHARD[-12:], len(SHARD)) == (394, 517)
    assert directory_length(SHARD[-12:], len(SHARD), 521) == 115


def test_the_directory_of_an_embedded_shard() -> None:
    end = len(SHARD) - len(FOOTER)
    larger = SHARD[:end] + bytes(100) + FOOTER
    assert directory_range(larger[:end], len(larger), end) == (394, 517)
    assert directory_range(larger[end - 4 : end], len(larger), end) == (394, 517)
    for wrong in (-5, 0, 19, len(larger) + 1, 1 << 64):
        with pytest.raises(CorruptedData, match=f"found {wrong}$"):
            directory_range(larger, len(larger), wrong)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not an Amudai shard: expected at least 28 bytes, found 0"),
        (HEADER + FOOTER, "not an Amudai shard: expected at least 28 bytes, found 16"),
        (
            b"PAR1" + bytes(100) + b"PAR1",
            "not an Amudai shard: expected a file that ends with 61 6d 75 64 00 01 00 00, "
            "found 00 00 00 00 50 41 52 31",
        ),
        (
            HEADER + bytes(16) + struct.pack("<I", 17) + FOOTER,
            "shard directory length: expected at most 8, found 17",
        ),
        (
            HEADER + bytes(16) + b"\xff\xff\xff\xff" + FOOTER,
            f"shard directory length: expected less than {MAX_DIRECTORY}, found 4294967295",
        ),
    ],
)
def test_a_foreign_or_cut_file(content: bytes, message: str) -> None:
    with pytest.raises(CorruptedData) as error:
        directory_range(content, len(content))
    assert str(error.value) == message


def test_a_tail_that_is_too_short_is_no_index_error() -> None:
    for kept in range(12):
        with pytest.raises(AmudaiError):
            directory_range(SHARD[len(SHARD) - kept :], len(SHARD))


def test_the_smallest_shard_has_an_empty_directory() -> None:
    content = HEADER + frame(b"") + struct.pack("<I", 0) + FOOTER
    assert len(content) == 28
    assert directory_range(content, 28) == (8, 16)


@given(content=st.binary(min_size=20, max_size=80))
def test_any_bytes_before_a_footer(content: bytes) -> None:
    whole = content + FOOTER
    try:
        start, end = directory_range(whole, len(whole))
    except AmudaiError:
        return
    assert 8 <= start <= end - 8 <= len(whole) - 20
