"""Who else wants to read it?

Each engine has one file: `duckdb_sql.py` (with `prefilter.py`, which finds conditions in SQL), `kql_query.py` (with
`kql_language.py`, the only user of the package that parses KQL, `kql_plan.py`, which decides what the scan does, and
`kql_conditions.py`, which makes predicates of conditions), `polars_frames.py` (with `polars_reader.py`, which polars
calls, and `polars_predicates.py`), `pandas_frames.py`, `daft_source.py`, `dask_frames.py`, `iceberg_tables.py`,
`ray_data.py` and `spark_source.py` (with `spark_writer.py`, `spark_jobs.py`, and `spark_jar.py`, which compiles what is
in `java/`). `comparisons.py` has what polars and Daft have in common, `staged_parts.py` how Ray and Spark write.
`opening.py` opens what users pass. `packages.py` imports the packages of engines when they are used, and knows their
oldest versions.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.interop.daft_source import read_daft
    from amudai.interop.dask_frames import read_dask
    from amudai.interop.duckdb_sql import register, sql
    from amudai.interop.iceberg_tables import attach_iceberg, open_iceberg
    from amudai.interop.kql_query import QueryExplanation, QueryResult, kql, sql_result
    from amudai.interop.pandas_frames import read_pandas
    from amudai.interop.polars_frames import scan_polars
    from amudai.interop.query_limits import QueryLimits
    from amudai.interop.ray_data import read_ray, write_ray
    from amudai.interop.spark_jar import build_spark_jar
    from amudai.interop.spark_jobs import spark_compact, spark_index
    from amudai.interop.spark_source import spark_read, spark_register
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.interop.daft_source": "read_daft",
            "amudai.interop.dask_frames": "read_dask",
            "amudai.interop.duckdb_sql": "register sql",
            "amudai.interop.iceberg_tables": "attach_iceberg open_iceberg",
            "amudai.interop.kql_query": "QueryExplanation QueryResult kql sql_result",
            "amudai.interop.pandas_frames": "read_pandas",
            "amudai.interop.polars_frames": "scan_polars",
            "amudai.interop.query_limits": "QueryLimits",
            "amudai.interop.ray_data": "read_ray write_ray",
            "amudai.interop.spark_jar": "build_spark_jar",
            "amudai.interop.spark_jobs": "spark_compact spark_index",
            "amudai.interop.spark_source": "spark_read spark_register",
        },
    )

__all__ = [
    "QueryExplanation",
    "QueryLimits",
    "QueryResult",
    "attach_iceberg",
    "build_spark_jar",
    "kql",
    "open_iceberg",
    "read_daft",
    "read_dask",
    "read_pandas",
    "read_ray",
    "register",
    "scan_polars",
    "spark_compact",
    "spark_index",
    "spark_read",
    "spark_register",
    "sql",
    "sql_result",
    "write_ray",
]
