"""How hard the tests try: how many examples hypothesis makes of each property, and how many places are damaged.

`AMUDAI_TEST_EFFORT` is `quick`, `normal`, `full`, `thorough`, or a number that the examples are multiplied by. Tests
state what they try at the effort `full`. Up to `full` the examples are the same in every run, so that a failure belongs
to a change. `thorough` makes new ones each time.

`AMUDAI_TEST_CASES` is the number of parametrized cases that run of each test; all of them if it is not set.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final, TypeVar

from hypothesis import HealthCheck, settings

Item = TypeVar("Item")

NAMED: Final = {"quick": 0.1, "normal": 0.3, "full": 1.0, "thorough": 10.0}


def _effort() -> float:
    stated = os.environ.get("AMUDAI_TEST_EFFORT", "normal")
    try:
        return NAMED[stated] if stated in NAMED else float(stated)
    except ValueError:
        expected = f"expected {', '.join(NAMED)} or a number"
        raise ValueError(f"AMUDAI_TEST_EFFORT: {expected}, found {stated!r}") from None


EFFORT: Final = _effort()
CASES: Final = int(os.environ.get("AMUDAI_TEST_CASES", "0"))


def scaled(count: int) -> int:
    """`count` examples at the effort `full`: fewer or more at another."""
    return max(2, int(count * EFFORT))


def spaced(stride: int) -> int:
    """Every `stride`th place at the effort `full`: fewer places below it. The stride stays odd."""
    return max(stride, round(stride / EFFORT)) | 1


def some(items: Sequence[Item], seed: int) -> Sequence[Item]:
    """All items, or at the effort `quick` every third: which third depends on the seed."""
    return items if NAMED["quick"] < EFFORT else items[seed % 3 :: 3]


def spread(items: Sequence[Item], tests: Sequence[str], most: int = CASES) -> list[Item]:
    """The items in their order, with at most `most` of each test, spread over all of its items. 0 stands for all.

    >>> spread("abcdefg", "xxxxxxy", most=3)
    ['a', 'c', 'e', 'g']
    """
    total, seen, found = Counter(tests), Counter[str](), []
    for item, test in zip(items, tests, strict=True):
        at, count = seen[test], total[test]
        seen[test] += 1
        # Case `at` is kept where the number of kept cases grows.
        if not most or count <= most or at * most // count != (at - 1) * most // count:
            found.append(item)
    return found


# A busy machine makes examples slowly.
_CLOCKS: Final = [HealthCheck.too_slow]


def examples(count: int, *, suppress_health_check: Sequence[HealthCheck] = (), **options: Any) -> settings:
    """Settings of a test that tries `count` examples at the effort `full`, in the time that they need."""
    unchecked = [*_CLOCKS, *suppress_health_check]
    return settings(max_examples=scaled(count), suppress_health_check=unchecked, **{"deadline": None, **options})


def load_profile() -> None:
    """Make the effort the default of all tests: those that say nothing try 100 examples at the effort `full`."""
    settings.register_profile(
        "amudai",
        max_examples=scaled(100),
        deadline=None,
        derandomize=EFFORT <= 1,
        suppress_health_check=_CLOCKS,
    )
    settings.load_profile("amudai")
