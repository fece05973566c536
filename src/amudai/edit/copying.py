"""Copying a shard with all files that it refers to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import xxhash

from amudai.edit.naming import Naming
from amudai.edit.publish import Publication
from amudai.edit.references import references_of
from amudai.edit.root import Root
from amudai.errors import CorruptedData, located
from amudai.format import HEADER, IndexCollection, NativeEncoding, StripeFieldDescriptor
from amudai.shard import INDEX_SUFFIX, STRIPE_SUFFIX, ShardMetadata, ShardReader
from amudai.storage import MAX_READ, Artifact, SealedFile, Sealing, Store, container, is_relative

__all__ = ["copy_shard", "end_of_bytes", "own_files", "owned_urls", "pieces_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _CopyNaming(Naming):
    """The names of copied files. The root file of the shard becomes the new root file."""

    names: Mapping[str, str] = field(default_factory=dict)

    def replaces(self, file: Artifact) -> bool:  # noqa: ARG002 - the new root refers to copies only
        """Never: the new root refers to none of the files that are copied."""
        return False

    def name(self, store: Store, url: str) -> str:  # noqa: ARG002 - all copies are in one store
        """The name of the copy."""
        if url not in self.names:
            raise CorruptedData(f"UrlList: expected every file that the shard refers to, found none that is {url}")
        return self.names[url]


def copy_shard(reader: ShardReader, store: Store, url: str, *, overwrite: bool, temp_folder: str | None) -> None:
    """Copy a shard to `url`, with every file that it refers to.

    If the copy can be the same in every byte, it is: a shard in one file, or one with files of its own that is copied
    to another folder under its old name. Otherwise the copies of other files get new names, belong to the new root, and
    lie beside it.
    """
    files = dict(_other_files(reader))
    if _stays_same(reader, url, files):
        with Sealing(store, url, overwrite=overwrite, temp_folder=temp_folder) as sealing:
            for name, file in files.items():
                _copy(file, sealing.file(container(url) + name))
            _copy(reader.root, sealing.file(url))
            sealing.publish()
        return
    root_name = url[len(container(url)) :]
    names = {file.url: _new_name(root_name, name) for name, file in files.items()}
    with Publication(store, url, overwrite=overwrite, temp_folder=temp_folder) as publication:
        root = Root.of(reader, _CopyNaming(url=url, store=store, names={**names, reader.url: ""}))
        metadata = replace(root.metadata, urls=frozenset(root.metadata.urls - {""}))
        end = end_of_bytes(metadata, "")  # offsets stay as they are
        for piece in pieces_of(reader.root, len(HEADER), end):
            publication.file.write(piece)
        for file in files.values():
            _copy(file, publication.sealing.file(container(url) + names[file.url]))
        kept = {name: mark for name, mark in root.files.items() if name}
        publication.publish(replace(root, metadata=metadata, files=kept))


def owned_urls(reader: ShardReader) -> list[str]:
    """The URLs of the files that belong to a shard alone, besides its root file."""
    said, folder = reader.files, container(reader.url)
    if said is None or said.root != reader.url[len(folder) :]:
        return []
    return [folder + name for name in sorted(said.owned)]


def own_files(reader: ShardReader) -> tuple[list[str], list[str]]:
    """The files that can go with a shard: those that belong to it alone, its root first; and those that must stay.

    A file stays if another root, in the folder of the shard or below it, refers to it. If the root file stays, so do
    all others: the shard remains as it is. Raises StorageError if one of the other roots cannot be read.
    """
    mine, folder = [reader.url, *owned_urls(reader)], container(reader.url)
    others = (file for file in reader.store.files_below(folder) if file.url != reader.url)
    known = references_of(reader.store, folder, others, reader.allow)
    if known.may_use(reader.url):
        return [], mine
    used = set(filter(known.may_use, mine))
    return [url for url in mine if url not in used], [url for url in mine if url in used]


def _other_files(reader: ShardReader) -> Iterator[tuple[str, Artifact]]:
    """The other files of a shard, by the names that its root gives them."""
    for name in sorted(set(reader.urls)):
        with located(url=reader.url):
            file = reader.artifact(name, reader.root)
        if file is not reader.root:
            yield name, file


def _stays_same(reader: ShardReader, url: str, files: Mapping[str, Artifact]) -> bool:
    old, new = container(reader.url), container(url)
    renamed = reader.url[len(old) :] != url[len(new) :]
    if not files:
        return reader.is_own or not renamed  # a root of another writer may refer to itself by its name
    owned = set(owned_urls(reader))
    return old != new and not renamed and all(is_relative(name) and old + name in owned for name in files)


def _new_name(root: str, name: str) -> str:
    suffix = INDEX_SUFFIX if name.endswith(INDEX_SUFFIX) else STRIPE_SUFFIX
    digest = xxhash.xxh3_64_intdigest("\0".join((root, name)).encode())
    return f"{digest:016x}{suffix}"


def end_of_bytes(metadata: ShardMetadata, name: str) -> int:
    """Where the last buffer or index ends that a root has in a file; the empty name is that of the root file."""
    end = len(HEADER)
    collections = [metadata.indexes]
    for stripe in metadata.stripes:
        collections.append(stripe.indexes)
        for payload in stripe.fields:
            if payload is None:
                continue
            for encoding in StripeFieldDescriptor.decode(payload).encodings:
                for buffer in encoding.buffers if isinstance(encoding, NativeEncoding) else ():
                    extent = buffer.extent
                    if extent is not None and extent.url == name:
                        end = max(end, extent.end)
    for payload in collections:
        for descriptor in IndexCollection.decode(payload) if payload else ():
            end = max([end, *(each.data.end for each in descriptor.artifacts if each.data.url == name)])
    return end


def _copy(file: Artifact, out: SealedFile) -> None:
    with out:
        for piece in pieces_of(file, 0, file.size):
            out.write(piece)


def pieces_of(file: Artifact, start: int, end: int) -> Iterator[memoryview]:
    """The bytes `start` to `end` of a file, some megabytes at a time."""
    for at in range(start, end, MAX_READ):
        yield file.read(at, min(at + MAX_READ, end))
