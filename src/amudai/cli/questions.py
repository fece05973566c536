"""The questions that `bench` asks of Parquet and of shards."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from pyarrow.dataset import dataset

import amudai
from amudai import Shard, col
from amudai.cli.options import index_specs

__all__ = ["Asked", "Files", "questions"]

_RANDOM_ROWS: Final = 1000
_SAMPLE_ROWS: Final = 20_000
_WORD: Final = re.compile(r"[A-Za-z0-9]{3,40}")


@dataclass(slots=True)
class Files:
    """One table in several files, and the columns that are asked about."""

    arrow: str
    parquet: str
    shard: str
    indexed: str
    rows: int = 0
    text: str | None = None  # the column with the most text
    key: str | None = None  # a text column whose values are nearly all different and all of one length
    ordered: str | None = None  # a column of times or numbers
    paths: dict[str, str] = field(default_factory=dict)  # how a shard's columns are addressed, by name
    specs: list[Any] = field(default_factory=list)

    @classmethod
    def below(cls, folder: str) -> Files:
        """The files, by their names in a folder."""
        names = ("plain.arrow", "zstd.parquet", "plain.amudai.shard", "indexed.amudai.shard")
        arrow, parquet, shard, indexed = (os.path.join(folder, name) for name in names)
        return cls(arrow, parquet, shard, indexed)

    def choose(self, shard: Shard) -> None:
        """Pick the columns to ask about, by the shard's statistics."""
        self.paths = {each.name: each.path for each in shard.columns}
        texts: dict[str, int] = {}
        numbers: dict[str, tuple[bool, int]] = {}
        for each in shard.columns:
            stats, kind = each.stats, each.type
            if pa.types.is_string(kind) or pa.types.is_large_string(kind):
                sizes = stats.details.get("min_non_empty_size"), stats.details.get("max_size")
                differ = stats.distinct_count is not None and stats.distinct_count * 2 >= shard.num_positions > 1
                if self.key is None and differ and sizes[0] == sizes[1]:
                    self.key = each.name
                else:
                    texts[each.name] = stats.raw_bytes or 0
            elif _is_ordered(kind) and stats.min is not None and stats.min != stats.max:
                numbers[each.name] = (pa.types.is_timestamp(kind), stats.distinct_count or 0)
        if texts:
            self.text = max(texts, key=lambda name: texts[name])
        if numbers:
            self.ordered = max(numbers, key=lambda name: numbers[name])
        words = [self.paths[self.text]] if self.text is not None else []
        keys = [self.paths[self.key]] if self.key is not None else []
        self.specs = index_specs(words, keys, "shard")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question. Each function answers it from another file and returns the number of rows."""

    what: str
    parquet: Callable[[], int]
    shard: Callable[[], int]
    indexed: Callable[[], int] | None = None


def questions(files: Files) -> Iterator[Asked]:
    """The questions. Each answer goes from opening the file to an Arrow table."""
    names = amudai.open(files.shard).schema.names
    yield _read("read all", files, None)
    if len(names) > 2:
        yield _read("read two columns", files, _two(files, names))
    yield _taken(files)
    with pa.memory_map(files.arrow) as source:
        table = pa.ipc.open_file(source).read_all()
        if files.ordered is not None:
            yield from _between(files, files.ordered, table[files.ordered])
        if files.key is not None:
            yield from _equal(files, files.key, table[files.key])
        if files.text is not None:
            yield from _words(files, files.text, table[files.text])


def _is_ordered(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_integer(kind) or pa.types.is_float64(kind))


def _two(files: Files, names: list[str]) -> list[str]:
    """A column of times or numbers and a column of text, if the file has them."""
    wanted = [name for name in (files.ordered, files.text, *names) if name is not None]
    return list(dict.fromkeys(wanted))[:2]


def _read(what: str, files: Files, columns: list[str] | None) -> Asked:
    paths = None if columns is None else [files.paths[name] for name in columns]
    shown = what if columns is None else f"{what}: {', '.join(columns)}"
    return Asked(
        shown,
        lambda: int(pa.parquet.read_table(files.parquet, columns=columns, memory_map=True).num_rows),
        lambda: amudai.open(files.shard).read(paths).num_rows,
    )


def _taken(files: Files) -> Asked:
    count = min(_RANDOM_ROWS, files.rows)
    rows = np.sort(np.random.default_rng(1).choice(files.rows, count, replace=False))

    def parquet() -> int:
        return int(dataset(files.parquet, format="parquet").take(pa.array(rows)).num_rows)

    return Asked("take random rows", parquet, lambda: amudai.open(files.shard).take(rows).num_rows)


def _filtered(what: str, files: Files, expression: pc.Expression, where: Any, indexed: bool) -> Asked:
    def answer(path: str) -> int:
        return int(amudai.open(path).scan(where=where).to_table().num_rows)

    return Asked(
        what,
        lambda: int(pa.parquet.read_table(files.parquet, filters=expression, memory_map=True).num_rows),
        lambda: answer(files.shard),
        (lambda: answer(files.indexed)) if indexed else None,
    )


def _between(files: Files, name: str, values: pa.ChunkedArray) -> Iterator[Asked]:
    """About one row in a hundred, from the middle of the values."""
    ordered = np.sort(
        _sample(values).drop_null().cast(pa.int64() if pa.types.is_timestamp(values.type) else values.type)
    )
    if not len(ordered):
        return
    low, high = (ordered[min(len(ordered) - 1, int(len(ordered) * part))] for part in (0.5, 0.51))
    scalars = [pa.scalar(each.item()).cast(values.type) for each in (low, high)]
    expression = (pc.field(name) >= scalars[0]) & (pc.field(name) <= scalars[1])
    yield _filtered(f"range of {name}", files, expression, col(files.paths[name]).between(*scalars), False)


def _equal(files: Files, name: str, values: pa.ChunkedArray) -> Iterator[Asked]:
    value = next((each for each in _sample(values).to_pylist()[::-1] if each), None)
    if value is not None:
        where = col(files.paths[name]) == value
        yield _filtered(f"one value of {name}", files, pc.field(name) == value, where, True)


def _words(files: Files, name: str, values: pa.ChunkedArray) -> Iterator[Asked]:
    counts: Counter[str] = Counter()
    for text in _sample(values).to_pylist():
        counts.update(set(_WORD.findall(text.lower()) if text else ()))
    if not counts:
        return
    common = max(counts, key=lambda word: (counts[word], word))
    rare = min(counts, key=lambda word: (counts[word], -len(word), word))
    for kind, word in (("rare", rare), ("common", common)):
        # What `has` means, for a word of Latin letters and digits.
        pattern = rf"(?i)(^|[^\pL\pN]){word}($|[^\pL\pN])"
        expression = pc.match_substring_regex(pc.field(name), pattern)
        yield _filtered(f"{kind} word {word!r}", files, expression, col(files.paths[name]).has(word), True)


def _sample(values: pa.ChunkedArray) -> pa.Array:
    step = max(1, len(values) // _SAMPLE_ROWS)
    return values.take(pa.array(np.arange(0, len(values), step))).combine_chunks()
