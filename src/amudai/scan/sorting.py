"""Sorting more rows than fit into memory: sorted runs wait in a temporary file and are merged batch by batch."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import total_ordering
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from amudai.arguments import is_one_of, sequence, shown
from amudai.arrow import computable, reordered, struct_member, taken, without_rows
from amudai.errors import InvalidArgument, MissingColumn
from amudai.storage import Spool
from amudai.types import parse_path

__all__ = ["SortBy", "SortKey", "sort_keys", "sorted_batches"]

# A column, or a column and "ascending" or "descending".
SortBy: TypeAlias = str | tuple[str, str]

_ORDERS: Final = ("ascending", "descending")
# A run takes this part of the memory: its rows are held twice while they are sorted.
_RUN_SHARE: Final = 4
# At most this many runs are merged at once, and a run is stored in this many pieces: of each run that is merged, one
# piece is in memory.
_FAN_IN: Final = 64


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column to sort by. Nulls come last in both directions, after NaN."""

    path: tuple[str, ...]
    descending: bool

    def values(self, batch: pa.RecordBatch | pa.Table) -> pa.Array | pa.ChunkedArray:
        """The values of the column, as a type that Arrow can sort and Python can compare exactly."""
        found = batch.column(self.path[0])
        for name in self.path[1:]:
            found = _member(found, name)
        return _comparable(found)


def _member(values: pa.Array | pa.ChunkedArray, name: str) -> pa.Array | pa.ChunkedArray:
    place = pa.types.is_struct(values.type) and values.type.get_field_index(name)
    if place is False or place < 0:
        raise KeyError(name)
    if isinstance(values, pa.Array):
        return struct_member(values, place)
    kind = values.type.field(place).type
    return pa.chunked_array([struct_member(chunk, place) for chunk in values.chunks], kind)


def sort_keys(sort_by: SortBy | Sequence[SortBy], schema: pa.Schema) -> tuple[SortKey, ...]:
    """The keys that `sort_by` names. Raises an error if a column is missing or cannot be sorted.

    >>> sort_keys(["day", ("size", "descending")], pa.schema([("day", pa.date32()), ("size", pa.int64())]))
    (SortKey(path=('day',), descending=False), SortKey(path=('size',), descending=True))
    """
    is_pair = isinstance(sort_by, tuple) and len(sort_by) == 2 and is_one_of(sort_by[1], _ORDERS)
    single = isinstance(sort_by, str) or is_pair
    wanted: Sequence[Any] = [sort_by] if single else sequence(sort_by, "sort_by")
    empty = without_rows(schema)
    found = []
    for each in wanted:
        name, order = (each, _ORDERS[0]) if isinstance(each, str) else _pair(each)
        key = SortKey(parse_path(name), order == "descending")
        try:
            values = key.values(empty)
        except (KeyError, pa.ArrowInvalid, UnicodeError) as error:
            raise MissingColumn(f"sort_by: expected a column, found {shown(name)}") from error
        if not _is_sortable(values.type):
            raise InvalidArgument(f"sort_by: expected a column that can be sorted, found {values.type}", field=name)
        found.append(key)
    return tuple(found)


def sorted_batches(
    batches: Iterable[pa.RecordBatch],
    keys: Sequence[SortKey],
    *,
    memory: int,
    temp_folder: str | None,
) -> Iterator[pa.RecordBatch]:
    """All rows of `batches` in the order of `keys`. Rows with equal keys keep their order.

    Parameters
    ----------
    memory
        Bytes of rows to hold in memory. More rows than that wait in a temporary file.
    temp_folder
        The folder of that file.
    """
    run_bytes = _run_bytes(memory)
    with Spool(temp_folder, 0) as spool:
        runs: list[list[_SpooledRows]] = []
        waiting: list[pa.RecordBatch] = []
        size = 0
        for batch in batches:
            waiting.append(batch)
            size += batch.nbytes
            if size >= run_bytes:
                runs.append(_stored([_sorted(waiting, keys)], spool, run_bytes))
                waiting, size = [], 0
        if waiting and not runs:
            yield from _sorted(waiting, keys).to_batches()
            return
        if waiting:
            runs.append(_stored([_sorted(waiting, keys)], spool, run_bytes))
        waiting = []
        while len(runs) > _FAN_IN:
            # Neighbours are merged, so that rows with equal keys keep their order.
            runs = [
                _stored(_merged(some, spool, keys), spool, run_bytes)
                for some in (runs[at : at + _FAN_IN] for at in range(0, len(runs), _FAN_IN))
            ]
        for table in _merged(runs, spool, keys):
            yield from table.to_batches()


# ---- runs ----


def _run_bytes(memory: int) -> int:
    return max(1 << 20, memory // _RUN_SHARE)


@dataclass(frozen=True, slots=True)
class _SpooledRows:
    """Some rows of a sorted run: where they are in the spool."""

    start: int
    end: int


def _sorted(batches: Sequence[pa.RecordBatch], keys: Sequence[SortKey]) -> pa.Table:
    return _in_order(pa.Table.from_batches(batches), keys)


def _in_order(table: pa.Table, keys: Sequence[SortKey]) -> pa.Table:
    values = pa.table([key.values(table) for key in keys], [str(at) for at in range(len(keys))])
    orders = [(str(at), _ORDERS[key.descending]) for at, key in enumerate(keys)]
    return reordered(table, pc.sort_indices(values, sort_keys=orders))  # stable, nulls at the end


def _stored(tables: Iterable[pa.Table], spool: Spool, run_bytes: int) -> list[_SpooledRows]:
    """Append sorted rows to the spool in pieces of similar size."""
    pieces = []
    for table in tables:
        count = max(1, -(-table.num_rows * run_bytes // (_FAN_IN * max(1, table.nbytes))))
        for at in range(0, table.num_rows, count):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as out:
                out.write_table(table.slice(at, count).combine_chunks())
            data = memoryview(sink.getvalue())
            start = spool.append(data)
            pieces.append(_SpooledRows(start, start + len(data)))
    return pieces


# ---- merging ----


class _Cursor:
    """A run that is being merged: the rows of its current piece that are not merged yet."""

    def __init__(self, number: int, pieces: Sequence[_SpooledRows], spool: Spool, keys: Sequence[SortKey]) -> None:
        self.number = number
        self._pieces = list(reversed(pieces))
        self._spool = spool
        self._keys = keys
        self._next()

    def _next(self) -> None:
        piece = self._pieces.pop()
        with pa.ipc.open_stream(pa.py_buffer(self._spool.view(piece.start, piece.end))) as stream:
            self.table = stream.read_all()
        self._values = [key.values(self.table) for key in self._keys]
        self._at = 0

    @property
    def has_more(self) -> bool:
        """Whether there are rows after the current piece."""
        return bool(self._pieces)

    @property
    def last(self) -> tuple[Any, ...]:
        """The key of the last row of the current piece."""
        return self.key(self.table.num_rows - 1)

    def key(self, row: int) -> tuple[Any, ...]:
        """The key of a row, in a form that compares as the rows are sorted."""
        return tuple(
            _comparable_value(values[row].as_py(), descending=key.descending)
            for key, values in zip(self._keys, self._values, strict=True)
        )

    def taken(self, bound: tuple[Any, ...] | None, *, inclusive: bool) -> pa.Table:
        """Take the rows before `bound`, and those equal to it if `inclusive`. None takes the whole piece."""
        cut = self.table.num_rows
        if bound is not None:
            bisect = bisect_right if inclusive else bisect_left
            cut = bisect(range(self.table.num_rows), bound, lo=self._at, key=self.key)
        found = self.table.slice(self._at, cut - self._at)
        self._at = cut
        if self._at == self.table.num_rows and self._pieces:
            self._next()
        return found

    @property
    def is_done(self) -> bool:
        """Whether all rows of the run were taken."""
        return self._at == self.table.num_rows and not self._pieces


def _merged(runs: Sequence[list[_SpooledRows]], spool: Spool, keys: Sequence[SortKey]) -> Iterator[pa.Table]:
    """The rows of several sorted runs in order."""
    cursors = [_Cursor(number, pieces, spool, keys) for number, pieces in enumerate(runs) if pieces]
    while cursors:
        # The first run whose current piece ends first. Rows behind that end may be preceded by rows that are not read
        # yet. Among equal keys, rows of earlier runs come first.
        first = min(
            (each for each in cursors if each.has_more), key=lambda each: (each.last, each.number), default=None
        )
        if first is None:
            taken = [each.taken(None, inclusive=True) for each in cursors]
        else:
            bound, number = first.last, first.number
            taken = [each.taken(bound, inclusive=each.number <= number) for each in cursors]
        cursors = [each for each in cursors if not each.is_done]
        taken = [each for each in taken if each.num_rows]
        yield taken[0] if len(taken) == 1 else _in_order(pa.concat_tables(taken), keys)


# ---- keys ----


def _comparable(values: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    kind = values.type
    if isinstance(kind, pa.BaseExtensionType):
        chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
        return _comparable(pa.chunked_array([chunk.storage for chunk in chunks], kind.storage_type))
    if pa.types.is_dictionary(kind):
        chunks = values.chunks if isinstance(values, pa.ChunkedArray) else [values]
        return _comparable(pa.chunked_array([taken(each.dictionary, each.indices) for each in chunks], kind.value_type))
    if pa.types.is_run_end_encoded(kind):
        return _comparable(pc.run_end_decode(values))
    if (
        pa.types.is_timestamp(kind)
        or pa.types.is_duration(kind)
        or pa.types.is_time64(kind)
        or pa.types.is_date64(kind)
    ):
        return values.cast(pa.int64())  # Python's own times have no nanoseconds
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        return values.cast(pa.int32())
    return computable(values)


_SORTABLE: Final = (
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_fixed_size_binary,
)


def _is_sortable(kind: pa.DataType) -> bool:
    return any(belongs(kind) for belongs in _SORTABLE)


def _comparable_value(value: Any, *, descending: bool) -> tuple[int, Any]:
    if value is None:
        return 2, 0
    if isinstance(value, float) and value != value:
        return 1, 0
    return 0, _Descending(value) if descending else value


@total_ordering
@dataclass(frozen=True, slots=True)
class _Descending:
    """A value that comes before smaller values."""

    value: Any

    def __lt__(self, other: _Descending) -> bool:
        return bool(other.value < self.value)


def _pair(each: object) -> tuple[str, str]:
    if isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], str) and each[1] in _ORDERS:
        return each[0], each[1]
    expected = 'a column, or a column and "ascending" or "descending"'
    raise InvalidArgument(f"sort_by: expected {expected}, found {shown(each)}")
