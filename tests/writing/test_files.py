"""The files of a shard: always the same, all at once, none too many, whatever happens in between."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai import StorageError
from amudai.encoding.profile import PROFILES
from amudai.storage import MemoryStore
from tests.writing.exact import assert_exact, names


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def sample(seed: int = 0, count: int = 20_000) -> pa.Table:
    random = np.random.default_rng(seed)
    numbers = random.integers(0, 10_000, count)
    return pa.table(
        {
            "n": numbers,
            "f": random.random(count),
            "constant": np.full(count, 3),
            "text": [f"line {number} of {number % 7}" for number in numbers.tolist()],
            "word": np.array(["info", "warn", "error"])[numbers % 3],
            "list": [list(range(number % 3)) for number in numbers.tolist()],
            "struct": [{"a": number, "b": None} for number in numbers.tolist()],
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["plain", "minimal_compression", "balanced"])
@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_the_same_input_gives_the_same_files(profile: str, layout: str, tmp_path: Path) -> None:
    table = sample()
    found = []
    for run, threads in enumerate([1, 4, 4, 2]):
        folder = tmp_path / str(run)
        folder.mkdir()
        amudai.write(
            table, folder / "t.amudai.shard", profile=profile, layout=layout, threads=threads, stripe_rows=9000
        )
        found.append(content(folder))
    assert len(found[0]) == (1 if layout == "single" else 4)
    assert all(each == found[0] for each in found[1:])


def test_a_spool_in_a_file_changes_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = sample(count=60_000)
    for name, share in (("memory", 1), ("file", 1_000_000)):
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.setattr("amudai.shard.build.shard._SPOOL_SHARE", share)
        amudai.write(table, folder / "t.amudai.shard", profile="plain")
    assert content(tmp_path / "memory") == content(tmp_path / "file")


def test_shards_share_no_files(tmp_path: Path) -> None:
    """Two shards of the same content side by side: one can be overwritten without the other."""
    for name in ("a", "b"):
        amudai.write({"n": [1, 2, 3]}, tmp_path / f"{name}.amudai.shard", layout="two-level")
    assert len(names(tmp_path)) == 4
    amudai.write({"n": [4]}, tmp_path / "a.amudai.shard", layout="two-level", overwrite=True)
    assert amudai.open(tmp_path / "b.amudai.shard").verify().ok


@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_what_is_there_is_not_replaced(layout: str, tmp_path: Path) -> None:
    target = tmp_path / "t.amudai.shard"
    amudai.write({"n": [1]}, target, layout=layout)
    before = content(tmp_path)
    with pytest.raises(StorageError, match=r"t\.amudai\.shard"):
        amudai.write({"n": [2]}, target, layout=layout)
    with pytest.raises(StorageError):
        amudai.ShardWriter(target, pa.schema([("n", pa.int64())]))
    target.with_name("x.amudai.shard").write_bytes(b"no shard")
    with pytest.raises(StorageError):
        amudai.write({"n": [2]}, tmp_path / "x.amudai.shard")
    (tmp_path / "x.amudai.shard").unlink()
    assert content(tmp_path) == before


@pytest.mark.slow
@pytest.mark.parametrize("old", ["single", "two-level", "damaged"])
@pytest.mark.parametrize("new", ["single", "two-level"])
def test_overwrite(old: str, new: str, tmp_path: Path) -> None:
    target = tmp_path / "t.amudai.shard"
    other = tmp_path / "other.amudai.stripe"
    other.write_bytes(b"of somebody else")
    if old == "damaged":
        target.write_bytes(b"no shard at all")
    else:
        amudai.write(sample(1), target, layout=old, stripe_rows=5000)
    reader = amudai.open(target) if old != "damaged" else None
    amudai.write(sample(2), target, layout=new, stripe_rows=7000, overwrite=True)
    assert_exact(amudai.open(target).read(), sample(2))
    if reader is not None:
        assert_exact(reader.read(), sample(1))  # who has the old one open goes on reading it
    amudai.collect_garbage(target, older_than=timedelta(0))
    assert other.exists()
    assert len(names(tmp_path)) == (2 if new == "single" else 5)
    assert_exact(amudai.open(target).read(), sample(2))


@pytest.mark.slow
def test_overwriting_with_the_same(tmp_path: Path) -> None:
    target = tmp_path / "t.amudai.shard"
    amudai.write(sample(), target, layout="two-level", stripe_rows=5000)
    before = content(tmp_path)
    amudai.write(sample(), target, layout="two-level", stripe_rows=5000, overwrite=True)
    assert content(tmp_path) == before


KILLED = """
import os, signal, sys
import pyarrow as pa, numpy as np
import amudai
def batches():
    random = np.random.default_rng(0)
    for at in range(40):
        if at == 20:
            sys.stdout.write("now"); sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        yield pa.record_batch({"n": random.integers(0, 2**60, 20_000), "f": random.random(20_000)})
amudai.write(batches(), sys.argv[1], layout=sys.argv[2], stripe_rows=30_000, memory_limit="1MB", overwrite=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["single", "two-level"])
@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
def test_killed_in_the_middle(layout: str, old: bool, tmp_path: Path) -> None:
    target = tmp_path / "t.amudai.shard"
    if old:
        amudai.write({"n": [1]}, target)
    before = names(tmp_path)
    run = subprocess.run([sys.executable, "-c", KILLED, target, layout], capture_output=True, check=False, timeout=60)
    assert (run.returncode, run.stdout) == (-9, b"now"), run.stderr
    left = names(tmp_path)
    assert [name for name in left if not name.endswith(".part")] == before
    if old:
        assert amudai.open(target).verify().ok
    table = sample()
    amudai.write(table, target, layout=layout, overwrite=old)
    assert_exact(amudai.open(target).read(), table)


BOUNDED = """
import os, resource, sys
import numpy as np, pyarrow as pa
import amudai
def batches(count):
    random = np.random.default_rng(0)
    for _ in range(count):
        words = random.integers(0, 2**62, 10_000)
        text = pa.array(words).cast(pa.string())
        yield pa.record_batch({"n": words, "f": random.random(10_000), "text": text, "list": _lists(random)})
def _lists(random):
    return pa.ListArray.from_arrays(np.arange(0, 20_001, 2, dtype=np.int32), random.random(20_000))
options = dict(memory_limit="16MB", threads=2, profile="minimal_compression", overwrite=True)
amudai.write(batches(20), sys.argv[1], **options)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
amudai.write(batches(160), sys.argv[1], **options)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, os.path.getsize(sys.argv[1]) // 1024)
"""


@pytest.mark.slow
def test_memory_is_bounded(tmp_path: Path) -> None:
    """Eight times the rows, and more than the limit in the file, but hardly more memory than for the first."""
    target = tmp_path / "t.amudai.shard"
    run = subprocess.run([sys.executable, "-c", BOUNDED, target], capture_output=True, check=False, timeout=120)
    assert run.returncode == 0, run.stderr.decode()
    grown, size = map(int, run.stdout.split())
    assert size > 3 * 16_000
    assert grown < 32_000
    assert names(tmp_path) == ["t.amudai.shard"]


@pytest.mark.slow
def test_temporary_files_go_where_they_are_told(tmp_path: Path) -> None:
    target, nowhere = tmp_path / "t.amudai.shard", tmp_path / "nowhere"
    with pytest.raises(StorageError):
        amudai.write(sample(), target, temp_dir=nowhere, memory_limit=1, profile="plain")
    assert names(tmp_path) == []


@pytest.mark.slow
def test_into_a_store() -> None:
    store = MemoryStore()
    for layout in ("single", "two-level"):
        for profile in PROFILES:
            name = f"{layout}/{profile}.amudai.shard"
            shard = amudai.write(sample(count=500), name, store=store, layout=layout, profile=profile, stripe_rows=300)
            assert_exact(shard.read(), sample(count=500))
            with pytest.raises(StorageError):
                amudai.write({"n": [1]}, name, store=store)
