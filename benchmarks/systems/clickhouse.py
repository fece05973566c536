"""ClickHouse in process (chdb): a MergeTree table as it is, and with a text index and a Bloom filter.

Rows keep the order of the source (`ORDER BY tuple()`), as in every other system here, because searches return their
positions. The time column has a minmax index in place of a primary key. The query condition cache is off: it would
remember the answers of earlier repeats.
"""

from __future__ import annotations

import re
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .base import System, sql_predicate

FEW = 1000
"""Texts with fewer different values among the first 100,000 are LowCardinality, as ClickHouse advises (below 10,000)."""

_INTEGERS = {f"{sign}int{bits}": f"{'U' * bool(sign)}Int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_PLAIN = {**_INTEGERS, "float": "Float32", "double": "Float64", "bool": "Bool", "date32[day]": "Date32"}


def _type(kind, nulls=True):
    """The ClickHouse type of an Arrow type. Lists and structs cannot be null there; their members can."""
    if pa.types.is_struct(kind):
        return f"Tuple({', '.join(f'{f.name} {_type(f.type)}' for f in kind)})"
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        return f"Array({_type(kind.value_type, False)})"
    if pa.types.is_timestamp(kind):
        plain = f"DateTime64({ {'s': 0, 'ms': 3, 'us': 6, 'ns': 9}[kind.unit] }, 'UTC')"
    elif pa.types.is_decimal(kind):
        plain = f"Decimal({kind.precision}, {kind.scale})"
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        plain = "String"
    else:
        plain = _PLAIN[str(kind)]
    return f"Nullable({plain})" if nulls else plain


def _column(table, name):
    column = table[name]
    kind = _type(column.type, column.null_count > 0)
    if "String" in kind and pa.types.is_string(column.type) and pc.count_distinct(column[:100_000]).as_py() < FEW:
        kind = f"LowCardinality({kind})"
    return f"`{name}` {kind} CODEC(ZSTD(1))"


class ClickHouse(System):
    name = "clickhouse"
    ext = ".clickhouse"
    package = "chdb"

    def __init__(self, threads):
        super().__init__(threads)
        from chdb import session

        self.Session = session.Session

    def version(self):
        import chdb

        return f"chdb {chdb.__version__}"

    def indexes(self, table, text):
        return []

    def write(self, table, path, text=None):
        shutil.rmtree(path, ignore_errors=True)
        parts = [_column(table, name) for name in table.column_names]
        time = next((f.name for f in table.schema if pa.types.is_timestamp(f.type) or pa.types.is_date(f.type)), None)
        if time:
            parts.append(f"INDEX times `{time}` TYPE minmax GRANULARITY 1")
        h = self.open(path)
        h.query(f"CREATE TABLE t ({', '.join(parts + self.indexes(table, text))}) ENGINE = MergeTree ORDER BY tuple()")
        source = table  # noqa: F841 - `Python(source)` finds this variable
        h.query("INSERT INTO t SELECT * FROM Python(source)")
        h.query("OPTIMIZE TABLE t FINAL")
        h.close()

    def size(self, path):
        """Bytes of the active parts: parts that were merged stay in the folder for some minutes."""
        h = self.open(path)
        found = h.query("SELECT sum(bytes_on_disk) AS n FROM system.parts WHERE active AND table = 't'", "ArrowTable")
        h.close()
        return found["n"][0].as_py()

    def open(self, path):
        h = self.Session(path)
        if self.threads:
            h.query(f"SET max_threads = {self.threads}, max_insert_threads = {self.threads}")
        h.query(
            "SET use_query_condition_cache = 0, output_format_arrow_string_as_string = 1, "
            "output_format_arrow_low_cardinality_as_dictionary = 0, session_timezone = 'UTC'"
        )
        return h

    def close(self, h):
        h.close()

    def names(self, h):
        return h.query(
            "SELECT name FROM system.columns WHERE table = 't' AND database = currentDatabase()", "ArrowTable"
        )["name"].to_pylist()

    def scan(self, h, columns=None):
        return h.query(f"SELECT {', '.join(f'`{c}`' for c in columns) if columns else '*'} FROM t", "ArrowTable")

    def filter(self, h, predicate, columns):
        # A TIMESTAMP has whole seconds there.
        condition = re.sub(r"TIMESTAMP '([^']*)'", r"toDateTime64('\1', 6, 'UTC')", sql_predicate(predicate, "`"))
        return h.query(f"SELECT {', '.join(f'`{c}`' for c in columns)} FROM t WHERE {condition}", "ArrowTable")

    def take(self, h, rows, columns=None):
        names = ", ".join(f"`{c}`" for c in columns) if columns else "*"
        wanted = pa.table({"r": pa.array(rows.astype(np.uint64))})  # noqa: F841 - found by `Python(wanted)`
        return h.query(f"SELECT {names} FROM t WHERE {self.row} IN (SELECT r FROM Python(wanted))", "ArrowTable")

    row = "(_part_starting_offset + _part_offset)"

    def _positions(self, h, condition):
        found = h.query(f"SELECT {self.row} AS r FROM t WHERE {condition}", "ArrowTable")
        return np.sort(found["r"].to_numpy().astype(np.int64))

    def search(self, h, column, terms):
        return self._positions(h, " AND ".join(f"position(`{column}`, '{w}') > 0" for w in terms))


class ClickHouseIndexed(ClickHouse):
    name = "clickhouse-idx"
    ext = ".idx.clickhouse"

    def indexes(self, table, text):
        out = [f"INDEX words `{text}` TYPE text(tokenizer = 'splitByNonAlpha')"] if text else []
        out += [
            f"INDEX keys_{c} `{c}` TYPE bloom_filter GRANULARITY 1"
            for c in ("trace_id", "l_orderkey")
            if c in table.column_names
        ]
        return out

    def search(self, h, column, terms):
        return self._positions(h, f"hasAllTokens(`{column}`, [{', '.join(repr(w) for w in terms)}])")

    def contains(self, h, column, part):
        return self._positions(h, f"`{column}` LIKE '%{part}%'")


SYSTEMS = [ClickHouse, ClickHouseIndexed]
