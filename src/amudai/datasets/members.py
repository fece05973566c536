"""All shards of a dataset, as one table: their names, schemas and facts, and how to open them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Final
from weakref import WeakSet

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arrow import ArrowFields, united_arrow_schema
from amudai.datasets.catalog import Catalog
from amudai.datasets.facts import ColumnFacts
from amudai.datasets.finding import Found, FoundShard
from amudai.datasets.schema_fields import SchemaFields
from amudai.datasets.words import WordFilters
from amudai.errors import CorruptedData, InvalidSchema, ReplacedFile
from amudai.lazy import lazy
from amudai.limits import DEFAULT_LIMITS, Limits
from amudai.shard import ShardReader
from amudai.sources import folder_columns
from amudai.storage import Allowed, Store, open_store
from amudai.threads import in_order
from amudai.types import quote_name

__all__ = ["SHARD_COLUMN", "MemberOptions", "Members", "columns_of_member"]

# A column of every dataset that is returned only if it is named: the name of the shard that a row is in.
SHARD_COLUMN: Final = "@shard"
# Shards stay open for the next scan. They share the descriptors of their store, so that memory alone limits them. A
# shard takes about this much for objects of Python, and may hold as much as its root file has.
_READER_BYTES: Final = 16 * 1024
# Shards that fit into these bytes stay open, and this number of them in any case.
_OPEN_BYTES: Final = 128 * 1024 * 1024
_LEAST_OPEN: Final = 128


@dataclass(frozen=True, slots=True)
class MemberOptions:
    """How the shards of a dataset are opened. The attributes are parameters of `ShardReader`."""

    verify: bool = True
    allow: Allowed = field(default_factory=lambda: Allowed.of(()))
    limits: Limits = DEFAULT_LIMITS


class Members:
    """The shards of a dataset, counted from 0 in the order of the dataset.

    The list of shards never changes. A shard that disappears is an error when it is read.

    Parameters
    ----------
    catalog
        What is known about some of the shards without opening them.
    listed
        Whether the files were listed, so that the catalog is known to be about these very files. Otherwise the end of a
        root file is read again before values are read, because the values might be those of another file by now.
    """

    def __init__(
        self, found: Found, places: MemberOptions, threads: int, catalog: Catalog | None = None, *, listed: bool = True
    ) -> None:
        self.found = found
        self.store: Store = found.store
        self.places = places
        self.threads = threads
        self.shards: tuple[FoundShard, ...] = found.shards
        self._catalog = catalog
        self._listed = listed
        # The row of each shard in the catalog; -1 if the catalog does not have it.
        self._rows = (
            np.full(len(self.shards), -1, np.int64) if catalog is None else catalog.rows_of(self.shards, listed=listed)
        )
        self._open: OrderedDict[int, ShardReader] = OrderedDict()  # the one that was used last is the last
        self._open_bytes = 0
        self._lock = Lock()
        # Open shards that have the columns which the dataset takes them to have.
        self._expected: WeakSet[ShardReader] = WeakSet()

    def __len__(self) -> int:
        return len(self.shards)

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """A mask of the shards that the catalog has."""
        return self._rows >= 0

    def index(self, name: str) -> int | None:
        """The number of the shard with this name; None if there is none."""
        return self._by_name.get(name) if isinstance(name, str) else None

    @lazy
    def _by_name(self) -> dict[str, int]:
        return {shard.name: index for index, shard in enumerate(self.shards)}

    def reader(self, index: int) -> ShardReader:
        """A shard, opened. It stays open for the next scan, as far as there is room.

        A remote file needs no request but for its description if the catalog has the end of the file. A local file is
        opened faster than it is found in the catalog.
        """
        with self._lock:
            found = self._open.get(index)
            if found is not None:
                self._open.move_to_end(index)
                return found
        shard = self.shards[index]
        # A name without a scheme is a file of the store that the user gave.
        is_own = "://" not in shard.url or self.store.serves(shard.url)
        store = self.store if is_own else open_store(shard.url)[0]
        tail = None
        is_local = store.capabilities.local_path
        if self._catalog is not None and self._listed and self._rows[index] >= 0 and not is_local:
            now = store.describe(shard.url)
            # The end of an older file would lead to values of the newer one that has its place.
            if (now.size, now.modified) == (shard.size, shard.modified):
                kept = self._catalog.tail(int(self._rows[index]))
                tail = None if kept is None else (now, kept)
        found = ShardReader(
            shard.url, store, verify=self.places.verify, allow=self.places.allow, limits=self.places.limits, tail=tail
        )
        self._keep(index, found)
        return found

    def expected_reader(self, index: int) -> ShardReader:
        """A shard, opened, with the columns that the dataset takes it to have, by its catalog or since it was open.

        `ReplacedFile` is raised if it was overwritten by a shard with others: predicates are bound to the former ones.
        """
        found = self.reader(index)
        if found not in self._expected:
            if not self._is_as_listed(index):
                schemas, which = self._schemas
                if not ArrowFields(found).schema.equals(schemas[which[index]], check_metadata=True):
                    message = "shard: expected the columns that it had, found others: it was overwritten"
                    raise ReplacedFile(f"{message}; refresh() gives a dataset with its new columns", url=found.url)
            self._expected.add(found)
        return found

    def _is_as_listed(self, index: int) -> bool:
        """Whether a file that the catalog knows is the one that was listed. Only local files are asked: it is cheap."""
        shard = self.shards[index]
        if self._rows[index] < 0 or not self._listed or not self.store.capabilities.local_path:
            return False
        now = self.store.describe(shard.url)
        return (now.size, now.modified) == (shard.size, shard.modified)

    def _keep(self, index: int, reader: ShardReader) -> None:
        """Keep a shard open, and no more those that were not used for longest if there is no room for all."""
        with self._lock:
            other = self._open.pop(index, None)  # another thread may have opened it, too
            self._open_bytes += _bytes_of(reader) - (0 if other is None else _bytes_of(other))
            self._open[index] = reader
            while self._open_bytes > _OPEN_BYTES and len(self._open) > _LEAST_OPEN:
                self._open_bytes -= _bytes_of(self._open.popitem(last=False)[1])

    def close(self) -> None:
        """Close all files."""
        with self._lock:
            self._open.clear()
            self._open_bytes = 0
        self.store.close()

    # ---- columns ----

    @lazy
    def _schemas(self) -> tuple[list[pa.Schema], npt.NDArray[np.intp]]:
        """The different schemas of the shards, and which of them each shard has."""
        different: dict[bytes, int] = {}
        which = np.zeros(len(self.shards), np.intp)
        schemas: list[pa.Schema] = []

        def note(index: int, payload: bytes) -> None:
            at = different.setdefault(payload, len(different))
            if at == len(schemas):
                schemas.append(_arrow_schema(payload, self.shards[index].url))
            which[index] = at

        for index in np.flatnonzero(self.known).tolist():
            assert self._catalog is not None
            note(index, self._catalog.schema(int(self._rows[index])))
        others = np.flatnonzero(~self.known).tolist()
        for index, payload in zip(others, in_order(self._stored_schema, others, self.threads), strict=True):
            note(index, payload)
        return schemas, which

    def _stored_schema(self, index: int) -> bytes:
        reader = self.reader(index)
        found: bytes = ArrowFields(reader).schema.serialize().to_pybytes()
        self._expected.add(reader)
        return found

    def schema_number(self, index: int) -> int:
        """Which of the different schemas a shard has."""
        return int(self._schemas[1][index])

    def own_fields(self, number: int) -> SchemaFields:
        """The columns of the shards that have this one of the different schemas."""
        return self._own_fields[number]

    @lazy
    def _own_fields(self) -> list[SchemaFields]:
        return [SchemaFields(schema) for schema in self._schemas[0]]

    @lazy
    def stored_schema(self) -> pa.Schema:
        """The columns that any shard has, in the order in which the shards have them."""
        schemas, which = self._schemas
        first = {number: self.shards[int(np.argmax(which == number))].url for number in range(len(schemas))}
        columns = dict.fromkeys(name for schema in schemas for name in schema.names)
        if not schemas:
            return pa.schema([])
        named = [(first[number], schema) for number, schema in enumerate(schemas)]
        return united_arrow_schema(list(columns), named, widen=True)

    @lazy
    def _folders(self) -> tuple[dict[str, pa.DataType], dict[str, dict[str, pa.Scalar]]]:
        known = {each.name: each.type for each in self.stored_schema}
        return folder_columns([shard.name for shard in self.shards], known)

    @lazy
    def schema(self) -> pa.Schema:
        """All columns: those that are stored, and then those that the names of folders give."""
        stored = self.stored_schema
        more = [pa.field(name, kind) for name, kind in self._folders[0].items() if name not in stored.names]
        if SHARD_COLUMN in stored.names:
            raise InvalidSchema(f"column {SHARD_COLUMN!r}: expected another name in the shards of a dataset")
        return pa.schema([*stored, *more], metadata=stored.metadata)

    @lazy
    def fields(self) -> SchemaFields:
        """All columns, and the column that names the shard."""
        return SchemaFields(self.schema, pa.schema([pa.field(SHARD_COLUMN, pa.string())]))

    def constants(self, index: int) -> dict[str, pa.Scalar]:
        """The columns that have one value in all rows of a shard: those that it does not store itself."""
        shard, own = self.shards[index], self._schemas[0][self.schema_number(index)].names
        given = self._folders[1].get(shard.name, {})
        found = {name: value for name, value in given.items() if name not in own}
        return {**found, SHARD_COLUMN: pa.scalar(shard.name, pa.string())}

    # ---- facts ----

    def facts(self, indexes: npt.NDArray[np.intp]) -> Callable[[str], ColumnFacts | None]:
        """Finds what the catalog knows about a column in these shards, all of which it has."""
        catalog, rows = self._catalog, self._rows[indexes]
        return lambda path: None if catalog is None else catalog.facts(path, rows)

    def word_filters(self, indexes: npt.NDArray[np.intp]) -> WordFilters:
        """Finds the filters that may have a word, in these shards, all of which the catalog has."""
        catalog, rows = self._catalog, self._rows[indexes]
        return lambda column, value_hash: None if catalog is None else catalog.word_filters(column, value_hash, rows)

    @lazy
    def positions(self) -> npt.NDArray[np.int64]:
        """How many positions each shard has."""
        return self._counts("positions", lambda reader: reader.num_positions)

    @lazy
    def rows(self) -> npt.NDArray[np.int64]:
        """How many rows each shard has that are not deleted."""
        return self._counts("rows", lambda reader: reader.num_rows)

    def _counts(self, name: str, count: Callable[[ShardReader], int]) -> npt.NDArray[np.int64]:
        found = np.zeros(len(self.shards), np.int64)
        if self._catalog is not None:
            found[self.known] = self._catalog.counts(name)[self._rows[self.known]]
        others = np.flatnonzero(~self.known).tolist()
        counted = in_order(lambda index: count(self.reader(index)), others, self.threads)
        for index, number in zip(others, counted, strict=True):
            found[index] = number
        return found

    @lazy
    def starts(self) -> npt.NDArray[np.int64]:
        """The number of positions before each shard, and of all positions."""
        return np.concatenate(([0], np.cumsum(self.positions)))


def _arrow_schema(payload: bytes, url: str) -> pa.Schema:
    """A schema that a catalog may have kept."""
    try:
        return pa.ipc.read_schema(pa.py_buffer(payload))
    except (pa.ArrowException, OSError) as error:
        raise CorruptedData(
            f"catalog: expected the Arrow schema of a shard, found other bytes; {error}", url=url
        ) from error


def _bytes_of(reader: ShardReader) -> int:
    """How much memory an open shard may take, about."""
    return _READER_BYTES + reader.root.size


def columns_of_member(
    columns: Sequence[str] | None, fields: SchemaFields, own: SchemaFields, constants: Mapping[str, pa.Scalar]
) -> tuple[str, ...]:
    """The paths to ask a shard for, so that `columns` of the dataset can be made of what it gives.

    A column that has another type in the shard is asked for as a whole.
    """
    wanted = [fields.find(name) for name in columns] if columns is not None else [(node,) for node in fields.visible()]
    asked = columns if columns is not None else fields.schema.names
    found: dict[str, None] = {}
    for name, nodes in zip(asked, wanted, strict=True):
        top = nodes[0].name
        if top in constants or own.schema.get_field_index(top) < 0:
            continue
        is_same = own.schema.field(top).type.equals(fields.field(nodes[0]).type)
        found[name if is_same and columns is not None else quote_name(top)] = None
    return tuple(found)
