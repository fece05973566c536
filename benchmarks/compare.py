"""What changed between two runs?  python -m benchmarks.compare old.json new.json [--metric cpu|wall] [--base SYSTEM]

Times are those of a system by those of the base system in the same file, so that a slower hour or machine does not
count. A change is named if it exceeds the noise, which the repeats of both files tell: what the rounds of the cell differ
by (for the system and for the base; halves of the runs if a file has one round), three times what the rounds of all cells
differ by in the median, and 3 % at least. Two rounds of one cell may agree by chance; all cells together do not. Sizes
are named if they differ by more than 0.1 %.
"""

from __future__ import annotations

import argparse
import json

from . import report
from .report import BASE, spread

LEAST_NOISE = 0.03
LEAST_SIZE = 0.001
TYPICAL = 3
"""Times the median of all differences between rounds: beyond that lies about one difference in fifty, if only chance is
at work."""


def best(cell, metric):
    """The best time of a cell, and how much the best times of its rounds differ."""
    found = report.best(cell, metric)
    return (found, spread(cell, metric) or 0.0) if found else None


def relative(cells, key, base, metric):
    """The time of a cell by that of the base system, and its noise. The time itself if the base did not run it."""
    found = best(cells[key], metric)
    dataset, _, threads, work = key.split("|")
    other = cells.get(f"{dataset}|{base}|{threads}|{work}")
    beside = None if other is None else best(other, metric)
    if found is None or beside is None:
        return found
    return found[0] / beside[0], max(found[1], beside[1])


def changes(old, new, base=BASE, metric="cpu"):
    """(cell, what, old, new, noise) for each cell of both runs that changed, the largest change first."""
    found = []
    typical = TYPICAL * max(report.noise(each, metric) or 0.0 for each in (old, new))
    for key in sorted(old["cells"].keys() & new["cells"].keys()):
        before, after = old["cells"][key], new["cells"][key]
        if before.get("size") and after.get("size") and abs(after["size"] / before["size"] - 1) > LEAST_SIZE:
            found.append((key, "size", before["size"], after["size"], LEAST_SIZE))
        if key.split("|")[1] == base:
            continue  # what all others are measured by
        one, other = (relative(each["cells"], key, base, metric) for each in (old, new))
        if one is None or other is None:
            continue
        noise = max(one[1], other[1], typical, LEAST_NOISE)
        if not 1 / (1 + noise) <= other[0] / one[0] <= 1 + noise:
            found.append((key, metric, one[0], other[0], noise))
    return sorted(found, key=lambda change: -abs(change[3] / change[2] - 1))


def markdown(found):
    """The changes as a table."""
    if not found:
        return "Nothing changed beyond the noise."
    lines = ["| cell | what | old | new | change | noise |", "|---|---|---:|---:|---:|---:|"]
    for key, what, before, after, noise in found:
        numbers = f"{before:,} | {after:,}" if what == "size" else f"{before:.4g} | {after:.4g}"
        lines.append(f"| {key.replace('|', ' ')} | {what} | {numbers} | {after / before - 1:+.1%} | {noise:.1%} |")
    return "\n".join(lines)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("old")
    ap.add_argument("new")
    ap.add_argument("--metric", choices=("cpu", "wall"), default="cpu")
    ap.add_argument("--base", default=BASE)
    a = ap.parse_args()
    with open(a.old) as old, open(a.new) as new:
        print(markdown(changes(json.load(old), json.load(new), a.base, a.metric)))


if __name__ == "__main__":
    main()
