"""How do values become blocks?

Encoded buffers go in, Arrow buffers come out; nothing here knows stripes, schemas or URLs. Start with `buffer.py`,
which finds the blocks of a range of positions, then `decode.py`, which hands runs of blocks to the kernels. `numeric/`
and `binary/` list the encodings, one module each.
"""

from amudai.encoding.binary.catalog import BINARY
from amudai.encoding.buffer import BlockBuffer
from amudai.encoding.bytes import BytesEncoder
from amudai.encoding.decode import (
    decode_bits,
    decode_dictionary,
    decode_fixed,
    decode_numbers,
    decode_variable,
    describe_binary,
    describe_numbers,
    require_memory,
    require_text,
)
from amudai.encoding.dictionary import DictionaryEncoder
from amudai.encoding.numbers import NumberEncoder
from amudai.encoding.numeric.catalog import NUMERIC
from amudai.encoding.prepared import PreparedBuffer
from amudai.encoding.profile import PROFILES, Profile, profile_of
from amudai.encoding.range_index import RangeIndexBuilder
from amudai.encoding.ranges import Ranges
from amudai.encoding.values import Values

__all__ = [
    "BINARY",
    "NUMERIC",
    "PROFILES",
    "BlockBuffer",
    "BytesEncoder",
    "DictionaryEncoder",
    "NumberEncoder",
    "PreparedBuffer",
    "Profile",
    "RangeIndexBuilder",
    "Ranges",
    "Values",
    "decode_bits",
    "decode_dictionary",
    "decode_fixed",
    "decode_numbers",
    "decode_variable",
    "describe_binary",
    "describe_numbers",
    "profile_of",
    "require_memory",
    "require_text",
]
