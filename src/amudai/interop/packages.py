"""The packages of other engines, which are imported only when they are used."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from amudai.errors import UnsupportedFeature

__all__ = ["required"]


def required(package: str, purpose: str, *, extra: str, least: tuple[int, ...] = (), of: str | None = None) -> Any:
    """A package, imported. Raises UnsupportedFeature if it is missing, or older than version `least`.

    `of` is the name of what is installed, if that is not `package`.

    >>> required("nothing_of_this_name", "sql", extra="duckdb")
    Traceback (most recent call last):
    amudai.errors.UnsupportedFeature: sql: expected the package nothing_of_this_name, found none: pip install
    'amudai[duckdb]'
    """
    try:
        found = import_module(package)
    except ImportError as error:
        advice = f"pip install 'amudai[{extra}]'"
        raise UnsupportedFeature(f"{purpose}: expected the package {package}, found none: {advice}") from error
    if least:
        try:
            stated = version(of or package)
        except PackageNotFoundError:
            stated = str(getattr(found, "__version__", "0"))
        if tuple(map(int, re.findall(r"\d+", stated)[: len(least)])) < least:
            expected = f"expected {of or package} {'.'.join(map(str, least))} or later"
            raise UnsupportedFeature(f"{purpose}: {expected}, found {stated}")
    return found
