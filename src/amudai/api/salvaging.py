"""Saving the rows of a damaged shard that can still be read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

import numpy as np
import pyarrow as pa

from amudai.api.compatibility import Compatibility
from amudai.api.editing import place_for, reader_of
from amudai.api.opening import open as open_shard
from amudai.api.progress import Report, reporting
from amudai.api.rewriting import ShardRewriter, kept_roles, role_column
from amudai.api.shard import Shard
from amudai.api.writing import Layout
from amudai.arguments import is_one_of, shown
from amudai.arrow import ArrowFields, aliases_of, extensions_of, schema_nodes, taken_of_chunks
from amudai.encoding import ProfileChoice
from amudai.errors import AmudaiError, InvalidArgument, MissingColumn
from amudai.index import IndexSpec, specs_of
from amudai.inspect import LostRows, SoundRows, counted, sound_rows
from amudai.plan import SelectedColumn, read_arrays, select
from amudai.rows import Rows
from amudai.shard import ShardReader
from amudai.storage import Allow, Size
from amudai.types import INGESTION_TIMESTAMP, RECORD_IDENTITY, find_in, parse_path

__all__ = ["Salvage", "salvage"]

T = TypeVar("T")

Missing = Literal["drop", "null"]

_PART: Final = 1 << 16  # rows that are written at a time


@dataclass(frozen=True, slots=True)
class Salvage:
    """What `amudai.salvage` saved, and what was lost.

    Attributes
    ----------
    shard
        The new shard.
    lost
        The values that could not be read, by column, stripe and rows.
    lost_rows
        How many rows the new shard lacks.
    notes
        What else could not be read: indexes that were not built, types that were not kept.

    Examples
    --------
    >>> _ = amudai.write({"n": [1, 2, 3]}, "sound.amudai.shard", overwrite=True)
    >>> print(amudai.salvage("sound.amudai.shard", "saved.amudai.shard", overwrite=True))
    3 rows saved, 0 rows lost
    """

    shard: Shard
    lost: tuple[LostRows, ...]
    lost_rows: int
    notes: tuple[str, ...]

    def __str__(self) -> str:
        saved = f"{counted(self.shard.num_rows, 'row')} saved, {counted(self.lost_rows, 'row')} lost"
        return "\n".join([saved, *map(str, self.lost), *self.notes])


def salvage(
    shard: Shard | str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    missing: Missing = "drop",
    indexes: Sequence[IndexSpec] | None = None,
    profile: ProfileChoice = "balanced",
    compatibility: Compatibility = "reference",
    layout: Layout = "single",
    store: object | None = None,
    overwrite: bool = False,
    progress: bool | Report | None = None,
    memory_limit: Size = "512MB",
    temp_dir: str | os.PathLike[str] | None = None,
    allow: Allow = (),
    threads: int | None = None,
) -> Salvage:
    """Write the rows of a damaged shard that can be read as a new shard, and list what was lost.

    A damaged block loses the rows of this block, a damaged dictionary or descriptor all rows of its column in the
    stripe, and damaged markers of deleted rows the whole stripe. Every value that is kept was compared with its
    checksum. Extension types and aliases are kept. Deleted rows are left out, so positions change. Ingestion times and
    identities of rows are kept; those that cannot be read become null, and no row is dropped for them. If the schema or
    the list of stripes is damaged, nothing can be saved, and the error is raised.

    Parameters
    ----------
    shard
        A shard, or where it is.
    to
        Where the new shard goes.
    columns
        The columns to save; None for all. A column that is damaged throughout is better left out.
    missing
        What to do with a row of which some columns are lost: `"drop"` the row, or keep it with `"null"` in their place.
    indexes
        Indexes to build; None for those that the shard has, as far as they can be read.
    profile, compatibility, layout, store, overwrite, progress, memory_limit, temp_dir, threads
        As for `amudai.write`.
    allow
        Prefixes of URLs that the shard may refer to, as `amudai.open` takes them.

    Examples
    --------
    >>> _ = amudai.write({"n": range(20_000)}, "whole.amudai.shard", overwrite=True)
    >>> content = bytearray(open("whole.amudai.shard", "rb").read())
    >>> content[100] ^= 1
    >>> _ = open("broken.amudai.shard", "wb").write(content)
    >>> saved = amudai.salvage("broken.amudai.shard", "saved.amudai.shard", overwrite=True)
    >>> saved.shard.num_rows + saved.lost_rows, saved.lost[0].column, saved.lost[0].first
    (20000, 'n', 0)
    """
    if not is_one_of(missing, ("drop", "null")):
        raise InvalidArgument(f'missing: expected "drop" or "null", found {shown(missing)}')
    reader = reader_of(shard, store, allow)
    place_for(to, store, [reader], "the shard, which stays as it is")
    reader.require_work()
    notes: list[str] = []
    # Opened anew: with checksums, and with nothing cached.
    source = ShardReader(reader.url, reader.store, verify=True, allow=reader.allow, limits=reader.limits)
    fields = ArrowFields(source)
    if _unless_damaged(lambda: fields.schema, None, "the Arrow types that were written", notes) is None:
        fields = ArrowFields(source, natural=True)
    selected = select(fields, columns)
    internal = {role: select(fields, [role_column(role)])[0] for role in kept_roles(fields.internal())}
    specs = indexes
    if specs is None:
        known: tuple[IndexSpec, ...] = _unless_damaged(
            lambda: specs_of([source], known_only=True), (), "the indexes", notes
        )
        names = {column.projection.node.name for column in selected}
        specs = [spec for spec in known if names.issuperset(parse_path(path)[0] for path in spec.fields)]
    stripes = source.stripes
    with reporting(progress, 2 * sum(stripe.num_positions for stripe in stripes)) as report:
        found = []
        for stripe in stripes:
            found.append(sound_rows(source, stripe, [*selected, *internal.values()]))
            report(stripe.end_row, source.store.counters.bytes, 0)
        at = dict(zip(internal, range(len(selected), len(selected) + len(internal)), strict=True))
        roles = [role for role in internal if any(each.columns[at[role]] for each in found)]
        read = [*enumerate(selected), *((at[role], internal[role]) for role in roles)]
        schema = _schema(selected, found, missing, fields)
        lost = 0
        writer = ShardRewriter(
            to,
            schema,
            profile=profile,
            compatibility=compatibility,
            layout=layout,
            indexes=specs,
            ingestion_time=INGESTION_TIMESTAMP in roles,
            record_id=RECORD_IDENTITY in roles,
            **_annotations(selected, schema),
            memory_limit=memory_limit,
            temp_dir=temp_dir,
            overwrite=overwrite,
            store=store,
            threads=threads,
        )
        with writer as out:
            for each in found:
                kept = _kept(each, len(selected), missing)
                lost += each.stripe.num_positions - each.stripe.directory.deleted_records - kept.count
                for part in kept.each_part(_PART) if kept else ():
                    for batch in _read(each, part, read).to_batches():
                        out.rewrite(batch.columns, roles)
                    report(source.num_positions + each.stripe.first_row, source.store.counters.bytes, out.encoded_bytes)
    losses = tuple(loss for each in found for loss in each.lost)
    return Salvage(open_shard(to, store=store, threads=threads), losses, lost, tuple(notes))


def _unless_damaged(work: Callable[[], T], default: T, what: str, notes: list[str]) -> T:
    """What `work` returns. If that is damaged, the default and a note."""
    try:
        return work()
    except AmudaiError as error:
        notes.append(f"{what}: {error.message}")
        return default


def _schema(
    selected: Sequence[SelectedColumn], found: Sequence[SoundRows], missing: Missing, fields: ArrowFields
) -> pa.Schema:
    """The schema of the new shard: columns of which values are lost can be null, if these become null."""
    metadata = fields.schema.metadata
    holes = {loss.column for each in found for loss in each.lost} if missing == "null" else set()
    return pa.schema(
        [column.field.with_nullable(column.field.nullable or column.path in holes) for column in selected],
        metadata=metadata,
    )


def _annotations(selected: Sequence[SelectedColumn], schema: pa.Schema) -> dict[str, Any]:
    """The extension types and aliases of the columns that are saved, as a writer takes them."""
    stored, nodes = schema_nodes(schema), [column.projection.node for column in selected]

    def is_saved(path: str) -> bool:
        try:
            return bool(find_in(stored, path))
        except MissingColumn:  # a member of a struct that is not saved
            return False

    return {
        "extensions": {path: each for path, each in extensions_of(nodes).items() if is_saved(path)},
        "aliases": {path: each for path, each in aliases_of(nodes).items() if is_saved(path)},
    }


def _kept(found: SoundRows, columns: int, missing: Missing) -> Rows:
    """The rows of a stripe that the new shard has. Only the first `columns` decide: the others are internal fields."""
    kept = found.visible
    if missing == "drop":
        for rows in found.columns[:columns]:
            kept = kept.intersect(rows)
    return kept


def _read(found: SoundRows, part: Rows, columns: Sequence[tuple[int, SelectedColumn]]) -> pa.Table:
    """Rows of a stripe, with nulls in place of values that cannot be read. Columns come with their place in `found`."""
    arrays = []
    for at, column in columns:
        mine = part.intersect(found.columns[at])
        if mine.count == part.count:
            arrays.append(pa.chunked_array(read_arrays(found.stripe, column, part), column.field.type))
            continue
        wanted, known = part.positions(), mine.positions()
        places = np.searchsorted(known, wanted)
        is_lost = ~np.isin(wanted, known)
        read = read_arrays(found.stripe, column, mine) if mine else []
        values = pa.chunked_array(read, column.field.type)
        arrays.append(taken_of_chunks(values, pa.array(places, mask=is_lost)))
    return pa.Table.from_arrays(arrays, [str(at) for at, _ in columns])
