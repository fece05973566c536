"""The shards that the campaign damages: every type, profile, layout and index, and the results of edits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any
from uuid import UUID

import pyarrow as pa

import amudai
from amudai import Shard, col
from amudai.storage import MemoryStore

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

    @cached_property
    def answers(self) -> dict[str, object]:
        """The right answer to each question."""
        return {name: ask(self.open(self.files)) for name, ask in QUESTIONS.items()}


def _bits(table: pa.Table) -> object:
    """The content of a table, to the bit: NaN equals itself, and -0.0 is not 0.0."""
    return repr(table.to_pydict()), str(table.schema)


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


def _few(shift: int) -> pa.Table:
    return _flat(shift, 40).select(["n", "text", "flag"])


def _written(table: pa.Table, **options: Any) -> dict[str, bytes]:
    store = MemoryStore({})
    amudai.write(table, ROOT, store=store, created=CREATED, **options).close()
    return dict(store._files)


def _edited(edit: Callable[[MemoryStore, int], Shard], shift: int) -> dict[str, bytes]:
    store = MemoryStore({})
    with edit(store, shift) as shard:
        used = {file.url for file in shard.files}
    return {name: content for name, content in store._files.items() if name in used}


def _source(store: MemoryStore, name: str, shift: int, **options: Any) -> Shard:
    return amudai.write(_flat(shift, 120), name, store=store, layout="two-level", created=CREATED, **options)


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
    found.append(Subject("two-level", _written(_flat(0), **two_level), _written(_flat(50), **two_level)))
    group: dict[str, Any] = {"packed_groups": [["n", "f", "flag", "text", "word"]], "profile": "minimal_compression"}
    found.append(Subject("packed group", _written(_flat(0), **group), _written(_flat(50), **group)))
    by_stripe = [amudai.TermIndex("text", level="stripe"), amudai.HashIndex("word", level="stripe")]
    found.append(Subject("indexes", _written(_flat(0), indexes=by_stripe), _written(_flat(50), indexes=by_stripe)))
    edits = {"deleted": _deleted, "merged": _merged, "columns": _columns}
    found += [Subject(name, _edited(edit, 0), _edited(edit, 50)) for name, edit in edits.items()]
    return found
