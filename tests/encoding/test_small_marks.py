"""Set bits that are found in their blocks, beside the bits themselves."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai.format import IDENTITY_SIZE, plain_buffers
from amudai.rows import Rows
from amudai.storage import MemoryStore
from tests.effort import examples
from tests.encoding import runs

pytestmark = pytest.mark.native

MANY = 1 << 20
RUNS = st.lists(
    st.tuples(st.sampled_from([0, 255]) | st.integers(0, 255), st.integers(1, 9) | st.integers(1, 3000)), max_size=12
)


def stored(content: bytes) -> tuple[memoryview, tuple[int, ...]]:
    """The blocks of a column of these bytes, which eight bits of a boolean column each are stored like."""
    store = MemoryStore()
    amudai.write({"n": np.frombuffer(content, np.uint8)}, "a", store=store)
    reader = amudai.open("a", store=store)._reader
    stripe, node = reader.stripes[0], reader.schema.field(0)
    fields, anchor = stripe._fields._list
    ref = fields.ref(node.schema_id)
    assert ref is not None
    starts, ends = np.array([0], np.uint64), np.array([ref.size], np.uint64)
    found = plain_buffers(anchor.read(ref.start, ref.end), starts, ends, len(content), True)
    assert found is not None
    assert found.is_plain.all()
    (numbers,) = found.numbers.tolist()
    return anchor.read(numbers[0], numbers[1] + IDENTITY_SIZE), tuple(numbers)


def expected(content: bytes, count: int) -> list[int]:
    return np.flatnonzero(np.unpackbits(np.frombuffer(content, np.uint8), bitorder="little")[:count]).tolist()


@pytest.mark.parametrize("kernels", runs.KERNELS, ids=lambda kernels: kernels.__name__)
@examples(60)
@given(RUNS, st.integers(0, 7))
def test_the_bits_of_any_bytes(kernels: ModuleType, pieces: Sequence[tuple[int, int]], padding: int) -> None:
    content = b"\x81\x7e" + b"".join(bytes([byte]) * times for byte, times in pieces)
    data, numbers = stored(content)
    count = 8 * len(content) - padding  # what follows in the last byte does not count
    found = kernels.small_marks(data, numbers, numbers[0], count, MANY, True)
    assert found is not None
    starts, ends, blocks = found
    assert blocks >= 1
    assert (starts < ends).all()
    assert (starts[1:] > ends[:-1]).all(), "ranges do not touch, also across blocks"
    assert Rows(starts, ends).positions().tolist() == expected(content, count)


@pytest.mark.parametrize("kernels", runs.KERNELS, ids=lambda kernels: kernels.__name__)
def test_what_is_left_to_other_readers(kernels: ModuleType) -> None:
    content = bytes([1, 0] * 500)
    data, numbers = stored(content)

    def marks(most: int, count: int = 8000) -> object:
        return kernels.small_marks(data, numbers, numbers[0], count, most, True)

    assert marks(500) is not None
    assert marks(499) is None, "too many ranges"
    assert marks(500, 8001) is None, "another number of bytes"
    for at in range(0, len(data), 7):
        damaged = bytearray(data)
        damaged[at] ^= 0x10
        found = kernels.small_marks(bytes(damaged), numbers, numbers[0], 8000, 500, True)
        assert found is None or Rows(*found[:2]).positions().tolist() == expected(content, 8000)
    with pytest.raises(ValueError, match="numbers"):
        kernels.small_marks(data, numbers[:-1], numbers[0], 8000, 500, True)
    with pytest.raises(ValueError, match="origin"):
        kernels.small_marks(data, numbers, numbers[0] + 1, 8000, 500, True)
