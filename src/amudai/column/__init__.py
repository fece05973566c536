"""What are a column's values, wherever they lie?

`contract.py` says what a `ColumnSource` can be asked. There is one module for each way to store a column: `blocks.py`,
`dictionary.py`, `constant.py`, `absent.py`, `structs.py`, `lists.py`, `unions.py`, `parquet.py`. `open.py` opens a
column and `policy.py` picks among its encodings; nothing outside this room asks how values are stored. Sources form a
tree: each container opens and keeps the columns below it. Values leave as `ColumnValues`, trees of decoded buffers or
arrays of another format: what Arrow makes of them is the matter of `arrow`.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.column.column_values import (
        AbsentValues,
        ArrowValues,
        ColumnValues,
        ConstantValues,
        CountedValues,
        JoinedValues,
        StoredValues,
        TimeValues,
        ViewedValues,
    )
    from amudai.column.constant import constant_of
    from amudai.column.context import ColumnContext, Prefer
    from amudai.column.contract import ColumnSource, DictionaryCodes
    from amudai.column.layout import BlockLayout, BufferLayout, CheckedBuffers, ColumnLayout
    from amudai.column.open import open_column, open_top_column
    from amudai.column.parquet_files import ParquetFile
    from amudai.column.projection import Projection
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.column.column_values": (
                "AbsentValues ArrowValues ColumnValues ConstantValues CountedValues JoinedValues StoredValues "
                "TimeValues ViewedValues"
            ),
            "amudai.column.constant": "constant_of",
            "amudai.column.context": "ColumnContext Prefer",
            "amudai.column.contract": "DictionaryCodes ColumnSource",
            "amudai.column.layout": "BlockLayout BufferLayout CheckedBuffers ColumnLayout",
            "amudai.column.open": "open_column open_top_column",
            "amudai.column.parquet_files": "ParquetFile",
            "amudai.column.projection": "Projection",
        },
    )

__all__ = [
    "AbsentValues",
    "ArrowValues",
    "BlockLayout",
    "BufferLayout",
    "CheckedBuffers",
    "ColumnContext",
    "ColumnLayout",
    "ColumnSource",
    "ColumnValues",
    "ConstantValues",
    "CountedValues",
    "DictionaryCodes",
    "JoinedValues",
    "ParquetFile",
    "Prefer",
    "Projection",
    "StoredValues",
    "TimeValues",
    "ViewedValues",
    "constant_of",
    "open_column",
    "open_top_column",
]
