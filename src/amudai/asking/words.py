"""The words of a search: the rows that contain them, and where they are in a text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from amudai import Dataset, Scan, Shard

__all__ = ["Words"]

# Words consist of letters and digits. Python's \w includes the underscore.
_BEFORE: Final = r"(?<![^\W_])"
_BEHIND: Final = r"(?![^\W_])"


@dataclass(frozen=True, slots=True)
class Words:
    """The words to look for, and how they must match."""

    texts: tuple[str, ...]
    match: Literal["has", "hasprefix", "contains"] = "has"
    any_of: bool = False
    case_sensitive: bool = False
    include_deleted: bool = False

    def scan(
        self,
        shard: Shard | Dataset,
        columns: list[str] | None = None,
        where: str | None = None,
        within: list[str] | None = None,
        limit: int | None = None,
    ) -> Scan:
        """A scan for the rows of a shard or dataset that contain the words."""
        return shard.search(
            " ".join(self.texts),
            columns,
            where,
            within=within or None,
            match=self.match,
            any_word=self.any_of,
            case_sensitive=self.case_sensitive,
            limit=limit,
            include_deleted=self.include_deleted,
        )

    def pattern(self) -> re.Pattern[str] | None:
        """A pattern that finds the words in a text, to highlight them; None if there are no words."""
        if not self.texts:
            return None
        # Longer words first: the first alternative that fits wins.
        ordered = sorted(self.texts, key=len, reverse=True)
        before = "" if self.match == "contains" else _BEFORE
        behind = _BEHIND if self.match == "has" else r"\w*" if self.match == "hasprefix" else ""
        parts = [f"{before}{re.escape(text)}{behind}" for text in ordered]
        return re.compile("|".join(parts), 0 if self.case_sensitive else re.IGNORECASE)
