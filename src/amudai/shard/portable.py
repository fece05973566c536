"""A shard as another process opens it."""

from __future__ import annotations

from dataclasses import dataclass

from amudai.format import Fingerprint
from amudai.storage import PortableStore

__all__ = ["PortableShard"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableShard:
    """Where a shard lies and how it is opened, without open files and without secrets. It pickles.

    Attributes
    ----------
    fingerprint
        What tells the shard from another that takes its place.
    allow
        Beginnings of absolute URLs outside of the shard's folder that may be followed.
    """

    url: str
    store: PortableStore
    fingerprint: Fingerprint
    verify: bool
    allow: tuple[str, ...] = ()
