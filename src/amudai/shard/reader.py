"""An open shard."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock
from typing import Final, TypeVar

from amudai.errors import AmudaiError, CorruptedData, InvalidArgument, StorageError, UnsupportedFeature, located
from amudai.format import (
    DIRECTORY_LENGTH,
    FOOTER,
    HEADER,
    TAIL_READ,
    DataRef,
    FieldDescriptor,
    FieldList,
    Fingerprint,
    IndexCollection,
    IndexDescriptor,
    RootFiles,
    ShardDirectory,
    ShardProperties,
    ShardSchema,
    StripeList,
    UrlList,
    check_footer,
    check_header,
    directory_range,
    references_of,
    require_few_entries,
    unframe,
)
from amudai.lazy import lazy
from amudai.limits import DEFAULT_LIMITS, Limits
from amudai.rows import Origin, Visibility
from amudai.shard.portable import PortableShard
from amudai.shard.stripe import StripeReader
from amudai.storage import Artifact, Store, is_relative, open_store, portable_store, resolve
from amudai.types import SchemaNode, nodes_below

__all__ = ["ShardReader", "fingerprint_of_tail"]

T = TypeVar("T")

# The end of a file says enough about it where the root does not say more.
_TAIL: Final = 16 * 1024
_NO_PROPERTIES = ShardProperties(creation_min=None, creation_max=None, standard=(), custom=())


class ShardReader:
    """An open shard. Opening reads its tail; schema, stripes, descriptors and blocks are read when they are needed.

    Parameters
    ----------
    location, store
        The arguments of `storage.open_store`.
    verify
        Whether the checksums of messages and blocks are compared.
    allow
        Prefixes of absolute URLs outside of the shard's folder that references may lead to, or a function that decides.
    end
        The end of the directory, for a shard that is embedded in a larger file.
    limits
        How much memory and work the shard may take.

    Attributes
    ----------
    root, directory_place
        The root file, and the place of the shard directory in it.
    """

    def __init__(
        self,
        location: str | os.PathLike[str],
        store: object | None = None,
        *,
        verify: bool = True,
        allow: Callable[[str], bool] | Sequence[str] = (),
        end: int | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self.store: Store
        self.store, self.url = open_store(location, store)
        self.verify = verify
        self.allow = allow
        self.limits = limits
        self._artifacts: dict[str, Artifact] = {}
        self._referred: dict[str, Artifact] = {}  # by reference, as stored
        self._lock = Lock()
        with located(url=self.url):
            self.root, self.directory_place = self._open(end)
            self.directory = self._message(self.directory_place, "ShardDirectory", ShardDirectory.decode)
        self._artifacts[self.url] = self.root

    def _open(self, end: int | None) -> tuple[Artifact, DataRef]:
        whole = Artifact.open(self.store, self.url, TAIL_READ if end is None else 0)
        size = whole.size
        stop = size if end is None else min(end, size)
        start = max(0, stop - TAIL_READ)
        tail = whole.read(start, stop)
        first, last = directory_range(tail, size, end)
        if end is not None:
            check_footer(whole.read(size - len(FOOTER), size))
        if start == 0 and stop >= len(HEADER):
            check_header(tail)  # needs no request for a small file; `verify` checks larger files
        if first < start:
            start = first
            tail = whole.read(start, stop)
        return Artifact(self.store, self.url, size, (start, tail)), DataRef("", first, last)

    def close(self) -> None:
        """Close the files."""
        self.store.close()

    @property
    def num_rows(self) -> int:
        """The number of records."""
        return self.directory.total_records

    @lazy
    def origin(self) -> Origin:
        """The origin of the shard's rows."""
        return Origin("shard", self.url, self.directory.total_records)

    @lazy
    def schema(self) -> ShardSchema:
        """The fields of the shard, decoded when they are accessed."""
        payload, place = self._payload(self.directory.schema, "Schema")
        with place:
            return ShardSchema(payload, place)

    @lazy
    def stripes(self) -> tuple[StripeReader, ...]:
        """The stripes, in the order of their records."""
        found = self._message(self.directory.stripe_list, "StripeList", self._stripe_list)
        anchor = self.artifact(self.directory.stripe_list.url, self.root)
        return tuple(StripeReader(self, ordinal, stripe, anchor) for ordinal, stripe in enumerate(found))

    def _stripe_list(self, payload: memoryview) -> StripeList:
        found = StripeList.decode(payload, self.directory.stripe_count)
        found.check_positions(self.directory.total_records)
        return found

    @lazy
    def properties(self) -> ShardProperties:
        """The properties of the shard."""
        if self.directory.properties is None or self.directory.properties.is_empty:
            return _NO_PROPERTIES
        return self._message(self.directory.properties, "ShardProperties", ShardProperties.decode)

    @lazy
    def files(self) -> RootFiles | None:
        """The files that the root owns and refers to; None if it does not say."""
        return RootFiles.of(self.properties) if self._has_own_properties else None

    def fingerprint(self) -> Fingerprint:
        """What tells the root file from another of the same name."""
        said, place = self.files, self.directory.properties
        if said is not None and said.content and place is not None:
            # The properties hold a hash of everything before the metadata.
            return Fingerprint.of(self.root.size, place.start, self.root.read(place.start, place.end))
        return fingerprint_of_tail(self.root)

    @lazy
    def _fingerprints(self) -> dict[str, Fingerprint]:
        """The fingerprints of the files of other roots that this root refers to, by URL."""
        if not self._has_own_properties:
            return {}
        return {resolve(name, self.url): mark for name, mark in references_of(self.properties).items()}

    @property
    def _has_own_properties(self) -> bool:
        """Whether the properties are in the root. Elsewhere, the fingerprint of their file would have to be known."""
        ref = self.directory.properties
        return ref is not None and not ref.url

    @lazy
    def urls(self) -> tuple[str, ...]:
        """The shard's other files, as its writer listed them."""
        return self._message(self.directory.url_list, "UrlList", UrlList.decode).urls

    @lazy
    def indexes(self) -> IndexCollection:
        """The indexes of the shard as a whole."""
        if self._stored_indexes is None:
            return IndexCollection(())
        payload, place = self._stored_indexes
        with place:
            return IndexCollection.decode(payload)

    @lazy
    def _stored_indexes(self) -> tuple[memoryview, located] | None:
        ref = self.directory.indexes
        return None if ref is None or ref.is_empty else self._payload(ref, "IndexCollection")

    @lazy
    def required_indexes(self) -> tuple[IndexDescriptor, ...]:
        """The indexes without which the shard must not be read. Finding that there are none needs no decoding."""
        if self._stored_indexes is None or b"required" not in bytes(self._stored_indexes[0]):
            return ()
        return tuple(index for index in self.indexes if index.required)

    @property
    def index_anchor(self) -> Artifact:
        """The file that the references of `indexes` are relative to."""
        ref = self.directory.indexes
        return self.artifact("" if ref is None else ref.url, self.root)

    @lazy
    def _field_list(self) -> FieldList:
        return self._message(self.directory.field_list, "DataRefArray", FieldList.decode)

    def descriptor(self, node: SchemaNode) -> FieldDescriptor | None:
        """Counts and statistics of a field over the whole shard; None if the shard has none."""
        with located(url=self.url, field=node.name):
            ref = self._field_list.ref(node.schema_id)
            if ref is None:
                return None
            payload, place = self._descriptor(ref)
            with place:
                return FieldDescriptor.decode(payload)

    def places(self) -> Iterator[tuple[Artifact, int, int]]:
        """Where the metadata of the shard is: the file, the first byte and the end of each message."""
        directory, at = self.directory, self.directory_place
        yield self.root, at.start, at.end + DIRECTORY_LENGTH
        held = (directory.schema, directory.properties, directory.field_list, directory.stripe_list)
        for ref in (*held, directory.url_list, directory.indexes):
            if ref is not None and not ref.is_empty:
                yield self.artifact(ref.url, self.root), ref.start, ref.end
        anchor = self.artifact(directory.field_list.url, self.root)
        for node in nodes_below(self.schema.fields()):
            ref = self._field_list.ref(node.schema_id)
            if ref is not None:
                try:
                    artifact = self.artifact(ref.url, anchor)
                except StorageError:
                    artifact = self.root  # a root of the reference implementation that was moved, as in `_descriptor`
                yield artifact, ref.start, ref.end

    def _descriptor(self, ref: DataRef) -> tuple[memoryview, located]:
        try:
            return self._payload(ref, "FieldDescriptor", self.directory.field_list)
        except StorageError:
            # The reference implementation names the root file by the URL it was written to. If the file was moved and
            # renamed, the descriptor is still at the same place, and its checksum confirms that.
            if is_relative(ref.url) or ref.end > self.root.size:
                raise
            frame = self.root.read(ref.start, ref.end)
            try:
                payload = unframe(frame, "FieldDescriptor", verify=True)
            except CorruptedData:
                payload = None
            if payload is None:
                raise
            return payload, located(url=self.url, range=f"{ref.start}..{ref.end}")

    def require_readable(self, nodes: Iterable[SchemaNode], indexes: Iterable[IndexDescriptor]) -> None:
        """Raise UnsupportedFeature if a field has a required index of an unknown type: it cannot be read without it."""
        covered = {
            schema_id: index.index_type
            for index in indexes
            if index.required
            for schema_ids in index.indexed_fields
            for schema_id in schema_ids
        }
        if covered:
            for node in nodes:
                if node.schema_id in covered:
                    message = f"required index {covered[node.schema_id]!r}: unknown to this version"
                    raise UnsupportedFeature(message, url=self.url, field=node.name)

    @property
    def visibility(self) -> Visibility:
        """Which rows are live. Raises UnsupportedFeature if any is deleted: this version cannot hide rows yet."""
        # Deleted records are counted in two places, and neither is trusted alone.
        deleted = self.directory.deleted_records or sum(each.directory.deleted_records for each in self.stripes)
        if deleted:
            raise UnsupportedFeature(f"deleted records: expected none, found {deleted}", url=self.url)
        return Visibility(self.origin)

    def portable(self) -> PortableShard:
        """How another process opens the shard. Raises InvalidArgument if it cannot, or would need a secret."""
        if callable(self.allow):
            message = "allow: expected beginnings of URLs, found a callable: another process cannot be handed one"
            raise InvalidArgument(message, url=self.url)
        authority = self.url.partition("://")[2].partition("/")[0]
        if "@" in authority or "?" in self.url:
            # The URL is not repeated in the message: it may hold a secret.
            raise InvalidArgument(
                "location: expected a URL without credentials and query, to be sent to other processes"
            )
        return PortableShard(
            url=self.url,
            store=portable_store(self.store),
            fingerprint=self.fingerprint(),
            verify=self.verify,
            allow=tuple(self.allow),
            limits=self.limits,
        )

    @classmethod
    def of_portable(cls, shard: PortableShard) -> ShardReader:
        """Open a shard that another process described. Raises StorageError if it was overwritten since."""
        reader = cls(shard.url, shard.store.open(), verify=shard.verify, allow=shard.allow, limits=shard.limits)
        _require_same(reader.root, shard.fingerprint, "which was to be read")
        return reader

    def artifact(self, reference: str, anchor: Artifact) -> Artifact:
        """The file that `reference`, found in the file `anchor`, refers to."""
        if not reference:
            return anchor
        known = self._referred.get(reference)
        if known is not None:
            return known
        with located(url=self.url):
            url = resolve(reference, self.url, self.allow)
            expected = None if url == self.url else self._fingerprints.get(url)
        with self._lock:
            found = self._artifacts.get(url)
            if found is None:
                found = self._artifacts[url] = _opened(self.store, url, expected)
            self._referred[reference] = found
        return found

    def message(self, ref: DataRef, what: str, anchor: Artifact, decode: Callable[[memoryview], T]) -> T:
        """The message at `ref`: its payload, checked and decoded."""
        artifact = self.artifact(ref.url, anchor)
        try:
            return decode(self.checked(artifact.read(ref.start, ref.end), what))
        except AmudaiError as error:
            error.locate(url=artifact.url, range=f"{ref.start}..{ref.end}")
            raise

    def _message(self, ref: DataRef, what: str, decode: Callable[[memoryview], T]) -> T:
        self._require_message(ref, what)
        return self.message(ref, what, self.root, decode)

    def payload(self, ref: DataRef, what: str, anchor: Artifact) -> tuple[memoryview, located]:
        """The payload of the message at `ref`, checked, and its place for errors when it is decoded later."""
        artifact = self.artifact(ref.url, anchor)
        place = located(url=artifact.url, range=f"{ref.start}..{ref.end}")
        with place:
            return self.checked(artifact.read(ref.start, ref.end), what), place

    def checked(self, frame: memoryview, what: str) -> memoryview:
        """The payload of a frame: its checksum is right, and it does not hold too many entries."""
        payload = unframe(frame, what, self.verify)
        require_few_entries(what, payload, self.limits.entries)
        return payload

    def _payload(self, ref: DataRef, what: str, holder: DataRef | None = None) -> tuple[memoryview, located]:
        anchor = self.root if holder is None else self.artifact(holder.url, self.root)
        self._require_message(ref, what)
        return self.payload(ref, what, anchor)

    def _require_message(self, ref: DataRef, what: str) -> None:
        if ref.is_empty:
            raise CorruptedData(f"{what}: expected a message, found an empty reference", url=self.url)


def _opened(store: Store, url: str, expected: Fingerprint | None) -> Artifact:
    """Open a file. An error if it is not the file that the root was made from."""
    if expected is None:
        return Artifact.open(store, url)
    try:
        found = Artifact.open(store, url)
    except StorageError as error:
        message = f"the file from which this shard was made: {error.message}"
        raise type(error)(message, **error.place) from error
    _require_same(found, expected, "from which this shard was made")
    return found


def _require_same(found: Artifact, expected: Fingerprint, purpose: str) -> None:
    if found.size != expected.size or not expected.matches(found.read(expected.start, expected.end)):
        message = f"expected the file of {expected.size} bytes {purpose}"
        raise StorageError(f"{message}, found another of {found.size} bytes: it was overwritten", url=found.url)


def fingerprint_of_tail(file: Artifact) -> Fingerprint:
    """The fingerprint of a file that says nothing about itself."""
    start = max(0, file.size - _TAIL)
    return Fingerprint.of(file.size, start, file.read(start, file.size))
