"""What does a format have to know?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from amudai.sources.files import File
from amudai.sources.records import BadRecords

__all__ = ["Format", "Told"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the caller said about the data.

    Attributes
    ----------
    types
        The types of columns, by name, that are not left to the files.
    year
        The year of log lines that name none.
    """

    types: dict[str, pa.DataType]
    year: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One format: how its files are recognised and read.

    Attributes
    ----------
    endings
        Ends of file names, before those of compression.
    schema
        The schema of a file, from its head or its first few megabytes.
    batches
        The batches of a file, given the schema that the whole source has. A column that the file lacks may be absent,
        and columns may come in any order; those of text formats have the source's types.
    open_ended
        Whether a column can turn up behind the part that gave the schema.
    """

    name: str
    endings: tuple[str, ...]
    schema: Callable[[File, Told], pa.Schema]
    batches: Callable[[File, pa.Schema, Told, BadRecords], Iterator[pa.RecordBatch]]
    open_ended: bool = False
