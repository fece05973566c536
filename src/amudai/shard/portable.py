"""A shard as another process opens it."""

from __future__ import annotations

from dataclasses import dataclass, field

from amudai.column import Prefer
from amudai.format import Fingerprint
from amudai.limits import DEFAULT_LIMITS, Limits
from amudai.storage import PortableAllowed, PortableStore

__all__ = ["PortableShard"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PortableShard:
    """The URL of a shard and how it is opened, without open files and without secrets. It can be pickled.

    Attributes
    ----------
    fingerprint
        What tells the shard from another that takes its place.
    allow
        Where references outside of the shard's folder may lead to.
    limits
        How much memory and work the shard may take.
    prefer
        Which encoding is read if a column has several.
    trust_indexes
        Whether indexes that do not say that they are complete are used as if they did.
    """

    url: str
    store: PortableStore
    fingerprint: Fingerprint
    verify: bool
    allow: PortableAllowed = field(default_factory=PortableAllowed)
    limits: Limits = DEFAULT_LIMITS
    prefer: Prefer = "native"
    trust_indexes: bool = False
