"""Do the kernels read every encoding of strings and bytes as the oracle does?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai import encoding as package
from amudai.encoding import BINARY, Values
from amudai.encoding.binary.contract import BinaryEncoding
from amudai.errors import CorruptedData, UnsupportedFeature
from amudai.rows import Rows
from tests import effort
from tests.encoding import cascades, runs
from tests.encoding.checks import check_strings, described_strings, values_in
from tests.encoding.runs import Block
from tests.oracle import block, examples, presence
from tests.oracle.binary import (
    block_dictionary,
    fsst,
    lz4,
    lz4_shared,
    plain,
    region,
    single_value,
    snappy,
    zstd,
    zstd_shared,
)
from tests.oracle.common import Encoder, make_header
from tests.oracle.numeric import delta, ffor, fl_bit_pack
from tests.oracle.numeric import plain as numeric_plain
from tests.oracle.numeric import single_value as numeric_single
from tests.oracle.numeric import zstd as numeric_zstd

pytestmark = pytest.mark.native

FIXED = [0, 1, 3, 16, 100]
KINDS: list[int | str] = ["text", "binary", *FIXED]
CASES = [pytest.param(encoding, kind, id=f"{encoding.name}-{kind}") for encoding in BINARY for kind in KINDS]


def fixed_size(kind: int | str) -> int | None:
    return kind if isinstance(kind, int) else None


# ---- values ----

WORDS = [
    "",
    "a",
    "error",
    "GET /api/items/",
    "naïve",
    "日本語のテキスト",
    "🙂",
    "x" * 31,
    "y" * 32,
    "z" * 33,
    "\0",
    "é" * 40,
]


def words(rng: np.random.Generator, count: int) -> list[bytes]:
    return [WORDS[at].encode() for at in rng.integers(0, len(WORDS), count)]


def lines(rng: np.random.Generator, count: int) -> list[bytes]:
    return [f"{at} {WORDS[at % 7]} took {rng.integers(1000)} ms at {WORDS[at % 3]}".encode() for at in range(count)]


def empty(rng: np.random.Generator, count: int) -> list[bytes]:
    return [b""] * count


def equal(rng: np.random.Generator, count: int) -> list[bytes]:
    return words(rng, 1) * count


def long(rng: np.random.Generator, count: int) -> list[bytes]:
    values = words(rng, count)
    values[int(rng.integers(count))] = ("lorem ïpsum " * 6000).encode()[:70_000]
    return values


def noise(rng: np.random.Generator, count: int) -> list[bytes]:
    return [rng.bytes(int(size)) for size in rng.integers(0, 40, count)]


TEXT = [words, lines, empty, equal, long]
SIZES = [1, 2, 255, 600, 1025, 3, 40]


def values_of(kind: int | str, name: str, rng: np.random.Generator, count: int, turn: int) -> list[bytes]:
    """Values that the encoding can hold; their shape goes round with `turn`."""
    shapes = TEXT if kind == "text" else [*TEXT, noise]
    values = shapes[turn % len(shapes)](rng, count)
    if isinstance(kind, int):
        few = [rng.bytes(kind) for _ in range(4)]
        values = [rng.bytes(kind) if turn % 2 else few[at] for at in rng.integers(0, 4, count)]
    if name == "single_value":
        return [values[turn % count]] * count
    if name == "block_dictionary" and len(set(values)) > 100:
        return [values[int(at)] for at in rng.integers(0, min(50, count), count)]
    return values


# ---- encoders: by the names of the catalog, with parts chosen at random ----


class Nested:
    """Parts of a region. `names` is what the kernels call them, in their order."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names: list[str] = []

    def part(self, values: list[int], dtype: str) -> bytes:
        data, name = cascades.encode(self.random, values, dtype, self.random.randint(1, 3))
        self.names.append(name)
        return data

    def part_or_raw(self) -> Encoder | None:
        if self.random.random() < 0.7:
            return self.part
        return None


def _symbols(values: Sequence[bytes], random: Random) -> list[bytes] | None:
    """Symbols that cross values and cut characters; few of them where values are long: the oracle tries each."""
    data = b"".join(values)
    if len(data) > 20_000:
        return [b"lorem \xc3", b"\xafpsum l", b"e", b"\xc3"]
    found = {data[at : at + random.randint(1, 8)] for at in random.sample(range(len(data)), min(len(data), 30))}
    return sorted(found) or [b"\0"]


def _encode_fsst(values: list[bytes], size: int | None, nested: Nested) -> bytes:
    return fsst.encode(
        values, size, _symbols(values, nested.random), None if size is not None else nested.part_or_raw()
    )


def _encode_dictionary(values: list[bytes | None], size: int | None, nested: Nested) -> bytes:
    lengths = None if size is not None else nested.part_or_raw()
    return block_dictionary.encode(values, size, nested.part, lengths)


def _encode_payload(module: Any) -> Callable[[list[Any], int | None, Nested], bytes]:
    return lambda values, size, nested: module.encode(values, size, None if size is not None else nested.part_or_raw())


ENCODERS: dict[str, Callable[[list[Any], int | None, Nested], bytes]] = {
    "plain": lambda values, size, _: plain.encode(values, size),
    "single_value": lambda values, size, _: single_value.encode(values, size),
    "block_dictionary": _encode_dictionary,
    "fsst": _encode_fsst,
    **{
        module.__name__.rsplit(".", 1)[-1]: _encode_payload(module)
        for module in (zstd, lz4, snappy, zstd_shared, lz4_shared)
    },
}


def make(
    name: str, values: list[bytes], present: list[bool], part: bytes, size: int | None, random: Random
) -> tuple[Block, str]:
    """A block of these values, null where they are not present, and what the kernels call it."""
    nested = Nested(random)
    stored: list[bytes | None] = [*values]
    if name == "block_dictionary":
        stored = [value if here else None for value, here in zip(values, present, strict=True)]
    elif name != "single_value" and random.random() < 0.5:  # else null slots keep bytes that mean nothing
        stored = [value if here else bytes(size or 0) for value, here in zip(values, present, strict=True)]
    data = ENCODERS[name](stored, size, nested)
    inner = list(nested.names)
    parts = {"plain": 0, "single_value": 0, "block_dictionary": 2}.get(name, 1)
    if size is None and len(inner) < parts:
        inner.append("raw")
    return Block(block.build(part, data), len(values)), f"{name}({', '.join(inner)})" if inner else name


# ---- the battery ----


def test_every_encoding_has_an_oracle_and_an_encoder() -> None:
    assert set(ENCODERS) == {encoding.name for encoding in BINARY}
    assert {code: module.__name__.rsplit(".", 1)[-1] for code, module in region.CATALOG.items()} == {
        encoding.code: encoding.name for encoding in BINARY
    }


@pytest.mark.slow
@pytest.mark.parametrize(("encoding", "kind"), CASES)
def test_kernel_and_oracle_agree(encoding: BinaryEncoding, kind: int | str) -> None:
    seed, size = crc32(f"{encoding.name} {kind}".encode()), fixed_size(kind)
    rng, random = np.random.default_rng(seed), Random(seed)
    blocks, names = [], []
    for turn, count in enumerate(effort.some(SIZES, seed)):
        values = values_of(kind, encoding.name, rng, count, seed + turn)
        part, present = runs.presence_of(runs.PRESENCE[(seed + turn) % len(runs.PRESENCE)], count, rng)
        made, name = make(encoding.name, values, present, part, size, random)
        blocks.append(made)
        names.append(name)
        stored = block.decode_binary(made.data, count, size)
        assert stored == [value if here else None for value, here in zip(values, present, strict=True)]
    for found in described_strings(blocks, size):
        assert found == Counter(names)
    check_strings(blocks, size, kind == "text", seed)


@pytest.mark.parametrize("shape", TEXT, ids=lambda shape: shape.__name__)
@pytest.mark.parametrize("encoding", BINARY, ids=lambda encoding: encoding.name)
def test_every_shape_in_a_run_of_its_own(encoding: BinaryEncoding, shape: Any) -> None:
    rng, random = np.random.default_rng(3), Random(3)
    values = shape(rng, 30)
    if encoding.name == "single_value":
        values = [max(values, key=len)] * 30
    made, _ = make(encoding.name, values, [True] * 30, b"", None, random)
    check_strings([made], None, True, 4)


@pytest.mark.slow
@pytest.mark.parametrize(("encoding", "kind"), CASES)
@effort.examples(15)
@given(data=st.data())
def test_any_values(encoding: BinaryEncoding, kind: int | str, data: st.DataObject) -> None:
    size = fixed_size(kind)
    blocks = []
    for _ in range(data.draw(st.integers(1, 3))):
        if kind == "text":
            value = st.text(max_size=12).map(str.encode)
        else:
            letters = st.sampled_from(list(b"ab\0\xff")) | st.integers(0, 255)
            least, most = (0, 20) if size is None else (size, size)
            value = st.lists(letters, min_size=least, max_size=most).map(bytes)
        values = data.draw(st.lists(value, min_size=1, max_size=25 if size != 100 else 4))
        if encoding.name == "single_value":
            values = values[:1] * len(values)
        seed = data.draw(st.integers(0, 1 << 30))
        section = data.draw(st.sampled_from(runs.PRESENCE))
        part, present = runs.presence_of(section, len(values), np.random.default_rng(seed))
        made, _ = make(encoding.name, values, present, part, size, Random(seed))
        blocks.append(made)
    check_strings(blocks, size, kind == "text", data.draw(st.integers(0, 1 << 30)))


@pytest.mark.slow
@effort.examples(60)
@given(data=st.data())
def test_blocks_of_different_encodings_in_one_run(data: st.DataObject) -> None:
    size = data.draw(st.sampled_from([None, 16]))
    blocks = []
    for encoding in data.draw(st.permutations(BINARY)):
        rng = np.random.default_rng(data.draw(st.integers(0, 1 << 30)))
        count = data.draw(st.integers(1, 60))
        values = values_of("binary" if size is None else size, encoding.name, rng, count, int(rng.integers(10)))
        part, present = runs.presence_of(data.draw(st.sampled_from(runs.PRESENCE)), count, rng)
        made, _ = make(encoding.name, values, present, part, size, Random(count))
        blocks.append(made)
    check_strings(blocks, size, False, 5)


# ---- what the battery does not reach ----


@pytest.mark.parametrize("example", examples.BINARY_BLOCKS, ids=lambda example: example.name)
def test_published_blocks(example: examples.BinaryBlock) -> None:
    check_strings([Block(bytes.fromhex(example.dump), len(example.values))] * 2, example.fixed_size, False, 1)


OFFSETS: dict[str, Encoder] = {
    "plain": numeric_plain.encode,
    "ffor": ffor.encode,
    "fl_bit_pack": fl_bit_pack.encode,
    "zstd": numeric_zstd.encode,
    "delta(zstd)": lambda values, dtype: delta.encode(values, dtype, numeric_zstd.encode),
    "delta(ffor)": lambda values, dtype: delta.encode(values, dtype, ffor.encode),
    "delta(delta(fl_bit_pack))": lambda values, dtype: delta.encode(
        values, dtype, lambda v, t: delta.encode(v, t, fl_bit_pack.encode)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OFFSETS)
@pytest.mark.parametrize("module", [fsst, zstd, lz4], ids=["fsst", "zstd", "lz4"])
def test_nested_offsets(module: Any, name: str) -> None:
    values = lines(np.random.default_rng(1), 300)
    more = {"symbols": [b" took ", b" ms at ", b"a"]} if module is fsst else {}
    blocks = [
        Block(block.build(b"", module.encode(part, nested_offsets=OFFSETS[name], **more)), len(part))
        for part in (values, values[:7], values[7:200])
    ]
    for found in described_strings(blocks, None):
        assert found == {f"{module.__name__.rsplit('.', 1)[-1]}({name})": 3}
    check_strings(blocks, None, True, 6)


@pytest.mark.slow
@pytest.mark.parametrize("count", [0, 1, 7, 254, 255])
@pytest.mark.parametrize("size", [None, 3])
def test_fsst_with_few_and_with_all_symbols(count: int, size: int | None) -> None:
    rng = np.random.default_rng(count)
    values = [rng.bytes(3) for _ in range(500)]
    # Singles for most bytes, so that nearly every code occurs; what has none is escaped, 255 among them.
    symbols = [bytes([at]) for at in range(count)]
    if count > 7:
        symbols[:3] = [values[0], values[1] + values[2], values[3][1:] + values[4] + values[5]]
    data = fsst.encode(values, size, symbols)
    check_strings([Block(block.build(b"", data), 500)] * 2, size, False, 7)


def test_fsst_symbols_of_every_length_cross_values() -> None:
    text = "abcdefghijklmnopqrstuvwxyz" * 40
    for width in range(1, 9):
        # Values of all lengths: each may begin and end anywhere inside a symbol.
        values, at = [], 0
        while at < len(text):
            values.append(text[at : at + len(values) % 13].encode())
            at += len(values[-1])
        symbols = sorted({text[at : at + width].encode() for at in range(0, 26 * 8, width)})
        data = fsst.encode(values, None, symbols)
        check_strings([Block(block.build(b"", data), len(values))], None, True, width)


def test_fsst_escapes_only() -> None:
    values = [bytes([255, at % 256]) for at in range(300)]
    data = fsst.encode(values, None, [b"never there"[:8]])
    check_strings([Block(block.build(b"", data), 300)], None, False, 8)


@pytest.mark.slow
@pytest.mark.parametrize("codes", ["plain", "zstd", "ffor"])
def test_dictionary_codes_win_over_presence(codes: str) -> None:
    encoder = {"plain": numeric_plain.encode, "zstd": numeric_zstd.encode, "ffor": ffor.encode}[codes]
    for size, values in ((None, [b"a", None, b"bc"] * 40), (2, [b"aa", None, b"bc"] * 40)):
        data = block_dictionary.encode(values, size, encoder)
        for part in (b"", presence.encode([False, True, False] * 40)):
            check_strings([Block(block.build(part, data), 120)], size, False, 9)


def test_dictionary_entries_that_repeat_are_empty_or_unused() -> None:
    entries = [b"", b"unused" * 10, b"x" * 33, b"", b"tail"]
    values = [b"", b"x" * 33, None, b"tail", b""] * 20
    for lengths in (None, numeric_zstd.encode, ffor.encode):
        data = block_dictionary.encode(values, None, numeric_plain.encode, lengths, entries)
        check_strings([Block(block.build(b"", data), 100)], None, True, 10)


@pytest.mark.slow
@pytest.mark.parametrize("encoding", BINARY, ids=lambda encoding: encoding.name)
def test_nothing_but_empty_values(encoding: BinaryEncoding) -> None:
    random = Random(1)
    for present in ([True] * 9, [True, False, True] * 3, [False] * 9):
        for size in (None, 0):
            made, _ = make(encoding.name, [b""] * 9, present, presence.encode(present), size, random)
            check_strings([made], size, size is None, 11)
            check_strings([made] * 3, size, False, 12)


# ---- text ----

NO_TEXT = {
    "no lead": b"ab\x80c",
    "no tail": b"ab\xc3",
    "short tail": "日".encode()[:2],
    "wrong tail": b"\xe6\x97a",
    "overlong 2": b"\xc0\x80",
    "overlong 3": b"\xe0\x9f\xbf",
    "overlong 4": b"\xf0\x8f\xbf\xbf",
    "surrogate": b"\xed\xa0\x80",
    "too large": b"\xf4\x90\x80\x80",
    "five bytes": b"\xf8\x88\x80\x80\x80",
    "ff": b"\xff",
}


@pytest.mark.parametrize("value", NO_TEXT.values(), ids=NO_TEXT.keys())
@pytest.mark.parametrize("encoding", BINARY, ids=lambda encoding: encoding.name)
def test_strings_that_are_no_text_are_refused(encoding: BinaryEncoding, value: bytes) -> None:
    values = [value] * 5 if encoding.name == "single_value" else [b"fine", value, b"fine", "gut ✓".encode(), b"x" * 40]
    good, _ = make(encoding.name, [b"fine"] * 5, [True] * 5, b"", None, Random(0))
    bad, _ = make(encoding.name, values, [True] * 5, b"", None, Random(0))
    buffer = runs.buffer_of([good, bad])
    for ranges in (Rows.one(0, 10), Rows.one(6, 7)):
        with pytest.raises(CorruptedData, match="UTF-8") as caught:
            package.decode_variable(buffer, ranges, text=True, wide=False)
        assert caught.value.place["block"] == 1
        found = package.decode_variable(buffer, ranges, text=False, wide=True)
        assert value in values_in(found, None, True)
    # Damage in bytes that are not read goes unnoticed.
    assert package.decode_variable(buffer, Rows.one(0, 5), text=True, wide=False).length == 5


@pytest.mark.parametrize(
    "encoding", [e for e in BINARY if e.name != "single_value"], ids=lambda encoding: encoding.name
)
def test_a_value_that_begins_inside_a_character_is_refused(encoding: BinaryEncoding) -> None:
    values = [b"ab\xc3", b"\xa9cd", b"ef"]
    good, _ = make(encoding.name, ["gut ✓".encode()] * 4, [True] * 4, b"", None, Random(0))
    made, _ = make(encoding.name, values, [True] * 3, b"", None, Random(0))
    buffer = runs.buffer_of([good, made])
    for ranges in (Rows.one(0, 7), Rows.one(3, 6), Rows.one(4, 6), Rows.one(4, 5), Rows.one(5, 7)):
        with pytest.raises(CorruptedData, match="UTF-8") as caught:
            package.decode_variable(buffer, ranges, text=True, wide=False)
        assert caught.value.place["block"] == 1
    assert values_in(package.decode_variable(buffer, Rows.one(4, 7), text=False, wide=False), None, False) == values


def is_text(value: bytes) -> bool:
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


@effort.examples(300)
@given(st.lists(st.binary(max_size=6) | st.text(max_size=9).map(str.encode), min_size=1, max_size=5), st.data())
def test_text_is_what_python_says_it_is(values: list[bytes], data: st.DataObject) -> None:
    joined = b"".join(values)
    if data.draw(st.booleans()):  # cut text anywhere
        cuts = sorted(data.draw(st.lists(st.integers(0, len(joined)), max_size=4)))
        values = [joined[start:end] for start, end in zip([0, *cuts], [*cuts, len(joined)], strict=True)]
    expected = all(map(is_text, values))
    buffer = runs.buffer_of([Block(block.build(b"", plain.encode(values)), len(values))])
    offsets = np.cumsum([0, *map(len, values)]).astype(np.uint64)
    for read in (
        lambda: package.decode_variable(buffer, Rows.one(0, len(values)), text=True, wide=False),
        lambda: package.require_text(memoryview(joined), offsets),
    ):
        if expected:
            read()
        else:
            with pytest.raises(CorruptedData, match="UTF-8"):
                read()


# ---- too much for 32 bits ----


def _large_blocks() -> dict[str, list[Block]]:
    value = b"v" * 70_000
    few = 40_000  # 2.8 GB of values in a few kilobytes
    codes = numeric_single.encode
    dictionary = block_dictionary.encode([value] * few, None, codes, entries=[value])
    single = block.build(b"", single_value.encode([value]))
    return {
        "single_value": [Block(single, few)],
        "block_dictionary": [Block(block.build(b"", dictionary), few)],
        "together": [Block(single, few // 4)] * 4,
    }


@pytest.mark.parametrize("name", ["single_value", "block_dictionary", "together"])
def test_more_bytes_than_offsets_can_count(name: str) -> None:
    blocks = _large_blocks()[name]
    buffer, total = runs.buffer_of(blocks), sum(each.count for each in blocks)
    pool = pa.default_memory_pool()
    most = max(pool.max_memory() or 0, pool.bytes_allocated() + (1 << 24))
    with pytest.raises(OverflowError):
        package.decode_variable(buffer, Rows.one(0, total), text=True, wide=False)
    assert (pool.max_memory() or 0) <= most, "memory for the values was taken before they were counted"
    # A part fits.
    found = package.decode_variable(buffer, Rows.one(total - 3, total), text=True, wide=False)
    assert values_in(found, None, False) == [b"v" * 70_000] * 3


# ---- damage that has a name ----


@pytest.mark.parametrize(
    ("data", "size", "message"),
    [
        (make_header(99, ""), None, "encoding code 99"),
        (make_header(4, "QB", 0, 1), None, "encoding code 4"),
        (plain.encode([b"a", b"b"], 1), None, "offset width"),
        (plain.encode([b"a", b"b"]), 1, "offset width"),
        (single_value.encode([b"abc"]), 2, "single_value bytes"),
        (block_dictionary.encode([b"a", b"b"], entries=[b"a", b"b"])[:-1], None, "entry bytes"),
        (fsst.encode([b"ab", b"cd"], symbols=[b"ab"])[:-1], None, "offsets bytes"),
        (lz4.encode([b"ab" * 30, b"cd" * 30])[:-1], None, "offsets bytes"),
        (zstd.encode([b"ab", b"cd"])[:20], None, "compressed payload bytes"),
    ],
)
def test_regions_that_are_no_regions_are_refused(data: bytes, size: int | None, message: str) -> None:
    buffer = runs.buffer_of([Block(block.build(b"", data), 2)])

    def read() -> Values:
        if size is None:
            return package.decode_variable(buffer, Rows.one(0, 2), text=False, wide=False)
        return package.decode_fixed(buffer, Rows.one(0, 2), size)

    with pytest.raises((CorruptedData, UnsupportedFeature), match=message) as caught:
        read()
    assert caught.value.place["block"] == 0


def test_nothing_asked_for() -> None:
    buffer = runs.buffer_of([Block(block.build(b"", plain.encode([b"a"])), 1)])
    found = package.decode_variable(buffer, Rows.one(1, 1), text=True, wide=False)
    assert values_in(found, None, False) == []
    fixed = runs.buffer_of([Block(block.build(b"", plain.encode([b"abc"], 3)), 1)])
    assert values_in(package.decode_fixed(fixed, Rows.one(1, 1), 3), 3, False) == []
