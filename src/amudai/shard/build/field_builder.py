"""The base class of field builders, their context, and encoders of bits.

`append` takes the stored form of an Arrow array, `append_nulls` adds nulls, `finish` returns the prepared field.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai.encoding import (
    COLUMN_MEMORY,
    BlockEnds,
    ColumnMemory,
    NumberEncoder,
    PreparedBuffer,
    Profile,
    RangeIndexBuilder,
)
from amudai.format import BufferKind
from amudai.shard.build.prepared import PreparedField
from amudai.shard.build.stored import StoredArray
from amudai.stats import BloomRequest
from amudai.storage import Spool
from amudai.threads import Each, one_by_one
from amudai.types import SchemaNode

__all__ = ["BitEncoder", "Bools", "FieldBuildContext", "FieldBuilder", "PresenceEncoder", "data_of"]

Bools = npt.NDArray[np.bool_]

_PENDING: Final = 1 << 17  # positions that are written at once when the first null comes


@dataclass(frozen=True, slots=True)
class FieldBuildContext:
    """What all builders of a stripe share."""

    profile: Profile
    spool: Spool
    bloom: Mapping[int, BloomRequest] = field(default_factory=dict)  # requested filters by schema id
    distinct: frozenset[int] = frozenset()  # schema ids of fields whose distinct values are counted
    memory: ColumnMemory = COLUMN_MEMORY  # the memory of each builder
    attached: frozenset[int] = frozenset()  # schema ids of fields whose values are in other files and stay there
    unread: frozenset[int] = frozenset()  # those of them whose values are not even read
    profiles: Mapping[int, Profile] = field(default_factory=dict)  # of fields with one of their own, by schema id
    each: Each = one_by_one  # runs work that a builder can do on several threads
    packed: Mapping[int, frozenset[int]] = field(default_factory=dict)  # members of packed structs, by ids
    ends: BlockEnds | None = None  # where the blocks of a member of a packed group must end

    def range_index(self, node: SchemaNode) -> RangeIndexBuilder | None:
        """The builder of a field's range index, if the profile wants one."""
        profile = self.profile
        return RangeIndexBuilder(node, profile.zstd_levels[:1], profile.price) if profile.range_index else None


class FieldBuilder(ABC):
    """Builds one field of a stripe."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        self.node = node
        self.context = context
        self.is_attached = node.schema_id in context.attached
        self.count = 0

    def sketches(self) -> dict[str, Any]:
        """What the caller wants to know about distinct values, as collectors take it."""
        schema_id = self.node.schema_id
        return {"distinct": schema_id in self.context.distinct, "bloom": self.context.bloom.get(schema_id)}

    @abstractmethod
    def append(self, values: StoredArray) -> None:
        """Append values."""

    @abstractmethod
    def append_nulls(self, count: int) -> None:
        """Append `count` nulls."""

    @abstractmethod
    def finish(self) -> PreparedField:
        """Finish the field."""


class PresenceEncoder:
    """The PRESENCE buffer of a field, which exists only if something is null."""

    def __init__(self, context: FieldBuildContext) -> None:
        self._encoder = BitEncoder(context, BufferKind.PRESENCE)
        self._pending = 0  # positions so far, all present: nothing is written before the first null
        self.nulls = 0

    def append(self, count: int, valid: Bools | None) -> None:
        """Append positions. `valid` says which are not null."""
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
        """The buffer, if there is one."""
        return (self._encoder.finish(),) if self.nulls else ()


class BitEncoder:
    """Encodes bits into blocks of packed bytes."""

    def __init__(self, context: FieldBuildContext, kind: BufferKind) -> None:
        self._encoder = NumberEncoder(
            "u1", context.profile, context.spool, PreparedBuffer(kind), context.memory, context.ends, unit=8
        )
        self._odd = np.empty(0, np.bool_)  # bits that do not fill a byte yet

    def append(self, bits: Bools) -> None:
        """Append bits."""
        bits = np.concatenate((self._odd, bits)) if len(self._odd) else bits
        whole = len(bits) // 8 * 8
        if whole:
            self._encoder.append(np.packbits(bits[:whole], bitorder="little"))
        self._odd = bits[whole:].copy()

    def finish(self) -> PreparedBuffer:
        """Write the remaining bits and return the buffer."""
        if len(self._odd):
            self._encoder.append(np.packbits(self._odd, bitorder="little"))
        return self._encoder.finish()


def data_of(values: StoredArray) -> npt.NDArray[Any]:
    """The data of stored values; an empty array if there is none."""
    return np.empty(0, np.uint8) if values.data is None else values.data
