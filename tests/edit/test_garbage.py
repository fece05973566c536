"""Files of roots that were overwritten: how long they stay, when they go, and which never go."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import amudai
from amudai import TermIndex
from amudai.edit import Publication, Root
from amudai.format import FILES_PROPERTY, RootFiles, any_value
from amudai.shard import ShardReader
from amudai.storage import LocalStore, MemoryStore, file_url
from amudai.storage.unpublished import UnpublishedFile
from tests.forge import Forge, numbers

START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
NOW = timedelta(0)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Sets the time, counted from `START`."""

    def set_to(passed: timedelta) -> None:
        for module in ("garbage", "publish"):
            monkeypatch.setattr(f"amudai.edit.{module}.now", lambda: START + passed)

    set_to(NOW)
    return set_to


def write(path: Path, first: int) -> set[str]:
    """Write a shard in two files over what is there; return the names of its stripe files."""
    amudai.write({"n": [first, first + 1]}, path, layout="two-level", overwrite=True)
    return set(said(path).owned)


def said(path: Path) -> RootFiles:
    found = ShardReader(path).files
    assert found is not None
    return found


def stripes(folder: Path) -> set[str]:
    return {each.name for each in folder.glob("*.amudai.stripe")}


def test_a_plain_shard_owns_what_was_made_for_it(tmp_path: Path) -> None:
    path = tmp_path / "x.amudai.shard"
    shard = amudai.write({"n": [1, 2]}, path, layout="two-level", indexes=[amudai.HashIndex("n")])
    assert {said(path).root, *said(path).owned} == {each.name for each in tmp_path.iterdir()}
    assert (said(path).retired, said(path).references, said(path).content) == ({}, {}, b"")
    assert shard.properties == {}
    single = amudai.write({"n": [1, 2]}, tmp_path / "y.amudai.shard")
    assert single.properties == {}
    assert said(tmp_path / "y.amudai.shard").owned == ()
    assert len(said(tmp_path / "y.amudai.shard").content) == 16
    amudai.write({"n": [1, 2]}, tmp_path / "z.amudai.shard")
    assert (tmp_path / "z.amudai.shard").read_bytes() == (tmp_path / "y.amudai.shard").read_bytes(), "whatever its name"


def test_the_next_write_removes_what_was_replaced_long_ago(tmp_path: Path, clock: Callable[[timedelta], None]) -> None:
    path = tmp_path / "x.amudai.shard"
    first = write(path, 1)
    second = write(path, 2)
    assert stripes(tmp_path) == first | second, "overwriting removes nothing"
    assert said(path).retired == dict.fromkeys(first, START)
    clock(timedelta(minutes=59))
    third = write(path, 3)
    assert stripes(tmp_path) == first | second | third
    assert said(path).retired == {**dict.fromkeys(first, START), **dict.fromkeys(second, START + timedelta(minutes=59))}
    clock(timedelta(minutes=61))
    fourth = write(path, 4)
    assert stripes(tmp_path) == second | third | fourth, "the grace period of the first is over"
    clock(DAY)
    fifth = write(path, 5)
    assert stripes(tmp_path) == fourth | fifth
    assert set(said(path).retired) == second | third | fourth, "two of them were removed after the root was written"
    sixth = write(path, 6)
    assert set(said(path).retired) == fourth | fifth, "what is gone is forgotten"
    assert stripes(tmp_path) == fourth | fifth | sixth


def test_values_that_come_back_are_owned_again(tmp_path: Path, clock: Callable[[timedelta], None]) -> None:
    path = tmp_path / "x.amudai.shard"
    first = write(path, 1)
    second = write(path, 2)
    clock(DAY)
    assert write(path, 1) == first, "the same values have the same name"
    assert set(said(path).retired) == second
    clock(2 * DAY)
    assert amudai.collect_garbage(path) != []
    assert stripes(tmp_path) == first
    assert amudai.open(path).read().to_pydict() == {"n": [1, 2]}


def test_a_file_that_the_new_root_only_lists_is_not_retired(tmp_path: Path) -> None:
    """Something that a later version added may need it."""
    path = tmp_path / "x.amudai.shard"
    owned = write(path, 1)
    root = replace(Root.of(ShardReader(path)), files={}, owned=frozenset())
    with Publication(LocalStore(), root.url, overwrite=True) as publication:
        publication.publish(root)
    assert (set(said(path).owned), said(path).retired) == (owned, {})


def test_a_copy_of_a_root_owns_nothing(tmp_path: Path) -> None:
    path, copy = tmp_path / "x.amudai.shard", tmp_path / "copy.amudai.shard"
    write(path, 1)
    write(path, 2)
    shutil.copyfile(path, copy)
    assert amudai.collect_garbage(copy, older_than=NOW) == []
    write(copy, 3)
    assert amudai.collect_garbage(copy, older_than=NOW) == []
    assert amudai.open(path).read().to_pydict() == {"n": [2, 3]}


def test_a_derived_root_owns_nothing_and_lists_everything(tmp_path: Path) -> None:
    a, b = tmp_path / "a.amudai.shard", tmp_path / "b.amudai.shard"
    amudai.write({"t": ["x", "y"]}, a, layout="two-level")
    shard = amudai.add_indexes(a, [TermIndex("t")], b)
    (stripe,) = said(a).owned
    assert said(b).owned == ()
    assert set(said(b).references) == {stripe}
    assert ShardReader(b).urls == (stripe,)
    assert shard.size == b.stat().st_size + (tmp_path / stripe).stat().st_size


def test_a_shard_of_another_writer_owns_nothing(tmp_path: Path) -> None:
    forge = Forge.of({"a": numbers([1, 2], "i8")}, layout="two-level")
    for name, content in forge.files().items():
        (tmp_path / name).write_bytes(content)
    path = tmp_path / forge.name
    before = stripes(tmp_path)
    assert before
    assert amudai.collect_garbage(path, older_than=NOW) == []
    after = write(path, 1)
    assert amudai.collect_garbage(path, older_than=NOW) == []
    assert stripes(tmp_path) == before | after


def test_only_names_of_ours_beside_the_root_are_removed(tmp_path: Path) -> None:
    """Whatever a root claims to own."""
    (tmp_path / "folder").mkdir()
    others = ["precious.txt", "folder/x.amudai.stripe", "../outside.amudai.stripe"]
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "folder").mkdir()
    for name in others:
        (folder / name).write_bytes(b"of somebody else")
    claims = {"root": "forged.amudai.shard", "owned": others, "retired": dict.fromkeys(others, START)}
    forge = Forge.of({"a": numbers([1, 2], "i8")}, properties={FILES_PROPERTY: any_value(claims).encode()})
    path = folder / forge.name
    path.write_bytes(forge.root())
    assert amudai.collect_garbage(path, older_than=NOW) == []
    write(path, 1)
    assert said(path).retired == {}
    assert all((folder / name).exists() for name in others)


@pytest.mark.parametrize(
    "value",
    [
        1,
        ["x"],
        {"root": 1},
        {"root": "x", "owned": "x"},
        {"root": "x", "retired": {"y": 1}},
        {"root": "x", "content": 3},
    ],
)
def test_a_property_that_says_something_else(tmp_path: Path, value: object) -> None:
    properties = {FILES_PROPERTY: any_value(value).encode()}
    forge = Forge.of({"a": numbers([1, 2], "i8")}, layout="two-level", properties=properties)
    for name, content in forge.files().items():
        (tmp_path / name).write_bytes(content)
    path = tmp_path / forge.name
    with pytest.raises(amudai.CorruptedData, match=r"property amudai.files: expected the files of a root, found"):
        amudai.collect_garbage(path, older_than=NOW)
    before = stripes(tmp_path)
    write(path, 1)
    assert stripes(tmp_path) >= before


def test_a_property_that_is_no_bytes(tmp_path: Path) -> None:
    path = tmp_path / "forged.amudai.shard"
    path.write_bytes(Forge.of({"a": numbers([1, 2], "i8")}, properties={FILES_PROPERTY: 1}).root())
    with pytest.raises(amudai.CorruptedData, match=r"property amudai.files: expected bytes, found i64"):
        amudai.collect_garbage(path, older_than=NOW)


@pytest.mark.parametrize("value", [b"short", 7, ["x"]])
def test_references_that_say_something_else(tmp_path: Path, value: object) -> None:
    claims = {"root": "forged.amudai.shard", "references": {"x": value}}
    properties = {FILES_PROPERTY: any_value(claims).encode()}
    forge = Forge.of({"a": numbers([1, 2], "i8")}, layout="two-level", properties=properties)
    for name, content in forge.files().items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(amudai.CorruptedData, match=r"property amudai.files: expected the files of a root, found"):
        amudai.open(tmp_path / forge.name).read()


def test_what_cannot_be_collected(tmp_path: Path) -> None:
    with pytest.raises(amudai.StorageError):
        amudai.collect_garbage(tmp_path / "none.amudai.shard")
    with pytest.raises(amudai.InvalidArgument, match="older_than"):
        amudai.collect_garbage(tmp_path / "none.amudai.shard", older_than=-DAY)
    store = MemoryStore()
    amudai.write({"n": [1]}, "x.amudai.shard", layout="two-level", store=store)
    assert amudai.collect_garbage("x.amudai.shard", store=store, older_than=NOW) == []


def test_names_of_the_library_are_not_for_users(tmp_path: Path) -> None:
    with pytest.raises(amudai.InvalidArgument, match=r"begins with 'amudai\.', found 'amudai\.files'"):
        amudai.write({"n": [1]}, tmp_path / "x.amudai.shard", properties={FILES_PROPERTY: 1})


# ---- what a killed process leaves ----

KILLED = """
import os, sys, amudai
real = os.replace
def replace(source, target):
    if {after}:
        real(source, target)
    os._exit(9)  # as a kill would end it
os.replace = replace
amudai.write({{"n": [5, 6]}}, sys.argv[1], layout="two-level", overwrite=True)
"""


def killed(path: Path, *, after: bool) -> None:
    """Overwrite a shard in a process that dies right before or after its root is replaced."""
    done = subprocess.run([sys.executable, "-c", KILLED.format(after=after), str(path)], check=False)
    assert done.returncode == 9


def parts(folder: Path) -> list[Path]:
    return list(folder.glob(".amudai-*.part"))


def overwrite(path: Path) -> None:
    """Publish the same root again, as a writer does, without a grace period."""
    root = Root.of(ShardReader(path))
    with Publication(LocalStore(), root.url, overwrite=True, grace=NOW) as publication:
        publication.publish(root)


@pytest.mark.slow
@pytest.mark.parametrize("clean", [overwrite, lambda path: amudai.collect_garbage(path, older_than=NOW)])
def test_a_part_file_of_a_killed_writer(tmp_path: Path, clean: Callable[[Path], object]) -> None:
    path = tmp_path / "x.amudai.shard"
    used = write(path, 1)
    killed(path, after=False)
    assert len(parts(tmp_path)) == 1
    assert amudai.open(path).read().to_pydict() == {"n": [1, 2]}
    amudai.collect_garbage(path)
    assert len(parts(tmp_path)) == 1, "it may still be written"
    clean(path)
    assert parts(tmp_path) == []
    assert amudai.open(path).read().to_pydict() == {"n": [1, 2]}
    (left,) = stripes(tmp_path) - used
    assert amudai.gc(tmp_path) == (), "its root may be published any moment"
    assert [file.url for file in amudai.gc(tmp_path, older_than=NOW)] == [file_url(tmp_path / left)]


def test_a_part_file_of_a_running_writer_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.amudai.shard"
    write(path, 1)
    running = UnpublishedFile(str(tmp_path))
    running._name_part()
    assert len(parts(tmp_path)) == 1
    assert amudai.collect_garbage(path, older_than=NOW) == []
    assert [file.removed for file in amudai.gc(tmp_path, older_than=NOW, dry_run=False)] == [False]
    assert len(parts(tmp_path)) == 1
    running.publish(str(tmp_path / "done"))
    running.discard()
    assert parts(tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("clean", [overwrite, lambda path: amudai.collect_garbage(path, older_than=NOW)])
def test_files_of_the_old_root_after_a_kill(tmp_path: Path, clean: Callable[[Path], object]) -> None:
    path = tmp_path / "x.amudai.shard"
    write(path, 1)
    killed(path, after=True)
    assert len(stripes(tmp_path)) == 2
    clean(path)
    assert stripes(tmp_path) == set(said(path).owned)
    assert amudai.open(path).read().to_pydict() == {"n": [5, 6]}


def test_a_file_that_another_shard_refers_to_stays(tmp_path: Path, clock: Callable[[timedelta], None]) -> None:
    a, b = tmp_path / "a.amudai.shard", tmp_path / "b.amudai.shard"
    amudai.write({"t": ["x", "y"]}, a, layout="two-level")
    amudai.add_indexes(a, [TermIndex("t")], b)
    (referred,) = said(a).owned
    write(a, 1)
    clock(DAY)
    assert amudai.collect_garbage(a, older_than=NOW) == []
    write(a, 2)
    assert referred in stripes(tmp_path)
    assert amudai.open(b).read().to_pydict() == {"t": ["x", "y"]}
    b.unlink()
    assert file_url(tmp_path / referred) in amudai.collect_garbage(a, older_than=NOW)


def test_nothing_is_removed_beside_a_root_that_cannot_be_read(
    tmp_path: Path, clock: Callable[[timedelta], None]
) -> None:
    a, b = tmp_path / "a.amudai.shard", tmp_path / "b.amudai.shard"
    old = write(a, 1)
    write(a, 2)
    b.write_bytes(a.read_bytes()[:-1])
    for collect in (amudai.collect_garbage, amudai.gc):
        with pytest.raises(amudai.StorageError, match=r"a root that cannot be read.*b\.amudai\.shard"):
            collect(a if collect is amudai.collect_garbage else tmp_path, older_than=NOW)
    clock(DAY)
    write(a, 3)
    assert old <= stripes(tmp_path)


def test_the_garbage_of_a_folder(tmp_path: Path) -> None:
    a, b = tmp_path / "a.amudai.shard", tmp_path / "b.amudai.shard"
    old = write(a, 1)
    write(a, 2)
    write(b, 3)
    (tmp_path / "notes.txt").write_text("of somebody else")
    assert amudai.gc(tmp_path) == ()
    assert [file.url for file in amudai.gc(tmp_path, older_than=NOW)] == [file_url(tmp_path / name) for name in old]
