"""Shards with encodings that only this library reads: what is written, and that every operation reads it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai.encoding import NUMERIC
from amudai.errors import CorruptedData, LimitExceeded, UnsupportedFeature
from amudai.storage import MemoryStore
from tests.effort import examples
from tests.oracle.block import checksum

ROWS = 1800
EXTENDED = {"compatibility": "extended", "profile": "high_compression"}


def lines(count: int, seed: int = 1) -> list[str]:
    """Paragraphs of a few that a block holds only in part, so that a dictionary of all of them pays."""
    rng = np.random.default_rng(seed)
    known = [rng.bytes(250).hex() for _ in range(30)]
    return [f"{known[rng.integers(30)]} number {at}" for at in range(count)]


def table(rows: int = ROWS, seed: int = 1) -> pa.Table:
    """Columns for which extended encodings are chosen."""
    rng = np.random.default_rng(seed)
    far = rng.integers(0, 32, rows)
    far[::97] = rng.integers(0, 1 << 40, len(far[::97]))
    return pa.table(
        {
            "n": pa.array([None if at % 7 == 0 else at for at in range(rows)], pa.int64()),
            "outliers": pa.array(far, pa.int64()),
            "skewed": pa.array((rng.exponential(3000, rows) ** 1.3).astype(np.int64), pa.int64()),
            "wave": pa.array(np.repeat(rng.random(rows // 3 + 1), 3)[:rows], pa.float64()),
            "line": pa.array([None if at % 13 == 0 else line for at, line in enumerate(lines(rows, seed))]),
        }
    )


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("extended") / "t.amudai.shard"
    amudai.write(table(), path, stripe_rows=ROWS // 2, **EXTENDED).close()  # type: ignore[arg-type]
    return path.read_bytes()


@pytest.fixture
def source(written: bytes, tmp_path: Path) -> Path:
    """The shard, in the folder of the test: operations refer to it from there."""
    (tmp_path / "t.amudai.shard").write_bytes(written)
    return tmp_path / "t.amudai.shard"


def encodings(path: Path, column: str) -> set[str]:
    with amudai.open(path) as shard:
        return {name.partition("(")[0] for name in shard[column].encodings}


def test_what_is_chosen(source: Path) -> None:
    assert encodings(source, "outliers") == {"patched"}
    assert encodings(source, "skewed") == {"pco"}
    assert encodings(source, "line") == {"zstd_shared"}


@pytest.mark.parametrize("profile", ["plain", "minimal_compression", "balanced", "high_compression", "minimal_size"])
def test_every_profile_gives_the_values_back(tmp_path: Path, profile: str) -> None:
    path, rows = tmp_path / "t.amudai.shard", table(900)
    amudai.write(rows, path, compatibility="extended", profile=profile).close()
    with amudai.open(path) as shard:
        assert shard.read().equals(rows)


def test_the_default_writes_no_extended_code(tmp_path: Path) -> None:
    path = tmp_path / "t.amudai.shard"
    amudai.write(table(), path, profile="high_compression").close()
    names = {encoding.name for encoding in NUMERIC if encoding.code >= 0x8000} | {"zstd_shared", "lz4_shared"}
    with amudai.open(path) as shard:
        for column in shard.schema.names:
            assert not any(name in used for used in shard[column].encodings for name in names)


QUESTIONS: dict[str, tuple[str, Callable[[pa.Table], Any]]] = {
    "outliers": ("outliers > 1000", lambda t: pc.greater(t["outliers"], 1000)),
    "skewed": ("skewed >= 1000 and skewed < 2000", lambda t: pc.is_in(t["skewed"], pa.array(range(1000, 2000)))),
    "wave": ("wave < 0.25", lambda t: pc.less(t["wave"], 0.25)),
    "line": ('line contains "number 77"', lambda t: pc.match_substring(t["line"], "number 77")),
    "nulls": ("line is null", lambda t: pc.is_null(t["line"])),
}


def check(path: Path, expected: pa.Table) -> None:
    """Reading, taking, searching, verifying and describing agree with the table."""
    with amudai.open(path) as shard:
        assert shard.read().equals(expected.cast(shard.schema))
        rng = np.random.default_rng(7)
        rows = np.sort(rng.choice(expected.num_rows, 40, replace=False))
        assert shard.take(rows).to_pylist() == expected.take(pa.array(rows)).to_pylist()
        assert shard.read(rows=slice(100, 350)).to_pylist() == expected.slice(100, 250).to_pylist()
        for where, answer in QUESTIONS.values():
            mask = pc.fill_null(answer(expected), False)
            assert shard.scan(where=where).to_table().to_pylist() == expected.filter(mask).to_pylist()
        exact = expected["line"][1].as_py()
        assert shard.count(where=amudai.col("line") == exact) == expected["line"].to_pylist().count(exact)
        assert shard.verify(deep=True).ok


def test_reading_and_searching(source: Path) -> None:
    check(source, table())


def test_inspecting(source: Path) -> None:
    with amudai.open(source) as shard:
        text = str(shard.inspect(blocks=True))
    for name in ("patched", "pco", "zstd_shared", "opaque dictionary"):
        assert name in text


def test_merging(source: Path, tmp_path: Path) -> None:
    other, more = tmp_path / "o.amudai.shard", table(900, 5)
    amudai.write(more, other).close()
    amudai.merge([source, other], to=tmp_path / "m.amudai.shard").close()
    check(tmp_path / "m.amudai.shard", pa.concat_tables([table(), more]))


@pytest.mark.parametrize("compatibility", ["reference", "extended"])
def test_compacting(source: Path, tmp_path: Path, compatibility: Any) -> None:
    to = tmp_path / "c.amudai.shard"
    amudai.compact([source], to=to, profile="high_compression", compatibility=compatibility).close()
    check(to, table())
    assert ("pco" in encodings(to, "skewed")) == (compatibility == "extended")


def test_adding_columns(source: Path, tmp_path: Path) -> None:
    to, more = tmp_path / "w.amudai.shard", table(seed=9)
    amudai.with_columns(source, {"second": more["line"], "far": more["outliers"]}, to=to, **EXTENDED).close()  # type: ignore[arg-type]
    expected = table().append_column("second", more["line"]).append_column("far", more["outliers"])
    with amudai.open(to) as shard:
        assert shard.read().equals(expected.cast(shard.schema))
    assert encodings(to, "far") == {"patched"}


def test_deleting_and_copying(source: Path, tmp_path: Path) -> None:
    amudai.delete(source, positions=[3, 1500], to=tmp_path / "d.amudai.shard").close()
    amudai.copy(tmp_path / "d.amudai.shard", tmp_path / "k.amudai.shard").close()
    keep = [at for at in range(ROWS) if at not in (3, 1500)]
    with amudai.open(tmp_path / "k.amudai.shard") as shard:
        assert shard.read().to_pylist() == table().take(keep).to_pylist()


def test_salvaging(source: Path, tmp_path: Path) -> None:
    with amudai.open(source) as shard:
        layout = next(each for each in shard.inspect(blocks=True).stripes[0].fields if each.name == "line")
    data = bytearray(source.read_bytes())
    buffer = next(each for each in layout.buffers if each.kind == "data")
    data[buffer.start + buffer.blocks[1].start + 40] ^= 1
    (tmp_path / "b.amudai.shard").write_bytes(data)
    with amudai.open(tmp_path / "b.amudai.shard") as shard, pytest.raises(CorruptedData):
        shard.read()
    amudai.salvage(tmp_path / "b.amudai.shard", to=tmp_path / "s.amudai.shard")
    with amudai.open(tmp_path / "s.amudai.shard") as shard:
        found = shard.read()
    whole = table().to_pylist()
    assert 0 < found.num_rows < ROWS
    assert all(row in whole[-ROWS:] for row in found.to_pylist()[:20])


@pytest.mark.parametrize("damage", ["flipped", "another size", "another dictionary", "gone"])
def test_a_damaged_dictionary_is_noticed(source: Path, damage: str) -> None:
    with amudai.open(source) as shard:
        layout = next(each for each in shard.inspect().stripes[0].fields if each.name == "line")
    buffer = next(each for each in layout.buffers if each.kind == "opaque dictionary")
    data = bytearray(source.read_bytes())
    size = int.from_bytes(data[buffer.start : buffer.start + 4], "little")
    if damage == "flipped":
        data[buffer.start + 100] ^= 1
    elif damage == "another size":
        data[buffer.start : buffer.start + 4] = (size - 1).to_bytes(4, "little")
    else:
        content = bytes(size) if damage == "gone" else bytes(data[buffer.start + 8 : buffer.start + 8 + size])[::-1]
        data[buffer.start + 4 : buffer.start + 8] = checksum(content).to_bytes(4, "little")
        data[buffer.start + 8 : buffer.start + 8 + size] = content
    source.write_bytes(data)
    with amudai.open(source) as shard:
        with pytest.raises(CorruptedData, match="dictionary"):
            shard.read(["line"], rows=slice(0, 10))
        assert not shard.verify().ok
        assert shard.read(["n"]).equals(table().select(["n"]))


@pytest.mark.parametrize(("name", "code"), [("patched", 0x8001), ("pco", 0x8003), ("zstd_shared", 0x8005)])
def test_unknown_codes_are_named(source: Path, name: str, code: int) -> None:
    data = bytearray(source.read_bytes())
    with amudai.open(source) as shard:
        fields = shard.inspect(blocks=True).stripes[0].fields
    buffer = next(b for f in fields for b in f.buffers if any(each.encoding.startswith(name) for each in b.blocks))
    block = next(each for each in buffer.blocks if each.encoding.startswith(name))
    start, end = buffer.start + block.start, buffer.start + block.start + block.bytes
    at = start + 8 + (int.from_bytes(data[start : start + 4], "little") + 7) // 8 * 8
    assert int.from_bytes(data[at : at + 2], "little") == code
    data[at : at + 2] = (0x8765).to_bytes(2, "little")
    data[end - 4 : end] = checksum(bytes(data[start : end - 4])).to_bytes(4, "little")
    source.write_bytes(data)
    with amudai.open(source) as shard, pytest.raises(UnsupportedFeature, match=str(0x8765)):
        shard.read()


def test_without_the_package_pcodec(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pcodec", None)
    monkeypatch.setitem(sys.modules, "pcodec.wrapped", None)
    with amudai.open(source) as shard:
        with pytest.raises(UnsupportedFeature, match=r"amudai\[pcodec\]"):
            shard.read(["skewed"])
        assert shard.read(["outliers"]).equals(table().select(["outliers"]))
    amudai.write(table(), source, overwrite=True, **EXTENDED).close()  # type: ignore[arg-type]
    assert "pco" not in encodings(source, "skewed")
    with amudai.open(source) as shard:
        assert shard.read().equals(table())


def test_limits_come_before_memory(source: Path) -> None:
    with amudai.open(source, limits=amudai.Limits(block_memory=1000)) as shard:
        for column in ("skewed", "line"):
            with pytest.raises(LimitExceeded, match="block_memory"):
                shard.read([column])


@pytest.mark.slow
@examples(20)
@given(
    numbers=st.lists(st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-9, 9), min_size=1, max_size=60),
    times=st.integers(1, 60),
    floats=st.lists(st.floats(width=32) | st.sampled_from([0.1, -0.0, 2.5]), min_size=1, max_size=40),
    words=st.lists(st.text(max_size=30), min_size=1, max_size=20),
)
def test_any_values_come_back(numbers: list[int], times: int, floats: list[float], words: list[str]) -> None:
    rows = len(numbers) * times

    def column(values: list[Any], kind: pa.DataType) -> pa.Array:
        return pa.array((values * (rows // len(values) + 1))[:rows], kind)

    expected = pa.table(
        {
            "n": column([*numbers, None], pa.int64()),
            "f8": column(floats, pa.float64()),
            "f4": column([*floats, None], pa.float32()),
            "text": column([*words, None], pa.string()),
        }
    )
    for profile in ("minimal_compression", "balanced", "high_compression", "minimal_size"):
        store = MemoryStore({})
        amudai.write(expected, "t.amudai.shard", store=store, compatibility="extended", profile=profile).close()
        with amudai.open("t.amudai.shard", store=store) as shard:
            found = shard.read()
        for name in ("n", "text"):
            assert found[name].equals(expected[name])
        for name, width in (("f8", "u8"), ("f4", "u4")):  # floats by their bits
            bits = [
                each.combine_chunks().fill_null(1.0).to_numpy().view(width).tolist()
                for each in (found[name], expected[name])
            ]
            assert bits[0] == bits[1]
            assert found[name].null_count == expected[name].null_count
