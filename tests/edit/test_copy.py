"""Listing, copying and moving the files of shards, and removing what no shard refers to."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path

import obstore.store
import pytest

import amudai
from amudai.errors import ExistingFile, InvalidArgument, MissingFile, StorageError, UnsupportedFeature
from amudai.storage import MemoryStore
from tests.any_time import BEFORE_CHRIST, FAR_FUTURE, folder_of_any_time, touch

NOW = timedelta(0)
ROWS = {"n": [1, 2, 5], "text": ["disk full", "all well", "disk"]}
INDEXES = [amudai.TermIndex("text"), amudai.HashIndex("n", level="stripe")]


@pytest.fixture
def merged(tmp_path: Path) -> amudai.Shard:
    """A shard whose bytes lie in three folders."""
    for name in ("day1", "day2", "all", "out"):
        (tmp_path / name).mkdir()
    one = amudai.write(ROWS, tmp_path / "day1" / "logs.amudai.shard", layout="two-level", indexes=INDEXES)
    more = {**ROWS, "list": [[1], [], None]}
    two = amudai.write(more, tmp_path / "day2" / "logs.amudai.shard", indexes=INDEXES)
    return amudai.merge([one, two], to=tmp_path / "all" / "logs.amudai.shard", allow=[tmp_path])


def path_of(url: str) -> Path:
    return Path(url.removeprefix("file://"))


def test_files_are_all_files_that_a_shard_needs(merged: amudai.Shard, tmp_path: Path) -> None:
    files = merged.files
    assert (files[0].url, files[0].kind, files[0].owned) == (merged.url, "root", True)
    assert [file.kind for file in files[1:]].count("stripe") == 1
    assert [file.kind for file in files[1:]].count("shard") == 1
    assert not any(file.owned for file in files[1:])
    assert all(path_of(file.url).stat().st_size == file.bytes for file in files)
    assert merged.size == sum(file.bytes for file in files)
    own = amudai.open(tmp_path / "day1" / "logs.amudai.shard").files
    assert all(file.owned for file in own)
    assert {path_of(file.url).name for file in own} == {path.name for path in (tmp_path / "day1").iterdir()}


def test_a_missing_file_is_named(merged: amudai.Shard, tmp_path: Path) -> None:
    lost = next(file.url for file in merged.files if file.kind == "stripe")
    path_of(lost).unlink()
    opened = amudai.open(merged.url, allow=[tmp_path])
    with pytest.raises(MissingFile, match="from which this shard was made") as caught:
        _ = opened.files
    assert lost in str(caught.value)


def test_a_copy_needs_nothing_of_the_original(merged: amudai.Shard, tmp_path: Path) -> None:
    expected = merged.read()
    copied = amudai.copy(merged, to=tmp_path / "out" / "copy.amudai.shard")
    assert all(file.owned for file in copied.files)
    assert {path_of(file.url).parent.name for file in copied.files} == {"out"}
    for folder in ("day1", "day2", "all"):
        for path in (tmp_path / folder).iterdir():
            path.unlink()
    copied = amudai.open(tmp_path / "out" / "copy.amudai.shard")
    assert copied.read().equals(expected)
    assert copied.verify().ok
    assert copied.scan(where="text has 'disk'").positions().tolist() == [0, 2, 3, 5]
    assert [index.type for index in copied.indexes] == [index.type for index in merged.indexes]


def test_a_shard_in_one_file_is_copied_byte_by_byte(tmp_path: Path) -> None:
    shard = amudai.write(ROWS, tmp_path / "a.amudai.shard", indexes=INDEXES)
    amudai.copy(shard, to=tmp_path / "b.amudai.shard")
    assert (tmp_path / "a.amudai.shard").read_bytes() == (tmp_path / "b.amudai.shard").read_bytes()


def test_a_shard_of_several_files_is_copied_byte_by_byte_under_its_name(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    shard = amudai.write(ROWS, tmp_path / "a.amudai.shard", layout="two-level", indexes=INDEXES)
    copied = amudai.copy(shard, to=tmp_path / "other" / "a.amudai.shard")
    for file in shard.files:
        assert path_of(file.url).read_bytes() == (tmp_path / "other" / path_of(file.url).name).read_bytes()
    assert all(file.owned for file in copied.files)


def test_a_copy_beside_the_original_has_files_of_its_own(tmp_path: Path) -> None:
    shard = amudai.write(ROWS, tmp_path / "a.amudai.shard", layout="two-level", indexes=INDEXES)
    copied = amudai.copy(shard, to=tmp_path / "b.amudai.shard")
    assert not {file.url for file in shard.files} & {file.url for file in copied.files}
    amudai.write({"n": [7]}, tmp_path / "a.amudai.shard", overwrite=True)
    amudai.collect_garbage(tmp_path / "a.amudai.shard", older_than=NOW)
    assert amudai.open(tmp_path / "b.amudai.shard").read().to_pydict() == ROWS


def test_a_copy_of_a_copy_keeps_its_own_bytes(merged: amudai.Shard, tmp_path: Path) -> None:
    first = amudai.copy(merged, to=tmp_path / "out" / "first.amudai.shard")
    again = amudai.copy(first, to=tmp_path / "out" / "again.amudai.shard")
    assert again.read().equals(merged.read())
    assert again.verify().ok


def test_copies_cross_stores(merged: amudai.Shard, tmp_path: Path) -> None:
    store = MemoryStore()
    amudai.copy(merged, to="lake/logs.amudai.shard", store=store)
    stored = amudai.open("lake/logs.amudai.shard", store=store)
    assert stored.read().equals(merged.read())
    back = amudai.copy(stored, to=tmp_path / "out" / "logs.amudai.shard")
    assert back.read().equals(merged.read())
    with pytest.raises(UnsupportedFeature, match="expected one with the capability listable"):
        amudai.copy(stored, to=tmp_path / "out" / "more.amudai.shard", move=True)


def test_moving_removes_what_belonged_to_the_shard_alone(merged: amudai.Shard, tmp_path: Path) -> None:
    others = [file.url for file in merged.files if not file.owned]
    expected = merged.read()
    moved = amudai.copy(merged, to=tmp_path / "out" / "moved.amudai.shard", move=True)
    assert moved.read().equals(expected)
    assert not list((tmp_path / "all").iterdir())
    assert all(path_of(url).exists() for url in others)
    amudai.copy(tmp_path / "day1" / "logs.amudai.shard", to=tmp_path / "out" / "day1.amudai.shard", move=True)
    assert not list((tmp_path / "day1").iterdir())


def test_moving_leaves_files_that_another_shard_refers_to(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "below").mkdir()
    stripes = amudai.write(ROWS, tmp_path / "a.amudai.shard", layout="two-level", indexes=INDEXES)
    fewer = amudai.delete(stripes, positions=[0], to=tmp_path / "below" / "fewer.amudai.shard", allow=[tmp_path])
    expected, used = fewer.read(), {file.url for file in fewer.files}
    owned = {file.url for file in stripes.files if file.owned} - {stripes.url}
    assert used & owned
    with pytest.warns(amudai.FilesInUseWarning, match="another shard refers to") as said:
        moved = amudai.copy(stripes, to=tmp_path / "out" / "a.amudai.shard", move=True)
    assert moved.read().equals(amudai.write(ROWS, tmp_path / "same.amudai.shard").read())
    left = {path.as_uri() for path in tmp_path.iterdir()}
    assert left & owned == used & owned
    assert stripes.url not in left
    assert all(url in str(said[0].message) for url in used & owned)
    assert amudai.open(fewer.url, allow=[tmp_path]).read().equals(expected)


def test_moving_removes_nothing_if_the_root_is_in_use(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    whole = amudai.write(ROWS, tmp_path / "whole.amudai.shard")
    fewer = amudai.delete(whole, positions=[0], to=tmp_path / "fewer.amudai.shard")
    with pytest.warns(amudai.FilesInUseWarning, match=r"whole\.amudai\.shard"):
        amudai.copy(whole, to=tmp_path / "out" / "whole.amudai.shard", move=True)
    assert amudai.open(whole.url).read().num_rows == 3
    assert amudai.open(fewer.url).read().num_rows == 2


def test_moving_copies_nothing_beside_a_root_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    whole = amudai.write(ROWS, tmp_path / "whole.amudai.shard")
    (tmp_path / "damaged.amudai.shard").write_bytes(b"nothing")
    with pytest.raises(StorageError, match=r"a root that cannot be read.*damaged\.amudai\.shard"):
        amudai.copy(whole, to=tmp_path / "out" / "whole.amudai.shard", move=True)
    assert list((tmp_path / "out").iterdir()) == []
    assert amudai.open(whole.url).num_rows == 3


def test_a_copy_replaces_nothing_unasked(tmp_path: Path) -> None:
    shard = amudai.write(ROWS, tmp_path / "a.amudai.shard")
    amudai.write({"n": [1]}, tmp_path / "b.amudai.shard")
    with pytest.raises(ExistingFile):
        amudai.copy(shard, to=tmp_path / "b.amudai.shard")
    with pytest.raises(InvalidArgument, match="to: expected another place"):
        amudai.copy(shard, to=tmp_path / "a.amudai.shard", overwrite=True)
    assert amudai.copy(shard, to=tmp_path / "b.amudai.shard", overwrite=True).num_rows == 3


# ---- garbage ----


def left_behind(folder: Path, *names: str, hours: float = 48) -> list[Path]:
    found = [folder / name for name in names]
    for path in found:
        path.write_bytes(b"left behind")
        os.utime(path, (time.time() - 3600 * hours,) * 2)
    return found


NAMES = ("1f.amudai.stripe", "2e.amudai.index", f".amudai-{'ab' * 8}.part")


def test_gc_finds_files_that_no_root_refers_to(merged: amudai.Shard, tmp_path: Path) -> None:
    before = merged.read()
    lost = left_behind(tmp_path / "day1", *NAMES)
    fresh = left_behind(tmp_path, "3d.amudai.stripe", hours=1)
    other = left_behind(tmp_path, "notes.txt", "x.part")
    found = amudai.gc(tmp_path)
    assert {path_of(file.url) for file in found} == set(lost)
    assert {file.kind for file in found} == {"stripe", "index", "unfinished"}
    assert not any(file.removed for file in found)
    assert all(path.exists() for path in lost)
    removed = amudai.gc(tmp_path, dry_run=False)
    assert {path_of(file.url) for file in removed if file.removed} == set(lost)
    assert not any(path.exists() for path in lost)
    assert all(path.exists() for path in (*fresh, *other))
    assert amudai.open(merged.url, allow=[tmp_path]).read().equals(before)
    assert len(amudai.gc(tmp_path, older_than=NOW)) == 1


def test_gc_keeps_what_any_root_refers_to(merged: amudai.Shard, tmp_path: Path) -> None:
    (tmp_path / "day1" / "logs.amudai.shard").unlink()
    kept = next(path_of(file.url) for file in merged.files if file.kind == "stripe")
    for path in (tmp_path / "day1").iterdir():
        os.utime(path, (0, 0))
    found = amudai.gc(tmp_path, dry_run=False)
    assert found  # the term index, which was merged
    assert kept.exists()
    assert amudai.open(merged.url, allow=[tmp_path]).verify().ok
    # Seen from day1 alone, nothing refers to its files.
    assert kept in {path_of(file.url) for file in amudai.gc(tmp_path / "day1")}


def test_gc_removes_nothing_if_a_root_is_damaged(merged: amudai.Shard, tmp_path: Path) -> None:
    lost = left_behind(tmp_path / "out", *NAMES)
    root = tmp_path / "day2" / "logs.amudai.shard"
    root.write_bytes(root.read_bytes()[:-40])
    with pytest.raises(StorageError, match="a root that cannot be read") as caught:
        amudai.gc(tmp_path, dry_run=False)
    assert "day2/logs.amudai.shard" in str(caught.value)
    assert all(path.exists() for path in lost)


def test_gc_knows_roots_by_their_content(tmp_path: Path) -> None:
    shard = amudai.write(ROWS, tmp_path / "any name", layout="two-level")
    for path in tmp_path.iterdir():
        os.utime(path, (0, 0))
    assert amudai.gc(tmp_path, dry_run=False) == ()
    assert amudai.open(tmp_path / "any name").read().to_pydict() == ROWS
    assert shard.num_rows == 3


@pytest.mark.parametrize("time", [FAR_FUTURE, BEFORE_CHRIST])
def test_gc_of_files_of_any_time(time: int) -> None:
    with folder_of_any_time() as folder:
        amudai.write(ROWS, folder / "a.amudai.shard", layout="two-level")
        lost = left_behind(folder, *NAMES)
        for path in folder.iterdir():
            touch(path, time)
        found = amudai.gc(folder, older_than=NOW, dry_run=False)
        assert {path_of(file.url) for file in found} == (set(lost) if time < 0 else set())
        assert amudai.open(folder / "a.amudai.shard").verify().ok


def test_gc_waits_for_readers_of_a_replaced_shard(tmp_path: Path) -> None:
    amudai.write(ROWS, tmp_path / "a.amudai.shard", layout="two-level")
    amudai.write({"n": [1, 9, 4]}, tmp_path / "a.amudai.shard", layout="two-level", overwrite=True)
    for path in tmp_path.iterdir():
        os.utime(path, (0, 0))
    assert amudai.gc(tmp_path) == ()
    assert len(amudai.gc(tmp_path, older_than=NOW)) == 1


def test_gc_of_stores(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    folder = f"/gc-{tmp_path.name}"
    amudai.write(ROWS, f"{folder}/a.amudai.shard", store=memory, layout="two-level")
    memory.pipe(f"{folder}/1f.amudai.stripe", b"left behind")
    found = amudai.gc(folder, store=memory, older_than=NOW)
    assert [file.url for file in found] == [f"{folder}/1f.amudai.stripe"]
    assert [file.removed for file in amudai.gc(folder, store=memory, older_than=NOW, dry_run=False)] == [True]
    assert amudai.gc(folder, store=memory, older_than=NOW) == ()
    assert amudai.open(f"{folder}/a.amudai.shard", store=memory).num_rows == 3


def test_gc_keeps_files_that_a_root_names_by_a_mapped_prefix() -> None:
    obstore = pytest.importorskip("obstore")
    store = obstore.store.MemoryStore()
    day = amudai.write(ROWS, "day1/logs.amudai.shard", store=store, layout="two-level", indexes=INDEXES)
    allow = {"cold://lake/": store}
    amudai.merge([day], "all/logs.amudai.shard", store=store, allow=allow)
    obstore.delete(store, "day1/logs.amudai.shard")
    obstore.put(store, "day1/1f.amudai.stripe", b"left behind")
    removed = [file.url for file in amudai.gc("", store=store, older_than=NOW, dry_run=False)]
    assert "day1/1f.amudai.stripe" in removed
    assert amudai.open("all/logs.amudai.shard", store=store, allow=allow).read().to_pydict() == ROWS


@pytest.mark.parametrize("linked", ["above", "below"])
def test_gc_keeps_files_that_a_root_names_by_a_link(linked: str, tmp_path: Path) -> None:
    lake, link = tmp_path / "lake", tmp_path / ("link" if linked == "above" else "lake/link")
    (lake / "day1").mkdir(parents=True)
    (lake / "all").mkdir()
    link.symlink_to(lake if linked == "above" else lake / "day1")
    named = link / "day1" if linked == "above" else link
    amudai.write(ROWS, named / "logs.amudai.shard", layout="two-level")
    amudai.merge([named / "logs.amudai.shard"], lake / "all" / "logs.amudai.shard", allow=[named])
    (lake / "day1" / "logs.amudai.shard").unlink()
    left_behind(lake / "day1", "1f.amudai.stripe")
    removed = amudai.gc(lake, older_than=NOW, dry_run=False)
    assert [path_of(file.url).name for file in removed] == ["1f.amudai.stripe"]
    assert amudai.open(lake / "all" / "logs.amudai.shard", allow=[named]).read().to_pydict() == ROWS


def test_gc_tells_files_of_one_name_apart(merged: amudai.Shard, tmp_path: Path) -> None:
    used = next(path_of(file.url) for file in merged.files if file.kind == "stripe")
    lost = left_behind(tmp_path / "out", used.name)
    assert [path_of(file.url) for file in amudai.gc(tmp_path)] == lost


def test_moving_leaves_files_that_a_root_names_by_a_mapped_prefix() -> None:
    store = pytest.importorskip("obstore.store").MemoryStore()
    day = amudai.write(ROWS, "lake/logs.amudai.shard", store=store, layout="two-level")
    allow = {"cold://": store}
    amudai.merge([day], "lake/below/logs.amudai.shard", store=store, allow=allow)
    with pytest.warns(amudai.FilesInUseWarning):
        amudai.copy(day, "moved.amudai.shard", store=store, move=True)
    assert amudai.open("lake/below/logs.amudai.shard", store=store, allow=allow).read().to_pydict() == ROWS


def test_arguments_of_gc(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="older_than: expected a timedelta of at least 0"):
        amudai.gc(tmp_path, older_than=timedelta(-1))
    with pytest.raises(MissingFile):
        amudai.gc(tmp_path / "nowhere")


def test_gc_knows_the_files_that_a_mapped_prefix_names() -> None:
    """Without `allow`, files of the same name in other folders stay, too."""
    store = obstore.store.MemoryStore()
    amudai.write(ROWS, "data/logs.amudai.shard", layout="two-level", store=store)
    allow = {"s3://lake/": store}
    amudai.delete("data/logs.amudai.shard", "n = 2", to="roots/a.amudai.shard", store=store, allow=allow)
    [stripe] = [each["path"] for each in store.list("data").collect() if each["path"].endswith(".stripe")]
    store.put(stripe.replace("data/", "old/"), b"garbage of the same name")
    store.delete("data/logs.amudai.shard")
    found = amudai.gc("", store=store, older_than=NOW, dry_run=False)
    assert found == ()
    found = amudai.gc("", store=store, older_than=NOW, dry_run=False, allow=allow)
    assert [each.url for each in found] == [stripe.replace("data/", "old/")]
    kept = amudai.open("roots/a.amudai.shard", store=store, allow=allow)
    assert kept.read()["n"].to_pylist() == [1, 5]


def test_collecting_garbage_of_a_place_knows_a_mapped_prefix() -> None:
    store = obstore.store.MemoryStore()
    for first in (1, 2):
        amudai.write({"n": [first, 9]}, "x/a.amudai.shard", layout="two-level", store=store, overwrite=True)
        if first == 1:
            [stripe] = [each["path"] for each in store.list("x").collect() if each["path"].endswith(".stripe")]
            store.copy("x/a.amudai.shard", "y/a.amudai.shard")
            store.copy(stripe, stripe.replace("x/", "y/"))
    allow = {"s3://lake/": store}
    amudai.delete("y/a.amudai.shard", "n = 1", to="x/b.amudai.shard", store=store, allow=allow)
    assert amudai.collect_garbage("x/a.amudai.shard", store=store, older_than=NOW) == []
    assert amudai.collect_garbage("x/a.amudai.shard", store=store, older_than=NOW, allow=allow) == [stripe]
    assert amudai.open("x/b.amudai.shard", store=store, allow=allow).read().to_pydict() == {"n": [9]}
