"""The catalog of a dataset: one small file with what is known about its shards.

A catalog is a shard itself, with a row for each shard of the dataset: its name, size and time of change, its schema,
the end of its root file, and facts about its columns. Only the columns that a query needs are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arrow import ArrowFields
from amudai.datasets.facts import FACT, ColumnFacts, fact_of, fact_paths
from amudai.datasets.finding import FoundShard
from amudai.errors import CorruptedData, located
from amudai.plan import ScanRequest, ShardPlan
from amudai.rows import Rows
from amudai.scan import ScanRun
from amudai.shard import ShardReader
from amudai.storage import Store, file_url
from amudai.threads import in_order

if TYPE_CHECKING:
    from amudai.datasets.members import Members

__all__ = ["Catalog", "catalog_table"]

# The property that lists the columns with facts. Its presence says that a shard is a catalog.
PROPERTY: Final = "catalog.columns"
# The end of a root that is longer than this is not kept.
_MOST_TAIL: Final = 1 << 20


class Catalog:
    """A catalog that was saved, opened for reading."""

    def __init__(self, store: Store, url: str) -> None:
        self._reader = ShardReader(url, store)
        self._fields = ArrowFields(self._reader)
        self._lock = Lock()
        stored = dict(self._reader.properties.custom).get(PROPERTY)
        with located(url=url):
            if stored is None or not isinstance(stored.value, str):
                raise CorruptedData("catalog: expected a shard that save_catalog wrote, found another")
            self._columns: dict[str, int] = {path: number for number, path in enumerate(json.loads(stored.value))}
        self._facts: dict[str, ColumnFacts] = {}
        self._read: dict[str, pa.Array] = {}

    def shards_in(self, folder: str) -> tuple[FoundShard, ...]:
        """The shards that the catalog has, in their order. `folder` is the URL of the folder of the catalog."""
        is_local = folder.startswith("file://")
        return tuple(
            FoundShard(name, folder + (_escaped(name) if is_local else name), size, modified)
            for name, size, modified in self._identities
        )

    @property
    def _identities(self) -> Iterator[tuple[str, int, int | None]]:
        return zip(*(self._column(name).to_pylist() for name in ("shard", "size", "modified")), strict=True)

    def rows_of(self, shards: Sequence[FoundShard], *, listed: bool) -> npt.NDArray[np.int64]:
        """The row of each shard; -1 if the catalog does not have it, or another file of this name.

        If the shards were `listed`, those whose store does not say when they were modified are not recognised: another
        file may have the same size.
        """
        known = {identity: row for row, identity in enumerate(self._identities)}
        found = (
            -1 if listed and shard.modified is None else known.get((shard.name, shard.size or -1, shard.modified), -1)
            for shard in shards
        )
        return np.fromiter(found, np.int64, len(shards))

    def counts(self, name: str) -> npt.NDArray[np.int64]:
        """The column `rows` or `positions`."""
        return np.asarray(self._column(name).to_numpy(zero_copy_only=False))

    def schema(self, row: int) -> bytes:
        """The Arrow schema of a shard, serialized."""
        found: bytes = self._column("schema")[row].as_py()
        return found

    def tail(self, row: int) -> memoryview | None:
        """The end of the root file of a shard, if the catalog has it."""
        tail = self._table(["tail"], Rows.one(row, row + 1, self._reader.origin))["tail"][0].as_py()
        return None if tail is None else memoryview(tail)

    def facts(self, path: str, rows: npt.NDArray[np.int64]) -> ColumnFacts | None:
        """What is known about a column in some shards; None if there are no facts about it."""
        number = self._columns.get(path)
        if number is None:
            return None
        column = self._column(f"facts.{number}")
        part = column if len(rows) == len(column) and (np.diff(rows) == 1).all() else column.take(pa.array(rows))
        return ColumnFacts.of(part)

    def _column(self, path: str) -> pa.Array:
        with self._lock:
            found = self._read.get(path)
            if found is None:
                column = self._table([path], Rows.all(self._reader.origin)).column(0).combine_chunks()
                found = self._read[path] = column.field(0) if path.startswith("facts.") else column
            return found

    def _table(self, columns: Iterable[str], rows: Rows) -> pa.Table:
        plan = ShardPlan(self._reader, self._fields, ScanRequest(columns=tuple(columns)), rows)
        return ScanRun(plan, 1).table()


def _escaped(name: str) -> str:
    """A path below a folder, as part of a `file://` URL."""
    return file_url(f"/{name}").removeprefix("file:///")


def catalog_table(members: Members) -> tuple[pa.Table, dict[str, str]]:
    """The rows and the properties of the catalog of these shards."""
    numbers = range(len(members.shards))
    found = list(in_order(lambda number: _row(members, number), numbers, members.threads))
    paths = list(dict.fromkeys(path for row in found for path in row["facts"]))
    facts = pa.struct([pa.field(str(number), FACT) for number in range(len(paths))])
    for row in found:
        row["facts"] = {str(number): row["facts"].get(path) for number, path in enumerate(paths)}
    schema = pa.schema(
        [
            pa.field("shard", pa.string(), nullable=False),
            pa.field("size", pa.int64()),
            pa.field("modified", pa.int64()),
            pa.field("rows", pa.int64(), nullable=False),
            pa.field("positions", pa.int64(), nullable=False),
            pa.field("schema", pa.binary(), nullable=False),
            pa.field("tail", pa.binary()),
            pa.field("facts", facts),
        ]
    )
    return pa.Table.from_pylist(found, schema=schema), {PROPERTY: json.dumps(paths)}


def _row(members: Members, number: int) -> dict[str, Any]:
    shard, reader = members.shards[number], members.reader(number)
    tail = reader.tail()
    paths = fact_paths(reader.schema.fields())
    return {
        "shard": shard.name,
        "size": reader.root.size,
        "modified": shard.modified,
        "rows": reader.num_rows,
        "positions": reader.num_positions,
        "schema": ArrowFields(reader).schema.serialize().to_pybytes(),
        "tail": bytes(tail) if len(tail) <= _MOST_TAIL else None,
        "facts": {path: fact_of(reader, nodes) for path, nodes in paths.items()},
    }
