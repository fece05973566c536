"""The definition of a format."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from amudai.sources.files import InputFile
from amudai.sources.records import BadRecords

__all__ = ["SourceFormat", "SourceOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """What the caller specified about the data.

    Attributes
    ----------
    types
        Types of columns by name. The types of other columns come from the files.
    year
        The year of log lines without a year.
    """

    types: dict[str, pa.DataType]
    year: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFormat:
    """One format: how its files are recognised and read.

    Attributes
    ----------
    endings
        Ends of file names, without those of compression.
    schema
        Returns the schema of a file, from its head or its first few megabytes.
    batches
        Returns the batches of a file, given the schema of the whole source. A column that the file lacks may be absent,
        and columns may come in any order. Columns of text formats have the source's types.
    open_ended
        Whether a column can first occur after the part that `schema` reads.
    """

    name: str
    endings: tuple[str, ...]
    schema: Callable[[InputFile, SourceOptions], pa.Schema]
    batches: Callable[[InputFile, pa.Schema, SourceOptions, BadRecords], Iterator[pa.RecordBatch]]
    open_ended: bool = False
