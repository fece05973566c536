"""`python -m tests.sealed.make`: writes the shards of features that have none yet. What is there is never made again.

A case is a folder in `tests/sealed/shards`: the shard `t.amudai.shard` and its other files; `expected.arrow`, the table
that it holds; and `answers.json`, the positions at which predicates hold. `SHA256SUMS` lists all files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import amudai
from amudai import HashIndex, Shard, TermIndex
from amudai.storage import MemoryStore

SHARDS: Final = Path(__file__).parent / "shards"
SUMS: Final = SHARDS / "SHA256SUMS"
ROOT: Final = "t.amudai.shard"
CREATED: Final = datetime(2024, 1, 1, tzinfo=UTC)
INDEXES: Final = [TermIndex("text"), HashIndex("word", "n")]
WHERES: Final = (
    "n >= 20 and n < 30",
    'text has "line7"',
    'text contains "ine3"',
    'word = "word 5"',
    "n is null",
    'tags has "t3"',
)


def flat(shift: int = 0, rows: int = 60) -> pa.Table:
    """Numbers, text, a Boolean and nulls."""
    at = range(shift, shift + rows)
    return pa.table(
        {
            "n": pa.array([n if n % 13 else None for n in at], pa.int64()),
            "steps": pa.array([1000 + 7 * n for n in at], pa.uint32()),
            "f": pa.array([n / 4 for n in at], pa.float64()),
            "flag": pa.array([n % 3 == 0 if n % 5 else None for n in at]),
            "text": [f"line{n} of {n * n % 17} lines" if n % 11 else None for n in at],
            "word": [f"word {n % 7}" for n in at],
        }
    )


def bytes_and_ids() -> pa.Table:
    """Text as bytes, some of which are none, and UUIDs."""
    texts = [None if text is None else text.encode() for text in flat()["text"].to_pylist()]
    texts[5] = b"line7 \xff"
    ids = [UUID(int=at * 7919**8 % 2**128).bytes for at in range(len(texts))]
    return pa.table({"n": flat()["n"], "text": pa.array(texts, pa.binary()), "id": pa.array(ids, pa.uuid())})


def every_type(rows: int = 40) -> pa.Table:
    """One column of each type."""
    began, at = datetime(2024, 3, 1, tzinfo=UTC), range(rows)
    return pa.table(
        {
            "n": pa.array([n if n % 13 else None for n in at], pa.int64()),
            **{f"i{w}": pa.array([n - 9 for n in at], f"int{w}") for w in (8, 16, 32)},
            **{f"u{w}": pa.array(list(at), f"uint{w}") for w in (8, 16, 32, 64)},
            "f4": pa.array([n / 8 for n in at], pa.float32()),
            "money": pa.array([Decimal(n * 37) / 100 if n % 7 else None for n in at], pa.decimal128(12, 2)),
            "day": pa.array([date(2024, 1, 1) + timedelta(days=n) for n in at]),
            "when": pa.array([began + timedelta(seconds=n * 17) for n in at], pa.timestamp("us", "UTC")),
            "exact": pa.array([10**18 + n * 10**9 + n for n in at], pa.timestamp("ns")),
            "clock": pa.array([time(n % 24, n % 60) for n in at], pa.time64("us")),
            "span": pa.array([timedelta(milliseconds=n) for n in at], pa.duration("us")),
            "blob": pa.array([bytes([n]) * (n % 6) for n in at], pa.binary()),
            "fixed": pa.array([bytes([n, n + 1]) for n in at], pa.binary(2)),
            "id": pa.array([UUID(int=n * 12345).bytes for n in at], pa.uuid()),
            "list": pa.array([[n, n + 1][: n % 3] if n % 8 else None for n in at], pa.list_(pa.int32())),
            "pair": pa.array([[n, -n] for n in at], pa.list_(pa.int16(), 2)),
            "struct": pa.array(
                [{"a": n, "b": f"b{n % 4}"} if n % 6 else None for n in at],
                pa.struct([("a", pa.int64()), ("b", pa.string())]),
            ),
            "map": pa.array([[(f"k{n % 3}", n)] for n in at], pa.map_(pa.string(), pa.int16())),
            "null": pa.nulls(rows),
            "same": ["constant"] * rows,
        }
    )


def skewed(rows: int = 2000, seed: int = 16) -> pa.Table:
    """Numbers for which extended encodings are chosen: with outliers, repeated, that stay as they are, skewed."""
    rng = np.random.default_rng(seed)
    stays = np.where(rng.random(rows) < 0.3, rng.integers(-9, 9, rows), 0)
    return pa.table(
        {
            "n": pa.array(np.where(rng.random(rows) < 0.01, rng.integers(0, 1 << 40, rows), rng.integers(0, 32, rows))),
            "tiles": pa.array(np.resize(rng.integers(0, 1 << 60, 50), rows)),
            "stays": pa.array(1000 + stays.cumsum() / (1 << 24)),
            "skewed": pa.array((rng.exponential(3000, rows) ** 1.3).astype(np.int64)),
            "prices": pa.array((rng.exponential(3000, rows) ** 1.3).astype(np.int64) / 100),
        }
    )


def repeated(rows: int = 18000, seed: int = 16) -> pa.Table:
    """Numbers for which a dictionary of the stripe pays: a block holds most of the values, and there are three."""
    rng = np.random.default_rng(seed)
    values, missing = rng.choice(rng.random(2000), rows), rng.random(rows) < 0.01
    return pa.table({"n": pa.array(values, mask=missing)})


def paragraphs(rows: int = 1000, seed: int = 16) -> pa.Table:
    """Text for which a dictionary pays: a block holds some of the paragraphs, the dictionary nearly all."""
    rng = np.random.default_rng(seed)
    known = [rng.bytes(250).hex() for _ in range(30)]
    return pa.table(
        {
            "n": pa.array([at if at % 13 else None for at in range(rows)], pa.int64()),
            "text": [f"line{at} {known[rng.integers(30)]}" if at % 11 else None for at in range(rows)],
        }
    )


def _write(table: pa.Table, folder: Path, name: str = ROOT, **options: Any) -> Shard:
    return amudai.write(table, folder / name, created=CREATED, **options)


def _parts(folder: Path) -> list[Path]:
    """Two shards in the folder, for operations that read them."""
    for at in range(2):
        _write(flat(at * 30, 30), folder, f"part{at}.amudai.shard", layout="two-level", indexes=INDEXES).close()
    return [folder / f"part{at}.amudai.shard" for at in range(2)]


def _tagged() -> pa.Table:
    """Rows with lists of words."""
    tags = [[f"t{n % 5}", f"u{n}"][: n % 3] for n in range(60)]
    return flat().append_column("tags", pa.array(tags, pa.list_(pa.string())))


def _of_stripes(folder: Path) -> Shard:
    with amudai.ShardWriter(folder / ROOT, flat().schema, created=CREATED) as out:
        for at in range(2):
            out.write(flat(at * 30, 30))
            out.end_stripe({"part": at})
    return amudai.open(folder / ROOT)


def _attached(folder: Path, deleted: Sequence[int] = ()) -> Shard:
    """Made in memory: a shard over local files notes their absolute path, and the times that a checkout changes."""
    rows = pa.BufferOutputStream()
    pq.write_table(flat(), rows, row_group_size=25)
    store = MemoryStore({"rows.parquet": rows.getvalue().to_pybytes()})
    root = "attached.amudai.shard" if deleted else ROOT
    with amudai.attach("rows.parquet", to=root, indexes=INDEXES, created=CREATED, store=store) as shard:
        if deleted:
            amudai.delete(shard, positions=deleted, to=ROOT, store=store).close()
    for name, content in store._files.items():
        (folder / name).write_bytes(content)
    return amudai.open(folder / ROOT)


FEATURES: Final[dict[str, Callable[[Path], Shard]]] = {
    "types": lambda folder: _write(every_type(), folder),
    "no-rows": lambda folder: _write(flat(0, 0), folder),
    **{
        f"profile-{name}": lambda folder, name=name: _write(flat(), folder, profile=name)  # type: ignore[misc]
        for name in ("plain", "minimal_compression", "balanced", "high_compression", "minimal_size")
    },
    "profiles": lambda folder: _write(flat(), folder, profile={"text": "minimal_size", "*": "plain"}),
    "indexes": lambda folder: _write(flat(), folder, indexes=INDEXES, stripe_rows=25),
    "indexes-of-stripes": lambda folder: _write(
        flat(), folder, stripe_rows=25, indexes=[TermIndex("text", level="stripe"), HashIndex("word", level="stripe")]
    ),
    "indexes-of-fields": lambda folder: _write(
        flat(), folder, stripe_rows=25, indexes=[TermIndex("text", level="field"), HashIndex("word", level="field")]
    ),
    "indexes-of-bytes": lambda folder: _write(bytes_and_ids(), folder, indexes=[TermIndex("text", "id")]),
    "composite-keys": lambda folder: _write(flat(), folder, indexes=[HashIndex(("word", "n"))]),
    "two-level": lambda folder: _write(flat(), folder, layout="two-level", stripe_rows=25, indexes=INDEXES),
    "requested-sketches": lambda folder: _write(flat(), folder, bloom={"n": 0.001}, distinct=["n", "f"]),
    "decimals-as-integers": lambda folder: _write(every_type().select(["n", "money"]), folder, decimals="int64"),
    "timestamps-as-integers": lambda folder: _write(
        every_type().select(["n", "when", "exact"]), folder, timestamps="int64"
    ),
    "internal-fields": lambda folder: _write(flat(), folder, ingestion_time=CREATED, record_id=bytes(10)),
    "annotations": lambda folder: _write(
        flat(),
        folder,
        properties={"owner": "ops"},
        field_properties={"n": {"unit": "s"}},
        extensions={"text": "LogLine"},
        aliases={"word": ["token"]},
    ),
    "extended": lambda folder: _write(flat(), folder, compatibility="extended"),
    **{
        f"extended-numbers-{name}": lambda folder, name=name: _write(  # type: ignore[misc]
            skewed(), folder, compatibility="extended", profile=name
        )
        for name in ("minimal_compression", "high_compression")
    },
    **{
        f"extended-text-{name}": lambda folder, name=name: _write(  # type: ignore[misc]
            paragraphs(), folder, compatibility="extended", profile=name
        )
        for name in ("balanced", "high_compression")
    },
    "extended-dictionary": lambda folder: _write(repeated(), folder, compatibility="extended"),
    "packed-groups": lambda folder: _write(flat(), folder, packed_groups=[["n", "f", "flag", "text"]], stripe_rows=25),
    "packed-structs": lambda folder: _write(every_type().select(["n", "struct", "map"]), folder, packed=True),
    "deleted": lambda folder: amudai.delete(_parts(folder)[0], positions=[3, 7], to=folder / ROOT),
    "merged": lambda folder: amudai.merge(_parts(folder), to=folder / ROOT),
    "upserted": lambda folder: amudai.upsert(_parts(folder)[0], flat(20, 20), key="steps", to=folder / ROOT),
    "columns": lambda folder: amudai.with_columns(_parts(folder)[0], {"more": range(30)}, to=folder / ROOT),
    "renamed": lambda folder: amudai.rename_columns(_parts(folder)[0], {"f": "quarter"}, to=folder / ROOT),
    "dropped": lambda folder: amudai.drop_columns(_parts(folder)[0], ["f"], to=folder / ROOT),
    "compacted": lambda folder: amudai.compact(_parts(folder), to=folder / ROOT, sort_by="steps", indexes=INDEXES),
    "copied": lambda folder: amudai.copy(amudai.merge(_parts(folder), to=folder / "m.amudai.shard"), folder / ROOT),
    "attached": _attached,
    "attached-deleted": lambda folder: _attached(folder, [2, 30, 31]),
    "index-elements": lambda folder: _write(
        _tagged(), folder, indexes=[TermIndex("tags.item", tokenizer="trivial", granularity="element")]
    ),
    "index-ranges-of-rows": lambda folder: _write(
        flat(0, 600), folder, indexes=[TermIndex("text", max_bytes=7200, tokenizer="word")]
    ),
    "index-tokenizers": lambda folder: _write(
        flat(),
        folder,
        indexes=[TermIndex("text", "word", tokenizer=["word", "trivial"], collation="case_insensitive")],
    ),
    "stripe-properties": _of_stripes,
}


def answers_of(shard: Shard) -> dict[str, list[int]]:
    """The positions at which each predicate holds, of those whose columns the shard has."""
    wheres = [where for where in WHERES if where.split()[0] in shard.schema.names]
    return {where: shard.scan(where=where).positions().tolist() for where in wheres}


def sums() -> str:
    """The list of all files with their digests."""
    files = sorted(path for path in SHARDS.rglob("*") if path.is_file() and path != SUMS)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(SHARDS)}" for path in files]
    return "".join(f"{line}\n" for line in lines)


def seal(folder: Path, make: Callable[[Path], Shard]) -> None:
    """Make a case in a new folder: the shard, its table and its answers."""
    folder.mkdir(parents=True)
    with make(folder) as shard:
        table = shard.read()
        (folder / "answers.json").write_text(json.dumps(answers_of(shard), indent=1) + "\n")
    small = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(folder / "expected.arrow", table.schema, options=small) as out:
        out.write_table(table)


def main() -> None:
    """Make what is missing."""
    for name, make in FEATURES.items():
        folder = SHARDS / name
        if not folder.exists():
            seal(folder, make)
            print(f"{name}: {sum(path.stat().st_size for path in folder.iterdir()):,} bytes")
    SUMS.write_text(sums())


if __name__ == "__main__":
    main()
