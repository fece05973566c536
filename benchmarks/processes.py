"""Measures work in a process of its own, and its memory from outside.

A worker module gets a pickled job on its standard input (`receive`) and writes a JSON line for each finished piece of
work (`Reporter.say`), so that a crash loses only the work in progress. Around the run whose memory counts it calls
`Reporter.begin` and `Reporter.end`.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import pickle
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.memory import Sampler, own_memory

T = TypeVar("T")
ROOT = Path(__file__).parents[1]


def run_worker(
    module: str, job: Mapping[str, Any], *, environment: Mapping[str, str] | None = None, timeout: float
) -> list[dict[str, Any]]:
    """Run a worker and return its lines. A line that ends a watched run has the peak of memory above its begin.

    If the worker fails or takes too long, the first of `job["works"]` that it did not finish has the error.
    """
    # Without byte code, the first run of a worker would compile the modules that it imports.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        [sys.executable, "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**inherited, **(environment or {})},
        cwd=ROOT,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    lines: list[dict[str, Any]] = []
    errors: list[bytes] = []
    late: list[bool] = []
    before, peak = 0, 0
    sampler = Sampler(process.pid)
    reader = threading.Thread(target=lambda: errors.append(process.stderr.read()), daemon=True)  # type: ignore[union-attr]
    reader.start()

    def stop() -> None:
        late.append(True)
        process.kill()

    timer = threading.Timer(timeout, stop)
    timer.start()
    try:
        try:
            process.stdin.write(pickle.dumps(dict(job)))
            process.stdin.close()
        except BrokenPipeError:
            pass
        for raw in process.stdout:
            line = json.loads(raw)
            if "begin" in line:
                before = line["begin"]
                sampler.begin()
            elif "end" in line:
                peak = max(sampler.end(), line["end"])
            else:
                if peak:
                    line["peak"] = max(0, peak - before)
                    peak = 0
                lines.append(line)
        process.wait()
    finally:
        timer.cancel()
        sampler.close()
    if process.returncode:
        reader.join()
        last = b"".join(errors).decode(errors="replace").strip().splitlines()[-1:]
        why = f"took more than {timeout:.0f} s" if late else f"ended with {process.returncode}: {' '.join(last)[:200]}"
        seen = {line.get("work") for line in lines}
        left = [work for work in job["works"] if work not in seen]
        if left:
            lines.append({"work": left[0], "error": f"worker {why}"})
    return lines


def receive() -> tuple[dict[str, Any], Reporter]:
    """In a worker: the job, and where to report. What peers print goes to standard error."""
    job = pickle.load(sys.stdin.buffer)
    reporter = Reporter(os.dup(1))
    os.dup2(2, 1)
    return job, reporter


class Reporter:
    """Writes the lines that `run_worker` reads."""

    def __init__(self, descriptor: int) -> None:
        self._out = os.fdopen(descriptor, "w", buffering=1)

    def say(self, **facts: object) -> None:
        self._out.write(json.dumps(facts) + "\n")

    def begin(self) -> None:
        """A run begins whose memory counts. What earlier work left in pools is handed back first."""
        give_back()
        self.say(begin=own_memory())

    def end(self) -> None:
        """The run has ended, and its result is still there."""
        self.say(end=own_memory())


def give_back() -> None:
    """Hand memory that is not used back to the system."""
    import pyarrow as pa

    gc.collect()
    pa.default_memory_pool().release_unused()
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        pass  # a C library without it


def processor_time() -> float:
    """Seconds of processor time of this process and of the ended processes that it started."""
    below = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + below.ru_utime + below.ru_stime


def timed(work: Callable[[], T]) -> tuple[float, float, T]:
    """Wall time, processor time and result."""
    busy, begin = processor_time(), time.perf_counter()
    result = work()
    return time.perf_counter() - begin, processor_time() - busy, result
