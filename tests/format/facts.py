"""Facts that a writer may state, for property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from amudai.format import (
    AnyValue,
    BinaryStats,
    BloomFilter,
    BooleanStats,
    BufferKind,
    Cardinality,
    DataRef,
    DecimalStats,
    EncodedBuffer,
    FieldDescriptor,
    FloatingStats,
    HllSketch,
    IndexArtifact,
    IndexCollection,
    IndexDescriptor,
    ListStats,
    NativeEncoding,
    ParquetColumnChunk,
    ParquetEncoding,
    ParquetFileColumn,
    RangeStats,
    ShardDirectory,
    ShardProperties,
    StringStats,
    StripeDirectory,
    StripeFieldDescriptor,
    StripeList,
    StripeProperties,
    UrlList,
)

U32 = st.one_of(st.integers(0, 3), st.integers(0, 2**32 - 1))
U64 = st.one_of(st.integers(0, 3), st.integers(0, 2**64 - 1))
I64 = st.integers(-(2**63), 2**63 - 1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def ordered(pair: tuple[int, int]) -> tuple[int, int]:
    return min(pair), max(pair)


SPANS = st.tuples(U64, U64).map(ordered)
REFS = st.builds(lambda url, span: DataRef(url, *span), TEXT, SPANS)

LEAVES = st.one_of(
    st.just(("null", None)),
    st.tuples(st.just("bool"), st.booleans()),
    st.tuples(st.just("u64"), U64),
    st.tuples(st.just("i64"), I64),
    st.tuples(st.just("double"), st.floats(allow_nan=False)),
    st.tuples(st.just("datetime"), U64),
    st.tuples(st.just("timespan"), I64),
    st.tuples(st.just("string"), TEXT),
    st.tuples(st.just("bytes"), st.binary(max_size=8)),
    st.tuples(st.just("decimal"), st.binary(min_size=16, max_size=16)),
    st.tuples(st.just("data_ref"), REFS),
)
VALUES: st.SearchStrategy[AnyValue] = st.recursive(
    st.builds(lambda leaf, note: AnyValue(*leaf, note), LEAVES, maybe(TEXT)),
    lambda inner: st.one_of(
        st.builds(AnyValue, st.just("list"), st.lists(inner, max_size=3).map(tuple), maybe(TEXT)),
        st.builds(AnyValue, st.just("struct"), st.lists(st.tuples(TEXT, inner), max_size=3).map(tuple)),
    ),
    max_leaves=6,
)
PROPERTIES = st.lists(st.tuples(TEXT, VALUES), max_size=3).map(tuple)

RANGES = st.builds(
    RangeStats, min=maybe(VALUES), min_inclusive=st.booleans(), max=maybe(VALUES), max_inclusive=st.booleans()
)
STRING_STATS = st.builds(StringStats, min_size=U64, min_non_empty_size=maybe(U64), max_size=U64, ascii_count=maybe(U64))
TYPE_STATS = st.one_of(
    STRING_STATS,
    st.builds(ListStats, min_length=U64, min_non_empty_length=maybe(U64), max_length=U64),
    st.builds(BinaryStats, min_length=U64, min_non_empty_length=maybe(U64), max_length=U64),
    st.builds(BooleanStats, true_count=U64, false_count=U64),
    st.builds(DecimalStats, zero_count=U64, positive_count=U64, negative_count=U64, nan_count=U64),
    st.builds(
        FloatingStats,
        zero_count=U64,
        positive_count=U64,
        negative_count=U64,
        nan_count=U64,
        positive_infinity_count=U64,
        negative_infinity_count=U64,
    ),
)
SKETCHES = st.builds(HllSketch, hash_algorithm=TEXT, hash_seed=U64, bits_per_index=U32, counters=st.binary(max_size=8))
CARDINALITIES = st.builds(Cardinality, count=maybe(U64), is_estimate=st.booleans(), sketch=maybe(SKETCHES))
BLOOMS = st.builds(
    BloomFilter,
    num_blocks=U64,
    target_fpp=st.floats(0, 1),
    num_values=U64,
    hash_algorithm=TEXT,
    hash_seed=U64,
    data=st.binary(max_size=8),
)

ARTIFACTS = st.builds(IndexArtifact, name=TEXT, properties=PROPERTIES, data=REFS)
INDEXES = st.builds(
    IndexDescriptor,
    index_type=TEXT,
    properties=PROPERTIES,
    indexed_fields=st.lists(st.lists(U32, max_size=3).map(tuple), max_size=3).map(tuple),
    artifacts=st.lists(ARTIFACTS, max_size=2).map(tuple),
    index_size=maybe(U64),
)
COLLECTIONS = st.builds(IndexCollection, st.lists(INDEXES, max_size=2).map(tuple))


@st.composite
def descriptors(draw: st.DrawFn) -> FieldDescriptor:
    positions = draw(U64)
    return FieldDescriptor(
        position_count=positions,
        null_count=draw(maybe(st.integers(0, positions))),
        constant_value=draw(maybe(VALUES)),
        dictionary_size=draw(maybe(U64)),
        range_stats=draw(maybe(RANGES)),
        type_stats=draw(maybe(TYPE_STATS)),
        cardinality=draw(maybe(CARDINALITIES)),
        bloom_filter=draw(maybe(BLOOMS)),
        indexes=draw(maybe(COLLECTIONS)),
        standard=draw(PROPERTIES),
        custom=draw(PROPERTIES),
        raw_data_size=draw(maybe(U64)),
    )


BUFFERS = st.builds(
    EncodedBuffer,
    kind=st.sampled_from(BufferKind) | st.integers(6, 2**31 - 1),
    buffer=maybe(REFS),
    block_map=maybe(REFS),
    block_count=maybe(U64),
    block_checksums=st.booleans(),
    embedded_presence=st.booleans(),
    embedded_offsets=st.booleans(),
    buffer_id=maybe(U32),
    packed_group_index=maybe(U32),
)
CHUNKS = st.builds(
    ParquetColumnChunk,
    storage_type=st.integers(0, 9),
    schema_element_id=U32,
    row_group_id=U32,
    column_chunk_id=U32,
    file_url=maybe(TEXT),
    data_pages=maybe(SPANS),
    data_page_count=U64,
    dictionary=maybe(SPANS),
    data_page_map=maybe(REFS),
)
FILES = st.builds(ParquetFileColumn, REFS, st.lists(CHUNKS, max_size=2).map(tuple))
NATIVE = st.builds(NativeEncoding, st.lists(BUFFERS, max_size=3).map(tuple), st.booleans())
PARQUET = st.builds(ParquetEncoding, st.lists(FILES, max_size=2).map(tuple))
STRIPE_FIELDS = st.builds(
    StripeFieldDescriptor,
    field=descriptors(),
    encodings=st.lists(NATIVE | PARQUET, max_size=2).map(tuple),
)


@st.composite
def stripes(draw: st.DrawFn) -> StripeDirectory:
    total = draw(U64)
    return StripeDirectory(
        field_list=draw(REFS),
        properties=draw(maybe(REFS)),
        indexes=draw(maybe(REFS)),
        shard_position=draw(U64),
        total_records=total,
        deleted_records=draw(st.integers(0, total)),
        raw_data_size=draw(maybe(U64)),
    )


@st.composite
def directories(draw: st.DrawFn) -> ShardDirectory:
    total = draw(st.integers(0, 2**62 - 1))  # more is refused
    return ShardDirectory(
        schema=draw(REFS),
        field_list=draw(REFS),
        stripe_list=draw(REFS),
        url_list=draw(REFS),
        properties=draw(maybe(REFS)),
        indexes=draw(maybe(REFS)),
        total_records=total,
        deleted_records=draw(st.integers(0, total)),
        stripe_count=draw(U64),
        raw_data_size=draw(maybe(U64)),
    )


STRIPE_LISTS = st.lists(stripes(), max_size=3).map(StripeList)
SHARD_PROPERTIES = st.builds(
    ShardProperties, creation_min=maybe(U64), creation_max=maybe(U64), standard=PROPERTIES, custom=PROPERTIES
)
STRIPE_PROPERTIES = st.builds(StripeProperties, standard=PROPERTIES, custom=PROPERTIES)
URL_LISTS = st.builds(UrlList, st.lists(TEXT, max_size=4).map(tuple))
