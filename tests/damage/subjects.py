"""The shards that the campaign damages: every type, profile, layout, index and form, and the results of edits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq

import amudai
from amudai import Shard, col
from amudai.storage import MemoryStore
from tests.forge import Forge, constants, dictionary, lists, number_dictionary, numbers, referred, separate, strings

ROOT = "subject.amudai.shard"
CREATED = datetime(2024, 1, 1, tzinfo=UTC)
PROFILES = ("plain", "minimal_compression", "balanced", "high_compression", "minimal_size")

Question = Callable[[Shard], object]


@dataclass(frozen=True)
class Subject:
    """A sound shard in memory.

    Attributes
    ----------
    files, others
        Its files by name, and the files of a shard of the same shape with other values.
    is_small
        Whether each of its bytes is damaged, not only some.
    """

    name: str
    files: dict[str, bytes]
    others: dict[str, bytes]
    is_small: bool = False

    def open(self, files: dict[str, bytes]) -> Shard:
        return amudai.open(ROOT, store=MemoryStore(files), threads=1)

    def open_in(self, store: DecayingStore) -> Shard:
        return amudai.open(ROOT, store=store, threads=1)

    @cached_property
    def answers(self) -> dict[str, object]:
        """The right answer to each question."""
        return {name: ask(self.open(self.files)) for name, ask in QUESTIONS.items()}


class DecayingStore(MemoryStore):
    """Files that are damaged while they are open, which no tag tells: the medium loses bytes, nobody writes."""

    def decay(self, files: dict[str, bytes]) -> None:
        """Replace the content of files."""
        self._files.update(files)

    def _tag(self, url: str) -> str:
        return "the same"


def _bits(table: pa.Table) -> object:
    """The content of a table, to the bit: NaN equals itself, and -0.0 is not 0.0."""
    out = pa.BufferOutputStream()
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)
    return out.getvalue().to_pybytes()


def _names(shard: Shard) -> set[str]:
    return set(shard.schema.names)


def _rows(shard: Shard, where: amudai.Predicate) -> object:
    return _bits(shard.scan([shard.schema.names[0]], where=where).to_table())


# Each opens the shard anew, so that nothing was read before. Columns that a subject lacks ask about the first one.
QUESTIONS: dict[str, Question] = {
    "read": lambda shard: _bits(shard.read()),
    "batches": lambda shard: [_bits(pa.table(batch)) for batch in shard.scan(batch_rows=97)],
    "take": lambda shard: _bits(shard.take([row for row in (9, 3, 119) if row < shard.num_positions])),
    "one column": lambda shard: _bits(shard.read(shard.schema.names[-1:])),
    "head": lambda shard: _bits(shard.head(2)),
    "count": lambda shard: (shard.num_rows, shard.count(where=col(shard.schema.names[0]).is_null())),
    "range": lambda shard: _rows(shard, (col("n") > 70) & (col("n") <= 90)) if "n" in _names(shard) else None,
    "equal": lambda shard: _rows(shard, col("word") == "word 5") if "word" in _names(shard) else None,
    "key": lambda shard: (
        _rows(shard, (col("word") == "word 3") & (col("n") == 30)) if "word" in _names(shard) else None
    ),
    "term": lambda shard: _rows(shard, col("text").has("line7")) if "text" in _names(shard) else None,
    "part": lambda shard: _rows(shard, col("text").contains("ine11")) if "text" in _names(shard) else None,
    "facts": lambda shard: repr([(each.path, each.type, each.stats, each.properties) for each in shard.columns]),
}


def _flat(shift: int, rows: int = 300) -> pa.Table:
    at = range(shift, shift + rows)
    return pa.table(
        {
            "n": pa.array([n * 3 % 251 if n % 13 else None for n in at], pa.int64()),
            "steps": pa.array([1000 + 7 * n for n in at], pa.uint32()),
            "runs": pa.array([n // 40 for n in at], pa.int16()),
            "f": pa.array([n / 4 if n % 9 else float("nan") for n in at], pa.float64()),
            "noise": pa.array([(n * 2654435761 % 997) ** 0.5 for n in at], pa.float32()),
            "flag": pa.array([n % 3 == 0 if n % 5 else None for n in at]),
            "text": [f"line{n} of {n * n % 17} lines" if n % 11 else None for n in at],
            "word": [f"word {n % 7}" for n in at],
            "blob": pa.array([bytes([n % 256]) * (n % 6) for n in at], pa.binary()),
            "same": ["constant"] * rows,
        }
    )


def _types(shift: int, rows: int = 60) -> pa.Table:
    at = range(shift, shift + rows)
    began = datetime(2024, 3, 1, tzinfo=UTC)
    return pa.table(
        {
            "i8": pa.array([n % 100 for n in at], pa.int8()),
            "u8": pa.array([n * 2**40 for n in at], pa.uint64()),
            "half": pa.array([n / 8 for n in at], pa.float32()),
            "money": pa.array([Decimal(n * 37) / 100 if n % 7 else None for n in at], pa.decimal128(12, 2)),
            "day": pa.array([date(2024, 1, 1) + timedelta(days=n) for n in at]),
            "when": pa.array([began + timedelta(seconds=n * 17) for n in at], pa.timestamp("us", "UTC")),
            "exact": pa.array([10**18 + n * 10**9 + n for n in at], pa.timestamp("ns")),
            "clock": pa.array([time(n % 24, n % 60) for n in at], pa.time64("us")),
            "span": pa.array([timedelta(milliseconds=n) for n in at], pa.duration("us")),
            "id": pa.array([UUID(int=n * 12345).bytes for n in at], pa.binary(16)),
            "list": pa.array([[n, n + 1][: n % 3] if n % 8 else None for n in at], pa.list_(pa.int32())),
            "struct": pa.array(
                [{"a": n, "b": f"b{n % 4}"} if n % 6 else None for n in at],
                pa.struct([("a", pa.int64()), ("b", pa.string())]),
            ),
            "map": pa.array([[(f"k{n % 3}", n)] for n in at], pa.map_(pa.string(), pa.int16())),
            "fixed": pa.array([[n, -n] for n in at], pa.list_(pa.int16(), 2)),
            "deep": pa.array([[[f"x{n}"], []][: n % 3] for n in at], pa.list_(pa.list_(pa.string()))),
            "null": pa.nulls(rows),
        }
    )


def _some(shift: int, rows: int) -> pa.Table:
    return _flat(shift, rows).select(["n", "steps", "noise", "text", "word"])


# Asked of one shard by turns, and of a shard that is damaged after it was opened.
LAZILY = ("range", "take", "key", "term", "read", "head")


def _few(shift: int, rows: int = 40) -> pa.Table:
    return _flat(shift, rows).select(["n", "text", "flag"])


def _written(table: pa.Table, **options: Any) -> dict[str, bytes]:
    store = MemoryStore({})
    amudai.write(table, ROOT, store=store, created=CREATED, **options).close()
    return dict(store._files)


def _extended(shift: int) -> dict[str, bytes]:
    """Numbers and times that repeat, which only the extended encodings store small."""
    at = range(shift, shift + 600)
    some = [n * n % 7 * 10**15 + n % 3 for n in range(40)]
    table = pa.table(
        {
            "n": pa.array([n * 7919 % 90 if n % 13 else None for n in at], pa.int64()),
            "big": pa.array([some[n * 2654435761 % 37] for n in at], pa.int64()),
            "f": pa.array([some[n * 2654435761 % 31] / 7 for n in at], pa.float64()),
            "when": pa.array([some[n * 2654435761 % 29] for n in at], pa.timestamp("us")),
        }
    )
    return _written(table, compatibility="extended", profile="minimal_compression")


def _edited(edit: Callable[[MemoryStore, int], Shard], shift: int) -> dict[str, bytes]:
    store = MemoryStore({})
    with edit(store, shift) as shard:
        used = {file.url for file in shard.files}
    return {name: content for name, content in store._files.items() if name in used}


def _source(store: MemoryStore, name: str, shift: int, rows: int = 120, **options: Any) -> Shard:
    return amudai.write(_some(shift, rows), name, store=store, layout="two-level", created=CREATED, **options)


INDEXES = [amudai.TermIndex("text"), amudai.HashIndex("word")]


def _deleted(store: MemoryStore, shift: int) -> Shard:
    source = _source(store, "source.amudai.stripe", shift, indexes=INDEXES)
    return amudai.delete(source, positions=[1, 5, 6, 7, 60], to=ROOT, store=store)


def _merged(store: MemoryStore, shift: int) -> Shard:
    sources = [_source(store, f"source{n}.amudai.stripe", shift + 120 * n, indexes=INDEXES) for n in range(2)]
    return amudai.merge(sources, to=ROOT, store=store)


def _columns(store: MemoryStore, shift: int) -> Shard:
    source = _source(store, "source.amudai.stripe", shift)
    wider = amudai.with_columns(source, {"more": [n + shift for n in range(120)]}, to="b.amudai.stripe", store=store)
    return amudai.drop_columns(wider, ["noise"], to=ROOT, store=store)


def _attached(store: MemoryStore, shift: int, rows: int = 120) -> Shard:
    """A shard over a Parquet file whose pages have checksums."""
    content = pa.BufferOutputStream()
    pq.write_table(_few(shift, rows), content, row_group_size=50, write_page_checksum=True)
    store.put_if_absent("rows.parquet", [content.getvalue().to_pybytes()])
    indexes = [amudai.TermIndex("text"), amudai.HashIndex("n")] if rows > 40 else []
    return amudai.attach("rows.parquet", to=ROOT, indexes=indexes, created=CREATED, store=store)


def _compacted(store: MemoryStore, shift: int) -> Shard:
    """Of shards with deleted rows, merged with others."""
    first = _source(store, "a.amudai.stripe", shift)
    second = _source(store, "b.amudai.stripe", shift + 120)
    thinner = amudai.delete(first, positions=[2, 90], to="c.amudai.stripe", store=store)
    merged = amudai.merge([thinner, second], to="d.amudai.stripe", store=store)
    return amudai.compact(merged, to=ROOT, sort_by="steps", indexes=INDEXES, store=store)


def _kept(store: MemoryStore, shift: int) -> Shard:
    """Merged, with the indexes of each part."""
    sources = [_source(store, f"source{n}.amudai.stripe", shift + 60 * n, rows=60, indexes=INDEXES) for n in range(2)]
    return amudai.merge(sources, to=ROOT, indexes="keep", store=store)


def _forms(shift: int) -> dict[str, bytes]:
    """What the format has and our writer does not use: constants elsewhere, separate offsets, numbers by code."""
    at = range(shift, shift + 40)
    items = [n + item for n in at if n % 8 for item in range(n % 3)]
    forge = Forge.of(
        {
            "n": number_dictionary([n % 5 * 30 if n % 7 else None for n in at], "i8"),
            "text": separate([f"line{n} of lines".encode() if n % 9 else None for n in at], text=True, block_values=16),
            "word": dictionary([f"word {n % 4}" for n in at]),
            "same": referred(constants(strings([]), len(at), f"elsewhere {shift}")),
            "seven": constants(numbers([], "i4"), len(at), shift),
            "items": lists([n % 3 if n % 8 else None for n in at], numbers(items, "i8")),
        },
        name=ROOT,
    )
    return forge.files()


def subjects() -> list[Subject]:
    """All subjects, made anew: the same bytes each time."""
    found = [
        Subject("few rows", _written(_few(0)), _written(_few(7)), is_small=True),
        Subject("no rows", _written(_few(0).slice(0, 0)), _written(_few(7)), is_small=True),
        Subject("types", _written(_types(0)), _written(_types(9))),
        Subject("stripes", _written(_flat(0), stripe_rows=100), _written(_flat(50), stripe_rows=100)),
    ]
    found += [Subject(each, _written(_flat(0), profile=each), _written(_flat(50), profile=each)) for each in PROFILES]
    two_level: dict[str, Any] = {"layout": "two-level", "stripe_rows": 100, "indexes": INDEXES}
    found.append(Subject("two-level", _written(_some(0, 300), **two_level), _written(_some(50, 300), **two_level)))
    group: dict[str, Any] = {"packed_groups": [["n", "f", "flag", "text", "word"]], "profile": "minimal_compression"}
    found.append(Subject("packed group", _written(_flat(0), **group), _written(_flat(50), **group)))
    by_stripe = [amudai.TermIndex("text", level="stripe"), amudai.HashIndex("word", level="stripe")]
    found.append(Subject("indexes", _written(_flat(0), indexes=by_stripe), _written(_flat(50), indexes=by_stripe)))
    keys: dict[str, Any] = {"indexes": [amudai.HashIndex(("word", "n"))]}
    found.append(Subject("composite key", _written(_some(0, 90), **keys), _written(_some(50, 90), **keys)))
    found.append(Subject("extended", _extended(0), _extended(50)))
    found.append(Subject("forms", _forms(0), _forms(50), is_small=True))
    edits = {
        "deleted": _deleted,
        "merged": _merged,
        "columns": _columns,
        "compacted": _compacted,
        "kept indexes": _kept,
        "attached": _attached,
    }
    found += [Subject(name, _edited(edit, 0), _edited(edit, 50)) for name, edit in edits.items()]
    return found
