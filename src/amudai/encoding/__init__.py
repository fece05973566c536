"""How do values become blocks?

Encoded buffers go in, Arrow buffers come out; nothing here knows stripes, schemas or URLs. Start with `buffer.py`,
which finds the blocks of a range of positions, then `decode.py`, which hands runs of blocks to the kernels, and
`compare.py`, which asks them what they hold instead. `numeric/` and `binary/` list the encodings, one module each.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.encoding.binary.catalog import BINARY
    from amudai.encoding.binary.choice import BytesBlock
    from amudai.encoding.block_ends import BlockEnds
    from amudai.encoding.buffer import BlockBuffer, check_identity
    from amudai.encoding.bytes import BytesEncoder
    from amudai.encoding.codec import compress_small_numbers, compress_zstd, encode_section, steps_section
    from amudai.encoding.column_profiles import ColumnProfiles, ProfileChoice, profiles_of
    from amudai.encoding.compare import (
        ByteKeys,
        DecimalRanges,
        NumberRanges,
        TextSearch,
        Wanted,
        compare_bytes,
        compare_codes,
        compare_decimals,
        compare_numbers,
        search_texts,
    )
    from amudai.encoding.decode import (
        allocate,
        decode_bits,
        decode_decimals,
        decode_dictionary,
        decode_divided,
        decode_few,
        decode_few_bytes,
        decode_fixed,
        decode_numbers,
        decode_variable,
        decode_views,
        describe_binary,
        describe_each,
        describe_numbers,
        open_numbers,
        require_text,
    )
    from amudai.encoding.decoded import DecimalForm, Unit, Values
    from amudai.encoding.dictionary import DictionaryEncoder
    from amudai.encoding.frames import inflated
    from amudai.encoding.memory import COLUMN_MEMORY, ColumnMemory
    from amudai.encoding.number_dictionary import NumberDictionary
    from amudai.encoding.numbers import NumberEncoder
    from amudai.encoding.numeric.catalog import NUMERIC
    from amudai.encoding.packed import MemberBlocks, SuperBlocks
    from amudai.encoding.plan import EncodingPlan
    from amudai.encoding.prepared import PreparedBuffer
    from amudai.encoding.profile import PROFILES, Profile, profile_of
    from amudai.encoding.range_index import RangeIndex, decode_range_index
    from amudai.encoding.range_index_builder import RangeIndexBuilder
    from amudai.encoding.slots import CodedSlots, ValueSlots
    from amudai.encoding.small_columns import (
        SMALL_COLUMNS_MEMORY,
        SmallColumns,
        decode_small_columns,
        small_kind,
        small_marks,
        small_size,
    )
    from amudai.encoding.text import GUID_LENGTH, first_not_json, guid_texts, is_text, texts_among
    from amudai.encoding.units import divided_exactly
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.encoding.binary.catalog": "BINARY",
            "amudai.encoding.binary.choice": "BytesBlock",
            "amudai.encoding.block_ends": "BlockEnds",
            "amudai.encoding.buffer": "BlockBuffer check_identity",
            "amudai.encoding.bytes": "BytesEncoder",
            "amudai.encoding.codec": "compress_small_numbers compress_zstd encode_section steps_section",
            "amudai.encoding.column_profiles": "ColumnProfiles ProfileChoice profiles_of",
            "amudai.encoding.compare": (
                "ByteKeys DecimalRanges NumberRanges TextSearch Wanted compare_bytes compare_codes compare_decimals "
                "compare_numbers search_texts"
            ),
            "amudai.encoding.decode": (
                "allocate decode_bits decode_decimals decode_dictionary decode_divided decode_few decode_few_bytes "
                "decode_fixed decode_numbers decode_variable decode_views describe_binary describe_each "
                "describe_numbers open_numbers require_text"
            ),
            "amudai.encoding.decoded": "DecimalForm Unit Values",
            "amudai.encoding.dictionary": "DictionaryEncoder",
            "amudai.encoding.frames": "inflated",
            "amudai.encoding.number_dictionary": "NumberDictionary",
            "amudai.encoding.numbers": "NumberEncoder",
            "amudai.encoding.numeric.catalog": "NUMERIC",
            "amudai.encoding.packed": "MemberBlocks SuperBlocks",
            "amudai.encoding.plan": "EncodingPlan",
            "amudai.encoding.prepared": "PreparedBuffer",
            "amudai.encoding.profile": "PROFILES Profile profile_of",
            "amudai.encoding.range_index": "RangeIndex decode_range_index",
            "amudai.encoding.range_index_builder": "RangeIndexBuilder",
            "amudai.encoding.memory": "COLUMN_MEMORY ColumnMemory",
            "amudai.encoding.slots": "CodedSlots ValueSlots",
            "amudai.encoding.small_columns": (
                "SMALL_COLUMNS_MEMORY SmallColumns decode_small_columns small_kind small_marks small_size"
            ),
            "amudai.encoding.text": "GUID_LENGTH first_not_json guid_texts is_text texts_among",
            "amudai.encoding.units": "divided_exactly",
        },
    )

__all__ = [
    "BINARY",
    "COLUMN_MEMORY",
    "GUID_LENGTH",
    "NUMERIC",
    "PROFILES",
    "SMALL_COLUMNS_MEMORY",
    "BlockBuffer",
    "BlockEnds",
    "ByteKeys",
    "BytesBlock",
    "BytesEncoder",
    "CodedSlots",
    "ColumnMemory",
    "ColumnProfiles",
    "DecimalForm",
    "DecimalRanges",
    "DictionaryEncoder",
    "EncodingPlan",
    "MemberBlocks",
    "NumberDictionary",
    "NumberEncoder",
    "NumberRanges",
    "PreparedBuffer",
    "Profile",
    "ProfileChoice",
    "RangeIndex",
    "RangeIndexBuilder",
    "SmallColumns",
    "SuperBlocks",
    "TextSearch",
    "Unit",
    "ValueSlots",
    "Values",
    "Wanted",
    "allocate",
    "check_identity",
    "compare_bytes",
    "compare_codes",
    "compare_decimals",
    "compare_numbers",
    "compress_small_numbers",
    "compress_zstd",
    "decode_bits",
    "decode_decimals",
    "decode_dictionary",
    "decode_divided",
    "decode_few",
    "decode_few_bytes",
    "decode_fixed",
    "decode_numbers",
    "decode_range_index",
    "decode_small_columns",
    "decode_variable",
    "decode_views",
    "describe_binary",
    "describe_each",
    "describe_numbers",
    "divided_exactly",
    "encode_section",
    "first_not_json",
    "guid_texts",
    "inflated",
    "is_text",
    "open_numbers",
    "profile_of",
    "profiles_of",
    "require_text",
    "search_texts",
    "small_kind",
    "small_marks",
    "small_size",
    "steps_section",
    "texts_among",
]
