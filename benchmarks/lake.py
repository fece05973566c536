"""How long does a question to 10,000 shards of 1,000 rows take, with and without a catalog?

`python -m benchmarks.lake [FOLDER] [SHARDS]` writes the shards once and keeps them, and asks there. With `--s3` it copies
them to an S3 server on this machine (moto, in a process of its own) that takes 5 ms longer for each request, and asks
there, too.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import amudai

ROWS = 1000
DIFFERENT = 100
DELAY = 0.005
SERVER = f"""
import sys
from tests.storage.servers import proxy, s3_endpoint
endpoint = s3_endpoint()
with proxy(endpoint, delay={DELAY}) as slow:
    print(endpoint, slow.endpoint, flush=True)
    sys.stdin.read()
"""


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


@contextmanager
def server() -> Iterator[tuple[Any, Any]]:
    """Two stores of one S3 server: at once, and with a delay for each request."""
    from tests.storage.servers import s3_store

    process = subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield tuple(s3_store(endpoint) for endpoint in process.stdout.readline().split())  # type: ignore[misc]
    finally:
        process.stdin.close()
        process.wait()


def asked(folder: str, store: Any, catalog: str, where: str, threads: int | None) -> dict[str, object]:
    begin = time.perf_counter()
    lake = amudai.dataset(folder, store=store, catalog=catalog, threads=threads)  # type: ignore[arg-type]
    found = lake.scan(where=where).count()
    seconds = time.perf_counter() - begin
    requests = lake.requests
    return {
        "catalog": catalog,
        "where": where,
        "found": found,
        "seconds": round(seconds, 3),
        "requests": requests.requests,
        "bytes": requests.bytes,
    }


def ask_all(name: str, folder: str, store: Any, questions: list[str], threads: int | None) -> None:
    for catalog in ("ignore", "check", "trust"):
        for where in questions:
            print(json.dumps({"store": name, **asked(folder, store, catalog, where, threads)}), flush=True)


def main(folder: Path, count: int, s3: bool) -> None:
    begin = time.perf_counter()
    write_shards(folder, count)
    print(json.dumps({"written": count, "seconds": round(time.perf_counter() - begin, 1)}), flush=True)
    trace = amudai.open(folder / f"{count // 2:05}.amudai.shard").take([7], ["trace"])["trace"][0].as_py()
    questions = [f"trace = '{trace}'", "message has 'needleinthehaystack'", f"ts = {1_000_000 * ROWS + 500}"]
    begin = time.perf_counter()
    amudai.dataset(folder, catalog="ignore").save_catalog()
    size = (folder / "_catalog.amudai.shard").stat().st_size
    print(json.dumps({"save_catalog": round(time.perf_counter() - begin, 1), "bytes": size}), flush=True)
    ask_all("local", str(folder), None, questions, None)
    if not s3:
        return
    with server() as (fast, slow):
        with ThreadPoolExecutor(8) as pool:
            for _ in pool.map(lambda path: fast.put(f"lake/{path.name}", path.read_bytes()), folder.glob("*.shard")):
                pass
        # The times of change are others in the bucket, so it needs a catalog of its own.
        amudai.dataset("lake", store=fast, catalog="ignore", threads=16).save_catalog()
        ask_all("s3", "lake", slow, questions, 16)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default="build/lake", type=Path)
    parser.add_argument("shards", nargs="?", default=10_000, type=int)
    parser.add_argument("--s3", action="store_true")
    given = parser.parse_args()
    main(given.folder, given.shards, given.s3)
