"""What is evidence?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from amudai.encoding import Ranges
from amudai.index import Positions
from amudai.scan.evidence.facts import Facts

__all__ = ["Evidence"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Something that tells, without reading values, for which rows a leaf's question can be true.

    Attributes
    ----------
    name
        As `explain` shows it.
    answer
        The answer for some rows; None where it has nothing to say.
    worth
        How many rows must be in doubt before it is worth asking.
    """

    name: str
    answer: Callable[[Facts, Ranges], Positions | None]
    worth: int = 1
