"""Fills docs/performance.md:  python -m benchmarks.page docs/performance.md --results R.json --real R.json ...

Each place of the page stands between `<!-- name -->` and `<!-- /name -->`. Only the places whose file is given are
filled. The results come from `benchmarks.run`, `--threads` from `benchmarks.threads`, `--growth` from `benchmarks.growth`,
whose curves are drawn beside the page.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import growth, report, threads

OURS = ("amudai", "amudai-high", "amudai-views", "amudai-idx")
INDEXED = ("amudai-idx", "clickhouse-idx", "lance-idx")
BOUND = "ipc-raw"
"""Uncompressed and mapped, nothing is decoded: what no compressed format can reach, and not a peer."""

TEXT_ALONE = ("tantivy", "ripgrep-zstd")
"""They store nothing but the text column: neither their size nor their write can be compared."""

PLACES = ("conditions", "standing", "tables", "real-conditions", "real-standing", "real-tables", "threads", "growth")


def fill(text: str, place: str, content: str) -> str:
    """The text of a page with other content in one place."""
    pattern = re.compile(rf"(<!-- {place} -->\n).*?(<!-- /{place} -->)", re.S)
    filled, places = pattern.subn(lambda match: f"{match[1]}{content.strip()}\n{match[2]}", text)
    if places != 1:
        raise ValueError(f"expected one place {place}, found {places}")
    return filled


def ratios(results: dict[str, Any], dataset: str, work: str, metric: str) -> dict[str, float]:
    """How many times faster than the base each system does a work, with one thread."""
    base = report.best(results["cells"].get(f"{dataset}|{report.BASE}|1|{work}", {}), metric)
    found = {}
    for key, cell in results["cells"].items():
        name, system, threads, done = key.split("|")
        time = report.best(cell, metric)
        if (name, threads, done) == (dataset, "1", work) and base and time and "error" not in cell:
            found[system] = base / time
    return found


def sizes(results: dict[str, Any], dataset: str) -> dict[str, float]:
    """The size of each system's file by that of the base."""
    written = {
        key.split("|")[1]: cell["size"]
        for key, cell in results["cells"].items()
        if key.split("|")[0] == dataset and key.endswith("|1|write") and "size" in cell
    }
    base = written.get(report.BASE)
    return {system: size / base for system, size in written.items()} if base else {}


def peaks(results: dict[str, Any], dataset: str, work: str) -> dict[str, int]:
    return {
        key.split("|")[1]: cell["peak"]
        for key, cell in results["cells"].items()
        if key.startswith(f"{dataset}|") and key.endswith(f"|1|{work}") and "peak" in cell
    }


def works_of(results: dict[str, Any], dataset: str) -> list[str]:
    works = (key.split("|") for key in results["cells"] if key.startswith(f"{dataset}|"))
    return [work for work in dict.fromkeys(each[3] for each in works if each[2] == "1") if work != "verify"]


def rows_of(results: dict[str, Any], metric: str) -> Iterator[tuple[list[str], bool | None]]:
    """The cells of a row, and whether we lead in it; None without a peer."""
    for dataset in results["datasets"]:
        every = sizes(results, dataset)
        for name, chosen in (
            ("size", lambda system: system not in INDEXED),
            ("size with indexes", INDEXED.__contains__),
        ):
            known = {s: r for s, r in every.items() if chosen(s) and s not in (BOUND, *TEXT_ALONE)}
            if set(known) & set(OURS):
                yield _row(dataset, name, known, {}, smaller=True)
        for work in works_of(results, dataset):
            left_out = (BOUND, *TEXT_ALONE) if work == "write" else (BOUND,)
            known = {s: r for s, r in ratios(results, dataset, work, metric).items() if s not in left_out}
            if set(known) & set(OURS):
                yield _row(dataset, work, known, peaks(results, dataset, work), smaller=False)


def _row(
    dataset: str, work: str, known: dict[str, float], memory: dict[str, int], *, smaller: bool
) -> tuple[list[str], bool | None]:
    better = min if smaller else max
    ours = {system: known[system] for system in OURS if system in known}
    peers = {system: ratio for system, ratio in known.items() if system not in OURS}
    first = better(ours, key=lambda system: ours[system])
    cells = [dataset, work, *(report.number(ours[system]) if system in ours else "" for system in OURS)]
    if not peers:
        return [*cells, "", _memory(memory.get(first)), ""], None
    best = better(peers, key=lambda system: peers[system])
    lead = better(ours[first], peers[best]) == ours[first]
    cells[2 + OURS.index(first)] = f"**{cells[2 + OURS.index(first)]}**" if lead else cells[2 + OURS.index(first)]
    peer = f"{best} {report.number(peers[best])}"
    return [*cells, peer if lead else f"**{peer}**", _memory(memory.get(first)), _memory(memory.get(best))], lead


def _memory(size: int | None) -> str:
    return "" if size is None else f"{size / 1e6:,.0f}"


def standing(results: dict[str, Any], metric: str) -> str:
    """Every work in one table: ours, and the best of the peers."""
    rows = list(rows_of(results, metric))
    judged = [lead for _, lead in rows if lead is not None]
    head = ["data", "work", *OURS, "best peer", "MB", "peer's MB"]
    lines = [f"We lead in {sum(judged)} of {len(judged)} rows.", ""]
    return "\n".join([*lines, report.table(head, [cells for cells, _ in rows], left=2)])


def conditions(results: dict[str, Any], metric: str) -> str:
    """What the figures depend on."""
    runs = results["runs"]
    loads = [load for run in runs for load in run["load"][:1]]
    systems = [f"{name} ({version})" for name, version in sorted(results["versions"].items())]
    asked = runs[-1]["args"]
    busy = f"load average {min(loads):.1f} to {max(loads):.1f} when the runs began" if loads else ""
    noise = report.noise(results, metric)
    lone = "; a run on a quiet machine begins with a load below one" if loads and max(loads) > 1 else ""
    seeded = f", seed {asked['seed']}" if asked.get("seed") is not None else ""
    said = [
        f"{'Processor' if metric == 'cpu' else 'Wall'} time, one thread, on {runs[-1].get('processors', '?')} processors of a "
        f"virtual machine ({busy}{lone}), Python {runs[-1]['python']}, {asked['rounds']} round{'s' * (asked['rounds'] > 1)}, {asked['scale']:g} times the default rows{seeded}.",
        f"Repeats of a cell differ by {noise:.1%} in the median." if noise is not None else "",
        f"Systems: {', '.join(systems)}.",
    ]
    return "\n".join(filter(None, said))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=Path)
    parser.add_argument("--results", type=Path, help="of benchmarks.run on the generated data")
    parser.add_argument("--real", type=Path, help="of benchmarks.run --datasets real")
    parser.add_argument("--growth", type=Path, help="of benchmarks.growth")
    parser.add_argument("--threads", type=Path, help="of benchmarks.threads")
    parser.add_argument("--metric", choices=("cpu", "wall"), default="cpu")
    asked = parser.parse_args()
    text = asked.page.read_text()
    for file, prefix in ((asked.results, ""), (asked.real, "real-")):
        if file:
            results = json.loads(file.read_text())
            text = fill(text, f"{prefix}conditions", conditions(results, asked.metric))
            text = fill(text, f"{prefix}standing", standing(results, asked.metric))
            text = fill(text, f"{prefix}tables", report.markdown(results, metric=asked.metric))
    if asked.threads:
        text = fill(text, "threads", threads.markdown(json.loads(asked.threads.read_text())))
    if asked.growth:
        points = json.loads(asked.growth.read_text())["points"]
        growth.draw(points, asked.page.parent / "pictures")
        text = fill(text, "growth", growth.markdown(points))
    asked.page.write_text(text)


if __name__ == "__main__":
    main()
