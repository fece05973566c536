"""Finding the shape of a log from its first lines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amudai.sources.logs.block import I64, Block, matches_in
from amudai.sources.logs.program import compiled
from amudai.sources.logs.shape import LogShape
from amudai.sources.logs.shapes.catalog import SHAPES
from amudai.sources.logs.shapes.dated import dated_shape
from amudai.sources.logs.shapes.headed import headed_shape

__all__ = ["RecognisedShape", "recognised"]

_NANOSECONDS = 1_000_000_000
# Lines of a loose shape must be more than this share of all lines.
_MOST = 0.5
# Lines that may tell days from months.
_MANY = 2000
# One line in this many is tried first, and then one in fewer. That rules most shapes out.
_SPREADS = (64, 8)
_DATE_MARKS = np.frombuffer(b"/-", np.uint8)


@dataclass(frozen=True, slots=True)
class RecognisedShape:
    """A shape, and what it finds in the first lines of a file.

    Attributes
    ----------
    zoned
        Whether most of the times name a zone.
    nanoseconds
        Whether some time has more digits than microseconds have.
    """

    shape: LogShape
    zoned: bool
    nanoseconds: bool


def recognised(block: Block) -> RecognisedShape | None:
    """The shape of the header, or that with most matching lines, then with most levels, then with most fields.

    It is None if no shape matches.
    """
    sample = sample_texts(block, 100)
    headed = headed_shape(sample)
    if headed is not None:
        score, found = _scored(block, headed)
        if score > (0, 0, 0):
            return found
    dated = dated_shape(_dated_texts(block))
    shapes = (*SHAPES, *([dated] if dated is not None else []))
    few, more = ((block.starts[::each].copy(), block.ends[::each].copy()) for each in _SPREADS)
    possible = [(_most_matches(block, shape, few), -place, shape) for place, shape in enumerate(shapes)]
    best, most = None, (0, 0, 0, -len(shapes))
    for count, place, shape in sorted(possible, key=lambda each: each[:2], reverse=True):
        if count < most[0]:
            break
        if _most_matches(block, shape, more) < most[0]:
            continue
        score, found = _scored(block, shape)
        if score > (0, 0, 0) and (*score, place) > most:
            best, most = found, (*score, place)
    return best


def _most_matches(block: Block, shape: LogShape, lines: tuple[I64, I64]) -> int:
    """The most lines that can match a shape, given how many of some of the lines do."""
    if shape.begins:
        return len(block)
    matched = matches_in(block.data, *lines, compiled(shape.template), _NANOSECONDS).matched
    return len(block) - int((~matched).sum())


def sample_texts(block: Block, count: int) -> list[str]:
    """The first lines as text."""
    return _texts(block, block.starts[:count], block.ends[:count])


def _dated_texts(block: Block) -> list[str]:
    """Those of the first lines that may begin with a date such as `02/01/2024`. Most logs have none."""
    starts, ends = block.starts[:_MANY], block.ends[:_MANY]

    def byte(place: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        return block.data[np.minimum(begins + place, len(block.data) - 1)]

    begins = starts
    begins = starts + (byte(0) == ord("["))
    digit = (byte(0) >= ord("0")) & (byte(0) <= ord("9"))
    possible = digit & (np.isin(byte(1), _DATE_MARKS) | np.isin(byte(2), _DATE_MARKS))
    return _texts(block, starts[possible], ends[possible])


def _texts(block: Block, starts: I64, ends: I64) -> list[str]:
    bounds = zip(starts.tolist(), ends.tolist(), strict=True)
    return [block.data[start:end].tobytes().decode("utf-8", "replace") for start, end in bounds]


def _scored(block: Block, shape: LogShape) -> tuple[tuple[int, int, int], RecognisedShape]:
    starts, ends = block.starts, block.ends
    filled = starts < ends
    is_at_top = True
    if shape.begins:
        begins = compiled(shape.begins)
        first = matches_in(block.data, starts, ends, begins, _NANOSECONDS).matched
        is_at_top = bool(first[filled][:1].any())
        starts, ends = starts[first], np.append(starts[first][1:], ends[-1:])[: int(first.sum())]
        filled = np.ones(len(starts), np.bool_)
    program = compiled(shape.template)
    found = matches_in(block.data, starts, ends, program, _NANOSECONDS)
    has_time = "%" in shape.template.replace("%q", "").replace("%L", "")
    matched = found.timed if has_time else found.matched
    count = int(matched.sum())
    result = RecognisedShape(
        shape, 2 * int((found.zoned & matched).sum()) > count, _has_nanoseconds(found.moments[matched])
    )
    # One line of a time in a text does not make it a log, unless it is the first line, or stands below a header.
    if count < 2 and not (count and (shape.header or (is_at_top and matched[np.argmax(filled)]))):
        return (0, 0, 0), result
    if (shape.is_loose or not has_time) and count <= _MOST * int(filled.sum()):
        return (0, 0, 0), result
    fields = [field.name for field in program.fields]
    levels = int((found.to[fields.index("level")] >= 0).sum()) if "level" in fields else 0
    return (count, levels, int((found.to >= 0).sum())), result


def _has_nanoseconds(moments: np.ndarray[tuple[int], np.dtype[np.int64]]) -> bool:
    return bool((moments % 1000 != 0).any())
