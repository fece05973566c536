"""A column of a shard: its type, statistics, encodings and values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pyarrow as pa

from amudai.api.display import field_text
from amudai.api.field_stats import FieldFacts, FieldStats
from amudai.api.frames import to_pandas, to_polars
from amudai.api.members import member_values
from amudai.arguments import text, whole_number
from amudai.arrow import ArrowFields, Extension, arrow_field, child_type, extension_of
from amudai.errors import located
from amudai.format import FieldDescriptor, RangeStats, python_values
from amudai.inspect import field_label, total_layouts
from amudai.plan import ScanRequest, ShardPlan, select_nodes
from amudai.rows import row_range
from amudai.scan import ScanRun
from amudai.shard import ShardReader
from amudai.types import BasicType, SchemaNode

__all__ = ["Field"]


class Field:
    """A column of a shard, or a member of one. Made by `shard["name"]`.

    Examples
    --------
    >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
    >>> status = shard["status"]
    >>> status.type, status.stats.min, status.stats.max
    (DataType(int64), 200, 503)
    >>> shard["message"].encodings
    {'lz4(ffor)': 1}
    """

    def __init__(self, reader: ShardReader, fields: ArrowFields, nodes: tuple[SchemaNode, ...], threads: int) -> None:
        self._reader = reader
        self._fields = fields
        self._nodes = nodes
        self._threads = threads
        parents: tuple[SchemaNode | None, ...] = (None, *nodes[:-1])
        self.path = ".".join(field_label(parent, node) for parent, node in zip(parents, nodes, strict=True))

    @property
    def name(self) -> str:
        """The name of the field, without the names of its parents."""
        return self._nodes[-1].name

    @property
    def label(self) -> str:
        """The name of the field, or its role if it has no name: `item` of a list, `key` and `value` of a map."""
        return field_label(self._nodes[-2] if len(self._nodes) > 1 else None, self._nodes[-1])

    @property
    def type(self) -> pa.DataType:
        """The Arrow type of the values."""
        if len(self._nodes) == 1:
            return self._fields.field(self._nodes[0]).type
        kind: pa.DataType | None = self._fields.field(self._nodes[0]).type
        for parent, node in pairwise(self._nodes):
            kind = None if kind is None else child_type(parent, node, kind)
        return arrow_field(self._nodes[-1], self._range_of).type if kind is None else kind

    @property
    def stored_type(self) -> str:
        """The type as the shard stores it, in the format's own words."""
        return str(self._nodes[-1])

    @property
    def extension(self) -> Extension | None:
        """What the values mean, if the shard says it: an extension type with its properties.

        >>> data = {"vector": [[0.5, 0.25]]}
        >>> shard = amudai.write(data, "v.amudai.shard", extensions={"vector": "EmbeddingVec"}, overwrite=True)
        >>> shard["vector"].extension
        Extension(label='EmbeddingVec', properties={})
        """
        with located(url=self._reader.url, field=self.path):
            return extension_of(self._nodes[-1])

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names by which the column is found.

        >>> shard = amudai.write({"status": [200]}, "s.amudai.shard", aliases={"status": ["code"]}, overwrite=True)
        >>> shard["code"].name, shard["code"].aliases
        ('status', ('code',))
        """
        return self._nodes[-1].aliases

    @property
    def stats(self) -> FieldStats:
        """Statistics of the values over the whole shard."""
        reader = self._reader
        return self._facts(reader.descriptor, reader.num_positions).stats()

    @property
    def properties(self) -> dict[str, object]:
        """The properties that were given to the column when it was written."""
        found = self._reader.descriptor(self._nodes[-1])
        return {} if found is None else python_values(found.custom)

    @property
    def standard_properties(self) -> dict[str, object]:
        """The properties whose names the format reserves. This library writes none."""
        found = self._reader.descriptor(self._nodes[-1])
        return {} if found is None else python_values(found.standard)

    @property
    def encodings(self) -> dict[str, int]:
        """How the values are stored: each cascade of encodings with its number of blocks. Reads the column."""
        found: Counter[str] = Counter()
        for stripe in self._reader.stripes:
            found.update(stripe.column_at(self._nodes).encodings())
        return dict(found.most_common())

    @property
    def encoded_bytes(self) -> int:
        """Bytes that the column takes up in the shard's files, those of its children included."""
        (layout,) = total_layouts(self._reader, [self._nodes], "buffers")
        for problem in layout.problems:
            raise problem.error
        return layout.bytes

    @property
    def children(self) -> tuple[Field, ...]:
        """The fields below this one: members of a struct, the items of a list, keys and values of a map.

        >>> [field.path for field in amudai.open("tests/fixtures/sample.amudai.shard")["http"].children]
        ['http.status', 'http.path']
        """
        return tuple(
            Field(self._reader, self._fields, (*self._nodes, child), self._threads)
            for child in self._nodes[-1].children
        )

    def read(self, rows: slice | range | None = None) -> pa.ChunkedArray:
        """Read the values of the column.

        A member of a struct is null where the struct is null. A field below a list or map gives the items of all lists,
        one after the other.

        Parameters
        ----------
        rows
            The rows of the shard to read: a slice or range with step 1; None for all.

        Examples
        --------
        >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
        >>> shard["http.status"].read(slice(0, 3)).to_pylist()
        [200, 200, 200]
        """
        column = self._run(rows, None).table().column(0)
        return pa.chunked_array([self._values(chunk) for chunk in column.chunks], self.type)

    def terms(self, prefix: str = "", limit: int | None = None) -> pa.Table:
        """The terms of the column and the number of rows that have each, the most frequent first, from a term index.

        No value is read. What a term is depends on the tokenizer of the index: a word, or a whole value if it is
        `"trivial"`. Terms of more than 128 bytes are cut. Upper and lower case are told apart if the index does.

        Parameters
        ----------
        prefix
            How terms begin, without regard to case.
        limit
            The most terms to return; None for all.

        Returns
        -------
        terms
            A table with the columns `term`, `rows` and `exact`. Like statistics, `rows` includes rows that were deleted
            since. It is the most that the number may be, not `exact`, if the index keeps lists of rows roughly
            (`TermIndex(max_bytes=...)`).

        Examples
        --------
        >>> rows = {"message": ["disk full", "disk failed", "all well"]}
        >>> shard = amudai.write(rows, "m.amudai.shard", indexes=[amudai.TermIndex("message")], overwrite=True)
        >>> shard["message"].terms(limit=2).to_pydict()
        {'term': ['disk', 'all'], 'rows': [2, 1], 'exact': [True, True]}
        >>> shard["message"].terms(prefix="f").column("term").to_pylist()
        ['failed', 'full']
        """
        from amudai.plan import frequent_terms  # opens indexes, which few need

        most = None if limit is None else whole_number(limit, "limit", 0)
        return frequent_terms(self._reader, self._items(), self.path, text(prefix, "prefix"), most)

    def dictionary(self, prefix: str = "", limit: int | None = None) -> pa.Array:
        """The distinct texts of the column in their order, from the dictionaries of its stripes.

        No value is read. Texts that repeat are stored as codes of a dictionary; a column that is stored in another way
        is an error. As in statistics, texts that only deleted rows have are included.

        Parameters
        ----------
        prefix
            How texts begin, without regard to case.
        limit
            The most texts to return; None for all.

        Examples
        --------
        >>> level = amudai.open("tests/fixtures/sample.amudai.shard")["level"]
        >>> level.dictionary().to_pylist()
        ['ERROR', 'INFO', 'WARN']
        >>> level.dictionary(prefix="e").to_pylist()
        ['ERROR']
        """
        from amudai.plan import dictionary_texts  # few need it

        most = None if limit is None else whole_number(limit, "limit", 0)
        return dictionary_texts(self._reader, self._items(), self.path, text(prefix, "prefix"), most)

    def to_table(self, rows: slice | range | None = None) -> pa.Table:
        """Read the values into a table with one column.

        >>> amudai.open("tests/fixtures/sample.amudai.shard")["http.status"].to_table(slice(0, 2)).to_pydict()
        {'http.status': [200, 200]}
        """
        return pa.Table.from_arrays([self.read(rows)], names=[self.path])

    def to_reader(self, rows: slice | range | None = None, *, batch_rows: int | None = None) -> pa.RecordBatchReader:
        """Read the values batch by batch, each batch from at most `batch_rows` rows of the shard.

        >>> status = amudai.open("tests/fixtures/sample.amudai.shard")["http.status"]
        >>> [batch.num_rows for batch in status.to_reader(batch_rows=150)]
        [150, 150, 100]
        """
        schema = pa.schema([pa.field(self.path, self.type)])
        found = self._run(rows, batch_rows).batches()
        batches = (pa.RecordBatch.from_arrays([self._values(batch.column(0))], schema=schema) for batch in found)
        return pa.RecordBatchReader.from_batches(schema, batches)

    def to_pandas(self, rows: slice | range | None = None, **options: Any) -> Any:
        """Read the values into a pandas `Series`. Needs pandas.

        `options` are those of `pyarrow.ChunkedArray.to_pandas`.

        >>> amudai.open("tests/fixtures/sample.amudai.shard")["status"].to_pandas().shape
        (400,)
        """
        return to_pandas(self.read(rows), options)

    def to_polars(self, rows: slice | range | None = None) -> Any:
        """Read the values into a polars `Series`. Needs polars.

        >>> amudai.open("tests/fixtures/sample.amudai.shard")["status"].to_polars().max()
        503
        """
        return to_polars(self.read(rows))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The values, for any library that speaks the Arrow PyCapsule protocol."""
        return self.read().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The type of the values, for any library that speaks the Arrow PyCapsule protocol."""
        return self.type.__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"<amudai.Field {self.path}: {self.stored_type}>"

    def __str__(self) -> str:
        return field_text(self)

    def _repr_html_(self) -> str:
        from amudai.api.notebook import field_html  # only notebooks ask for it

        return field_html(self)

    def _run(self, rows: slice | range | None, batch_rows: int | None) -> ScanRun:
        """A scan of the column, of which structs keep only the members on the way to this field."""
        column = select_nodes(self._fields, self._nodes)
        plan = ShardPlan(
            self._reader,
            self._fields,
            ScanRequest(batch_rows=batch_rows),
            row_range(rows, self._reader.origin),
            lambda: ((column,), pa.schema([column.field])),
        )
        return ScanRun(plan, self._threads)

    def _items(self) -> tuple[SchemaNode, ...]:
        """The nodes down to the items, if the field is a list."""
        nodes = self._nodes
        while nodes[-1].basic_type in (BasicType.LIST, BasicType.FIXED_SIZE_LIST):
            nodes = (*nodes, nodes[-1].children[0])
        return nodes

    def _values(self, column: pa.Array) -> pa.Array:
        with located(url=self._reader.url, field=self.path):
            return member_values(column, self._nodes)

    def _facts(self, descriptor: Callable[[SchemaNode], FieldDescriptor | None], positions: int) -> FieldFacts:
        """What the shard, or a stripe with that number of positions, says about the field."""
        return FieldFacts(self._fields, self._nodes, self.type, self._reader.url, self.path, descriptor, positions)

    def _range_of(self, node: SchemaNode) -> RangeStats | None:
        found = self._reader.descriptor(node)
        return None if found is None else found.range_stats
