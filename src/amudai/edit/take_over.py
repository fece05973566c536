"""Reading the root of an open shard for a new root."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from amudai.edit.naming import Naming
from amudai.errors import AmudaiError, CorruptedData, InvalidArgument, StorageError, located
from amudai.format import (
    DataRef,
    FieldList,
    Fingerprint,
    carried,
    unframe,
    unknown_fields,
    unknown_fields_of_stripes,
    without_field_indexes,
)
from amudai.shard import ShardMetadata, ShardReader, StripeMetadata, StripeReader, fingerprint_of_tail
from amudai.storage import MAX_READ, Artifact, container, is_relative

__all__ = ["TakeOver"]


class TakeOver:
    """The content of a root, for another root that refers to the same files.

    Raises an error for unknown fields that may hold references, and for files that the new root may not refer to. Reads
    all descriptors but no blocks.

    Parameters
    ----------
    naming
        The names that files have for the new root.
    stripes
        The numbers of the stripes to take over; None for all. Files of other stripes are not opened, and statistics and
        indexes of the whole shard, which would cover too much, are left out.

    Attributes
    ----------
    metadata
        The metadata of the shard, with the names that files have for the new root.
    files
        The fingerprint of every file that the metadata refers to. The root file of the shard may be one of them.
    digests
        XXH3-128 of whole files among them, as far as the shard knows it.
    index_files
        Names of those files to which only indexes of the whole shard refer.
    of_fields
        Whether any of these indexes was in the descriptor of a field.
    owned
        Names of the files that belong to the shard, relative to its folder.
    """

    def __init__(self, reader: ShardReader, naming: Naming, stripes: Sequence[int] | None = None) -> None:
        self._reader = reader
        self._naming = naming
        self._chosen = range(len(reader.stripes)) if stripes is None else stripes
        self._whole = stripes is None
        self._name = reader.url[len(container(reader.url)) :]
        self._files: dict[str, Artifact] = {}
        self._names: dict[str, dict[str, str]] = {}  # by the file that holds a reference, and by reference
        self._unidentified: set[str] = set()  # files with bytes that nothing but a fingerprint identifies
        with located(url=reader.url):
            self.metadata = self._metadata()
            self._require_kept()
            self.files = {name: self._fingerprint(name, file) for name, file in self._files.items()}
        said = reader.files
        self.digests = self._digests()
        self.owned = frozenset(said.owned) if said is not None and said.root == self._name else frozenset()

    def _require_kept(self) -> None:
        """Raise InvalidArgument if the new root would take the place of a file that it refers to."""
        naming = self._naming
        is_other = naming.url != self._reader.url or not naming.store.same_files(self._reader.store)
        if is_other and any(map(naming.replaces, self._files.values())):
            message = "to: expected another place: the new root refers to the bytes of this file"
            raise InvalidArgument(message, url=naming.url)

    def _metadata(self) -> ShardMetadata:
        reader, directory = self._reader, self._reader.directory
        hoisted: list[bytes] = []
        stripe_list, _ = self._payload(directory.stripe_list, "StripeList", reader.root)
        unknown = unknown_fields_of_stripes(stripe_list)
        stripes = tuple(self._stripe(reader.stripes[each], unknown[each]) for each in self._chosen)
        field_list, anchor = self._payload(directory.field_list, "DataRefArray", reader.root)
        url_list, _ = self._payload(directory.url_list, "UrlList", reader.root)
        toc, _ = self._payload(reader.directory_place, "ShardDirectory", reader.root)
        properties = self._carried(directory.properties, "ShardProperties", reader.root)
        others = set(self._files)
        fields = self._descriptors(field_list, "FieldDescriptor", anchor, hoisted) if self._whole else ()
        if not hoisted:
            others = set(self._files)
        indexes = self._carried(directory.indexes, "IndexCollection", reader.root) if self._whole else b""
        self.of_fields = bool(hoisted)
        self.index_files = frozenset(self._files.keys() - others)
        return ShardMetadata(
            schema=self._payload(directory.schema, "Schema", reader.root)[0],
            stripes=stripes,
            fields=fields,
            properties=properties,
            indexes=b"".join((indexes, *hoisted)),
            urls=self._listed(),
            raw_data_size=directory.raw_data_size,
            unknown=tuple(
                (kind, kept)
                for kind, payload in (
                    ("ShardDirectory", toc),
                    ("StripeList", stripe_list),
                    ("UrlList", url_list),
                    ("DataRefArray", field_list),
                )
                if (kept := unknown_fields(kind, payload))
            ),
        )

    def _stripe(self, stripe: StripeReader, unknown: bytes) -> StripeMetadata:
        directory = stripe.directory
        hoisted: list[bytes] = []
        with located(stripe=stripe.ordinal):
            field_list, anchor = self._payload(directory.field_list, "DataRefArray", stripe.anchor)
            fields = self._descriptors(field_list, "StripeFieldDescriptor", anchor, hoisted)
            indexes = self._carried(directory.indexes, "IndexCollection", stripe.anchor)
            return StripeMetadata(
                rows=directory.total_records,
                deleted=directory.deleted_records,
                raw_data_size=directory.raw_data_size,
                fields=fields,
                properties=self._carried(directory.properties, "StripeProperties", stripe.anchor),
                indexes=b"".join((indexes, *hoisted)),
                unknown=unknown,
                unknown_in_field_list=unknown_fields("DataRefArray", field_list),
            )

    def _payload(self, ref: DataRef, kind: str, anchor: Artifact) -> tuple[bytes, Artifact]:
        """The payload of a message, and the file that holds it."""
        if ref.is_empty:
            raise CorruptedData(f"{kind}: expected a message, found an empty reference")
        payload, _ = self._reader.payload(ref, kind, anchor)
        return bytes(payload), self._reader.artifact(ref.url, anchor)

    def _carried(self, ref: DataRef | None, kind: str, anchor: Artifact) -> bytes:
        if ref is None or ref.is_empty:
            return b""
        payload, holder = self._payload(ref, kind, anchor)
        return carried(kind, payload, self._renaming(holder))

    def _descriptors(
        self, field_list: bytes, kind: str, anchor: Artifact, hoisted: list[bytes]
    ) -> tuple[bytes | None, ...]:
        """The descriptors that a field list refers to. Those in the same file are read together.

        Indexes in descriptors become indexes of the shard or stripe, so that operations need to know only those: they
        are taken out, and added to `hoisted`, each time as the payload of an `IndexCollection`.
        """
        fields = FieldList.decode(field_list)
        found: list[bytes | None] = [None] * len(fields)
        by_file: dict[str, list[tuple[int, DataRef]]] = {}
        for schema_id in range(len(fields)):
            ref = fields.ref(schema_id)
            if ref is not None:
                by_file.setdefault(ref.url, []).append((schema_id, ref))
        for reference, slots in by_file.items():
            holder = self._holder(reference, anchor)
            rename = self._renaming(holder)
            for (schema_id, ref), frame in zip(slots, _frames(holder, [ref for _, ref in slots]), strict=True):
                try:
                    payload = carried(kind, unframe(frame, kind), rename)
                    found[schema_id], indexes = without_field_indexes(kind, payload, schema_id)
                    if indexes:
                        hoisted.append(indexes)
                except AmudaiError as error:
                    error.locate(url=holder.url, range=f"{ref.start}..{ref.end}")
                    raise
        return tuple(found)

    def _holder(self, reference: str, anchor: Artifact) -> Artifact:
        try:
            return self._reader.artifact(reference, anchor)
        except StorageError:
            # The reference implementation refers to the root by the URL that it was written to. If the root was moved,
            # the descriptors are still at the same offsets of the root; checksums confirm that.
            if is_relative(reference):
                raise
            return self._reader.root

    def _renaming(self, holder: Artifact) -> Callable[[str, bool], str]:
        """A function that turns references in the messages of `holder` into names for the new root."""
        names = self._names.setdefault(holder.url, {})

        def rename(reference: str, identified: bool) -> str:
            known = names.get(reference)
            if known is None:
                file = self._reader.artifact(reference, holder)
                known = names[reference] = self._naming.of(file)
                self._files[known] = file
            if not identified:
                self._unidentified.add(known)
            return known

        return rename

    def _listed(self) -> frozenset[str]:
        """The files that the new root lists: those that the old root lists, and those that the metadata refers to."""
        if not self._whole:
            return frozenset(self._files)
        reader = self._reader
        known = {reader.url}.union(file.url for file in self._files.values())
        others = (url for url in map(reader.url_of, reader.urls) if url not in known)
        return frozenset(self._files).union(self._naming.name(*reader.place(url)) for url in others)

    def _digests(self) -> dict[str, bytes]:
        said = self._reader.files
        if said is None:
            return {}
        old = {name: reference for names in self._names.values() for reference, name in names.items() if reference}
        return {name: said.digests[old[name]] for name in self.files if old.get(name) in said.digests}

    def _fingerprint(self, name: str, file: Artifact) -> Fingerprint:
        stated = self._reader.fingerprint_of(file)
        if stated is not None:
            return stated  # was checked when the file was opened
        if name not in self._unidentified:
            return Fingerprint.of(file.size, 0, b"")  # the rest is compared when it is read
        if file is self._reader.root:
            return self._reader.fingerprint()
        return fingerprint_of_tail(file)


def _frames(file: Artifact, refs: Sequence[DataRef]) -> Iterator[memoryview]:
    start, end = min(ref.start for ref in refs), max(ref.end for ref in refs)
    if end - start <= MAX_READ:
        # The descriptors of a stripe usually lie side by side.
        whole = file.read(start, end)
        yield from (whole[ref.start - start : ref.end - start] for ref in refs)
        return
    pieces = file.read_many(
        np.array([ref.start for ref in refs], np.uint64), np.array([ref.end for ref in refs], np.uint64)
    )
    for ref, which, at in zip(refs, pieces.which, pieces.starts, strict=True):
        yield pieces.buffers[which][int(at) : int(at) + ref.size]
