"""What do the bytes mean?

Bytes come in, frozen facts or an error go out, and facts become bytes again; nothing here reads or writes a file. Start
with `container.py`, which finds the directory at the end of a file and takes messages out of their frames;
`directory.py`, `field_descriptors.py` and `encodings.py` say what the messages state, `schema.py` and `block_map.py`
read the two tables that are no messages. `carry.py` takes messages over from one root to another, `schema_carry.py` a
schema that changes. `root_files.py` says which files a root owns, and `parquet_footer.py` what footers of Parquet files
state. A number that the file states is compared with the bytes at hand before anything is sized by it. The way back is
`encode` on every fact, `encode_*` for what is no message, and `frame` around it.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.format.attachments import (
        ATTACHMENT_PROPERTY,
        ROW_GROUPS_PROPERTY,
        attachment_of,
        attachment_property,
        row_groups_of,
        row_groups_property,
    )
    from amudai.format.block_map import DATA_ALIGNMENT, BlockMap, check_map_padding, decode_block_map, encode_block_map
    from amudai.format.carry import carried, unknown_fields, unknown_fields_of_stripes
    from amudai.format.container import (
        BUFFER_ALIGNMENT,
        DIRECTORY_LENGTH,
        FOOTER,
        HEADER,
        MAGIC,
        MAX_DIRECTORY,
        MIN_SHARD_SIZE,
        TAIL_READ,
        check_footer,
        check_header,
        check_zeros,
        checksum,
        directory_length,
        directory_range,
        frame,
        frame_directory,
        unframe,
    )
    from amudai.format.dictionary import (
        DictionaryHeader,
        ValueDictionary,
        check_dictionary_padding,
        encode_dictionary,
        section,
    )
    from amudai.format.directory import (
        ShardDirectory,
        ShardProperties,
        StripeDirectory,
        StripeList,
        StripeProperties,
        with_property,
    )
    from amudai.format.encodings import (
        BufferKind,
        DataEncoding,
        EncodedBuffer,
        NativeEncoding,
        ParquetColumnChunk,
        ParquetEncoding,
        ParquetFileColumn,
        UnknownEncoding,
    )
    from amudai.format.entries import require_few_entries
    from amudai.format.extended_types import extension_properties, extension_values
    from amudai.format.field_descriptors import (
        FieldDescriptor,
        StripeFieldDescriptor,
        field_with_indexes,
        true_count,
        without_field_indexes,
    )
    from amudai.format.flat import FlatTable
    from amudai.format.followed import (
        FOLLOWED_PROPERTY,
        MARKED_BYTES,
        FollowedFile,
        followed_of,
        followed_property,
        mark_of,
    )
    from amudai.format.identity import IDENTITY_SIZE, IdentityHash, require_identity, without_identity
    from amudai.format.indexed_fields import indexed_fields_of, with_indexed_fields
    from amudai.format.indexes import IndexArtifact, IndexCollection, IndexDescriptor, changed_indexes
    from amudai.format.lookup import LOOKUP, LookupBuffer, lookup_buffers, lookup_property
    from amudai.format.moved import COMPLETE, MOVED, MOVED_PROPERTY, MovedIndex, moved_indexes
    from amudai.format.parquet_footer import ParquetChunkFacts, ParquetFooter
    from amudai.format.plain_fields import PlainBuffers, plain_buffers
    from amudai.format.property_values import (
        AnyValue,
        Properties,
        ValueKind,
        any_value,
        any_values,
        python_value,
        python_values,
        ticks_of,
    )
    from amudai.format.range_index import LOGICAL_BLOCK_SIZE, RangeIndexHeader, encode_range_index
    from amudai.format.references import DataRef, FieldList, UrlList
    from amudai.format.root_files import (
        FILES_PROPERTY,
        Fingerprint,
        RootFiles,
        has_root_files,
        noted_time,
        references_of,
        with_root_files,
    )
    from amudai.format.schema import SHARED_BYTES, SHARED_SCHEMAS, ShardSchema
    from amudai.format.schema_carry import changeable_schema
    from amudai.format.schema_writer import encode_schema
    from amudai.format.shared_dictionary import SharedDictionary, check_shared_padding, encode_shared
    from amudai.format.source_marks import (
        MAX_SOURCE_MARKS,
        SOURCES_PROPERTY,
        source_mark,
        source_marks_of,
        source_marks_property,
    )
    from amudai.format.statistics import (
        BinaryStats,
        BloomFilter,
        BooleanStats,
        Cardinality,
        DecimalStats,
        FloatingStats,
        HllSketch,
        ListStats,
        RangeStats,
        StringStats,
        TypeStats,
    )
    from amudai.format.super_blocks import (
        check_super_block_padding,
        decode_super_block,
        super_block_header,
        super_block_header_size,
        super_block_members,
    )
    from amudai.format.uniting import united_properties
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.format.attachments": (
                "ATTACHMENT_PROPERTY ROW_GROUPS_PROPERTY attachment_of attachment_property row_groups_of "
                "row_groups_property"
            ),
            "amudai.format.plain_fields": "PlainBuffers plain_buffers",
            "amudai.format.property_values": (
                "AnyValue Properties ValueKind any_value any_values python_value python_values ticks_of"
            ),
            "amudai.format.block_map": "check_map_padding DATA_ALIGNMENT BlockMap decode_block_map encode_block_map",
            "amudai.format.carry": "carried unknown_fields unknown_fields_of_stripes",
            "amudai.format.container": (
                "BUFFER_ALIGNMENT DIRECTORY_LENGTH FOOTER HEADER MAGIC MAX_DIRECTORY MIN_SHARD_SIZE TAIL_READ "
                "check_footer check_header check_zeros checksum directory_length directory_range frame "
                "frame_directory unframe"
            ),
            "amudai.format.dictionary": (
                "DictionaryHeader ValueDictionary check_dictionary_padding encode_dictionary section"
            ),
            "amudai.format.directory": (
                "ShardDirectory ShardProperties StripeDirectory StripeList StripeProperties with_property"
            ),
            "amudai.format.encodings": (
                "BufferKind DataEncoding EncodedBuffer NativeEncoding ParquetColumnChunk ParquetEncoding "
                "ParquetFileColumn UnknownEncoding"
            ),
            "amudai.format.entries": "require_few_entries",
            "amudai.format.extended_types": "extension_properties extension_values",
            "amudai.format.field_descriptors": (
                "FieldDescriptor StripeFieldDescriptor field_with_indexes true_count without_field_indexes"
            ),
            "amudai.format.flat": "FlatTable",
            "amudai.format.identity": "IDENTITY_SIZE IdentityHash require_identity without_identity",
            "amudai.format.indexed_fields": "indexed_fields_of with_indexed_fields",
            "amudai.format.indexes": "IndexArtifact IndexCollection IndexDescriptor changed_indexes",
            "amudai.format.lookup": "LOOKUP LookupBuffer lookup_buffers lookup_property",
            "amudai.format.moved": "COMPLETE MOVED MOVED_PROPERTY MovedIndex moved_indexes",
            "amudai.format.parquet_footer": "ParquetChunkFacts ParquetFooter",
            "amudai.format.range_index": "LOGICAL_BLOCK_SIZE RangeIndexHeader encode_range_index",
            "amudai.format.references": "DataRef FieldList UrlList",
            "amudai.format.root_files": (
                "FILES_PROPERTY Fingerprint RootFiles has_root_files noted_time references_of with_root_files"
            ),
            "amudai.format.schema": "SHARED_BYTES SHARED_SCHEMAS ShardSchema",
            "amudai.format.schema_carry": "changeable_schema",
            "amudai.format.schema_writer": "encode_schema",
            "amudai.format.followed": (
                "FOLLOWED_PROPERTY MARKED_BYTES FollowedFile followed_of followed_property mark_of"
            ),
            "amudai.format.shared_dictionary": "SharedDictionary check_shared_padding encode_shared",
            "amudai.format.source_marks": (
                "MAX_SOURCE_MARKS SOURCES_PROPERTY source_mark source_marks_of source_marks_property"
            ),
            "amudai.format.statistics": (
                "BinaryStats BloomFilter BooleanStats Cardinality DecimalStats FloatingStats HllSketch ListStats "
                "RangeStats StringStats TypeStats"
            ),
            "amudai.format.super_blocks": (
                "check_super_block_padding decode_super_block super_block_header super_block_header_size "
                "super_block_members"
            ),
            "amudai.format.uniting": "united_properties",
        },
    )

__all__ = [
    "ATTACHMENT_PROPERTY",
    "BUFFER_ALIGNMENT",
    "COMPLETE",
    "DATA_ALIGNMENT",
    "DIRECTORY_LENGTH",
    "FILES_PROPERTY",
    "FOLLOWED_PROPERTY",
    "FOOTER",
    "HEADER",
    "IDENTITY_SIZE",
    "LOGICAL_BLOCK_SIZE",
    "LOOKUP",
    "MAGIC",
    "MARKED_BYTES",
    "MAX_DIRECTORY",
    "MAX_SOURCE_MARKS",
    "MIN_SHARD_SIZE",
    "MOVED",
    "MOVED_PROPERTY",
    "ROW_GROUPS_PROPERTY",
    "SHARED_BYTES",
    "SHARED_SCHEMAS",
    "SOURCES_PROPERTY",
    "TAIL_READ",
    "AnyValue",
    "BinaryStats",
    "BlockMap",
    "BloomFilter",
    "BooleanStats",
    "BufferKind",
    "Cardinality",
    "DataEncoding",
    "DataRef",
    "DecimalStats",
    "DictionaryHeader",
    "EncodedBuffer",
    "FieldDescriptor",
    "FieldList",
    "Fingerprint",
    "FlatTable",
    "FloatingStats",
    "FollowedFile",
    "HllSketch",
    "IdentityHash",
    "IndexArtifact",
    "IndexCollection",
    "IndexDescriptor",
    "ListStats",
    "LookupBuffer",
    "MovedIndex",
    "NativeEncoding",
    "ParquetChunkFacts",
    "ParquetColumnChunk",
    "ParquetEncoding",
    "ParquetFileColumn",
    "ParquetFooter",
    "PlainBuffers",
    "Properties",
    "RangeIndexHeader",
    "RangeStats",
    "RootFiles",
    "ShardDirectory",
    "ShardProperties",
    "ShardSchema",
    "SharedDictionary",
    "StringStats",
    "StripeDirectory",
    "StripeFieldDescriptor",
    "StripeList",
    "StripeProperties",
    "TypeStats",
    "UnknownEncoding",
    "UrlList",
    "ValueDictionary",
    "ValueKind",
    "any_value",
    "any_values",
    "attachment_of",
    "attachment_property",
    "carried",
    "changeable_schema",
    "changed_indexes",
    "check_dictionary_padding",
    "check_footer",
    "check_header",
    "check_map_padding",
    "check_shared_padding",
    "check_super_block_padding",
    "check_zeros",
    "checksum",
    "decode_block_map",
    "decode_super_block",
    "directory_length",
    "directory_range",
    "encode_block_map",
    "encode_dictionary",
    "encode_range_index",
    "encode_schema",
    "encode_shared",
    "extension_properties",
    "extension_values",
    "field_with_indexes",
    "followed_of",
    "followed_property",
    "frame",
    "frame_directory",
    "has_root_files",
    "indexed_fields_of",
    "lookup_buffers",
    "lookup_property",
    "mark_of",
    "moved_indexes",
    "noted_time",
    "plain_buffers",
    "python_value",
    "python_values",
    "references_of",
    "require_few_entries",
    "require_identity",
    "row_groups_of",
    "row_groups_property",
    "section",
    "source_mark",
    "source_marks_of",
    "source_marks_property",
    "super_block_header",
    "super_block_header_size",
    "super_block_members",
    "ticks_of",
    "true_count",
    "unframe",
    "united_properties",
    "unknown_fields",
    "unknown_fields_of_stripes",
    "with_indexed_fields",
    "with_property",
    "with_root_files",
    "without_field_indexes",
    "without_identity",
]
