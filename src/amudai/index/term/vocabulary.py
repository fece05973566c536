"""Hashes of terms without regard to case, so that filters of many terms can be made."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai import _kernels
from amudai.index.questions import Match, Terms
from amudai.index.term.stored_form import MAYBE_CUT
from amudai.stats import BLOOM_SEED, hash_value

__all__ = ["LEAST_FOLDED", "hashed_terms", "term_hash"]

# Case folding leaves at least half the bytes of a code point, so a term that may have been cut folds to more than this.
LEAST_FOLDED: Final = (MAYBE_CUT - 1) // 2
_ASCII: Final = 0x80


def hashed_terms(offsets: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """The hash of each folded term. Term i is `offsets[i] .. offsets[i + 1]` of `data`."""
    count = len(offsets) - 1
    text = data.tobytes()
    if count and int(data.max(initial=0)) >= _ASCII:
        # Other letters may fold to more or fewer bytes, so each term is folded alone.
        edges = offsets.tolist()
        terms = [_kernels.fold(text[start:end]) for start, end in pairwise(edges)]
        offsets = np.cumsum([0, *map(len, terms)], dtype=np.int64)
        folded = b"".join(terms)
    else:
        folded = _kernels.fold(text)
    return _kernels.hash_values(offsets, np.frombuffer(folded, np.uint8), None, None, 0, count, BLOOM_SEED)


def term_hash(question: Terms) -> int | None:
    """The hash of the folded term that a row must have; None if rows may match without having this very term.

    >>> term_hash(Terms("Timeout", Match.EQUAL, True)) == term_hash(Terms("TIMEOUT", Match.EQUAL, False))
    True
    >>> term_hash(Terms("time", Match.PREFIX, False)) is None
    True
    """
    if question.match is not Match.EQUAL or not question.text:
        return None
    try:
        folded = _kernels.fold(question.text.encode())
    except UnicodeEncodeError:
        return None  # half a surrogate pair
    return hash_value(folded, BLOOM_SEED) if len(folded) <= LEAST_FOLDED else None
