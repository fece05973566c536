"""Fixtures for the server: a folder of shards."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="starlette is not installed: pip install 'amudai[serve]'")
pytest.importorskip("duckdb_kql", reason="duckdb-kql is not installed: pip install 'amudai[kql]'")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.web.places import make_folder

    return make_folder(tmp_path_factory.mktemp("served"))
