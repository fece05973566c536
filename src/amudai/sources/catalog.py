"""The list of formats."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from amudai.errors import InvalidArgument
from amudai.sources.arrow_ipc import ARROW
from amudai.sources.contract import SourceFormat
from amudai.sources.csv.reader import CSV
from amudai.sources.files import InputFile
from amudai.sources.json.reader import JSON
from amudai.sources.logs import LOGS
from amudai.sources.parquet import PARQUET

__all__ = ["FORMATS", "format_named", "format_of"]

FORMATS: Final[tuple[SourceFormat, ...]] = (PARQUET, CSV, JSON, ARROW, LOGS)


def format_named(name: str) -> SourceFormat:
    """The format of this name."""
    for found in FORMATS:
        if found.name == name:
            return found
    raise InvalidArgument(f"format: expected one of {_list(found.name for found in FORMATS)}, found {name!r}")


def format_of(file: InputFile) -> SourceFormat:
    """The format of a file, by the end of its name."""
    for found in FORMATS:
        if file.ending in found.endings:
            return found
    endings = _list(ending for found in FORMATS for ending in found.endings)
    raise InvalidArgument(f"file: expected a name that ends in one of {endings}, or format=", file=file.path)


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)
