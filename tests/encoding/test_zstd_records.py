"""Frames of records: Zstandard inflates them, and the kernels read them in place as what Zstandard makes of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from amudai import _kernels
from amudai.encoding import ByteKeys, DecimalForm, DecimalRanges, compare_bytes, compare_decimals
from amudai.encoding.decode import decode_decimals, decode_fixed
from amudai.errors import InvalidArgument
from amudai.rows import Rows
from amudai.types import decimal128
from tests import effort
from tests.damage.blocks import Held
from tests.oracle import block, presence

pytestmark = pytest.mark.native

U8 = npt.NDArray[np.uint8]
MONEY = DecimalForm(2, 15, 16)


def frame_of(records: U8, valid: npt.NDArray[np.bool_] | None = None) -> bytes | None:
    return _kernels.zstd_records(records.reshape(-1), None if valid is None else valid.view(np.uint8))


def inflated(frame: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompress(frame, allow_extra_data=False)


def held(frame: bytes, count: int, marks: bytes = b"") -> Any:
    """A block of values of 16 bytes, in place of a buffer."""
    return Held((count, block.build(marks, _kernels.zstd_region(frame, None, False, None))))


def frames_of(buffer: Any, count: int) -> list[Any]:
    """What must be inflated before the values of a buffer can be read."""
    (run,) = buffer.runs(Rows.one(0, count))
    return list(_kernels.binary_frames(run.blocks, 16))


def records_of(random: np.random.Generator, count: int, own: int, *, shifted: bool = False) -> U8:
    """Records with up to `own` bytes that differ from those before; in stretches mostly fewer.

    If `shifted`, their last bytes differ, too.
    """
    records = np.repeat(random.integers(0, 256, (1, 16), np.uint8), count, axis=0)
    records[:, :own] = random.integers(0, 256, (count, own), np.uint8)
    for start in range(0, count, 300):
        least = int(random.integers(0, own + 1))
        records[start : start + 280, least:own] = records[start, least:own]
    if shifted:
        records[:, 15] = random.choice(random.integers(0, 256, 2, np.uint8), count)
        records[:2, 15] = 7, 135
    return records


SIGNS = {"+": [1], "-": [-1], "both": [1, -1]}


def money(random: np.random.Generator, count: int, digits: int, sign: str = "+") -> tuple[U8, U8]:
    """Amounts as Arrow has them, and as they are stored."""
    numbers = random.integers(1, 10**digits, count) * random.choice(SIGNS[sign], count)
    words = np.stack((numbers, numbers >> 63), axis=1).view(np.uint8).reshape(count, 16)
    return words, decimal128.from_unscaled(words, 2)


SOME = [16, 17, 40, 66, 67, 130, 1024, 4096, 8194, 8200, 20_000]


@pytest.mark.parametrize("count", SOME)
@pytest.mark.parametrize("own", [1, 2, 3, 4, 7, 8, 9, 11, 12, 13])
@pytest.mark.parametrize("shifted", [False, True])
def test_zstandard_inflates_them_and_kernels_read_them(count: int, own: int, shifted: bool) -> None:
    random = np.random.default_rng(count * own)
    own -= own == 13 and shifted
    records = records_of(random, count, own, shifted=shifted)
    frame = frame_of(records)
    assert frame is not None
    assert inflated(frame) == records.tobytes()
    assert zstandard.frame_content_size(frame) == records.size
    assert len(frame) < (max(2, own) + shifted + 0.25) * count + 60
    buffer = held(frame, count)
    assert frames_of(buffer, count) == []
    some = np.sort(random.choice(count, min(count, 50), replace=False)).astype(np.uint64)
    for rows in (Rows.one(0, count), Rows.one(count // 3, count), Rows.one(count - 1, count), Rows.of_positions(some)):
        wanted = np.concatenate([np.arange(int(s), int(e)) for s, e in zip(rows.starts, rows.ends, strict=True)])
        assert bytes(decode_fixed(buffer, rows, 16).data) == records[wanted].tobytes()
    key = records[count // 2].tobytes()
    bits = compare_bytes(buffer, Rows.one(0, count), ByteKeys((key,)), fixed_size=16, inverted=False)
    found = np.unpackbits(bits, count=count, bitorder="little").astype(np.bool_)
    assert found.tolist() == [record.tobytes() == key for record in records]


def test_the_bytes_of_a_frame() -> None:
    """Twenty times 0.05, then 1.00 and 12.34: one block of two records, one of all others."""
    cents = np.array([5] * 20 + [100, 1234])
    stored = decimal128.from_unscaled(np.stack((cents, cents >> 63), axis=1).view(np.uint8).reshape(-1, 16), 2)
    frame = frame_of(stored)
    assert frame is not None
    head = "28b52ffd 60 6000"  # 352 bytes, less 256
    # Literals as they are: 18 bytes. One sequence: code 17 for 18 literals, distance 16 + 3, a match of 11 + 3 bytes.
    first = "cc0000 90 05000000000000000000000000800722 0500 01 54 11 04 0b 26"
    # 40 bytes of literals, 20 sequences: 2 literals, the last distance, a match of 14 bytes; no further bits.
    rest = "850100 8402" + "0500" * 18 + "8000 3405" + "14 54 02 00 0b 01"
    assert frame.hex() == (head + first + rest).replace(" ", "")
    assert inflated(frame) == stored.tobytes()


def test_what_is_no_such_frame() -> None:
    random = np.random.default_rng(3)
    assert frame_of(records_of(random, 15, 3)) is None, "too few"
    noise = random.integers(0, 256, (100, 16), np.uint8)
    for same, fits in [(slice(13, 16), True), (slice(14, 16), False), (slice(12, 15), True), (slice(13, 15), False)]:
        records = noise.copy()
        records[:, same] = 5
        assert (frame_of(records) is not None) == fits, "a match needs three bytes"
    last = records_of(random, 100, 2)
    last[-1, 14] ^= 1
    assert frame_of(last) is None
    assert frame_of(records_of(random, 100, 2), np.zeros(100, np.bool_)) is None, "all null"


def test_nulls_become_the_value_before_them() -> None:
    random = np.random.default_rng(4)
    records = records_of(random, 1000, 3)
    valid = random.random(1000) < 0.8
    valid[:3] = False
    records[~valid] = 0
    frame = frame_of(records, valid)
    assert frame is not None
    found = np.frombuffer(inflated(frame), np.uint8).reshape(-1, 16)
    assert np.array_equal(found[valid], records[valid])
    before = np.maximum.accumulate(np.where(valid, np.arange(1000), np.flatnonzero(valid)[0]))
    assert np.array_equal(found, records[before])


@pytest.mark.parametrize("width", [8, 16, 32])
@pytest.mark.parametrize("digits", [1, 4, 9, 10, 12, 15, 18])
@pytest.mark.parametrize("sign", SIGNS)
def test_decimals(width: int, digits: int, sign: str) -> None:
    random = np.random.default_rng(digits)
    count = 3000
    _, stored = money(random, count, digits, sign)
    frame = frame_of(stored)
    assert frame is not None
    buffer = held(frame, count)
    form = DecimalForm(2, 18, width)
    some = np.sort(random.choice(count, 300, replace=False)).astype(np.uint64)
    for rows in (Rows.one(0, count), Rows.one(700, 701), Rows.one(1000, 1999), Rows.of_positions(some)):
        wanted = np.concatenate([np.arange(int(s), int(e)) for s, e in zip(rows.starts, rows.ends, strict=True)])
        found = decode_decimals(buffer, rows, form)
        assert found is not None
        assert found.validity is None
        assert bytes(found.data) == decimal128.to_unscaled(stored[wanted].reshape(-1), 2, width).tobytes()


def test_decimals_with_another_exponent_or_sign_in_between() -> None:
    """Each is in a block of its own, or their last bytes differ."""
    random = np.random.default_rng(5)
    parts = [
        money(random, 40, 6)[1],
        decimal128.from_unscaled(money(random, 40, 6)[0], 1),
        money(random, 40, 6, "-")[1],
    ]
    frames = [frame_of(part) for part in parts]
    regions = [_kernels.zstd_region(frame, None, False, None) for frame in frames if frame is not None]
    buffer: Any = Held(*((40, block.build(b"", region)) for region in regions))
    found = decode_decimals(buffer, Rows.one(0, 120), MONEY)
    assert found is not None
    assert bytes(found.data) == decimal128.to_unscaled(np.concatenate(parts).reshape(-1), 2, 16).tobytes()
    odd = money(random, 300, 6)[1]
    odd[7, 15] ^= 1  # another exponent
    whole = frame_of(odd)
    assert whole is not None
    for rows in (Rows.one(0, 300), Rows.one(7, 8), Rows.of_positions(np.array([3, 7, 90], np.uint64))):
        assert decode_decimals(held(whole, 300), rows, MONEY) is None
    kept = decode_decimals(held(whole, 300), Rows.one(8, 300), MONEY)
    assert kept is not None
    assert bytes(kept.data) == decimal128.to_unscaled(odd[8:].reshape(-1), 2, 16).tobytes()


@pytest.mark.parametrize("spelling", ["NaN", "Infinity", "0.001", "12345678901234.5"])
def test_decimals_that_do_not_fit(spelling: str) -> None:
    """Such a value is found in blocks of any encoding, and the error is left to the caller."""
    value = np.frombuffer(_stored(Decimal(spelling)), np.uint8)
    records = np.tile(value, 50).reshape(50, 16)
    frame = frame_of(records)
    assert frame is not None
    for buffer in (held(frame, 50), Held((50, block.build(b"", _kernels.plain_region(None, records.reshape(-1)))))):
        for rows in (Rows.one(0, 50), Rows.one(3, 4)):
            assert decode_decimals(buffer, rows, MONEY) is None  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        decimal128.to_unscaled(records.reshape(-1), 2, 16, precision=15)


def _stored(value: Decimal) -> bytes:
    from tests.oracle.decimal128 import from_decimal

    return from_decimal(value)


def test_nulls_of_decimals() -> None:
    random = np.random.default_rng(6)
    words, stored = money(random, 500, 8)
    valid = random.random(500) < 0.7
    frame = frame_of(stored, valid)
    assert frame is not None
    buffer = held(frame, 500, presence.encode(valid.tolist()))
    found = decode_decimals(buffer, Rows.one(100, 400), MONEY)
    assert found is not None
    assert found.nulls == int(np.count_nonzero(~valid[100:400]))
    kept = found.valid()
    assert kept is not None
    assert kept.tolist() == valid[100:400].tolist()
    assert bytes(found.data) == np.where(valid[100:400, None], words[100:400], 0).tobytes()


@pytest.mark.parametrize("digits", [2, 8, 10, 17])
@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("inverted", [False, True])
def test_decimals_are_compared(digits: int, sign: str, inverted: bool) -> None:
    random = np.random.default_rng(digits)
    words, stored = money(random, 2500, digits, sign)
    numbers = words.view(np.int64)[::1, 0]
    low, high = np.sort(random.choice(numbers, 2, replace=False)).tolist()
    frame = frame_of(stored)
    assert frame is not None
    buffer = held(frame, 2500)
    one = DecimalRanges.of([(Decimal(low) / 100, Decimal(high) / 100)])
    three = DecimalRanges.of([(Decimal(int(each)) / 100,) * 2 for each in numbers[[5, 700, 2400]]])
    for rows in (Rows.one(0, 2500), Rows.one(77, 1234), Rows.of_positions(np.arange(1, 2500, 7, dtype=np.uint64))):
        wanted = np.concatenate([np.arange(int(s), int(e)) for s, e in zip(rows.starts, rows.ends, strict=True)])
        for ranges, expected in (
            (one, (numbers >= low) & (numbers <= high)),
            (three, np.isin(numbers, numbers[[5, 700, 2400]])),
        ):
            bits = compare_decimals(buffer, rows, ranges, inverted=inverted)
            found = np.unpackbits(bits, count=len(wanted), bitorder="little").astype(np.bool_)
            assert found.tolist() == (expected[wanted] != inverted).tolist()


@pytest.mark.slow
@effort.examples(300)
@given(
    seed=st.integers(0, 1 << 32),
    count=st.sampled_from([16, 20, 130, 400]),
    own=st.integers(1, 12),
    shifted=st.booleans(),
    at=st.integers(0, 1 << 16),
    number=st.integers(1, 255),
    near=st.sampled_from(["anywhere", "headers", "cut", "longer"]),
)
def test_a_frame_that_is_read_in_place_is_one_that_zstandard_reads(
    seed: int, count: int, own: int, shifted: bool, at: int, number: int, near: str
) -> None:
    """After a change, it is still a frame with these values, or it is left to Zstandard."""
    found = frame_of(records_of(np.random.default_rng(seed), count, own, shifted=shifted))
    assert found is not None
    broken = bytearray(found)
    if near == "cut":
        del broken[-(1 + at % 20) :]
    elif near == "longer":
        broken += bytes([number] * (1 + at % 4))
    else:
        places = len(broken) if near == "anywhere" else 12
        tail = len(broken) - 8 if near == "headers" and at % 2 else 0
        place = tail + at // 2 % min(places, len(broken) - tail)
        broken[place] ^= number
    buffer = held(bytes(broken), count)
    if frames_of(buffer, count) == []:
        assert bytes(decode_fixed(buffer, Rows.one(0, count), 16).data) == inflated(bytes(broken))
