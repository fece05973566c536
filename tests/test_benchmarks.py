"""Do the benchmarks still run? What they say is for people to read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks import exports, term_index


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
