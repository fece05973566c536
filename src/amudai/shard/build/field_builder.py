"""What the builders of all fields share: their context, their verbs, and encoders of bits.

`append` takes the stored form of an Arrow array, `append_nulls` fills positions that have no values, `finish` gives the
prepared field.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai.encoding import ROOM, NumberEncoder, PreparedBuffer, Profile, RangeIndexBuilder, Room
from amudai.format import BufferKind
from amudai.shard.build.prepared import PreparedField
from amudai.shard.build.stored import StoredArray
from amudai.storage import Spool
from amudai.types import SchemaNode

__all__ = ["BitEncoder", "Bools", "FieldBuildContext", "FieldBuilder", "PresenceEncoder", "data_of"]

Bools = npt.NDArray[np.bool_]

_PENDING: Final = 1 << 17  # positions that are made up at once


@dataclass(frozen=True, slots=True)
class FieldBuildContext:
    """What all builders of a stripe share."""

    profile: Profile
    spool: Spool
    bloom: frozenset[int]  # schema ids whose Bloom filter is wanted whatever it costs
    room: Room = ROOM  # what each may hold

    def range_index(self, node: SchemaNode) -> RangeIndexBuilder | None:
        """Begin the range index of a field, where the profile wants one."""
        profile = self.profile
        return RangeIndexBuilder(node, profile.zstd_levels[:1], profile.price) if profile.range_index else None


class FieldBuilder(ABC):
    """Builds one field of a stripe."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        self.node = node
        self.context = context
        self.count = 0

    @abstractmethod
    def append(self, values: StoredArray) -> None:
        """Take values."""

    @abstractmethod
    def append_nulls(self, count: int) -> None:
        """Take positions without values."""

    @abstractmethod
    def finish(self) -> PreparedField:
        """End the field."""


class PresenceEncoder:
    """The PRESENCE buffer of a field, which exists only where something is null."""

    def __init__(self, context: FieldBuildContext) -> None:
        self._encoder = BitEncoder(context, BufferKind.PRESENCE)
        self._pending = 0  # positions so far, all present: nothing is written before the first null
        self.nulls = 0

    def append(self, count: int, valid: Bools | None) -> None:
        """Take positions; `valid` says which are not null."""
        nulls = 0 if valid is None else count - int(np.count_nonzero(valid))
        if nulls == 0 and self.nulls == 0:
            self._pending += count
            return
        while self._pending:
            some = min(self._pending, _PENDING)
            self._encoder.append(np.ones(some, np.bool_))
            self._pending -= some
        self.nulls += nulls
        self._encoder.append(np.ones(count, np.bool_) if valid is None else valid)

    def finish(self) -> tuple[PreparedBuffer, ...]:
        """The buffer, where there is one."""
        return (self._encoder.finish(),) if self.nulls else ()


class BitEncoder:
    """Bits in, blocks of packed bytes out."""

    def __init__(self, context: FieldBuildContext, kind: BufferKind) -> None:
        self._encoder = NumberEncoder("u1", context.profile, context.spool, PreparedBuffer(kind), context.room)
        self._odd = np.empty(0, np.bool_)  # bits that do not fill a byte yet

    def append(self, bits: Bools) -> None:
        """Take bits."""
        bits = np.concatenate((self._odd, bits)) if len(self._odd) else bits
        whole = len(bits) // 8 * 8
        if whole:
            self._encoder.append(np.packbits(bits[:whole], bitorder="little"))
        self._odd = bits[whole:].copy()

    def finish(self) -> PreparedBuffer:
        """Write what is left."""
        if len(self._odd):
            self._encoder.append(np.packbits(self._odd, bitorder="little"))
        return self._encoder.finish()


def data_of(values: StoredArray) -> npt.NDArray[Any]:
    """The data of stored values; an empty array where there is none."""
    return np.empty(0, np.uint8) if values.data is None else values.data
