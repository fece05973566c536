"""A root as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from amudai.edit.take_over import TakeOver
from amudai.errors import InvalidArgument
from amudai.format import Fingerprint
from amudai.shard import ShardMetadata, ShardReader
from amudai.storage import container

__all__ = ["Root"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """All that a root says: its metadata, and the files that it owns and refers to.

    Operations make a new root of an old one and leave the old one as it is. Files are named relative to the folder of
    the root.

    Attributes
    ----------
    url
        Where the root lies, or will lie.
    metadata
        Schema, stripes with the descriptors of their fields, statistics, indexes, properties, and the list of files.
    files
        Every other file that the metadata refers to, with its fingerprint. Files that are made for this root and are
        not published yet need none.
    owned
        Names of files that belong to this root alone. Only these are ever removed, when the root is replaced.
    """

    url: str
    metadata: ShardMetadata
    files: Mapping[str, Fingerprint] = field(default_factory=dict)
    owned: frozenset[str] = frozenset()

    @classmethod
    def of(cls, reader: ShardReader) -> Root:
        """The root of an open shard. All descriptors are read; blocks are not.

        Unknown fields that may hold references are an `UnsupportedFeature`.
        """
        found = TakeOver(reader)
        return cls(url=reader.url, metadata=found.metadata, files=found.files, owned=found.owned)

    @property
    def folder(self) -> str:
        """The folder of the root, with its slash."""
        return container(self.url)

    @property
    def name(self) -> str:
        """The name of the root in its folder."""
        return self.url[len(self.folder) :]

    def at(self, url: str) -> Root:
        """The same root for another URL of the same folder. There it owns nothing."""
        if container(url) != self.folder:
            raise InvalidArgument(f"to: expected a place in the folder of the shard, {self.folder}", url=url)
        moved = replace(self, url=url, owned=frozenset())
        if moved.name in self.files:
            raise InvalidArgument("to: expected another place: the new root refers to the bytes of this file", url=url)
        return moved
