"""Which readers a shard is written for."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

from amudai.arguments import is_one_of, shown
from amudai.errors import InvalidArgument

__all__ = ["Compatibility", "is_extended"]

Compatibility: TypeAlias = Literal["reference", "extended"]


def is_extended(compatibility: Compatibility) -> bool:
    """Whether a shard may use what only this library reads."""
    if not is_one_of(compatibility, get_args(Compatibility)):
        raise InvalidArgument(f"compatibility: expected reference or extended, found {shown(compatibility)}")
    return compatibility == "extended"
