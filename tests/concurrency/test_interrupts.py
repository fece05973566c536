"""Ctrl-C ends every long call within a second, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc"),
]

# Each says when it begins, and then works for ten seconds and more unless it is interrupted.
PRELUDE = """
import signal, sys, pathlib, numpy as np, pyarrow as pa, amudai
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background inherits that it is ignored
folder = pathlib.Path(sys.argv[1])
rng = np.random.default_rng(1)
words = pa.array([f"word{n}" for n in range(20_000)])
pieces = [words.take(pa.array(rng.integers(0, 20_000, 400_000))) for _ in range(6)]
import pyarrow.compute as pc
table = pa.table({"text": pc.binary_join_element_wise(*pieces, " "), "n": rng.integers(0, 1 << 40, 400_000)})
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


@pytest.mark.parametrize("name", WORKS)
def test_an_interrupt_comes_through(tmp_path: Path, name: str) -> None:
    before = _work_of_children()
    process = subprocess.Popen(
        [sys.executable, "-c", PRELUDE + WORKS[name], str(tmp_path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n", process.communicate()[1]
    time.sleep(0.4)
    worked = _work_of(process.pid)
    process.send_signal(signal.SIGINT)
    try:
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert b"KeyboardInterrupt" in said, said
    assert not list(tmp_path.glob(".amudai-*"))
    # Its work, not the time: a busy machine may let it wait.
    assert _work_of_children() - before - worked < 1.0 * (os.cpu_count() or 1)


def _work_of_children() -> float:
    """Seconds of work of all child processes that have ended."""
    now = os.times()
    return now.children_user + now.children_system


def _work_of(process: int) -> float:
    """Seconds of work of a running process."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
