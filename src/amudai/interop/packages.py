"""The packages of other engines, which are imported only when they are used, and their oldest versions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from amudai.errors import UnsupportedFeature

__all__ = ["ENGINES", "Engine", "required"]


@dataclass(frozen=True, slots=True)
class Engine:
    """What is known about the package of an engine.

    Attributes
    ----------
    extra
        The extra of this library that installs it.
    least
        Its oldest version that works.
    only
        Whether no other version works.
    """

    extra: str
    least: tuple[int, ...]
    only: bool = False


# By the name of the package that is imported. `pyproject.toml` states the same versions.
ENGINES: Final[Mapping[str, Engine]] = {
    "daft": Engine("daft", (0, 7)),
    "dask": Engine("dask", (2024, 8)),
    "duckdb": Engine("duckdb", (1, 1)),
    "duckdb_kql": Engine("kql", (1, 1, 2), only=True),
    "pandas": Engine("pandas", (2, 2)),
    "polars": Engine("polars", (1, 20)),
    "pyiceberg": Engine("iceberg", (0, 9)),
    "pyspark": Engine("spark", (4,)),
    "ray": Engine("ray", (2, 50)),
    "sqlglot": Engine("duckdb", (25,)),
}


def required(package: str, purpose: str, *, extra: str | None = None, least: tuple[int, ...] | None = None) -> Any:
    """A module of an engine, imported. Raises UnsupportedFeature if it is missing, or of a version that does not work.

    `extra` and `least` take the place of those in `ENGINES`, for features that need more.

    >>> required("nothing_of_this_name", "sql", extra="duckdb")
    Traceback (most recent call last):
    amudai.errors.UnsupportedFeature: sql: expected the package nothing_of_this_name, found none: pip install
    'amudai[duckdb]'
    """
    name = package.partition(".")[0]
    known = ENGINES.get(name, Engine(name, ()))
    least = least or known.least
    advice = f"pip install 'amudai[{extra or known.extra}]'"
    # Before the import: a version that is too old may not even be importable beside newer packages.
    stated = _version(name)
    if stated is not None:
        found = tuple(map(int, re.findall(r"\d+", stated)[: len(least)]))
        if found < least or (known.only and found != least):
            expected = f"{name} {'.'.join(map(str, least))}{'' if known.only else ' or later'}"
            raise UnsupportedFeature(f"{purpose}: expected {expected}, found {stated}: {advice}")
    try:
        return import_module(package)
    except ImportError as error:
        raise UnsupportedFeature(f"{purpose}: expected the package {package}, found none: {advice}") from error


@cache
def _version(name: str) -> str | None:
    """The version of what is installed; None if nothing is, or if it does not say."""
    try:
        return version(name)
    except PackageNotFoundError:
        pass
    try:  # another distribution may hold the package
        stated = getattr(import_module(name), "__version__", None)
    except ImportError:
        return None
    return None if stated is None else str(stated)
