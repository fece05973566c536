"""Bringing a shard over Parquet files up to date."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import pyarrow as pa

from amudai.api.attach_request import AttachRequest, opened_file
from amudai.api.editing import NewRoot, beside, reader_of
from amudai.api.opening import open as open_shard
from amudai.api.outcome import Outcome
from amudai.api.parquet_paths import ParquetPath, parquet_paths
from amudai.api.progress import Report, reporting
from amudai.api.shard import Shard
from amudai.arrow import ArrowFields
from amudai.edit import (
    AttachedFile,
    Attachment,
    ComparedFiles,
    Merging,
    Root,
    RowGroups,
    SavedBytes,
    with_deleted,
    with_saved_bytes,
)
from amudai.errors import InvalidArgument, located
from amudai.format import ATTACHMENT_PROPERTY, any_value, attachment_of, attachment_property, with_property
from amudai.index import IndexSpec, index_type, specs_of
from amudai.shard import STRIPE_SUFFIX, ShardReader
from amudai.storage import Allow, Allowed, Artifact, Size, size_of
from amudai.types import find_in

__all__ = ["refresh"]


def refresh(
    shard: Shard | str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    store: object | None = None,
    allow: Allow = (),
    memory_limit: Size = "512MB",
    temp_dir: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    threads: int | None = None,
    progress: bool | Report | None = None,
) -> Shard:
    """Bring a shard over Parquet files up to date, and open the result.

    The shard knows the paths, folders and patterns that `attach` got. They are searched again. Stripes whose files are
    unchanged stay as they are, with their statistics, indexes and deleted rows, and come first; no value of theirs is
    read. Files that changed are attached again after them, and so are new files. Rows of files that are gone are gone.

    An index of the whole shard is merged with one of the new rows if all stripes stay. Otherwise it is built again,
    which reads the columns that it covers.

    Parameters
    ----------
    shard
        The shard, or where it is.
    to
        Where the new shard goes. With `overwrite` that can be the place of the old one. Elsewhere, the new root refers
        to the files of the old shard, which must stay.
    store, allow, memory_limit, temp_dir, overwrite, threads, progress
        As `attach` takes them.

    Examples
    --------
    >>> import pyarrow.parquet as pq
    >>> pq.write_table(pa.table({"id": [1, 2]}), "ids.parquet")
    >>> shard = amudai.attach("ids.parquet", to="ids.amudai.shard", overwrite=True)
    >>> pq.write_table(pa.table({"id": [1, 2, 3]}), "ids.parquet")
    >>> amudai.refresh(shard, to="ids.amudai.shard", overwrite=True).num_rows
    3
    """
    reader = reader_of(shard, store, allow)
    how = _how(reader)
    allowed = Allowed.of(allow or reader.allow)
    new = NewRoot([], to, store, overwrite=overwrite, temp_dir=temp_dir, allow=allowed)
    with located(url=new.url), new:
        changes = _Changes.of(reader, how, new, store, allowed)
        if changes.is_same and changes.is_in_place:
            return open_shard(to, store=store, allow=allowed, threads=threads)
        with reporting(progress, changes.rows) as report:
            work = _Work(changes, new, size_of(memory_limit), threads, report)
            if changes.former.kept:
                with _added(work, to, store, temp_dir) as added:
                    new.publication.publish(work.merged(*added))
            else:
                new.publication.publish(work.anew())
    return new.opened()


def _how(reader: ShardReader) -> dict[str, Any]:
    """How the shard was attached."""
    made = attachment_of(reader.properties)
    if len(made) != 1:
        found = "a shard that was not made so" if not made else f"{len(made)} such shards that were merged"
        raise InvalidArgument(f"shard: expected one that amudai.attach made, found {found}", url=reader.url)
    if not made[0]["paths"]:
        expected = "expected paths that can be searched again, found an Arrow dataset: attach it again"
        raise InvalidArgument(f"shard: {expected}", url=reader.url)
    return made[0]


@dataclass(frozen=True, slots=True, eq=False)
class _Changes:
    """What has to be done to bring a shard up to date.

    Attributes
    ----------
    former
        The files that the shard had, and its stripes that are kept.
    request, patterns
        What the new rows are to have, and the patterns by which files are found.
    attachment, files
        The columns, and the files whose rows are new.
    others
        Indexes of columns that were added since, which files do not have.
    is_in_place
        Whether the new shard takes the place of the old one.
    """

    former: ComparedFiles
    request: AttachRequest
    patterns: Sequence[str]
    attachment: Attachment
    files: Sequence[AttachedFile]
    others: Sequence[IndexSpec]
    is_in_place: bool

    @classmethod
    def of(
        cls, reader: ShardReader, how: dict[str, Any], new: NewRoot, store: object | None, allowed: Allowed
    ) -> _Changes:
        """Compare the files of a shard with those that are there now."""
        found, patterns = parquet_paths(how["paths"], store)
        former = ComparedFiles.of(reader, [Artifact.open(path.store, path.url) for path in found], allowed)
        columns: dict[str, int] | None = how.get("columns")
        if columns is None:
            former = former.without_kept()  # nothing tells which columns were added or replaced since
        else:
            former.require_columns(columns)
        wanted = AttachRequest.of(how)
        others: list[IndexSpec] = []
        if reader.stripes:
            specs = specs_of([reader])
            others = [spec for spec in specs if columns is not None and not _has_all(spec, reader, columns)]
            wanted = wanted.with_indexes([spec for spec in specs if spec not in others])
        schema = ArrowFields(reader).schema
        known = pa.schema(
            [field for field in schema if field.name in (columns or {}) and field.name not in how.get("folders", ())],
            metadata=schema.metadata,
        )
        attachment, files = _attached(former, wanted, found, new, known)
        if former.kept and any(not _has_type(attachment.schema, schema.field(name)) for name in columns or ()):
            former = former.without_kept()  # values of kept stripes would have another type
            attachment, files = _attached(former, wanted, found, new, None)
        if columns is not None:
            former.require_no_loss(columns)
        is_in_place = reader.url == new.url and reader.store.same_files(new.naming.store)
        return cls(former, wanted, patterns, attachment, files, others, is_in_place)

    @property
    def is_whole(self) -> bool:
        """Whether all stripes are kept."""
        return len(self.former.kept) == len(self.former.reader.stripes)

    @property
    def is_same(self) -> bool:
        """Whether there is nothing to do."""
        return self.is_whole and not self.files

    @property
    def rows(self) -> int:
        """How many rows are new."""
        return sum(each.file.rows(number) for each in self.files for number in each.row_groups)

    @property
    def policy(self) -> Literal["merge", "keep", "rebuild"]:
        """What happens to indexes of the whole shard."""
        if self.is_same:
            return "keep"
        kinds = (index_type(each.index_type) for each in self.former.reader.indexes)
        can = all(kind is not None and kind.merge is not None for kind in kinds)
        return "merge" if self.is_whole and can and all(spec.level != "shard" for spec in self.others) else "rebuild"


def _attached(
    former: ComparedFiles, request: AttachRequest, found: Sequence[ParquetPath], new: NewRoot, known: pa.Schema | None
) -> tuple[Attachment, list[AttachedFile]]:
    """The columns of the files that have new rows, with those that are `known`, and these files."""
    chosen = {path.url: former.chosen(path.url) for path in found}
    # If no stripe is kept, files without rows have their say about columns, too.
    paths = [path for path in found if not former.kept or chosen[path.url] is None or chosen[path.url]]
    opened = [opened_file(path, new.naming) for path in paths]
    attachment, constants = request.attachment(found, opened, known if former.kept else None)
    return attachment, [
        AttachedFile(name, file, constants.get(path.path, {}), chosen[path.url])
        for path, (name, file) in zip(paths, opened, strict=True)
    ]


def _has_all(spec: IndexSpec, reader: ShardReader, columns: dict[str, int]) -> bool:
    """Whether all fields of an index belong to columns that files have."""
    nodes = reader.schema.fields()
    return all(find_in(nodes, path)[0].name in columns for path in spec.fields)


def _has_type(schema: pa.Schema, field: pa.Field) -> bool:
    at = schema.get_field_index(field.name)
    return at >= 0 and bool(schema.field(at).type.equals(field.type))


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """Makes the root of the new shard."""

    changes: _Changes
    new: NewRoot
    memory: int
    threads: int | None
    report: Callable[[int, int, int], object]

    def anew(self) -> Root:
        """The root if no stripe is kept: all files are attached again."""
        changes, reader = self.changes, self.changes.former.reader
        custom = [pair for pair in reader.properties.custom if not pair[0].startswith("amudai.")]
        made = attachment_property(changes.request.stated(changes.patterns, changes.attachment))
        root, stripes = changes.request.root(
            self.new,
            changes.attachment,
            changes.files,
            properties=(*custom, *made),
            memory=self.memory,
            threads=self.threads,
            report=self.report,
        )
        return self._with_deletes(root, stripes)

    def added(self, place: NewRoot) -> list[list[RowGroups]]:
        """Write a shard of the new rows, each stripe and each index in a file of its own."""
        request = self.changes.request
        if self.changes.policy == "rebuild":
            request = request.with_indexes([spec for spec in request.indexes if spec.level != "shard"])
        root, stripes = request.root(
            place,
            self.changes.attachment,
            self.changes.files,
            memory=self.memory,
            threads=self.threads,
            report=self.report,
            two_level=True,
        )
        place.publication.publish(root)
        return stripes

    def merged(self, added: ShardReader | None, stripes: Sequence[Sequence[RowGroups]]) -> Root:
        """The root with the stripes that are kept, and then those of the new rows."""
        changes, new, reader = self.changes, self.new, self.changes.former.reader
        naming = new.naming
        saved = f"{reader.fingerprint().digest:016x}{STRIPE_SUFFIX}"
        if changes.is_in_place:
            naming = SavedBytes(
                url=naming.url, store=naming.store, allow=naming.allow, replaced=reader.url, saved=saved
            )
        kept = changes.former.kept
        part = kept, Root.of(reader, naming, None if changes.is_whole else kept)
        readers = [reader] if added is None else [reader, added]
        merging = Merging(readers, new.naming, parts={0: part})
        root = new.root_of_all(merging, changes.policy, self.memory, lambda *_: None)
        stated = changes.request.stated(changes.patterns, changes.attachment)
        ids = {node.name: node.schema_id for node in merging.nodes if not node.internal}
        stated["columns"] = {node.name: ids[node.name] for node in changes.attachment.nodes}
        properties = with_property(root.metadata.properties, ATTACHMENT_PROPERTY, any_value(stated))
        metadata = replace(root.metadata, properties=properties)
        owned = frozenset() if added is None or added.files is None else frozenset(added.files.owned)
        root = self._with_deletes(replace(root, metadata=metadata, owned=owned & metadata.urls), stripes)
        if changes.is_in_place:
            root = with_saved_bytes(root, reader.root, saved, new.publication.sealing)
        return root

    def _with_deletes(self, root: Root, stripes: Sequence[Sequence[RowGroups]]) -> Root:
        deleted = self.changes.former.deleted(stripes)
        return with_deleted(root, deleted, self.new.publication.file, self.new.temp_folder) if deleted else root


@contextmanager
def _added(
    work: _Work, to: str | os.PathLike[str], store: object | None, temp_dir: str | os.PathLike[str] | None
) -> Iterator[tuple[ShardReader | None, list[list[RowGroups]]]]:
    """A shard of the new rows beside the new root, and the row groups of its stripes; None if there are no new rows.

    Afterwards only the files stay that the new root uses.
    """
    if not work.changes.files:
        yield None, []
        return
    location = beside(to)
    place = NewRoot([], location, store, overwrite=False, temp_dir=temp_dir, allow=work.new.naming.allow)
    with place:
        stripes = work.added(place)
    added = ShardReader(location, store, allow=work.new.naming.allow)
    own = () if added.files is None else added.files.owned
    outcome = Outcome()
    outcome.follow(work.new.publication)
    with outcome.removing(added.store, [added.url, *(work.new.naming.folder + name for name in own)]):
        yield added, stripes
