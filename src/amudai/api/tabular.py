"""What can be asked of rows, wherever they come from: everything that follows from `scan` and `take`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy.typing as npt
import pyarrow as pa

from amudai.api.sampling import sample_of
from amudai.api.scan import Scan
from amudai.api.where import Where, predicate_of
from amudai.arguments import names, whole_number
from amudai.arrow import concatenated
from amudai.scan import Explanation

if TYPE_CHECKING:
    from amudai.api.arrow_dataset import ArrowDataset
    from amudai.predicate import WordMatch

__all__ = ["Tabular"]

# How many positions `tail` looks at first.
_LEAST_LOOK: Final = 1024


class Tabular(ABC):
    """Rows that can be scanned and taken by position.

    Arguments come in one order: `columns`, `where`, `rows`, and the rest by name. Iterating gives record batches.
    """

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The columns and their Arrow types."""

    @property
    @abstractmethod
    def num_rows(self) -> int:
        """How many rows there are, deleted ones left out."""

    @property
    @abstractmethod
    def num_positions(self) -> int:
        """How many positions rows have, those of deleted rows included."""

    @abstractmethod
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
        """Find rows."""

    @abstractmethod
    def take(
        self,
        rows: Sequence[int] | pa.Array | npt.NDArray[Any],
        columns: Sequence[str] | None = None,
        *,
        threads: int | None = None,
        include_deleted: bool = False,
    ) -> pa.Table:
        """Read single rows by position."""

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The paths that `search` looks in: columns of text, text members of structs, and lists of text.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").text_columns
        ('level', 'message', 'http.path')
        """
        from amudai.predicate import text_columns  # only a search needs it

        return text_columns(self.schema)

    def read(
        self,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        rows: slice | range | None = None,
        *,
        threads: int | None = None,
        include_deleted: bool = False,
    ) -> pa.Table:
        """Read columns into memory. All parameters are those of `scan`.

        Examples
        --------
        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> shard.read(["http.status"], rows=slice(0, 2)).to_pylist()
        [{'http': {'status': 200}}, {'http': {'status': 200}}]
        >>> shard.read(["level"], "status = 503", slice(0, 100)).to_pydict()
        {'level': ['ERROR']}
        """
        return self.scan(columns, where, rows, threads=threads, include_deleted=include_deleted).to_table()

    def search(
        self,
        text: str,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        rows: slice | range | None = None,
        *,
        within: Sequence[str] | None = None,
        match: WordMatch = "has",
        any_word: bool = False,
        case_sensitive: bool = False,
        limit: int | None = None,
        batch_rows: int | None = None,
        threads: int | None = None,
        on_damaged_index: Literal["raise", "ignore"] = "raise",
        include_deleted: bool = False,
    ) -> Scan:
        """Find rows that contain words, in any of their texts.

        Parameters
        ----------
        text
            Words separated by white space. A row is found if each word occurs in at least one text of the row. Without
            any word, all rows are found.
        within
            The columns to search; None for `text_columns`. Naming the columns that have a term index is fastest.
        match
            What has to be equal: whole words (`"has"`), the beginnings of words (`"hasprefix"`), or any part of the
            text (`"contains"`).
        any_word
            Whether one of the words is enough.
        columns, where, rows, limit, batch_rows, threads, on_damaged_index, include_deleted
            As for `scan`. A row must match both the words and `where`.

        Examples
        --------
        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> shard.search("FAILED error", ["status"], limit=2).to_table().to_pydict()
        {'status': [500, 500]}
        >>> shard.search("fail", within=["message"], match="hasprefix", where="status < 500").count()
        0
        """
        from amudai.predicate import words_predicate  # only a search needs it

        asked = predicate_of(where)
        found = words_predicate(
            text,
            self.text_columns if within is None else names(within, "within"),
            match=match,
            any_word=any_word,
            case_sensitive=case_sensitive,
        )
        if found is not None:
            asked = found if where is None else found & asked
        return self.scan(
            columns,
            asked,
            rows,
            limit=limit,
            batch_rows=batch_rows,
            threads=threads,
            on_damaged_index=on_damaged_index,
            include_deleted=include_deleted,
        )

    def head(self, count: int = 10, columns: Sequence[str] | None = None) -> pa.Table:
        """The first rows.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").head(2, ["status"]).to_pydict()
        {'status': [200, 200]}
        """
        return self.scan(columns, limit=whole_number(count, "count")).to_table()

    def tail(self, count: int = 10, columns: Sequence[str] | None = None, where: Where | None = None) -> pa.Table:
        """The last rows, in their order.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").tail(2, ["status"], "status >= 500").to_pydict()
        {'status': [503, 500]}
        """
        wanted, end = whole_number(count, "count"), self.num_positions
        columns = None if columns is None else names(columns, "columns")  # asked for more than once
        # Rows that match may be rare: each look goes back further than the one before.
        look, found, total = max(wanted, _LEAST_LOOK), [self.scan(columns, where, limit=0).to_table()], 0
        while end and total < wanted:
            start = max(0, end - look)
            found.insert(1, self.scan(columns, where, slice(start, end)).to_table())
            total += found[1].num_rows
            end, look = start, 4 * look
        rows = concatenated(found)
        count = min(wanted, rows.num_rows)
        return rows.slice(rows.num_rows - count, count)

    def sample(
        self,
        count: int = 10,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        *,
        seed: int | None = None,
        threads: int | None = None,
    ) -> pa.Table:
        """Read rows picked at random, in the order of their positions.

        Every row that matches `where` is equally likely, and no row is picked twice. If fewer than `count` rows match,
        all of them are returned. Only the blocks that hold the picked rows are read.

        Parameters
        ----------
        seed
            A number from 0 on; the same number picks the same rows again. None for other rows each time.
        columns, where, threads
            As for `scan`.

        Examples
        --------
        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> shard.sample(3, ["status"], "status >= 500", seed=7) == shard.sample(3, ["status"], "status >= 500", seed=7)
        True
        >>> shard.sample(1000, ["status"], where="status >= 500").num_rows
        11
        """
        if where is None and self.num_rows == self.num_positions:
            return self.take(sample_of(self.num_rows, count, seed), columns, threads=threads)
        found = self.scan(columns, where, threads=threads).positions()
        return self.take(found[sample_of(len(found), count, seed)], columns, threads=threads)

    def count(
        self, where: Where | None = None, rows: slice | range | None = None, *, include_deleted: bool = False
    ) -> int:
        """Count the rows that match. Parameters are those of `scan`.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").count("status >= 500")
        11
        """
        return self.scan(where=where, rows=rows, include_deleted=include_deleted).count()

    def explain(
        self,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        rows: slice | range | None = None,
    ) -> Explanation:
        """What a scan would rule out, and by what evidence, without running it. Parameters are those of `scan`.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").explain(where="status is null").ruled_out
        400
        """
        return self.scan(columns, where, rows).explain()

    def to_table(
        self,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        rows: slice | range | None = None,
    ) -> pa.Table:
        """The same as `read`, under the name that scans have too.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").to_table(["status"]).num_rows
        400
        """
        return self.read(columns, where, rows)

    def to_reader(
        self,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        rows: slice | range | None = None,
        *,
        batch_rows: int | None = None,
        threads: int | None = None,
    ) -> pa.RecordBatchReader:
        """Read batch by batch: memory holds a few batches, however large the shard is. Parameters are those of `scan`.

        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> [batch.num_rows for batch in shard.to_reader(batch_rows=150)]
        [150, 150, 100]
        """
        return self.scan(columns, where, rows, batch_rows=batch_rows, threads=threads).to_reader()

    def to_pandas(
        self,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        rows: slice | range | None = None,
        **options: Any,
    ) -> Any:
        """Read into a pandas `DataFrame`. Needs pandas.

        The first parameters are those of `scan`; `options` are those of `pyarrow.Table.to_pandas`, such as
        `types_mapper`.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").to_pandas(["status"], "status >= 500").shape
        (11, 1)
        """
        return self.scan(columns, where, rows).to_pandas(**options)

    def to_polars(
        self,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        rows: slice | range | None = None,
    ) -> Any:
        """Read into a polars `DataFrame`. Needs polars. Parameters are those of `scan`.

        >>> amudai.open("tests/fixtures/sample.amudai.shard").to_polars(["status"], "status >= 500").shape
        (11, 1)
        """
        return self.scan(columns, where, rows).to_polars()

    def to_pyarrow_dataset(self) -> ArrowDataset:
        """The rows as a `pyarrow.dataset.Dataset`, for engines that read such datasets: DuckDB, DataFusion and others.

        Columns and filters that an engine pushes down become a scan. A filter that a scan cannot express is evaluated
        by pyarrow on the rows of the scan, so the rows are always exactly those that the filter asks for.

        Examples
        --------
        >>> import pyarrow.compute as pc
        >>> rows = amudai.open("tests/fixtures/sample.amudai.shard").to_pyarrow_dataset()
        >>> rows.to_table(columns=["status"], filter=pc.field("status") == 503).num_rows
        4
        """
        from amudai.api.arrow_dataset import ArrowDataset  # imports pyarrow.dataset, which is slow to import

        return ArrowDataset(self)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """All rows, in record batches."""
        return iter(self.scan())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """All rows, for any library that speaks the Arrow PyCapsule protocol: polars, DuckDB, pandas.

        Columns are cast to the types of `requested_schema` as pyarrow casts them.
        """
        return self.scan().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The schema, for any library that speaks the Arrow PyCapsule protocol."""
        return self.schema.__arrow_c_schema__()
