"""A random sample of numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from amudai.arguments import whole_number
from amudai.limits import DEFAULT_LIMITS

__all__ = ["sample_of"]


def sample_of(population: int, count: int, seed: int | None) -> npt.NDArray[np.int64]:
    """At most `count` of the numbers below `population`, ascending, each as likely as any other.

    >>> sample_of(3, 10, seed=None).tolist()
    [0, 1, 2]
    """
    random = np.random.default_rng(None if seed is None else whole_number(seed, "seed"))
    DEFAULT_LIMITS.require_memory(min(whole_number(count, "count"), population), 64)
    return np.sort(random.choice(max(1, population), min(whole_number(count, "count"), population), replace=False))
