"""Columns from the names of folders: `year=2024/month=01/a.parquet`, as Hive, Spark and DuckDB write them.

A folder `key=value` gives all rows of the files below it a column `key`. Values are text with percent escapes, and
`__HIVE_DEFAULT_PARTITION__` is null. A column is int64 if all of its values are plain integers without leading zeros,
otherwise text. If a file has a column of that name itself, its own values count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

import pyarrow as pa

from amudai.errors import InvalidSchema
from amudai.sources.files import InputFile

__all__ = ["Partitions", "folder_columns", "folder_values"]

_NULL: Final = "__HIVE_DEFAULT_PARTITION__"
_FOLDER: Final = re.compile(r"([^/=]+)=([^/]*)")
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,17}")


def folder_values(path: str) -> dict[str, str | None]:
    """The keys and values in the folders of a path.

    >>> folder_values("data/year=2024/city=S%C3%A3o/x=1.parquet")
    {'year': '2024', 'city': 'São'}
    """
    found: dict[str, str | None] = {}
    for folder in path.partition("://")[2].split("/")[:-1] if "://" in path else path.split("/")[:-1]:
        match = _FOLDER.fullmatch(folder)
        if match is not None:
            value = unquote(match[2])
            found[unquote(match[1])] = None if value == _NULL else value
    return found


def folder_columns(
    paths: Sequence[str], known: Mapping[str, pa.DataType]
) -> tuple[dict[str, pa.DataType], dict[str, dict[str, pa.Scalar]]]:
    """The type of each column that folders of these paths give, and the values for each path that has any.

    `known` has types that are decided already. Other columns are int64 or text, by their values.

    >>> folder_columns(["day=1/a", "day=02/b"], {})[0]
    {'day': DataType(string)}
    """
    texts = {path: folder_values(path) for path in paths}
    names = dict.fromkeys(name for values in texts.values() for name in values)
    kinds = {
        name: known[name] if name in known else _kind([values.get(name) for values in texts.values()]) for name in names
    }
    values = {
        path: {name: _value(name, text, kinds[name], path) for name, text in each.items()}
        for path, each in texts.items()
        if each
    }
    return kinds, values


@dataclass(frozen=True, slots=True)
class Partitions:
    """The columns that folders give to files.

    Attributes
    ----------
    fields
        The columns that no file has itself, by name.
    values
        The value of each column for each file, by path and name. A file without a value has null.
    """

    fields: dict[str, pa.Field]
    values: dict[str, dict[str, pa.Scalar]]

    @classmethod
    def of(cls, files: Sequence[InputFile], schema: pa.Schema, types: dict[str, pa.DataType]) -> Partitions:
        """The columns that the folders of these files give. `schema` has the columns of the files themselves."""
        known = {field.name: field.type for field in schema} | types
        kinds, values = folder_columns([file.path for file in files], known)
        return cls({name: pa.field(name, kind) for name, kind in kinds.items() if name not in schema.names}, values)

    def added(self, batch: pa.RecordBatch, file: InputFile) -> pa.RecordBatch:
        """The batch with the columns of its folders that it does not have itself."""
        for name, value in self.values.get(file.path, {}).items():
            if name not in batch.schema.names:
                batch = batch.append_column(name, pa.repeat(value, batch.num_rows))
        return batch


def _kind(texts: list[str | None]) -> pa.DataType:
    known = [text for text in texts if text is not None]
    return pa.int64() if known and all(_INTEGER.fullmatch(text) for text in known) else pa.string()


def _value(name: str, text: str | None, kind: pa.DataType, path: str) -> pa.Scalar:
    try:
        return pa.scalar(text, pa.string()).cast(kind)
    except (pa.ArrowException, NotImplementedError) as error:
        found = f"column {name!r}: expected a folder whose value {kind} can hold, found {text!r}"
        raise InvalidSchema(found, file=path) from error
