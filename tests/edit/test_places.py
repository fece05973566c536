"""`to=` that names a source: by a link, by another store, by another spelling. Nothing may be lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import obstore.store
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import amudai
from amudai import InvalidArgument

ROWS = {"k": list(range(10)), "w": [f"a{at}" for at in range(10)]}
NAME = "real.amudai.shard"

OPERATIONS: dict[str, Callable[[Any, Path, Path], object]] = {
    "delete": lambda shard, to, top: amudai.delete(shard, "k = 3", to=to, overwrite=True, allow=[top]),
    "undelete": lambda shard, to, top: amudai.undelete(shard, to=to, overwrite=True, allow=[top]),
    "rename": lambda shard, to, top: amudai.rename_columns(shard, {"k": "n"}, to=to, overwrite=True, allow=[top]),
    "drop": lambda shard, to, top: amudai.drop_columns(shard, ["w"], to=to, overwrite=True, allow=[top]),
    "add columns": lambda shard, to, top: amudai.with_columns(
        shard, {"x": list(range(10))}, to=to, overwrite=True, allow=[top]
    ),
    "add indexes": lambda shard, to, top: amudai.add_indexes(
        shard, [amudai.TermIndex("w")], to=to, overwrite=True, allow=[top]
    ),
    "upsert": lambda shard, to, top: amudai.upsert(
        shard, {"k": [3], "w": ["x"]}, key="k", to=to, overwrite=True, allow=[top]
    ),
    "merge": lambda shard, to, top: amudai.merge([shard, shard], to=to, overwrite=True, allow=[top]),
    "compact": lambda shard, to, top: amudai.compact(shard, to=to, overwrite=True, allow=[top]),
    "salvage": lambda shard, to, top: amudai.salvage(shard, to=to, overwrite=True, allow=[top]),
    "copy": lambda shard, to, top: amudai.copy(shard, to=to, overwrite=True, allow=[top]),
    "move": lambda shard, to, top: amudai.copy(shard, to=to, overwrite=True, move=True, allow=[top]),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a shard, a link to the shard, and a link to the folder beside it."""
    found = tmp_path / "d"
    found.mkdir()
    (tmp_path / "link").symlink_to(found)
    (found / "link.amudai.shard").symlink_to(NAME)
    (found / "far.amudai.shard").symlink_to("link.amudai.shard")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["single", "two-level"])
@pytest.mark.parametrize("alias", ["link.amudai.shard", "far.amudai.shard", f"../link/{NAME}"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_source_under_another_name_is_refused(name: str, alias: str, layout: Any, folder: Path) -> None:
    real, top = folder / NAME, folder.parent
    amudai.write(ROWS, real, layout=layout, stripe_rows=4)
    before = {each.name for each in folder.iterdir()}
    with pytest.raises(InvalidArgument, match="to: expected another place"):
        OPERATIONS[name](folder / alias, real, top)
    assert amudai.open(real).read().to_pydict() == ROWS
    assert {each.name for each in folder.iterdir()} == before


def test_a_link_may_be_replaced(folder: Path) -> None:
    real, link = folder / NAME, folder / "link.amudai.shard"
    amudai.write(ROWS, real)
    assert amudai.delete(real, "k = 3", to=link, overwrite=True).num_rows == 9
    assert amudai.open(real).read().to_pydict() == ROWS


def test_a_root_that_a_source_refers_to_by_a_link(folder: Path) -> None:
    real, other = folder / NAME, folder / "other.amudai.shard"
    amudai.write(ROWS, real)
    amudai.delete(folder / "link.amudai.shard", "k = 3", to=other)
    with pytest.raises(InvalidArgument, match="to: expected another place"):
        amudai.delete(other, "k = 4", to=real, overwrite=True)
    assert amudai.open(other).read()["k"].to_pylist() == [0, 1, 2, 4, 5, 6, 7, 8, 9]


def test_a_source_in_another_store_of_the_same_folder(folder: Path) -> None:
    real = folder / NAME
    amudai.write(ROWS, real)
    store = obstore.store.LocalStore(folder)
    shard = amudai.open(NAME, store=store)
    with pytest.raises(InvalidArgument, match="to: expected another place"):
        amudai.copy(shard, to=real, move=True, overwrite=True)
    with pytest.raises(InvalidArgument, match="to: expected another place"):
        amudai.delete(shard, "k = 3", to=real, overwrite=True, allow={f"file://{folder}/": store})
    assert amudai.open(real).read().to_pydict() == ROWS


def test_a_source_under_another_spelling_of_its_key() -> None:
    store = obstore.store.MemoryStore()
    amudai.write(ROWS, f"x/{NAME}", store=store)
    with pytest.raises(InvalidArgument, match="to: expected another place"):
        amudai.copy(f"x/{NAME}", to=f"/x/{NAME}", move=True, store=store, overwrite=True)
    with pytest.raises(InvalidArgument, match="to: expected another place"):
        amudai.delete(f"/x/{NAME}", "k = 3", to=f"x/{NAME}", store=store, overwrite=True, allow={"m://x/": store})
    assert amudai.open(f"x/{NAME}", store=store).read().to_pydict() == ROWS


def test_paths_of_a_file_system_with_and_without_its_protocol(tmp_path: Path) -> None:
    store = fsspec.filesystem("file")
    amudai.write(ROWS, str(tmp_path / NAME), store=store)
    with pytest.raises(InvalidArgument, match="to: expected another place"):
        amudai.copy(str(tmp_path / NAME), to=f"file://{tmp_path}/{NAME}", store=store)


def test_a_byte_copy_of_a_source_is_another_place(tmp_path: Path) -> None:
    """What is refused is the same file, and not the same content."""
    one, two = tmp_path / "1.amudai.shard", tmp_path / "2.amudai.shard"
    amudai.write(ROWS, one)
    two.write_bytes(one.read_bytes())
    assert amudai.delete(one, "k = 3", to=two, overwrite=True).num_rows == 9


@pytest.mark.parametrize(("source", "to"), [("p.parquet", "p.parquet"), ("l.parquet", "p.parquet")])
def test_attaching_does_not_replace_a_parquet_file(source: str, to: str, tmp_path: Path) -> None:
    table = pa.table(ROWS)
    pq.write_table(table, tmp_path / "p.parquet")
    (tmp_path / "l.parquet").symlink_to("p.parquet")
    with pytest.raises(InvalidArgument, match="to: expected another place than that of a Parquet file"):
        amudai.attach(tmp_path / source, to=tmp_path / to, overwrite=True)
    assert pq.read_table(tmp_path / "p.parquet") == table
