"""An open shard."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from amudai.column import Prefer
from amudai.errors import (
    AmudaiError,
    CorruptedData,
    InvalidArgument,
    LimitExceeded,
    StorageError,
    UnsupportedFeature,
    located,
)
from amudai.format import (
    DIRECTORY_LENGTH,
    MOVED_PROPERTY,
    DataRef,
    FieldDescriptor,
    FieldList,
    Fingerprint,
    IndexCollection,
    IndexDescriptor,
    RootFiles,
    ShardProperties,
    ShardSchema,
    StripeList,
    UrlList,
    indexed_fields_of,
    true_count,
    unframe,
)
from amudai.lazy import lazy
from amudai.limits import DEFAULT_LIMITS, Limits
from amudai.rows import Origin, Rows, Visibility
from amudai.shard.open_files import OpenFiles, require_same
from amudai.shard.portable import PortableShard
from amudai.shard.stripe import StripeReader
from amudai.storage import Allow, Allowed, Artifact, Store, StoredFile, is_relative, open_store, portable_store
from amudai.types import DELETED_RECORD, BasicType, SchemaNode, nodes_below

__all__ = ["ShardReader", "fingerprint_of_tail"]

T = TypeVar("T")

# The end of a file says enough about it where the root does not say more.
_TAIL: Final = 16 * 1024


class ShardReader:
    """An open shard. Opening reads its tail; schema, stripes, descriptors and blocks are read when they are needed.

    Parameters
    ----------
    location, store
        The arguments of `storage.open_store`.
    verify
        Whether the checksums of messages and blocks are compared.
    allow
        Prefixes of absolute URLs outside of the shard's folder that references may lead to, perhaps with the stores
        that serve them, or a function that decides.
    end, file
        The end of the directory, for a shard that is embedded in a larger file, and that file if it is open already.
    limits
        How much memory and work the shard may take.
    prefer
        Which encoding is read if a column has several: "native", or "parquet" for the one in Parquet files.
    trust_indexes
        Whether indexes that do not say that they are complete are used as if they did.
    tail
        The root file as its store described it, and its last bytes, if they are known already. Opening then needs no
        request. If another file has its place by now, the next read raises `ReplacedFile` where the store has tags.

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
        allow: Allow | Allowed = (),
        end: int | None = None,
        limits: Limits = DEFAULT_LIMITS,
        prefer: Prefer = "native",
        trust_indexes: bool = False,
        tail: tuple[StoredFile, memoryview] | None = None,
        file: Artifact | None = None,
    ) -> None:
        found, self.url = open_store(location, store)
        self.store: Store = found
        self.verify = verify
        self.allow = Allowed.of(allow)
        self.limits = limits
        self.prefer: Prefer = prefer
        self.trust_indexes = trust_indexes
        self._opened = OpenFiles(found, self.url, verify, self.allow, end, limits, prefer, tail, file)
        self.root, self.directory_place = self._opened.root, self._opened.directory_place
        self.directory = self._opened.directory
        self._deleted: dict[int, Rows] = {}  # by the number of the stripe

    def close(self) -> None:
        """Close the files."""
        self._opened.close()

    @property
    def num_positions(self) -> int:
        """The number of records, deleted ones included."""
        return self.directory.total_records

    @property
    def num_rows(self) -> int:
        """The number of records that are not deleted, as the directory counts them."""
        return self.directory.total_records - self.directory.deleted_records

    def require_work(self, rows: int | None = None) -> None:
        """Raise LimitExceeded if the shard has too few bytes for an operation on `rows` rows, or on all its rows.

        A shard of some hundred bytes can have 2^62 equal rows. Reading them takes little memory, and never ends.
        """
        count = self.num_positions if rows is None else rows
        try:
            self.limits.require_values(count, self.root.size)
        except LimitExceeded:
            others = sum(self.artifact(name, self.root).size for name in set(self.urls))
            with located(url=self.url):
                self.limits.require_values(count, self.root.size + others)

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
        return tuple(
            StripeReader(self._opened, self.origin, ordinal, stripe, anchor) for ordinal, stripe in enumerate(found)
        )

    def stripes_with(self, rows: Rows) -> Sequence[StripeReader]:
        """The stripes that may hold some of `rows`, in their order. A few rows do not cost a look at every stripe."""
        stripes = self.stripes
        if len(stripes) < 2 or not rows:
            return stripes if rows else ()
        if rows.count < len(stripes):
            wanted = np.unique(np.searchsorted(self.stripe_bounds[1:], rows.positions(), "right"))
            return [stripes[ordinal] for ordinal in wanted.tolist()]
        hull = rows.hull
        ends = [hull.starts.item(0), hull.ends.item(0) - 1]
        first, last = np.searchsorted(self.stripe_bounds[1:], ends, "right").tolist()
        return stripes[first : last + 1]

    @lazy
    def stripe_bounds(self) -> npt.NDArray[np.uint64]:
        """0, and the end of the rows of each stripe."""
        return np.array([0, *(stripe.end_row for stripe in self.stripes)], np.uint64)

    def _stripe_list(self, payload: memoryview) -> StripeList:
        found = StripeList.decode(payload, self.directory.stripe_count)
        found.check_positions(self.directory.total_records)
        found.check_deleted(self.directory.deleted_records)
        return found

    @property
    def properties(self) -> ShardProperties:
        """The properties of the shard."""
        return self._opened.properties

    @lazy
    def files(self) -> RootFiles | None:
        """The files that the root owns and refers to; None if it does not say."""
        return RootFiles.of(self.properties) if self._opened.has_own_properties else None

    def fingerprint(self) -> Fingerprint:
        """What tells the root file from another of the same name."""
        said, place = self.files, self.directory.properties
        if said is not None and said.content and place is not None:
            # The properties hold a hash of everything before the metadata.
            return Fingerprint.of(self.root.size, place.start, self.root.read(place.start, place.end))
        return fingerprint_of_tail(self.root)

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
    def may_have_moved_indexes(self) -> bool:
        """Whether the rows of some index may have other numbers than those of the shard. False needs no decoding."""
        return self._stored_indexes is not None and MOVED_PROPERTY in bytes(self._stored_indexes[0])

    @lazy
    def required_indexes(self) -> tuple[IndexDescriptor, ...]:
        """The indexes without which the shard must not be read. Finding that there are none needs no decoding."""
        if self._stored_indexes is None or b"required" not in bytes(self._stored_indexes[0]):
            return ()
        return tuple(index for index in self.indexes if index.required)

    def field_indexes(self, nodes: Iterable[SchemaNode] | None = None) -> Iterator[tuple[IndexDescriptor, Artifact]]:
        """The indexes in the descriptors of fields, each with the file that its references are relative to.

        `nodes` are the fields; None for all fields. Shards of this library say which fields have some, so that no
        descriptor is read for nothing.
        """
        known = self._indexed_fields
        if known is not None and not known:
            return
        for node in nodes_below(self.schema.fields()) if nodes is None else nodes:
            if known is not None and node.schema_id not in known:
                continue
            found = self.descriptor(node)
            ref = self._field_list.ref(node.schema_id)
            if found is not None and found.indexes is not None and ref is not None:
                anchor = self.artifact(ref.url, self.artifact(self.directory.field_list.url, self.root))
                for index in found.indexes:
                    yield index, anchor

    @lazy
    def _indexed_fields(self) -> frozenset[int] | None:
        return frozenset(indexed_fields_of(self.properties)) if self.is_own else None

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

    def tail(self) -> memoryview:
        """The end of the root file, from the first byte of metadata: of the shard, and of stripes that are inside."""
        start = self.directory_place.start
        nodes = tuple(nodes_below(self.schema.fields()))
        places = [*self.places(), *(place for stripe in self.stripes for place in stripe.metadata_places(nodes))]
        for artifact, first, _ in places:
            if artifact is self.root:
                start = min(start, first)
        return self.root.read(start, self.root.size)

    @property
    def stored(self) -> StoredFile:
        """The root file, as its store described it when the shard was opened."""
        return StoredFile(self.url, self.root.size, tag=self.root.tag)

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

    @lazy
    def deleted_marker(self) -> SchemaNode | None:
        """The field that is true for deleted rows; None if the shard has none, and so no deleted rows."""
        found = self.schema.internal(DELETED_RECORD)
        if found is not None and found.basic_type is not BasicType.BOOLEAN:
            raise CorruptedData(f"field {DELETED_RECORD}: expected boolean, found {found}", url=self.url)
        return found

    @property
    def visibility(self) -> Visibility:
        """Which rows are live. Raises CorruptedData where markers and counters of deleted rows disagree.

        The markers of a stripe are read when rows of the stripe are asked for.
        """
        _ = self.stripes  # compares the counters of the directory with those of the stripes
        if self.deleted_marker is not None:
            return Visibility(self.origin, self._deleted_in_stripes_of, self._counted_markers)
        counted = self.directory.deleted_records
        if counted:
            found = f"expected {counted} markers, found no field {DELETED_RECORD}"
            raise CorruptedData(f"deleted records: {found}", url=self.url)
        return Visibility(self.origin)

    def _counted_markers(self) -> int | None:
        """How many rows are deleted according to the directory and the statistics of the markers; None if these are
        missing. Raises CorruptedData if the two disagree.
        """
        counted, marked = self.directory.deleted_records, self._marked_count
        if marked is not None and marked != counted:
            message = f"deleted records: expected {counted} markers, found statistics of {marked}"
            raise CorruptedData(message, url=self.url)
        return marked

    @lazy
    def _marked_count(self) -> int | None:
        """How many markers are true according to their statistics; None if there are none."""
        marker = self.deleted_marker
        if marker is None:
            return None
        try:
            ref = self._field_list.ref(marker.schema_id)
            if ref is None:
                return None
            if ref.url:
                return true_count(self._descriptor(ref)[0])
            # Counting all rows of a shard takes little more than this, so the shortest way counts.
            listed = self.directory.field_list.url
            holder = self.artifact(listed, self.root) if listed else self.root
            return self._opened.message(ref, "FieldDescriptor", holder, true_count)
        except AmudaiError as error:
            error.locate(url=self.url, field=marker.name)
            raise

    @lazy
    def deleted(self) -> Rows:
        """All deleted rows."""
        return Rows.united([self.deleted_in(stripe) for stripe in self.stripes], self.origin)

    def deleted_in(self, stripe: StripeReader) -> Rows:
        """The deleted rows of a stripe, counted from the first row of the shard.

        Raises CorruptedData if there are more or fewer of them than the stripe's directory counts.
        """
        known = self._deleted.get(stripe.ordinal)
        if known is not None:
            return known
        marker, counted = self.deleted_marker, stripe.directory.deleted_records
        found = Rows.none(stripe.origin)
        if marker is not None:
            self.require_readable((marker,), (*self.required_indexes, *stripe.indexes.descriptors))
            with located(url=self.url):
                found = stripe.marked(marker)
        if found.count != counted:
            message = f"deleted records: expected {counted} markers, found {found.count}"
            raise CorruptedData(message, url=self.url, stripe=stripe.ordinal)
        return self._deleted.setdefault(stripe.ordinal, found.outward())

    def _deleted_in_stripes_of(self, rows: Rows) -> Rows:
        """The deleted rows of the stripes that hold some of `rows`."""
        held = [stripe for stripe in self.stripes if rows.clip(stripe.first_row, stripe.end_row)]
        if len(held) == len(self.stripes):
            return self.deleted
        return Rows.united([self.deleted_in(stripe) for stripe in held], self.origin)

    def portable(self) -> PortableShard:
        """How another process opens the shard. Raises InvalidArgument if it cannot, or would need a secret."""
        with located(url=self.url):
            allow = self.allow.portable()
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
            allow=allow,
            limits=self.limits,
            prefer=self.prefer,
            trust_indexes=self.trust_indexes,
        )

    @classmethod
    def of_portable(cls, shard: PortableShard) -> ShardReader:
        """Open a shard that another process described. Raises StorageError if it was overwritten since."""
        allow = shard.allow.open()
        reader = cls(
            shard.url,
            shard.store.open(),
            verify=shard.verify,
            allow=allow,
            limits=shard.limits,
            prefer=shard.prefer,
            trust_indexes=shard.trust_indexes,
        )
        require_same(reader.root, shard.fingerprint, "which was to be read")
        return reader

    def artifact(self, reference: str, anchor: Artifact) -> Artifact:
        """The file that `reference`, found in the file `anchor`, refers to."""
        return self._opened.artifact(reference, anchor)

    def url_of(self, reference: str) -> str:
        """The URL of the file that a reference means, which is not empty. RefusedAccess if it may not be followed."""
        return self._opened.url_of(reference)

    def place(self, url: str) -> tuple[Store, str]:
        """The store that has the file at a URL of `url_of`, and the file's URL there."""
        return self._opened.place(url)

    @property
    def is_own(self) -> bool:
        """Whether this library wrote the root. Then references are followed exactly, and none is guessed."""
        return self._opened.is_own

    def fingerprint_of(self, file: Artifact) -> Fingerprint | None:
        """What the root says about a file of another root; None if it says nothing."""
        return self._opened.fingerprint_of(file)

    def payload(self, ref: DataRef, what: str, anchor: Artifact) -> tuple[memoryview, located]:
        """The payload of the message at `ref`, checked, and its place for errors when it is decoded later."""
        return self._opened.payload(ref, what, anchor)

    def _message(self, ref: DataRef, what: str, decode: Callable[[memoryview], T]) -> T:
        self._require_message(ref, what)
        return self._opened.message(ref, what, self.root, decode)

    def _payload(self, ref: DataRef, what: str, holder: DataRef | None = None) -> tuple[memoryview, located]:
        anchor = self.root if holder is None else self.artifact(holder.url, self.root)
        self._require_message(ref, what)
        return self.payload(ref, what, anchor)

    def _require_message(self, ref: DataRef, what: str) -> None:
        if ref.is_empty:
            raise CorruptedData(f"{what}: expected a message, found an empty reference", url=self.url)


def fingerprint_of_tail(file: Artifact) -> Fingerprint:
    """The fingerprint of a file that says nothing about itself."""
    start = max(0, file.size - _TAIL)
    return Fingerprint.of(file.size, start, file.read(start, file.size))
