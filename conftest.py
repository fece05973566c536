"""What do the examples in docstrings find around them?"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import amudai


@pytest.fixture(autouse=True)
def _as_a_user_at_the_root(
    request: pytest.FixtureRequest, doctest_namespace: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Examples know `amudai` and `pa`, and name files from the root of the repository; tests are left alone."""
    if isinstance(request.node, pytest.DoctestItem):
        doctest_namespace.update(amudai=amudai, pa=pa)
        monkeypatch.chdir(request.config.rootpath)
