"""The catalog of a dataset: one small file with what is known about its shards.

A catalog is a shard itself, with a row for each shard of the dataset: its name, size and time of change, its schema,
the end of its root file, and facts about its columns. Only the columns that a query needs are read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arrow import ArrowFields
from amudai.datasets.catalog_checks import check_names, check_type, counts_of, known_paths, known_words
from amudai.datasets.facts import FACT, ColumnFacts, fact_of, fact_paths
from amudai.datasets.finding import FoundShard
from amudai.datasets.words import WordColumn, filters_of, slice_of, slices_for, words_of
from amudai.errors import CorruptedData, MissingColumn, located
from amudai.lazy import lazy
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
# The property that lists the columns whose words are known.
WORDS_PROPERTY: Final = "catalog.words"
# The end of a root that is longer than this is not kept.
_MOST_TAIL: Final = 1 << 20
# So many shards say how many words a shard has.
_SAMPLED: Final = 16
# The times that the column `modified` can hold. A shard with another is not recognised, and read.
_TIMES: Final = range(-(2**63), 2**63)


class Catalog:
    """A catalog that was saved, opened for reading."""

    def __init__(self, store: Store, url: str) -> None:
        self._reader = ShardReader(url, store)
        self._fields = ArrowFields(self._reader)
        self._lock = Lock()
        with located(url=url):
            properties = dict(self._reader.properties.custom)
            if PROPERTY not in properties:
                raise CorruptedData("catalog: expected a shard that save_catalog wrote, found another")
            self._columns = known_paths(properties[PROPERTY].value)
            # Catalogs that were saved by earlier versions know no words.
            self._words = known_words(properties[WORDS_PROPERTY].value) if WORDS_PROPERTY in properties else {}
        self._read: dict[str, pa.Array] = {}

    def shards_in(self, folder: str) -> tuple[FoundShard, ...]:
        """The shards that the catalog has, in their order. `folder` is the URL of the folder of the catalog."""
        is_local = folder.startswith("file://")
        return tuple(
            FoundShard(name, folder + (_escaped(name) if is_local else name), size, modified)
            for name, size, modified in self._identities
        )

    @lazy
    def _identities(self) -> list[tuple[str, int, int | None]]:
        columns = [self._column(name).to_pylist() for name in ("shard", "size", "modified")]
        with located(url=self._reader.url):
            check_names(columns[0])
        return list(zip(*columns, strict=True))

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
        with located(url=self._reader.url):
            return counts_of(self._column("rows"), self._column("positions"))[name]

    def schema(self, row: int) -> bytes:
        """The Arrow schema of a shard, serialized."""
        found: bytes | None = self._column("schema")[row].as_py()
        if found is None:
            raise CorruptedData("catalog: expected the schema of each shard, found none", url=self._reader.url)
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
        return ColumnFacts.of(column if _are_all(rows, column) else column.take(pa.array(rows)))

    def word_filters(self, column: WordColumn, value_hash: int, rows: npt.NDArray[np.int64]) -> pa.Array | None:
        """For some shards, the filters that may have the hash of a word; None if the words are not known.

        A shard whose words are not known has null.
        """
        known = self._words.get(column)
        if known is None:
            return None
        number, slices = known
        filters = self._column(_words_name(number, slice_of(value_hash, slices)))
        return filters if _are_all(rows, filters) else filters.take(pa.array(rows))

    def _column(self, path: str) -> pa.Array:
        with self._lock:
            found = self._read.get(path)
            if found is None:
                with located(url=self._reader.url):
                    try:
                        column = self._table([path], Rows.all(self._reader.origin)).column(0).combine_chunks()
                    except MissingColumn as error:
                        raise CorruptedData(f"catalog: expected a column {path!r}, found none") from error
                    # With the nulls of the struct: where all facts are null, each of them is.
                    found = column.flatten()[0] if path.startswith("facts.") and _is_struct(column) else column
                    check_type(path, found.type)
                    self._read[path] = found
            return found

    def _table(self, columns: Iterable[str], rows: Rows) -> pa.Table:
        plan = ShardPlan(self._reader, self._fields, ScanRequest(columns=tuple(columns)), rows)
        return ScanRun(plan, 1).table()


def _is_struct(column: pa.Array) -> bool:
    return bool(pa.types.is_struct(column.type))


def _escaped(name: str) -> str:
    """A path below a folder, as part of a `file://` URL."""
    return file_url(f"/{name}").removeprefix("file:///")


def _are_all(rows: npt.NDArray[np.int64], column: pa.Array) -> bool:
    """Whether these are all rows of a column, in order."""
    return len(rows) == len(column) and bool((np.diff(rows) == 1).all())


def _words_name(number: int, part: int) -> str:
    """The column of the catalog with one slice of the filters of a column of the dataset."""
    return f"words_{number}_{part}"


def catalog_table(members: Members, word_bytes: int) -> tuple[pa.Table, dict[str, str]]:
    """The rows and the properties of the catalog of these shards.

    The filter of the words of a column of a shard has at most `word_bytes` bytes.
    """
    slices = _slices(members, word_bytes)
    numbers = range(len(members.shards))
    found = list(in_order(lambda number: _row(members, number, slices, word_bytes), numbers, members.threads))
    paths = list(dict.fromkeys(path for row in found for path in row["facts"]))
    known = list(dict.fromkeys(column for row in found for column in row["words"]))
    facts = pa.struct([pa.field(str(number), FACT) for number in range(len(paths))])
    filters = []
    for row in found:
        row["facts"] = {str(number): row["facts"].get(path) for number, path in enumerate(paths)}
        filters.append(row.pop("words"))
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
    table = pa.Table.from_pylist(found, schema=schema)
    nothing = [None] * slices
    for number, column in enumerate(known):
        of_shards = [row.get(column, nothing) for row in filters]
        for part in range(slices):
            values = pa.array([each[part] for each in of_shards], pa.binary())
            table = table.append_column(_words_name(number, part), values)
    words = [{"path": column.path, "whole": column.whole, "slices": slices} for column in known]
    return table, {PROPERTY: json.dumps(paths), WORDS_PROPERTY: json.dumps(words)}


def _slices(members: Members, word_bytes: int) -> int:
    """Into how many slices the filters are cut, by the numbers of words of some of the shards."""
    step = max(1, len(members.shards) // _SAMPLED)
    counts = [0]
    for number in range(0, len(members.shards), step):
        reader = members.reader(number)
        counts += map(len, words_of(reader, fact_paths(reader.schema.fields()), word_bytes).values())
    return slices_for(max(counts))


def _row(members: Members, number: int, slices: int, word_bytes: int) -> dict[str, Any]:
    shard, reader = members.shards[number], members.reader(number)
    tail = reader.tail()
    paths = fact_paths(reader.schema.fields())
    words = words_of(reader, paths, word_bytes)
    filters = {column: filters_of(hashes, slices, word_bytes) for column, hashes in words.items()}
    return {
        "shard": shard.name,
        "size": reader.root.size,
        "modified": shard.modified if shard.modified in _TIMES else None,
        "rows": reader.num_rows,
        "positions": reader.num_positions,
        "schema": ArrowFields(reader).schema.serialize().to_pybytes(),
        "tail": bytes(tail) if len(tail) <= _MOST_TAIL else None,
        "facts": {path: fact_of(reader, nodes) for path, nodes in paths.items()},
        "words": {column: found for column, found in filters.items() if found is not None},
    }
