"""Where the columns of an index lie: stated places come back, and none is stated that five numbers cannot describe."""

from __future__ import annotations

from dataclasses import replace

import pytest

from amudai.errors import CorruptedData
from amudai.format import (
    LOOKUP,
    AnyValue,
    BufferKind,
    DataRef,
    EncodedBuffer,
    LookupBuffer,
    lookup_buffers,
    lookup_property,
)

STATED = LookupBuffer(start=64, block_map=960, end=1088, values=5000, blocks=3)
DESCRIBED = EncodedBuffer(
    kind=BufferKind.DATA,
    buffer=DataRef("", 64, 1088),
    block_map=DataRef("", 960, 1088),
    block_count=3,
    block_checksums=True,
)


def test_what_is_stated_comes_back() -> None:
    others = [STATED._replace(start=0, values=(1 << 64) - 1), STATED]
    stated = {"leaf_pages": 7, **{name: value.value for name, value in lookup_property([STATED, *others])}}
    assert lookup_buffers(stated, 3) == lookup_buffers(stated) == (STATED, *others)
    assert lookup_buffers({"leaf_pages": 7}, 3) is None
    assert lookup_buffers({LOOKUP: "elsewhere"}, 3) is None


def test_five_numbers_of_eight_bytes() -> None:
    ((name, value),) = lookup_property([STATED])
    assert name == "lookup"
    numbers = [64, 960, 1088, 5000, 3]
    assert value == AnyValue("bytes", b"".join(number.to_bytes(8, "little") for number in numbers))


@pytest.mark.parametrize("size", [0, 39, 41, 79, 120])
def test_another_number_of_bytes_is_damage(size: int) -> None:
    with pytest.raises(CorruptedData, match=f"property lookup: expected 80 bytes, found {size}"):
        lookup_buffers({LOOKUP: bytes(size)}, 2)


def test_a_buffer_and_its_place() -> None:
    assert LookupBuffer.of(DESCRIBED, 5000) == STATED
    assert STATED.block_refs() == DESCRIBED.block_refs()
    assert (STATED.block_count, STATED.block_checksums, STATED.identity) == (3, True, None)
    # What the five numbers cannot say.
    assert LookupBuffer.of(replace(DESCRIBED, block_checksums=False), 5000) is None
    assert LookupBuffer.of(replace(DESCRIBED, block_count=None), 5000) is None
    assert LookupBuffer.of(replace(DESCRIBED, block_map=DataRef("", 960, 1024)), 5000) is None
