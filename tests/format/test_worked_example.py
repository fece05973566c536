"""The worked example of the notes: what it says, and what any damage to it does."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest

from amudai.errors import AmudaiError
from amudai.format import AnyValue, DataRef, NativeEncoding, RangeStats, ShardDirectory, checksum, unframe
from amudai.types import BasicType, SchemaNode
from tests.format.walk import walk
from tests.format.worked_example import SHARD


def test_what_it_says() -> None:
    found = walk(SHARD)
    assert len(SHARD) == 529
    assert found.directory == ShardDirectory(
        schema=DataRef("", 240, 394),
        field_list=DataRef("", 210, 240),
        stripe_list=DataRef("", 98, 148),
        url_list=DataRef("", 148, 156),
        properties=None,
        indexes=None,
        total_records=3,
        deleted_records=0,
        stripe_count=1,
        raw_data_size=24,
    )
    (stripe,) = found.stripes
    assert (stripe.field_list, stripe.properties, stripe.indexes) == (DataRef("", 68, 98), None, None)
    assert (stripe.shard_position, stripe.total_records, stripe.deleted_records, stripe.raw_data_size) == (0, 3, 0, 24)
    assert found.urls.urls == ()
    assert found.schema.id_count == 1
    assert found.schema.fields() == (SchemaNode(schema_id=0, name="x", basic_type=BasicType.INT64, signed=True),)
    descriptor = found.stripe_fields[0, 0]
    assert descriptor.encodings == (NativeEncoding(buffers=(), packed_group=False),)
    field = descriptor.field
    assert (field.position_count, field.null_count, field.raw_data_size) == (3, 0, 24)
    assert field.constant_value == AnyValue("i64", 42)
    bound = AnyValue("i64", 42)
    assert field.range_stats == RangeStats(min=bound, min_inclusive=True, max=bound, max_inclusive=True)
    assert (field.dictionary_size, field.type_stats, field.cardinality, field.bloom_filter) == (None, None, None, None)
    assert found.shard_fields[0] == field
    assert field.message.position_count == 3


def facts(content: bytes) -> object:
    found = walk(content)
    descriptors = (found.shard_fields, found.stripe_fields)
    return found.directory, tuple(found.stripes), found.urls, found.schema.fields(), descriptors


def test_every_flipped_bit_is_harmless_or_an_error() -> None:
    sound = facts(SHARD)
    harmless = []
    for at in range(len(SHARD)):
        for bit in range(8):
            damaged = SHARD[:at] + bytes([SHARD[at] ^ 1 << bit]) + SHARD[at + 1 :]
            try:
                found = facts(damaged)
            except AmudaiError:
                continue
            assert found == sound, f"byte {at}, bit {bit}: another fact came out"
            harmless.append(at)
    # The versions that any 0.x reader accepts; nothing else goes unnoticed.
    assert set(harmless) == {4, 5, 6, 525, 526, 527}


def test_every_cut_is_an_error() -> None:
    for length in range(len(SHARD)):
        for cut in (SHARD[:length], SHARD[-length:] if length else b""):
            try:
                walk(cut)
            except AmudaiError:
                continue
            raise AssertionError(f"{length} bytes were enough")


@pytest.mark.slow
def test_damage_behind_a_right_checksum_is_no_stranger_error() -> None:
    """The checksum catches accidents, not intent: flip bits of each payload and sign it anew."""
    for start, end in [(8, 68), (68, 98), (98, 148), (148, 156), (156, 210), (210, 240), (240, 394), (394, 517)]:
        payload = unframe(SHARD[start:end], "any")
        for at in range(len(payload)):
            for bit in range(8):
                changed = bytearray(payload)
                changed[at] ^= 1 << bit
                signed = struct.pack("<I", len(changed)) + changed + struct.pack("<I", checksum(bytes(changed)))
                with suppress(AmudaiError):
                    walk(SHARD[:start] + signed + SHARD[end:])
