"""Ways to store values that the format has and that no writer uses by default."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai import col
from amudai.storage import MemoryStore
from tests.effort import examples
from tests.forge import (
    Column,
    Forge,
    any_value,
    constants,
    datetimes,
    number_dictionary,
    numbers,
    open_forged,
    referred,
    separate,
    strings,
    structs,
    timespans,
)
from tests.forge.content import BufferKind

DAY = 864_000_000_000
EPOCH = 621_355_968_000_000_000


def opened(column: Column) -> amudai.Shard:
    return open_forged(Forge.of({"c": column}))


# ---- constants ----

CONSTANTS: dict[str, tuple[Column, Any, Any]] = {
    "datetime": (datetimes([]), any_value(EPOCH + DAY, "datetime"), np.datetime64("1970-01-02", "ns")),
    "timespan": (timespans([]), any_value(-DAY, "timespan"), np.timedelta64(-1, "D").astype("timedelta64[ns]")),
}


@pytest.mark.parametrize("name", CONSTANTS)
@pytest.mark.parametrize("refer", [lambda column: column, referred], ids=["stated", "referred"])
def test_a_constant_time(name: str, refer: Any) -> None:
    like, stored, expected = CONSTANTS[name]
    shard = opened(refer(constants(like, 3, stored)))
    assert shard.read()["c"].to_numpy().tolist() == [expected.astype(np.int64)] * 3
    value = shard.read()["c"][0].as_py()
    assert shard.scan(where=col("c") == value).count() == 3
    assert shard.scan(where=col("c") < value).count() == 0
    assert shard.verify().ok
    assert shard["c"].encodings == {"constant": 1}


@pytest.mark.parametrize(
    ("like", "value"),
    [(numbers([], "i8"), -5), (strings([]), "text" * 100), (numbers([], "f8"), 0.5), (strings([]), None)],
)
def test_a_constant_that_is_stored_elsewhere(like: Column, value: Any) -> None:
    shard = opened(referred(constants(like, 3, value)))
    assert shard.read()["c"].to_pylist() == [value] * 3
    assert shard.take([2, 0])["c"].to_pylist() == [value] * 2
    assert shard.scan(where=col("c").is_null()).count() == (3 if value is None else 0)
    if value is not None:
        assert shard.scan(where=col("c") == value).count() == 3
    assert shard.verify().ok


def test_the_file_of_a_constant_is_listed_and_copied(tmp_path: Any) -> None:
    (tmp_path / "a").mkdir()
    forge = Forge.of({"c": referred(constants(strings([]), 3, "elsewhere")), "n": numbers([1, 2, 3], "i8")})
    (tmp_path / "a" / "c.amudai.shard").write_bytes(forge.root())
    source = tmp_path / "a" / "c.amudai.shard"
    copied = amudai.copy(source, tmp_path / "copy.amudai.shard")
    assert copied.read().to_pydict() == {"c": ["elsewhere"] * 3, "n": [1, 2, 3]}
    merged = amudai.merge([source, source], tmp_path / "a" / "m.amudai.shard")
    assert merged.read()["c"].to_pylist() == ["elsewhere"] * 6
    assert amudai.compact(merged, tmp_path / "n.amudai.shard").read()["c"].to_pylist() == ["elsewhere"] * 6
    gone = amudai.delete(source, "n = 2", to=tmp_path / "a" / "d.amudai.shard")
    assert gone.read()["c"].to_pylist() == ["elsewhere"] * 2


def test_a_damaged_constant_elsewhere_is_found() -> None:
    forge = Forge.of({"c": referred(constants(strings([]), 3, "elsewhere"))})
    content = bytearray(forge.root())
    content[content.index(b"elsewhere")] ^= 1
    shard = amudai.open("x.amudai.shard", store=MemoryStore({"x.amudai.shard": bytes(content)}))
    with pytest.raises(amudai.CorruptedData, match="AnyValue checksum") as caught:
        shard.read()
    assert caught.value.place["field"] == "c"
    assert not shard.verify().ok


def test_references_that_lead_nowhere_are_followed_a_few_times() -> None:
    column = referred(constants(strings([]), 3, "elsewhere"))
    forge = Forge.of({"c": column})
    content = forge.root()
    shard = amudai.open("x.amudai.shard", store=MemoryStore({"x.amudai.shard": content}))
    assert shard.read()["c"].to_pylist() == ["elsewhere"] * 3
    value = any_value("elsewhere")
    at = content.index(len(value.SerializeToString()).to_bytes(4, "little") + value.SerializeToString())
    loop = type(value)()
    loop.data_ref.range.start, loop.data_ref.range.end = at, at + 64
    looped = referred(constants(strings([]), 3, loop))
    other = Forge.of({"c": looped}).root()
    stored = loop.SerializeToString()
    place = other.index(len(stored).to_bytes(4, "little") + stored)
    assert place == at, "the frame is the first thing in the file"
    with pytest.raises(amudai.CorruptedData, match="at most 4 references in a row"):
        amudai.open("y.amudai.shard", store=MemoryStore({"y.amudai.shard": other})).read()


# ---- strings with offsets of their own ----

VALUES: st.SearchStrategy[list[bytes | None]] = st.lists(st.none() | st.binary(max_size=9), max_size=40)


@given(VALUES, st.sampled_from([None, 1, 7]), st.sampled_from([None, 1, 5]), st.data())
@examples(150)
def test_separate_offsets(
    values: list[bytes | None], block_bytes: int | None, block_values: int | None, data: st.DataObject
) -> None:
    shard = opened(separate(values, block_bytes=block_bytes, block_values=block_values))
    found = shard.read()["c"]
    found.validate(full=True)
    assert found.to_pylist() == values
    rows = data.draw(st.lists(st.integers(0, len(values) - 1), max_size=9)) if values else []
    assert shard.take(rows)["c"].to_pylist() == [values[row] for row in rows]
    wanted = data.draw(st.sampled_from(values)) if values else None
    if wanted is not None:
        assert shard.scan(where=col("c") == wanted).count() == values.count(wanted)
    assert shard.verify(deep=True).ok


def test_separate_offsets_of_text() -> None:
    texts = ["", "ä", None, "text", "日本"]
    column = separate([None if text is None else text.encode() for text in texts], text=True)
    shard = opened(structs({"s": column}))
    assert [row["s"] for row in shard.read()["c"].to_pylist()] == texts
    plain = opened(separate([None if text is None else text.encode() for text in texts], text=True))
    assert plain.scan(where=col("c").contains("ex")).positions().tolist() == [3]
    assert plain["c"].encodings == {"plain": 3}
    large = open_forged(Forge.of({"c": column}), schema={"c": pa.large_string()})
    assert large.read()["c"].to_pylist() == texts


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ([0, 2, 1, 3], "string offsets: expected an ascending sequence"),
        ([1, 1, 2, 3], "string offsets: expected to begin with 0, found 1"),
        ([0, 1, 2, 4], "value_count: expected 4, found 3"),
        ([0, 1, 2, 2], "value_count: expected 2, found 3"),
        ([0, 1, 2, 1 << 63], "string offsets: expected at most"),
    ],
)
def test_separate_offsets_that_cannot_be(ends: list[int], message: str) -> None:
    column = separate([b"a", b"b", b"c"])
    (lists,) = [buffer for buffer in numbers(ends, "u8").stored.buffers if buffer.kind == BufferKind.DATA]
    column.stored.buffer(BufferKind.OFFSETS).blocks = lists.blocks
    with pytest.raises(amudai.CorruptedData, match=message):
        opened(column).read()
    with pytest.raises(amudai.CorruptedData):
        opened(separate([b"\xff"], text=True)).read()


def test_salvage_keeps_values_of_sound_blocks(tmp_path: Any) -> None:
    forge = Forge.of(
        {"c": separate([b"aa", b"bbb", b"", b"cc", b"dd"], block_bytes=4), "n": numbers([1, 2, 3, 4, 5], "i8")}
    )
    content = bytearray(forge.root())
    content[content.index(b"bb\0\0") if b"bb\0\0" in content else content.index(b"bcc")] ^= 1
    shard = amudai.open("x.amudai.shard", store=MemoryStore({"x.amudai.shard": bytes(content)}))
    saved = amudai.salvage(shard, tmp_path / "s.amudai.shard")
    kept = saved.shard.read().to_pydict()
    assert set(zip(kept["c"], kept["n"], strict=True)) < {(b"aa", 1), (b"bbb", 2), (b"", 3), (b"cc", 4), (b"dd", 5)}
    assert saved.lost_rows + saved.shard.num_rows == 5
    assert (b"dd", 5) in set(zip(kept["c"], kept["n"], strict=True))


# ---- dictionaries of numbers ----

NUMBERS = {
    "i1": st.integers(-128, 127),
    "u2": st.integers(0, 65_535),
    "i4": st.integers(-(1 << 31), (1 << 31) - 1),
    "u8": st.integers(0, (1 << 64) - 1),
    "i8": st.integers(-(1 << 63), (1 << 63) - 1),
    "f4": st.floats(width=32),
    "f8": st.floats(),
}


@pytest.mark.parametrize("dtype", NUMBERS)
@given(data=st.data())
@examples(40)
def test_a_dictionary_of_numbers(dtype: str, data: st.DataObject) -> None:
    few = data.draw(st.lists(st.none() | NUMBERS[dtype], min_size=1, max_size=5))
    values = data.draw(st.lists(st.sampled_from(few), max_size=30))
    plain, coded = opened(numbers(values, dtype)), opened(number_dictionary(values, dtype))
    expected = plain.read()["c"]
    found = coded.read()["c"]
    assert found.type == expected.type
    assert repr(found.to_pylist()) == repr(expected.to_pylist())
    rows = data.draw(st.lists(st.integers(0, len(values) - 1), max_size=9)) if values else []
    assert repr(coded.take(rows)["c"].to_pylist()) == repr(plain.take(rows)["c"].to_pylist())
    for bound in (value for value in few if value is not None):
        for where in (col("c") == bound, col("c") != bound, col("c") < bound, ~(col("c") >= bound)):
            assert coded.scan(where=where).positions().tolist() == plain.scan(where=where).positions().tolist(), where
    assert coded.verify().ok


def test_a_dictionary_of_times() -> None:
    ticks = [EPOCH, None, EPOCH + DAY, EPOCH]
    coded = opened(number_dictionary(ticks, "u8", like=datetimes(ticks)))
    assert coded.read().equals(opened(datetimes(ticks)).read())
    spans = [-DAY, None, 0, 5]
    assert opened(number_dictionary(spans, "i8", like=timespans(spans))).read().equals(opened(timespans(spans)).read())


def test_a_code_beyond_the_dictionary_is_damage() -> None:
    column = number_dictionary([5, 7], "i8")
    column.stored.buffers[0].blocks = numbers([0, 2], "u4").stored.buffers[0].blocks
    with pytest.raises(amudai.CorruptedData, match="code"):
        opened(column).read()
