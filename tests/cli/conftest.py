"""What do the tests of the command line work on?"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest

import amudai

ROWS = 1000


@pytest.fixture
def interruptible() -> Iterator[None]:
    """A shell starts background jobs with interrupts ignored, and the processes that they start inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def table() -> pa.Table:
    """Log records: every seventh has failed, and one has a word that no other has."""
    return pa.table(
        {
            "ts": pa.array(
                [datetime(2026, 1, 1, 10, row // 60 % 60, row % 60) for row in range(ROWS)], pa.timestamp("us")
            ),
            "level": ["error" if row % 7 == 0 else "info" for row in range(ROWS)],
            "status": pa.array([500 + row % 3 if row % 7 == 0 else 200 for row in range(ROWS)], pa.int32()),
            "trace_id": [f"{row * 2654435761 % 2**32:08x}" for row in range(ROWS)],
            "message": [
                f"request {row} {'Failed: read timeout' if row % 7 == 0 else 'done'}{' unicorn' if row == 321 else ''}"
                for row in range(ROWS)
            ],
            "http": [{"path": f"/v{row % 4}", "size": row} if row % 5 else None for row in range(ROWS)],
        }
    )


@pytest.fixture(scope="session")
def shard(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """These records, with an index of words."""
    path = tmp_path_factory.mktemp("cli") / "logs.amudai.shard"
    amudai.write(table, path, indexes=[amudai.TermIndex("message")], stripe_rows=600, properties={"owner": "ops"})
    return path
