"""The Arrow types of the columns of a shard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from amudai.arguments import shown
from amudai.arrow.kept import KeptFields, kept_fields
from amudai.arrow.natural import arrow_field, project, value_type
from amudai.column import Projection
from amudai.errors import CorruptedData, InvalidArgument, MissingColumn, located
from amudai.format import AnyValue, RangeStats
from amudai.lazy import lazy
from amudai.shard import ShardReader
from amudai.types import NANOSECONDS, BasicType, NodePath, SchemaNode, find_path, missing_column, nanoseconds_name

__all__ = ["ArrowFields"]


class ArrowFields:
    """The Arrow types of a shard's columns: requested by the caller, or kept by the writer, or natural.

    Fields are computed when they are accessed, so that two columns of ten thousand cost two.
    """

    def __init__(self, reader: ShardReader, wanted: Mapping[str, pa.DataType] | pa.Schema | None = None) -> None:
        self._reader = reader
        self._wanted: dict[str, pa.DataType] = {}
        if isinstance(wanted, pa.Schema):
            self._wanted = {field.name: field.type for field in wanted}
        elif wanted is not None:
            self._wanted = _types(wanted)
        self._fields: dict[int, pa.Field] = {}
        self._projections: dict[int, Projection] = {}

    @property
    def wanted(self) -> tuple[tuple[str, pa.DataType], ...]:
        """The types that the caller requested, by column."""
        return tuple(self._wanted.items())

    def visible(self) -> tuple[SchemaNode, ...]:
        """The columns that a user sees: all except internal ones."""
        return tuple(node for node in self._reader.schema.fields() if not node.internal)

    def find(self, name: str) -> NodePath:
        """The nodes from the top-level column down to the field at path `name`. Internal columns are not found."""
        if not isinstance(name, str):
            raise InvalidArgument(f"columns: expected names, found {name!r}")
        schema = self._reader.schema
        found = find_path(name, schema.find)
        if found is None or found[0].internal:
            with located(url=self._reader.url):
                raise missing_column(name, [node.name for node in self.visible()])
        return found

    @lazy
    def schema(self) -> pa.Schema:
        """All columns."""
        columns = self.visible()
        metadata = None
        if self._kept is not None:
            metadata = self._kept.schema.metadata
            with located(url=self._reader.url):
                self._kept.places(columns)
        return pa.schema([self.field(node) for node in columns], metadata=metadata)

    @lazy
    def _kept(self) -> KeptFields | None:
        reader = self._reader
        with located(url=reader.url):
            return kept_fields(reader.schema, reader.properties.custom)

    def field(self, node: SchemaNode) -> pa.Field:
        """A top-level column as Arrow sees it."""
        found = self._fields.get(node.schema_id)
        if found is None:
            self._check_wanted()
            found = self._find(node)
            self._fields[node.schema_id] = found
        return found

    def projection(self, node: SchemaNode) -> Projection:
        """What must be read for a top-level column as a whole."""
        field = self.field(node)
        found = self._projections.get(node.schema_id)
        if found is None:
            found = self._projections[node.schema_id] = self._with_nanoseconds(project(node, field.type), field.type)
        return found

    def _with_nanoseconds(self, projection: Projection, kind: pa.DataType) -> Projection:
        """The projection of a column, with the nanoseconds after its ticks if the type can hold them."""
        node = projection.node
        if not node.is_ticks or pa.types.is_integer(value_type(kind)):
            return projection
        found = self._reader.schema.find(nanoseconds_name(node.name))
        if found is None or found.internal != NANOSECONDS:
            return projection
        if found.basic_type is not BasicType.INT8 or found.signed:
            message = f"field of role {NANOSECONDS}: expected uint8, found {found}"
            raise CorruptedData(message, url=self._reader.url, field=found.name)
        return replace(projection, nanoseconds=found)

    def _check_wanted(self) -> None:
        for name in self._wanted:
            found = self._reader.schema.find(name)
            if found is None or found.internal:
                raise MissingColumn(f"schema: expected columns of the shard, found {name!r}", url=self._reader.url)

    def _find(self, node: SchemaNode) -> pa.Field:
        wanted = self._wanted.get(node.name)
        with located(url=self._reader.url):
            if self._kept is None or node.internal:
                found = arrow_field(node, self._bounds)
            else:
                found, projection = self._kept.find(node, self.visible)
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


def _types(wanted: Mapping[str, pa.DataType]) -> dict[str, pa.DataType]:
    """The types that a caller requested, by column."""
    if not isinstance(wanted, Mapping):
        raise InvalidArgument(f"schema: expected a schema, or Arrow types by column, found {shown(wanted)}")
    for name, kind in wanted.items():
        if not isinstance(name, str) or not isinstance(kind, pa.DataType):
            raise InvalidArgument(f"schema: expected an Arrow type for a column, found {shown(kind)} for {shown(name)}")
    return dict(wanted)
