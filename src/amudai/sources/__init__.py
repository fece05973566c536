"""How does foreign data become batches?

`source.py` has `read_files`: it finds files (`files.py`), asks the format of each (`catalog.py`, one module for every
format) for its schema, makes one schema of them (`unify.py`) and then reads batch by batch. Formats that are text are
cut into whole records with known line numbers (`records.py`), so that a bad one can be named or skipped. `text.py`
decides on their encoding and reads them as UTF-8. `csv/` and `json/` state the rules of CSV and JSON. `shapes.py` knows
what well-known logs look like, `type_names.py` what types are called. `streams.py` copies streams to files.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.sources.catalog import FORMATS
    from amudai.sources.records import BadRecord, BadRecords, Tell
    from amudai.sources.source import Inputs, Source, read_files
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.sources.catalog": "FORMATS",
            "amudai.sources.records": "BadRecord BadRecords Tell",
            "amudai.sources.source": "Inputs Source read_files",
        },
    )

__all__ = ["FORMATS", "BadRecord", "BadRecords", "Inputs", "Source", "Tell", "read_files"]
