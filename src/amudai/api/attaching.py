"""Shards over Parquet files: made, made again, and turned into shards of their own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from amudai.api.editing import NewRoot, reader_of
from amudai.api.moments import creation_time
from amudai.api.parquet_paths import ParquetInputs, ParquetPath, parquet_paths
from amudai.api.progress import Report, reporting
from amudai.api.requested import Bloom, requested_distinct, requested_filters
from amudai.api.shard import Shard
from amudai.arguments import names, whole_number
from amudai.arrow import SCHEMA_PROPERTY
from amudai.column import ParquetFile
from amudai.edit import AttachedFile, Attachment, Naming, Root, attached_stripes, with_stored_values
from amudai.encoding import ProfileChoice, profile_of, profiles_of
from amudai.errors import InvalidArgument, InvalidSchema, located
from amudai.format import any_value, any_values, attachment_of, attachment_property, ticks_of
from amudai.index import HashIndex, IndexSpec, TermIndex, index_sinks
from amudai.shard import BuildOptions, ShardBuilder
from amudai.sources import InputFile, Partitions, SourceOptions, unified
from amudai.storage import Allow, Allowed, Artifact, Size, size_of
from amudai.threads import Crew, thread_count
from amudai.types import WIDTHS, BasicType, SchemaNode, find_in

__all__ = ["attach", "materialize", "refresh"]

_STRIPE_ROWS: Final = 1 << 20
_LISTS: Final = (BasicType.LIST, BasicType.MAP)
# The key of the Arrow schema that Arrow's writers keep, which is read already.
_ARROW_SCHEMA: Final = b"ARROW:schema"


def attach(
    files: ParquetInputs,
    to: str | os.PathLike[str],
    *,
    indexes: Sequence[IndexSpec] = (),
    ranges: Sequence[str] | None = None,
    bloom: Bloom = (),
    distinct: Sequence[str] = (),
    hive: bool = True,
    stripe_rows: int = _STRIPE_ROWS,
    properties: Mapping[str, object] | None = None,
    created: datetime | None = None,
    memory_limit: Size = "512MB",
    temp_dir: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    store: object | None = None,
    allow: Allow | Allowed = (),
    threads: int | None = None,
    progress: bool | Report | None = None,
) -> Shard:
    """Make a shard over Parquet files, whose values stay where they are, and open it.

    The shard has what finds rows: statistics, sketches, range indexes, term and hash indexes. Values are read from the
    Parquet files, only in the row groups that hold wanted rows. The columns that get something are read once, as a
    stream. Of all others only the footers are read.

    The files must stay unchanged. Reading a file whose size, time of modification or footer has changed is an error
    that names it. `refresh` then makes the shard again.

    Parameters
    ----------
    files
        Parquet files, folders, patterns such as `lake/**/*.parquet`, URLs, or a `pyarrow.dataset.Dataset`. Their
        columns are united by name. Numbers and texts of different widths get the wider type.
    to
        Where the shard goes. It refers to files in and below its folder by relative names, and to others by their URLs,
        which `allow` must permit, here and when the shard is opened.
    indexes
        Term and hash indexes, as `amudai.write` takes them.
    ranges
        Names of columns of numbers and times that get statistics of their own and a range index, which finds values
        256 rows at a time. None: all columns of numbers and times. `[]` leaves it at the statistics in the footers.
    bloom
        Columns that get a Bloom filter, as `amudai.write` takes them. They are read, too.
    distinct
        Columns whose distinct values are counted, as `amudai.write` takes them. They are read, too.
    hive
        Whether folders such as `year=2024` become columns. Their values are stored in the shard.
    stripe_rows
        How many rows a stripe has at most, unless a single row group has more.
    properties, created, memory_limit, temp_dir, overwrite, threads, progress
        As `amudai.write` takes them.
    store
        The store of `to` and of the files.
    allow
        Where files outside of the folder of `to` may be, as `amudai.open` takes it.

    Examples
    --------
    >>> import pyarrow.parquet as pq
    >>> table = pa.table({"id": [1, 2, 3], "message": ["disk full", "all well", "disk slow"]})
    >>> pq.write_table(table, "messages.parquet")
    >>> indexes = [amudai.TermIndex("message")]
    >>> shard = amudai.attach("messages.parquet", to="messages.amudai.shard", indexes=indexes, overwrite=True)
    >>> shard.scan(["id"], where=amudai.col("message").has("disk")).to_table().to_pydict()
    {'id': [1, 3]}
    """
    rows = whole_number(stripe_rows, "stripe_rows", 1)
    found, patterns = parquet_paths(files, store)
    new = NewRoot([], to, store, overwrite=overwrite, temp_dir=temp_dir, allow=allow)
    opened = [_opened(each, new.naming) for each in found]
    schema, given, constants = _united(found, opened, hive)
    attached = [
        AttachedFile(name, file, constants.get(path.path, {})) for path, (name, file) in zip(found, opened, strict=True)
    ]
    filtered = list(bloom) if isinstance(bloom, Mapping) else names(bloom, "bloom")
    asked = [*(path for spec in indexes for path in spec.fields), *filtered, *names(distinct, "distinct")]
    attachment = _attachment(schema, given, asked, ranges, indexes)
    memory = max(1 << 20, size_of(memory_limit))
    crew = Crew(thread_count(threads))
    made = {
        "paths": patterns,
        "indexes": [{"type": spec.index_type, **asdict(spec)} for spec in indexes],  # type: ignore[call-overload]
        "ranges": None if ranges is None else list(ranges),
        "bloom": dict(bloom) if isinstance(bloom, Mapping) else list(bloom),
        "distinct": list(distinct),
        "hive": hive,
        "stripe_rows": rows,
    }
    options = BuildOptions(
        profile=profile_of("balanced"),
        memory=memory,
        temp_folder=new.temp_folder,
        bloom=requested_filters(attachment.nodes, bloom),
        distinct=requested_distinct(attachment.nodes, distinct),
        created=ticks_of(creation_time(created)),
        properties=(
            *any_values(properties or {}),
            (SCHEMA_PROPERTY, any_value(schema.serialize().to_pybytes())),
            *attachment_property(made),
        ),
    )
    total = sum(file.metadata.num_rows for _, file in opened)
    with located(url=new.url), new, reporting(progress, total) as report:
        sinks = index_sinks(
            indexes,
            attachment.nodes,
            memory=memory // 4,
            temp_folder=new.temp_folder,
            profile="balanced",
            threads=threads,
        )
        builder = ShardBuilder(
            attachment.fields,
            new.publication.sealing,
            new.publication.file,
            attachment.options(options),
            crew.each,
            sinks,
        )
        try:
            marks = {each.name: each.fingerprint() for each in attached}  # before values are read
            attached_stripes(attachment, attached, builder, rows, report)
            new.publication.publish(Root(url=new.url, metadata=builder.finish(), files=marks))
        finally:
            builder.close()
    return new.opened()


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
    """Make a shard over Parquet files again, and open the result: changed files are read again, new ones are added.

    The shard knows the paths, folders and patterns that `attach` got, and its indexes. Deleted rows and columns that
    were added since are not carried over.

    Parameters
    ----------
    shard
        The shard, or where it is.
    to
        Where the new shard goes. With `overwrite` that can be the place of the old one.
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
    made = attachment_of(reader.properties)
    if len(made) != 1:
        found = "a shard that was not made so" if not made else f"{len(made)} such shards that were merged"
        raise InvalidArgument(f"shard: expected one that amudai.attach made, found {found}", url=reader.url)
    how: dict[str, Any] = made[0]
    if not how["paths"]:
        expected = "expected paths that can be searched again, found an Arrow dataset: attach it again"
        raise InvalidArgument(f"shard: {expected}", url=reader.url)
    return attach(
        how["paths"],
        to,
        indexes=[_spec(each) for each in how["indexes"]],
        ranges=how["ranges"],
        bloom=how["bloom"],
        distinct=how.get("distinct", ()),
        hive=how["hive"],
        stripe_rows=how["stripe_rows"],
        memory_limit=memory_limit,
        temp_dir=temp_dir,
        overwrite=overwrite,
        store=store,
        allow=allow or reader.allow,
        threads=threads,
        progress=progress,
    )


def materialize(
    shard: Shard | str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    columns: Sequence[str] | None = None,
    keep: bool = False,
    profile: ProfileChoice = "balanced",
    store: object | None = None,
    allow: Allow = (),
    overwrite: bool = False,
    memory_limit: Size = "512MB",
    temp_dir: str | os.PathLike[str] | None = None,
    progress: bool | Report | None = None,
) -> Shard:
    """Store columns that are in Parquet files in a new root, and open it.

    Positions, indexes and deleted rows stay as they are.

    Parameters
    ----------
    shard
        The shard, or where it is.
    to
        Where the new root goes. It refers to the files of the old root, which `allow` must permit if they are not in or
        below its folder.
    columns
        Names of the columns; None for all that are in Parquet files.
    keep
        Whether the new root refers to the values in the Parquet files as well. Then `amudai.open(prefer="parquet")`
        reads those, and `verify(deep=True)` compares both.
    profile, store, overwrite, memory_limit, temp_dir, progress
        As `amudai.write` takes them.
    allow
        As `amudai.open` takes it.

    Examples
    --------
    >>> import pyarrow.parquet as pq
    >>> pq.write_table(pa.table({"id": [1, 2], "name": ["bolt", "nut"]}), "items.parquet")
    >>> shard = amudai.attach("items.parquet", to="items.amudai.shard", overwrite=True)
    >>> own = amudai.materialize(shard, to="own.amudai.shard", columns=["name"], overwrite=True)
    >>> [(field.name, field.storage) for field in own.inspect().fields]
    [('id', 'parquet'), ('name', 'blocks')]
    """
    reader = reader_of(shard, store, allow)
    known = reader.schema.fields()
    chosen = None if columns is None else [find_in(known, name) for name in names(columns, "columns")]
    for path in chosen or ():
        if len(path) > 1:
            raise InvalidArgument(
                f"columns: expected top-level columns, found {'.'.join(each.name for each in path)!r}"
            )
    ids = {node.schema_id for node in known} if chosen is None else {path[0].schema_id for path in chosen}
    new = NewRoot([reader], to, store, overwrite=overwrite, temp_dir=temp_dir, allow=allow or reader.allow)
    profiles = profiles_of(profile, known)
    options = BuildOptions(
        profile=profiles.default,
        profiles=profiles.by_id,
        memory=max(1 << 20, size_of(memory_limit)),
        temp_folder=new.temp_folder,
    )
    with located(url=new.url), new, reporting(progress, reader.num_positions) as report:
        root, file = new.root_of(reader), new.publication.file
        new.publication.publish(with_stored_values(root, reader, ids, file, options, keep=keep, report=report))
    return new.opened()


def _opened(path: ParquetPath, naming: Naming) -> tuple[str, ParquetFile]:
    """The name of a file for the shard, and the file."""
    artifact = Artifact.open(path.store, path.url)
    file = ParquetFile(artifact)
    _ = file.metadata  # an error if this is no Parquet file
    return naming.of(artifact), file


def _united(
    paths: Sequence[ParquetPath], opened: Sequence[tuple[str, ParquetFile]], hive: bool
) -> tuple[pa.Schema, list[str], dict[str, Mapping[str, pa.Scalar]]]:
    """The schema of all columns, the names of those that folders give, and their values by path."""
    inputs = [InputFile(path.path, ".parquet") for path in paths]
    schemas = [_plain(file.schema) for _, file in opened]
    schema = unified(list(zip(inputs, schemas, strict=True)), SourceOptions(types={}))
    if any(path.values is not None for path in paths):
        return _with_values(schema, paths)
    found = Partitions.of(inputs if hive else [], schema, {})
    given = [*found.fields]
    return pa.schema([*schema, *found.fields.values()], metadata=schema.metadata), given, dict(found.values)


def _with_values(
    schema: pa.Schema, paths: Sequence[ParquetPath]
) -> tuple[pa.Schema, list[str], dict[str, Mapping[str, pa.Scalar]]]:
    """The same, with the values that an Arrow dataset states."""
    stated = {path.path: {k: v for k, v in (path.values or {}).items() if k not in schema.names} for path in paths}
    columns: dict[str, pa.DataType] = {}
    for name in dict.fromkeys(name for values in stated.values() for name in values):
        try:
            columns[name] = pa.array([values.get(name) for values in stated.values()]).type
        except pa.ArrowException as error:
            raise InvalidSchema(
                f"column {name!r}: expected values of one type in all folders, found {error}"
            ) from error
    scalars = {
        path: {name: pa.scalar(value, columns[name]) for name, value in values.items()}
        for path, values in stated.items()
    }
    fields = [pa.field(name, kind) for name, kind in columns.items()]
    return pa.schema([*schema, *fields], metadata=schema.metadata), list(columns), dict(scalars)


def _plain(schema: pa.Schema) -> pa.Schema:
    metadata = {key: value for key, value in (schema.metadata or {}).items() if key != _ARROW_SCHEMA}
    return schema.with_metadata(metadata or None)


def _attachment(
    schema: pa.Schema,
    given: Sequence[str],
    asked: Sequence[str],
    ranges: Sequence[str] | None,
    indexes: Sequence[IndexSpec],
) -> Attachment:
    wanted = None if ranges is None else names(ranges, "ranges")
    plain = Attachment.of(schema, given, (), ())
    tops = {find_in(plain.nodes, path)[0].name for path in asked}
    for path in wanted or ():
        _require_range(find_in(plain.nodes, path)[-1], path)
    for spec in indexes:
        for path, granularity in zip(spec.fields, getattr(spec, "granularities", ()), strict=False):
            if granularity == "element" and any(node.basic_type in _LISTS for node in find_in(plain.nodes, path)):
                expected = "expected the granularity 'record' for lists in Parquet files, found 'element'"
                raise InvalidArgument(f"TermIndex of {path!r}: {expected}")
    ranged = None if wanted is None else [find_in(plain.nodes, path)[0].name for path in wanted]
    return Attachment.of(schema, given, tops, ranged)


def _require_range(node: SchemaNode, path: str) -> None:
    if node.basic_type not in WIDTHS and not node.is_decimal:
        raise InvalidArgument(f"ranges: expected columns of numbers or times, found {path!r} of {node}")


def _spec(stored: Mapping[str, Any]) -> IndexSpec:
    """The index that `attach` was asked for."""
    if stored["type"] == HashIndex.index_type:
        return HashIndex(*map(tuple, stored.get("keys") or zip(stored["fields"])), level=stored["level"])
    return TermIndex(
        *stored["fields"],
        tokenizer=stored["tokenizers"],
        collation=stored["collation"],
        granularity=stored["granularities"],
        max_bytes=stored["max_bytes"],
        level=stored["level"],
    )
