"""How do costs grow?  python -m benchmarks.growth [--full] [--axes rows,columns] [--out build/growth.json]

Rows, columns, stripes, shards and matches grow by tens; all else stays as it is. Each point is measured in a process of
its own, with one thread: processor time, the best of some runs, and the peak of memory above the start. `--full` adds
100 million rows, written in a stream with both indexes; the memory that all of it took is printed.

`python -m benchmarks.growth --pictures docs/pictures` draws the curves of --out.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import plots
from benchmarks.processes import run_worker

SIZES: Mapping[str, tuple[int, ...]] = {
    "rows": (10_000, 100_000, 1_000_000, 10_000_000),
    "columns": (10, 100, 1_000, 10_000, 20_000),
    "stripes": (1, 10, 100, 1_000, 10_000),
    "shards": (1, 10, 100, 1_000, 10_000),
    "matches": (1_000_000,),
}
FULL: Mapping[str, tuple[int, ...]] = {"rows": (100_000_000,)}
ACROSS = {
    "rows": "rows of a shard with a term index and a hash index",
    "columns": "columns of a shard of 1,000 rows",
    "stripes": "stripes of a shard of 200,000 rows with both indexes",
    "shards": "shards of 500 rows in one dataset",
    "matches": "rows that match, of a million",
}
SUPERLINEAR = 1.15
"""An exponent above this, in the last step of a curve, is named. Noise of a point is below a tenth of a decade."""
LEAST = 0.005
"""Seconds and less are not judged: they are the same few calls, whatever the size."""


def step(axis: str, size: int, asked: argparse.Namespace, seconds: float) -> list[dict[str, Any]]:
    """The points of one size: for each work its cost. The axis `matches` has all its sizes in one shard."""
    options = {"threads": asked.threads, "memory_limit": asked.memory_limit}
    if axis == "columns":
        options = {"threads": asked.threads}
    folder = os.environ.get("AMUDAI_BENCH_CACHE") or None
    job = {"axis": axis, "size": size, "options": options, "folder": folder, "seconds": asked.seconds, "works": [axis]}
    environment = {"AMUDAI_THREADS": str(asked.threads)}
    points = []
    for line in run_worker("benchmarks.growth_works", job, environment=environment, timeout=seconds):
        name, _, matching = line["work"].partition("|")
        if "error" in line and line["work"] == axis:
            name = "all"
        point = {"axis": axis, "size": int(matching or size), "work": name}
        if "runs" in line:
            point["wall"], point["cpu"] = (min(run[at] for run in line["runs"]) for at in (0, 1))
        points.append(point | {key: line[key] for key in ("peak", "maxrss", "found", "error") if key in line})
    return points


def of_work(points: list[dict[str, Any]], axis: str, measure: str) -> dict[str, list[tuple[float, float]]]:
    """The curve of each work of an axis."""
    found: dict[str, list[tuple[float, float]]] = {}
    for point in points:
        if point["axis"] == axis and measure in point and point["work"] != "process":
            found.setdefault(point["work"], []).append((point["size"], point[measure]))
    return {name: sorted(values) for name, values in found.items()}


def exponent(values: list[tuple[float, float]]) -> float | None:
    """The power of the size with which the last step of a curve grew; None where the cost is too small to say."""
    if len(values) < 2 or values[-1][1] < LEAST or min(cost for _, cost in values) <= 0:
        return None
    (smaller, before), (larger, after) = values[-2:]
    return math.log(after / before) / math.log(larger / smaller)


def superlinear(points: list[dict[str, Any]]) -> list[str]:
    """The works whose processor time grew faster than their axis."""
    found = []
    for axis in SIZES:
        for name, values in of_work(points, axis, "cpu").items():
            power = exponent(values)
            if power is not None and power > SUPERLINEAR:
                found.append(f"{axis}: {name} grows with the power {power:.2f}")
    return found


def time_text(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{seconds * 1e6:.0f} us"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def memory_text(size: float) -> str:
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB" if size >= 1e6 else f"{size / 1e3:.3g} kB"


def markdown(points: list[dict[str, Any]]) -> str:
    """A table for each axis: processor time and peak of memory, and the power of the last step."""
    out = []
    for axis in SIZES:
        times, memory = of_work(points, axis, "cpu"), of_work(points, axis, "peak")
        sizes = sorted({size for values in times.values() for size, _ in values})
        if not sizes:
            continue
        out.append(f"### {axis.capitalize()}\n")
        out.append(f"| {ACROSS[axis]} | {' | '.join(f'{size:,.0f}' for size in sizes)} | power |")
        out.append("|---|" + "---:|" * (len(sizes) + 1))
        for name, values in times.items():
            costs, peaks = dict(values), dict(memory.get(name, []))
            cells = [
                f"{time_text(costs[size])}, {memory_text(peaks.get(size, 0))}" if size in costs else ""
                for size in sizes
            ]
            power = exponent(values)
            out.append(f"| {name} | {' | '.join(cells)} | {'' if power is None else f'{power:.2f}'} |")
        whole = {point["size"]: point["maxrss"] for point in points if point["axis"] == axis and "maxrss" in point}
        if axis != "matches" and whole:
            cells = [memory_text(whole[size]) if size in whole else "" for size in sizes]
            out.append(f"| the whole process | {' | '.join(cells)} | |")
        out.append("")
    failed = [f"{point['axis']} {point['size']:,}: {point['error']}" for point in points if "error" in point]
    if failed:
        out.append("Not done: " + "; ".join(failed) + "\n")
    fast = superlinear(points)
    out.append("Faster than linear: " + ("; ".join(fast) + "." if fast else "nothing."))
    return "\n".join(out)


def draw(points: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Two pictures for each axis."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for axis in SIZES:
        for measure, title, text in (("cpu", "Processor time", time_text), ("peak", "Peak of memory", memory_text)):
            values = of_work(points, axis, measure)
            if not values:
                continue
            path = folder / f"growth-{axis}-{'time' if measure == 'cpu' else 'memory'}.svg"
            path.write_text(plots.curves(title, ACROSS[axis], values, text))
            drawn.append(path)
    return drawn


def save(path: Path, results: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".tmp")
    new.write_text(json.dumps(results, indent=0))
    new.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--axes", default=",".join(SIZES))
    parser.add_argument("--full", action="store_true", help="100 million rows, too: about twenty minutes more")
    parser.add_argument("--points", type=int, help="only the first sizes of each axis")
    parser.add_argument("--rows", type=int, help="only this number of rows")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--memory-limit", default="512MB", help="of writes")
    parser.add_argument("--seconds", type=float, default=0.3, help="of repeats for each work")
    parser.add_argument("--minutes", type=float, default=9, help="start no point after this time (--full: no limit)")
    parser.add_argument("--out", type=Path, default=Path("build/growth.json"))
    parser.add_argument("--merge", action="store_true", help="keep the points of --out that are not measured again")
    parser.add_argument("--pictures", type=Path, help="draw the curves of --out into this folder, and measure nothing")
    asked = parser.parse_args()
    if asked.pictures:
        for path in draw(json.loads(asked.out.read_text())["points"], asked.pictures):
            print(path)
        return
    points: list[dict[str, Any]] = []
    if asked.merge and asked.out.exists():
        points = json.loads(asked.out.read_text())["points"]
    begin, left_out = time.time(), []
    for axis in asked.axes.split(","):
        sizes = SIZES[axis] + (FULL.get(axis, ()) if asked.full else ())
        if asked.rows and axis == "rows":
            sizes = (asked.rows,)
        for size in sizes[: asked.points]:
            left = 60 * asked.minutes - (time.time() - begin)
            if left < 0 and not asked.full:
                left_out.append(f"{axis} {size:,}")
                continue
            started = time.time()
            found = step(axis, size, asked, 7200 if asked.full else max(60.0, left + 60))
            again = {(point["axis"], point["size"], point["work"]) for point in found}
            points = [each for each in points if (each["axis"], each["size"], each["work"]) not in again] + found
            save(asked.out, {"points": points, "load": os.getloadavg(), "processors": os.cpu_count()})
            wrong = "".join(f"  ! {each['error']}" for each in found if "error" in each)
            most = max((each.get("maxrss", 0) for each in found), default=0)
            print(f"{axis} {size:,}: {time.time() - started:.0f} s, {memory_text(most)} in all{wrong}", flush=True)
    print(markdown(points))
    if left_out:
        print(f"\nNot measured, because {asked.minutes:g} minutes were over: {', '.join(left_out)}.")


if __name__ == "__main__":
    main()
