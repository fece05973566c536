"""pyarrow's own file formats: Parquet (three settings), ORC, IPC/Feather with LZ4."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from .base import NotSupported, System, arrow_threads


class _Arrow(System):
    def __init__(self, threads):
        super().__init__(threads)
        self.mt = arrow_threads(threads)

    def version(self):
        return f"pyarrow {pa.__version__}"


class ParquetZstd(_Arrow):
    name = "parquet-zstd"
    ext = ".parquet"
    codec = "zstd"

    def options(self, table):
        return {}

    def write(self, table, path, text=None):
        import pyarrow.parquet as pq

        pq.write_table(table, path, compression=self.codec, **self.options(table))

    def open(self, path):
        import pyarrow.parquet as pq

        return pq.ParquetFile(path, memory_map=True, pre_buffer=False), path

    def close(self, h):
        h[0].close()

    def names(self, h):
        return h[0].schema_arrow.names

    def scan(self, h, columns=None):
        return h[0].read(columns, use_threads=self.mt)

    def take(self, h, rows, columns=None):
        """Row groups that hold no wanted row are skipped; the others are decoded whole."""
        f, _ = h
        out, base = [], 0
        for g in range(f.num_row_groups):
            n = f.metadata.row_group(g).num_rows
            lo, hi = np.searchsorted(rows, (base, base + n))
            if hi > lo:
                out.append(f.read_row_group(g, columns, use_threads=self.mt).take(pa.array(rows[lo:hi] - base)))
            base += n
        return pa.concat_tables(out)

    def filter(self, h, predicate, columns):
        import pyarrow.dataset as ds

        e = None
        for c, op, v in predicate:
            f = ds.field(c)
            x = {"==": f == v, "<": f < v, "<=": f <= v, ">": f > v, ">=": f >= v}[op]
            e = x if e is None else e & x
        return ds.dataset(h[1], format="parquet").to_table(columns=columns, filter=e, use_threads=self.mt)


class ParquetSnappy(ParquetZstd):
    name = "parquet-snappy"
    codec = "snappy"


class ParquetTuned(ParquetZstd):
    """What a careful user sets: small row groups, page index, Bloom filters on identifiers."""

    name = "parquet-tuned"

    def options(self, table):
        bloom = {c: {"ndv": 131072, "fpp": 0.01} for c in ("trace_id", "l_orderkey") if c in table.column_names}
        return dict(
            row_group_size=131072,
            write_page_index=True,
            compression_level=3,
            **({"bloom_filter_options": bloom} if bloom else {}),
        )


class Orc(_Arrow):
    name = "orc-zstd"
    ext = ".orc"

    def write(self, table, path, text=None):
        import pyarrow.orc as orc

        try:
            orc.write_table(table, path, compression="zstd")
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as e:
            raise NotSupported(str(e)[:120])

    def open(self, path):
        import pyarrow.orc as orc

        return orc.ORCFile(path)

    def names(self, h):
        return h.schema.names

    def scan(self, h, columns=None):
        return h.read(columns)


class IpcLz4(_Arrow):
    name = "ipc-lz4"
    ext = ".feather"

    def write(self, table, path, text=None):
        import pyarrow.feather as feather

        feather.write_feather(table, path, compression="lz4")  # 64 Ki-row batches

    def open(self, path):
        return path

    def names(self, h):
        with pa.memory_map(h) as f:
            return pa.ipc.open_file(f).schema.names

    def scan(self, h, columns=None):
        import pyarrow.feather as feather

        return feather.read_table(h, columns=columns, use_threads=self.mt, memory_map=True)


class IpcRaw(IpcLz4):
    """No compression, memory-mapped: the no-decode bound (nothing is copied until touched)."""

    name = "ipc-raw"

    def scan(self, h, columns=None):
        t = pa.ipc.open_file(pa.memory_map(h)).read_all()  # feather.read_table(columns=...) copies even here
        return t.select(columns) if columns else t

    def write(self, table, path, text=None):
        import pyarrow.feather as feather

        feather.write_feather(table, path, compression="uncompressed")


SYSTEMS = [ParquetZstd, ParquetSnappy, ParquetTuned, Orc, IpcLz4, IpcRaw]
