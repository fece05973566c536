"""What all tests and the examples in docstrings find around them."""

from __future__ import annotations

import os
from typing import Any

import pyarrow as pa
import pytest

import amudai
from tests import effort

effort.load_profile()

# Shards say when they were created. With this time, the same input and options give the same bytes.
os.environ["SOURCE_DATE_EPOCH"] = "1767225600"  # 2026-01-01


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
