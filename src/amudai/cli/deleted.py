"""What the commands that delete rows have in common: positions as text, and the line that they print."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai import InvalidArgument, Shard
from amudai.asking import count_text, time_text
from amudai.cli.terminal import output, print_json

__all__ = ["positions_of", "say_deleted"]

_PART: Final = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?")


def positions_of(text: str | None) -> npt.NDArray[np.uint64] | None:
    """The positions that a text such as `7,10-19` names; None for None."""
    if text is None:
        return None
    found = []
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise InvalidArgument(f"--positions: expected numbers and ranges such as 7,10-19, found {part!r}")
        first = int(match[1])
        found.append(np.arange(first, int(match[2] or first) + 1, dtype=np.uint64))
    return np.concatenate(found)


def say_deleted(shard: Shard, to: str, before: int, seconds: float, *, json: bool) -> None:
    """Print how many rows the new shard has, and how many of its positions were deleted or taken back."""
    deleted = shard.num_positions - shard.num_rows
    if json:
        print_json({"shard": shard.url, "rows": shard.num_rows, "deleted": deleted, "seconds": seconds})
        return
    change = deleted - before
    what = "deleted" if change >= 0 else "taken back"
    line = f"{to}: {count_text(abs(change), 'row')} {what}, {count_text(shard.num_rows, 'row')} left"
    output().print(f"{line if change >= 0 else line.removesuffix(' left')} in {time_text(seconds)}", soft_wrap=True)
