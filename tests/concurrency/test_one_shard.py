"""Many threads on one open shard: every answer is right, also while the shard is closed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

import amudai
from amudai import col
from tests import effort

ROWS = 2000
TABLE = pa.table(
    {
        "n": range(ROWS),
        "word": [f"word {row % 7}" for row in range(ROWS)],
        "text": [f"line{row} of {row % 13}" if row % 11 else None for row in range(ROWS)],
        "list": pa.array([[row, row + 1][: row % 3] for row in range(ROWS)]),
    }
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("shared") / "a.amudai.shard"
    indexes = [amudai.TermIndex("text"), amudai.HashIndex("n")]
    amudai.write(TABLE, path, indexes=indexes, stripe_rows=300, layout="two-level").close()
    return path


def some_rows(shard: amudai.Shard, random: Random) -> None:
    rows = [random.randrange(ROWS) for _ in range(5)]
    assert shard.take(rows).equals(TABLE.take(rows))


def some_range(shard: amudai.Shard, random: Random) -> None:
    low = random.randrange(ROWS)
    found = shard.scan(["n"], where=(col("n") >= low) & (col("n") < low + 40)).to_table()
    assert found["n"].to_pylist() == list(range(low, min(ROWS, low + 40)))


def some_word(shard: amudai.Shard, random: Random) -> None:
    row = random.randrange(ROWS)
    expected = [row] if row % 11 else []
    assert shard.scan(where=col("text").has(f"line{row}")).positions().tolist() == expected


def some_columns(shard: amudai.Shard, random: Random) -> None:
    names = random.sample(TABLE.column_names, 2)
    assert shard.read(names).equals(TABLE.select(names))


def some_batches(shard: amudai.Shard, random: Random) -> None:
    """A scan that is abandoned after some batches."""
    batches = iter(shard.scan(batch_rows=77, threads=2))
    for _ in range(random.randrange(4)):
        first = next(batches)["n"][0].as_py()
        assert first % 1 == 0
    del batches


WAYS: list[Callable[[amudai.Shard, Random], None]] = [some_rows, some_range, some_word, some_columns, some_batches]


def ask(shard: amudai.Shard, seed: int, times: int) -> None:
    random = Random(seed)
    for _ in range(times):
        random.choice(WAYS)(shard, random)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 3])
def test_many_threads_ask_at_once(path: Path, threads: int) -> None:
    """The shard is opened anew, so that the threads also meet where something is read for the first time."""
    for turn in range(effort.scaled(10)):
        with amudai.open(path, threads=threads) as shard, ThreadPoolExecutor(6) as pool:
            for done in [pool.submit(ask, shard, turn * 10 + at, 8) for at in range(6)]:
                done.result()


def ask_or_refuse(shard: amudai.Shard, seed: int, ready: threading.Barrier) -> amudai.AmudaiError | None:
    """Ask once all threads are ready. None if all answers were right, or the error."""
    ready.wait()
    try:
        ask(shard, seed, 6)
    except amudai.AmudaiError as error:
        return error
    return None


@pytest.mark.slow
def test_closing_while_others_read(path: Path) -> None:
    """A reader gets right values, or the error that the shard is closed."""
    for turn in range(effort.scaled(40)):
        shard, ready = amudai.open(path, threads=2), threading.Barrier(4)
        with ThreadPoolExecutor(3) as pool:
            running = [pool.submit(ask_or_refuse, shard, turn * 10 + at, ready) for at in range(3)]
            ready.wait()
            shard.close()
            errors = [each.result() for each in running]
        assert all(error is None or "closed" in str(error) for error in errors), errors
