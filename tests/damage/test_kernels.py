"""Kernels against blocks that lie: what the oracle says too, or an error of ours; never more memory than is due."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai import _kernels
from amudai.encoding import NUMERIC, ByteKeys, DecimalForm, NumberRanges, TextSearch, compare, decode
from amudai.encoding.numeric.contract import NumericEncoding
from amudai.errors import CorruptedData, LimitExceeded, UnsupportedFeature
from amudai.format import ValueDictionary
from amudai.rows import Rows
from amudai.types import BasicType, SchemaNode
from tests.damage import hostile
from tests.damage.blocks import EDITS, Held, Watched, binaries, bounded, edited, examples, numbers, sealed
from tests.encoding import cascades
from tests.oracle import block, decimal128, dictionary, presence
from tests.oracle.binary import block_dictionary as binary_dictionary
from tests.oracle.binary import fsst, lz4_shared, zstd_shared
from tests.oracle.binary import lz4 as binary_lz4
from tests.oracle.binary import plain as binary_plain
from tests.oracle.binary import single_value as binary_single
from tests.oracle.binary import snappy as binary_snappy
from tests.oracle.binary import zstd as binary_zstd
from tests.oracle.common import ALL, Encoder, OracleError, pack
from tests.oracle.numeric import delta, ffor, fl_bit_pack, pco, plain, run_length, single_value, zstd

pytestmark = [pytest.mark.native, pytest.mark.slow]

REFUSED = (CorruptedData, UnsupportedFeature)


@pytest.fixture(autouse=True)
def watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    """Check that kernels write only into the memory that they were given."""
    memory = Watched()
    monkeypatch.setattr(decode, "allocate", memory)
    monkeypatch.setattr(compare, "allocate", memory)
    yield memory
    memory.check()


def first_rows(count: int) -> Rows:
    """All rows, or only the first ones if the claimed number would not fit into memory."""
    return Rows.one(0, min(count, 100_000))


# ---- claims that cannot be true ----


@pytest.mark.parametrize("name", hostile.NUMBERS)
@pytest.mark.parametrize("part", ["first rows", "last row"])
def test_hostile_numbers(name: str, part: str) -> None:
    case = hostile.NUMBERS[name]
    held = Held((case.count, block.build(b"", case.section)))
    ranges = first_rows(case.count) if part == "first rows" else Rows.one(case.count - 1, case.count)
    with bounded(), pytest.raises(REFUSED):
        numbers(held, ranges, case.dtype)
    nothing = np.ones(1, case.dtype)
    with bounded(), pytest.raises(REFUSED):
        compare.compare_numbers(held, ranges, NumberRanges(nothing, nothing), inverted=False)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", pco.TYPES)
def test_entropy_coded_values_are_counted_before_they_are_inflated(dtype: str) -> None:
    """A few bytes may hold any number of equal values, so their number is no sign of damage."""
    held = Held((hostile.MANY, block.build(b"", pco.encode([1] * 10, dtype))))
    with bounded(), pytest.raises(LimitExceeded, match="block_memory"):
        numbers(held, Rows.one(0, 5), dtype)


@pytest.mark.parametrize("name", hostile.BINARIES)
def test_hostile_bytes(name: str) -> None:
    case = hostile.BINARIES[name]
    held = Held((case.count, block.build(b"", case.region)))
    with bounded(), pytest.raises(REFUSED):
        binaries(held, first_rows(case.count), case.size)
    if case.size is None:
        with bounded(), pytest.raises(REFUSED):
            binaries(held, first_rows(case.count), None, wide=True)


@pytest.mark.parametrize("name", hostile.PRESENCE)
def test_hostile_presence(name: str) -> None:
    marks = hostile.PRESENCE[name]
    with bounded(), pytest.raises(REFUSED):
        numbers(Held((3, block.build(marks, hostile.PLAIN))), Rows.one(0, 3), "u4")
    region = binary_plain.encode([b"ab"] * 3)
    with bounded(), pytest.raises(REFUSED):
        binaries(Held((3, block.build(marks, region))), Rows.one(1, 2), None)


@pytest.mark.parametrize("name", hostile.ENVELOPES)
def test_hostile_envelopes(name: str) -> None:
    count, data = hostile.ENVELOPES[name]
    blocks = np.array([count], np.uint64)
    place = np.zeros(1, np.uint32), np.zeros(1, np.uint64), np.array([len(data)], np.uint64)
    with bounded(), pytest.raises(REFUSED) as caught:
        _kernels.Blocks([memoryview(data)], *place, blocks, np.array([7], np.uint64), True, True)
    assert caught.value.place == {"block": 7}


@pytest.mark.parametrize("start", [0, 1, 40, 1 << 63, (1 << 64) - 1])
@pytest.mark.parametrize("size", [0, 1, 40, 1 << 63, (1 << 64) - 1])
def test_blocks_outside_of_their_buffer(start: int, size: int) -> None:
    data = block.build(b"", hostile.PLAIN)
    one, place = np.array([1], np.uint64), (np.array([start], np.uint64), np.array([size], np.uint64))
    with pytest.raises(CorruptedData):
        _kernels.Blocks([memoryview(data)[:-1]], np.zeros(1, np.uint32), *place, one, one, True, True)


@pytest.mark.parametrize("dtype", ["u1", "i4", "u8"])
def test_deltas_of_deltas_cost_what_one_costs(dtype: str) -> None:
    count = 1 << 16
    section = single_value.encode([1], dtype)
    for _ in range(15):
        section = delta.encode([1], dtype, lambda v, t, inner=section: inner)
    held = Held((count, block.build(b"", section)))
    with bounded():
        whole = decode.decode_numbers(held, Rows.one(0, count), dtype).numbers(dtype)
        last = decode.decode_numbers(held, Rows.one(count - 5, count), dtype).numbers(dtype)
    assert last.tolist() == whole[-5:].tolist()
    assert whole[:20].tolist() == block.decode_numeric(block.build(b"", section), 20, dtype)


def test_a_dictionary_is_decoded_once_for_all_rows_of_a_block() -> None:
    values = [b"%d" % (at % 4000) for at in range(60_000)]
    entries = [b"%d" % at for at in range(4000)]
    place = {entry: at + 1 for at, entry in enumerate(entries)}
    codes = plain.encode([place[value] for value in values], "u4")
    region = binary_dictionary.encode([], entries=entries, nested_codes=lambda v, t: codes)
    ranges = Rows.of_positions(np.arange(0, len(values), 2, dtype=np.uint64))
    with bounded():
        found = binaries(Held((len(values), block.build(b"", region))), ranges, None)
    assert found == values[::2]


# ---- broken blocks of every encoding ----

Decode = Callable[[Held, Rows], list[Any]]


def check(
    data: st.DataObject, sound: bytes, count: int, read: Decode, expect: Callable[[bytes, int, bool], Any]
) -> None:
    """Break a sound block, and read some of it."""
    checksums = data.draw(st.booleans(), label="checksums")
    broken = edited(sound if checksums else sound[:-4], data.draw(EDITS, label="edits"))
    if checksums:
        broken = sealed(broken)
    claimed = max(1, count + data.draw(st.sampled_from([0, 0, 0, 0, -1, 1, 7, 1000, 70_000]), label="more values"))
    ranges = some_rows(Random(data.draw(st.integers(0, 1 << 16), label="rows")), claimed)
    try:
        with bounded():
            found = read(Held((claimed, broken), checksums=checksums), ranges)
    except REFUSED:
        return
    try:
        expected = expect(broken, claimed, checksums)
    except OracleError:
        return  # the kernel is allowed to be less strict about bytes that do not matter
    rows = [at for start, end in zip(ranges.starts, ranges.ends, strict=True) for at in range(int(start), int(end))]
    assert found == [expected[at] for at in rows]


def some_rows(random: Random, count: int) -> Rows:
    kind = random.randrange(4)
    if kind == 0:
        return Rows.one(0, count)
    if kind == 1:
        start = random.randrange(count)
        return Rows.one(start, random.randint(start + 1, count))
    wanted = sorted(random.sample(range(count), min(count, random.choice([1, 2, 9]))))
    return Rows.of_positions(np.array(wanted, np.uint64))


def some_presence(random: Random, count: int) -> bytes:
    present = [random.random() < 0.7 for _ in range(count)]
    kind = random.randrange(5)
    if kind == 0:
        return b""
    if kind == 1:
        return presence.encode(present)
    return presence.encode(present, presence.ROARING, kind == 2, kind == 3)


def some_numbers(
    encoding: NumericEncoding, dtype: str, data: st.DataObject
) -> tuple[Random, np.random.Generator, list[int], bytes]:
    """Random sources, numbers of any shape, and the section that an encoding makes of them."""
    seed = data.draw(st.integers(0, 1 << 32), label="seed")
    random, rng = Random(seed), np.random.default_rng(seed)
    count = random.choice([1, 2, 3, 8, 20, 40, 100, 1030])
    values = cascades.shaped(rng, count, dtype, encoding.name, random.randrange(10))
    return random, rng, values, cascades.encode(random, values, dtype, 3, encoding.name)[0]


@pytest.mark.parametrize("encoding", NUMERIC, ids=lambda encoding: encoding.name)
@examples(150)
@given(data=st.data())
def test_broken_numbers(encoding: NumericEncoding, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(sorted(encoding.accepts)), label="dtype")
    random, _, values, section = some_numbers(encoding, dtype, data)
    count = len(values)
    sound = block.build(some_presence(random, count), section)
    check(
        data,
        sound,
        count,
        lambda held, ranges: numbers(held, ranges, dtype),
        lambda broken, claimed, checksums: block.decode_numeric(broken, claimed, dtype, checksums),
    )


NESTED: list[Encoder] = [
    plain.encode,
    ffor.encode,
    fl_bit_pack.encode,
    zstd.encode,
    run_length.encode,
    lambda v, t: delta.encode(v, t, fl_bit_pack.encode),
]
REGIONS: dict[ModuleType, list[str]] = {
    binary_plain: [],
    binary_single: [],
    binary_dictionary: ["nested_codes", "nested_lengths"],
    fsst: ["nested_offsets"],
    binary_zstd: ["nested_offsets"],
    binary_lz4: ["nested_offsets"],
    binary_snappy: ["nested_offsets"],
    zstd_shared: ["nested_offsets"],
    lz4_shared: ["nested_offsets"],
}


@pytest.mark.parametrize("module", REGIONS, ids=lambda module: module.__name__.rsplit(".", 1)[-1])
@pytest.mark.parametrize("size", [None, 0, 3])
@examples(150)
@given(data=st.data())
def test_broken_bytes(module: ModuleType, size: int | None, data: st.DataObject) -> None:
    random = Random(data.draw(st.integers(0, 1 << 32), label="seed"))
    count = random.choice([1, 2, 3, 8, 20, 40, 100])
    values: list[Any] = [
        bytes(random.choices(b"ab\0\xff", k=random.choice([0, 1, 5, 12]) if size is None else size))
        for _ in range(count)
    ]
    if module is binary_single or random.random() < 0.1:
        values = values[:1] * count
    if module is binary_dictionary:
        values = [None if random.random() < 0.2 else value for value in values]
    parts = {part: random.choice(NESTED) for part in REGIONS[module] if random.random() < 0.6}
    sound = block.build(some_presence(random, count), module.encode(values, size, **parts))
    check(
        data,
        sound,
        count,
        lambda held, ranges: binaries(held, ranges, size, wide=random.random() < 0.5),
        lambda broken, claimed, checksums: block.decode_binary(broken, claimed, size, checksums),
    )


@pytest.mark.parametrize("encoding", NUMERIC, ids=lambda encoding: encoding.name)
@examples(100)
@given(data=st.data())
def test_broken_numbers_are_compared_or_refused(encoding: NumericEncoding, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(sorted(encoding.accepts)), label="dtype")
    random, rng, values, section = some_numbers(encoding, dtype, data)
    count = len(values)
    kind = f"u{dtype[1]}" if dtype[0] == "f" else dtype
    known = np.array(values, kind).view(dtype)
    bounds = np.sort(np.nan_to_num(rng.choice(known, 2)))
    wanted, inverted = NumberRanges(bounds[:1], bounds[1:]), random.random() < 0.5

    def read(held: Held, ranges: Rows) -> list[Any]:
        bits = compare.compare_numbers(held, ranges, wanted, inverted=inverted)  # type: ignore[arg-type]
        return np.unpackbits(bits, count=ranges.count, bitorder="little").astype(np.bool_).tolist()

    def expect(broken: bytes, claimed: int, checksums: bool) -> list[bool]:
        stored = block.decode_numeric(broken, claimed, dtype, checksums)
        numbers = np.array([value or 0 for value in stored], kind).view(dtype)
        held = ((numbers >= bounds[0]) & (numbers <= bounds[1])) != inverted
        return [bool(each) and value is not None for each, value in zip(held, stored, strict=True)]

    check(data, block.build(some_presence(random, count), section), count, read, expect)


@pytest.mark.parametrize("module", REGIONS, ids=lambda module: module.__name__.rsplit(".", 1)[-1])
@pytest.mark.parametrize("size", [None, 0, 3])
@examples(100)
@given(data=st.data())
def test_broken_bytes_are_compared_or_refused(module: ModuleType, size: int | None, data: st.DataObject) -> None:
    random = Random(data.draw(st.integers(0, 1 << 32), label="seed"))
    count = random.choice([1, 2, 3, 8, 20, 40, 100])
    values: list[Any] = [
        bytes(random.choices(b"ab\0\xff", k=random.choice([0, 1, 5, 12, 300]) if size is None else size))
        for _ in range(count)
    ]
    keys = tuple(random.choice(values) for _ in range(random.choice([1, 1, 3])))
    wanted, inverted = ByteKeys(keys, prefixes=random.random() < 0.3), random.random() < 0.5
    if module is binary_single:
        values = values[:1] * count
    parts = {part: random.choice(NESTED) for part in REGIONS[module] if random.random() < 0.6}
    sound = block.build(some_presence(random, count), module.encode(values, size, **parts))

    def read(held: Held, ranges: Rows) -> list[Any]:
        bits = compare.compare_bytes(held, ranges, wanted, fixed_size=size, inverted=inverted)  # type: ignore[arg-type]
        return np.unpackbits(bits, count=ranges.count, bitorder="little").astype(np.bool_).tolist()

    def expect(broken: bytes, claimed: int, checksums: bool) -> list[bool]:
        found = []
        for value in block.decode_binary(broken, claimed, size, checksums):
            held = value is not None and (value.startswith(keys) if wanted.prefixes else value in keys)
            found.append(value is not None and held != inverted)
        return found

    check(data, sound, count, read, expect)


def records(values: list[Any], size: int | None) -> bytes:
    """The region of values in a frame of records; in another one if they do not suit it."""
    frame = _kernels.zstd_records(np.frombuffer(b"".join(values), np.uint8), None)
    return binary_zstd.encode(values, size) if frame is None else _kernels.zstd_region(frame, None, False, None)


def unscaled(stored: bytes | None) -> int | str | None:
    """A value of decimal128(15, 2) as Arrow's integer; why it has none."""
    if stored is None:
        return None
    value = decimal128.to_decimal(stored)
    if not value.is_finite():
        return "not finite"
    number = Fraction(value) * 100 if -40 < value.adjusted() < 40 or not value else Fraction(1, 3)
    return int(number) if number.denominator == 1 and abs(number) < 10**15 else "too many digits"


FIXED = {"records": records, "plain": binary_plain.encode, "zstd": binary_zstd.encode, "lz4": binary_lz4.encode}
FIXED |= {"fsst": fsst.encode, "block_dictionary": binary_dictionary.encode, "single_value": binary_single.encode}


@pytest.mark.parametrize("name", FIXED)
@examples(300)
@given(data=st.data())
def test_broken_decimals(name: str, data: st.DataObject) -> None:
    random = Random(data.draw(st.integers(0, 1 << 32), label="seed"))
    count, digits = random.choice([1, 3, 20, 70, 300]), random.choice([2, 7, 9, 11, 15])
    scale = random.choice([2, 2, 2, 0, 3])
    signs = random.choice(["+", "-", "+-"])
    values = [
        decimal128.from_decimal(Decimal(f"{random.choice(signs)}{random.randint(1, 10**digits - 1)}E-{scale}"))
        for _ in range(count)
    ]
    if name == "single_value":
        values = values[:1] * count
    form = DecimalForm(2, 15, 16)

    def read(held: Held, ranges: Rows) -> list[Any]:
        found = decode.decode_decimals(held, ranges, form)  # type: ignore[arg-type]
        if found is None:
            slow = [unscaled(stored) for stored in binaries(held, ranges, 16)]
            assert any(isinstance(each, str) for each in slow)
            return slow
        numbers = [
            int.from_bytes(bytes(found.data[at : at + 16]), "little", signed=True)
            for at in range(0, 16 * found.length, 16)
        ]
        valid = found.valid()
        return numbers if valid is None else [v if here else None for v, here in zip(numbers, valid, strict=True)]

    check(
        data,
        block.build(some_presence(random, count), FIXED[name](values, 16)),
        count,
        read,
        lambda broken, claimed, checksums: [
            unscaled(stored) for stored in block.decode_binary(broken, claimed, 16, checksums)
        ],
    )


@pytest.mark.parametrize("module", REGIONS, ids=lambda module: module.__name__.rsplit(".", 1)[-1])
@examples(100)
@given(data=st.data())
def test_broken_texts_are_searched_or_refused(module: ModuleType, data: st.DataObject) -> None:
    random = Random(data.draw(st.integers(0, 1 << 32), label="seed"))
    count = random.choice([1, 2, 3, 8, 20, 40, 100])
    values: list[Any] = [bytes(random.choices(b"ab ", k=random.choice([0, 1, 5, 12, 300]))) for _ in range(count)]
    if module is binary_single:
        values = values[:1] * count
    text, inverted = random.choice(["ab", "", "aba", "b"]), random.random() < 0.5
    parts = {part: random.choice(NESTED) for part in REGIONS[module] if random.random() < 0.6}
    sound = block.build(some_presence(random, count), module.encode(values, None, **parts))

    def read(held: Held, ranges: Rows) -> list[Any]:
        wanted = TextSearch("contains", text, case_sensitive=True)
        bits = compare.search_texts(held, ranges, wanted, inverted=inverted)  # type: ignore[arg-type]
        return np.unpackbits(bits, count=ranges.count, bitorder="little").astype(np.bool_).tolist()

    def expect(broken: bytes, claimed: int, checksums: bool) -> list[bool]:
        found = block.decode_binary(broken, claimed, None, checksums)
        return [value is not None and (text.encode() in value) != inverted for value in found]

    check(data, sound, count, read, expect)


@examples(300)
@given(data=st.data())
def test_broken_bits(data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 1 << 32), label="seed")
    random, rng = Random(seed), np.random.default_rng(seed)
    count = random.choice([1, 2, 3, 40, 1030])
    section, _ = cascades.encode(random, cascades.SHAPES["runs"](rng, count, "u1"), "u1", 3)
    marks = b"" if random.random() < 0.8 else presence.encode([True] * count, presence.ROARING)

    def read(held: Held, ranges: Rows) -> list[Any]:
        bitmap, found = decode.decode_bits(held, ranges.times(8))  # type: ignore[arg-type]
        bits = np.frombuffer(bitmap, np.uint8)[: ranges.count]
        assert found == int(np.unpackbits(bits).sum())
        return bits.tolist()

    def expect(broken: bytes, claimed: int, checksums: bool) -> list[int]:
        found = block.decode_numeric(broken, claimed, "u1", checksums)
        if None in found:
            raise OracleError("bits have no nulls of their own")
        return [value or 0 for value in found]

    check(data, block.build(marks, section), count, read, expect)


@examples(200)
@given(data=st.data())
def test_broken_blocks_are_described_or_refused(data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 1 << 32), label="seed")
    random, rng = Random(seed), np.random.default_rng(seed)
    dtype = random.choice(ALL)
    section, _ = cascades.encode(random, cascades.SHAPES["few"](rng, 40, dtype), dtype, 4)
    broken = sealed(edited(block.build(b"", section), data.draw(EDITS, label="edits")))
    try:
        (run,) = Held((40, broken)).runs(Rows.one(0, 40))
        assert sum(_kernels.describe_numbers(run.blocks, dtype).values()) == 1
        _kernels.describe_binary(run.blocks, None)
    except REFUSED:
        pass


# ---- dictionaries of a stripe ----


@examples(100)
@given(st.lists(st.integers(0, 6) | st.just(0xFFFFFFFF), min_size=1, max_size=30), st.integers(0, 4), st.booleans())
def test_codes_of_a_dictionary(codes: list[int], entries: int, fixed: bool) -> None:
    kind = BasicType.GUID if fixed else BasicType.STRING
    node = SchemaNode(schema_id=0, name="x", basic_type=kind, fixed_size=16 if fixed else 0)
    values = [bytes([at]) * 16 for at in range(entries)]
    raw = dictionary.encode([*values], "Guid" if fixed else "String", 16 if fixed else 0)
    held = Held((len(codes), block.build(b"", plain.encode(codes, "u4"))))
    stored = ValueDictionary.decode(raw, node)
    ranges = Rows.one(0, len(codes))
    if max(codes) >= entries:
        with pytest.raises(CorruptedData):
            decode.decode_dictionary(held, ranges, stored, wide=False)  # type: ignore[arg-type]
        return
    found = decode.decode_dictionary(held, ranges, stored, wide=False)  # type: ignore[arg-type]
    assert bytes(found.data) == b"".join(values[code] for code in codes)


# ---- what Python hands over ----


def _run() -> Any:
    (run,) = Held((3, block.build(b"", hostile.PLAIN))).runs(Rows.one(0, 3))
    return run.blocks


@pytest.mark.parametrize(
    ("spans", "size"),
    [
        ([(0, 0, 4)], 4),
        ([(0, 3, 1)], 4),
        ([(0, 0, 0)], 4),
        ([(1, 0, 1)], 4),
        ([(0, 0xFFFFFFFF, 1)], 4),
        ([(0, 1, 0xFFFFFFFF)], 4),
        ([(0, 0, 2), (0, 1, 1)], 4),
        ([(0, 2, 1), (0, 0, 1)], 4),
        ([(0, 1, 5), (0, 1, 1)], 8),
        ([(0, 0, 1), (0, 2, 0)], 4),
        ([(0, 0, 1), (1, 0, 1)], 4),
        ([(0, 0, 3)], 2),
    ],
)
def test_spans_outside_of_blocks_and_outputs(spans: list[tuple[int, int, int]], size: int) -> None:
    columns = [np.array(column, np.uint32) for column in zip(*spans, strict=True)]
    validity = np.zeros(8, np.uint8)
    with pytest.raises(ValueError):  # noqa: PT011 - a mistake of ours, not of a file
        _kernels.decode_numbers(_run(), *columns, np.zeros(size, np.uint32), validity, 0)
    with pytest.raises(ValueError):  # noqa: PT011
        _kernels.decode_numbers(_run(), *columns, np.zeros(size, np.uint32), validity, (1 << 64) - 2)


@pytest.mark.parametrize(
    "out",
    [
        np.zeros(8, np.uint32)[::2],
        np.zeros((2, 2), np.uint32),
        np.frombuffer(bytes(16), np.uint32),
        np.zeros(4, ">u4"),
        np.zeros(4, np.complex128),
        [0, 0, 0],
    ],
    ids=["strided", "two dimensions", "read-only", "big-endian", "complex", "list"],
)
def test_outputs_that_would_be_copied_or_misread(out: Any) -> None:
    spans = (np.array([0], np.uint32), np.array([0], np.uint32), np.array([3], np.uint32))
    with pytest.raises(TypeError):
        _kernels.decode_numbers(_run(), *spans, out, None, 0)


def test_blocks_of_no_buffer() -> None:
    one = np.array([1], np.uint64)
    with pytest.raises(ValueError, match="buffers"):
        _kernels.Blocks([], np.zeros(1, np.uint32), one, one, one, one, True, True)
    assert len(_kernels.Blocks([], np.zeros(0, np.uint32), *[one[:0]] * 4, True, True)) == 0


def test_the_error_names_the_block() -> None:
    good, bad = block.build(b"", hostile.PLAIN), block.build(b"", pack([1], "u2"))
    with pytest.raises(CorruptedData) as caught:
        numbers(Held((3, good), (3, bad), (3, good)), Rows.one(0, 9), "u4")
    assert caught.value.place["block"] == 1
