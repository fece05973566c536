"""Do the benchmarks still run? What they say is for people to read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import compaction, compare, deletes, exports, extremes, merging, packed, term_index


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
    assert said == ["metadata", *(["merge", *["has"] * 3, "rebuild", *["has"] * 3])]


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


def test_changes_beyond_the_noise_are_named() -> None:
    def results(scan: list[float], slower: float = 1.0, size: int = 1000) -> dict[str, object]:
        base = [[time * slower, time * slower] for time in (0.50, 0.51, 0.50, 0.52)]
        ours = [[time * slower, time * slower] for time in scan]
        return {
            "cells": {
                "logs|parquet-zstd|1|scan": {"runs": base},
                "logs|amudai|1|scan": {"runs": ours},
                "logs|amudai|1|write": {"runs": [], "size": size},
            }
        }

    old = results([0.100, 0.104, 0.101, 0.102])
    assert compare.changes(old, results([0.102, 0.101, 0.103, 0.102], slower=3.0, size=1000)) == []
    ((cell, what, before, after, noise),) = compare.changes(old, results([0.081, 0.080, 0.080, 0.083], slower=3.0))
    assert (cell, what, noise) == ("logs|amudai|1|scan", "cpu", compare.LEAST_NOISE)
    assert after / before == pytest.approx(0.8)
    # Runs that differ by a third among each other prove nothing.
    assert compare.changes(old, results([0.080, 0.083, 0.110, 0.107])) == []
    ((_, what, *_),) = compare.changes(old, results([0.100, 0.104, 0.101, 0.102], size=1100))
    assert what == "size"
    assert "+10.0%" in compare.markdown(compare.changes(old, results([0.100, 0.104, 0.101, 0.102], size=1100)))
