"""A problem that was found in a shard."""

from __future__ import annotations

from dataclasses import dataclass

from amudai.errors import AmudaiError

__all__ = ["Problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a shard that is damaged or cannot be read, and where it is.

    Attributes
    ----------
    message
        The text of the error, with its place.
    error
        The error that reading this part of the shard raises.

    Examples
    --------
    >>> for problem in amudai.open("tests/fixtures/sample.amudai.shard").verify().problems:
    ...     print(problem.message)
    """

    message: str
    error: AmudaiError

    @classmethod
    def of(cls, error: AmudaiError) -> Problem:
        """The problem that an error reports.

        >>> Problem.of(AmudaiError("checksum: expected 1, found 2", block=7)).message
        'checksum: expected 1, found 2 (block 7)'
        """
        return cls(str(error), error)
