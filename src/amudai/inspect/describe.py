"""Collecting the layout of an open shard."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from amudai.arrow import SCHEMA_PROPERTY
from amudai.column import ColumnLayout
from amudai.errors import AmudaiError
from amudai.format import (
    ATTACHMENT_PROPERTY,
    FILES_PROPERTY,
    FOLLOWED_PROPERTY,
    ROW_GROUPS_PROPERTY,
    SOURCES_PROPERTY,
    AnyValue,
    python_value,
    python_values,
)
from amudai.inspect.indexes import indexes_of
from amudai.inspect.labels import field_label
from amudai.inspect.layout import FieldLayout, ShardLayout, StripeLayout, total
from amudai.inspect.problem import Problem
from amudai.shard import ShardReader, StripeReader
from amudai.types import NodePath, nodes_below

__all__ = [
    "Depth",
    "creation_times",
    "file_sizes",
    "inspect_shard",
    "stripe_properties",
    "total_layouts",
    "user_properties",
]

Depth: TypeAlias = Literal["buffers", "encodings", "blocks"]
"""How far down to look. Buffers take no more than descriptors; for encodings and for blocks the blocks are read."""

_NOT_STORED: Final = ColumnLayout("absent", 0, 0, ())
_UNREADABLE: Final = ColumnLayout("unreadable", 0, None, ())


def inspect_shard(
    reader: ShardReader, paths: Sequence[NodePath], stripes: Sequence[StripeReader], depth: Depth
) -> ShardLayout:
    """The layout of a shard: these fields in these stripes.

    A field that is damaged or cannot be read has a `problem`, and the others are described all the same.
    """
    found = tuple(_stripe(stripe, paths, depth) for stripe in stripes)
    files = file_sizes(reader)
    return ShardLayout(
        url=reader.url,
        num_rows=reader.num_rows,
        num_positions=reader.num_positions,
        size=sum(files.values()),
        files=files,
        created=creation_times(reader),
        properties=user_properties(reader),
        fields=_totals(paths, [stripe.fields for stripe in found], depth),
        stripes=found,
        indexes=indexes_of(reader),
    )


def total_layouts(reader: ShardReader, paths: Sequence[NodePath], depth: Depth) -> tuple[FieldLayout, ...]:
    """These fields in all stripes together."""
    return _totals(paths, [_fields(stripe, paths, depth) for stripe in reader.stripes], depth)


def file_sizes(reader: ShardReader) -> dict[str, int]:
    """The URL and the size of each file of a shard, the root file first."""
    files = {artifact.url: artifact.size for artifact in (reader.artifact(url, reader.root) for url in reader.urls)}
    return {reader.url: reader.root.size} | {url: files[url] for url in sorted(files.keys() - {reader.url})}


def creation_times(reader: ShardReader) -> tuple[datetime, datetime] | None:
    """When a shard was created: the earliest and the latest time; None if its writer did not say, or beyond year 9999.

    Times are cut to whole microseconds.
    """
    stated = reader.properties.creation_min, reader.properties.creation_max
    times = [python_value(AnyValue("datetime", ticks // 10 * 10)) for ticks in stated if ticks is not None]
    first, *others = times or [None]
    last = others[0] if others else first
    return (first, last) if isinstance(first, datetime) and isinstance(last, datetime) else None


def user_properties(reader: ShardReader) -> dict[str, object]:
    """The properties of a shard, without what the library notes for itself."""
    found = python_values(reader.properties.custom)
    own = (SCHEMA_PROPERTY, FILES_PROPERTY, SOURCES_PROPERTY, FOLLOWED_PROPERTY, ATTACHMENT_PROPERTY)
    return {name: value for name, value in found.items() if name not in own}


def stripe_properties(stripe: StripeReader) -> dict[str, object]:
    """The properties of a stripe, without what the library notes for itself."""
    found = python_values(stripe.properties.custom)
    return {name: value for name, value in found.items() if name != ROW_GROUPS_PROPERTY}


def _stripe(stripe: StripeReader, paths: Sequence[NodePath], depth: Depth) -> StripeLayout:
    fields = _fields(stripe, paths, depth)
    return StripeLayout(
        ordinal=stripe.ordinal,
        first_row=stripe.first_row,
        num_rows=stripe.num_rows,
        num_positions=stripe.num_positions,
        bytes=sum(field.bytes for field in fields),
        properties=stripe_properties(stripe),
        fields=fields,
    )


def _fields(stripe: StripeReader, paths: Sequence[NodePath], depth: Depth) -> tuple[FieldLayout, ...]:
    # All descriptors in few requests. If one of them is damaged, reading them one by one tells which.
    with suppress(AmudaiError):
        stripe.prepare(nodes_below(nodes[-1] for nodes in paths))
    return tuple(_stored(stripe, nodes, depth) for nodes in paths)


def _stored(stripe: StripeReader, nodes: NodePath, depth: Depth) -> FieldLayout:
    """A field in one stripe, and those below it."""
    found = _UNREADABLE
    encodings: dict[str, int] | None = None if depth == "buffers" else {}
    problem = None
    try:
        source = stripe.column_at(nodes)
        found = source.describe()
        if depth != "buffers":
            encodings = dict(source.encodings().most_common())
        if depth == "blocks":
            found = source.describe(blocks=True)
    except AmudaiError as error:
        problem = Problem.of(error)
    children = [_stored(stripe, (*nodes, child), depth) for child in nodes[-1].children]
    return _layout(nodes, found, encodings, children, problem)


def _totals(
    paths: Sequence[NodePath], stripes: Sequence[tuple[FieldLayout, ...]], depth: Depth
) -> tuple[FieldLayout, ...]:
    return tuple(total(_nothing(nodes, depth), [fields[at] for fields in stripes]) for at, nodes in enumerate(paths))


def _nothing(nodes: NodePath, depth: Depth) -> FieldLayout:
    """A field that is stored nowhere, and those below it."""
    children = [_nothing((*nodes, child), depth) for child in nodes[-1].children]
    return _layout(nodes, _NOT_STORED, None if depth == "buffers" else {}, children)


def _layout(
    nodes: NodePath,
    column: ColumnLayout,
    encodings: dict[str, int] | None,
    children: Sequence[FieldLayout],
    problem: Problem | None = None,
) -> FieldLayout:
    labels = [field_label(None, nodes[0]), *(field_label(parent, node) for parent, node in pairwise(nodes))]
    return FieldLayout(
        name=labels[-1],
        path=".".join(labels),
        type=str(nodes[-1]),
        storage=column.storage,
        position_count=column.position_count,
        null_count=column.null_count,
        bytes=column.bytes + sum(child.bytes for child in children),
        encodings=encodings,
        buffers=column.buffers,
        children=tuple(children),
        problem=problem,
    )
