"""A table with all that engines push down, as Arrow, as shards and as a dataset."""

from __future__ import annotations

import datetime as dt
import random
from pathlib import Path

import pyarrow as pa

import amudai

WORDS = ["timeout", "Timeout", "TIMEOUT.", "retry", "İstanbul", "\u212aelvin", "kelvin"]
WORDS += ["50%", "a_b", "x\ny", "straße", ""]


def logs(count: int = 300) -> pa.Table:
    chance = random.Random(7)

    def maybe(value: object) -> object:
        return None if chance.random() < 0.1 else value

    start = dt.datetime(2026, 1, 1)
    return pa.table(
        {
            "id": pa.array(range(count), pa.int64()),
            "status": pa.array([maybe(chance.choice([200, 404, 500, 503])) for _ in range(count)], pa.int32()),
            "message": pa.array([maybe(" ".join(chance.choices(WORDS, k=3))) for _ in range(count)], pa.string()),
            "level": pa.array([maybe(chance.choice(["info", "warn"])) for _ in range(count)], pa.string()),
            "ms": pa.array([maybe(chance.choice([0.5, 1.5, float("nan"), -0.0])) for _ in range(count)], pa.float64()),
            "ts": pa.array([maybe(start + dt.timedelta(minutes=n)) for n in range(count)], pa.timestamp("us")),
            "ok": pa.array([maybe(chance.random() < 0.5) for _ in range(count)]),
            "http": pa.array([maybe({"path": f"/{n % 7}", "code": n % 5}) for n in range(count)]),
        }
    )


def shard_of(table: pa.Table, folder: Path) -> amudai.Shard:
    return amudai.write(table, folder / "logs.amudai.shard", indexes=[amudai.TermIndex("message")])


def lake_of(table: pa.Table, folder: Path) -> amudai.Dataset:
    return amudai.write_dataset(table, folder / "lake", rows_per_shard=100, indexes=[amudai.TermIndex("message")])
