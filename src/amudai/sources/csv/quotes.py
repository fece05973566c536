"""Quotes that close a value in the middle of it.

Arrow's reader leaves such quotes out and keeps the text behind them: `"a"b` becomes `ab`.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai.sources.csv.dialect import Dialect
from amudai.sources.records import Records

__all__ = ["ODD_QUOTE", "odd_quotes"]

# The end of an error, with the quote to be filled in.
ODD_QUOTE: Final = "text behind a closing {}: quote='' (--quote '') reads quotes as characters"


def odd_quotes(records: Records, dialect: Dialect) -> npt.NDArray[np.bool_]:
    """Which records have text other than blanks behind a closing quote."""
    found = np.zeros(len(records), np.bool_)
    if not dialect.quote or not len(records):
        return found
    data = np.frombuffer(records.content(), np.uint8)
    first = int(records.starts[0])
    at = first + _suspects(data, records.starts - first, dialect)
    # Most suspects are characters of values without quotes: 5" pipe.
    for index in np.unique(np.searchsorted(records.starts, at, side="right") - 1).tolist():
        if index >= 0:
            found[index] = _is_odd(records.text(index), dialect)
    return found


def _suspects(data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], dialect: Dialect) -> npt.NDArray[np.int64]:
    """Where quotes end that may close a value although it goes on.

    Quotes come in runs, and two inside of quotes are one character. So a run of an odd number closes a value, or one of
    an even number if the first of them opens it. Behind a delimiter or a line end a run of an odd number opens a value,
    unless that delimiter or line end is in quotes: then an odd number of quotes stands before it in the record.
    """
    quotes = np.flatnonzero(data == ord(dialect.quote))
    if not len(quotes):
        return quotes
    breaks = np.concatenate([[0], np.flatnonzero(np.diff(quotes) != 1) + 1])
    firsts = quotes[breaks]
    lasts = quotes[np.append(breaks[1:], len(quotes)) - 1]
    is_edge = np.zeros(256, np.bool_)
    is_edge[[ord(dialect.delimiter), *b"\r\n"]] = True
    opens = (firsts == 0) | is_edge[data[firsts - 1]]
    goes_on = (lasts + 1 < len(data)) & ~is_edge[data[np.minimum(lasts + 1, len(data) - 1)]]
    is_even = (lasts - firsts) % 2 == 1
    # Quotes that are characters of a value without quotes are counted, too. Such a count is wrong for the rest of its
    # record, so that the next quote that opens a value is a suspect, and with it the record.
    before = breaks - np.searchsorted(quotes, starts)[np.searchsorted(starts, firsts, side="right") - 1]
    is_inside = opens & ~is_even & (before % 2 == 1)
    found: npt.NDArray[np.int64] = lasts[goes_on & (is_even == opens) | is_inside]
    return found


def _is_odd(record: bytes, dialect: Dialect) -> bool:
    delimiter, quote = dialect.delimiter.encode(), re.escape(dialect.quote.encode())
    blanks = b"\\t" if delimiter == b" " else b" " if delimiter == b"\t" else b" \\t"
    value = re.compile(rb"Q[^Q]*(?:QQ[^Q]*)*Q[B]*".replace(b"Q", quote).replace(b"B", blanks))
    at = 0
    while True:
        quoted = value.match(record, at)
        if quoted is not None:
            at = quoted.end()
            if record[at : at + 1] not in (b"", b"\r", b"\n", delimiter):
                return True
        found = record.find(delimiter, at)
        if found < 0:
            return False
        at = found + 1
