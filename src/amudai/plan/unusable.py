"""Indexes that a scan cannot use: those of later versions, and damaged ones."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amudai.errors import AmudaiError, UnsupportedFeature

if TYPE_CHECKING:
    from amudai.plan.request import OnDamage

__all__ = ["UnusableIndexes"]


@dataclass(eq=False)
class UnusableIndexes:
    """Notes about indexes that a scan cannot use. No scan needs an index: without it, values are read.

    Attributes
    ----------
    on_damage
        `"raise"` makes damage an error, `"ignore"` a warning. An index of a later version is never an error.
    """

    on_damage: OnDamage = "raise"
    _notes: dict[str, None] = field(default_factory=dict)

    @property
    def notes(self) -> tuple[str, ...]:
        """Each index that was not used, and why."""
        return tuple(self._notes)

    def note(self, index: str, error: AmudaiError) -> None:
        """Note why an index is not used. Raises the error if it is about damage and damage is an error."""
        if not isinstance(error, UnsupportedFeature):
            if self.on_damage == "raise":
                raise error
            warnings.warn(f"damaged index ignored: {error}", RuntimeWarning, stacklevel=3)
        self._notes[f"{index}: {error.message}"] = None
