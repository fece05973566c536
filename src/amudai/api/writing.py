"""Writing a shard: at once with `write`, batch by batch with `ShardWriter`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, Self

import pyarrow as pa

from amudai.api.advice import warn_of_needless_indexes
from amudai.api.compatibility import Compatibility, is_extended
from amudai.api.editing import new_publication
from amudai.api.internal_values import InternalValues
from amudai.api.moments import creation_time
from amudai.api.opening import open as open_shard
from amudai.api.packing import requested_groups
from amudai.api.progress import Report, reporting
from amudai.api.requested import Bloom, requested_distinct, requested_filters
from amudai.api.shard import Shard
from amudai.api.sizes import rows_at_once, temporary_folder
from amudai.arguments import is_one_of, mapping, path_text, shown, whole_number
from amudai.arrow import (
    SCHEMA_PROPERTY,
    Decimals,
    Extension,
    Timestamps,
    annotated,
    batches_of,
    matching,
    nanosecond_nodes,
    schema_nodes,
    stored_columns,
)
from amudai.collection import uncollected
from amudai.edit import Root
from amudai.encoding import ProfileChoice, profiles_of
from amudai.errors import InvalidArgument, StorageError, located
from amudai.format import Properties, any_value, any_values, ticks_of
from amudai.index import IndexSpec, index_sinks
from amudai.shard import BuildOptions, ShardBuilder, ShardMetadata, ShardReader
from amudai.sources import Source
from amudai.storage import Size, open_store, size_of
from amudai.threads import Crew, thread_count
from amudai.types import find_in, nodes_below

__all__ = ["Layout", "ShardWriter", "write"]

Layout = Literal["single", "two-level"]


class ShardWriter:
    """Writes a shard batch by batch.

    The shard appears when the `with` block ends. If the block fails, nothing appears. Memory depends on `memory_limit`,
    not on how much is written.

    Parameters
    ----------
    schema
        The Arrow schema of all batches.
    location, profile, layout, indexes, bloom, distinct, properties, field_properties, extensions, aliases
        As for `amudai.write`.
    packed_groups, packed, timestamps, decimals, compatibility
        As for `amudai.write`.
    created, ingestion_time, record_id, stripe_rows, stripe_bytes, memory_limit, temp_dir, overwrite, store, threads
        As for `amudai.write`.

    Examples
    --------
    >>> schema = pa.schema([("status", pa.int64())])
    >>> with amudai.ShardWriter("status.amudai.shard", schema, overwrite=True) as out:
    ...     out.write({"status": [200, 200, 404]})
    >>> amudai.open("status.amudai.shard").num_rows
    3
    """

    def __init__(
        self,
        location: str | os.PathLike[str],
        schema: pa.Schema,
        *,
        profile: ProfileChoice = "balanced",
        layout: Layout = "single",
        indexes: Sequence[IndexSpec] = (),
        bloom: Bloom = (),
        distinct: Sequence[str] = (),
        properties: Mapping[str, object] | None = None,
        field_properties: Mapping[str, Mapping[str, object]] | None = None,
        extensions: Mapping[str, Extension | str] | None = None,
        aliases: Mapping[str, Sequence[str]] | None = None,
        packed_groups: Sequence[Sequence[str]] = (),
        packed: bool | Sequence[str] = False,
        timestamps: Timestamps = "ticks",
        decimals: Decimals = "decimal128",
        compatibility: Compatibility = "reference",
        created: datetime | None = None,
        ingestion_time: bool | datetime = False,
        record_id: bool | bytes = False,
        stripe_rows: int | None = None,
        stripe_bytes: Size | None = None,
        memory_limit: Size = "512MB",
        temp_dir: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        store: object | None = None,
        threads: int | None = None,
    ) -> None:
        if not is_one_of(layout, ("single", "two-level")):
            raise InvalidArgument(f"layout: expected single or two-level, found {shown(layout)}")
        if stripe_rows is not None:
            stripe_rows = whole_number(stripe_rows, "stripe_rows", 1)
        if not isinstance(schema, pa.Schema):
            raise InvalidArgument(f"schema: expected an Arrow schema, found {shown(schema)}")
        self.schema = schema
        stored = schema_nodes(schema, timestamps=timestamps, decimals=decimals)
        self._nodes = annotated(stored, extensions, aliases)
        columns = sum(1 for _ in nodes_below(self._nodes))
        self._internal = InternalValues(ingestion_time, record_id, columns)
        # Nanoseconds come last, because fields of them that are not needed are left out at the end.
        self._nanoseconds = tuple(
            None if node is None else replace(node, schema_id=node.schema_id + len(self._internal.nodes))
            for node in nanosecond_nodes(schema, self._nodes)
        )
        self._store, self._url = open_store(location, store)
        folder = path_text(temp_dir, "temp_dir") if temp_dir is not None else temporary_folder(location, store)
        nodes = (*self._nodes, *self._internal.nodes, *(node for node in self._nanoseconds if node is not None))
        profiles = profiles_of(profile, nodes)
        options = BuildOptions(
            profile=profiles.default,
            profiles=profiles.by_id,
            extended=is_extended(compatibility),
            two_level=layout == "two-level",
            stripe_rows=stripe_rows,
            stripe_bytes=None if stripe_bytes is None else whole_number(size_of(stripe_bytes), "stripe_bytes", 1),
            memory=max(1 << 20, whole_number(size_of(memory_limit), "memory_limit", 1)),
            temp_folder=folder,
            bloom=requested_filters(self._nodes, bloom),
            distinct=requested_distinct(self._nodes, distinct),
            groups=requested_groups(self._nodes, packed_groups, packed),
            created=ticks_of(creation_time(created)),
            properties=(
                *_noted({} if properties is None else properties),
                (SCHEMA_PROPERTY, any_value(schema.serialize().to_pybytes())),
            ),
            field_properties={
                find_in(self._nodes, path)[-1].schema_id: any_values(mapping(noted, "field_properties"))
                for path, noted in mapping(
                    {} if field_properties is None else field_properties, "field_properties"
                ).items()
            },
        )
        self._memory = options.memory
        self._crew = Crew(thread_count(threads))
        self._publication = new_publication(self._store, self._url, overwrite=overwrite, temp_folder=folder)
        try:
            sinks = index_sinks(
                indexes,
                self._nodes,
                memory=size_of(memory_limit) // 4,
                temp_folder=folder,
                profile=profiles.default.name,
                crew=self._crew,
            )
            self._indexes = indexes
            sealing, root = self._publication.sealing, self._publication.file
            self._builder = ShardBuilder(nodes, sealing, root, options, self._crew.each, sinks)
        except BaseException:
            self._publication.close()  # nobody else will: there is no writer
            raise
        self._done = False
        self._broken = False  # a batch was taken in part, or a stripe did not end: its rows are not all there

    @property
    def num_rows(self) -> int:
        """Rows taken so far."""
        return self._builder.rows

    @property
    def encoded_bytes(self) -> int:
        """Bytes that their values take up."""
        return self._builder.encoded_bytes

    def write(self, data: Any) -> None:
        """Take rows: a batch, or whatever `amudai.write` takes, with exactly the writer's schema."""
        if self._done:
            raise InvalidArgument("writer: expected it before its block ends, found it after", url=self._url)
        self._check_whole()
        _, batches = batches_of(data, self.schema, is_storable=True)
        with located(url=self._url):
            for batch in batches:
                self._append(matching(batch, self.schema))

    def end_stripe(self, properties: Mapping[str, object] | None = None) -> None:
        """End the stripe at hand, and note something about it; nothing happens where it has no rows yet.

        >>> schema = pa.schema([("status", pa.int64())])
        >>> with amudai.ShardWriter("days.amudai.shard", schema, overwrite=True) as out:
        ...     out.write({"status": [200, 404]})
        ...     out.end_stripe({"day": "Monday"})
        ...     out.write({"status": [200]})
        >>> [stripe.properties for stripe in amudai.open("days.amudai.shard").stripes]
        [{'day': 'Monday'}, {}]
        """
        if self._done:
            raise InvalidArgument("writer: expected it before its block ends, found it after", url=self._url)
        self._check_whole()
        noted = any_values({} if properties is None else mapping(properties, "properties"))
        self._broken = True
        with located(url=self._url):
            self._builder.end_stripe(noted)
        self._broken = False

    def _note(self, properties: Properties) -> None:
        """Add properties of the library's own."""
        self._builder.properties = (*self._builder.properties, *properties)

    def _check_whole(self) -> None:
        if self._broken:
            raise InvalidArgument("writer: expected all rows taken, found some that were refused", url=self._url)

    def _append(self, batch: pa.RecordBatch, internal: Mapping[str, pa.Array] | None = None) -> None:
        """Append rows. `internal` has the values of internal fields that are known, by their role."""
        at = 0
        most = rows_at_once(batch, self._memory)
        while at < batch.num_rows:
            left = self._builder.rows_left
            count = min(most, batch.num_rows - at, most if left is None else left)
            part = batch.slice(at, count)
            work = stored_columns(part, self._nodes, self._nanoseconds)
            work[len(self._nodes) : len(self._nodes)] = self._internal.columns(
                self._builder.rows,
                count,
                {role: values.slice(at, count) for role, values in (internal or {}).items()},
            )
            self._broken = True
            with uncollected(len(work)):
                self._builder.append(work, count)
            self._broken = False
            at += count

    def close(self) -> None:
        """Publish the shard."""
        if not self._done:
            self._done = True
            try:
                self._check_whole()
                with located(url=self._url):
                    self._publication.publish(Root(url=self._url, metadata=self._metadata()))
                if self._indexes:
                    self._advise()
            finally:
                self._end()

    def _metadata(self) -> ShardMetadata:
        """The metadata of the shard, after its last row."""
        with uncollected(len(self._nodes)):
            return self._builder.finish()

    def _advise(self) -> None:
        with suppress(StorageError):  # the shard is written, even if it cannot be read from here
            warn_of_needless_indexes(ShardReader(self._url, self._store), self._indexes)

    def abandon(self) -> None:
        """Forget everything that was written; nothing appears."""
        self._done = True
        self._end()

    def _end(self) -> None:
        self._builder.close()
        self._publication.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self.abandon()


def write(
    data: Any,
    location: str | os.PathLike[str],
    *,
    profile: ProfileChoice = "balanced",
    layout: Layout = "single",
    indexes: Sequence[IndexSpec] = (),
    bloom: Bloom = (),
    distinct: Sequence[str] = (),
    properties: Mapping[str, object] | None = None,
    field_properties: Mapping[str, Mapping[str, object]] | None = None,
    extensions: Mapping[str, Extension | str] | None = None,
    aliases: Mapping[str, Sequence[str]] | None = None,
    packed_groups: Sequence[Sequence[str]] = (),
    packed: bool | Sequence[str] = False,
    timestamps: Timestamps = "ticks",
    decimals: Decimals = "decimal128",
    compatibility: Compatibility = "reference",
    created: datetime | None = None,
    ingestion_time: bool | datetime = False,
    record_id: bool | bytes = False,
    stripe_rows: int | None = None,
    stripe_bytes: Size | None = None,
    memory_limit: Size = "512MB",
    temp_dir: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    store: object | None = None,
    threads: int | None = None,
    progress: bool | Report | None = None,
) -> Shard:
    """Write data as a shard, and open it.

    The shard appears in one step once everything is written. If writing fails, nothing appears.

    Parameters
    ----------
    data
        A pyarrow table, batch, reader or dataset; anything that speaks the Arrow PyCapsule protocol, such as a pandas
        or polars frame; an iterable of batches; a dict of columns. Readers and iterables are streamed. A `Source` of
        `amudai.read_files` is streamed as well, and the shard notes which files it was made from.
    location
        Where the shard goes: a path or URL, as for `amudai.open`.
    profile
        How much work goes into compression: `plain`, `minimal_compression`, `balanced`, `high_compression` or
        `minimal_size`. A dict has a profile for each column, by its path, and `*` for all others and for indexes:
        `{"message": "high_compression", "*": "balanced"}`. The profile of a struct holds for its members, too.
    layout
        `single` writes one file. `two-level` writes each stripe to a file of its own beside the root file.
    indexes
        Indexes to build: `TermIndex` for words, `HashIndex` for exact values.
    bloom
        Paths of columns that get a Bloom filter, by which `==` and `isin` skip stripes; or a dict that says for each
        column how many values that are not there the filter may miss: `{"id": 0.001}` for one in a thousand, instead
        of one in a hundred. A stripe with more than 4,194,304 distinct values is an error. Without a request, columns
        of text and bytes have a filter in stripes in which they have at most 1,024 distinct values.
    distinct
        Paths of columns whose distinct values are counted: exactly in stripes with a dictionary or a constant, and for
        booleans; otherwise the count is an estimate, off by 9 % on average. Without a request, distinct values of text
        and bytes are estimated, and those of numbers, times, decimals and booleans are not counted.
    properties, field_properties
        Notes about the shard, and about columns by their path: `{"status": {"unit": "code"}}`.
    extensions
        Extension types of columns, by their path: `{"vector": amudai.Extension("EmbeddingVec", {"model": "small"})}`,
        or a label alone. Extension types of Arrow are stored as such without this.
    aliases
        Other names by which columns are found, by their path: `{"status": ["code"]}`.
    packed_groups
        Groups of columns that are read together: `[["id", "price", "size"]]`. Their blocks are interleaved, so that
        `take` of a whole row reads one block instead of one of each column. Reading a single one of them takes longer
        than without a group. The columns of a group are top-level columns, or members of the same struct. The
        reference implementation cannot read them.
    packed
        Structs whose members are a packed group, by their paths; True for all structs. Members that are lists, maps,
        structs or unions stay outside.
    timestamps
        `ticks` stores times as the format's own DateTime, in steps of 100 ns, and what is left of nanoseconds in a
        hidden field. `int64` stores Arrow's integers, for times outside of years 1 to 9999.
    decimals
        `decimal128` stores decimals of up to 34 digits as the format's own decimals. `int64` stores those of up to 18
        digits as scaled integers, which are smaller and faster. This library restores them; other readers see 12345
        for 123.45.
    compatibility
        `reference` writes only what the reference implementation reads as well. `extended` also uses encodings that
        only this library knows, where they make columns smaller: see `docs/compatibility.md`.
    created
        When the shard was created, a datetime with a time zone. By default it is the time that the environment variable
        `SOURCE_DATE_EPOCH` states, in seconds from 1970, or else now. If it is given, the same input and options give
        the same bytes.
    ingestion_time
        True notes for each row when it was written, a datetime notes that time. The times are in an internal field:
        `shard.internal["IngestionTimestamp"]`.
    record_id
        True gives each row an identity of 16 bytes: 10 random bytes for the shard, and the position of the row. The 10
        bytes can be given instead. The identities are in an internal field: `shard.internal["RecordIdentity"]`.
    stripe_rows, stripe_bytes
        How many rows, or bytes of encoded values, end a stripe; None for no limit. One stripe is best for most shards.
    memory_limit
        The memory that all columns together may use while values wait to be encoded: a number of bytes, or text such as
        `"512MB"`. With many columns and little memory, blocks become small.
    temp_dir
        The folder for temporary files, in which encoded blocks wait; None for the folder of the shard.
    overwrite
        Whether a shard that exists at `location` is replaced, in one step. Otherwise it is an error.
    store
        Where the shard lives if not in local files: an obstore store, an fsspec or pyarrow file system.
    threads
        How many threads encode; None for `AMUDAI_THREADS`, or else the number of cores.
    progress
        True shows a bar with rows, bytes and the rate. A callable is called with a `Progress` now and then.

    Examples
    --------
    >>> shard = amudai.write({"level": ["info", "warn"]}, "levels.amudai.shard", overwrite=True)
    >>> shard.read().to_pydict()
    {'level': ['info', 'warn']}
    """
    # No code of the caller runs while a table is written.
    with uncollected(data.num_columns if isinstance(data, (pa.Table, pa.RecordBatch)) else 0):
        schema, batches = batches_of(data.to_reader(threads) if isinstance(data, Source) else data)
        writer = ShardWriter(
            location,
            schema,
            profile=profile,
            layout=layout,
            indexes=indexes,
            bloom=bloom,
            distinct=distinct,
            properties=properties,
            field_properties=field_properties,
            extensions=extensions,
            aliases=aliases,
            packed_groups=packed_groups,
            packed=packed,
            timestamps=timestamps,
            decimals=decimals,
            compatibility=compatibility,
            created=created,
            ingestion_time=ingestion_time,
            record_id=record_id,
            stripe_rows=stripe_rows,
            stripe_bytes=stripe_bytes,
            memory_limit=memory_limit,
            temp_dir=temp_dir,
            overwrite=overwrite,
            store=store,
            threads=threads,
        )
        if isinstance(data, Source):
            writer._note(data.noted_at(location))
        taken = made = 0
        with writer as out, reporting(progress, _rows_of(data)) as report:
            # Files are read while the rows before are encoded. What else yields batches may not expect another thread.
            for batch in writer._crew.ahead(batches) if isinstance(data, Source) else batches:
                out.write(batch)
                taken += batch.nbytes
                made = max(made, out.encoded_bytes)  # less where a stripe ends whose values were all the same
                report(out.num_rows, taken, made)
        return open_shard(location, store=store)


def _noted(properties: Mapping[str, object]) -> Properties:
    """The properties of a user, who may not take the names of the library's own."""
    for name in mapping(properties, "properties"):
        if name.startswith("amudai."):
            raise InvalidArgument(f"properties: expected no name that begins with 'amudai.', found {shown(name)}")
    return any_values(properties)


def _rows_of(data: Any) -> int | None:
    rows = getattr(data, "num_rows", None)
    return rows if isinstance(rows, int) else None
