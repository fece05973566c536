"""Which parts of a shard over Parquet files are still true: stripes of unchanged files, and deletes in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from amudai.column import ParquetFile
from amudai.edit.copying import end_of_bytes, pieces_of
from amudai.edit.naming import Naming
from amudai.edit.parquet_footers import RowGroups, fingerprint_of_parquet
from amudai.edit.root import Root
from amudai.errors import CorruptedData, InvalidArgument, located
from amudai.format import (
    FOOTER,
    HEADER,
    Fingerprint,
    ParquetEncoding,
    references_of,
    row_groups_of,
)
from amudai.rows import SLOTS, Rows
from amudai.shard import ShardReader, StripeReader
from amudai.storage import Allowed, Artifact, Sealing, Store
from amudai.types import nodes_below

__all__ = ["ComparedFiles", "SavedBytes", "with_saved_bytes"]

# A row group: the name of its file for the root, and its number there.
RowGroup: TypeAlias = tuple[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class ComparedFiles:
    """The Parquet files of a shard, compared with those that are there now.

    Attributes
    ----------
    reader
        The shard.
    same
        The names of the unchanged files among them for its root, by URL.
    groups
        For each stripe the row groups that hold its values, each with its number of rows.
    kept
        The numbers of the stripes whose files are all unchanged.
    """

    reader: ShardReader
    same: Mapping[str, str]
    groups: Sequence[Mapping[RowGroup, int]]
    kept: Sequence[int]

    @classmethod
    def of(cls, reader: ShardReader, found: Sequence[Artifact], allow: Allowed) -> ComparedFiles:
        """Compare the files of a shard with those that are found now. Of files, only footers are read.

        Raises InvalidArgument if a stripe does not say which rows of which file it has.
        """
        naming = Naming(url=reader.url, store=reader.store, allow=allow)
        marks = references_of(reader.properties)
        same = {file.url: name for file in found if _is_same(file, name := naming.of(file), marks)}
        names = set(same.values())
        groups = [_groups(reader, stripe) for stripe in reader.stripes]
        kept = [ordinal for ordinal, each in enumerate(groups) if all(name in names for name, _ in each)]
        return cls(reader, same, groups, kept)

    def without_kept(self) -> ComparedFiles:
        """The same if no stripe is kept."""
        return replace(self, kept=())

    def chosen(self, url: str) -> Sequence[int] | None:
        """The row groups of a file that no kept stripe has; None for all of them."""
        name = self.same.get(url)
        if name is None:
            return None
        kept = set(self.kept)
        return sorted(
            number
            for ordinal, groups in enumerate(self.groups)
            if ordinal not in kept
            for file, number in groups
            if file == name
        )

    def deleted(self, added: Sequence[Sequence[RowGroups]]) -> dict[int, Rows]:
        """The deleted rows of the stripes of a new shard, by their numbers: those that are kept, then those `added`.

        Rows are counted from the start of their stripe. Deletes in unchanged files are kept wherever their rows are.
        """
        found: dict[int, Rows] = {}
        for number, ordinal in enumerate(self.kept):
            rows = self._deleted_in(ordinal)
            if rows:
                found[number] = rows
        again = self._deleted_of_others()
        for number, parts in enumerate(added, len(self.kept)):
            at, pieces = 0, []
            for part in parts:
                name = self.same.get(part.file.artifact.url, "")
                for group, count in zip(part.numbers, part.rows, strict=True):
                    rows = again.get((name, group), Rows.none(SLOTS))
                    if rows:
                        pieces.append(rows.shifted(at))
                    at += count
            if pieces:
                found[number] = Rows.united(pieces, SLOTS)
        return found

    def _deleted_of_others(self) -> dict[RowGroup, Rows]:
        """The deleted rows of row groups of unchanged files that are in no kept stripe."""
        found: dict[RowGroup, Rows] = {}
        names = set(self.same.values())
        for ordinal in set(range(len(self.groups))).difference(self.kept):
            rows, at = self._deleted_in(ordinal), 0
            for group, count in self.groups[ordinal].items():
                mine = rows.clip(at, at + count)
                if mine and group[0] in names:
                    found[group] = mine.shifted(-at)
                at += count
        return found

    def _deleted_in(self, ordinal: int) -> Rows:
        stripe = self.reader.stripes[ordinal]
        if not stripe.directory.deleted_records:
            return Rows.none(SLOTS)
        self.reader.require_work(stripe.num_positions)  # there is a marker for each row
        return self.reader.deleted_in(stripe).inward(stripe.origin).counted_from(SLOTS)

    def require_columns(self, columns: Mapping[str, int]) -> None:
        """Raise InvalidArgument if a column is not that of the files any more: new rows would not have it.

        `columns` has the schema ids of the columns that the shard got when it was made, by name.
        """
        now = self._columns
        for name, schema_id in columns.items():
            if now.get(name) != schema_id:
                expected = "expected the columns of its Parquet files as they were attached"
                message = f"shard: {expected}, found {name!r} dropped, renamed or replaced: attach the files again"
                raise InvalidArgument(message, url=self.reader.url)

    def require_no_loss(self, columns: Mapping[str, int]) -> None:
        """Raise InvalidArgument if a column that was added since would be lost, or its values in unchanged files."""
        added = next((name for name in self._columns if name not in columns), None)
        loss = None if added is None else self._loss()
        if loss is not None:
            message = f"shard: expected no column that was added since, found {added!r}: {loss}"
            raise InvalidArgument(f"{message}; attach the files again, and add it to that shard", url=self.reader.url)

    def _loss(self) -> str | None:
        """What a column that was added since would lose; None if it loses nothing."""
        names = set(self.same.values())
        for ordinal in set(range(len(self.groups))).difference(self.kept):
            if any(file in names for file, _ in self.groups[ordinal]):
                cause = next((f"{file} changed" for file, _ in self.groups[ordinal] if file not in names), None)
                return f"its values in stripe {ordinal} would be lost, because {cause or 'types of columns changed'}"
        return None if self.kept else "it would be lost, because no stripe is kept"

    @property
    def _columns(self) -> dict[str, int]:
        return {node.name: node.schema_id for node in self.reader.schema.fields() if not node.internal}


def _is_same(file: Artifact, name: str, marks: Mapping[str, Fingerprint]) -> bool:
    mark = marks.get(name)
    if mark is None or file.size != mark.size:
        return False
    return fingerprint_of_parquet(ParquetFile(file)) == mark


def _groups(reader: ShardReader, stripe: StripeReader) -> dict[RowGroup, int]:
    """The row groups of a stripe with their numbers of rows, in order."""
    with located(url=reader.url, stripe=stripe.ordinal):
        rows = row_groups_of(stripe.properties)
        for node in nodes_below(reader.schema.fields()):
            stored = stripe.descriptor(node)
            for encoding in () if stored is None else stored.encodings:
                if isinstance(encoding, ParquetEncoding):
                    groups = [(file.file.url, chunk.row_group_id) for file in encoding.files for chunk in file.chunks]
                    if rows is None or len(groups) != len(rows) or sum(rows) != stripe.num_positions:
                        found = f"{len(rows or ())} row groups of {sum(rows or ())} rows"
                        expected = f"{len(groups)} row groups of {stripe.num_positions} rows"
                        raise CorruptedData(f"rows of row groups: expected {expected}, found {found}")
                    return dict(zip(groups, rows, strict=True))
        expected = "expected values in Parquet files in every stripe, to compare the files"
        raise InvalidArgument(f"shard: {expected}, found none: attach the files again")


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedBytes(Naming):
    """The names of files for a root that takes the place of `replaced`.

    Bytes in the replaced root get a file of their own, whose name is `saved`.
    """

    replaced: str = ""
    saved: str = ""

    def replaces(self, file: Artifact) -> bool:
        """Whether the root takes the place of a file whose bytes are not saved."""
        if file.url == self.replaced and file.store.same_files(self.store):
            return False
        return Naming.replaces(self, file)

    def name(self, store: Store, url: str) -> str:
        """The name of the file that `store` knows by `url`."""
        if url == self.replaced and store.same_files(self.store):
            return self.saved
        # A slotted dataclass is another class than the one that `super()` would look for.
        return Naming.name(self, store, url)


def with_saved_bytes(root: Root, replaced: Artifact, saved: str, sealing: Sealing) -> Root:
    """The root that takes the place of another, of whose bytes it uses some. They are copied to a file of their own.

    Their offsets stay as they are. The file is only created if the root uses any.
    """
    end = end_of_bytes(root.metadata, saved)
    if end <= len(HEADER):
        files = {name: mark for name, mark in root.files.items() if name != saved}
        return replace(root, metadata=replace(root.metadata, urls=frozenset(root.metadata.urls - {saved})), files=files)
    with sealing.file(root.folder + saved) as out:
        out.hash_from_here()
        out.write(HEADER)
        for piece in pieces_of(replaced, len(HEADER), end):
            out.write(piece)
        out.write(FOOTER)
    return root
