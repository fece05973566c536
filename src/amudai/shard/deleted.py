"""The rows of a stripe that are marked as deleted."""

from __future__ import annotations

from typing import Final

import numpy as np

from amudai.column import ColumnSource, ConstantValues, Projection, StoredValues
from amudai.errors import CorruptedData
from amudai.format import AnyValue
from amudai.rows import Origin, Rows

__all__ = ["marked_rows"]

# How many markers are decoded at a time: 256 KiB of bits.
_PART: Final = 1 << 21


def marked_rows(marker: ColumnSource, origin: Origin) -> Rows:
    """The rows of a stripe whose marker is true. A row without a marker is not deleted."""
    if marker.is_absent:
        return Rows.none(origin)
    found = []
    for part in Rows.all(origin).each_part(_PART):
        match marker.read(part, Projection(marker.node)):
            case StoredValues(values):
                assert values.data is not None
                bits = np.frombuffer(values.data, np.uint8)
                if values.validity is not None:
                    bits = bits & np.frombuffer(values.validity, np.uint8)[: len(bits)]
                found.append(part.chosen(bits))
            case ConstantValues(value=value):
                with marker.place():
                    return Rows.all(origin) if _is_true(value) else Rows.none(origin)
    return Rows.united(found, origin)


def _is_true(value: AnyValue) -> bool:
    if value.kind not in ("bool", "null"):
        raise CorruptedData(f"constant value: expected bool or null, found {value.kind}")
    return value.value is True
