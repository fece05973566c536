"""Do the benchmarks still run? What they say is for people to read."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from benchmarks import (
    compaction,
    compare,
    datasets,
    deletes,
    exports,
    extremes,
    growth,
    growth_works,
    merging,
    packed,
    page,
    term_index,
)
from benchmarks.processes import Reporter


@pytest.mark.slow
def test_the_term_index_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AMUDAI_BENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["term_index", "--rows", "3000", "--seconds", "0"])
    term_index.main()
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said[:2]] == ["build", "size"]
    assert len(said) == 2 + len(term_index.QUESTIONS)


@pytest.mark.slow
def test_exports_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("duckdb")
    monkeypatch.setenv("AMUDAI_BENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["exports", "--rows", "3000", "--rounds", "1"])
    exports.main()
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["csv", "json"]


@pytest.mark.slow
def test_packed_groups_are_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["packed", "--rows", "3000", "--latency", "0", "--rounds", "1"])
    packed.main()
    assert len(capsys.readouterr().out.splitlines()) == 2 + len(packed.works(3000))


def test_extremes_are_measured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["extremes", "--rows", "6000", "--fields", "8"])
    extremes.main()
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[-1] for line in said if "verify" in line] == ["True", "True"]


@pytest.mark.slow
def test_deletes_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AMUDAI_BENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["deletes", "--rows", "3000", "--share", "0.01", "--rounds", "1"])
    monkeypatch.setattr(deletes, "WORKS", dict(list(deletes.WORKS.items())[-2:]))
    deletes.main()
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("delete 30 of 3,000 rows by position")
    assert [line.split("  ")[0] for line in said[2:]] == list(deletes.WORKS)


@pytest.mark.slow
def test_merges_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AMUDAI_BENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["merging", "--shards", "3", "--rows", "3000", "--parts", "2"])
    merging.main()
    said = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert said == ["metadata", "merge", *["has"] * 3, "rebuild", *["has"] * 3, "merging"]


@pytest.mark.slow
def test_compaction_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AMUDAI_BENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["compaction", "--rows", "3000", "--parts", "2"])
    compaction.main()
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("2 shards, ")
    assert [line.split("  ")[0].strip() for line in said[1:]] == ["as it is", "sorted", "indexed"]


def results(scan: list[list[float]], slower: float = 1.0, size: int = 1000) -> dict[str, Any]:
    """Two rounds of runs of ours, beside those of the base; all of a machine that is `slower`."""
    base = [[0.500, 0.502], [0.501, 0.503]]

    def runs(rounds: list[list[float]]) -> list[list[float]]:
        return [[time * slower, time * slower, at] for at, times in enumerate(rounds) for time in times]

    return {
        "cells": {
            "logs|parquet-zstd|1|scan_2": {"runs": runs(base), "peak": 5_000_000, "rows": 9},
            "logs|parquet-zstd|1|write": {"runs": runs(base), "size": 2000, "rows": 9},
            "logs|amudai|1|scan_2": {"runs": runs(scan), "peak": 3_000_000, "rows": 9},
            "logs|amudai|1|write": {"runs": runs(scan), "size": size, "rows": 9},
            "logs|vortex|1|scan_2": {"runs": [], "error": "RuntimeError: no"},
        },
        "datasets": {"logs": {"rows": 9, "columns": 2, "nbytes": 1000, "decode_nbytes": {}}},
        "versions": {"amudai": "amudai 0"},
        "runs": [{"load": [0.5, 0, 0], "args": {"rounds": 2, "scale": 1.0}, "python": "3.11", "processors": 2}],
    }


SCAN = [[0.100, 0.102], [0.101, 0.104]]


def test_changes_beyond_the_noise_are_named() -> None:
    old = results(SCAN)
    assert compare.changes(old, results([[0.102, 0.101], [0.102, 0.103]], slower=3.0)) == []
    faster = compare.changes(old, results([[0.081, 0.080], [0.080, 0.083]], slower=3.0))
    assert [(cell, what) for cell, what, *_ in faster] == [
        ("logs|amudai|1|scan_2", "cpu"),
        ("logs|amudai|1|write", "cpu"),
    ]
    assert [after / before for _, _, before, after, _ in faster] == [pytest.approx(0.8)] * 2
    # Rounds that differ by a third prove nothing, though the best of all runs is a fifth less.
    assert compare.changes(old, results([[0.080, 0.081], [0.107, 0.110]])) == []
    larger = compare.changes(old, results(SCAN, size=1100))
    assert [what for _, what, *_ in larger] == ["size"]
    assert "+10.0%" in compare.markdown(larger)


def test_the_noise_of_all_cells_counts_for_each() -> None:
    old, new = results(SCAN), results([[0.090, 0.091], [0.090, 0.092]])
    assert len(compare.changes(old, new)) == 2
    for number in range(9):
        old["cells"][f"taxi|duckdb|1|{number}"] = {"runs": [[1.0, 1.0, 0], [1.05, 1.05, 1]]}
    assert compare.changes(old, new) == []


def test_another_seed_makes_other_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMUDAI_BENCH_CACHE", str(tmp_path))
    usual, other = datasets.load("vectors", 50), datasets.load("vectors", 50, 7)
    assert usual.schema == other.schema
    assert usual["embedding"] != other["embedding"]
    assert other.equals(datasets.load("vectors", 50, 7))
    assert datasets.key_of("flights", 50, 7) == "flights-50"  # real data has no seed


def test_a_page_is_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, grown, filled = tmp_path / "results.json", tmp_path / "growth.json", tmp_path / "docs" / "page.md"
    file.write_text(json.dumps(results(SCAN)))
    points = [
        {"axis": "rows", "size": size, "work": work, "cpu": cpu, "wall": cpu, "peak": 10 * size}
        for size in (1000, 10_000)
        for work, cpu in (("write", size / 1e4), ("read all", (size / 1e4) ** 2))
    ]
    grown.write_text(json.dumps({"points": points}))
    filled.parent.mkdir()
    filled.write_text("".join(f"{place}\n<!-- {place} -->\nold\n<!-- /{place} -->\n" for place in page.PLACES))
    threads = tmp_path / "threads.json"
    threads.write_text(
        json.dumps(
            {
                "dataset": "logs",
                "rows": 1000,
                "threads": 2,
                "load": 0.25,
                "works": {"write": [[0.34, 0.3], [0.2, 0.33]]},
            }
        )
    )
    options = ["--results", str(file), "--real", str(file), "--growth", str(grown), "--threads", str(threads)]
    monkeypatch.setattr(sys, "argv", ["page", str(filled), *options])
    page.main()
    text = filled.read_text("utf-8")
    assert "old" not in text
    assert "| logs | scan_2 | **5.00** |  |  |  | parquet-zstd 1.00 | 3 | 5 |" in text
    assert "| logs | size | **0.50** |  |  |  | parquet-zstd 1.00 |  |  |" in text
    assert "We lead in 3 of 3 rows." in text
    assert "logs vortex 1 scan_2: RuntimeError: no" in text
    assert "| write | 340.0 | 200.0 | 1.70 | 1.10 |" in text
    assert "Faster than linear: rows: read all grows with the power 2.00." in text
    assert sorted(each.name for each in (tmp_path / "docs" / "pictures").iterdir()) == [
        "growth-rows-memory.svg",
        "growth-rows-time.svg",
    ]
    with pytest.raises(ValueError, match="expected one place growth, found 0"):
        page.fill("nothing", "growth", "")


@pytest.mark.source
def test_the_page_of_figures_has_its_places() -> None:
    text = (Path(__file__).parents[1] / "docs" / "performance.md").read_text("utf-8")
    for place in page.PLACES:
        content = text.partition(f"<!-- {place} -->")[2].partition(f"<!-- /{place} -->")[0]
        assert content.strip(), place
        columns = 0
        for line in content.splitlines():
            # Every row of a table has as many cells as its head.
            cells = line.count("|") if line.startswith("|") else 0
            assert not columns or not cells or cells == columns, line
            columns = cells
    for picture in re.findall(r"\]\((pictures/[\w.-]+)\)", text):
        ElementTree.parse(Path(__file__).parents[1] / "docs" / picture)


class Lines(Reporter):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.said: list[dict[str, object]] = []

    def say(self, **facts: object) -> None:
        self.said.append(facts)


SMALL = {"rows": 300, "columns": 2, "stripes": 2, "shards": 2, "matches": 100}
FOUND = {
    "rows": {"a rare word": 10, "a trace": 4, "read all": 300},
    "columns": {"two columns": 1000, "read all": 2},
    "stripes": {"a rare word": 10, "read all": 200},
    "shards": {"a rare word": 1, "a rare word, no catalog": 1, "a rare word, trusting": 1},
    "matches": {"read rows of a key|10": 10, "count rows of a word|10": 10, "positions of a word|100": 100},
}


@pytest.mark.slow
@pytest.mark.parametrize("axis", growth.SIZES)
def test_the_works_of_growth_find_what_was_written(axis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth_works, "STRIPE_ROWS_IN_ALL", 200)
    lines = Lines()
    growth_works.AXES[axis](growth_works.Meter(lines, 0), tmp_path, SMALL[axis], {"threads": 1})
    found = {line["work"]: line["found"] for line in lines.said if "work" in line}
    assert {work: found[work] for work in FOUND[axis]} == FOUND[axis]


@pytest.mark.slow
def test_growth_is_measured_in_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "growth.json"
    monkeypatch.setattr(
        sys, "argv", ["growth", "--axes", "rows", "--rows", "300", "--seconds", "0", "--out", str(file)]
    )
    growth.main()
    points = {point["work"]: point for point in json.loads(file.read_text())["points"]}
    assert points["a rare word"]["found"] == 10
    assert points["write"]["cpu"] > 0
    assert points["write"]["peak"] > 0
    assert points["process"]["maxrss"] > points["write"]["peak"]
