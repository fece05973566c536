"""The list of numeric encodings."""

from __future__ import annotations

from typing import Final

from amudai.encoding.numeric.alp import ALP
from amudai.encoding.numeric.alprd import ALPRD
from amudai.encoding.numeric.block_dictionary import BLOCK_DICTIONARY
from amudai.encoding.numeric.chimp import CHIMP
from amudai.encoding.numeric.contract import NumericEncoding
from amudai.encoding.numeric.delta import DELTA
from amudai.encoding.numeric.ffor import FFOR
from amudai.encoding.numeric.fl_bit_pack import FL_BIT_PACK
from amudai.encoding.numeric.frame_of_reference import FRAME_OF_REFERENCE
from amudai.encoding.numeric.lz4 import LZ4
from amudai.encoding.numeric.patched import PATCHED
from amudai.encoding.numeric.pco import PCO
from amudai.encoding.numeric.plain import PLAIN
from amudai.encoding.numeric.run_length import RUN_LENGTH
from amudai.encoding.numeric.single_value import SINGLE_VALUE
from amudai.encoding.numeric.snappy import SNAPPY
from amudai.encoding.numeric.sparse import SPARSE
from amudai.encoding.numeric.truncate import TRUNCATE_U8, TRUNCATE_U16, TRUNCATE_U32, TRUNCATE_U64
from amudai.encoding.numeric.zig_zag import ZIG_ZAG
from amudai.encoding.numeric.zstd import ZSTD

__all__ = ["NUMERIC"]

NUMERIC: Final[tuple[NumericEncoding, ...]] = (
    PLAIN,
    FL_BIT_PACK,
    FRAME_OF_REFERENCE,
    FFOR,
    DELTA,
    RUN_LENGTH,
    SINGLE_VALUE,
    TRUNCATE_U8,
    TRUNCATE_U16,
    TRUNCATE_U32,
    TRUNCATE_U64,
    ALP,
    ALPRD,
    BLOCK_DICTIONARY,
    ZSTD,
    LZ4,
    ZIG_ZAG,
    SPARSE,
    PATCHED,
    CHIMP,
    PCO,
    SNAPPY,
)
