"""Are names found at once those that are found one by one?"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai.errors import CorruptedData, UnsupportedFeature
from amudai.format import ShardSchema


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
