"""Runs the bench:  python -m benchmarks.run --datasets logs --systems parquet-zstd,vortex --threads 1

Rounds are the outer loop and systems the inner one, so that a noisy minute hits every
system and not one of them; each cell keeps the best wall and the best CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import time

import numpy as np

from . import datasets, report, systems
from .processes import run_worker


def works_of(name, spec):
    w = ["write", "verify", "open_schema", "scan_all", "scan_same", "scan_2"]
    if name == "wide":
        return ["write", "open_schema", "open_schema+hot", "scan_2", "scan_2+hot", "scan_all"]
    w += [f"decode:{c}" for c in spec.decode]
    if spec.take:
        w += ["take_1k", "take_1k+hot", "take_100k"]
    if spec.filters:
        names = list(spec.filters(datasets.load(name, 100_000)))
        w += names + [n + "+hot" for n in names if n in ("filter_ts", "filter_trace", "filter_key")]
    if spec.text:
        w += [f"search_{k}" for k in spec.searches] + ["contains"]
        w += [f"search_{k}+hot" for k in spec.searches if k != "two"]
    return w


def chosen(works, wanted):
    if not wanted:
        return works
    return [w for w in works if any(w == p or (p.endswith("*") and w.startswith(p[:-1])) for p in wanted)]


def out_path(dataset, rows, seed, cls):
    d = os.path.join(datasets.cache_dir(), "out", datasets.key_of(dataset, rows, seed))
    os.makedirs(d, exist_ok=True)
    return os.path.join(d, cls.name + cls.ext)


def available(names):
    """The adapters of these systems, or of all; says which are left out because something is not installed."""
    known = {c.name: c for c in systems.every()}
    unknown = sorted(set(names) - known.keys())
    if unknown:
        raise SystemExit(f"unknown systems: {', '.join(unknown)}; known: {', '.join(known)}")
    found = {}
    for name in names or known:
        missing = known[name].missing()
        if missing:
            print(f"# {name} is left out: {missing}", flush=True)
        else:
            found[name] = known[name]
    return found


def params_of(spec, t):
    """What workers ask about: made once, so that every system is asked the same."""
    rng = np.random.default_rng(42)
    take = {
        f"take_{k}": np.sort(rng.choice(t.num_rows, min(m, t.num_rows), replace=False))
        for k, m in (("1k", 1000), ("100k", 100_000))
    }
    return {"filters": spec.filters(t) if spec.filters else {}, "take": take if spec.take else {}}


def facts_of(spec, t):
    return {
        "rows": t.num_rows,
        "columns": t.num_columns,
        "nbytes": t.nbytes,
        "decode_nbytes": {k: t[c].nbytes for k, c in spec.decode.items()},
        "two_nbytes": sum(t[c].nbytes for c in spec.two),
    }


def add(cells, key, line, rnd):
    """Add what a worker said to its cell. A run is wall time, processor time and the number of its round."""
    cell = cells.setdefault(key, {"runs": []})
    cell["runs"] += [[*run, rnd] for run in line.pop("runs", [])]
    peak = max(line.get("peak", 0), cell.get("peak", 0))
    cell.update({**line, "peak": peak} if peak else line)


def save(res, path):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path + ".tmp", "w") as f:
        json.dump(res, f, indent=0)
    os.replace(path + ".tmp", path)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--datasets", default=",".join(datasets.SYNTHETIC), help="names, comma separated; or real")
    ap.add_argument("--systems", default="", help="names, comma separated; default: all that are installed")
    ap.add_argument("--works", default="", help="names or prefixes ending in *; default: all")
    ap.add_argument("--threads", default="1", help="1, 0 (the peer's default) or both: 1,0")
    ap.add_argument("--rounds", type=int, default=2)
    ap.add_argument("--scale", type=float, default=1.0, help="multiplies the default row counts")
    ap.add_argument("--seed", type=int, help="other generated data than by default; real data has none")
    ap.add_argument("--budget", type=float, default=0.6, help="seconds of repeats per cell and round")
    ap.add_argument("--write-runs", type=int, default=2)
    ap.add_argument("--out", default="results.json")
    ap.add_argument("--merge", action="store_true", help="add to --out instead of starting anew")
    ap.add_argument("--timeout", type=float, default=300, help="seconds before a worker is killed")
    ap.add_argument("--minutes", type=float, default=0, help="start no worker after this time; 0: no limit")
    ap.add_argument("--clean", action="store_true", help="delete written files at the end")
    a = ap.parse_args()

    known = available([n for n in a.systems.split(",") if n])
    names = list(known)
    wanted = [w for w in a.works.split(",") if w]
    sets = [*datasets.REAL] if a.datasets == "real" else a.datasets.split(",")
    res = {"cells": {}, "versions": {}, "datasets": {}, "runs": []}
    if a.merge and os.path.exists(a.out):
        with open(a.out) as f:
            res = json.load(f)
    res["runs"].append(
        {
            "started": time.strftime("%Y-%m-%d %H:%M:%S"),
            "load": os.getloadavg(),
            "processors": os.cpu_count(),
            "args": {k: v for k, v in vars(a).items() if k != "out"},  # no local paths in results
            "python": platform.python_version(),
        }
    )
    begun = time.time()
    left_out = []
    earlier = 1 + max((r[2] for c in res["cells"].values() for r in c["runs"] if len(r) > 2), default=-1)
    # All data sets are measured in a round before the next begins: the rounds of a cell are minutes apart, and what they
    # differ by is the noise of this machine (compare.py).
    for rnd in range(a.rounds):
        for ds in sets:
            spec = datasets.GENERATORS[ds]
            rows = spec.rows if ds == "wide" else int(spec.rows * a.scale)
            t = datasets.load(ds, rows, a.seed)
            res["datasets"][ds] = facts_of(spec, t)
            params = params_of(spec, t)
            del t
            works = chosen(works_of(ds, spec), wanted)
            for th in map(int, a.threads.split(",")):
                for name in names if rnd % 2 == 0 else names[::-1]:
                    cls = known[name]
                    mine = [
                        w for w in works if not cls.index_only or w == "write" or w.startswith(("search_", "contains"))
                    ]
                    mine = [w for w in mine if not rnd or w != "verify"]
                    if not mine or (cls.index_only and not spec.text):
                        continue
                    if a.minutes and time.time() - begun > 60 * a.minutes:
                        left_out.append(f"{ds} {name} round {rnd + 1}")
                        continue
                    job = dict(
                        system=name,
                        dataset=ds,
                        rows=rows,
                        seed=a.seed,
                        threads=th or None,
                        path=out_path(ds, rows, a.seed, cls),
                        write_runs=a.write_runs,
                        min_runs=4,
                        max_runs=8,
                        budget_s=a.budget,
                        give_up_s=10,
                        works=mine,
                        **params,
                    )
                    t0 = time.time()
                    lines = run_worker("benchmarks.worker", job, environment=cls.env(th or None), timeout=a.timeout)
                    for line in lines:
                        w = line.pop("work")
                        if w == "version":
                            res["versions"][name] = line["version"]
                            continue
                        if "error" in line:
                            print(f"  ! {ds} {name} {w}: {line['error']}", flush=True)
                        add(res["cells"], f"{ds}|{name}|{th}|{w}", line, earlier + rnd)
                    print(
                        f"[{time.strftime('%H:%M:%S')}] round {rnd + 1}: {ds} threads={th or 'default'} {name} "
                        f"{time.time() - t0:.1f} s (load {os.getloadavg()[0]:.1f})",
                        flush=True,
                    )
                    save(res, a.out)
    if a.clean:
        shutil.rmtree(os.path.join(datasets.cache_dir(), "out"), ignore_errors=True)
    print(report.markdown(res))
    if left_out:
        print(f"\nNot run, because {a.minutes:g} minutes were over: {', '.join(left_out)}.")


if __name__ == "__main__":
    main()
