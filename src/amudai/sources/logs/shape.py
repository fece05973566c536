"""The definition of a log shape."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

__all__ = ["SEVERITIES", "LogShape"]

# The severities of syslog, from 0.
SEVERITIES: Final = ("emerg", "alert", "crit", "err", "warning", "notice", "info", "debug")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogShape:
    """One kind of log line.

    Attributes
    ----------
    template
        What a line looks like, in the language of `template.py`. The field `level` is the level of a line. Without it,
        the level is the severity in the field `priority`, which is that of syslog.
    begins
        The template of the first line of a record, for shapes whose records are always several lines. `template` is for
        a whole record then.
    null
        A field with this text is null.
    is_utc
        Whether times are in UTC although they do not say so.
    goes_on
        Whether a line of another shape continues the record before it. If not, such a line stands for itself.
    is_loose
        Whether other text can look like this. Then most lines must match.
    has_escapes
        Whether fields have the escapes of JSON.
    has_arrays
        Whether a text may be an array in its JSON instead: of its bytes, or of several texts.
    has_sizes
        Whether a text may be written as its size and its bytes below its name. Lines may have bytes that are no text.
    header
        The line that names the fields, for shapes that have one. Lines below another header are bad records.
    levels
        Names of levels, for shapes that write something else.
    """

    name: str
    template: str
    begins: str = ""
    null: str = ""
    is_utc: bool = False
    goes_on: bool = True
    is_loose: bool = False
    has_escapes: bool = False
    has_arrays: bool = False
    has_sizes: bool = False
    header: str = ""
    levels: dict[str, str] = field(default_factory=dict)

    @property
    def has_year(self) -> bool:
        """Whether times name their year, or are no times at all."""
        return re.search("%[YyE]", self.template) is not None or re.search("%-?[mb]", self.template) is None
