"""A profile for each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from amudai.arguments import shown
from amudai.encoding.profile import Profile, profile_of
from amudai.errors import InvalidArgument, MissingColumn
from amudai.types import NANOSECONDS, SchemaNode, find_in, nanoseconds_name

__all__ = ["ColumnProfiles", "ProfileChoice", "profiles_of"]

ProfileChoice: TypeAlias = str | Mapping[str, str]
"""The name of a profile for all columns, or names of profiles by the paths of columns, with `*` for all others."""

_OTHERS: Final = "*"
_DEFAULT: Final = "balanced"


@dataclass(frozen=True, slots=True)
class ColumnProfiles:
    """The profiles of columns, by schema id. They hold for the columns below, too. All others have the `default`."""

    default: Profile
    by_id: Mapping[int, Profile] = field(default_factory=dict)


def profiles_of(choice: ProfileChoice, fields: Sequence[SchemaNode]) -> ColumnProfiles:
    """The profiles that a user has chosen for the top-level fields and those below them.

    Nanoseconds after ticks are stored with the profile of their column.

    >>> from amudai.types import BasicType
    >>> message = SchemaNode(schema_id=0, name="message", basic_type=BasicType.STRING)
    >>> profiles_of({"message": "high_compression"}, [message]).by_id[0].name
    'high_compression'
    """
    if isinstance(choice, str):
        return ColumnProfiles(profile_of(choice))
    if not isinstance(choice, Mapping):
        expected = 'expected a name, or a dict such as {"message": "high_compression", "*": "balanced"}'
        raise InvalidArgument(f"profile: {expected}, found {shown(choice)}")
    found: dict[int, Profile] = {}
    for path, name in choice.items():
        if not isinstance(path, str):
            raise InvalidArgument(f"profile: expected names of columns, found {shown(path)}")
        profile = profile_of(name, f" of {path!r}")
        if path == _OTHERS:
            continue
        try:
            node = find_in([each for each in fields if not each.internal], path)[-1]
        except MissingColumn as error:
            error.message = f"profile: {error.message}"
            raise
        if node.schema_id in found:
            raise InvalidArgument(f"profile: expected every column once, found {shown(path)} by two names")
        found[node.schema_id] = profile
    ids = {nanoseconds_name(each.name): each.schema_id for each in fields if each.schema_id in found}
    for each in fields:
        if each.internal == NANOSECONDS and each.name in ids:
            found[each.schema_id] = found[ids[each.name]]
    return ColumnProfiles(profile_of(choice.get(_OTHERS, _DEFAULT)), found)
