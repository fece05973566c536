"""Opening a JSON file and reading its batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import pyarrow as pa

from amudai.errors import UnsupportedFeature
from amudai.sources.contract import Decision, FilePiece, PieceReader, SourceFormat, SourceOptions
from amudai.sources.files import InputFile
from amudai.sources.json.columns import columns_of
from amudai.sources.json.inference import Inferred, inferred
from amudai.sources.json.plan import Plan
from amudai.sources.json.records import RecordBlock, Shape, blocks_of

__all__ = ["JSON"]


class JsonReader(PieceReader):
    """A JSON file of any shape."""

    def __init__(self, file: InputFile, found: Inferred, shape: Shape, options: SourceOptions) -> None:
        name = "values" if found.are_values else shape.name.lower()
        super().__init__(file, found.schema, (Decision("shape", name),))
        self._are_values = found.are_values
        self._shape = shape
        self._options = options
        self._notes = found.notes

    def pieces(self, schema: pa.Schema, *, raises: bool) -> Iterator[Callable[[], FilePiece]]:  # noqa: ARG002
        """The records of the file, block by block."""
        told, nan = frozenset(self._options.types), self._options.json.nan
        plan = Plan.of_values(schema, told, nan=nan) if self._are_values else Plan.of(schema, told, nan=nan)

        def read(block: RecordBlock) -> FilePiece:
            batch, refused = columns_of(block.records, plan)
            return FilePiece([batch], [(each.line, each.reason, each.text) for each in (*refused, *block.refused)])

        for block in blocks_of(self.file, self._options.encoding, self._shape):
            yield partial(read, block)

    def continued(self, file: InputFile) -> JsonReader:
        """A reader of lines that follow in the same file."""
        if self._shape is not Shape.LINES:
            raise UnsupportedFeature("follow: expected JSON lines, found one document", file=file.path)
        return JsonReader(file, Inferred(self.schema, are_values=self._are_values), self._shape, self._options)

    def notes(self) -> tuple[str, ...]:
        """Which columns were kept as text, and why."""
        return self._notes


def _open(file: InputFile, options: SourceOptions) -> JsonReader:
    shape, found = Shape.LINES, Inferred(pa.schema([]))
    for block in blocks_of(file, options.encoding):
        shape = block.shape
        if len(block.records):
            found = inferred(block.records, options, are_values=block.holds_values())
            break
    return JsonReader(file, found, shape, options)


JSON: Final = SourceFormat(name="json", endings=(".jsonl", ".ndjson", ".json"), open=_open, open_ended=True)
