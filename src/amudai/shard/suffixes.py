"""The endings of file names. The root of a shard has the ending that its user gave it."""

from __future__ import annotations

from typing import Final

__all__ = ["INDEX_SUFFIX", "STRIPE_SUFFIX"]

STRIPE_SUFFIX: Final = ".amudai.stripe"
INDEX_SUFFIX: Final = ".amudai.index"
