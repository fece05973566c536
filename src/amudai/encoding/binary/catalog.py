"""The list of binary encodings."""

from __future__ import annotations

from typing import Final

from amudai.encoding.binary.block_dictionary import BLOCK_DICTIONARY
from amudai.encoding.binary.contract import BinaryEncoding
from amudai.encoding.binary.fsst import FSST
from amudai.encoding.binary.lz4 import LZ4
from amudai.encoding.binary.plain import PLAIN
from amudai.encoding.binary.shared import LZ4_SHARED, ZSTD_SHARED
from amudai.encoding.binary.single_value import SINGLE_VALUE
from amudai.encoding.binary.snappy import SNAPPY
from amudai.encoding.binary.zstd import ZSTD

__all__ = ["BINARY"]

BINARY: Final[tuple[BinaryEncoding, ...]] = (
    PLAIN,
    SINGLE_VALUE,
    BLOCK_DICTIONARY,
    FSST,
    ZSTD,
    LZ4,
    SNAPPY,
    ZSTD_SHARED,
    LZ4_SHARED,
)
