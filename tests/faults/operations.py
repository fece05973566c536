"""The operations that are made to fail: each reads shards, and publishes a new one."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

import amudai
from amudai import HashIndex, Shard, TermIndex

ROWS = 60
INDEXES = [TermIndex("text"), HashIndex("word")]
FIRST, SECOND, TARGET = "first.amudai.shard", "second.amudai.shard", "target.amudai.shard"


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
    "copy": lambda place, options: amudai.copy(place.open(FIRST), _path(place), store=place.store, **options),
}


def prepared_folder(folder: Path) -> Path:
    """A folder with the shards that operations read, and an old shard where they write."""
    place = Place(f"{folder}/")
    place.prepare()
    place.write(TARGET, 7 * ROWS)
    return folder
