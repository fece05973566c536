"""Physical limits of the machine, single thread:  python -m benchmarks.limits

Everything is best of several runs over buffers far larger than the caches (or as noted).
"""

from __future__ import annotations

import os
import time

import numpy as np
import pyarrow as pa

from . import datasets
from .worker import quietest_cpu


def best(fn, runs=7):
    b = float("inf")
    for _ in range(runs):
        t0 = time.perf_counter()
        fn()
        b = min(b, time.perf_counter() - t0)
    return b


def main():
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {quietest_cpu()})
    pa.set_cpu_count(1)
    out = []
    mb = 256
    src = np.random.default_rng(0).integers(0, 256, mb << 20, dtype=np.uint8)
    dst = np.empty_like(src)
    dst[:] = 0
    out.append(("memcpy, 256 MiB, destination already mapped", src.nbytes / best(lambda: np.copyto(dst, src)) / 1e9))
    out.append(("memcpy, 256 MiB, fresh destination (page faults)", src.nbytes / best(lambda: src.copy()) / 1e9))
    s, d = src[: 1 << 20], dst[: 1 << 20]
    out.append(("memcpy, 1 MiB, in cache", s.nbytes * 64 / best(lambda: [np.copyto(d, s) for _ in range(64)]) / 1e9))
    w = src.view(np.int64)
    out.append(("read only: int64 sum, 256 MiB", w.nbytes / best(lambda: w.sum()) / 1e9))
    out.append(("write only: fill, 256 MiB", dst.nbytes / best(lambda: dst.fill(1)) / 1e9))

    t = datasets.load("metrics")
    path = datasets.path_of("metrics")

    def mmap_sum():
        x = pa.ipc.open_file(pa.memory_map(path)).read_all()
        return [pa.compute.sum(x[c]) for c in ("gauge", "counter", "real")]

    touched = sum(t[c].nbytes for c in ("gauge", "counter", "real"))
    out.append(("Arrow IPC, memory-mapped, open + sum of three columns", touched / best(mmap_sum) / 1e9))
    open_only = best(lambda: pa.ipc.open_file(pa.memory_map(path)).read_all())
    with open(path, "rb", buffering=0) as f:
        size, buf = os.path.getsize(path), bytearray(64 << 20)

        def read_file():
            f.seek(0)
            while f.readinto(buf):
                pass

        out.append(("read() of a cached file into a 64 MiB buffer", size / best(read_file) / 1e9))

    logs = datasets.load("logs")
    blocks = {
        "message text": logs["message"].chunk(0).buffers()[2],
        "trace_id text": logs["trace_id"].chunk(0).buffers()[2],
        "url text": logs["url"].chunk(0).buffers()[2],
        "gauge float64": t["gauge"].chunk(0).buffers()[1],
        "counter int64": t["counter"].chunk(0).buffers()[1],
        "timestamp int64": logs["timestamp"].chunk(0).buffers()[1],
    }
    rows = []
    for name, b in blocks.items():
        raw = memoryview(b)[: 32 << 20]
        for codec, level in (("lz4_raw", None), ("snappy", None), ("zstd", 1), ("zstd", 3), ("zstd", 9)):
            c = pa.Codec(codec, compression_level=level) if level else pa.Codec(codec)
            parts = [raw[i : i + (1 << 20)] for i in range(0, len(raw), 1 << 20)]
            t0 = time.perf_counter()
            comp = [c.compress(p) for p in parts]
            tc = time.perf_counter() - t0
            td = best(lambda: [c.decompress(x, len(p)) for x, p in zip(comp, parts)], 5)
            rows.append(
                (
                    name,
                    codec + (f"-{level}" if level else ""),
                    sum(x.size for x in comp) / len(raw),
                    len(raw) / tc / 1e9,
                    len(raw) / td / 1e9,
                )
            )
    print("| limit | GB/s |\n|---|---:|")
    for k, v in out:
        print(f"| {k} | {v:.1f} |")
    print(f"\nArrow IPC memory-mapped open of the whole metrics table without touching it: {open_only * 1e6:.0f} us\n")
    print(
        "Raw codecs, 1 MiB blocks, 1 thread\n\n| data | codec | ratio | compress GB/s | decompress GB/s |\n|---|---|---:|---:|---:|"
    )
    for r in rows:
        print(f"| {r[0]} | {r[1]} | {r[2]:.3f} | {r[3]:.2f} | {r[4]:.2f} |")


if __name__ == "__main__":
    main()
