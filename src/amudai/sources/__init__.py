"""How does foreign data become batches?

`source.py` has `read_files`. It finds files (`finding.py`: folders, patterns, archives, stores), chooses the format of
each (`catalog.py`, one module for every format, and `recognise.py`), asks for its schema, makes one schema of them
(`unify.py`, with the columns of folders from `partitions.py`) and then reads batch by batch. An `InputFile`
(`files.py`) has a name, a compression and its bytes (`content.py`), wherever these are. Formats that are text are cut
into whole records with known line numbers (`records.py`), so that a bad one can be named, skipped or kept. `text.py`
decides on their encoding and reads them as UTF-8. `csv/` and `json/` state the rules of CSV and JSON. `logs/` knows
what well-known logs look like, `type_names.py` what types are called. `taken_in.py` knows which files shards were made
from. `growing.py` reads files that others are still writing.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.sources.catalog import FORMATS
    from amudai.sources.content import MemoryContent
    from amudai.sources.contract import Decision, Duplicates, MixedZones, Multiline, SourceOptions
    from amudai.sources.files import InputFile
    from amudai.sources.finding import SkippedFile
    from amudai.sources.growing import GrowingFile, GrowingStream, GrowingText
    from amudai.sources.partitions import Partitions, folder_columns
    from amudai.sources.reading import Inputs, read_files
    from amudai.sources.records import BadRecord, BadRecords, OnError, Tell
    from amudai.sources.source import Source
    from amudai.sources.unify import unified
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.sources.catalog": "FORMATS",
            "amudai.sources.contract": "Decision Duplicates MixedZones Multiline SourceOptions",
            "amudai.sources.files": "InputFile",
            "amudai.sources.content": "MemoryContent",
            "amudai.sources.finding": "SkippedFile",
            "amudai.sources.growing": "GrowingFile GrowingStream GrowingText",
            "amudai.sources.partitions": "Partitions folder_columns",
            "amudai.sources.records": "BadRecord BadRecords OnError Tell",
            "amudai.sources.reading": "Inputs read_files",
            "amudai.sources.source": "Source",
            "amudai.sources.unify": "unified",
        },
    )

__all__ = [
    "FORMATS",
    "BadRecord",
    "BadRecords",
    "Decision",
    "Duplicates",
    "GrowingFile",
    "GrowingStream",
    "GrowingText",
    "InputFile",
    "Inputs",
    "MemoryContent",
    "MixedZones",
    "Multiline",
    "OnError",
    "Partitions",
    "SkippedFile",
    "Source",
    "SourceOptions",
    "Tell",
    "folder_columns",
    "read_files",
    "unified",
]
