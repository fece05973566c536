"""Ctrl-C ends every long call within a second, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from tests.effort import EFFORT, NAMED

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc"),
]

PATIENCE = 300  # seconds until a process is taken for one that hangs

# Each says when it begins, and then works for ten seconds and more unless it is interrupted.
PRELUDE = """
import signal, sys, pathlib, numpy as np, pyarrow as pa, amudai
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background inherits that it is ignored
folder, rng = pathlib.Path(sys.argv[1]), np.random.default_rng(1)
table = pa.ipc.open_file(pa.memory_map(sys.argv[2])).read_all()
target = folder / "t.amudai.shard"
def begin():
    print("begun", flush=True)
"""
WORKS = {
    "write": "begin()\nwhile True: amudai.write(table, target, profile='minimal_size', overwrite=True).close()",
    "index": "begin()\nindexes = [amudai.TermIndex('text')]\n"
    "while True: amudai.write(table, target, indexes=indexes, overwrite=True).close()",
    "read": "s = amudai.write(table, target)\nbegin()\nwhile True: s.read()",
    "scan": "s = amudai.write(table, target)\nbegin()\nwhile True: s.count(where=amudai.col('text').contains('rd77'))",
    "verify": "s = amudai.write(table, target)\nbegin()\nwhile True: s.verify(deep=True)",
    "compact": "s = amudai.write(table, target)\nbegin()\n"
    "while True: amudai.compact([target], folder / 'c.amudai.shard', sort_by='n', overwrite=True).close()",
}
# Each takes some seconds: at the effort `full`.
MORE = {
    "csv": "from pyarrow.csv import write_csv\nwrite_csv(table, folder / 'a.csv')\nbegin()\n"
    "while True: amudai.ingest(folder / 'a.csv', target, overwrite=True).close()",
    "json": "import json\nrows = table.slice(0, 200_000).to_pylist()\n"
    "(folder / 'a.json').write_text(''.join(json.dumps(row) + '\\n' for row in rows))\nbegin()\n"
    "while True: amudai.ingest(folder / 'a.json', target, overwrite=True).close()",
    "logs": "lines = table['text'].to_pylist()[:200_000]\n"
    "(folder / 'a.log').write_text(''.join(f'2024-01-02T03:04:05Z INFO app: {line}\\n' for line in lines))\nbegin()\n"
    "while True: amudai.ingest(folder / 'a.log', target, overwrite=True).close()",
    "hash index": "begin()\nindexes = [amudai.HashIndex('text')]\n"
    "while True: amudai.write(table, target, indexes=indexes, overwrite=True).close()",
    "merge": "halves = [amudai.write(table.slice(at, 200_000), folder / f'{at}.amudai.shard', "
    "indexes=[amudai.TermIndex('text')]) for at in (0, 200_000)]\nbegin()\n"
    "while True: amudai.merge(halves, to=target, overwrite=True).close()",
    "regular expression": "s = amudai.write(table, target)\nbegin()\n"
    "while True: s.count(where=amudai.col('text').matches('w.*[0-9]{4}.*x'))",
    "take": "s = amudai.write(table, target)\nrows = rng.integers(0, 400_000, 300_000)\nbegin()\n"
    "while True: s.take(rows)",
    "extended": "begin()\nwhile True: amudai.write(\n"
    "    table, target, profile='high_compression', compatibility='extended', overwrite=True).close()",
    "one value": "table = pa.table({'x': pa.array([rng.bytes(60_000_000).hex()], pa.large_string())})\nbegin()\n"
    "while True: amudai.write(table, target, profile='minimal_size', overwrite=True).close()",
    "attach": "import pyarrow.parquet as pq\npq.write_table(table, folder / 'r.parquet')\nbegin()\n"
    "indexes = [amudai.TermIndex('text')]\n"
    "while True: amudai.attach(folder / 'r.parquet', to=target, indexes=indexes, overwrite=True).close()",
    "salvage": "s = amudai.write(table, target)\nbegin()\n"
    "while True: amudai.salvage(target, folder / 's.amudai.shard', overwrite=True).shard.close()",
    "upsert": "s = amudai.write(table, target)\nmore, to = table.slice(0, 99_999), folder / 'u.amudai.shard'\nbegin()\n"
    "while True: amudai.upsert(s, more, key='n', to=to, overwrite=True).close()",
}
ASKED = WORKS | MORE if NAMED["full"] <= EFFORT else WORKS


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with 400,000 texts and numbers."""
    path, rng = tmp_path_factory.mktemp("interrupted") / "table.arrow", np.random.default_rng(1)
    words = pa.array([f"word{n}" for n in range(20_000)])
    pieces = [words.take(pa.array(rng.integers(0, 20_000, 400_000))) for _ in range(6)]
    texts = pc.binary_join_element_wise(*pieces, " ")
    made = pa.table({"text": texts, "n": rng.integers(0, 1 << 40, 400_000)})
    with pa.ipc.new_file(path, made.schema) as file:
        file.write_table(made)
    return path


@pytest.mark.parametrize("name", ASKED)
def test_an_interrupt_comes_through(tmp_path: Path, table: Path, name: str) -> None:
    command = [sys.executable, "-c", PRELUDE + ASKED[name], str(tmp_path), str(table)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    hangs = threading.Timer(PATIENCE, process.kill)
    hangs.start()
    try:
        assert process.stdout.readline() == b"begun\n", process.stderr.read()
        # Its work, not the time, here and below: a busy machine may let it wait.
        begun = _work_of(process.pid)
        while (worked := _work_of(process.pid)) < begun + 0.3:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
        _, process.returncode, used = os.wait4(process.pid, 0)
    finally:
        process.kill()
        hangs.cancel()
    assert b"KeyboardInterrupt" in said, said
    assert not list(tmp_path.glob(".amudai-*"))
    assert used.ru_utime + used.ru_stime - worked < 1.0 * (os.cpu_count() or 1)


def _work_of(process: int) -> float:
    """Seconds of work of a running process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
