"""References to byte ranges and files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from amudai.errors import CorruptedData
from amudai.format.container import Bytes
from amudai.format.message import Fact, parse
from amudai.format.wire import amudai_pb2 as wire
from amudai.frozen import quick_init

__all__ = ["DataRef", "FieldList", "UrlList"]

U64: TypeAlias = npt.NDArray[np.uint64]


@quick_init
@dataclass(frozen=True, slots=True)
class DataRef(Fact):
    """A byte range of a file. An empty URL stands for the file that contains the reference."""

    url: str
    start: int
    end: int

    @property
    def size(self) -> int:
        """Bytes of the range."""
        return self.end - self.start

    @property
    def is_empty(self) -> bool:
        """Whether the reference is empty, which is how lists mark a missing element."""
        return self.end == self.start

    @classmethod
    def of(cls, message: wire.DataRef) -> Self:
        """The fact that `message` states; an absent range is 0..0."""
        span = message.range
        start, end = span.start, span.end
        if end < start:
            raise _backwards(start, end)
        return cls(message.url, start, end)

    def parts(self) -> dict[str, Any]:
        """The fields of the message. A message is made of them faster than of messages, which are copied."""
        return {"url": self.url, "range": {"start": self.start, "end": self.end}}

    def to_message(self) -> wire.DataRef:
        """The message that states this reference, including an empty range."""
        return wire.DataRef(**self.parts())

    def __str__(self) -> str:
        return f"{self.url}[{self.start}..{self.end}]"


class FieldList(Fact):
    """References to the descriptors of a shard's or a stripe's fields, one slot for each `schema_id`.

    Wide shards have tens of thousands of slots and a scan needs few, so a `DataRef` is created when a slot is accessed.
    """

    __slots__ = ("_ends", "_places", "_size", "_starts", "_urls")

    def __init__(self, message: wire.DataRefArray) -> None:
        self._urls, self._starts, self._ends = message.url, message.start, message.end
        self._size = len(self._starts)
        self._places: tuple[U64, U64, frozenset[str]] | None = None
        if not len(self._urls) == len(self._ends) == self._size:
            found = f"{len(self._urls)} URLs, {self._size} starts and {len(self._ends)} ends"
            raise CorruptedData(f"DataRefArray: expected three lists of one length, found {found}")

    @classmethod
    def decode(cls, payload: Bytes) -> Self:
        """The list in the payload of a frame."""
        return cls(parse(wire.DataRefArray, payload))

    @classmethod
    def from_refs(cls, refs: Iterable[DataRef | None]) -> Self:
        """The list whose slots are these references, in order; None is an empty slot."""
        slots = [_EMPTY if ref is None else ref for ref in refs]
        return cls(
            wire.DataRefArray(
                url=[ref.url for ref in slots],
                start=[ref.start for ref in slots],
                end=[ref.end for ref in slots],
            )
        )

    def to_message(self) -> wire.DataRefArray:
        """The message that states this list."""
        return wire.DataRefArray(url=self._urls, start=self._starts, end=self._ends)

    def __len__(self) -> int:
        return self._size

    def ref(self, schema_id: int) -> DataRef | None:
        """The reference to the field's descriptor; None for an empty slot or one beyond the list."""
        if not 0 <= schema_id < self._size:
            return None
        start, end = self._starts[schema_id], self._ends[schema_id]
        if end < start:
            raise _backwards(start, end)
        return None if end == start else DataRef(self._urls[schema_id], start, end)

    def places(self, schema_ids: Sequence[int]) -> tuple[str, U64, U64] | None:
        """The file that has the descriptors of these fields, and where each of them begins and ends.

        None if a slot is empty or not sound, or the descriptors are in several files.
        """
        if self._places is None:
            starts, ends = np.array(self._starts[:], np.uint64), np.array(self._ends[:], np.uint64)
            self._places = starts, ends, frozenset(self._urls)
        starts, ends, urls = self._places
        ids = np.array(schema_ids, np.int64)
        if not len(ids) or ids.min() < 0 or ids.max() >= self._size:
            return None
        if len(urls) > 1:
            urls = frozenset(self._urls[at] for at in schema_ids)
        first, last = starts[ids], ends[ids]
        return (next(iter(urls)), first, last) if len(urls) == 1 and bool((first < last).all()) else None


@dataclass(frozen=True, slots=True)
class UrlList(Fact):
    """The other files of a shard, as its writer listed them."""

    urls: tuple[str, ...]

    @classmethod
    def decode(cls, payload: Bytes) -> Self:
        """The list in the payload of a frame."""
        return cls(tuple(parse(wire.UrlList, payload).urls))

    def to_message(self) -> wire.UrlList:
        """The message that states this list."""
        return wire.UrlList(urls=self.urls)


def _backwards(start: int, end: int) -> CorruptedData:
    return CorruptedData(f"DataRef.range: expected an end of at least {start}, found {end}")


_EMPTY = DataRef("", 0, 0)
