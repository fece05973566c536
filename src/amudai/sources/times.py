"""The rule for times in text, which CSV, JSON and logs share.

A time that names a zone is a moment: `timestamp[us, tz=UTC]`. A time without a zone is what a clock showed:
`timestamp[us]`. The unit is nanoseconds if a value has more than six digits of a fraction. A column of dates is
`date32`. Times with and without a zone do not mix.
"""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["has_mixed_zones", "is_time_type", "parsed_times", "time_type"]

_CLOCK: Final = pa.timestamp("us")
_MOMENT: Final = pa.timestamp("us", "UTC")
_CANDIDATES: Final = (pa.date32(), _CLOCK, _MOMENT, pa.timestamp("ns"), pa.timestamp("ns", "UTC"))

_FEW: Final = 100
_DATE: Final = r"^\d{4}-\d\d-\d\d"
_ZONE: Final = r"^\d{4}-\d\d-\d\d[T ].*(?:Z|[+-]\d\d(?::?\d\d)?)$"


def time_type(texts: pa.Array | pa.ChunkedArray) -> pa.DataType | None:
    """The type of a column of times; None if some text is not a time, or if there is no text.

    >>> texts = ["2013-01-10T07:58:30Z", "2013-01-10T09:58:30.25+02:00"]
    >>> str(time_type(pa.array(texts)))
    'timestamp[us, tz=UTC]'
    >>> time_type(pa.array([*texts, "2013-01-10T07:58:30"])) is None
    True
    """
    if len(texts) == texts.null_count or not pc.all(pc.match_substring_regex(texts, _DATE)).as_py():
        return None
    # All texts are parsed even where the first one shows that they do not fit.
    first = texts[:_FEW]
    likely = (kind for kind in _CANDIDATES if parsed_times(first, kind) is not None)
    return next((kind for kind in likely if parsed_times(texts, kind) is not None), None)


def parsed_times(texts: pa.Array | pa.ChunkedArray, kind: pa.DataType) -> pa.Array | pa.ChunkedArray | None:
    """The texts as values of a type that `time_type` returned; None if some text does not fit."""
    try:
        return pc.cast(texts, kind)
    except pa.ArrowInvalid:
        return None


def has_mixed_zones(texts: pa.Array | pa.ChunkedArray) -> bool:
    """Whether all texts are times, and some name a zone while others do not."""
    zoned = pc.match_substring_regex(texts, _ZONE)
    if not pc.any(zoned).as_py() or pc.all(zoned).as_py():
        return False
    return time_type(texts.filter(zoned)) is not None and time_type(texts.filter(pc.invert(zoned))) is not None


def is_time_type(kind: pa.DataType) -> bool:
    """Whether `time_type` can return this type."""
    return any(kind.equals(each) for each in _CANDIDATES)
