"""Opening packed groups."""

from __future__ import annotations

from amudai.column.context import ColumnContext
from amudai.encoding import SuperBlocks
from amudai.format import EncodedBuffer

__all__ = ["open_group"]


def open_group(context: ColumnContext, buffer: EncodedBuffer, positions: int) -> SuperBlocks:
    """The packed group in a buffer. All columns of a stripe that are members get the same one."""
    ref, _ = buffer.block_refs()
    found = context.groups.get(ref)
    if found is None:
        made = SuperBlocks(context.artifact(ref), buffer, positions, context.verify, limits=context.limits)
        whole = context.prefetched.get(buffer.extent)
        if whole is not None:
            made.keep(whole)
        found = context.groups.setdefault(ref, made)  # another thread may have opened it at the same time
    return found
