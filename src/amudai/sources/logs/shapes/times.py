"""Times that several shapes share."""

from typing import Final

__all__ = ["BEHIND_CLOCK", "CLOCK", "ISO", "ISO_ZONE", "WEEKDAY"]

CLOCK: Final = "%H:%M:%S"
ISO: Final = rf"%Y-%m-%d[T ]{CLOCK}([.,]%f)?(%z)?"
ISO_ZONE: Final = rf"%Y-%m-%d[T ]{CLOCK}([.,]%f)? ?%z"
# What lines that begin with a time may have behind its clock.
BEHIND_CLOCK: Final = "( ?%p)?(%z| %Z)?"
WEEKDAY: Final = "(Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
