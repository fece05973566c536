"""Reading JSON lines.

Each line is an object. The columns and their types come from the first block of a file. A later line with a new field,
or with a value of another type, is a bad record: no value is dropped silently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from amudai.sources.contract import FileReader, SourceFormat, SourceOptions
from amudai.sources.exact import FIRST_ROUNDED, check_integers
from amudai.sources.files import InputFile
from amudai.sources.records import ENOUGH, BadRecords, LineReader, Lines, Records, accepted, parsed
from amudai.sources.unify import merged_schema

__all__ = ["JSON_LINES"]

_ROW: Final = re.compile(r"^JSON parse error: |(?: in row \d+)$")


def _records(file: InputFile, lines: Lines) -> Records:
    starts = np.concatenate([[0], lines.ends[:-1] + 1])
    data = np.frombuffer(lines.data, np.uint8)
    filled = (data[starts] != ord("\n")) & (data[starts] != ord("\r"))
    for line in np.flatnonzero((data[starts] == ord(" ")) | (data[starts] == ord("\t"))).tolist():
        filled[line] = bool(lines.text(line).strip())
    numbers = np.arange(lines.first, lines.first + len(starts))
    return Records(file, lines.data, starts[filled], lines.ends[filled] + 1, numbers[filled])


def _read(records: Records, schema: pa.Schema | None) -> pa.Table:
    _check_lines(records)
    content = records.content()
    options = pa.json.ParseOptions()
    if schema is not None:
        options = pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    # One block, because the records are complete.
    read = pa.json.ReadOptions(block_size=len(content) + 1)
    table = pa.json.read_json(pa.BufferReader(content), read, options)
    table.validate(full=True)  # pyarrow does not check that text is UTF-8
    return table


def _schema(file: InputFile, options: SourceOptions) -> pa.Schema:
    for lines in LineReader(file):
        records = _records(file, lines)
        if not len(records):
            continue
        # Types from the caller apply from the first line on, whatever pyarrow would infer.
        found = pa.schema([])
        for table in accepted(records, partial(_read, schema=None), [], limit=ENOUGH):
            found = merged_schema(found, table.schema, widen=True)
        return pa.schema([field.with_type(options.types.get(field.name, field.type)) for field in found])
    return pa.schema([])


def _check_lines(records: Records) -> None:
    """Raise an error for what pyarrow accepts: bytes that are not UTF-8, and objects that span several lines.

    If every line begins and ends with a brace, no object can continue on the next line.
    """
    try:
        str(records.content(), "utf-8")
    except UnicodeDecodeError as error:
        raise pa.ArrowInvalid("bytes that are not UTF-8") from error
    data = np.frombuffer(records.data, np.uint8)
    braces = (data[records.starts] == ord("{")) & (data[records.ends - 2] == ord("}"))
    for index in np.flatnonzero(~braces).tolist():
        line = records.text(index).strip()
        if not (line.startswith(b"{") and line.endswith(b"}")):
            raise pa.ArrowInvalid("a line that is no JSON object")


class JsonLinesReader(FileReader):
    """A file of JSON lines."""

    def __init__(self, file: InputFile, schema: pa.Schema, options: SourceOptions) -> None:
        super().__init__(file, schema)
        self._options = options

    def batches(self, schema: pa.Schema, bad: BadRecords) -> Iterator[pa.RecordBatch]:
        """The objects of the file."""
        parse = partial(_parsed, schema=schema, options=self._options)
        for lines in LineReader(self.file):
            for table in parsed(_records(self.file, lines), parse, bad, partial(_suspects, schema=schema)):
                yield from table.to_batches()


def _reader(file: InputFile, options: SourceOptions) -> JsonLinesReader:
    return JsonLinesReader(file, _schema(file, options), options)


def _parsed(records: Records, schema: pa.Schema, options: SourceOptions) -> pa.Table:
    try:
        table = _read(records, schema)
    except pa.ArrowInvalid as error:
        if len(records) > 1:
            raise
        raise pa.ArrowInvalid(_explained(str(error), records.text(0), schema)) from error
    for field in schema:
        if field.type == pa.float64() and field.name not in options.types and table.num_rows == len(records):
            large = pc.fill_null(pc.greater_equal(pc.abs(table[field.name]), FIRST_ROUNDED), False)
            for index in np.flatnonzero(large.to_numpy()).tolist():
                one = records[index : index + 1]
                check_integers(one, field.name, [_value(one.text(0), field.name)])
    return table


def _suspects(records: Records, schema: pa.Schema) -> npt.NDArray[np.bool_]:
    """Lines that are not an object, have other fields, or have a value that does not look like its column's type."""
    kinds = {field.name: _python_types(field.type) for field in schema}
    return np.array([_is_suspect(records.text(index), kinds) for index in range(len(records))], np.bool_)


def _is_suspect(line: bytes, kinds: dict[str, tuple[type, ...]]) -> bool:
    try:
        found = json.loads(line)
    except ValueError:
        return True
    if not isinstance(found, dict):
        return True
    return any(
        name not in kinds or (value is not None and type(value) not in kinds[name]) for name, value in found.items()
    )


def _python_types(kind: pa.DataType) -> tuple[type, ...]:
    """The Python types of parsed JSON values that this Arrow type can hold."""
    if pa.types.is_boolean(kind):
        return (bool,)
    if pa.types.is_integer(kind):
        return (int,)
    if pa.types.is_floating(kind):
        return (int, float)
    if pa.types.is_struct(kind) or pa.types.is_map(kind):
        return (dict,)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return (list,)
    return (str,)


def _value(line: bytes, name: str) -> Any:
    return json.loads(line).get(name)


def _explained(message: str, line: bytes, schema: pa.Schema) -> str:
    """The message of pyarrow, with the name of the unexpected field."""
    message = _ROW.sub("", message)
    if "unexpected field" in message:
        try:
            names = json.loads(line)
        except ValueError:
            return message
        odd = next((name for name in names if name not in schema.names), None) if isinstance(names, dict) else None
        place = f"the field {odd!r}" if odd is not None else "a nested field"
        return f"{place} that the first records do not have; types= can name it"
    if "convert" in message or "changed from" in message:
        return f"{message}; types= can say what a column holds"
    return message


JSON_LINES: Final = SourceFormat(name="json", endings=(".jsonl", ".ndjson", ".json"), open=_reader, open_ended=True)
