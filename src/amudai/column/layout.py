"""The layout of a column in one stripe: buffers, blocks, encodings."""

from __future__ import annotations

from dataclasses import dataclass

from amudai.format import LookupBuffer
from amudai.storage import Artifact

__all__ = ["BlockLayout", "BufferLayout", "CheckedBuffers", "ColumnLayout"]


@dataclass(frozen=True, slots=True)
class BlockLayout:
    """A block of a buffer. Made by `shard.inspect(blocks=True)`.

    Attributes
    ----------
    ordinal
        The block's number in its buffer.
    first_value, values
        The position of its first value in the column, and how many values it holds.
    start, bytes
        Its offset in the buffer, and its size.
    encoding
        The cascade of encodings, for example `lz4(ffor)`.

    Examples
    --------
    >>> layout = amudai.open("tests/fixtures/sample.amudai.shard").inspect(["message"], blocks=True)
    >>> (block,) = layout.stripes[0].fields[0].buffers[0].blocks
    >>> block.values, block.bytes, block.encoding
    (400, 3000, 'lz4(ffor)')
    """

    ordinal: int
    first_value: int
    values: int
    start: int
    bytes: int
    encoding: str


@dataclass(frozen=True, slots=True)
class BufferLayout:
    """A buffer of a column. Made by `shard.inspect`.

    Attributes
    ----------
    kind
        What the buffer holds: `data`, `presence`, `offsets`, `value dictionary`, `opaque dictionary`, `range index`; a
        number for a kind that this version does not know.
    file, start, bytes
        The URL of the file, and the offset and size of the buffer in it.
    block_count
        How many blocks; None if the descriptor does not say, or the buffer has no blocks.
    blocks
        The blocks, if they were requested.
    member
        The number of its blocks in the super-blocks of a packed group. Then `start` is where the buffer of the group
        begins, and `bytes` are those of this member alone. None for buffers of their own.

    Examples
    --------
    >>> layout = amudai.open("tests/fixtures/sample.amudai.shard").inspect(["message"])
    >>> [(buffer.kind, buffer.start, buffer.bytes) for buffer in layout.stripes[0].fields[0].buffers]
    [('data', 4032, 3120)]
    """

    kind: str
    file: str
    start: int
    bytes: int
    block_count: int | None
    blocks: tuple[BlockLayout, ...] = ()
    member: int | None = None


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """How a column is stored in one stripe, without the columns below it.

    Attributes
    ----------
    storage
        How values are stored: `absent`, `constant`, `unit`, `blocks`, `dictionary`, `struct`, `list`,
        `fixed-size list`, `union`.
    position_count, null_count
        How many positions, and how many of them are null; None if unknown.
    buffers
        The column's own buffers.
    """

    storage: str
    position_count: int
    null_count: int | None
    buffers: tuple[BufferLayout, ...]

    @property
    def bytes(self) -> int:
        """Bytes of the column's own buffers."""
        return sum(buffer.bytes for buffer in self.buffers)


@dataclass(frozen=True, slots=True, eq=False)
class CheckedBuffers:
    """The buffers that a check of a column has read.

    Attributes
    ----------
    blocks
        How many blocks were opened and verified.
    files
        The files that hold the buffers.
    lookups
        The buffers in the form in which an index artifact names them for look-ups.
    """

    blocks: int = 0
    files: tuple[Artifact, ...] = ()
    lookups: tuple[LookupBuffer, ...] = ()
