"""Fixtures for the server: a folder of shards, and the threads of its queries."""

from __future__ import annotations

from pathlib import Path

import pytest

from amudai.web.workers import Workers

pytest.importorskip("starlette", reason="starlette is not installed: pip install 'amudai[serve]'")
pytest.importorskip("duckdb_kql", reason="duckdb-kql is not installed: pip install 'amudai[kql]'")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.web.places import make_folder

    return make_folder(tmp_path_factory.mktemp("served"))


@pytest.fixture
def workers(monkeypatch: pytest.MonkeyPatch) -> list[Workers]:
    """The workers of applications that the test makes."""
    found: list[Workers] = []

    def noted(most: int, seconds: float) -> Workers:
        found.append(Workers(most, seconds))
        return found[-1]

    monkeypatch.setattr("amudai.web.app.Workers", noted)
    return found
