"""`Root`: the content of a root as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from amudai.edit.naming import Naming
from amudai.edit.take_over import TakeOver
from amudai.errors import InvalidArgument
from amudai.format import Fingerprint
from amudai.shard import ShardMetadata, ShardReader
from amudai.storage import container

__all__ = ["Root"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """The whole content of a root: its metadata, and the files that it owns and refers to.

    Operations return a new root and leave the old one unchanged. Files in or below the folder of the root have relative
    names, others absolute URLs.

    Attributes
    ----------
    url
        Where the root is, or will be published.
    metadata
        Schema, stripes with the descriptors of their fields, statistics, indexes, properties, and the list of files.
    files
        The fingerprint of every other file that the metadata refers to. Files that were written for this root and are
        not published yet need no entry.
    digests
        XXH3-128 of whole files among `files`, as far as it is known.
    index_files
        Names of those files to which only indexes of the whole shard refer.
    of_fields
        Whether any index of the whole shard was in the descriptor of a field.
    owned
        Names of files that belong to this root alone. Only such files are ever removed, after the root was replaced.
    """

    url: str
    metadata: ShardMetadata
    files: Mapping[str, Fingerprint] = field(default_factory=dict)
    digests: Mapping[str, bytes] = field(default_factory=dict)
    index_files: frozenset[str] = frozenset()
    of_fields: bool = False
    owned: frozenset[str] = frozenset()

    @classmethod
    def of(cls, reader: ShardReader, naming: Naming | None = None, stripes: Sequence[int] | None = None) -> Root:
        """The root of an open shard. Reads all descriptors but no blocks.

        Raises UnsupportedFeature if there are unknown fields that may hold references.

        Parameters
        ----------
        naming
            The place of another root that takes the content over, and the names of files there. That root owns nothing.
        stripes
            The numbers of the stripes that the other root takes over, without anything about the whole shard; None for
            everything.
        """
        if naming is None:
            naming = Naming(url=reader.url, store=reader.store, allow=reader.allow)
        found = TakeOver(reader, naming, stripes)
        owned = found.owned if naming.url == reader.url else frozenset()
        return cls(
            url=naming.url,
            metadata=found.metadata,
            files=found.files,
            digests=found.digests,
            index_files=found.index_files,
            of_fields=found.of_fields,
            owned=owned,
        )

    @property
    def folder(self) -> str:
        """The folder of the root, with its slash."""
        return container(self.url)

    @property
    def name(self) -> str:
        """The name of the root in its folder."""
        return self.url[len(self.folder) :]

    def at(self, url: str) -> Root:
        """The same root at another URL in the same folder. The new root owns no files."""
        if container(url) != self.folder:
            raise InvalidArgument(f"to: expected a place in the folder of the shard, {self.folder}", url=url)
        moved = replace(self, url=url, owned=frozenset())
        if moved.name in self.files:
            raise InvalidArgument("to: expected another place: the new root refers to the bytes of this file", url=url)
        return moved
