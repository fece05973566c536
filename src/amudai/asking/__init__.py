"""What may a person ask, and how does a person read the answer?

Programs for people share this room: the command line and the page in a browser. `words.py` looks for words,
`completion.py` says what may come next in a query. `values.py` and `amounts.py` turn values and amounts into text, and
`file_writers.py` writes rows to files. Like any other program, this room uses the public names of `amudai` only.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.asking.amounts import count_text, rate_text, size_text, time_text
    from amudai.asking.completion import KQL_OPERATORS, KqlWords, completer
    from amudai.asking.file_writers import WRITERS, BatchWriter, ParquetWriter
    from amudai.asking.values import json_line, json_value, json_values, texts
    from amudai.asking.words import Words
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.asking.amounts": "count_text rate_text size_text time_text",
            "amudai.asking.completion": "KQL_OPERATORS KqlWords completer",
            "amudai.asking.file_writers": "WRITERS BatchWriter ParquetWriter",
            "amudai.asking.values": "json_line json_value json_values texts",
            "amudai.asking.words": "Words",
        },
    )

__all__ = [
    "KQL_OPERATORS",
    "WRITERS",
    "BatchWriter",
    "KqlWords",
    "ParquetWriter",
    "Words",
    "completer",
    "count_text",
    "json_line",
    "json_value",
    "json_values",
    "rate_text",
    "size_text",
    "texts",
    "time_text",
]
