"""Columns of nulls for stripes that do not have a column."""

from __future__ import annotations

from typing import Final

import numpy as np

from amudai.encoding import profile_of
from amudai.format import StripeFieldDescriptor
from amudai.shard import FieldBuildContext, StoredArray, builder_of, place_fields
from amudai.storage import SealedFile, Spool
from amudai.types import NANOSECONDS, SchemaNode

__all__ = ["NullColumns"]

_AT_ONCE: Final = 1 << 17


class NullColumns:
    """Descriptors of columns in which every value is null.

    A null scalar needs no bytes. Nulls of lists and structs have small buffers, because the reference implementation
    needs them; they are written to `out` once for each number of positions.
    """

    def __init__(self, out: SealedFile) -> None:
        self._out = out
        self._known: dict[tuple[int, int], dict[int, StripeFieldDescriptor]] = {}

    def of(self, node: SchemaNode, positions: int) -> dict[int, StripeFieldDescriptor]:
        """The descriptors of a node and of all nodes below it, by schema id."""
        key = node.schema_id, positions
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._built(node, positions)
        return found

    def _built(self, node: SchemaNode, positions: int) -> dict[int, StripeFieldDescriptor]:
        with Spool(None, 1 << 20) as spool:
            builder = builder_of(node, FieldBuildContext(profile_of("balanced"), spool))
            for start in range(0, positions, _AT_ONCE):
                count = min(_AT_ONCE, positions - start)
                if node.internal == NANOSECONDS:
                    # Times without such a field are whole ticks.
                    builder.append(StoredArray(node=node, length=count, data=np.zeros(count, node.dtype)))
                else:
                    builder.append_nulls(count)
            return place_fields((builder.finish(),), "", self._out, spool, {})
