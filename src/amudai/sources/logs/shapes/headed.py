"""Logs with a header that names their fields: W3C extended logs of IIS and others, and CloudFront."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from amudai.sources.logs.shape import LogShape

__all__ = ["HEADER", "headed_shape"]

HEADER: Final = "#Fields:"


def headed_shape(sample: Sequence[str]) -> LogShape | None:
    """The shape of lines under a line `#Fields: date time c-ip ...`; None if there is no such line."""
    header = next((line.rstrip() for line in sample if line.startswith(HEADER)), None)
    if header is None:
        return None
    names = header.removeprefix(HEADER).split()
    if not {"date", "time"} <= set(names) or any(re.search(r"[{}=:]", name) for name in names):
        return None
    line = next((line for line in sample if line and not line.startswith("#")), "")
    separator = r"\t" if "\t" in line else " +"
    parts = [_part(name, "\t" if "\t" in line else " ") for name in _distinct(names)]
    return LogShape(name="w3c", template=separator.join(parts), null="-", is_utc=True, goes_on=False, header=header)


def _part(name: str, separator: str) -> str:
    if name == "date":
        return "%Y-%m-%d"
    if name == "time":
        return r"%H:%M:%S(\.%f)?"
    if separator == "\t":
        return rf"{{{name}:guess=[^\t]*}}"
    return rf'("{{{name}:guess=[^"]*}}"|{{{name}:guess=[^ ]*}})'


def _distinct(names: list[str]) -> list[str]:
    """The names, with a number after the second and later ones of the same name."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        count = seen[name] = seen.get(name, -1) + 1
        found.append(f"{name}_{count}" if count else name)
    return found
