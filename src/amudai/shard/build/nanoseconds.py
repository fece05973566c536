"""The internal fields that hold the nanoseconds after ticks, and leaving them out of a shard that needs none.

Most times are whole ticks, but a writer knows that only at the end. So it has such a field for each column of
nanoseconds, and leaves out those that are 0 in all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from amudai.format import AnyValue
from amudai.shard.build.field_builder import Bools, FieldBuildContext
from amudai.shard.build.leaf_builders import NumberBuilder
from amudai.shard.build.placed import PlacedStripe
from amudai.types import NANOSECONDS, SchemaNode, nodes_below

__all__ = ["NanosecondsBuilder", "is_zero", "without_zeros"]

_ZERO: Final = AnyValue("u64", 0)
_PENDING: Final = 1 << 17  # zeros that are encoded at once when the first other number comes


class NanosecondsBuilder(NumberBuilder):
    """Nanoseconds after ticks. Zeros before the first other number are only counted."""

    def __init__(self, node: SchemaNode, context: FieldBuildContext) -> None:
        # Scans compare ticks first, so a range index of the nanoseconds would rule nothing out.
        super().__init__(node, replace(context, profile=replace(context.profile, range_index=False)))
        self._only_zeros = True

    def _take(self, numbers: npt.NDArray[Any], valid: Bools | None) -> None:
        if self._only_zeros and not numbers.any():
            self._statistics.add(numbers, valid)
            self.count += len(numbers)
            return
        if self._only_zeros:
            self._only_zeros = False
            for start in range(0, self.count, _PENDING):
                self._data.append(np.zeros(min(_PENDING, self.count - start), self.node.dtype), None)
        super()._take(numbers, valid)


def is_zero(node: SchemaNode, constant: AnyValue | None) -> bool:
    """Whether a field of a stripe holds nanoseconds after ticks, all of them 0."""
    return node.internal == NANOSECONDS and constant == _ZERO


def without_zeros(
    nodes: Sequence[SchemaNode], stripes: Sequence[PlacedStripe]
) -> tuple[tuple[SchemaNode, ...], list[PlacedStripe]]:
    """The fields and stripes of a shard without the nanoseconds after ticks that are 0 in all stripes.

    Fields of nanoseconds come after all others, so that only they get other ids.
    """
    unused = {
        node.schema_id
        for node in nodes
        if node.internal == NANOSECONDS
        and all(is_zero(node, stripe.fields[node.schema_id].field.constant_value) for stripe in stripes)
    }
    if not unused:
        return tuple(nodes), list(stripes)
    kept = [node.schema_id for node in nodes_below(nodes) if node.schema_id not in unused]
    ids = {schema_id: number for number, schema_id in enumerate(kept, nodes[0].schema_id)}
    fields = tuple(
        replace(node, schema_id=ids[node.schema_id]) if node.internal == NANOSECONDS else node
        for node in nodes
        if node.schema_id in ids
    )
    return fields, [
        replace(stripe, fields={ids[at]: field for at, field in stripe.fields.items() if at in ids})
        for stripe in stripes
    ]
