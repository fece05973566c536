"""Writing on several threads: the same bytes, and the same errors."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai.errors import CorruptedData


def test_bytes_do_not_depend_on_the_number_of_threads(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    # The kind of text changes on the way, and with it the choice of an encoding.
    calm = [f"GET /users/{number} took {number % 97} ms" for number in rng.integers(0, 10**6, 15_000).tolist()]
    wild = [rng.bytes(20).hex() for _ in range(15_000)]
    table = pa.table({"text": calm + wild + calm, "number": np.arange(45_000)})
    found = set()
    for threads in (1, 2, 5):
        path = tmp_path / f"{threads}.amudai.shard"
        shard = amudai.write(table, path, threads=threads, created=datetime(2026, 1, 1, tzinfo=UTC))
        assert shard.read().equals(table)
        found.add(path.read_bytes())
    assert len(found) == 1


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_behind_the_first_batch_leaves_nothing(tmp_path: Path, threads: int) -> None:
    log = tmp_path / "app.log"
    log.write_bytes(b"2026-01-01 10:00:00 INFO started %s\n" % (b"-" * 900) * 9000 + b"\xff\n")
    with pytest.raises(CorruptedData, match=r"expected UTF-8, found other bytes: set the encoding .*line 9001"):
        amudai.ingest(log, tmp_path / "app.amudai.shard", threads=threads, multiline="separate")
    assert [path.name for path in tmp_path.iterdir()] == ["app.log"]
    shard = amudai.ingest(log, tmp_path / "app.amudai.shard", threads=threads, multiline="separate", on_error="skip")
    assert shard.num_rows == 9000


def test_one_thread_also_reads_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("another thread")

    monkeypatch.setenv("AMUDAI_THREADS", "4")
    monkeypatch.setattr("amudai.pool.Pool.submit", refuse)
    (tmp_path / "a.csv").write_text("n,s\n" + "1,x\n" * 100)
    (tmp_path / "b.jsonl").write_text('{"n": 1, "s": "x"}\n' * 100)
    shard = amudai.ingest(tmp_path, tmp_path / "t.amudai.shard", threads=1)
    assert shard.read(threads=1).to_pydict() == {"n": [1] * 200, "s": ["x"] * 200}
    with amudai.read_files(tmp_path / "a.csv") as source:
        assert source.to_reader(1).read_all().num_rows == 100
        with pytest.raises(AssertionError, match="another thread"):
            source.to_reader().read_all()
