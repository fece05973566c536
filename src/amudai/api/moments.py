"""Times that a writer notes: when a shard is created, and when its rows come in."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from amudai.arguments import shown
from amudai.errors import InvalidArgument

__all__ = ["creation_time", "require_zone"]


def creation_time(given: datetime | None) -> datetime:
    """The time at which a shard is created: as given, or as SOURCE_DATE_EPOCH says, or now."""
    if given is not None:
        return require_zone(given, "created")
    stated = os.environ.get("SOURCE_DATE_EPOCH")
    if not stated:
        return datetime.now(UTC)
    try:
        return datetime.fromtimestamp(int(stated), UTC)
    except (ValueError, OverflowError, OSError) as error:
        message = f"SOURCE_DATE_EPOCH: expected a number of seconds from 1970, found {stated!r}"
        raise InvalidArgument(message) from error


def require_zone(given: object, name: str) -> datetime:
    """The time. Raises InvalidArgument if it is no `datetime` with a time zone."""
    if not isinstance(given, datetime) or given.tzinfo is None:
        raise InvalidArgument(f"{name}: expected a datetime with a time zone, found {shown(given)}")
    return given
