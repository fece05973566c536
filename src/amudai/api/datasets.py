"""Many shards as one table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import partial
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.api.sampling import sample_of
from amudai.api.scan import Scan
from amudai.api.shard import Shard
from amudai.api.tabular import Tabular
from amudai.api.where import Where, request_of
from amudai.arguments import is_one_of, names, path_text, shown, whole_number
from amudai.arrow import concatenated, reordered, without_rows
from amudai.datasets import (
    CATALOG_NAME,
    MOST_WORD_BYTES,
    Catalog,
    DatasetRun,
    Found,
    FoundShard,
    Locations,
    MemberOptions,
    Members,
    catalog_table,
    columns_of_member,
    find_shards,
)
from amudai.errors import InvalidArgument, MissingFile, located
from amudai.limits import DEFAULT_LIMITS, Limits
from amudai.plan import ScanRequest
from amudai.rows import Origin, row_range
from amudai.scan import ResultColumns
from amudai.storage import Allow, Allowed, PortableAllowed, PortableStore, Requests, open_store, portable_store
from amudai.threads import thread_count

__all__ = ["Dataset", "dataset"]

CatalogUse = Literal["check", "trust", "ignore"]


def dataset(
    locations: Locations,
    *,
    store: object | None = None,
    catalog: CatalogUse = "check",
    verify: bool = True,
    threads: int | None = None,
    allow: Allow | Allowed = (),
    limits: Limits = DEFAULT_LIMITS,
) -> Dataset:
    """Open many shards as one table.

    Nothing but the list of files is read. The columns of the dataset are those of all shards, united by name: a shard
    that lacks a column has nulls there, and numbers become the wider type. Folders like `day=2024-05-01` give their
    shards a column `day`, unless a shard stores a column of that name itself.

    The dataset is a snapshot of the list of shards: a shard that is added later is seen by `refresh`, and a shard that
    is removed meanwhile is an error when it has to be read.

    Parameters
    ----------
    locations
        A folder, or the URL of a prefix such as `s3://bucket/logs/`: all files below it whose names end in
        `.amudai.shard` are shards of the dataset, in the order of their names. Files and folders whose names begin with
        `_` or `.` are left out. Or a list of shards and folders, in the order of the list.
    store
        Where the shards live if not in local files, as for `amudai.open`.
    catalog
        How to use a catalog that `save_catalog` wrote into the folder. `"check"` lists the folder and uses what the
        catalog says about files that have the same size and time of change as then; other shards are opened.
        `"trust"` lists nothing: the shards are those of the catalog, and the caller knows that none has changed.
        `"ignore"` does not read the catalog.
    verify, threads, allow, limits
        As for `amudai.open`.

    Examples
    --------
    >>> lake = amudai.write_dataset({"day": [1, 1, 2], "n": [10, 20, 30]}, "lake", partition_by=["day"], append=True)
    >>> lake = amudai.dataset("lake")
    >>> lake.schema.names
    ['n', 'day']
    >>> lake.read(where="day = 1 and n > 10").to_pydict()
    {'n': [20], 'day': [1]}
    """
    if not isinstance(limits, Limits):
        raise InvalidArgument(f"limits: expected amudai.Limits, found {shown(limits)}")
    if not is_one_of(catalog, ("check", "trust", "ignore")):
        raise InvalidArgument(f"catalog: expected check, trust or ignore, found {shown(catalog)}")
    places = MemberOptions(verify=verify, allow=Allowed.of(allow), limits=limits)
    if catalog == "trust":
        return Dataset(*_trusted(locations, store), places, threads, listed=False)
    found = find_shards(locations, store)
    saved = None if catalog == "ignore" or found.catalog is None else Catalog(found.store, found.catalog)
    return Dataset(found, saved, places, threads)


def _trusted(locations: Locations, store: object | None) -> tuple[Found, Catalog]:
    if not isinstance(locations, str | os.PathLike):
        raise InvalidArgument(f"locations: expected a folder with a catalog, found {shown(locations)}")
    opened, url = open_store(f"{path_text(locations, 'locations').rstrip('/')}/{CATALOG_NAME}", store)
    folder = url.removesuffix(CATALOG_NAME)
    saved = Catalog(opened, url)
    return Found(opened, folder, saved.shards_in(folder), url), saved


class Dataset(Tabular):
    """Many shards as one table. Made by `amudai.dataset`.

    It has the methods of a shard. Positions are pairs of the name of a shard and a position in it, so they do not
    change when shards come and go. Rows are in the order of the shards. The column `@shard`, which is returned only if
    it is named, has the name of the shard that a row is in.

    Examples
    --------
    >>> lake = amudai.dataset(["tests/fixtures/sample.amudai.shard"])
    >>> lake.num_rows, lake.count("status = 503")
    (400, 4)
    >>> lake.scan(["status"], where="status = 503", limit=2).positions().column("position").to_pylist()
    [50, 147]
    """

    def __init__(
        self, found: Found, catalog: Catalog | None, places: MemberOptions, threads: int | None, *, listed: bool = True
    ) -> None:
        self._found = found
        self._catalog = catalog
        self._places = places
        self._threads = thread_count(threads)
        self._members = Members(found, places, self._threads, catalog, listed=listed)

    @property
    def folder(self) -> str | None:
        """The URL of the folder; None if the dataset is a list of shards."""
        return self._found.folder

    @property
    def shards(self) -> tuple[str, ...]:
        """The names of the shards, in the order of their rows: paths below the folder, or URLs.

        >>> [name.rpartition("/")[2] for name in amudai.dataset(["tests/fixtures/sample.amudai.shard"]).shards]
        ['sample.amudai.shard']
        """
        return tuple(shard.name for shard in self._members.shards)

    def shard(self, name: str) -> Shard:
        """One shard of the dataset, by its name.

        >>> lake = amudai.dataset(["tests/fixtures/sample.amudai.shard"])
        >>> lake.shard(lake.shards[0]).num_rows
        400
        """
        return Shard(self._members.reader(self._number(name)), threads=self._threads)

    @property
    def schema(self) -> pa.Schema:
        """The columns of all shards, and then those of folders. Shards that no catalog has are opened for this."""
        return self._members.schema

    @property
    def num_rows(self) -> int:
        """How many rows all shards have. Deleted rows do not count.

        >>> amudai.dataset(["tests/fixtures/sample.amudai.shard"]).num_rows
        400
        """
        return int(self._members.rows.sum())

    @property
    def num_positions(self) -> int:
        """How many positions all shards have, those of deleted rows included.

        >>> amudai.dataset(["tests/fixtures/sample.amudai.shard"]).num_positions
        400
        """
        return int(self._members.positions.sum())

    @property
    def requests(self) -> Requests:
        """How many requests were made to storage since the dataset was opened, and how many bytes they read."""
        return self._members.store.counters

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        rows: slice | range | None = None,
        *,
        limit: int | None = None,
        batch_rows: int | None = None,
        threads: int | None = None,
        on_damaged_index: Literal["raise", "ignore"] = "raise",
        include_deleted: bool = False,
    ) -> Scan:
        """Find rows in all shards.

        Shards are ruled out before they are opened: by the values of their folders, by columns that they lack, and by
        the statistics and Bloom filters in a catalog. The others are scanned on several threads.

        Parameters
        ----------
        rows
            The positions to look at, counted over all shards in their order: a slice or range with step 1. This number
            of a row changes when shards come and go.
        columns, where, limit, batch_rows, threads, on_damaged_index, include_deleted
            As for `Shard.scan`. `@shard` is the name of the shard.

        Examples
        --------
        >>> lake = amudai.dataset(["tests/fixtures/sample.amudai.shard"])
        >>> lake.scan(["level", "status"], where="status = 503", limit=1).to_table().to_pydict()
        {'level': ['ERROR'], 'status': [503]}
        """
        request = request_of(
            columns,
            where,
            limit=limit,
            batch_rows=batch_rows,
            on_damaged_index=on_damaged_index,
            include_deleted=include_deleted,
        )
        return self._scan(request, rows, threads)

    def _scan(self, request: ScanRequest, rows: slice | range | None, threads: int | None) -> Scan:
        within = None
        if rows is not None:
            found = row_range(rows, Origin("dataset", self.folder or "", self.num_positions))
            within = range(int(found.starts[0]), found.end) if found else range(0)
        pool = self._threads if threads is None else thread_count(threads)
        return Scan(DatasetRun(self._members, request, within, pool), partial(self._scan, request, rows, threads))

    def take(
        self,
        rows: pa.Table | Iterable[tuple[str, int]] | Any,
        columns: Sequence[str] | None = None,
        *,
        threads: int | None = None,
        include_deleted: bool = False,
    ) -> pa.Table:
        """Read single rows, in the order asked for.

        Parameters
        ----------
        rows
            Pairs of the name of a shard and a position in it; or a table with the columns `shard` and `position`, as
            `scan.positions()` returns it.

        Examples
        --------
        >>> lake = amudai.dataset(["tests/fixtures/sample.amudai.shard"])
        >>> name = lake.shards[0]
        >>> lake.take([(name, 7), (name, 0)], ["status"]).to_pydict()
        {'status': [500, 200]}
        """
        shards, positions = _pairs(rows)
        scan = self.scan(columns)  # checks the names of columns
        members = self._members
        parts = [without_rows(scan.schema)]
        order: list[npt.NDArray[np.int64]] = []
        asked = None if columns is None else names(columns, "columns")
        for name in dict.fromkeys(shards.tolist()):
            number = self._number(name)
            mine = np.flatnonzero(shards == name)
            own, constants = members.own_fields(members.schema_number(number)), members.constants(number)
            wanted = columns_of_member(asked, members.fields, own, constants)
            with located(url=members.shards[number].url):
                shard = Shard(members.expected_reader(number), threads=self._threads)
                taken = shard.take(positions[mine], wanted, threads=threads, include_deleted=include_deleted)
            result = ResultColumns(scan.schema, constants)
            parts.append(result.of_table(taken))
            order.append(mine)
        table = concatenated(parts)
        if not order:
            return table
        places = np.concatenate(order)
        return reordered(table, pa.array(np.argsort(places, kind="stable")))

    def sample(
        self,
        count: int = 10,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        *,
        seed: int | None = None,
        threads: int | None = None,
    ) -> pa.Table:
        """Read rows picked at random, in the order of the shards. Parameters are those of `Shard.sample`.

        >>> lake = amudai.dataset(["tests/fixtures/sample.amudai.shard"])
        >>> lake.sample(3, ["status"], seed=1).num_rows
        3
        """
        if where is None and self.num_rows == self.num_positions:
            picked = sample_of(self.num_rows, count, seed)
            starts = self._members.starts
            which = np.searchsorted(starts, picked, "right") - 1
            pairs = [
                (self._members.shards[at].name, int(row - starts[at])) for at, row in zip(which, picked, strict=True)
            ]
            return self.take(pairs, columns, threads=threads)
        found = self.scan(columns, where, threads=threads).positions()
        return self.take(found.take(pa.array(sample_of(len(found), count, seed))), columns, threads=threads)

    def save_catalog(self, *, word_bytes: int = MOST_WORD_BYTES) -> None:
        """Write what is known about the shards into one file in the folder, `_catalog.amudai.shard`.

        It holds the end of each root file, the schema, and for each column the bounds, the number of nulls, the Bloom
        filters, and a filter of the words of its term index. A later `amudai.dataset` of this folder then opens only
        shards that may match. Save it again after shards were added; until then, new shards are opened for each query,
        and shards that are gone are left out.

        Parameters
        ----------
        word_bytes
            The most bytes that the filter of the words of one column takes for one shard; 0 for no such filters. With
            two bytes for each different word, about one in 600 words that a shard does not have is not ruled out. If
            that is too large, five bits for each word rule out six of seven. If that is too large as well, the shard
            has no filter and is opened for each question about words.

        Examples
        --------
        >>> lake = amudai.write_dataset({"n": [1, 2, 3]}, "catalogued", rows_per_shard=1, append=True)
        >>> lake.save_catalog()
        >>> amudai.dataset("catalogued").explain(where="n = 2").shards_ruled_out
        {'catalog': 2}
        """
        if self.folder is None:
            raise InvalidArgument("catalog: expected the dataset of a folder, found one of a list of shards")
        table, properties = catalog_table(self._members, whole_number(word_bytes, "word_bytes"))
        from amudai.api.writing import write  # readers do not need it

        write(
            table,
            f"{self.folder}{CATALOG_NAME}",
            store=None if self.folder.startswith("file://") else self._members.store,
            properties=properties,
            overwrite=True,
        )

    def refresh(self) -> Dataset:
        """The same folder with the shards that it has now.

        >>> lake = amudai.write_dataset({"n": [1]}, "growing", append=True)
        >>> _ = amudai.append("growing", {"n": [2]})
        >>> lake.refresh().num_rows - lake.num_rows
        1
        """
        if self.folder is None:
            raise InvalidArgument("dataset: expected one of a folder to refresh, found one of a list of shards")
        return dataset(
            self.folder,
            store=None if self.folder.startswith("file://") else self._members.store,
            verify=self._places.verify,
            threads=self._threads,
            allow=self._places.allow,
            limits=self._places.limits,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens the same list of shards. The pickle holds no open file and no secret."""
        places = self._places
        how = (places.verify, places.allow.portable(), places.limits, self._threads)
        return _opened_again, (portable_store(self._members.store), self._found.folder, self._found.shards, *how)

    def __repr__(self) -> str:
        where = self.folder or "a list"
        return f"<amudai.Dataset of {where}: {len(self._members):,} shards>"

    def close(self) -> None:
        """Close all files. Tables that were read stay valid."""
        self._members.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _number(self, name: str) -> int:
        found = self._members.index(name)
        if found is None:
            raise MissingFile(f"shard: expected one of the dataset's, found {shown(name)}", url=self.folder or "")
        return found


def _opened_again(
    store: PortableStore,
    folder: str | None,
    shards: tuple[FoundShard, ...],
    verify: bool,
    allow: PortableAllowed,
    limits: Limits,
    threads: int,
) -> Dataset:
    places = MemberOptions(verify=verify, allow=allow.open(), limits=limits)
    return Dataset(Found(store.open(), folder, shards), None, places, threads)


def _pairs(rows: Any) -> tuple[npt.NDArray[np.object_], npt.NDArray[np.int64]]:
    """The names and the positions of rows that a user names."""
    if isinstance(rows, pa.Table | pa.RecordBatch):
        if not {"shard", "position"} <= set(rows.schema.names):
            raise InvalidArgument(f"rows: expected the columns shard and position, found {rows.schema.names}")
        given = zip(rows["shard"].to_pylist(), rows["position"].to_pylist(), strict=True)
    else:
        given = rows
    try:
        pairs = [(shard, position) for shard, position in given]
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"rows: expected pairs of a shard's name and a position, found {shown(rows)}") from error
    for shard, position in pairs:
        if not isinstance(shard, str) or isinstance(position, bool) or not isinstance(position, int | np.integer):
            raise InvalidArgument(f"rows: expected a shard's name and a position, found {shown((shard, position))}")
    names_given = np.array([shard for shard, _ in pairs], np.object_)
    return names_given, np.array([int(position) for _, position in pairs], np.int64)
