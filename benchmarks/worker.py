"""Measures one system on one data set in a process of its own (started by run.py).

Reads a pickled job from stdin, writes one JSON line per finished piece of work to a dup of stdout, so
that a crash loses only the work in progress.

Memory is NOT handed back to the system between timed runs. Doing so (malloc_trim, pool
release) makes every run pay page faults again, and only for peers on glibc malloc or the
pyarrow pool: it slowed vortex 2.7x, lance 1.6x, duckdb 1.3x, parquet 1.2x and polars not at
all. Repeats reach the steady state instead; the cold cost is the run of `rss_scan`, which
has a fresh process to itself.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import sys
import time

import numpy as np


def quietest_cpu() -> int:
    def busy():
        out = {}
        with open("/proc/stat") as f:
            for line in f:
                if line.startswith("cpu") and line[3].isdigit():
                    v = line.split()
                    out[int(v[0][3:])] = sum(map(int, v[1:4]))
        return out

    a = busy()
    time.sleep(0.1)
    b = busy()
    return min(os.sched_getaffinity(0), key=lambda c: b[c] - a[c])


def rss_anon() -> int:
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return 0


def main():
    job = pickle.load(sys.stdin.buffer)
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # peers may print; keep the protocol clean

    def say(**kw):
        out.write(json.dumps(kw) + "\n")

    if job["threads"] == 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {quietest_cpu()})

    import pyarrow as pa

    from . import datasets, systems
    from .systems.base import NotSupported

    spec = datasets.GENERATORS[job["dataset"]]
    sysm = systems.find(job["system"])(job["threads"])
    say(work="version", version=sysm.version())
    path = job["path"]
    source_schema = datasets.load(job["dataset"], job["rows"]).schema

    def table(mmap=True):
        if mmap:
            return datasets.load(job["dataset"], job["rows"])
        with pa.OSFile(datasets.path_of(job["dataset"], job["rows"])) as f:
            return pa.ipc.open_file(f).read_all()

    def operation(work):
        """-> (function of a handle, needs a table)"""
        base = work.removesuffix("+hot")
        if base == "open_schema":
            return lambda h: sysm.names(h)
        if base == "scan_all":
            return lambda h: sysm.scan(h)
        if base == "scan_same":  # the result in the source's exact Arrow types (string_view -> string, ...)

            def same(h):
                t = sysm.scan(h)
                return t if t.schema.types == source_schema.types else t.cast(source_schema)

            return same
        if base == "scan_2":
            return lambda h: sysm.scan(h, spec.two)
        if base.startswith("decode:"):
            return lambda h: sysm.scan(h, [spec.decode[base[7:]]])
        if base.startswith("take_"):
            return lambda h: sysm.take(h, job["take"][base])
        if base.startswith("filter_"):
            return lambda h: sysm.filter(h, *job["filters"][base])
        if base == "contains":
            return lambda h: sysm.contains(h, spec.text, datasets.PART)
        if base.startswith("search_"):
            return lambda h: sysm.search(h, spec.text, datasets.SEARCHES[base[7:]])
        raise ValueError(work)

    def describe(r):
        if isinstance(r, pa.Table):
            d = {"rows": r.num_rows, "nbytes": r.nbytes}
            if spec.check in r.column_names:
                d["check"] = int(pa.compute.sum(r[spec.check].cast(pa.int64())).as_py())
            return d
        if isinstance(r, np.ndarray):
            return {"rows": len(r), "check": int(r.sum())}
        return {"rows": len(r)}

    def timed(fn):
        c0, t0 = time.process_time(), time.perf_counter()
        r = fn()
        return time.perf_counter() - t0, time.process_time() - c0, r

    def measure(work):
        if work == "write":
            t = table()
            runs = []
            for _ in range(job["write_runs"]):
                w, c, _ = timed(lambda: sysm.write(t, path, spec.text))
                runs.append((w, c))
                gc.collect()
            return {"runs": runs, "size": sysm.size(path), "rows": t.num_rows}
        if work == "verify":
            t, bad = table(), []
            h = sysm.open(path)
            for c in t.column_names:
                got = sysm.scan(h, [c])[c]
                if got.type != t[c].type:
                    got = got.cast(t[c].type)
                if not pa.chunked_array(got).equals(pa.chunked_array(t[c])):
                    bad.append(c)
            sysm.close(h)
            return {"runs": [], "bad": bad}
        if work in ("rss_write", "rss_scan"):
            t = table(mmap=False) if work == "rss_write" else None
            gc.collect()
            say(work="begin", rss=rss_anon())
            if t is not None:
                w, c, r = timed(lambda: sysm.write(t, path + ".rss", spec.text))
            else:
                h = sysm.open(path)
                w, c, r = timed(lambda: sysm.scan(h))
                assert r.num_rows == job["rows"]
            return {"runs": [(w, c)], "rss_end": rss_anon()}
        op = operation(work)
        hot = work.endswith("+hot")
        runs, info, h = [], None, sysm.open(path) if hot else None
        start = time.perf_counter()
        while len(runs) < job["min_runs"] or (
            len(runs) < job["max_runs"] and time.perf_counter() - start < job["budget_s"]
        ):
            if hot:
                w, c, r = timed(lambda: op(h))
            else:

                def cold():
                    nonlocal h
                    h = sysm.open(path)
                    return op(h)

                w, c, r = timed(cold)
                sysm.close(h)
                h = None
            runs.append((w, c))
            info = info or describe(r)
            del r
            gc.collect()
            if time.perf_counter() - start > job["give_up_s"]:
                break
        if hot:
            sysm.close(h)
        return {"runs": runs, **info}

    for work in job["works"]:
        try:
            say(work=work, **measure(work))
        except (NotSupported, NotImplementedError) as e:
            say(work=work, unsupported=str(e) or "no")
        except Exception as e:
            say(work=work, error=f"{type(e).__name__}: {e}"[:300])
        gc.collect()


if __name__ == "__main__":
    main()
