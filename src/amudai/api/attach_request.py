"""What a shard over Parquet files is asked to have, and making a root of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from amudai.api.editing import NewRoot
from amudai.api.moments import creation_time
from amudai.api.parquet_paths import ParquetPath
from amudai.api.requested import Bloom, requested_distinct, requested_filters
from amudai.arguments import names, shown
from amudai.arrow import SCHEMA_PROPERTY, Timestamps
from amudai.column import ParquetFile
from amudai.edit import AttachedFile, Attachment, Naming, Root, RowGroups, attached_stripes, fingerprint_of_parquet
from amudai.encoding import profile_of
from amudai.errors import InvalidArgument, InvalidSchema
from amudai.format import Properties, any_value, ticks_of
from amudai.index import HashIndex, IndexSpec, TermIndex, index_sinks
from amudai.shard import BuildOptions, ShardBuilder
from amudai.sources import InputFile, Partitions, SourceOptions, unified
from amudai.storage import Artifact
from amudai.threads import Crew, thread_count
from amudai.types import WIDTHS, BasicType, SchemaNode, find_in

__all__ = ["AttachRequest", "opened_file"]

_LISTS: Final = (BasicType.LIST, BasicType.MAP)
# The key of the Arrow schema that Arrow's writers keep, which is read already.
_ARROW_SCHEMA: Final = b"ARROW:schema"

Opened = tuple[str, ParquetFile]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachRequest:
    """The arguments of `amudai.attach` that a shard keeps, so that it can be brought up to date."""

    indexes: tuple[IndexSpec, ...]
    ranges: tuple[str, ...] | None
    bloom: Bloom
    distinct: tuple[str, ...]
    hive: bool
    stripe_rows: int
    timestamps: Timestamps

    @classmethod
    def of(cls, stated: Mapping[str, Any]) -> AttachRequest:
        """The request that a shard notes."""
        return cls(
            indexes=tuple(_spec(each) for each in stated["indexes"]),
            ranges=None if stated["ranges"] is None else tuple(stated["ranges"]),
            bloom=stated["bloom"],
            distinct=tuple(stated.get("distinct", ())),
            hive=stated["hive"],
            stripe_rows=stated["stripe_rows"],
            timestamps=stated.get("timestamps", "ticks"),
        )

    def with_indexes(self, indexes: Sequence[IndexSpec]) -> AttachRequest:
        """The same request with other indexes. Those that were asked for already keep their settings."""
        asked = {_kept_settings(each): each for each in self.indexes}
        return replace(self, indexes=tuple(asked.get(_kept_settings(each), each) for each in indexes))

    def stated(self, patterns: Sequence[str], attachment: Attachment) -> dict[str, object]:
        """What the shard notes: the request, the patterns of its files, and the columns that it got from them."""
        return {
            "paths": list(patterns),
            "indexes": [{"type": spec.index_type, **asdict(spec)} for spec in self.indexes],  # type: ignore[call-overload]
            "ranges": None if self.ranges is None else list(self.ranges),
            "bloom": dict(self.bloom) if isinstance(self.bloom, Mapping) else list(self.bloom),
            "distinct": list(self.distinct),
            "hive": self.hive,
            "stripe_rows": self.stripe_rows,
            "timestamps": self.timestamps,
            "columns": {node.name: node.schema_id for node in attachment.nodes},
            "folders": sorted(attachment.given),
        }

    def attachment(
        self, paths: Sequence[ParquetPath], opened: Sequence[Opened], known: pa.Schema | None = None
    ) -> tuple[Attachment, dict[str, Mapping[str, pa.Scalar]]]:
        """The columns of the files, and by path what folders say about them.

        Parameters
        ----------
        paths
            All files, whose folders give columns.
        opened
            The files that have columns.
        known
            Columns of other files, which come first.
        """
        schema, given, constants = _united(paths, opened, self.hive, known)
        plain = Attachment.of(schema, given, (), (), self.timestamps)
        filtered = list(self.bloom) if isinstance(self.bloom, Mapping) else names(self.bloom, "bloom")
        asked = [*(path for spec in self.indexes for path in spec.fields), *filtered, *self.distinct]
        tops = {find_in(plain.nodes, path)[0].name for path in asked}
        for path in self.ranges or ():
            _require_range(find_in(plain.nodes, path)[-1], path)
        for spec in self.indexes:
            _require_records(spec, plain.nodes)
        ranged = None if self.ranges is None else [find_in(plain.nodes, path)[0].name for path in self.ranges]
        return Attachment.of(schema, given, tops, ranged, self.timestamps), constants

    def root(
        self,
        new: NewRoot,
        attachment: Attachment,
        files: Sequence[AttachedFile],
        *,
        properties: Properties = (),
        created: datetime | None = None,
        memory: int,
        threads: int | None,
        report: Callable[[int, int, int], object],
        two_level: bool = False,
    ) -> tuple[Root, list[list[RowGroups]]]:
        """Read the columns that get something, once, and write what they get. Returns the root to be published, and
        the row groups of each stripe.
        """
        memory = max(1 << 20, memory)
        options = BuildOptions(
            profile=profile_of("balanced"),
            two_level=two_level,
            memory=memory,
            temp_folder=new.temp_folder,
            bloom=requested_filters(attachment.nodes, self.bloom),
            distinct=requested_distinct(attachment.nodes, self.distinct),
            created=ticks_of(creation_time(created)),
            properties=(
                *properties,
                (SCHEMA_PROPERTY, any_value(attachment.schema.serialize().to_pybytes())),
            ),
        )
        crew = Crew(thread_count(threads))
        sinks = index_sinks(
            self.indexes,
            attachment.nodes,
            memory=memory // 4,
            temp_folder=new.temp_folder,
            profile="balanced",
            crew=crew,
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
            marks = {each.name: fingerprint_of_parquet(each.file) for each in files}  # before values are read
            stripes = attached_stripes(attachment, files, builder, self.stripe_rows, report)
            return Root(url=new.url, metadata=builder.finish(), files=marks), stripes
        finally:
            builder.close()


def opened_file(path: ParquetPath, naming: Naming) -> Opened:
    """The name of a file for the shard, and the file."""
    artifact = Artifact.open(path.store, path.url)
    if naming.replaces(artifact):
        raise InvalidArgument("to: expected another place than that of a Parquet file", url=naming.url)
    file = ParquetFile(artifact)
    _ = file.metadata  # an error if this is no Parquet file
    return naming.of(artifact), file


def _united(
    paths: Sequence[ParquetPath], opened: Sequence[Opened], hive: bool, known: pa.Schema | None
) -> tuple[pa.Schema, list[str], dict[str, Mapping[str, pa.Scalar]]]:
    """The schema of all columns, the names of those that folders give, and their values by path."""
    inputs = [InputFile(path.path, ".parquet") for path in paths]
    schemas = [(InputFile(file.artifact.url, ".parquet"), _plain(file.schema)) for _, file in opened]
    if known is not None:
        schemas.insert(0, (InputFile("the shard", ".parquet"), _plain(known)))
    schema = unified(schemas, SourceOptions(types={}))
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


def _require_range(node: SchemaNode, path: str) -> None:
    if node.basic_type not in WIDTHS and not node.is_decimal:
        raise InvalidArgument(f"ranges: expected columns of numbers or times, found {shown(path)} of {node}")


def _require_records(spec: IndexSpec, nodes: Sequence[SchemaNode]) -> None:
    """Raise InvalidArgument for an index of the single values of lists: their numbers are not known."""
    for path, granularity in zip(spec.fields, getattr(spec, "granularities", ()), strict=False):
        if granularity == "element" and any(node.basic_type in _LISTS for node in find_in(nodes, path)):
            expected = "expected the granularity 'record' for lists in Parquet files, found 'element'"
            raise InvalidArgument(f"TermIndex of {path!r}: {expected}")


def _kept_settings(spec: IndexSpec) -> tuple[object, ...]:
    """What the descriptor of an index tells of its settings: all but how large it may be."""
    settings: dict[str, object] = asdict(spec)  # type: ignore[call-overload]
    return (spec.index_type, *(value for name, value in settings.items() if name != "max_bytes"))


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
