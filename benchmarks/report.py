"""Turns results.json into Markdown:  python -m benchmarks.report results.json [--base parquet-zstd] [--metric wall|cpu]"""

from __future__ import annotations

import argparse
import json

BASE = "parquet-zstd"


def best(cell, metric):
    i = 0 if metric == "wall" else 1
    return min((r[i] for r in cell.get("runs", [])), default=None)


def _fmt(v):
    if v >= 100:
        return f"{v:,.0f}"
    return f"{v:.1f}" if v >= 10 else (f"{v:.2f}" if v >= 0.1 else f"{v:.3f}")


def _time(s):
    return f"{s:.2f} s" if s >= 1 else (f"{s * 1e3:.0f} ms" if s >= 0.01 else f"{s * 1e3:.2f} ms")


def _table(head, rows):
    return "\n".join(
        ["| " + " | ".join(head) + " |", "|" + "|".join(["---"] + ["---:"] * (len(head) - 1)) + "|"]
        + ["| " + " | ".join(r) + " |" for r in rows]
    )


def markdown(res, base=BASE, metric="wall"):
    cells, out = res["cells"], []
    order = list(dict.fromkeys(k.split("|")[1] for k in cells))
    order = [base] * (base in order) + sorted(o for o in order if o != base)

    def get(ds, s, th, w):
        return cells.get(f"{ds}|{s}|{th}|{w}")

    for ds, info in res["datasets"].items():
        for th in ("1", "0"):
            works = list(
                dict.fromkeys(k.split("|")[3] for k in cells if k.startswith(ds + "|") and k.split("|")[2] == th)
            )
            works = [w for w in works if w != "verify"]
            if not works:
                continue
            label = "1 thread" if th == "1" else "default threads"
            out.append(
                f"\n### {ds} — {info['rows']:,} rows x {info['columns']} columns, "
                f"{info['nbytes'] / 1e6:,.0f} MB as Arrow — {label}\n"
            )
            groups = [
                (
                    "",
                    [
                        w
                        for w in works
                        if w
                        in (
                            "write",
                            "open_schema",
                            "open_schema+hot",
                            "scan_all",
                            "scan_same",
                            "scan_2",
                            "scan_2+hot",
                            "rss_write",
                            "rss_scan",
                        )
                    ],
                ),
                (
                    "Column decode, GB/s of Arrow bytes (x: times faster than the base)",
                    [w for w in works if w.startswith("decode:")],
                ),
                (
                    "Take, filter, search: time (x: times faster than the base)",
                    [w for w in works if w.startswith(("take", "filter", "search", "contains"))],
                ),
            ]
            for title, ws in groups:
                if not ws:
                    continue
                if title:
                    out.append(f"\n{title}\n")
                head, rows = ["system"], []
                if not title and "write" in ws:
                    head += ["size MB", "of Arrow", "of base"]
                head += [w.replace("decode:", "") for w in ws]
                for s in order:
                    row, any_ = [s], False
                    if not title and "write" in ws:
                        c, b = get(ds, s, th, "write"), get(ds, base, th, "write")
                        if c and "size" in c:
                            any_ = True
                            row += [
                                f"{c['size'] / 1e6:,.1f}",
                                f"{c['size'] / info['nbytes']:.3f}",
                                f"{c['size'] / b['size']:.2f}" if b and "size" in b else "",
                            ]
                        else:
                            row += ["", "", ""]
                    for w in ws:
                        c, b = get(ds, s, th, w), get(ds, base, th, w)
                        if not c:
                            row.append("")
                            continue
                        if w.startswith("rss_"):
                            row.append(f"{c['peak_rss'] / 1e6:,.0f} MB" if "peak_rss" in c else "")
                            continue
                        t, tb = best(c, metric), best(b, metric) if b else None
                        if t is None:
                            row.append("error" if "error" in c else "-")
                            continue
                        any_ = True
                        x = f" ({_fmt(tb / t)}x)" if tb else ""
                        if w in ("write", "scan_all", "scan_same"):
                            row.append(f"{info['nbytes'] / 1e6 / t:,.0f} MB/s{x}")
                        elif w.startswith("decode:"):
                            row.append(_fmt(info["decode_nbytes"][w[7:]] / 1e9 / t) + x)
                        else:
                            row.append(_time(t) + x)
                    if any_:
                        rows.append(row)
                out.append(_table(head, rows))
    bad = [f"{k}: {c['bad']}" for k, c in cells.items() if c.get("bad")]
    done = [k.split("|") for k, c in cells.items() if k.endswith("|verify") and "bad" in c]
    sets = sorted({d for d, *_ in done})
    out.append(
        f"\nRound trip (every column compared with the source), checked in {len(done)} system x data set pairs "
        f"({', '.join(sets) or 'none'}): " + ("all equal." if not bad else "DIFFERS: " + "; ".join(bad))
    )
    odd = mismatches(cells)
    if odd:
        out.append("Answers that differ between systems: " + "; ".join(odd))
    errs = [
        f"{k}: {c.get('error') or c.get('unsupported')}"
        for k, c in cells.items()
        if c.get("error") or c.get("unsupported")
    ]
    if errs:
        out.append("\nNot done: \n" + "\n".join("- " + e for e in errs))
    return "\n".join(out)


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
            odd.append(f"{k} {val} vs {seen[key][1]} {seen[key][0]}")
        seen.setdefault(key, (val, s))
    return odd


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("results")
    ap.add_argument("--base", default=BASE)
    ap.add_argument("--metric", default="wall")
    a = ap.parse_args()
    print(markdown(json.load(open(a.results)), a.base, a.metric))
