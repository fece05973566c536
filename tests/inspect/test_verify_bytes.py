"""`verify` looks at every byte: padding, gaps, both ends of files, and indexes that lead back to their shard."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

import amudai
from amudai.format.wire import amudai_pb2 as wire
from amudai.storage import MemoryStore
from tests import effort
from tests.damage.blocks import bounded
from tests.damage.specimens import SPECIMENS, Specimen
from tests.damage.subjects import subjects
from tests.forge import Forge, numbers

TYPE = amudai.TermIndex.index_type
DATA = {
    "n": [*range(300), None],
    "s": [f"word{at % 7} number{at}" for at in range(301)],
    "d": ["a", "b", None] * 100 + ["a"],
}


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _verified(files: dict[str, bytes], root: str = "x.amudai.shard") -> amudai.Verification:
    return amudai.open(root, store=MemoryStore(files), threads=1).verify()


@pytest.fixture(params=["single", "two-level"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, bytes]:
    index = amudai.TermIndex("s")
    amudai.write(DATA, tmp_path / "x.amudai.shard", layout=request.param, indexes=[index], stripe_rows=200)
    return _files(tmp_path)


def test_sound_shards(files: dict[str, bytes]) -> None:
    assert _verified(files).ok


@pytest.mark.slow
@pytest.mark.parametrize("specimen", SPECIMENS, ids=str)
def test_sound_specimens(specimen: Specimen) -> None:
    assert specimen.open().verify().problems == ()


@pytest.mark.slow
def test_no_flipped_bit_goes_unnoticed(files: dict[str, bytes]) -> None:
    """Except in the number of blocks per segment of a block map, which says nothing if there is one segment."""
    assert _verified(files).ok
    for name, content in files.items():
        for at in range(0, len(content), effort.spaced(11)):
            damaged = content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :]
            try:
                is_sound = _verified({**files, name: damaged}).ok
            except amudai.AmudaiError:
                continue
            assert not is_sound or _is_segment_size(content, at), f"{name}, byte {at}"


def _is_segment_size(content: bytes, at: int) -> bool:
    footers = (content[start - 8 : start + 8] for start in range(max(8, at - 7), at + 1))
    return (1).to_bytes(8, "little") + (1024).to_bytes(8, "little") in footers


def test_files_that_are_longer(files: dict[str, bytes]) -> None:
    mark = b"amud\0\1\0\0"
    for name, content in files.items():
        for more in (b"\0" * 64, b"junk", mark, bytes(56) + mark, bytes(1000) + mark):
            try:
                found = _verified({**files, name: content + more})
            except amudai.AmudaiError:
                continue
            assert not found.ok, f"{name} with {len(more)} bytes more"


def test_the_version_at_both_ends(files: dict[str, bytes]) -> None:
    content = bytearray(files["x.amudai.shard"])
    content[4] = 3
    (problem,) = _verified({**files, "x.amudai.shard": bytes(content)}).problems
    assert "header and footer: expected the same version" in problem.message
    content[-4] = 3  # a later patch of the version is sound
    assert _verified({**files, "x.amudai.shard": bytes(content)}).ok


def test_padding_says_where(files: dict[str, bytes]) -> None:
    name = next(name for name in files if name.endswith(".stripe")) if len(files) > 1 else "x.amudai.shard"
    content = bytearray(files[name])
    content[20] = 1  # the first buffer begins at byte 64
    (problem,) = _verified({**files, name: bytes(content)}).problems
    # The root has digests of its other files.
    expected = "identity: expected" if len(files) > 1 else "bytes that nothing refers to: expected zeros, found 0x01"
    assert expected in problem.message
    assert name in problem.message


def test_a_shard_that_uses_the_files_of_another(tmp_path: Path) -> None:
    for layout in ("single", "two-level"):
        amudai.write(DATA, tmp_path / f"{layout}.amudai.shard", layout=layout)
        amudai.add_indexes(
            tmp_path / f"{layout}.amudai.shard", [amudai.TermIndex("s")], tmp_path / f"{layout}-i.amudai.shard"
        )
        assert amudai.open(tmp_path / f"{layout}-i.amudai.shard").verify().problems == ()


def test_a_range_index_with_another_block_size(tmp_path: Path) -> None:
    """The header of a range index has no checksum. With 257 positions a block, row 256 would not be found."""
    path = tmp_path / "x.amudai.shard"
    shard = amudai.write({"n": range(300)}, path)
    (buffer,) = (each for each in shard.inspect().stripes[0].fields[0].buffers if each.kind == "range index")
    content = path.read_bytes()
    for bit in range(16):
        damaged = bytearray(content)
        damaged[buffer.start + 36 + bit // 8] ^= 1 << bit % 8
        opened = amudai.open("x.amudai.shard", store=MemoryStore({"x.amudai.shard": bytes(damaged)}))
        with pytest.raises(amudai.CorruptedData, match="range index"):
            opened.count(amudai.col("n") == 256)
        assert not opened.verify().ok


# ---- indexes that lead back ----


def _leading(name: str, to: str, end: int = 0) -> Forge:
    ref = wire.DataRef(url=to, range=wire.UInt64Range(start=8, end=end or 100))
    index = wire.IndexDescriptor(index_type=TYPE, artifacts=[wire.IndexArtifact(name="terms", data_ref=ref)])
    return Forge.of({"n": numbers([1, 2, 3], "i8")}, indexes=[index], name=name)


def test_an_index_that_is_its_own_shard() -> None:
    for url in ("", "x.amudai.shard"):
        forge = _leading("x.amudai.shard", url, 1 << 20)
        size = len(forge.files()["x.amudai.shard"])
        with bounded():
            found = _verified(_leading("x.amudai.shard", url, size - 8).files())
        assert "found a shard that leads to it" in found.problems[0].message


@pytest.mark.parametrize("count", [2, 3])
def test_a_circle_of_shards(count: int) -> None:
    names = ["x.amudai.shard", *(f"{at}.amudai.shard" for at in range(1, count))]
    files: dict[str, bytes] = {}
    for name, to in zip(names, [*names[1:], names[0]], strict=True):
        files |= _leading(name, to).files()
    with bounded():
        found = _verified(files)
    assert any("found a shard that leads to it" in problem.message for problem in found.problems)


@pytest.mark.slow
def test_a_long_chain_of_indexes() -> None:
    names = ["x.amudai.shard", *(f"{at}.amudai.shard" for at in range(2000))]
    files: dict[str, bytes] = {}
    for name, to in pairwise(names):
        files |= _leading(name, to).files()
    with bounded():
        found = _verified(files)
    assert any("expected at most 4 indexes of indexes" in problem.message for problem in found.problems)


def test_the_same_artifact_twice_is_verified_once() -> None:
    inner = Forge.of({"n": numbers([1, 2, 3], "i8")}, name="inner.amudai.shard")
    outer = _leading("x.amudai.shard", "inner.amudai.shard")
    outer.indexes.extend(outer.indexes * 50)
    found = _verified({**outer.files(), **inner.files()})
    assert found.values == 6
    assert found.files == 2


def test_the_table_is_read_from_a_sound_shard(files: dict[str, bytes]) -> None:
    table = amudai.open("x.amudai.shard", store=MemoryStore(files)).read()
    assert table.equals(pa.table(DATA))


@pytest.mark.parametrize("at", [13, 2050])
def test_both_encodings_of_a_column_are_read(at: int) -> None:
    """Readers choose the cheaper one, so that damage in the other would be found by some reads alone."""
    subject = next(each for each in subjects() if each.name == "stored twice")
    content = bytearray(subject.files["rows.parquet"])
    content[at] ^= 64
    assert subject.open(subject.files).verify().ok
    found = subject.open({**subject.files, "rows.parquet": bytes(content)}).verify()
    assert not found.ok
    assert all("rows.parquet" in str(problem) for problem in found.problems)
