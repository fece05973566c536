"""How fast are the text operators?  python -m benchmarks.text LOGS.arrow [--column message]

Single thread, processor time, over a column of an Arrow file; beside each figure pyarrow's substring search for the same
text in the same run.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from amudai import _kernels

CASES = [
    ("has", "timeout"),
    ("has", "request"),
    ("hasprefix", "conn"),
    ("hassuffix", "ion"),
    ("contains", "eou"),
    ("contains", "zzqq"),
    ("contains", "e"),
    ("contains", "\u00e9"),
    ("startswith", "req"),
    ("endswith", "ms"),
]


def best(work: Callable[[], object]) -> float:
    """Least processor time of three calls."""
    times = []
    for _ in range(3):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--column", default="message")
    options = parser.parse_args()
    with pa.memory_map(options.file) as source:
        column = pa.ipc.open_file(source).read_all()[options.column].cast(pa.large_string())
    array = pa.concat_arrays(column.chunks)
    offsets = np.frombuffer(array.buffers()[1], np.int64, len(array) + 1, 8 * array.offset)
    data = np.frombuffer(array.buffers()[2], np.uint8)
    size, out = int(offsets[-1] - offsets[0]), np.zeros(len(array), np.uint8)
    print(f"{len(array):,} texts, {size / 1e6:.0f} MB")
    for op, text in CASES:
        line = f"{op:>10} {text!r:<10}"
        for case_sensitive in (True, False):
            seconds = best(lambda cs=case_sensitive: _kernels.match_text(offsets, data, op, text, cs, out))
            line += f"  {'case' if case_sensitive else 'any case'} {size / seconds / 1e9:5.1f} GB/s ({int(out.sum()):>9,} rows)"
        seconds = best(lambda: pc.match_substring(array, text))
        print(f"{line}  pyarrow {size / seconds / 1e9:5.1f} GB/s")


if __name__ == "__main__":
    main()
