"""Runs the bench:  python -m benchmarks.run --datasets logs --systems parquet-zstd,vortex --threads 1

Rounds are the outer loop and systems the inner one, so that a noisy minute hits every
system and not one of them; each cell keeps the best wall and the best CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import platform
import shutil
import subprocess
import sys
import threading
import time

import numpy as np

from . import datasets, report, systems

HERE = os.path.dirname(os.path.abspath(__file__))


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
        w += [f"search_{k}" for k in datasets.SEARCHES] + ["contains", "search_rare+hot", "search_common+hot"]
    return w + ["rss_write", "rss_scan"]


def chosen(works, wanted):
    if not wanted:
        return works
    return [w for w in works if any(w == p or (p.endswith("*") and w.startswith(p[:-1])) for p in wanted)]


def out_path(dataset, rows, cls):
    d = os.path.join(datasets.cache_dir(), "out", f"{dataset}-{rows}")
    os.makedirs(d, exist_ok=True)
    return os.path.join(d, cls.name + cls.ext)


def spawn(job, cls, timeout):
    """Run one worker; returns its JSON lines (+ sampled peak RssAnon after 'begin')."""
    env = {**os.environ, **cls.env(job["threads"]), "PYTHONDONTWRITEBYTECODE": "1"}
    p = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=env,
        cwd=os.path.dirname(HERE),
    )
    lines, peak, begun, done = [], [0], [], threading.Event()

    def sample():
        while not done.is_set():
            try:
                with open(f"/proc/{p.pid}/status") as f:
                    for line in f:
                        if line.startswith("RssAnon:"):
                            if begun:
                                peak[0] = max(peak[0], int(line.split()[1]) * 1024)
                            break
            except OSError:
                return
            time.sleep(0.004)

    err = []
    threading.Thread(target=lambda: err.append(p.stderr.read()), daemon=True).start()
    if any(w.startswith("rss_") for w in job["works"]):
        threading.Thread(target=sample, daemon=True).start()
    timer = threading.Timer(timeout, p.kill)
    timer.start()
    try:
        p.stdin.write(pickle.dumps(job))
        p.stdin.close()
        for raw in p.stdout:
            r = json.loads(raw)
            if r["work"] == "begin":
                begun.append(r["rss"])
                peak[0] = r["rss"]
            else:
                if r["work"].startswith("rss_") and begun:
                    r["peak_rss"] = peak[0] - begun[0]
                lines.append(r)
        p.wait()
    except BrokenPipeError:
        p.wait()
    finally:
        timer.cancel()
        done.set()
    if p.returncode:
        tail = (err[0] if err else b"").decode(errors="replace").strip().splitlines()[-1:]
        seen = {r["work"] for r in lines}
        left = [w for w in job["works"] if w not in seen]
        if left:
            lines.append({"work": left[0], "error": f"worker ended with {p.returncode}: {' '.join(tail)[:200]}"})
    return lines


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--datasets", default="logs,metrics,vectors,lineitem,taxi,wide")
    ap.add_argument("--systems", default="", help="names, comma separated; default: all")
    ap.add_argument("--works", default="", help="names or prefixes ending in *; default: all")
    ap.add_argument("--threads", default="1", help="1, 0 (the peer's default) or both: 1,0")
    ap.add_argument("--rounds", type=int, default=2)
    ap.add_argument("--scale", type=float, default=1.0, help="multiplies the default row counts")
    ap.add_argument("--budget", type=float, default=0.6, help="seconds of repeats per cell and round")
    ap.add_argument("--write-runs", type=int, default=2)
    ap.add_argument("--out", default="results.json")
    ap.add_argument("--merge", action="store_true", help="add to --out instead of starting anew")
    ap.add_argument("--timeout", type=float, default=300, help="seconds before a worker is killed")
    ap.add_argument("--clean", action="store_true", help="delete written files at the end")
    a = ap.parse_args()

    every = systems.every()
    known = {c.name: c for c in every}
    names = a.systems.split(",") if a.systems else list(known)
    wanted = [w for w in a.works.split(",") if w]
    res = {"cells": {}, "versions": {}, "datasets": {}, "runs": []}
    if a.merge and os.path.exists(a.out):
        res = json.load(open(a.out))
    res["runs"].append(
        {
            "started": time.strftime("%Y-%m-%d %H:%M:%S"),
            "load": os.getloadavg(),
            "args": {k: v for k, v in vars(a).items() if k != "out"},  # no local paths in results
            "python": platform.python_version(),
        }
    )

    for ds in a.datasets.split(","):
        spec = datasets.GENERATORS[ds]
        rows = spec.rows if ds == "wide" else int(spec.rows * a.scale)
        t = datasets.load(ds, rows)
        rng = np.random.default_rng(42)
        res["datasets"][ds] = {
            "rows": rows,
            "columns": t.num_columns,
            "nbytes": t.nbytes,
            "decode_nbytes": {k: t[c].nbytes for k, c in spec.decode.items()},
            "two_nbytes": sum(t[c].nbytes for c in spec.two),
        }
        params = {
            "filters": spec.filters(t) if spec.filters else {},
            "take": {
                f"take_{k}": np.sort(rng.choice(rows, min(m, rows), replace=False))
                for k, m in (("1k", 1000), ("100k", 100_000))
            }
            if spec.take
            else {},
        }
        del t
        for th in map(int, a.threads.split(",")):
            works = chosen(works_of(ds, spec), wanted)
            for rnd in range(a.rounds):
                order = names[rnd % len(names) :] + names[: rnd % len(names)] if rnd % 2 == 0 else names[::-1]
                for name in order:
                    cls = known[name]
                    mine = [
                        w for w in works if not cls.index_only or w == "write" or w.startswith(("search_", "rss_write"))
                    ]
                    if rnd:
                        mine = [w for w in mine if w != "verify" and not w.startswith("rss_")]
                    if cls.index_only and not spec.text:
                        continue
                    job = dict(
                        system=name,
                        dataset=ds,
                        rows=rows,
                        threads=th or None,
                        path=out_path(ds, rows, cls),
                        write_runs=a.write_runs,
                        min_runs=4,
                        max_runs=8,
                        budget_s=a.budget,
                        give_up_s=10,
                        **params,
                    )
                    batches = [[w for w in mine if not w.startswith("rss_")]] + [
                        [w] for w in mine if w.startswith("rss_")
                    ]
                    t0 = time.time()
                    for works_now in filter(None, batches):
                        for r in spawn({**job, "works": works_now}, cls, timeout=a.timeout):
                            w = r.pop("work")
                            if w == "version":
                                res["versions"][name] = r["version"]
                                continue
                            cell = res["cells"].setdefault(f"{ds}|{name}|{th}|{w}", {"runs": []})
                            cell["runs"] += r.pop("runs", [])
                            cell.update(r)
                            if "error" in r:
                                print(f"  ! {ds} {name} {w}: {r['error']}", flush=True)
                    for extra in (job["path"] + ".rss", job["path"] + ".rss.wal"):
                        if os.path.isdir(extra):
                            shutil.rmtree(extra)
                        elif os.path.exists(extra):
                            os.remove(extra)
                    print(
                        f"[{time.strftime('%H:%M:%S')}] {ds} threads={th or 'default'} round {rnd + 1}: {name} "
                        f"{time.time() - t0:.1f} s (load {os.getloadavg()[0]:.1f})",
                        flush=True,
                    )
                json.dump(res, open(a.out + ".tmp", "w"), indent=0)
                os.replace(a.out + ".tmp", a.out)
        if a.clean:
            shutil.rmtree(os.path.join(datasets.cache_dir(), "out", f"{ds}-{rows}"), ignore_errors=True)
    print(report.markdown(res))


if __name__ == "__main__":
    main()
