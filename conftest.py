"""What all tests and the examples in docstrings find around them."""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

import pyarrow as pa
import pytest

import amudai
from tests import effort

effort.load_profile()

# Shards say when they were created. With this time, the same input and options give the same bytes.
os.environ["SOURCE_DATE_EPOCH"] = "1767225600"  # 2026-01-01


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of a test with many cases, run as many as the effort allows, spread over all of them."""
    kept = effort.spread(items, [f"{item.location[0]}::{item.location[2].partition('[')[0]}" for item in items])
    left_out = set(items).difference(kept)
    if left_out:
        config.hook.pytest_deselected(items=[item for item in items if item in left_out])
        items[:] = kept


def pytest_collection_finish() -> None:
    """Let the garbage collector forget thousands of tests: it would look through all of them again and again."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """End the servers that tests have started. A worker of pytest-xdist ends without what `atexit` would do."""
    servers = sys.modules.get("tests.storage.servers")
    if servers is not None:
        servers.stop()


@pytest.fixture(autouse=True)
def _as_a_user_at_the_root(
    request: pytest.FixtureRequest, doctest_namespace: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Examples know `amudai` and `pa`, find the repository's `tests`, and write into a folder that goes away."""
    if isinstance(request.node, pytest.DoctestItem):
        doctest_namespace.update(amudai=amudai, pa=pa)
        folder = request.getfixturevalue("tmp_path")
        (folder / "tests").symlink_to(request.config.rootpath / "tests")
        monkeypatch.chdir(folder)
