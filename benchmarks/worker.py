"""Measures one system on one data set in a process of its own (started by run.py; see processes.py).

Memory is NOT handed back to the system between timed runs. Doing so (malloc_trim, pool
release) makes every run pay page faults again, and only for peers on glibc malloc or the
pyarrow pool: it slowed vortex 2.7x, lance 1.6x, duckdb 1.3x, parquet 1.2x and polars not at
all. Repeats reach the steady state instead. The first run of a cell is the one whose memory is
measured: before it, and only then, what earlier cells left in pools is handed back.
"""

from __future__ import annotations

import gc
import os
import time

import numpy as np

from .processes import receive, timed


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


def main():
    job, reporter = receive()
    say = reporter.say
    if job["threads"] == 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {quietest_cpu()})

    import pyarrow as pa

    from . import datasets, systems
    from .systems.base import NotSupported

    spec = datasets.GENERATORS[job["dataset"]]
    sysm = systems.find(job["system"])(job["threads"])
    say(work="version", version=sysm.version())
    path = job["path"]

    def table():
        return datasets.load(job["dataset"], job["rows"], job["seed"])

    source_schema = table().schema

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
            return lambda h: sysm.contains(h, spec.text, spec.part)
        if base.startswith("search_"):
            return lambda h: sysm.search(h, spec.text, spec.searches[base[7:]])
        raise ValueError(work)

    def describe(r):
        if isinstance(r, pa.Table):
            d = {"rows": r.num_rows, "nbytes": r.nbytes}
            if spec.check in r.column_names:
                d["check"] = int(pa.compute.sum(r[spec.check].cast(pa.int64())).as_py() or 0)
            return d
        if isinstance(r, np.ndarray):
            return {"rows": len(r), "check": int(r.sum())}
        return {"rows": len(r)}

    def first(fn):
        """The run whose memory counts."""
        reporter.begin()
        w, c, r = timed(fn)
        reporter.end()
        return w, c, r

    def measure(work):
        if work == "write":
            t = table()
            runs = []
            for n in range(job["write_runs"]):
                w, c, _ = (timed if n else first)(lambda: sysm.write(t, path, spec.text))
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
        op = operation(work)
        hot = work.endswith("+hot")
        runs, info, h = [], None, sysm.open(path) if hot else None
        start = time.perf_counter()
        while len(runs) < job["min_runs"] or (
            len(runs) < job["max_runs"] and time.perf_counter() - start < job["budget_s"]
        ):
            measured = timed if runs else first
            if hot:
                w, c, r = measured(lambda: op(h))
            else:

                def cold():
                    nonlocal h
                    h = sysm.open(path)
                    return op(h)

                w, c, r = measured(cold)
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
