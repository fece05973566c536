"""Do the encoders of strings and bytes write what the oracle and our own decoders read?"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any, Final

import lz4.block
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from amudai import _kernels
from tests.effort import EFFORT, examples
from tests.encoding.runs import Frame, inflated
from tests.kernel_modules import KERNELS, with_each_kernel
from tests.oracle import block, codec, presence
from tests.oracle.binary import block_dictionary, fsst, plain, region, single_value
from tests.oracle.binary import lz4 as oracle_lz4
from tests.oracle.binary import zstd as oracle_zstd
from tests.oracle.numeric import delta, fl_bit_pack
from tests.oracle.numeric import plain as numeric_plain

pytestmark = pytest.mark.native


quick = examples(60)

Value = bytes | None
Array = npt.NDArray[Any]


# ---- values as Arrow holds them ----


def arrow(values: Sequence[Value], kind: pa.DataType | None = None, before: int = 0) -> pa.Array:
    """The values, behind `before` others from which they are sliced."""
    kind = kind or pa.binary()
    filler = b"?" * (kind.byte_width if pa.types.is_fixed_size_binary(kind) else 3)
    return pa.array([*[filler, None][:before], *[filler] * (before - 2), *values], kind).slice(before)


def parts(array: pa.Array) -> tuple[Array | None, Array, Array | None, int, int]:
    """Offsets, data, validity, its first bit, and the number of slots."""
    buffers = array.buffers()
    validity = None if buffers[0] is None else np.frombuffer(buffers[0], np.uint8)
    if pa.types.is_fixed_size_binary(array.type):
        width = array.type.byte_width
        data = np.frombuffer(buffers[1] or b"", np.uint8)[array.offset * width : (array.offset + len(array)) * width]
        return None, data, validity, array.offset, len(array)
    wide = pa.types.is_large_binary(array.type) or pa.types.is_large_string(array.type)
    offsets = np.frombuffer(buffers[1], np.int64 if wide else np.int32)[array.offset : array.offset + len(array) + 1]
    return offsets, np.frombuffer(buffers[2] or b"", np.uint8), validity, array.offset, len(array)


def text_of(array: pa.Array) -> Array:
    """The bytes of all slots."""
    offsets, data, *_ = parts(array)
    return data if offsets is None else data[offsets[0] : offsets[-1]]


# ---- reading back ----


def presence_of(values: Sequence[Value]) -> bytes:
    return presence.encode([value is not None for value in values]) if None in values else b""


def decode(kernel: ModuleType, stored: bytes, count: int, fixed_size: int | None) -> list[Value]:
    """The values of one block, by the decoders."""
    data = memoryview(stored)
    size = np.array([len(data)], np.uint64)
    one, zero = np.array([count], np.uint64), np.zeros(1, np.uint64)
    blocks = kernel.Blocks([data], np.zeros(1, np.uint32), zero, size, one, zero, True, True)

    blocks.share(codec.DICTIONARY, codec.DICTIONARY_CHECKSUM)

    def inflate(frames: list[Frame]) -> None:
        blocks.add_inflated(frames, [inflated(bytes(data[s:e]), size, name) for _, s, e, size, name in frames])

    spans = np.zeros(1, np.uint32), np.zeros(1, np.uint32), np.array([count], np.uint32)
    bits = np.zeros(count // 8 + 1, np.uint8)
    inflate(kernel.binary_frames(blocks, fixed_size))
    if fixed_size is not None:
        out = np.zeros(count * fixed_size + 64, np.uint8)
        kernel.decode_fixed(blocks, *spans, fixed_size, out, bits, 0)
        offsets = np.arange(count + 1) * fixed_size
    else:
        offsets = np.zeros(count + 1, np.int64)
        origins, sizes = np.zeros(1, np.uint64), np.zeros(1, np.uint64)
        kernel.decode_offsets(blocks, *spans, offsets, bits, 0, origins, sizes)
        inflate(kernel.payload_frames(blocks, sizes))
        out = np.zeros(int(offsets[-1]) + 64, np.uint8)
        kernel.decode_bytes(blocks, *spans, origins, offsets, 0, False, out)
    valid = np.unpackbits(bits, count=count, bitorder="little")
    return [bytes(out[offsets[i] : offsets[i + 1]]) if valid[i] else None for i in range(count)]


def check(kernel: ModuleType, written: bytes, values: Sequence[Value], fixed_size: int | None = None) -> None:
    """The region, in a block, holds these values to the oracle and to the decoders."""
    stored = block.build(presence_of(values), written)
    assert block.decode_binary(stored, len(values), fixed_size) == list(values)
    assert decode(kernel, stored, len(values), fixed_size) == list(values)


def section(offsets: Array, nested: bool) -> bytes | Array:
    """Offsets as a region takes them."""
    if not nested:
        return offsets
    return delta.encode(offsets.tolist(), "u8", fl_bit_pack.encode if len(set(np.diff(offsets))) > 1 else None)


# ---- strategies ----

few = st.sampled_from([b"", b"\0", b"a", b"a\0", b"ab"])
short = st.binary(max_size=20) | st.text(max_size=9).map(str.encode) | few
slots = st.lists(st.none() | short | st.binary(min_size=15, max_size=40), min_size=1, max_size=60)
kinds = st.sampled_from([pa.binary(), pa.large_binary()])


# ---- regions ----


def ends_of(values: Sequence[Value]) -> npt.NDArray[np.uint64]:
    """Where each value ends, from 0 on; null is empty."""
    return np.cumsum([0, *(len(value or b"") for value in values)]).astype(np.uint64)


@with_each_kernel
@given(values=slots, kind=kinds, before=st.integers(0, 9), nested=st.booleans())
@quick
def test_variable_values_come_back(
    kernel: ModuleType, values: list[Value], kind: pa.DataType, before: int, nested: bool
) -> None:
    array = arrow(values, kind, before)
    offsets, data, validity, at, _ = parts(array)
    text = text_of(array)
    rebased = ends_of(values)
    stored = section(rebased, nested and len(set(np.diff(rebased))) > 1)
    nested = isinstance(stored, bytes)

    check(kernel, kernel.plain_region(offsets, data), values)
    check(kernel, kernel.zstd_region(zstandard.compress(text.tobytes()), stored, nested), values)
    compressed = lz4.block.compress(text.tobytes(), store_size=False)
    check(kernel, kernel.lz4_region(compressed, len(text), stored, nested), values)
    check(kernel, kernel.snappy_region(codec.snappy_compress(text.tobytes()), stored, nested), values)
    known = codec.DICTIONARY_CHECKSUM
    framed = codec.shared_zstd_compress(text.tobytes())
    check(kernel, kernel.zstd_region(framed, stored, nested, known), values)
    compressed = kernel.Lz4Dictionary(np.frombuffer(codec.DICTIONARY, np.uint8)).compress(text)
    check(kernel, kernel.lz4_region(compressed, len(text), stored, nested, known), values)
    check(kernel, kernel.fsst_region(*kernel.fsst_encode(text), stored, nested), values)
    found = kernel.block_dictionary(offsets, data, validity, at)
    if found is not None:
        codes, lengths, entries = found
        coded = numeric_plain.encode(codes.tolist(), "u4")
        check(kernel, kernel.dictionary_region(coded, lengths, False, len(lengths), entries), values)
        sized = numeric_plain.encode(lengths.tolist(), "u4")
        check(kernel, kernel.dictionary_region(coded, sized, True, len(lengths), entries), values)


@with_each_kernel
@given(data=st.data(), size=st.sampled_from([1, 3, 16, 33]), before=st.integers(0, 9))
@quick
def test_values_of_one_size_come_back(kernel: ModuleType, data: st.DataObject, size: int, before: int) -> None:
    value = st.binary(min_size=size, max_size=size)
    values = data.draw(st.lists(st.none() | value, min_size=1, max_size=40))
    array = arrow([bytes(size) if each is None else each for each in values], pa.binary(size), before)
    text = text_of(array)
    check(kernel, kernel.plain_region(None, text), values, size)
    check(kernel, kernel.zstd_region(zstandard.compress(text.tobytes()), None, False), values, size)
    compressed = lz4.block.compress(text.tobytes(), store_size=False)
    check(kernel, kernel.lz4_region(compressed, len(text), None, False), values, size)
    check(kernel, kernel.fsst_region(*kernel.fsst_encode(text), None, False), values, size)


@with_each_kernel
@given(value=short, nulls=st.lists(st.booleans(), min_size=1, max_size=20))
@quick
def test_a_single_value_comes_back(kernel: ModuleType, value: bytes, nulls: list[bool]) -> None:
    check(kernel, single_value.encode([value]), [None if null else value for null in nulls])


@with_each_kernel
@given(
    dictionary=st.binary(max_size=400) | st.lists(short, max_size=60).map(b" ".join),
    pieces=st.lists(st.tuples(st.integers(0, 400), st.integers(0, 90)), max_size=40),
    noise=st.binary(max_size=60),
)
@example(dictionary=bytes(range(256)) * 300, pieces=[(3, 200)] * 500, noise=b"x" * 30)
@quick
def test_lz4_with_a_dictionary_gives_the_text_back(
    kernel: ModuleType, dictionary: bytes, pieces: list[tuple[int, int]], noise: bytes
) -> None:
    text = noise.join(dictionary[at : at + size] for at, size in pieces)
    found = kernel.Lz4Dictionary(np.frombuffer(dictionary, np.uint8)).compress(np.frombuffer(text, np.uint8))
    back = lz4.block.decompress(found, uncompressed_size=len(text), dict=dictionary) if text else b""
    assert back == text


@with_each_kernel
def test_lz4_finds_text_of_the_dictionary(kernel: ModuleType) -> None:
    random = Random(4)
    dictionary = random.randbytes(60_000)
    text = dictionary[100:900] + dictionary[50_000:50_900]
    assert len(kernel.Lz4Dictionary(np.frombuffer(dictionary, np.uint8)).compress(np.frombuffer(text, np.uint8))) < 60


@with_each_kernel
def test_regions_are_the_oracles_byte_for_byte(kernel: ModuleType) -> None:
    values = [b"GET /api/x", b"", b"GET /a.js", b"GET /api/x"]
    offsets, data, *_ = parts(arrow(values, before=3))
    text, ends = b"".join(values), ends_of(values)
    assert kernel.plain_region(offsets, data) == plain.encode(values)
    assert kernel.plain_region(None, np.frombuffer(b"aabbcc", np.uint8)) == plain.encode([b"aa", b"bb", b"cc"], 2)
    frame = codec.zstd_compress(text)
    assert kernel.zstd_region(frame, ends, False) == oracle_zstd.encode(values)
    nested = delta.encode(ends.tolist(), "u8", fl_bit_pack.encode)
    expected = oracle_zstd.encode(values, nested_offsets=lambda v, t: delta.encode(v, t, fl_bit_pack.encode))
    assert kernel.zstd_region(frame, nested, True) == expected
    raw = codec.lz4_compress(text)[4:]
    assert kernel.lz4_region(raw, len(text), ends, False) == oracle_lz4.encode(values)
    header = b"\x11\0" + (4 + len(raw)).to_bytes(4, "little") + b"\0\0"
    assert kernel.lz4_region(raw, len(text), None, True)[:8] == header
    symbols = [b"GET /", b"api/", b".js"]
    table = b"".join(symbol.ljust(8, b"\0") for symbol in symbols)
    stream = bytes([0, 1, 255, ord("x"), 0, 255, ord("a"), 2, 0, 1, 255, ord("x")])
    assert kernel.fsst_region(table, b"\5\4\3", stream, ends, False) == fsst.encode(values, symbols=symbols)
    offsets, data, *_ = parts(arrow(values * 2, before=3))
    codes, lengths, entries = kernel.block_dictionary(offsets, data, None, 0) or pytest.fail("no dictionary")
    found = kernel.dictionary_region(numeric_plain.encode(codes.tolist(), "u4"), lengths, False, len(lengths), entries)
    assert found == block_dictionary.encode(values * 2, entries=[b"GET /api/x", b"", b"GET /a.js"])


# ---- FSST ----

TEXTS: Final[dict[str, bytes]] = {
    "nothing": b"",
    "one byte": b"x",
    "one zero": b"\0",
    "two": b"ab",
    "seven": b"abcabca",
    "eight": b"abcdefgh",
    "zeros": bytes(3000),
    "ends in zeros": b"key\0\0\0" * 700,
    "one symbol": b"abcdefgh" * 5000,
    "odd tail": b"abcdefgh" * 500 + b"abcdefg",
    "words": b" ".join(b"word-%d" % (i * i % 97) for i in range(4000)),
    "all bytes": bytes(range(256)) * 80,
    "noise": Random(1).randbytes(70_000),
    "little noise": Random(2).randbytes(900),
    "one lane": b"the quick brown fox " * 51,
    "lanes": b"the quick brown fox " * 52,
    "no escape in 255": bytes([255]) * 2000 + bytes([254, 255]) * 1000,
    "text": "Straße, naïve, 日本語 🙂 ".encode() * 900,
    "numbers": np.arange(9000, dtype=np.int32).tobytes(),
}


def check_fsst(kernel: ModuleType, text: bytes) -> tuple[bytes, bytes, bytes]:
    symbols, lengths, codes = kernel.fsst_encode(np.frombuffer(text, np.uint8))
    assert 1 <= len(lengths) <= 255
    assert len(symbols) == 8 * len(lengths)
    assert len(codes) <= 2 * len(text)
    for at, length in enumerate(lengths):
        assert 1 <= length <= 8
        assert symbols[8 * at + length : 8 * at + 8] == bytes(8 - length)
    # The oracle refuses codes without a symbol and an escape at the end.
    written = kernel.fsst_region(symbols, lengths, codes, np.array([0, len(text)], np.uint64), False)
    assert region.decode(written, 1, None, [True]) == [text]
    assert decode(kernel, block.build(b"", written), 1, None) == [text]
    return symbols, lengths, codes


@with_each_kernel
@pytest.mark.parametrize("name", TEXTS)
def test_fsst_gives_the_text_back(kernel: ModuleType, name: str) -> None:
    check_fsst(kernel, TEXTS[name])


@with_each_kernel
@given(text=st.binary(max_size=3000) | st.lists(short, max_size=200).map(b" ".join), times=st.integers(1, 40))
@example(text=b"\0", times=1)
@quick
def test_fsst_gives_any_text_back(kernel: ModuleType, text: bytes, times: int) -> None:
    check_fsst(kernel, text * times)


@with_each_kernel
def test_fsst_at_every_length(kernel: ModuleType) -> None:
    source = b"".join(b"GET /api/items/%d?page=%d\0" % (i * 7919 % 1000, i % 9) for i in range(900))
    near = (*range(40), *range(1020, 1030), *range(4090, 4100), 16_383, 16_384, 16_385, 16_896, 16_897)
    for size in near:
        check_fsst(kernel, source[:size])


@with_each_kernel
def test_fsst_is_the_same_every_time(kernel: ModuleType) -> None:
    text = np.frombuffer(TEXTS["words"], np.uint8)
    assert kernel.fsst_encode(text) == kernel.fsst_encode(text) == KERNELS[0].fsst_encode(text)


@with_each_kernel
def test_fsst_keeps_symbols_that_pay(kernel: ModuleType) -> None:
    _, lengths, codes = check_fsst(kernel, TEXTS["one symbol"])
    assert len(lengths) <= 8
    assert len(codes) <= len(TEXTS["one symbol"]) / 8 + 8
    # Nine bytes for a symbol: nothing in ten different bytes is worth that.
    assert len(check_fsst(kernel, b"0123456789")[1]) == 1
    symbols, lengths, codes = check_fsst(kernel, TEXTS["noise"])
    assert len(codes) + len(symbols) + len(lengths) < 1.05 * len(TEXTS["noise"])


_BESIDE: Final = Path(__file__).resolve().parents[3] / "shared" / "data"
DATA: Final = Path(os.environ.get("AMUDAI_TEST_DATA", _BESIDE))
requires_text = pytest.mark.skipif(not (DATA / "text").is_dir(), reason="no real columns in ../shared/data/text")


def cut(values: list[bytes], limit: int = 65_536) -> list[list[bytes]]:
    """Blocks of at most `limit` bytes."""
    blocks: list[list[bytes]] = [[]]
    room = limit
    for value in values:
        if blocks[-1] and len(value) > room:
            blocks.append([])
            room = limit
        blocks[-1].append(value)
        room -= len(value)
    return blocks


def packed_offsets(values: list[bytes]) -> int:
    """Bytes of offsets as Delta of bit-packed or frame-of-reference lengths, whichever is less."""
    sizes = [len(value) for value in values]
    chunks = -(-len(sizes) // 1024)
    if len(set(sizes)) == 1:
        return 16 + 10
    bits = max(sizes).bit_length()
    return 16 + min(8 + 128 * bits * chunks, 16 + 128 * (max(sizes) - min(sizes)).bit_length() * chunks)


def lines(path: Path) -> list[bytes]:
    found = path.read_bytes().split(b"\n")
    return found[:-1] if found[-1] == b"" else found


# What FSST made of these columns in blocks of 64 KiB when the encodings were compared: size over raw bytes.
MEASURED: Final = {
    "l_comment": 0.407,
    "urls2": 0.561,
    "email": 0.564,
    "city": 0.612,
    "chinese": 0.639,
    "uuid": 0.481,
    "hex": 0.625,
}


@pytest.mark.slow
@requires_text
@pytest.mark.parametrize("name", MEASURED)
def test_fsst_on_real_columns(name: str) -> None:
    values = lines(DATA / "text" / name)
    blocks = cut(values)
    size = 0
    for at, each in enumerate(blocks):
        text = b"".join(each)
        symbols, lengths, codes = _kernels.fsst_encode(np.frombuffer(text, np.uint8))
        inner = 16 + (len(symbols) + len(lengths) + len(codes) + 7) // 8 * 8 + packed_offsets(each)
        size += (8 + inner + 4 + 7) // 8 * 8 + 4  # envelope, checksum, its share of the block map
        if at % 7 == 0:
            ends = np.cumsum([0, *map(len, each)]).astype(np.uint64)
            check(KERNELS[-1], _kernels.fsst_region(symbols, lengths, codes, ends, False), each)
    assert size / sum(map(len, values)) <= 1.05 * MEASURED[name]


# ---- dictionaries ----


def entries_of(dictionary: Any) -> list[bytes]:
    offsets, data = dictionary.values()
    return [bytes(data[offsets[i] : offsets[i + 1]]) for i in range(len(offsets) - 1)]


def width_of(kind: pa.DataType) -> int | None:
    return kind.byte_width if pa.types.is_fixed_size_binary(kind) else None


def check_dictionary(kernel: ModuleType, batches: list[pa.Array]) -> None:
    """Codes, entries, counts and order are those that pyarrow finds."""
    size = width_of(batches[0].type)
    dictionary = kernel.Dictionary(size)
    codes = np.concatenate([dictionary.encode(*parts(batch)) for batch in batches])
    joined = pa.concat_arrays(batches)
    expected = joined.dictionary_encode(null_encoding="encode")
    assert codes.dtype == np.uint32
    assert codes.tolist() == expected.indices.to_pylist()
    entries = expected.dictionary.to_pylist()
    null = entries.index(None) if None in entries else None
    assert dictionary.null_code == null
    assert dictionary.size == len(entries)
    assert entries_of(dictionary) == [bytes(size or 0) if entry is None else entry for entry in entries]
    assert dictionary.value_bytes == sum(map(len, entries_of(dictionary)))
    assert dictionary.counts().tolist() == np.bincount(codes, minlength=len(entries)).tolist()
    ids = [code for code in range(len(entries)) if code != null]
    assert dictionary.sorted_ids().tolist() == sorted(ids, key=entries.__getitem__)
    check_recoding(kernel, batches, dictionary, codes)


def check_recoding(kernel: ModuleType, batches: list[pa.Array], expected: Any, codes: Array) -> None:
    """Batches with dictionaries of their own give the codes, entries and counts that their values give."""
    found = kernel.Dictionary(width_of(batches[0].type))
    recoded = []
    for batch in batches:
        coded = batch.dictionary_encode()
        # In another order, with an entry that no slot has.
        order = np.random.default_rng(len(batch)).permutation(len(coded.dictionary))
        entries = coded.dictionary.take(pa.array(np.append(order, order[:1])))
        numbers = np.argsort(order).astype(np.uint32)
        indices = coded.indices.fill_null(0).to_numpy()
        others = numbers[indices] if len(numbers) else np.zeros(len(batch), np.uint32)
        offsets, data, _, _, count = parts(entries)
        _, _, validity, at, _ = parts(batch)
        recoded.append(found.recode(offsets, data, count, others, validity, at))
    assert np.concatenate(recoded).tolist() == codes.tolist()
    assert entries_of(found) == entries_of(expected)
    assert found.counts().tolist() == expected.counts().tolist()
    assert found.null_code == expected.null_code


@with_each_kernel
@given(batches=st.lists(slots, min_size=1, max_size=4), kind=kinds, before=st.integers(0, 9))
@example(batches=[[None], [b"a", b"a\0", b"", None]], kind=pa.binary(), before=0)
@quick
def test_a_dictionary_is_pyarrows(
    kernel: ModuleType, batches: list[list[Value]], kind: pa.DataType, before: int
) -> None:
    check_dictionary(kernel, [arrow(values, kind, before) for values in batches])


@with_each_kernel
@given(data=st.data(), size=st.sampled_from([0, 1, 7, 16, 17, 40]), before=st.integers(0, 9))
@quick
def test_a_dictionary_of_one_size_is_pyarrows(kernel: ModuleType, data: st.DataObject, size: int, before: int) -> None:
    values = st.none() | st.binary(min_size=size, max_size=size) | st.just(b"z" * size)
    batches = data.draw(st.lists(st.lists(values, min_size=1, max_size=40), min_size=1, max_size=3))
    check_dictionary(kernel, [arrow(batch, pa.binary(size), before) for batch in batches])


@with_each_kernel
def test_a_large_dictionary_is_pyarrows(kernel: ModuleType) -> None:
    rng = np.random.default_rng(3)
    count = int(60_000 * min(EFFORT, 1))
    picks = rng.integers(0, count // 2, 2 * count)
    # Short and long values; long ones that agree at both ends.
    values = [b"%d" % at if at % 3 else b"prefix-%012d-suffix" % at for at in picks.tolist()]
    check_dictionary(kernel, [arrow(values[:count]), arrow(values[count:], before=5)])


@with_each_kernel
def test_a_dictionary_without_values(kernel: ModuleType) -> None:
    dictionary = kernel.Dictionary(None)
    assert (dictionary.size, dictionary.value_bytes, dictionary.null_code) == (0, 0, None)
    assert dictionary.encode(np.zeros(1, np.int32), np.zeros(0, np.uint8), None, 0, 0).tolist() == []
    assert [part.tolist() for part in dictionary.values()] == [[0], []]
    assert dictionary.sorted_ids().tolist() == dictionary.counts().tolist() == []


@with_each_kernel
@given(values=slots, kind=kinds, before=st.integers(0, 9))
@quick
def test_a_block_dictionary_holds_each_value_once(
    kernel: ModuleType, values: list[Value], kind: pa.DataType, before: int
) -> None:
    offsets, data, validity, at, _ = parts(arrow(values, kind, before))
    distinct = list(dict.fromkeys(value for value in values if value is not None))
    found = kernel.block_dictionary(offsets, data, validity, at)
    assert (found is None) == (2 * len(distinct) > len(values))
    if found is None:
        return
    codes, lengths, entries = found
    ends = np.cumsum([0, *lengths.tolist()])
    listed = [entries[ends[i] : ends[i + 1]] for i in range(len(lengths))]
    assert listed == (distinct or [b""])
    assert [None if code == 0 else listed[code - 1] for code in codes.tolist()] == values


@with_each_kernel
def test_a_block_of_nulls_has_an_entry(kernel: ModuleType) -> None:
    offsets, data, validity, at, _ = parts(arrow([None] * 70))
    codes, lengths, entries = kernel.block_dictionary(offsets, data, validity, at) or pytest.fail("no dictionary")
    assert (codes.tolist(), lengths.tolist(), entries) == ([0] * 70, [0], b"")


# ---- refusals ----


@with_each_kernel
def test_what_does_not_fit_is_refused(kernel: ModuleType) -> None:
    data = np.frombuffer(b"abcdef", np.uint8)
    good = np.array([0, 2, 6], np.int32)
    for offsets in ([0, 4, 2], [0, 2, 7], [-1, 2, 3]):
        for dtype in (np.int32, np.int64):
            bad = np.array(offsets, dtype)
            for call in (
                lambda bad=bad: kernel.plain_region(bad, data),
                lambda bad=bad: kernel.block_dictionary(bad, data, None, 0),
                lambda bad=bad: kernel.Dictionary(None).encode(bad, data, None, 0, 2),
                lambda bad=bad: kernel.Dictionary(None).recode(bad, data, 2, np.zeros(1, np.uint32), None, 0),
                lambda bad=bad: kernel.text_stats(bad, data, None, None, 0, 2),
            ):
                with pytest.raises(ValueError, match=r"offsets|data"):
                    call()
    with pytest.raises(TypeError):
        kernel.plain_region(good.astype(np.uint32), data)
    with pytest.raises(ValueError, match="offsets"):
        kernel.plain_region(good[:0], data)
    with pytest.raises(ValueError, match="offsets"):
        kernel.Dictionary(None).encode(good, data, None, 0, 3)
    with pytest.raises(ValueError, match="values"):
        kernel.Dictionary(3).encode(good, data, None, 0, 2)
    with pytest.raises(ValueError, match="data"):
        kernel.Dictionary(4).encode(None, data, None, 0, 2)
    with pytest.raises(ValueError, match="validity"):
        kernel.Dictionary(3).encode(None, data, np.zeros(1, np.uint8), 7, 2)
    for codes in ([2], [0, 1, 2**32 - 1]):
        with pytest.raises(ValueError, match="codes"):
            kernel.Dictionary(None).recode(good, data, 2, np.array(codes, np.uint32), None, 0)
    with pytest.raises(ValueError, match="validity"):
        kernel.Dictionary(None).recode(good, data, 2, np.zeros(9, np.uint32), np.zeros(1, np.uint8), 0)
    with pytest.raises(ValueError, match="validity"):
        kernel.block_dictionary(good, data, np.zeros(0, np.uint8), 0)
    with pytest.raises(ValueError, match="symbols"):
        kernel.fsst_region(b"", b"", b"\xffa", None, False)
    with pytest.raises(ValueError, match="symbols"):
        kernel.fsst_region(b"a", b"\1", b"\0", None, False)
    with pytest.raises(ValueError, match="lz4"):
        kernel.lz4_region(b"", 0x7E000001, None, False)
    with pytest.raises(ValueError, match="entries"):
        kernel.dictionary_region(b"\7\0\0\0\0\0", b"", False, 0, b"")
    with pytest.raises(ValueError, match="lengths"):
        kernel.dictionary_region(b"\7\0\0\0\0\0", b"\0\0\0\0", False, 2, b"")
    with pytest.raises(ValueError, match="offsets"):
        kernel.zstd_region(b"", np.zeros(3, np.uint32), False)
    with pytest.raises(TypeError):
        kernel.zstd_region("text", None, False)
