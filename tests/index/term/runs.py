"""Terms that a run has gathered, read back through its merge."""

from __future__ import annotations

import numpy as np

from amudai import _kernels

__all__ = ["terms_of_run", "tokens"]


def terms_of_run(run: bytes) -> list[bytes]:
    """The different terms of a run, in the order of the index."""
    nothing = np.zeros(1, np.uint16), np.zeros(1, np.uint32), np.zeros(1, np.uint64)
    merge = _kernels.TermMerge([run], *nothing)
    found: list[bytes] = []
    while not merge.done:
        merged = merge.next(1 << 20, 1 << 20)
        stored, ends = merged.terms().tobytes(), np.cumsum(merged.lengths()).tolist()
        found += [stored[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return found


def tokens(value: bytes, tokenizer: str) -> set[str]:
    """The different terms of one value."""
    run = _kernels.TermRun(tokenizer)
    offsets = np.array([0, len(value)], np.int64)
    assert run.add(offsets, np.frombuffer(value, np.uint8), None, 0, None, None, 0, 0, 1 << 30) == 1
    return {term.decode() for term in terms_of_run(run.finish())}
