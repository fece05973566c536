"""The operations that are made to fail: each reads shards, and publishes a new one."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import amudai
from amudai import HashIndex, Shard, TermIndex
from amudai.storage import open_store

ROWS = 60
INDEXES = [TermIndex("text"), HashIndex("word")]
FIRST, SECOND, TARGET = "first.amudai.shard", "second.amudai.shard", "target.amudai.shard"
ATTACHED = "attached.amudai.shard"  # over two Parquet files, of which the second has changed since
PARQUET = ("0.parquet", "1.parquet")


def rows(shift: int) -> pa.Table:
    at = range(shift, shift + ROWS)
    return pa.table({"n": list(at), "text": [f"line{n} of text" for n in at], "word": [f"word {n % 7}" for n in at]})


@dataclass(frozen=True)
class Place:
    """Where shards are: the beginning of their names, and their store."""

    prefix: str
    store: object | None = None

    def open(self, name: str) -> Shard:
        return amudai.open(self.prefix + name, store=self.store, threads=1)

    def write(self, name: str, shift: int, **options: Any) -> None:
        amudai.write(
            rows(shift), self.prefix + name, store=self.store, layout="two-level", indexes=INDEXES, threads=1, **options
        ).close()

    def prepare(self) -> None:
        """The shards that operations read."""
        self.write(FIRST, 0)
        self.write(SECOND, ROWS)
        for shift, name in enumerate(PARQUET):
            self.parquet(name, ROWS * shift)
        _attach(self, {}, ATTACHED).close()
        store, url = open_store(self.prefix + PARQUET[1], self.store)
        store.remove(url)
        self.parquet(PARQUET[1], 5 * ROWS)

    def parquet(self, name: str, shift: int) -> None:
        """Write a Parquet file."""
        content = io.BytesIO()
        pq.write_table(rows(shift), content)
        store, url = open_store(self.prefix + name, self.store)
        store.put_if_absent(url, [content.getvalue()])

    def content(self, name: str) -> object:
        """All rows, and what an index finds."""
        with self.open(name) as shard:
            found = shard.scan(where=amudai.col("text").has("line7")).positions().tolist()
            return shard.read().to_pydict(), found, shard.num_rows


def _lines() -> io.BytesIO:
    """Rows as a file: it is copied to a temporary one before it is read."""
    table = rows(300)
    return io.BytesIO("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()).encode())


Operation = Callable[[Place, dict[str, Any]], Shard]


def _path(place: Place) -> str:
    return place.prefix + TARGET


def _attach(place: Place, options: dict[str, Any], name: str = TARGET) -> Shard:
    files = [place.prefix + each for each in PARQUET]
    return amudai.attach(
        files, place.prefix + name, indexes=INDEXES, stripe_rows=ROWS, store=place.store, threads=1, **options
    )


OPERATIONS: dict[str, Operation] = {
    "write": lambda place, options: amudai.write(
        rows(200), _path(place), store=place.store, layout="two-level", indexes=INDEXES, threads=1, **options
    ),
    "ingest": lambda place, options: amudai.ingest(
        _lines(),
        _path(place),
        format="json",
        layout="two-level",
        indexes=INDEXES,
        store=place.store,
        threads=1,
        **options,
    ),
    "index": lambda place, options: amudai.add_indexes(
        place.open(FIRST), [TermIndex("word")], _path(place), store=place.store, **options
    ),
    "merge": lambda place, options: amudai.merge(
        [place.open(FIRST), place.open(SECOND)], _path(place), store=place.store, **options
    ),
    "delete": lambda place, options: amudai.delete(
        place.open(FIRST), positions=[3, 7], to=_path(place), store=place.store, **options
    ),
    "columns": lambda place, options: amudai.with_columns(
        place.open(FIRST), {"more": list(range(ROWS))}, to=_path(place), store=place.store, **options
    ),
    "upsert": lambda place, options: amudai.upsert(
        place.open(FIRST), rows(50), key="n", to=_path(place), store=place.store, **options
    ),
    "compact": lambda place, options: amudai.compact(
        [place.open(FIRST), place.open(SECOND)], _path(place), sort_by=("n", "descending"), store=place.store, **options
    ),
    "attach": _attach,
    "copy": lambda place, options: amudai.copy(place.open(FIRST), _path(place), store=place.store, **options),
    "refresh": lambda place, options: amudai.refresh(
        place.open(ATTACHED), _path(place), store=place.store, threads=1, **options
    ),
}


@dataclass(frozen=True)
class PreparedFolder:
    """A folder with the shards that operations read, and an old shard where they write.

    Attributes
    ----------
    folder
        Where operations run. A shard over Parquet files knows the path by which they are found again, so that this
        folder is restored for each run instead of being copied elsewhere.
    saved
        A copy of what was prepared.
    sources
        The bytes of all files that no operation may change, by name.
    """

    folder: Path
    saved: Path
    sources: dict[str, bytes]

    @classmethod
    def within(cls, parent: Path) -> PreparedFolder:
        """Prepare a new folder in `parent`."""
        prepared = cls(parent / "run", parent / "saved", {})
        prepared.folder.mkdir()
        prepared.place.prepare()
        prepared.sources.update({file.name: file.read_bytes() for file in prepared.folder.iterdir()})
        prepared.place.write(TARGET, 7 * ROWS)
        shutil.copytree(prepared.folder, prepared.saved)
        return prepared

    @property
    def place(self) -> Place:
        return Place(f"{self.folder}/")

    def sources_are_unchanged(self) -> bool:
        """Whether all files that operations only read have the bytes of before."""
        return all((self.folder / name).read_bytes() == content for name, content in self.sources.items())

    def restore(self) -> None:
        """Make the folder as it was."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.saved, self.folder)
