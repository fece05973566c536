"""Small files that claim much: an answer from what they say, or `LimitExceeded`, soon and in little memory."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
import zstandard

import amudai
from amudai.errors import InvalidArgument, LimitExceeded
from amudai.format.wire import amudai_pb2 as wire
from amudai.limits import container_memory, usable_memory
from amudai.storage import MemoryStore
from amudai.types import BasicType
from tests.damage.blocks import bounded
from tests.damage.lies import specimen_of
from tests.forge import (
    Buffer,
    BufferKind,
    Column,
    FieldContent,
    Forge,
    binaries,
    constants,
    guids,
    missing,
    numbers,
    strings,
    units,
)
from tests.oracle import block
from tests.oracle.binary import lz4 as binary_lz4
from tests.oracle.binary import plain as binary_plain
from tests.oracle.binary import single_value as binary_single
from tests.oracle.common import make_header
from tests.oracle.numeric import lz4, plain, single_value, zstd

c = amudai.col
ROWS = (1 << 62) - 1


def _blocks(dtype: str, blocks: list[tuple[int, bytes]]) -> Column:
    """A column of numbers in these blocks: how many values each holds, and their section."""
    column = numbers([], dtype)
    stored = [(count, block.build(b"", section)) for count, section in blocks]
    column.content = FieldContent(
        descriptor=wire.FieldDescriptor(position_count=sum(count for count, _ in blocks), null_count=0),
        buffers=[Buffer(kind=BufferKind.DATA, blocks=stored, embedded_presence=True)],
    )
    return column


def _zeros(count: int) -> bytes:
    """A Zstandard section of `count` zeros of 64 bits, made without holding them."""
    compressor = zstandard.ZstdCompressor().compressobj(size=8 * count)
    piece = bytes(1 << 20)
    frame = b"".join(compressor.compress(piece) for _ in range(8 * count // len(piece)))
    return make_header(zstd.CODE, zstd.FIELDS) + frame + compressor.flush()


# ---- limits ----


def test_the_defaults() -> None:
    limits = amudai.Limits()
    assert limits.memory is None
    assert limits.most_memory == usable_memory() > 1 << 20
    assert pickle.loads(pickle.dumps(limits)) == limits


@pytest.mark.parametrize("value", [0, -1, 1.5, "3", True, float("nan")])
@pytest.mark.parametrize("name", ["memory", "block_memory", "values_per_byte", "entries"])
def test_limits_that_are_no_numbers(name: str, value: Any) -> None:
    with pytest.raises(InvalidArgument, match=f"{name}: expected"):
        amudai.Limits(**{name: value})


def test_open_takes_only_limits() -> None:
    forge = Forge.of({"n": numbers([1], "i8")})
    with pytest.raises(InvalidArgument, match=r"limits: expected amudai.Limits"):
        specimen_of(forge).open(limits=5)


def _group(root: Path, version: int, path: str, limits: dict[str, str]) -> Path:
    (root / "proc/self").mkdir(parents=True)
    line = f"0::{path}\n" if version == 2 else f"5:devices:/\n4:cpu,memory:{path}\n0::/\n"
    (root / "proc/self/cgroup").write_text(line)
    top = root / "sys/fs/cgroup" if version == 2 else root / "sys/fs/cgroup/memory"
    for folder, text in limits.items():
        (top / folder).mkdir(parents=True, exist_ok=True)
        (top / folder / ("memory.max" if version == 2 else "memory.limit_in_bytes")).write_text(f"{text}\n")
    return root


@pytest.mark.parametrize("version", [1, 2])
def test_the_memory_of_a_container(tmp_path: Path, version: int) -> None:
    groups = {".": "max" if version == 2 else "9223372036854771712", "a": "4000000", "a/b": "9000000"}
    found = list(container_memory(_group(tmp_path / "nested", version, "/a/b", groups)))
    assert min(found) == 4_000_000
    # Inside a container the path is that of the host, and only the root is there.
    inside = _group(tmp_path / "inside", version, "/docker/4711", {".": "5000000"})
    assert list(container_memory(inside)) == [5_000_000]


def test_a_system_without_groups(tmp_path: Path) -> None:
    assert list(container_memory(tmp_path)) == []


# ---- memory ----


def test_a_small_limit_of_memory() -> None:
    shard = specimen_of(Forge.of({"n": numbers(list(range(1000)), "i8")})).open(limits=amudai.Limits(memory=4000))
    assert shard.head(3)["n"].to_pylist() == [0, 1, 2]
    for read in (shard.read, lambda: list(shard.scan()), lambda: shard.scan().positions()):
        with pytest.raises(LimitExceeded, match=r"memory: expected at most 4000 bytes"):
            read()


def test_limits_travel_with_tasks(tmp_path: Path) -> None:
    amudai.write({"n": range(100_000)}, tmp_path / "n.amudai.shard")
    shard = amudai.open(tmp_path / "n.amudai.shard", limits=amudai.Limits(memory=1000))
    (task,) = shard.scan().tasks(1)
    with pytest.raises(LimitExceeded, match="memory"):
        pickle.loads(pickle.dumps(task)).to_table()


@pytest.mark.slow
def test_a_small_block_that_decompresses_to_much() -> None:
    forge = Forge.of({"n": _blocks("i8", [(1 << 28, _zeros(1 << 28))])})
    assert sum(map(len, forge.files().values())) < 100_000
    shard = specimen_of(forge).open()
    asked: list[Callable[[], object]] = [
        lambda: shard.take([0]),
        lambda: shard.count(c("n") == 5),
        lambda: shard.head(1),
    ]
    for ask in asked:
        with bounded(), pytest.raises(LimitExceeded, match=r"block_memory: expected at most \d+ bytes"):
            ask()
    with bounded():
        assert "block_memory" in shard.verify().problems[0].message


def _texts(values: list[bytes], encoding: Any, fixed_size: int | None = None) -> Column:
    """A column of one block."""
    column = binaries([]) if fixed_size is None else guids([])
    section = block.build(b"", encoding.encode(values, fixed_size))
    column.content = FieldContent(
        descriptor=wire.FieldDescriptor(position_count=len(values), null_count=0),
        buffers=[Buffer(kind=BufferKind.DATA, blocks=[(len(values), section)], embedded_presence=True)],
    )
    return column


ZEROS = [bytes(16)] * 20_000
LZ4_BLOCKS = {
    "numbers": _blocks("i8", [(40_000, lz4.encode([0] * 40_000, "i8"))]),
    "texts": _texts([bytes(8000)] * 40, binary_lz4),
    "fixed": _texts(ZEROS, binary_lz4, 16),
}


@pytest.mark.parametrize("name", LZ4_BLOCKS)
def test_a_block_of_lz4_that_decompresses_to_much(name: str) -> None:
    specimen = specimen_of(Forge.of({"n": LZ4_BLOCKS[name]}))
    assert sum(map(len, specimen.files.values())) < 10_000
    rows = specimen.open().num_rows
    shard = specimen.open(limits=amudai.Limits(block_memory=100_000))
    asked: list[Callable[[], object]] = [shard.read, lambda: shard.take([rows - 1]), lambda: list(shard)]
    for ask in asked:
        with pytest.raises(LimitExceeded, match=r"block_memory: expected at most 100000 bytes"):
            ask()
    assert not shard.verify().ok
    assert specimen.open(limits=amudai.Limits(block_memory=400_000)).read().num_rows == rows


def test_a_block_that_is_not_compressed_has_no_such_limit() -> None:
    values = [bytes([n]) * 500 for n in range(200)]
    specimen = specimen_of(Forge.of({"n": _texts(values, binary_plain), "m": _blocks("i8", [(200, _few_plain())])}))
    shard = specimen.open(limits=amudai.Limits(block_memory=1000))
    assert shard.read().to_pydict() == {"n": values, "m": list(range(200))}
    assert shard.count(c("n") == values[7]) == 1


def _few_plain() -> bytes:
    return plain.encode(list(range(200)), "i8")


@pytest.mark.slow
def test_many_empty_index_descriptors() -> None:
    forge = Forge.of({"n": numbers([1, 2, 3], "i8")}, indexes=[wire.IndexDescriptor()] * (1 << 20))
    specimen = specimen_of(forge)
    asked: list[Callable[[], object]] = [
        lambda: specimen.open().indexes,
        lambda: specimen.open().count(c("n") == 5),
        lambda: specimen.open().tree(),
        lambda: specimen.open().read(),
    ]
    for ask in asked:
        with bounded(), pytest.raises(LimitExceeded, match=r"entries: expected at most \d+ messages"):
            ask()
    with bounded():
        assert not specimen.open().verify().ok


def test_nested_entries_are_counted() -> None:
    # Each message is short; there are many inside of each.
    inside = wire.IndexDescriptor(index_type="x", artifacts=[wire.IndexArtifact()] * 20_000)
    specimen = specimen_of(Forge.of({"n": numbers([1], "i8")}, indexes=[inside] * 10))
    with pytest.raises(LimitExceeded, match="entries"):
        _ = specimen.open().indexes
    assert len(specimen.open(limits=amudai.Limits(entries=1 << 20)).indexes) == 10


# ---- work ----


def _alike() -> Forge:
    made = {
        "n": constants(numbers([], "i8"), ROWS, 7),
        "s": constants(strings([]), ROWS, "all the same"),
        "z": constants(numbers([], "i4"), ROWS, None),
        "u": units(ROWS),
        "t": Column(
            basic_type=BasicType.STRUCT,
            content=FieldContent(descriptor=wire.FieldDescriptor(position_count=ROWS)),
            children=[("x", constants(numbers([], "i8"), ROWS, 3))],
        ),
        "m": missing(numbers([], "f8")),
    }
    return Forge.of(made)


@pytest.mark.parametrize(
    ("where", "share"),
    [
        (None, 1),
        (c("n") == 7, 1),
        (c("n") != 7, 0),
        (~(c("n") > 7), 1),
        (c("n").is_null(), 0),
        (c("s").has("same"), 1),
        (~c("s").has("same"), 0),
        (c("s").contains("ll th"), 1),
        (c("s").matches("^all"), 1),
        (c("z").is_null(), 1),
        (c("z") == 5, 0),
        (~(c("z") == 5), 0),
        (c("u").is_null(), 1),
        (c("t.x") == 3, 1),
        (c("t.x") != 3, 0),
        (c("t").is_null(), 0),
        (c("t").is_valid(), 1),
        (c("m").is_null(), 1),
        (c("m") > 1.5, 0),
        (c("m").is_valid() | (c("n") == 7), 1),
    ],
    ids=str,
)
def test_rows_that_are_all_alike(where: amudai.Predicate | None, share: int) -> None:
    shard = specimen_of(_alike()).open()
    with bounded():
        assert shard.count(where) == share * ROWS


def test_what_needs_all_rows_is_refused() -> None:
    shard = specimen_of(_alike()).open()
    for ask in (shard.read, lambda: shard.scan().positions(), lambda: shard.sample(1 << 40)):
        with bounded(), pytest.raises(LimitExceeded, match="do not fit into memory"):
            ask()
    with bounded():
        assert shard.verify().ok
        assert shard.sample(2, ["n"]).to_pydict() == {"n": [7, 7]}


OPERATIONS: dict[str, Callable[[amudai.Shard, MemoryStore], object]] = {
    "add_indexes": lambda shard, out: amudai.add_indexes(shard, [amudai.TermIndex("s")], "new", store=out),
    "compact": lambda shard, out: amudai.compact(shard, "new", store=out),
    "compact some": lambda shard, out: amudai.compact(shard, "new", where=c("n") == 7, store=out),
    "merge": lambda shard, out: amudai.merge([shard, shard], "new", store=out),
    "upsert": lambda shard, out: amudai.upsert(shard, shard.head(1), key="n", to="new", store=out),
    "delete": lambda shard, out: amudai.delete(shard, c("n") == 7, to="new", store=out),
    "delete one": lambda shard, out: amudai.delete(shard, positions=[5], to="new", store=out),
    "salvage": lambda shard, out: amudai.salvage(shard, "new", store=out),
    "lookup": lambda shard, _: shard.lookup("n", [7]),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_on_all_rows_are_refused(name: str) -> None:
    out = MemoryStore()
    with bounded(), pytest.raises(LimitExceeded, match="values_per_byte") as caught:
        OPERATIONS[name](specimen_of(_alike()).open(), out)
    assert f"{ROWS} values in" in str(caught.value)
    assert "new" not in out._files


STREAMS: dict[str, Callable[[amudai.Shard, Path], object]] = {
    "iterate": lambda shard, _: sum(batch.num_rows for batch in shard.scan()),
    "read all of a reader": lambda shard, _: shard.to_reader().read_all(),
    "task": lambda shard, _: shard.scan().tasks(2)[0].to_table(),
    "write": lambda shard, folder: amudai.write(shard, folder / "new.amudai.shard"),
    "write a scan": lambda shard, folder: amudai.write(shard.scan(where=c("n") == 7), folder / "new.amudai.shard"),
    "sql": lambda shard, _: amudai.sql_result("SELECT sum(n) FROM t", t=shard).to_table(),
}


@pytest.mark.parametrize("name", STREAMS)
def test_streams_of_rows_without_end(name: str, tmp_path: Path) -> None:
    forge = _alike()
    (tmp_path / forge.name).write_bytes(forge.root())
    shard = amudai.open(tmp_path / forge.name, limits=amudai.Limits(values_per_byte=1))
    assert next(iter(shard.scan())).num_rows > 0
    with (
        bounded(),
        mock.patch("amudai.limits._MANY_VALUES", 1 << 20),
        pytest.raises(amudai.InvalidArgument, match="values_per_byte"),
    ):
        STREAMS[name](shard, tmp_path)
    assert not list(tmp_path.glob("new*"))


def test_operations_that_need_no_row() -> None:
    shard, out = specimen_of(_alike()).open(), MemoryStore()
    with bounded():
        assert amudai.compact(shard, "a", where=c("n") == 8, store=out).num_rows == 0
        assert amudai.rename_columns(shard, {"n": "k"}, to="b", store=out).count(c("k") == 7) == ROWS
        assert amudai.drop_columns(shard, ["n"], to="c", store=out).num_rows == ROWS
        assert shard.verify(deep=True).problems[0].message.startswith("values_per_byte")


def test_operations_on_as_many_rows_as_the_limits_allow(tmp_path: Path) -> None:
    amudai.write({"n": [7] * 100_000}, tmp_path / "n.amudai.shard")
    with mock.patch("amudai.limits._MANY_VALUES", 1000):
        shard = amudai.open(tmp_path / "n.amudai.shard", limits=amudai.Limits(values_per_byte=10))
        with pytest.raises(LimitExceeded, match="values_per_byte"):
            amudai.compact(shard, tmp_path / "c.amudai.shard")
        shard = amudai.open(tmp_path / "n.amudai.shard", limits=amudai.Limits(values_per_byte=1000))
        assert amudai.compact(shard, tmp_path / "c.amudai.shard").num_rows == 100_000


def test_alike_items_of_lists() -> None:
    rows = 1 << 40
    lists = Column(
        basic_type=BasicType.FIXED_SIZE_LIST,
        fixed_size=2,
        content=FieldContent(descriptor=wire.FieldDescriptor(position_count=rows)),
        children=[("", constants(numbers([], "i8"), 2 * rows, 5))],
    )
    shard = specimen_of(Forge.of({"f": lists})).open()
    with bounded():
        assert shard.count(c("f") == 5) == rows
        assert shard.count(c("f") == 6) == 0


@pytest.mark.parametrize("blocks", [[(0xFFFFFFFE, single_value.encode([5], "i8"))] * 256], ids=["2**40"])
def test_more_values_than_bytes_can_say(blocks: list[tuple[int, bytes]]) -> None:
    shard = specimen_of(Forge.of({"n": _blocks("i8", blocks)})).open()
    asked: list[Callable[[], object]] = [
        lambda: shard.count(c("n") == 5),
        lambda: shard.count(c("n").isin([5, 6])),
        lambda: shard.take([0]),
        lambda: shard.head(2),
        lambda: next(iter(shard)),
    ]
    for ask in asked:
        with bounded(), pytest.raises(LimitExceeded, match=r"values_per_byte: expected at most \d+ values"):
            ask()
    with bounded():
        assert shard.count() == sum(count for count, _ in blocks)
        assert shard.count(c("n").is_null()) == 0
        assert "values_per_byte" in shard.verify().problems[0].message


def test_equal_strings() -> None:
    count = 1 << 31
    column = strings([])
    section = block.build(b"", binary_single.encode([b"all the same"]))
    column.content = FieldContent(
        descriptor=wire.FieldDescriptor(position_count=count, null_count=0),
        buffers=[Buffer(kind=BufferKind.DATA, blocks=[(count, section)], embedded_presence=True)],
    )
    shard = specimen_of(Forge.of({"s": column})).open()
    with bounded(), pytest.raises(LimitExceeded, match="values_per_byte"):
        shard.count(c("s").has("same"))
    with bounded():
        assert shard.count(c("s").is_null()) == 0
        assert not shard.verify().ok


def test_wider_limits_are_kept() -> None:
    blocks = [(1 << 28, single_value.encode([5], "i8"))]
    specimen = specimen_of(Forge.of({"n": _blocks("i8", blocks)}))
    with pytest.raises(LimitExceeded):
        specimen.open().take([0])
    assert specimen.open(limits=amudai.Limits(values_per_byte=1 << 30)).take([0, 77])["n"].to_pylist() == [5, 5]


@pytest.mark.parametrize("encoding", [lz4, plain], ids=["lz4", "plain"])
def test_large_blocks_are_read_in_whole(encoding: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from amudai.scan import run

    monkeypatch.setattr(run, "PART_ROWS", 1000)
    values = list(range(10_000))
    shard = specimen_of(
        Forge.of({"n": _blocks("i8", [(5000, encoding.encode(values[at : at + 5000], "i8")) for at in (0, 5000)])})
    ).open()
    scan = shard.scan(where=c("n") >= 2500)
    batches = list(scan)
    assert np.concatenate([batch.column(0).to_numpy() for batch in batches]).tolist() == values[2500:]
    assert max(batch.num_rows for batch in batches) <= 1000
    # Each block is decoded to check its rows, and once more to read them.
    assert scan.explain().blocks_decoded <= 4
