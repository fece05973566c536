"""Are names found at once those that are found one by one?"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import amudai
from amudai.errors import CorruptedData, UnsupportedFeature
from amudai.format import SHARED_BYTES, ShardSchema
from amudai.types import SchemaNode, nodes_below
from tests.kernel_modules import KERNELS


def payload_of(tmp_path: Path, names: list[str]) -> bytes:
    table = pa.table({name: [1] for name in names})
    with amudai.write(table, tmp_path / "t.amudai.shard", overwrite=True) as shard:
        return shard._reader.schema.payload  # type: ignore[attr-defined]


def test_names(tmp_path: Path) -> None:
    for names in (["a"], ["ä", "b c", "x" * 300], [f"column {at}" for at in range(700)]):
        schema = ShardSchema(payload_of(tmp_path, names))
        assert schema.column_names() == names == list(schema.names())


def test_internal_fields_are_left_to_others(tmp_path: Path) -> None:
    path = tmp_path / "t.amudai.shard"
    with amudai.write(pa.table({"a": [1]}), path, ingestion_time=True) as shard:
        assert ShardSchema(shard._reader.schema.payload).column_names() is None  # type: ignore[attr-defined]


def fields_of(names: list[int], text: bytes, *, internal: bool = False) -> tuple[bytes, int]:
    """A FlatBuffer that begins with references to fields, and how many bytes these take. All have one type and name."""
    heads = 4 * len(names)
    field = struct.pack("<HHHHiI", 8, 8, 4, 4 if internal else 0, 8, 4 + 12)  # its vtable, then the table
    kind = struct.pack("<HHHHHHiI", 12, 8, 0, 0, 0, 4, 12, 4)
    places = struct.pack(f"<{len(names)}I", *(heads + 8 - 4 * at for at in range(len(names))))
    return places + field + kind + struct.pack("<I", len(text)) + text, heads


@pytest.mark.native
@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
def test_names_that_share_more_bytes_than_there_are_are_read_one_by_one(kernels: Any) -> None:
    slots = 0, 1, 3  # of the type, of the annotation as internal, of the name
    for text in (b"name", "ä".encode(), b""):
        data, end = fields_of([0, 1], text)
        assert kernels.field_names(data, 0, end, *slots) == [text.decode()] * 2
    data, end = fields_of([0, 1, 2], b"n" * 100)
    assert kernels.field_names(data, 0, 4, *slots) == ["n" * 100]
    assert kernels.field_names(data, 0, end, *slots) is None  # 300 bytes of names in a buffer of less
    assert kernels.field_names(*((made := fields_of([0], b"x", internal=True))[0], 0, made[1]), *slots) is None
    assert kernels.field_names(fields_of([0], b"\xff")[0], 0, 4, *slots) is None
    for start, stop in ((4, 0), (0, 3), (0, len(data) + 1), (len(data) - 3, len(data) + 1), (0, 1 << 62)):
        assert kernels.field_names(data, start, stop, *slots) is None
    for size in range(len(data)):  # cut anywhere: no byte behind the end is read
        assert kernels.field_names(data[:size], 0, 4, *slots) is None


PAYLOAD: list[bytes] = []


@given(st.data())
def test_damage_gives_the_same_names_or_none(tmp_path_factory, data: st.DataObject) -> None:  # type: ignore[no-untyped-def]
    if not PAYLOAD:
        PAYLOAD.append(payload_of(tmp_path_factory.mktemp("flat"), ["first", "second", "third"]))
    damaged = bytearray(PAYLOAD[0])
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        schema = ShardSchema(bytes(damaged[: data.draw(st.integers(8, len(damaged)))]))
        found = schema.column_names()
    except (CorruptedData, UnsupportedFeature):
        return
    if found is not None:
        assert found == list(schema.names())


MANY: list[bytes] = []


def many(folder: Path) -> bytes:
    """A schema with so many fields that they are decoded at once, and so large that it is not kept for others."""
    if not MANY:
        names = [
            f"a column with a very long name, so that the schema becomes large enough {'x' * 200} {at}"
            for at in range(300)
        ]
        kinds = [
            pa.int64(),
            pa.uint8(),
            pa.float32(),
            pa.string(),
            pa.timestamp("us"),
            pa.list_(pa.int8()),
            pa.binary(5),
            pa.uuid(),
        ]
        columns = {name: pa.nulls(1, kinds[at % len(kinds)]) for at, name in enumerate(names)}
        with amudai.write(pa.table(columns), folder / "many.amudai.shard", aliases={names[9]: ["other"]}) as shard:
            MANY.append(shard._reader.schema.payload)  # type: ignore[attr-defined]
    return MANY[0]


def one_by_one(payload: bytes) -> tuple[SchemaNode, ...] | type[Exception]:
    try:
        schema = ShardSchema(payload)
        nodes = tuple(schema.field(index) for index in range(len(schema)))
        assert len({node.schema_id for node in nodes_below(nodes)}) == sum(1 for _ in nodes_below(nodes))
        return nodes
    except (CorruptedData, UnsupportedFeature) as error:
        return type(error)
    except AssertionError:
        return CorruptedData


def at_once(payload: bytes) -> tuple[SchemaNode, ...] | type[Exception]:
    try:
        return ShardSchema(payload).fields()
    except (CorruptedData, UnsupportedFeature) as error:
        return type(error)


def test_fields_decoded_at_once_are_the_same(tmp_path: Path) -> None:
    payload = many(tmp_path)
    assert len(payload) > SHARED_BYTES
    assert at_once(payload) == one_by_one(payload) != CorruptedData
    schema = ShardSchema(payload)
    assert schema.field(7) is schema.fields()[7]  # one that was decoded before


@settings(deadline=None)
@given(st.data())
def test_damage_gives_the_same_fields_or_an_error(tmp_path_factory, data: st.DataObject) -> None:  # type: ignore[no-untyped-def]
    payload = many(tmp_path_factory.mktemp("flat")) if not MANY else MANY[0]
    damaged = bytearray(payload)
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    assert at_once(bytes(damaged)) == one_by_one(bytes(damaged))
