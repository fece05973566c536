"""The short way to a few values of variable size: what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from amudai import encoding as package
from amudai.errors import CorruptedData
from tests.encoding import runs
from tests.encoding.runs import Block, Opened
from tests.kernel_modules import KERNELS
from tests.oracle import block
from tests.oracle.binary import plain

pytestmark = pytest.mark.native

VALUES = [b"a", b"", b"lonely", b"d"]


def strings(values: list[bytes]) -> Block:
    return Block(block.build(b"", plain.encode(values)), len(values))


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
def test_only_slots_of_a_single_block_are_taken(kernels: Any) -> None:
    one = Opened(kernels, [strings(VALUES)]).blocks
    offsets, origin, frames = kernels.decode_few_offsets(one, 1, 2)
    assert (offsets.tolist(), origin, frames) == ([0, 0, 6], 1, [])
    assert kernels.decode_few_bytes(one, 1, offsets, origin).tobytes() == b"lonely"
    for first, count in ((0, 0), (0, 5), (4, 1), (5, 1), (1, (1 << 64) - 1)):
        with pytest.raises(ValueError, match="expected some of the block"):
            kernels.decode_few_offsets(one, first, count)
    two = Opened(kernels, [strings(VALUES), strings(VALUES)]).blocks
    with pytest.raises(ValueError, match="expected a single one"):
        kernels.decode_few_offsets(two, 0, 1)
    with pytest.raises(ValueError, match="expected a single one"):
        kernels.decode_few_bytes(two, 0, np.array([0, 1], np.int64), 0)


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
@pytest.mark.parametrize("offsets", [[], [-1, 3], [0, -1], [0, 6, 2], [3, 2], [0, 1, 2, 3, 4, 5]])
def test_offsets_that_no_block_has_are_refused(kernels: Any, offsets: list[int]) -> None:
    one = Opened(kernels, [strings(VALUES)]).blocks
    with pytest.raises(ValueError, match="expected"):
        kernels.decode_few_bytes(one, 0, np.array(offsets, np.int64), 0)


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
@pytest.mark.parametrize("origin", [7, 9, 1 << 40, (1 << 64) - 1])
def test_bytes_beyond_those_of_the_block_are_refused(kernels: Any, origin: int) -> None:
    one = Opened(kernels, [strings(VALUES)]).blocks
    with pytest.raises(CorruptedData):
        kernels.decode_few_bytes(one, 2, np.array([0, 6], np.int64), origin)


def test_several_blocks_take_the_long_way() -> None:
    buffer = runs.buffer_of([strings(VALUES), strings(VALUES)])
    found = package.decode_few_bytes(buffer, 5, 8)
    assert found is not None
    assert (found[0].tolist(), found[1].tobytes()) == ([0, 0, 6, 7], b"lonelyd")
    assert package.decode_few_bytes(buffer, 3, 5) is None
