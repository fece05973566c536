"""Facts about how a shard is laid out: files, stripes, fields."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from typing import Any

from amudai.column import BufferLayout
from amudai.inspect.indexes import Index
from amudai.inspect.problem import Problem

__all__ = ["FieldLayout", "ShardLayout", "StripeLayout", "total"]


@dataclass(frozen=True, slots=True)
class FieldLayout:
    """How a field is stored: in one stripe, or in all stripes together. Made by `shard.inspect`.

    Attributes
    ----------
    name, path
        The name of the field, or its role if it has no name, such as `item` of a list; and the path that leads to it.
    type
        The type as the shard stores it, in the format's own words.
    storage
        The way to store: `absent`, `constant`, `unit`, `blocks`, `dictionary`, `struct`, `list`, `fixed-size list`,
        `union`; `mixed` if stripes differ, `unreadable` if there is a problem.
    position_count, null_count
        How many positions the field has, and how many of them are null; None if that is not known.
    bytes
        The size of its buffers, and of the buffers of the fields below it.
    encodings
        Each cascade of encodings with its number of blocks; None unless `inspect` was asked for encodings or blocks.
    buffers
        Its own buffers in this stripe; empty in the totals over all stripes.
    children
        The fields below this one.
    problem
        Why something is missing here; None if all could be read.

    Examples
    --------
    >>> layout = amudai.open("tests/fixtures/sample.amudai.shard").inspect(["http"])
    >>> [(field.path, field.type, field.storage) for field in layout.fields[0].walk()]
    [('http', 'struct<status: int64, path: string>', 'struct'), ('http.status', 'int64', 'blocks'),
    ('http.path', 'string', 'dictionary')]
    """

    name: str
    path: str
    type: str
    storage: str
    position_count: int
    null_count: int | None
    bytes: int
    encodings: dict[str, int] | None
    buffers: tuple[BufferLayout, ...]
    children: tuple[FieldLayout, ...]
    problem: Problem | None = None

    def walk(self) -> Iterator[FieldLayout]:
        """The field itself and all fields below it, depth first."""
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of this field and of the fields below it."""
        return tuple(field.problem for field in self.walk() if field.problem is not None)


@dataclass(frozen=True, slots=True)
class StripeLayout:
    """A stripe and how its fields are stored. Made by `shard.inspect`.

    Attributes
    ----------
    ordinal
        The number of the stripe, from 0.
    first_row
        The position of its first row in the shard.
    num_rows, num_positions
        How many rows it has, deleted ones left out; and how many positions, those of deleted rows included.
    bytes
        The size of the fields that are listed.
    properties
        The properties that were given to the stripe when it was written.
    fields
        The fields, in the order of the schema or of the names that `inspect` was called with.

    Examples
    --------
    >>> (stripe,) = amudai.open("tests/fixtures/sample.amudai.shard").inspect(["status"], blocks=True).stripes
    >>> [(buffer.kind, block.encoding) for buffer in stripe.fields[0].buffers for block in buffer.blocks]
    [('data', 'ffor'), ('data', 'ffor')]
    """

    ordinal: int
    first_row: int
    num_rows: int
    num_positions: int
    bytes: int
    properties: dict[str, object]
    fields: tuple[FieldLayout, ...]

    @property
    def rows(self) -> range:
        """The positions of its rows in the shard.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").inspect().stripes[0].rows
        range(0, 400)
        """
        return range(self.first_row, self.first_row + self.num_positions)


@dataclass(frozen=True, slots=True)
class ShardLayout:
    """What a shard consists of. Made by `shard.inspect`.

    Attributes
    ----------
    url
        The URL of the root file.
    num_rows, num_positions
        How many rows the shard has, deleted ones left out; and how many positions, those of deleted rows included.
    size
        How many bytes all files of the shard have together.
    files
        The URL and the size of each file, the root file first.
    created
        When the shard was created: the earliest and the latest time; None if its writer did not say.
    properties
        The properties that were given to the shard when it was written.
    fields
        How fields are stored in all listed stripes together.
    stripes
        The stripes, each with its fields, buffers and blocks.
    indexes
        The indexes that the shard carries.

    Examples
    --------
    >>> layout = amudai.open("tests/fixtures/sample.amudai.shard").inspect()
    >>> layout.num_rows, layout.size, len(layout.stripes)
    (400, 14075, 1)
    >>> [(field.name, field.bytes) for field in layout.fields][:2]
    [('ts', 288), ('level', 992)]
    """

    url: str
    num_rows: int
    num_positions: int
    size: int
    files: dict[str, int]
    created: tuple[datetime, datetime] | None
    properties: dict[str, object]
    fields: tuple[FieldLayout, ...]
    stripes: tuple[StripeLayout, ...]
    indexes: tuple[Index, ...]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What could not be read, in all listed stripes; empty if everything was read.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").inspect().problems
        ()
        """
        return tuple(problem for stripe in self.stripes for field in stripe.fields for problem in field.problems)

    def to_dict(self) -> dict[str, Any]:
        """The layout as dictionaries and lists. A problem is its message, and the creation times are text.

        Values of properties stay Python values.

        >>> found = amudai.open("tests/fixtures/sample.amudai.shard").inspect(["status"]).to_dict()
        >>> found["stripes"][0]["fields"][0]["storage"]
        'blocks'
        """
        found: dict[str, Any] = _plain(self)
        if self.created is not None:
            found["created"] = [each.isoformat() for each in self.created]
        return found


def total(nothing: FieldLayout, layouts: Sequence[FieldLayout]) -> FieldLayout:
    """A field in all stripes together. `nothing` is its layout in a shard without stripes."""
    if not layouts:
        return nothing
    ways = {each.storage for each in layouts}
    nulls = [each.null_count for each in layouts if each.null_count is not None]
    encodings = None
    if nothing.encodings is not None:
        counts: Counter[str] = Counter()
        for each in layouts:
            counts.update(each.encodings or {})
        encodings = dict(counts.most_common())
    return FieldLayout(
        name=nothing.name,
        path=nothing.path,
        type=nothing.type,
        storage=ways.pop() if len(ways) == 1 else "mixed",
        position_count=sum(each.position_count for each in layouts),
        null_count=sum(nulls) if len(nulls) == len(layouts) else None,
        bytes=sum(each.bytes for each in layouts),
        encodings=encodings,
        buffers=(),
        children=tuple(
            total(child, [each.children[at] for each in layouts]) for at, child in enumerate(nothing.children)
        ),
        problem=next((each.problem for each in layouts if each.problem is not None), None),
    )


def _plain(value: object) -> Any:
    if isinstance(value, Problem):
        return value.message
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return [_plain(each) for each in value] if isinstance(value, tuple) else value
