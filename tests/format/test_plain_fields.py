"""Descriptors that a kernel reads beside those that protobuf reads."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai.errors import CorruptedData
from amudai.format import BufferKind, FieldList, frame, plain_buffers
from amudai.format.message import parse
from amudai.format.wire import amudai_pb2 as wire
from amudai.storage import MemoryStore
from tests.effort import examples
from tests.kernel_modules import KERNELS, with_each_kernel

pytestmark = pytest.mark.native

UNKNOWN = 2**64 - 1
ROWS = 9
LONG = 1 << 16
WORDS = st.integers(0, 3) | st.integers(0, UNKNOWN)
TEXT = st.sampled_from(["", "part", "größer", "x" * 200])


def expected(payload: bytes, positions: int) -> tuple[str, tuple[int, ...]] | None:
    """The file and the nine numbers of the buffer of a field that is stored in the simplest way, by protobuf."""
    try:
        message = parse(wire.StripeFieldDescriptor, payload)
    except CorruptedData:
        return None
    field, has = message.field, message.field.HasField
    if field.position_count != positions or field.null_count >= positions or len(message.encodings) != 1:
        return None
    if any(map(has, ("constant_value", "dictionary_size", "indexes"))) or message.encodings[0].native.packed_group:
        return None
    data: Any = None
    for buffer in message.encodings[0].native.buffers:
        if any(each.range.end < each.range.start for each in (buffer.buffer, buffer.block_map)):
            return None
        if buffer.kind == BufferKind.DATA and data is None:
            data = buffer
        elif buffer.kind != BufferKind.RANGE_INDEX:
            return None
    if data is None or data.HasField("packed_group_index"):
        return None
    extent, block_map = data.buffer.range, data.block_map.range
    if not extent.start <= block_map.start <= block_map.end <= extent.end:
        return None
    return data.buffer.url, (
        *(extent.start, extent.end, block_map.start, block_map.end),
        data.block_count if data.HasField("block_count") else UNKNOWN,
        *(int(data.block_checksums), int(data.HasField("identity_first")), data.identity_first, data.identity_last),
    )


def found(
    kernels: ModuleType, payloads: list[bytes], positions: int = ROWS
) -> list[tuple[str, tuple[int, ...]] | None]:
    """What a kernel finds in descriptors."""
    frames = [frame(each) for each in payloads]
    ends = np.cumsum([len(each) for each in frames], dtype=np.uint64)
    starts = ends - np.array([len(each) for each in frames], np.uint64)
    read = kernels.plain_buffers(b"".join(frames), starts, ends, ROWS, LONG, True)
    assert read is not None
    url, numbers, is_plain = read
    rows = numbers.reshape(-1, 9).tolist()
    return [(url.decode(), tuple(row)) if plain else None for row, plain in zip(rows, is_plain.tolist(), strict=True)]


def references() -> st.SearchStrategy[Any]:
    spans = st.tuples(st.integers(0, 40), st.integers(0, 40)).map(sorted) | st.tuples(WORDS, WORDS)
    return st.builds(
        lambda url, span: wire.DataRef(url=url, range=wire.UInt64Range(start=span[0], end=span[1])), TEXT, spans
    )


def buffers() -> st.SearchStrategy[Any]:
    return st.builds(
        wire.EncodedBuffer,
        kind=st.sampled_from([0, 0, 0, 5, 5, 1, 7]),
        buffer=st.none() | references(),
        block_map=st.none() | references(),
        block_count=st.none() | WORDS,
        block_checksums=st.booleans(),
        embedded_presence=st.booleans(),
        embedded_offsets=st.booleans(),
        buffer_id=st.none() | st.integers(0, 2**32 - 1),
        packed_group_index=st.none() | st.none() | st.just(0),
        identity_first=st.none() | WORDS,
        identity_last=st.none() | WORDS,
    )


def values() -> st.SearchStrategy[Any]:
    return st.one_of(
        st.builds(wire.AnyValue, u64_value=WORDS),
        st.builds(wire.AnyValue, i64_value=st.integers(-(2**63), 2**63 - 1)),
        st.builds(wire.AnyValue, double_value=st.floats()),
        st.builds(wire.AnyValue, bool_value=st.booleans()),
        st.builds(wire.AnyValue, string_value=TEXT, annotation=st.none() | TEXT),
        st.builds(wire.AnyValue, bytes_value=st.binary(max_size=9)),
        st.builds(wire.AnyValue, datetime_value=st.builds(wire.DateTimeUtc, ticks=WORDS)),
        st.just(wire.AnyValue(null_value=wire.UnitValue())),
    )


def fields() -> st.SearchStrategy[Any]:
    flags = st.booleans()
    return st.builds(
        wire.FieldDescriptor,
        position_count=st.sampled_from([ROWS, ROWS, ROWS, 0, ROWS + 1]),
        null_count=st.none() | st.integers(0, ROWS),
        constant_value=st.none() | st.none() | st.none() | values(),
        dictionary_size=st.none() | st.none() | st.none() | WORDS,
        range_stats=st.none()
        | st.builds(wire.RangeStats, min_value=values(), min_inclusive=flags, max_value=values(), max_inclusive=flags),
        cardinality=st.none()
        | st.builds(
            wire.CardinalityInfo,
            count=st.none() | WORDS,
            is_estimate=flags,
            hll_sketch=st.none() | st.builds(wire.HllSketchV1, hash_algorithm=TEXT, counters=st.binary(max_size=40)),
        ),
        membership_filters=st.none()
        | st.builds(
            wire.MembershipFilters, sbbf=st.builds(wire.SplitBlockBloomFilter, num_values=WORDS, target_fpp=st.floats())
        ),
        string_stats=st.none() | st.builds(wire.StringStats, min_size=WORDS, ascii_count=st.none() | WORDS),
        custom_properties=st.lists(st.builds(wire.NameValuePair, name=TEXT, value=values()), max_size=2),
        raw_data_size=st.none() | WORDS,
    )


def payloads() -> st.SearchStrategy[bytes]:
    natives = st.builds(
        wire.NativeDataEncoding,
        buffers=st.lists(buffers(), max_size=3),
        packed_group=st.sampled_from([False] * 5 + [True]),
    )
    encodings = st.builds(wire.DataEncoding, native=natives) | st.just(wire.DataEncoding())
    listed = st.lists(encodings, min_size=1, max_size=1) | st.lists(encodings, max_size=2)
    built = st.builds(wire.StripeFieldDescriptor, field=fields(), encodings=listed)
    return built.map(lambda message: message.SerializeToString())


@with_each_kernel
@examples(400)
@given(payloads())
def test_any_descriptor(kernel: ModuleType, payload: bytes) -> None:
    assert found(kernel, [payload]) == [expected(payload, ROWS)]


@examples(400)
@given(
    payloads(), st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), min_size=1, max_size=3), st.integers(0, 3)
)
def test_a_damaged_descriptor_is_never_read_otherwise(payload: bytes, changes: list[tuple[int, int]], cut: int) -> None:
    damaged = bytearray(payload)
    for at, byte in changes:
        if damaged:
            damaged[at % len(damaged)] = byte
    content = bytes(damaged[: len(damaged) - cut])
    assert found(KERNELS[-1], [content]) in ([None], [expected(content, ROWS)])


def stored() -> list[bytes]:
    """The descriptors of columns of many kinds."""
    store = MemoryStore()
    table = {
        "numbers": np.arange(ROWS) ** 2,
        "floats": np.linspace(0, 1, ROWS),
        "texts": [f"größe {at}" for at in range(ROWS)],
        "holes": [None, 1, *range(ROWS - 2)],
        "constant": [7] * ROWS,
        "lists": [[at] for at in range(ROWS)],
        "bits": [True, False, True, *[False] * (ROWS - 3)],
    }
    amudai.write(table, "a", store=store, bloom=["numbers"], field_properties={"floats": {"unit": "m"}})
    reader = amudai.open("a", store=store)._reader
    listed, anchor = reader.stripes[0]._fields._list
    refs = [listed.ref(node.schema_id) for node in reader.schema.fields()]
    return [bytes(anchor.read(ref.start + 4, ref.end - 4))[: ref.size - 8] for ref in refs if ref is not None]


@with_each_kernel
def test_descriptors_of_a_shard(kernel: ModuleType) -> None:
    payloads = stored()
    wanted = [expected(each, ROWS) for each in payloads]
    assert found(kernel, payloads) == wanted
    assert [each is not None for each in wanted] == [True, True, True, True, False, False, True]


def test_every_byte_of_a_descriptor() -> None:
    for payload in stored():
        changed = [payload[:at] + bytes([payload[at] ^ 1 << at % 8]) + payload[at + 1 :] for at in range(len(payload))]
        for one in changed:
            assert found(KERNELS[-1], [one]) in ([None], [expected(one, ROWS)])


@with_each_kernel
def test_columns_of_another_file_and_long_descriptors_are_left_out(kernel: ModuleType) -> None:
    def message(url: str) -> Any:
        ref = wire.DataRef(url=url, range=wire.UInt64Range(start=8, end=24))
        native = wire.NativeDataEncoding(buffers=[wire.EncodedBuffer(buffer=ref, block_map=ref)])
        field = wire.FieldDescriptor(position_count=ROWS)
        return wire.StripeFieldDescriptor(field=field, encodings=[wire.DataEncoding(native=native)])

    long = message("one")
    long.field.custom_properties.add(name="x" * LONG)
    contents = [each.SerializeToString() for each in (message("one"), message("two"), long, message("one"))]
    assert [each is not None for each in found(kernel, contents)] == [True, False, False, True]
    assert found(kernel, contents)[3] == ("one", (8, 24, 8, 24, UNKNOWN, 0, 0, 0, 0))


@with_each_kernel
def test_frames_that_are_not_sound(kernel: ModuleType) -> None:
    whole = frame(stored()[0])

    def read(data: bytes, start: int, end: int, verify: bool = True) -> Any:
        return kernel.plain_buffers(data, np.array([start], np.uint64), np.array([end], np.uint64), ROWS, LONG, verify)

    assert read(whole, 0, len(whole)) is not None
    assert read(whole, 0, len(whole) + 1) is None
    assert read(whole, 5, 4) is None
    assert read(whole, 0, 7) is None
    damaged = bytes([*whole[:20], whole[20] ^ 1, *whole[21:]])
    assert read(damaged, 0, len(whole)) is None
    assert read(damaged, 0, len(whole), verify=False) is not None
    with pytest.raises(ValueError, match="differ in length"):
        kernel.plain_buffers(whole, np.zeros(1, np.uint64), np.zeros(2, np.uint64), ROWS, LONG, True)


def test_places_of_descriptors() -> None:
    several = wire.DataRefArray(url=["a", "a", "b", "a"], start=[8, 16, 24, 40], end=[16, 24, 32, 40])
    listed = FieldList(several)
    known = listed.places([1, 0])
    assert known is not None
    assert (known[0], known[1].tolist(), known[2].tolist()) == ("a", [16, 8], [24, 16])
    assert listed.places([0, 2]) is None, "in two files"
    assert listed.places([3]) is None, "an empty slot"
    assert listed.places([4]) is None
    assert listed.places([-1]) is None
    assert listed.places([]) is None
    largest = FieldList(wire.DataRefArray(url=["a"], start=[2**64 - 2], end=[2**64 - 1])).places([0])
    assert largest is not None
    assert (largest[1].tolist(), largest[2].tolist()) == ([2**64 - 2], [2**64 - 1])


def test_all_descriptors_at_once() -> None:
    frames = [frame(each) for each in stored()]
    ends = np.cumsum([len(each) for each in frames], dtype=np.uint64)
    starts = ends - np.array([len(each) for each in frames], np.uint64)
    read = plain_buffers(b"".join(frames), starts, ends, ROWS, True)
    assert read is not None
    assert (read.url, read.numbers.shape, read.is_plain.sum()) == ("", (7, 9), 5)
