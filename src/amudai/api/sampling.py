"""A random sample of numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from amudai.errors import InvalidArgument

__all__ = ["sample_of"]


def sample_of(population: int, count: int, seed: int | None) -> npt.NDArray[np.int64]:
    """At most `count` of the numbers below `population`, ascending, each as likely as any other.

    >>> sample_of(3, 10, seed=None).tolist()
    [0, 1, 2]
    """
    if seed is not None and (not isinstance(seed, int) or seed < 0):
        raise InvalidArgument(f"seed: expected a number from 0 on, found {seed!r}")
    random = np.random.default_rng(seed)
    return np.sort(random.choice(max(1, population), min(count, population), replace=False))
