"""How do batches become text for other programs?

`columns.py` prepares an Arrow array for the kernels, which write its values as JSON or as cells of CSV. `writers.py`
has `CsvWriter` and `JsonLinesWriter`, which write batches to a stream, a few thousand rows at a time.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.exports.writers import CsvWriter, JsonLinesWriter
else:
    __getattr__, __dir__ = lazy_names(__name__, {"amudai.exports.writers": "CsvWriter JsonLinesWriter"})

__all__ = ["CsvWriter", "JsonLinesWriter"]
