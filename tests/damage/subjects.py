"""The shards that the campaign damages: every type, profile, layout, index and form, and the results of edits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property, partial
from random import Random
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq

import amudai
from amudai import Shard, col
from amudai.storage import MemoryStore, StoredFile
from tests.forge import Forge, constants, dictionary, lists, number_dictionary, numbers, referred, separate, strings
from tests.sealed.make import SHARDS, paragraphs, skewed

ROOT = "subject.amudai.shard"
CREATED = datetime(2024, 1, 1, tzinfo=UTC)
PROFILES = ("plain", "minimal_compression", "balanced", "high_compression", "minimal_size")

Question = Callable[[Shard], object]


@dataclass(frozen=True)
class Subject:
    """A sound shard in memory.

    Attributes
    ----------
    make
        Makes its files, with values that a number shifts.
    other
        The shift of a shard of the same shape with other values.
    is_small
        Whether each of its bytes is damaged, not only some.
    has_identities
        Whether its root notes what is in each buffer, as our writer does. Without it, nobody can tell a buffer from
        that of another shard, which has right checksums, too.
    """

    name: str
    make: Callable[[int], dict[str, bytes]]
    other: int = 50
    is_small: bool = False
    has_identities: bool = True

    @cached_property
    def files(self) -> dict[str, bytes]:
        """Its files by name."""
        return self.make(0)

    @cached_property
    def others(self) -> dict[str, bytes]:
        """The files of the other shard."""
        return self.make(self.other)

    def open(self, files: dict[str, bytes]) -> Shard:
        return amudai.open(ROOT, store=MemoryStore(files), threads=1)

    def open_in(self, store: DecayingStore) -> Shard:
        return amudai.open(ROOT, store=store, threads=1)

    @cached_property
    def answers(self) -> dict[str, object]:
        """The right answer to each question."""
        return {name: ask(self.open(self.files)) for name, ask in QUESTIONS.items()}


class DecayingStore(MemoryStore):
    """Files that are damaged or replaced while they are open, in a store that has no tags to tell."""

    def decay(self, files: dict[str, bytes]) -> None:
        """Replace the content of files."""
        self._files.update(files)

    def identify(self, url: str) -> StoredFile:
        """The size of the file at `url`, without a tag."""
        return StoredFile(url, self.size(url))


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
    "value": lambda shard: _rows(shard, col("uuid") == UUID(int=98765 * 60)) if "uuid" in _names(shard) else None,
    "internal": lambda shard: {role: field.read().to_pylist() for role, field in shard.internal.items()} or None,
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


def _bytes(shift: int, rows: int = 90) -> pa.Table:
    """Columns of bytes that have indexes of words and of values."""
    flat = _some(shift, rows)
    ids = pa.array([UUID(int=n * 98765).bytes for n in range(shift, shift + rows)], pa.binary(16))
    flat = flat.set_column(3, "text", flat["text"].cast(pa.binary()))
    return flat.append_column(pa.field("uuid", pa.uuid()), pa.ExtensionArray.from_storage(pa.uuid(), ids))


def _some(shift: int, rows: int = 90) -> pa.Table:
    return _flat(shift, rows).select(["n", "steps", "noise", "text", "word"])


# Asked of one shard by turns, and of a shard that is damaged after it was opened.
LAZILY = ("range", "take", "key", "term", "read", "head")


def _few(shift: int, rows: int = 40) -> pa.Table:
    return _flat(shift, rows).select(["n", "text", "flag"])


def _written(table: pa.Table, **options: Any) -> dict[str, bytes]:
    store = MemoryStore({})
    amudai.write(table, ROOT, store=store, created=CREATED, **options).close()
    return dict(store._files)


def _edited(edit: Callable[[MemoryStore, int], Shard], shift: int) -> dict[str, bytes]:
    store = MemoryStore({})
    now = {"SOURCE_DATE_EPOCH": str(int(CREATED.timestamp()))}
    chance = Random(shift).randbytes  # of which names of new files are made
    with (
        patch.dict(os.environ, now),
        patch("secrets.token_hex", lambda size: chance(size).hex()),
        edit(store, shift) as shard,
    ):
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


def _attached(store: MemoryStore, shift: int, to: str = ROOT) -> Shard:
    """A shard over a Parquet file whose pages have checksums."""
    content = pa.BufferOutputStream()
    pq.write_table(_few(shift, 120), content, row_group_size=50, write_page_checksum=True)
    store.put_if_absent("rows.parquet", [content.getvalue().to_pybytes()])
    indexes = [amudai.TermIndex("text"), amudai.HashIndex("n")]
    return amudai.attach("rows.parquet", to=to, indexes=indexes, created=CREATED, store=store)


def _refreshed(store: MemoryStore, shift: int) -> Shard:
    """A shard over two Parquet files, of which one was replaced: stripes of before, and stripes of the new file."""

    def put(name: str, first: int) -> None:
        content = pa.BufferOutputStream()
        pq.write_table(_few(first, 60), content, write_page_checksum=True)
        store._files[name] = content.getvalue().to_pybytes()

    put("a.parquet", shift), put("b.parquet", shift + 300)
    indexes = [amudai.TermIndex("text", level="stripe"), amudai.HashIndex("n")]
    options: dict[str, Any] = {"indexes": indexes, "stripe_rows": 60, "created": CREATED, "store": store}
    before = amudai.attach(["a.parquet", "b.parquet"], to="before.amudai.stripe", **options)
    put("b.parquet", shift + 60)
    return amudai.refresh(before, to=ROOT, store=store)


def _stored_twice(store: MemoryStore, shift: int) -> Shard:
    """Columns that are in a Parquet file, and in blocks as well."""
    attached = _attached(store, shift, to="attached.amudai.stripe")
    return amudai.materialize(attached, to=ROOT, columns=["n", "text"], keep=True, store=store)


def _upserted(store: MemoryStore, shift: int) -> Shard:
    source = _source(store, "source.amudai.stripe", shift, indexes=INDEXES)
    return amudai.upsert(source, _some(shift + 20, 40), key="steps", to=ROOT, indexes="keep", store=store)


def _snapshot(store: MemoryStore, shift: int) -> Shard:
    """A data file of an Iceberg table, of which a snapshot deleted rows."""
    attached = _attached(store, shift, to="attached.amudai.stripe")
    return amudai.delete(attached, positions=[4, 5, 90], to=ROOT, store=store)


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


def _of(table: Callable[[int], pa.Table], **options: Any) -> Callable[[int], dict[str, bytes]]:
    return lambda shift: _written(table(shift), **options)


def subjects() -> Iterator[Subject]:
    """All subjects. They are made when they are asked for, and have the same bytes each time."""
    yield Subject("few rows", _of(_few), 7, is_small=True)
    yield Subject("no rows", _of(lambda shift: _few(shift).slice(0, None if shift else 0)), 7, is_small=True)
    yield Subject("types", _of(_types), 9)
    yield Subject("stripes", _of(_flat, stripe_rows=100))
    for profile in PROFILES:
        yield Subject(profile, _of(_flat, profile=profile))
    yield Subject("two-level", _of(partial(_some, rows=300), layout="two-level", stripe_rows=100, indexes=INDEXES))
    group = [["n", "f", "flag", "text", "word"]]
    yield Subject("packed group", _of(_flat, packed_groups=group, profile="minimal_compression"))
    by_stripe = [amudai.TermIndex("text", level="stripe"), amudai.HashIndex("word", level="stripe")]
    yield Subject("indexes", _of(_flat, indexes=by_stripe))
    by_field = [amudai.TermIndex("text", level="field"), amudai.HashIndex("word", level="field")]
    yield Subject("field indexes", _of(_some, indexes=by_field))
    of_bytes = [amudai.TermIndex("text"), amudai.TermIndex("uuid"), amudai.HashIndex("uuid")]
    yield Subject("indexes of bytes", _of(_bytes, indexes=of_bytes))
    rare: dict[str, Any] = {"record_id": b"0123456789", "ingestion_time": CREATED, "distinct": ["n"]}
    yield Subject("internal fields", _of(_some, bloom=["n", "text"], **rare))
    yield Subject("composite key", _of(_some, indexes=[amudai.HashIndex(("word", "n"))]))
    extended: dict[str, Any] = {"compatibility": "extended"}
    for profile in ("minimal_compression", "high_compression"):
        numbers = _of(lambda shift: skewed(600, 1 + shift), profile=profile, **extended)
        yield Subject(f"extended numbers, {profile}", numbers, 1)
    zstandard = _of(lambda shift: paragraphs(seed=shift or 16), profile="high_compression", **extended)
    yield Subject("shared Zstandard", zstandard, 1)
    # The writer chooses LZ4 with a shared dictionary for few texts only. A sealed shard has it.
    lz4 = SHARDS / "extended-text-balanced" / "t.amudai.shard"
    yield Subject("shared LZ4", lambda shift: zstandard(0) if shift else {ROOT: lz4.read_bytes()}, 1)
    yield Subject("forms", _forms, is_small=True, has_identities=False)
    edits = {
        "deleted": _deleted,
        "merged": _merged,
        "columns": _columns,
        "compacted": _compacted,
        "kept indexes": _kept,
        "attached": _attached,
        "snapshot": _snapshot,
        "refreshed": _refreshed,
        "stored twice": _stored_twice,
        "upserted": _upserted,
    }
    for name, edit in edits.items():
        yield Subject(name, partial(_edited, edit))
