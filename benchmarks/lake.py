"""How long does a question to 10,000 shards of 1,000 rows take, with and without a catalog?

`python -m benchmarks.lake [FOLDER] [SHARDS]` writes the shards once and keeps them.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import time
from pathlib import Path

import amudai

ROWS = 1000


DIFFERENT = 100


def write_shards(folder: Path, count: int) -> None:
    """One shard with the rare word and the trace, and copies of `DIFFERENT` other shards: writing all takes an hour."""
    folder.mkdir(parents=True, exist_ok=True)
    for shard in range(count):
        path = folder / f"{shard:05}.amudai.shard"
        if path.exists():
            continue
        if shard == count // 2:
            write_shard(path, 1_000_000, " needleinthehaystack")
        elif shard < DIFFERENT:
            write_shard(path, shard)
        else:
            shutil.copyfile(folder / f"{shard % DIFFERENT:05}.amudai.shard", path)


def write_shard(path: Path, seed: int, word: str = "") -> None:
    chance = random.Random(seed)
    words = [f"word{number}" for number in range(3000)]
    messages = [" ".join(chance.choices(words, k=6)) for _ in range(ROWS)]
    messages[500] += word
    rows = {
        "ts": range(seed * ROWS, (seed + 1) * ROWS),
        "trace": [f"{chance.getrandbits(64):016x}" for _ in range(ROWS)],
        "message": messages,
    }
    amudai.write(rows, path, indexes=[amudai.TermIndex("message")], bloom=["trace"], threads=1)


def asked(folder: Path, catalog: str, where: str) -> dict[str, object]:
    begin = time.perf_counter()
    lake = amudai.dataset(folder, catalog=catalog)  # type: ignore[arg-type]
    scan = lake.scan(where=where)
    found = scan.count()
    seconds = time.perf_counter() - begin
    return {
        "catalog": catalog,
        "where": where,
        "found": found,
        "seconds": round(seconds, 3),
        "requests": lake.requests.requests,
    }


def main(folder: Path, count: int) -> None:
    begin = time.perf_counter()
    write_shards(folder, count)
    print(json.dumps({"written": count, "seconds": round(time.perf_counter() - begin, 1)}), flush=True)
    trace = amudai.open(folder / f"{count // 2:05}.amudai.shard").take([7], ["trace"])["trace"][0].as_py()
    questions = [f"trace = '{trace}'", "message has 'needleinthehaystack'", f"ts = {1_000_000 * ROWS + 500}"]
    for where in questions:
        print(json.dumps(asked(folder, "ignore", where)), flush=True)
    begin = time.perf_counter()
    amudai.dataset(folder, catalog="ignore").save_catalog()
    size = os.path.getsize(folder / "_catalog.amudai.shard")
    print(json.dumps({"save_catalog": round(time.perf_counter() - begin, 1), "bytes": size}), flush=True)
    for catalog in ("check", "trust"):
        for where in questions:
            print(json.dumps(asked(folder, catalog, where)), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/lake"), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
