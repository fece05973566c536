"""Does everything the oracle writes come back, bit by bit?"""

import functools
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from tests.effort import examples
from tests.oracle import block, block_map, dictionary, presence, section
from tests.oracle.binary import block_dictionary as binary_dictionary
from tests.oracle.binary import fsst, region
from tests.oracle.binary import lz4 as binary_lz4
from tests.oracle.binary import plain as binary_plain
from tests.oracle.binary import zstd as binary_zstd
from tests.oracle.common import ALL, FLOATS, INTEGERS, SIGNED, UNSIGNED, Encoder, bits_of
from tests.oracle.numeric import (
    alp,
    alprd,
    block_dictionary,
    delta,
    ffor,
    fl_bit_pack,
    frame_of_reference,
    lz4,
    plain,
    run_length,
    single_value,
    sparse,
    truncate,
    zig_zag,
    zstd,
)

quick = examples(30)


def values_of(dtype: str, least: int = 1) -> st.SearchStrategy[list[int]]:
    """Values of the whole range, of a few neighbours, or of a few that repeat."""
    bits = bits_of(dtype)
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if dtype in SIGNED else (0, (1 << bits) - 1)
    whole = st.integers(low, high)
    small = st.integers(max(low, -20), 40)
    if dtype in FLOATS:
        whole |= st.floats(width=32 if dtype == "f4" else 64).map(lambda value: alp.to_bits(value, dtype))
        small = st.integers(-99, 99).map(lambda value: alp.to_bits(alp.rounded(value / 10, dtype), dtype))
    few = st.lists(small, min_size=1, max_size=3).flatmap(
        lambda choice: st.lists(st.sampled_from(choice), min_size=least, max_size=40)
    )
    return st.lists(whole, min_size=least, max_size=20) | st.lists(small, min_size=least, max_size=40) | few


def nestable(values: list[int], dtype: str, depth: int) -> dict[str, Callable[[Encoder, Encoder], bytes]]:
    """Every encoding that can hold these values, as functions of the encoders of its parts."""
    found: dict[str, Callable[[Encoder, Encoder], bytes]] = {
        "plain": lambda a, b: plain.encode(values, dtype),
        "zstd": lambda a, b: zstd.encode(values, dtype),
        "lz4": lambda a, b: lz4.encode(values, dtype),
        "raw run length": lambda a, b: run_length.encode(values, dtype),
        "raw sparse": lambda a, b: sparse.encode(values, dtype),
    }
    if len(set(values)) == 1:
        found["single value"] = lambda a, b: single_value.encode(values, dtype)
    if dtype in UNSIGNED:
        found["bit pack"] = lambda a, b: fl_bit_pack.encode(values, dtype)
    if dtype in INTEGERS and values:
        found["ffor"] = lambda a, b: ffor.encode(values, dtype)
    if dtype in SIGNED:
        found["raw zigzag"] = lambda a, b: zig_zag.encode(values, dtype)
    if dtype in truncate.TYPES:
        found["raw truncate"] = lambda a, b: truncate.encode(values, dtype, unsigned_that_fits(values))
    if depth == 0:
        return found
    found["run length"] = lambda a, b: run_length.encode(values, dtype, a, b)
    found["half raw run length"] = lambda a, b: run_length.encode(values, dtype, None, b)
    found["sparse"] = lambda a, b: sparse.encode(values, dtype, a, b)
    found["block dictionary"] = lambda a, b: block_dictionary.encode(values, dtype, a, b)
    found["half raw block dictionary"] = lambda a, b: block_dictionary.encode(values, dtype, a)
    if dtype in INTEGERS and values:
        found["delta"] = lambda a, b: delta.encode(values, dtype, a)
        found["frame of reference"] = lambda a, b: frame_of_reference.encode(values, dtype, a)
    if dtype in SIGNED:
        found["zigzag"] = lambda a, b: zig_zag.encode(values, dtype, a)
    if dtype in truncate.TYPES:
        found["truncate"] = lambda a, b: truncate.encode(values, dtype, unsigned_that_fits(values), a)
    if dtype in FLOATS:
        found["alp"] = lambda a, b: alp.encode(values, dtype, 3, 1, a)
        if values:
            found["alprd"] = lambda a, b: alprd.encode(values, dtype, bits_of(dtype) - 9, a, b)
    return found


def unsigned_that_fits(values: list[int]) -> str:
    bits = max([0, *((value if value >= 0 else ~value).bit_length() + 1 for value in values)])
    return next(target for target in UNSIGNED if bits_of(target) >= bits)


NAMES = sorted({name for dtype in ALL for name in nestable([0], dtype, 1)})


@pytest.mark.parametrize("name", NAMES)
@quick
@given(data=st.data())
def test_every_encoding_comes_back(name: str, data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([dtype for dtype in ALL if name in nestable([0], dtype, 1)]))
    values = data.draw(values_of(dtype))
    if name == "single value":
        values = values[:1] * len(values)
    encoded = nestable(values, dtype, 1)[name](plain.encode, plain.encode)
    assert section.decode(encoded, len(values), dtype) == values


@examples(150)
@given(data=st.data())
def test_every_cascade_comes_back(data: st.DataObject) -> None:
    def encoder(depth: int) -> Encoder:
        def encode(values: list[int], dtype: str) -> bytes:
            found = nestable(values, dtype, depth)
            return found[data.draw(st.sampled_from(sorted(found)))](encoder(depth - 1), encoder(depth - 1))

        return encode

    dtype = data.draw(st.sampled_from(ALL))
    values = data.draw(values_of(dtype))
    present = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    encoded = block.build(presence.encode(present), encoder(3)(values, dtype))
    expected = [value if here else None for value, here in zip(values, present, strict=True)]
    assert block.decode_numeric(encoded, len(values), dtype) == expected
    assert len(encoded) % 8 == 0


@pytest.mark.parametrize("dtype", INTEGERS)
def test_more_than_one_chunk(dtype: str) -> None:
    values = [i * 7 % 100 for i in range(2500)]
    assert section.decode(ffor.encode(values, dtype), 2500, dtype) == values
    nested = delta.encode(values, dtype, ffor.encode)
    assert section.decode(nested, 2500, dtype) == values


@pytest.mark.parametrize("dtype", FLOATS)
@quick
@given(data=st.data())
def test_alp_keeps_every_bit(dtype: str, data: st.DataObject) -> None:
    values = data.draw(values_of(dtype))
    last = len(alp.F10[dtype]) - 1
    exponent, factor = data.draw(st.integers(0, last)), data.draw(st.integers(0, last))
    special = [0.0, -0.0, float("inf"), float("-inf"), float("nan")]
    values += [alp.to_bits(value, dtype) for value in special] + [(1 << bits_of(dtype)) - 1]
    encoded = alp.encode(values, dtype, exponent, factor, plain.encode)
    assert section.decode(encoded, len(values), dtype) == values


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("left", [1, 5, 16])
@quick
@given(data=st.data())
def test_alprd_keeps_every_bit(dtype: str, left: int, data: st.DataObject) -> None:
    values = data.draw(values_of(dtype))
    encoded = alprd.encode(values, dtype, bits_of(dtype) - left, plain.encode, plain.encode, dictionary=[0, 1])
    assert section.decode(encoded, len(values), dtype) == values


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("entries", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize("nested", [None, plain.encode, fl_bit_pack.encode])
@pytest.mark.parametrize("by_block", [False, True])
def test_run_lengths_padded_by_the_block(dtype: str, entries: int, nested: Encoder | None, by_block: bool) -> None:
    # A dictionary of two bytes each moves the left section off its alignment; both paddings must be understood.
    right_bits = bits_of(dtype) - 8
    values = [(i // 7 % entries) << right_bits | i for i in range(100)]
    offset = 8 + 16 + 2 * entries
    left = functools.partial(run_length.encode, nested_lengths=nested, padded_for=offset if by_block else 0)
    encoded = block.build(b"", alprd.encode(values, dtype, right_bits, left, plain.encode, list(range(entries))))
    assert block.decode_numeric(encoded, 100, dtype) == values


def test_null_code_and_absent_positions_are_zero() -> None:
    present = [True, False, True]
    assert section.decode(block_dictionary.encode([5, 6, 5], "f8", plain.encode, None, present), 3, "f8") == [5, 0, 5]
    assert section.decode(sparse.encode([5, 6, 5], "f8", presence=present), 3, "f8") == [5, 0, 5]
    assert section.decode(sparse.encode([5, 6], "f8", presence=[False] * 2), 2, "f8") == [0, 0]


class BinaryCase(NamedTuple):
    module: ModuleType
    parts: list[str]


BINARY = [
    BinaryCase(binary_plain, []),
    BinaryCase(binary_dictionary, ["nested_codes", "nested_lengths"]),
    BinaryCase(fsst, ["nested_offsets"]),
    BinaryCase(binary_zstd, ["nested_offsets"]),
    BinaryCase(binary_lz4, ["nested_offsets"]),
]
NESTED: list[Encoder] = [
    plain.encode,
    ffor.encode,
    fl_bit_pack.encode,
    zstd.encode,
    run_length.encode,
    lambda v, t: delta.encode(v, t, fl_bit_pack.encode),
]


@pytest.mark.parametrize("case", BINARY, ids=lambda case: case.module.__name__.rsplit(".", 1)[-1])
@pytest.mark.parametrize("fixed_size", [None, 0, 3])
@quick
@given(data=st.data())
def test_every_binary_encoding_comes_back(case: BinaryCase, fixed_size: int | None, data: st.DataObject) -> None:
    least, most = (0, 12) if fixed_size is None else (fixed_size, fixed_size)
    letters = st.sampled_from(list(b"ab\0\xff")) | st.integers(0, 255)
    value = st.lists(letters, min_size=least, max_size=most).map(bytes)
    values = data.draw(st.lists(value, min_size=1, max_size=30))
    present = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    expected = [value if here else None for value, here in zip(values, present, strict=True)]
    nested = {part: data.draw(st.sampled_from(NESTED)) for part in case.parts}
    stored = expected if case.module is binary_dictionary else values
    encoded = block.build(presence.encode(present), case.module.encode(stored, fixed_size, **nested))
    assert block.decode_binary(encoded, len(values), fixed_size) == expected


def test_dictionary_codes_win_over_presence() -> None:
    encoded = binary_dictionary.encode([b"a", None, b"b"])
    for present in (b"", presence.encode([False, True, False])):
        assert block.decode_binary(block.build(present, encoded), 3, None) == [b"a", None, b"b"]


def test_fsst_without_symbols() -> None:
    encoded = fsst.encode([b"ab", b""], symbols=[])
    assert region.decode(encoded, 2, None, [True, True]) == [b"ab", b""]


@pytest.mark.parametrize(("kind", "negated", "runs"), [(2, True, False), *((3, n, r) for n in (0, 1) for r in (0, 1))])
@quick
@given(present=st.lists(st.booleans(), max_size=60))
def test_presence_comes_back(kind: int, negated: bool, runs: bool, present: list[bool]) -> None:
    encoded = presence.encode(present, kind, bool(negated), bool(runs))
    assert presence.decode(encoded, len(present)) == present
    if kind == 3:
        assert presence.decode(encoded + b"more", len(present)) == present


@pytest.mark.parametrize("runs", [False, True])
def test_roaring_containers_of_every_kind(runs: bool) -> None:
    bitmap = BitMap([1, 5, 70000])  # arrays
    bitmap |= BitMap(range(131072, 131072 + 20000, 2))  # a bitmap
    bitmap |= BitMap(range(196608, 196608 + 30000))  # a run
    bitmap |= BitMap(range(262144, 262144 + 65536))  # all of a container
    if runs:
        bitmap.run_optimize()
    assert presence.roaring_positions(bitmap.serialize()) == list(bitmap)
    few = BitMap(range(10, 500))
    few.run_optimize()
    assert presence.roaring_positions(few.serialize()) == list(range(10, 500))


def test_presence_of_one_kind_only() -> None:
    assert presence.encode([True, True]) == b""
    assert presence.encode([False, False]) == b"\1"
    assert presence.decode(b"\1ignored", 2) == [False, False]
    assert presence.decode(b"\2\x07\0", 2) == [True, False]
    assert presence.decode(presence.encode([], presence.ROARING), 3) == [True] * 3
    assert presence.decode(presence.encode([], presence.ROARING, negated=False), 3) == [False] * 3


@quick
@given(
    blocks=st.lists(st.tuples(st.integers(1, 300) | st.integers(1, 1 << 20), st.integers(1, 1 << 20)), max_size=20),
    segment_size=st.integers(1, 7),
)
def test_block_map_comes_back(blocks: list[tuple[int, int]], segment_size: int) -> None:
    assert block_map.decode(block_map.encode(blocks, segment_size)) == blocks


@pytest.mark.parametrize(("kind", "fixed_size"), [("String", 0), ("Binary", 0), ("FixedSizeBinary", 3), ("Guid", 16)])
@quick
@given(data=st.data())
def test_value_dictionary_comes_back(kind: str, fixed_size: int, data: st.DataObject) -> None:
    value = st.binary(min_size=fixed_size, max_size=fixed_size or 9)
    values: list[bytes | None] = [*data.draw(st.lists(value, unique=True, max_size=9))]
    if data.draw(st.booleans()):
        values.insert(data.draw(st.integers(0, len(values))), None)
    encoded = dictionary.encode(values, kind, fixed_size)
    assert dictionary.decode(encoded) == values
    order = dictionary.decode_sorted_ids(encoded)
    assert order is not None
    assert [values[i] for i in order] == sorted(value for value in values if value is not None)
