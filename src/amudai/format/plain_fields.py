"""The descriptors of fields that are stored in the simplest way, for readers of thousands of columns."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.format.container import Bytes

__all__ = ["PlainBuffers", "plain_buffers"]

_NUMBERS: Final = 9
# Longer descriptors are decoded one by one: what they hold may have to be counted.
_LONG: Final = 64 * 1024


class PlainBuffers(NamedTuple):
    """Where the blocks of fields are, and their maps.

    Attributes
    ----------
    url
        The file that has all buffers.
    numbers
        A row for each field: the start and the end of the buffer, those of its block map, the number of blocks, 1 if
        blocks have checksums, 1 if an identity is behind the buffer, and the two halves of this identity. An unknown
        number of blocks is `_kernels.NOT_READ`.
    is_plain
        Which fields are stored in the simplest way, in this file. The numbers of the others mean nothing.
    """

    url: str
    numbers: npt.NDArray[np.uint64]
    is_plain: npt.NDArray[np.bool_]


def plain_buffers(
    data: Bytes, starts: npt.NDArray[np.uint64], ends: npt.NDArray[np.uint64], positions: int, verify: bool
) -> PlainBuffers | None:
    """The only buffers with values of fields of `positions` positions each, whose descriptors are in frames of `data`.

    A field is not stored in the simplest way if it has other buffers with values, a constant or a dictionary, an index
    of its own, or several encodings; and if anything is wrong with its descriptor: decoding it in full says what. None
    if a frame is not sound.
    """
    found = _kernels.plain_buffers(memoryview(data), starts, ends, positions, _LONG, verify)
    if found is None:
        return None
    url, numbers, is_plain = found
    return PlainBuffers(url.decode(), numbers.reshape(-1, _NUMBERS), is_plain.view(np.bool_))
