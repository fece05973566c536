"""The kinds of data that can be written, as record batches."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
import pyarrow as pa

from amudai.arguments import shown
from amudai.arrow.storage import MAX_DEPTH, schema_nodes
from amudai.errors import AmudaiError, InvalidArgument, InvalidSchema

__all__ = ["batches_of", "columns_of", "matching"]

# What becomes a list or a struct of Arrow.
_NESTED: Final = (list, tuple, set, frozenset, Mapping, np.ndarray)
_EXPECTED: Final = (
    "an Arrow table, batch, reader, dataset or scanner, a data frame, an iterable of batches, or a dict of columns"
)


def batches_of(
    data: Any, schema: pa.Schema | None = None, *, is_storable: bool = False
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The schema of `data` and its batches, one at a time: a reader or generator is never held as a whole.

    All batches have exactly this schema. Data with another schema raises `InvalidSchema`; only metadata may differ, and
    is replaced.

    Parameters
    ----------
    data
        A pyarrow table, batch, reader, dataset or scanner; anything that supports the Arrow PyCapsule protocol, such as
        a pandas or polars frame; an iterable of these; or a dict of columns (lists, numpy or Arrow arrays, series).
    schema
        The schema that the data must have, with columns in this order. By default it is the schema of the data; of an
        iterable, the schema of its first item.
    is_storable
        Whether it is known that a shard can have this schema.

    Examples
    --------
    >>> schema, batches = batches_of({"level": ["info", "warn"], "code": [1, None]})
    >>> schema.names, [batch.num_rows for batch in batches]
    (['level', 'code'], [2])
    """
    if schema is not None and not is_storable:
        schema_nodes(schema)  # raises InvalidSchema for names and types that no shard can have
    found, batches = _opened(data, schema)
    if schema is None:
        schema_nodes(found)
    if schema is None or schema is found:
        return found, batches
    wanted = schema
    _check_schema(found, wanted)
    return wanted, (matching(batch, wanted) for batch in batches)


def matching(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with exactly this schema. Raises `InvalidSchema` if more than metadata differs."""
    _check_schema(batch.schema, schema)
    if batch.schema.equals(schema, check_metadata=True):
        return batch
    return pa.RecordBatch.from_arrays(batch.columns, schema=schema)


def columns_of(data: Any) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The schema of new columns and their values, one batch at a time.

    As `batches_of`, but the columns of a dict may also be streams: readers, tables or batches of one column, and
    iterators of arrays or of such batches. No stream is held as a whole. All columns must have the same length.

    Examples
    --------
    >>> schema, batches = columns_of({"a": [1, 2, 3], "b": iter([pa.array(["x"]), pa.array(["y", "z"])])})
    >>> schema.names, [batch.num_rows for batch in batches]
    (['a', 'b'], [1, 2])
    """
    if not isinstance(data, Mapping):
        return batches_of(data)
    for name in data:
        if not isinstance(name, str):
            raise InvalidArgument(f"columns: expected names as keys, found {shown(name)}")
    opened = {name: _column_stream(name, values) for name, values in data.items()}
    schema = pa.schema([pa.field(name, kind) for name, (kind, _) in opened.items()])
    schema_nodes(schema)
    return schema, _side_by_side(schema, [arrays for _, arrays in opened.values()])


def _column_stream(name: str, values: Any) -> tuple[pa.DataType, Iterator[pa.Array]]:
    """The type of a column and its values, one array at a time."""
    if isinstance(values, (pa.RecordBatchReader, pa.Table, pa.RecordBatch)):
        schema, batches = _opened(values, None)
        return _only_column(name, schema).type, (batch.column(0) for batch in batches)
    if isinstance(values, Iterator):
        for first in values:
            if isinstance(first, (pa.Array, pa.ChunkedArray)):
                return first.type, _arrays(name, first.type, chain([first], values))
            schema, batches = batches_of(chain([first], values))
            return _only_column(name, schema).type, (batch.column(0) for batch in batches)
        raise InvalidArgument(f"column {name!r}: expected at least one array or batch, found an empty iterator")
    found = _column(name, values, None)
    return found.type, iter(found.chunks if isinstance(found, pa.ChunkedArray) else [found])


def _only_column(name: str, schema: pa.Schema) -> pa.Field:
    if len(schema) != 1:
        raise InvalidArgument(f"column {name!r}: expected a stream of one column, found {len(schema)} columns")
    return schema.field(0)


def _arrays(name: str, kind: pa.DataType, items: Iterable[Any]) -> Iterator[pa.Array]:
    for item in items:
        if not isinstance(item, (pa.Array, pa.ChunkedArray)) or not item.type.equals(kind):
            found = item.type if isinstance(item, (pa.Array, pa.ChunkedArray)) else type(item).__name__
            raise InvalidArgument(f"column {name!r}: expected arrays of {kind}, found {found}")
        yield from item.chunks if isinstance(item, pa.ChunkedArray) else [item]


def _side_by_side(schema: pa.Schema, streams: Sequence[Iterator[pa.Array]]) -> Iterator[pa.RecordBatch]:
    """Batches of several columns, cut where an array of one of them ends."""
    waiting = [_next(stream) for stream in streams]
    rows = 0
    while waiting and (count := min(len(array) for array in waiting)):
        yield pa.RecordBatch.from_arrays([array.slice(0, count) for array in waiting], schema=schema)
        rows += count
        waiting = [
            array.slice(count) if len(array) > count else _next(stream)
            for array, stream in zip(waiting, streams, strict=True)
        ]
    ended = [name for name, array in zip(schema.names, waiting, strict=True) if not len(array)]
    longer = [name for name, array in zip(schema.names, waiting, strict=True) if len(array)]
    if longer:
        raise InvalidArgument(f"column {ended[0]!r}: expected as many values as {longer[0]!r} has, found {rows}")


def _next(stream: Iterator[pa.Array]) -> pa.Array:
    """The next array that is not empty; an empty one at the end."""
    return next((array for array in stream if len(array)), pa.nulls(0))


def _opened(data: Any, schema: pa.Schema | None) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    if isinstance(data, pa.RecordBatchReader):
        return data.schema, iter(data)
    if isinstance(data, pa.Table):
        return data.schema, iter(data.to_batches())
    if isinstance(data, pa.RecordBatch):
        return data.schema, iter([data])
    # A caller who has a dataset has imported its module; nobody else needs the import.
    dataset = sys.modules.get("pyarrow.dataset")
    if dataset is not None and isinstance(data, dataset.Dataset):
        return data.schema, data.to_batches()
    if dataset is not None and isinstance(data, dataset.Scanner):
        return data.projected_schema, data.to_batches()
    if isinstance(data, Mapping):
        table = _columns(data, schema)
        return table.schema, iter(table.to_batches())
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return _capsule(data)
    lineage = [(kind.__module__.partition(".")[0], kind.__name__) for kind in type(data).__mro__]
    if ("pandas", "DataFrame") in lineage:
        table = pa.Table.from_pandas(data)
        return table.schema, iter(table.to_batches())
    if isinstance(data, (str, bytes, bytearray, memoryview, os.PathLike)):
        raise InvalidArgument(f"data: expected {_EXPECTED}, found {type(data).__name__}: read a file first")
    if isinstance(data, Iterable):
        return _series(data, schema)
    raise InvalidArgument(f"data: expected {_EXPECTED}, found {type(data).__name__}")


def _capsule(data: Any) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    try:
        if hasattr(data, "__arrow_c_stream__"):
            # A shard or scan of ours: what goes wrong in a C stream comes out as an error of Arrow.
            is_ours = type(data).__module__.startswith("amudai.") and hasattr(data, "to_reader")
            reader = data.to_reader() if is_ours else pa.RecordBatchReader.from_stream(data)
            return reader.schema, iter(reader)
        batch = pa.record_batch(data)
    except pa.ArrowInvalid as error:
        found = f"{type(data).__name__}: {error}"
        raise InvalidArgument(f"data: expected {_EXPECTED}, found {found}") from error
    return batch.schema, iter([batch])


def _columns(data: Mapping[Any, Any], schema: pa.Schema | None) -> pa.Table:
    """A dict as a table, with the column types of `schema` if there is one."""
    for name in data:
        if not isinstance(name, str):
            raise InvalidArgument(f"data: expected names as keys, found {shown(name)}")
    if schema is not None and set(schema.names) != set(data):
        odd = sorted(set(schema.names) ^ set(data))[0]
        missing = odd in schema.names
        raise InvalidSchema(f"column {odd!r}: {'expected it, found none' if missing else 'expected none, found it'}")
    fields = dict.fromkeys(data) if schema is None else {field.name: field for field in schema}
    arrays = {name: _column(name, data[name], field) for name, field in fields.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    first = next(iter(lengths.values()), 0)
    for name, length in lengths.items():
        if length != first:
            raise InvalidArgument(f"column {name!r}: expected {first} values as in the first column, found {length}")
    return pa.table(arrays, schema=schema)


def _column(name: str, values: Any, field: pa.Field | None) -> pa.Array | pa.ChunkedArray:
    kind = None if field is None else field.type
    try:
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            found = values
        elif hasattr(values, "__arrow_c_stream__"):
            found = pa.chunked_array(values)
        elif isinstance(values, (str, bytes)):
            raise InvalidArgument(f"column {name!r}: expected a list or array, found {type(values).__name__}")
        else:
            return pa.array(_shallow(name, values)) if kind is None else _converted(values, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, AmudaiError):
            raise
        raise InvalidArgument(f"column {name!r}: expected values of one Arrow type, found {error}") from error
    if kind is not None and not found.type.equals(kind):
        raise InvalidSchema(f"column {name!r}: expected {kind}, found {found.type}")
    return found


def _shallow(name: str, values: Any) -> Any:
    """The values, as a sequence. Raises InvalidSchema if lists are nested more deeply than any shard may have.

    pyarrow finds the type of nested lists by recursion, and deep ones exhaust the stack of the process.
    """
    if not isinstance(values, Sequence):
        if np.dtype(object) != getattr(values, "dtype", np.dtype(object)):
            return values  # numbers or times of numpy or pandas
        values = list(values)
    nested: list[Any] = [values]
    for _ in range(MAX_DEPTH):
        kinds = set(map(type, _items(nested)))
        if not any(issubclass(kind, _NESTED) for kind in kinds):
            return values
        # By identity: a list may contain itself, even twice.
        nested = list({id(item): item for item in _items(nested) if isinstance(item, _NESTED)}.values())
    raise InvalidSchema(f"column {name!r}: expected at most {MAX_DEPTH} levels, found more")


def _items(nested: Iterable[Any]) -> Iterator[Any]:
    """The items of lists, and the values of dicts."""
    return chain.from_iterable(each if type(each) is list else _inside(each) for each in nested)


def _inside(each: Any) -> Iterable[Any]:
    if isinstance(each, np.ndarray):
        return each.flat if each.dtype == object else ()
    return each.values() if isinstance(each, Mapping) else each


def _converted(values: Any, kind: pa.DataType) -> pa.Array:
    found = pa.array(values, kind)
    if any(map(pa.types.is_integer, _leaves(kind))):
        # pyarrow silently truncates Python floats to integers; its cast does not.
        try:
            natural = pa.array(values)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            return found
        if any(map(pa.types.is_floating, _leaves(natural.type))):
            natural.cast(kind)
    return found


def _leaves(kind: pa.DataType) -> Iterator[pa.DataType]:
    if not kind.num_fields:
        yield kind
    for index in range(kind.num_fields):
        yield from _leaves(kind.field(index).type)


def _series(items: Iterable[Any], schema: pa.Schema | None) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """The batches of an iterable whose items all have `schema`, or else the schema of the first item."""
    rest = iter(items)
    if schema is not None:
        return schema, _each(rest, schema)
    for first in rest:
        found, batches = _item(first)
        return found, _chained(batches, rest, found)
    raise InvalidArgument("data: expected at least one batch, or schema=; found an empty iterable")


def _chained(batches: Iterator[pa.RecordBatch], rest: Iterator[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    yield from batches
    yield from _each(rest, schema)


def _each(items: Iterator[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    for item in items:
        found, batches = _item(item)
        _check_schema(found, schema)  # even if it has no batch
        for batch in batches:
            yield matching(batch, schema)


def _item(item: Any) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    tabular = isinstance(item, (pa.Table, pa.RecordBatch)) or hasattr(item, "__arrow_c_stream__")
    if not tabular and not hasattr(item, "__arrow_c_array__"):
        raise InvalidArgument(f"data: expected batches or tables in the iterable, found {type(item).__name__}")
    return _opened(item, None)


def _check_schema(found: pa.Schema, wanted: pa.Schema) -> None:
    """Raise InvalidSchema, which names the first column, if columns differ in more than metadata."""
    if found.equals(wanted):
        return
    for place, field in enumerate(wanted):
        if place >= len(found):
            raise InvalidSchema(f"column {field.name!r}: expected {field.type}, found no such column")
        other = found.field(place)
        if other.name != field.name:
            raise InvalidSchema(f"column {place}: expected {field.name!r}, found {other.name!r}")
        if not other.equals(field):
            raise InvalidSchema(f"column {field.name!r}: expected {_described(field)}, found {_described(other)}")
    raise InvalidSchema(f"column {found.field(len(wanted)).name!r}: expected no such column, found it")


def _described(field: pa.Field) -> str:
    return f"{field.type}{'' if field.nullable else ' not null'}"
