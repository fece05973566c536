"""Patterns of the caller: regular expressions with named groups, and grok patterns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from amudai.errors import InvalidArgument
from amudai.sources.logs.grok import expanded, is_grok
from amudai.sources.logs.template import Kind, TemplateField

__all__ = ["LinePattern", "line_pattern"]

_GROUP: Final = re.compile(r"\(\?P?<(\w+)>")
_RESERVED: Final = ("line", "file", "line_number")


@dataclass(frozen=True, slots=True)
class LinePattern:
    """A compiled pattern.

    Attributes
    ----------
    regex
        A regular expression of RE2 in which all groups have names.
    groups
        The field of each group, by the group's name. Several groups can have the same field.
    """

    regex: str
    groups: dict[str, TemplateField]

    @property
    def fields(self) -> tuple[TemplateField, ...]:
        """The fields, without repetitions."""
        return tuple({field.name: field for field in self.groups.values()}.values())

    def found(self, lines: pa.Array) -> tuple[pa.Array, dict[str, pa.Array]]:
        """Which lines match, and the texts of fields. An empty text is null."""
        groups = pc.extract_regex(lines, self.regex)
        texts: dict[str, pa.Array] = {}
        for group, field in self.groups.items():
            values = pc.struct_field(groups, group)
            values = pc.if_else(pc.equal(values, ""), None, values)
            known = texts.get(field.name)
            texts[field.name] = values if known is None else pc.coalesce(known, values)
        return groups.is_valid(), texts


def line_pattern(pattern: str) -> LinePattern:
    """Compile a pattern, or raise `InvalidArgument`.

    >>> [(field.name, field.kind) for field in line_pattern("%{IP:client} %{NUMBER:bytes:int}").fields]
    [('client', 'guess'), ('bytes', 'int')]
    """
    groups: list[tuple[str, Kind]] = []
    regex = pattern
    if is_grok(pattern):
        regex, groups = expanded(pattern)
    numbered = {f"g{number}": TemplateField(name, kind) for number, (name, kind) in enumerate(groups)}
    regex = _without_unnamed(regex)
    names = _GROUP.findall(regex)
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice is not None:
        raise InvalidArgument(f"pattern: expected a name for each group, found {twice!r} twice in {pattern!r}")
    named = {name: numbered.get(name, TemplateField(name, "guess")) for name in names}
    if not named:
        raise InvalidArgument(
            f"pattern: expected named groups such as (?P<host>...) or %{{IP:client}}, found none in {pattern!r}"
        )
    for field in named.values():
        if field.name in _RESERVED:
            raise InvalidArgument(
                f"pattern: expected another name for the group {field.name!r}, which is a column of each log"
            )
    try:
        pc.extract_regex(pa.array([""]), regex)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise InvalidArgument(f"pattern: expected a regular expression of RE2, found {pattern!r}: {error}") from error
    return LinePattern(regex, named)


def _without_unnamed(regex: str) -> str:
    """The same regular expression with `(?:` for groups without a name, and `(?P<` for named ones."""
    found, at, in_class = [], 0, False
    while at < len(regex):
        character = regex[at]
        size = 2 if character == "\\" else 1
        if not in_class and character == "(":
            if regex.startswith("(?<", at) and regex[at + 3 : at + 4] not in ("=", "!"):
                found.append("(?P<")
                at += 3
                continue
            found.append("(" if regex.startswith("(?", at) else "(?:")
        else:
            found.append(regex[at : at + size])
        if character == "[" and not in_class:
            in_class = True
            # A bracket right after the opening one is a member.
            for first in ("^", "]"):
                if regex.startswith(first, at + 1):
                    found.append(first)
                    at += 1
        elif character == "]" and in_class:
            in_class = False
        at += size
    return "".join(found)
