"""Who else wants to read it?

Each engine has one file: `duckdb_sql.py` (with `prefilter.py`, which finds conditions in SQL), `polars_frames.py`,
`pandas_frames.py`, `spark.py`, `ray_data.py`, `daft_frames.py`, `dask_frames.py`. Packages of engines are imported when
they are used (`packages.py`).
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.interop.duckdb_sql import register, sql
    from amudai.interop.pandas_frames import read_pandas
    from amudai.interop.polars_frames import scan_polars
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.interop.duckdb_sql": "register sql",
            "amudai.interop.pandas_frames": "read_pandas",
            "amudai.interop.polars_frames": "scan_polars",
        },
    )

__all__ = [
    "read_pandas",
    "register",
    "scan_polars",
    "sql",
]
