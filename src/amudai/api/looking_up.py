"""Many values at once: where each of them is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.api.key_values import comparable
from amudai.api.members import member_values
from amudai.arguments import shown
from amudai.arrow import ArrowFields, to_storage
from amudai.errors import InvalidArgument, located
from amudai.plan import OnDamage, ScanRequest, ShardPlan, rows_with_keys, select_nodes
from amudai.rows import Rows
from amudai.scan import ScanRun
from amudai.shard import ShardReader
from amudai.types import BYTES, WIDTHS, BasicType, NodePath

__all__ = ["positions_of"]

_ROWS: Final = 1 << 20  # that are read at once


def positions_of(
    reader: ShardReader,
    fields: ArrowFields,
    column: str,
    keys: Sequence[Any] | pa.Array | pa.ChunkedArray,
    threads: int,
    on_damage: OnDamage,
) -> pa.LargeListArray:
    """The positions of each key, as `Shard.lookup` returns them."""
    nodes = fields.find(column)
    _require_single(nodes, column)
    chosen = select_nodes(fields, nodes)
    kind = _value_type(member_values(pa.nulls(0, chosen.field.type), nodes).type)
    given = _keys(keys, kind, column)
    wanted, number = _distinct(given)
    owners, rows = [np.empty(0, np.int64)], [np.empty(0, np.uint64)]
    if len(wanted):
        with located(url=reader.url):
            stored = to_storage(_with_both_zeros(wanted), nodes[-1], column, rounded=True)
            found = rows_with_keys(reader, nodes, stored, on_damage)
        reader.require_work(found.count)
        for part in found.each_part(_ROWS) if found else ():
            values = _read(reader, fields, nodes, part, threads)
            at = np.concatenate([_places(member_values(array, nodes), wanted) for array in values.chunks])
            hit = at >= 0
            owners.append(at[hit])
            rows.append(part.positions()[hit])
    return _lists(np.concatenate(owners), np.concatenate(rows), len(wanted), number)


def _require_single(nodes: NodePath, column: str) -> None:
    kind = nodes[-1].basic_type
    through = all(node.basic_type is BasicType.STRUCT for node in nodes[:-1])
    if not through or not (kind in WIDTHS or kind in BYTES or kind is BasicType.BOOLEAN):
        raise InvalidArgument(f"column {column!r}: expected one value for each row, found {nodes[-1]}")


def _value_type(kind: pa.DataType) -> pa.DataType:
    while isinstance(kind, pa.BaseExtensionType) or pa.types.is_dictionary(kind):
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind.storage_type
    return kind


def _keys(keys: Sequence[Any] | pa.Array | pa.ChunkedArray, kind: pa.DataType, column: str) -> pa.Array:
    if isinstance(keys, str | bytes):
        raise InvalidArgument(f"keys: expected a list of values of {column!r}, found {shown(keys)}")
    try:
        found = keys.combine_chunks() if isinstance(keys, pa.ChunkedArray) else keys
        while isinstance(found, pa.ExtensionArray):
            found = found.storage
        return found.cast(kind) if isinstance(found, pa.Array) else pa.array(found, kind)
    except (pa.ArrowNotImplementedError, OverflowError, ValueError, TypeError) as error:
        raise InvalidArgument(
            f"keys: expected values of {kind}, as the column {column!r} has, found {error}"
        ) from error


def _distinct(keys: pa.Array) -> tuple[pa.Array, npt.NDArray[np.int64]]:
    """The distinct keys that can be equal to a value, and the number of each key among them; -1 for null and NaN."""
    import pyarrow.compute as pc  # takes long to import, and few need it

    plain = comparable(keys)
    if pa.types.is_floating(plain.type):
        plain = pc.if_else(pc.is_nan(plain), pa.scalar(None, plain.type), plain)
    coded = plain.dictionary_encode()
    number = np.asarray(coded.indices.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)
    wanted = coded.dictionary
    return (wanted.cast(keys.type) if wanted.type != keys.type else wanted), number


def _with_both_zeros(wanted: pa.Array) -> pa.Array:
    """The values, and -0.0 with them if the type is hashed by its bits: it equals 0.0, which may be wanted."""
    return pa.concat_arrays([wanted, pa.array([np.float16(-0.0)])]) if pa.types.is_float16(wanted.type) else wanted


def _places(values: pa.Array, wanted: pa.Array) -> npt.NDArray[np.int64]:
    """The number of each value among the wanted ones; -1 if it is none of them."""
    import pyarrow.compute as pc  # takes long to import, and few need it

    found = pc.index_in(comparable(values), value_set=comparable(wanted))
    return np.asarray(found.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)


def _read(reader: ShardReader, fields: ArrowFields, nodes: NodePath, rows: Rows, threads: int) -> pa.ChunkedArray:
    column = select_nodes(fields, nodes)
    request = ScanRequest(include_deleted=True)  # deleted rows are left out already
    plan = ShardPlan(reader, fields, request, rows, lambda: ((column,), pa.schema([column.field])))
    return ScanRun(plan, threads).table().column(0)


def _lists(
    owners: npt.NDArray[np.int64], rows: npt.NDArray[np.uint64], count: int, number: npt.NDArray[np.int64]
) -> pa.LargeListArray:
    """For each key the rows of its value. `owners` has the value of each row, `number` that of each key."""
    order = np.argsort(owners, kind="stable")
    rows, sizes = rows[order], np.bincount(owners, minlength=count)
    starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
    lengths = np.where(number < 0, 0, np.append(sizes, 0)[number])
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    # Position i of the result is position i of its list, counted from where the list begins among the rows.
    first = np.append(starts[:-1], 0)[number]
    places = np.arange(offsets[-1]) + np.repeat(first - offsets[:-1], lengths)
    return pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(rows[places]))
