"""Engines that are missing, or of a version that does not work, give one clear error."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import amudai
import amudai.spark
from amudai.interop import packages, read_daft, read_dask, read_ray, register, write_ray
from tests.interop import tables

ROOT = Path(__file__).parents[2]
ROWS = tables.logs(3)


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> amudai.Shard:
    return tables.shard_of(ROWS, tmp_path_factory.mktemp("packages"))


# What a user calls, and the packages that it needs.
CALLS: dict[str, tuple[Callable[[Any], object], tuple[str, ...]]] = {
    "sql": (lambda shard: amudai.sql("SELECT 1 FROM logs", logs=shard), ("duckdb", "sqlglot")),
    "register": (register, ("duckdb",)),
    "sql_result": (lambda shard: amudai.sql_result("SELECT 1 FROM logs", logs=shard).count(), ("duckdb", "sqlglot")),
    "kql": (lambda shard: amudai.kql("count", shard).count(), ("duckdb", "duckdb_kql")),
    "scan_polars": (amudai.scan_polars, ("polars",)),
    "read_pandas": (amudai.read_pandas, ("pandas",)),
    "read_dask": (read_dask, ("dask",)),
    "read_daft": (read_daft, ("daft",)),
    "read_ray": (read_ray, ("ray",)),
    "write_ray": (lambda _: write_ray(None, "lake"), ("ray",)),
    "spark.register": (amudai.spark.register, ("pyspark",)),
    "spark.read": (lambda shard: amudai.spark.read(None, shard), ("pyspark",)),
    "spark.compact": (lambda _: amudai.spark.compact(None, "lake", "all.amudai.shard"), ("pyspark",)),
    "spark.index": (lambda _: amudai.spark.index(None, "lake", [], "all.amudai.shard"), ("pyspark",)),
    "spark.build_jar": (lambda _: amudai.spark.build_jar("amudai.jar"), ("pyspark",)),
    "attach_iceberg": (lambda _: amudai.attach_iceberg(None, "index"), ("pyiceberg",)),
    "open_iceberg": (lambda _: amudai.open_iceberg("local/lake.logs"), ("pyiceberg",)),
}
CASES = [
    pytest.param(call, package, id=f"{name}-{package}") for name, (call, some) in CALLS.items() for package in some
]


def test_every_engine_has_a_case() -> None:
    assert {package for _, some in CALLS.values() for package in some} == set(packages.ENGINES)


@pytest.mark.parametrize(("call", "package"), CASES)
def test_an_old_version_is_one_clear_error(
    call: Callable[[Any], object], package: str, shard: amudai.Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The others seem to be installed: what is asked for first depends on the call.
    stated = {name: ".".join(map(str, engine.least)) for name, engine in packages.ENGINES.items()}
    monkeypatch.setattr(packages, "_version", {**stated, "duckdb": "2.0.0", package: "0.0.1"}.get)
    with pytest.raises(amudai.UnsupportedFeature) as error:
        call(shard)
    advice = r"pip install 'amudai\[\w+\]'"
    assert re.search(rf": expected {package} [\d.]+( or later)?, found 0\.0\.1: {advice}$", str(error.value))


@pytest.mark.parametrize(("call", "package"), CASES)
def test_a_missing_package_is_one_clear_error(
    call: Callable[[Any], object], package: str, shard: amudai.Shard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "_version", lambda _: None)
    monkeypatch.setitem(sys.modules, package, None)
    for name in [each for each in sys.modules if each.startswith(f"{package}.")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(amudai.UnsupportedFeature, match=rf"expected the package {package}[\w.]*, found none: pip"):
        call(shard)


def test_another_version_than_the_only_one_is_refused(shard: amudai.Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("duckdb", reason="DuckDB is not installed: pip install 'amudai[duckdb]'")
    version = packages._version
    monkeypatch.setattr(packages, "_version", lambda name: "1.1.3" if name == "duckdb_kql" else version(name))
    with pytest.raises(amudai.UnsupportedFeature, match=r"expected duckdb_kql 1\.1\.2, found 1\.1\.3"):
        amudai.kql("count", shard)


@pytest.mark.parametrize(
    ("stated", "works"), [("1.20", True), ("1.19.9", False), ("2.0.0rc1", True), ("1.20.0b2", True)]
)
def test_versions_are_compared_as_numbers(stated: str, works: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("polars", reason="polars is not installed: pip install 'amudai[polars]'")
    monkeypatch.setattr(packages, "_version", lambda _: stated)
    if works:
        assert packages.required("polars", "scan_polars") is sys.modules["polars"]
    else:
        with pytest.raises(amudai.UnsupportedFeature, match=r"expected polars 1\.20 or later, found 1\.19\.9"):
            packages.required("polars", "scan_polars")


@pytest.mark.source
def test_make_clusters_runs_every_test_that_is_skipped_without_spark_ray_or_daft() -> None:
    skips = re.compile(r"importorskip\(.*amudai\[(daft|ray|spark)\]")
    tests = (ROOT / "tests").rglob("test_*.py")
    skipping = {str(path.relative_to(ROOT)) for path in tests if skips.search(path.read_text())}
    listed = re.findall(r'"(tests/.+\.py)"', (ROOT / "tools" / "engines.py").read_text())
    assert skipping == set(listed)


@pytest.mark.source
def test_the_project_asks_for_the_same_versions() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for package, engine in packages.ENGINES.items():
        sign = "==" if engine.only else ">="
        version = ".".join(map(str, engine.least))
        wanted = re.compile(rf"{package.replace('_', '-')}(\[\w+\])?{sign}{re.escape(version)}")
        assert any(wanted.fullmatch(each) for each in extras[engine.extra]), package
