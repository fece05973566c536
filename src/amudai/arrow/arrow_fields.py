"""The Arrow types of the columns of a shard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pyarrow as pa

from amudai.arguments import shown
from amudai.arrow.kept import KeptFields, kept_fields
from amudai.arrow.natural import arrow_field, project, value_type
from amudai.arrow.storage import schema_nodes
from amudai.column import Projection
from amudai.errors import CorruptedData, InvalidArgument, MissingColumn, located
from amudai.format import AnyValue, RangeStats
from amudai.lazy import lazy
from amudai.shard import ShardReader
from amudai.types import (
    NANOSECONDS,
    BasicType,
    NodePath,
    SchemaNode,
    find_alias,
    find_path,
    missing_column,
    nanoseconds_name,
    parse_path,
    with_first_id,
)

__all__ = ["INTERNAL_MARK", "ArrowFields", "short_role"]


# An internal field is named by this mark and its role, or the last part of its role.
INTERNAL_MARK: Final = "@"
# Columns that the shard lacks have ids that no field list is long enough for: they read as null.
_ABSENT_IDS: Final = 1 << 31
# From this number of columns on, the kept schema is taken as it is if it has the right names.
_MANY_COLUMNS: Final = 1000


class ArrowFields:
    """The Arrow types of a shard's columns: requested by the caller, or kept by the writer, or natural.

    Fields are computed when they are accessed, so that two columns of ten thousand cost two.

    Parameters
    ----------
    wanted
        The types of some columns; or a schema with all columns that a user sees, in this order. Columns of a schema
        that the shard lacks are null.
    natural
        Whether the types that the writer kept are ignored, as if there were none.
    """

    def __init__(
        self,
        reader: ShardReader,
        wanted: Mapping[str, pa.DataType] | pa.Schema | None = None,
        *,
        natural: bool = False,
    ) -> None:
        self._reader = reader
        self._natural = natural
        self._whole = wanted if isinstance(wanted, pa.Schema) else None
        self._wanted: dict[str, pa.DataType] = {}
        if self._whole is not None:
            schema_nodes(self._whole)  # raises an error for names and types that no shard can have
            self._wanted = {field.name: field.type for field in self._whole}
        elif wanted is not None:
            self._wanted = _types(wanted)

    @property
    def wanted(self) -> tuple[tuple[str, pa.DataType], ...] | pa.Schema:
        """What the caller requested: the types of some columns, or a schema with all columns."""
        return tuple(self._wanted.items()) if self._whole is None else self._whole

    def visible(self) -> tuple[SchemaNode, ...]:
        """The columns that a user sees: all except internal ones, or those of the requested schema."""
        if self._whole is None:
            return self._stored()
        return tuple(node for node in map(self._column, self._whole.names) if node is not None)

    def internal(self) -> dict[str, SchemaNode]:
        """The internal fields by role, except those that belong to a column. Of fields with one role, the first."""
        found: dict[str, SchemaNode] = {}
        for node in self._reader.schema.fields():
            if node.internal and node.internal != NANOSECONDS:
                found.setdefault(node.internal, node)
        return found

    def find(self, name: str) -> NodePath:
        """The nodes from the top-level column down to the field at path `name`.

        Internal fields are found by `@` and their role, unless a column has this name.
        """
        if not isinstance(name, str):
            raise InvalidArgument(f"columns: expected names, found {shown(name)}")
        found = find_path(name, self._column)
        if found is None:
            found = self._find_internal(".".join(parse_path(name)))
        if found is None:
            with located(url=self._reader.url):
                raise missing_column(name, [node.name for node in self.visible()])
        return found

    def _find_internal(self, name: str) -> NodePath | None:
        if not name.startswith(INTERNAL_MARK):
            return None
        role = name[len(INTERNAL_MARK) :]
        return next(((node,) for kind, node in self.internal().items() if role in (kind, short_role(kind))), None)

    def _stored(self) -> tuple[SchemaNode, ...]:
        return tuple(node for node in self._reader.schema.fields() if not node.internal)

    def _column(self, name: str) -> SchemaNode | None:
        """The column of this name or alias, if a user sees it."""
        if self._whole is not None and name not in self._wanted:
            return None
        found = self._reader.schema.find(name)
        if found is not None and not found.internal:
            return found
        return find_alias(self._stored(), name) if self._whole is None else self._absent[name]

    @lazy
    def _absent(self) -> dict[str, SchemaNode]:
        """The columns of the requested schema that the shard lacks."""
        assert self._whole is not None
        stored = {node.name for node in self._stored()}
        lacking = [field for field in self._whole if field.name not in stored]
        for field in lacking:
            if not field.nullable:
                expected = f"expected a column {field.name!r}, which is not null, found none"
                raise InvalidArgument(f"schema: {expected}", url=self._reader.url)
        return {node.name: node for node in with_first_id(schema_nodes(lacking), _ABSENT_IDS)}

    @lazy
    def schema(self) -> pa.Schema:
        """All columns."""
        shared = self._shared
        if shared is None:
            return self._schema()
        if shared.whole is None:
            shared.whole = self._schema()
        return shared.whole

    def _schema(self) -> pa.Schema:
        kept = self._shared
        if kept is not None and len(self._reader.schema) >= _MANY_COLUMNS:
            # Types are compared with what is stored when a column is read.
            with located(url=self._reader.url):
                if self._reader.schema.column_names() == kept.names():
                    return kept.schema
        metadata = None if self._whole is None else self._whole.metadata
        if self._kept is not None:
            metadata = metadata if self._whole is not None else self._kept.schema.metadata
            with located(url=self._reader.url):
                self._kept.places(self._stored())
        return pa.schema([self.field(node) for node in self.visible()], metadata=metadata)

    @lazy
    def _kept(self) -> KeptFields | None:
        reader = self._reader
        if self._natural:
            return None
        with located(url=reader.url):
            return kept_fields(reader.schema, reader.properties.custom)

    @lazy
    def _shared(self) -> KeptFields | None:
        """The kept fields, if the caller requested no types: shards with the same schema share what is found then."""
        return None if self._wanted or self._whole is not None else self._kept

    @lazy
    def _fields(self) -> dict[int, pa.Field]:
        return {} if self._shared is None else self._shared.fields

    @lazy
    def _projections(self) -> dict[int, Projection]:
        return {} if self._shared is None else self._shared.projections

    def field(self, node: SchemaNode) -> pa.Field:
        """A top-level column as Arrow sees it."""
        if node.internal:
            return self._find(node)  # its type depends on the values of this shard
        found = self._fields.get(node.schema_id)
        if found is None:
            found = self._fields[node.schema_id] = self._find(node)
        return found

    def known_columns(self) -> list[tuple[pa.Field, Projection]] | None:
        """All columns as Arrow sees them, and what must be read for each; None if that is found one by one."""
        shared = self._shared
        if shared is None or len(self._reader.schema) < _MANY_COLUMNS:
            return None
        with located(url=self._reader.url):
            return [
                (field, self._with_nanoseconds(projection, field.type))
                for field, projection in shared.each(self._stored())
            ]

    def projection(self, node: SchemaNode) -> Projection:
        """What must be read for a top-level column as a whole."""
        field = self.field(node)
        if node.internal:
            return self._with_nanoseconds(project(node, field.type), field.type)
        found = self._projections.get(node.schema_id)
        if found is None:
            found = self._projections[node.schema_id] = self._with_nanoseconds(project(node, field.type), field.type)
        return found

    def _with_nanoseconds(self, projection: Projection, kind: pa.DataType) -> Projection:
        """The projection of a column, with the nanoseconds after its ticks if the type can hold them."""
        node = projection.node
        if not node.is_ticks or pa.types.is_integer(value_type(kind)) or node.schema_id >= _ABSENT_IDS:
            return projection
        found = self._reader.schema.find(nanoseconds_name(node.name))
        if found is None or found.internal != NANOSECONDS:
            return projection
        if found.basic_type is not BasicType.INT8 or found.signed:
            message = f"field of role {NANOSECONDS}: expected uint8, found {found}"
            raise CorruptedData(message, url=self._reader.url, field=found.name)
        return replace(projection, nanoseconds=found, unit=None)

    @lazy
    def _wanted_types(self) -> Mapping[str, pa.DataType]:
        """The requested types of columns, all of which the shard has unless a whole schema is requested."""
        for name in () if self._whole is not None else self._wanted:
            found = self._reader.schema.find(name)
            if found is None or found.internal:
                raise MissingColumn(f"schema: expected columns of the shard, found {name!r}", url=self._reader.url)
        return self._wanted

    def _find(self, node: SchemaNode) -> pa.Field:
        wanted = None if node.internal else self._wanted_types.get(node.name)
        if self._whole is not None and wanted is not None:
            return self._whole.field(node.name)
        with located(url=self._reader.url):
            if self._kept is None or node.internal:
                found = arrow_field(node, self._bounds)
            else:
                found, projection = self._kept.find(node, self._stored)
                if wanted is None:
                    self._projections[node.schema_id] = self._with_nanoseconds(projection, found.type)
        return found if wanted is None else found.with_type(wanted)

    def _bounds(self, node: SchemaNode) -> RangeStats | None:
        found = self._reader.descriptor(node)
        if found is not None and found.range_stats is not None:
            return found.range_stats
        return self._bounds_of_stripes(node)

    def _bounds_of_stripes(self, node: SchemaNode) -> RangeStats | None:
        """Bounds of integers and times from the stripes, if the shard as a whole has none."""
        stored = [stripe.descriptor(node) for stripe in self._reader.stripes]
        stated = [each.field.range_stats for each in stored if each is not None and each.field.range_stats is not None]
        lows = [each.min for each in stated if each.min is not None and isinstance(each.min.value, int)]
        highs = [each.max for each in stated if each.max is not None and isinstance(each.max.value, int)]
        if not lows or not highs:
            return None
        low, high = min(lows, key=_number), max(highs, key=_number)
        return RangeStats(min=low, min_inclusive=True, max=high, max_inclusive=True)


def _number(value: AnyValue) -> int:
    assert isinstance(value.value, int)
    return value.value


def short_role(role: str) -> str:
    """The last part of the role of an internal field.

    >>> short_role("Kusto.Amudai.IngestionTimestamp")
    'IngestionTimestamp'
    """
    return role.rpartition(".")[2]


def _types(wanted: Mapping[str, pa.DataType]) -> dict[str, pa.DataType]:
    """The types that a caller requested, by column."""
    if not isinstance(wanted, Mapping):
        raise InvalidArgument(f"schema: expected a schema, or Arrow types by column, found {shown(wanted)}")
    for name, kind in wanted.items():
        if not isinstance(name, str) or not isinstance(kind, pa.DataType):
            raise InvalidArgument(f"schema: expected an Arrow type for a column, found {shown(kind)} for {shown(name)}")
    return dict(wanted)
