"""Turns results.json into Markdown:  python -m benchmarks.report results.json [--base parquet-zstd] [--metric wall|cpu]"""

from __future__ import annotations

import argparse
import json
from statistics import median

BASE = "parquet-zstd"
SPEEDS = ("write", "scan_all", "scan_same")
"""Works that are given in MB/s of the Arrow table."""


def best(cell, metric):
    i = 0 if metric == "wall" else 1
    return min((r[i] for r in cell.get("runs", [])), default=None)


def spread(cell, metric):
    """How much the best times of the rounds of a cell differ; of the halves of its runs if there was one round."""
    i = 0 if metric == "wall" else 1
    runs = cell.get("runs", [])
    rounds = {}
    for r in runs:
        rounds.setdefault(r[2] if len(r) > 2 else 0, []).append(r[i])
    if len(rounds) == 1:
        (times,) = rounds.values()
        rounds = {0: times[: len(times) // 2], 1: times[len(times) // 2 :]}
    found = [min(times) for times in rounds.values() if times]
    return max(found) / min(found) - 1 if len(found) > 1 and min(found) > 0 else None


def noise(res, metric):
    """The median of what the rounds of cells differ by; None if nothing was repeated."""
    found = [each for each in (spread(cell, metric) for cell in res["cells"].values()) if each is not None]
    return median(found) if found else None


def number(v):
    if v >= 100:
        return f"{v:,.0f}"
    return f"{v:.1f}" if v >= 10 else (f"{v:.2f}" if v >= 0.1 else f"{v:.3f}")


def _time(s):
    return f"{s:.2f} s" if s >= 1 else (f"{s * 1e3:.0f} ms" if s >= 0.01 else f"{s * 1e3:.2f} ms")


def table(head, rows, left=1):
    return "\n".join(
        ["| " + " | ".join(head) + " |", "|" + "|".join(["---"] * left + ["---:"] * (len(head) - left)) + "|"]
        + ["| " + " | ".join(r) + " |" for r in rows]
    )


def _groups(works):
    """Titles and works of the tables of a data set."""
    decode = [w for w in works if w.startswith("decode:")]
    asked = [w for w in works if w.startswith(("take", "filter", "search", "contains"))]
    rest = [w for w in works if w not in decode and w not in asked]
    return [
        ("", rest),
        ("Column decode, GB/s of Arrow bytes (x: times faster than the base)", decode),
        ("Take, filter, search: time (x: times faster than the base)", asked),
    ]


def markdown(res, base=BASE, metric="wall"):
    cells, out = res["cells"], []
    order = list(dict.fromkeys(k.split("|")[1] for k in cells))
    order = [base] * (base in order) + sorted(o for o in order if o != base)

    def get(ds, s, th, w):
        return cells.get(f"{ds}|{s}|{th}|{w}")

    def shown(info, c, b, w):
        t, tb = best(c, metric), best(b, metric) if b else None
        if t is None:
            return "error" if "error" in c else "-"
        x = f" ({number(tb / t)}x)" if tb else ""
        if w in SPEEDS:
            return f"{info['nbytes'] / 1e6 / t:,.0f} MB/s{x}"
        if w.startswith("decode:"):
            return number(info["decode_nbytes"][w[7:]] / 1e9 / t) + x
        return _time(t) + x

    for ds, info in res["datasets"].items():
        for th in ("1", "0"):
            works = dict.fromkeys(k.split("|")[3] for k in cells if k.startswith(ds + "|") and k.split("|")[2] == th)
            works = [w for w in works if w != "verify" and not w.startswith("rss_")]
            if not works:
                continue
            label = "1 thread" if th == "1" else "default threads"
            out.append(
                f"\n### {ds} — {info['rows']:,} rows x {info['columns']} columns, "
                f"{info['nbytes'] / 1e6:,.0f} MB as Arrow — {label}\n"
            )
            for title, ws in _groups(works):
                if not ws:
                    continue
                if title:
                    out.append(f"\n{title}\n")
                sized = not title and "write" in ws
                head = ["system", *["size MB", "of Arrow", "of base"][: 3 * sized]]
                head += [w.replace("decode:", "") for w in ws]
                rows = []
                for s in order:
                    row = [s]
                    if sized:
                        c, b = get(ds, s, th, "write"), get(ds, base, th, "write")
                        size = (c or {}).get("size")
                        row += (
                            [
                                f"{size / 1e6:,.1f}",
                                f"{size / info['nbytes']:.3f}",
                                f"{size / b['size']:.2f}" if b and "size" in b else "",
                            ]
                            if size
                            else ["", "", ""]
                        )
                    row += [shown(info, c, get(ds, base, th, w), w) if (c := get(ds, s, th, w)) else "" for w in ws]
                    if any(row[1:]):
                        rows.append(row)
                out.append(table(head, rows))
            known = [w for w in works if any("peak" in (get(ds, s, th, w) or {}) for s in order)]
            if known:
                out.append("\nPeak of memory above the start, MB, the result included\n")
                rows = [[s, *(_peak(get(ds, s, th, w)) for w in known)] for s in order]
                out.append(
                    table(["system", *(w.replace("decode:", "") for w in known)], [r for r in rows if any(r[1:])])
                )
    bad = [f"{k}: {c['bad']}" for k, c in cells.items() if c.get("bad")]
    done = [k.split("|") for k, c in cells.items() if k.endswith("|verify") and "bad" in c]
    sets = sorted({d for d, *_ in done})
    out.append(
        f"\nRound trip (every column compared with the source), checked in {len(done)} system x data set pairs "
        f"({', '.join(sets) or 'none'}): " + ("all equal." if not bad else "DIFFERS: " + "; ".join(bad))
    )
    odd = mismatches(cells)
    if odd:
        out.append("\nAnswers that differ between systems: " + "; ".join(odd))
    errs = [
        f"{k.replace('|', ' ')}: {c.get('error') or c.get('unsupported')}"
        for k, c in cells.items()
        if c.get("error") or c.get("unsupported")
    ]
    if errs:
        out.append("\nNot done:\n\n" + "\n".join("- " + " ".join(e.split()) for e in errs))
    return "\n".join(out)


def _peak(cell):
    return f"{cell['peak'] / 1e6:,.0f}" if cell and "peak" in cell else ""


def mismatches(cells):
    """Same work, different row count or checksum -> a peer answered something else."""
    seen, odd = {}, []
    for k, c in cells.items():
        ds, s, th, w = k.split("|")
        if "rows" not in c or w == "write":
            continue
        key = (ds, w.removesuffix("+hot"))
        val = (c["rows"], c.get("check"))
        if key in seen and seen[key][0] != val:
            odd.append(f"{k.replace('|', ' ')} {val} vs {seen[key][1]} {seen[key][0]}")
        seen.setdefault(key, (val, s))
    return odd


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("results")
    ap.add_argument("--base", default=BASE)
    ap.add_argument("--metric", default="wall")
    a = ap.parse_args()
    with open(a.results) as f:
        print(markdown(json.load(f), a.base, a.metric))
