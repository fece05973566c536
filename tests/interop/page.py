"""The tables of `docs/engines.md`, which tests make of the receipts of scans.

With `AMUDAI_WRITE_ENGINES=1` the tests write their tables anew: `pytest tests/interop/test_engines_page.py` that of the
engines on one machine, `make clusters` that of Ray and Daft.
"""

from __future__ import annotations

import datetime as dt
import os
from pathlib import Path

from amudai.api import ArrowDataset

PAGE = Path(__file__).parents[2] / "docs" / "engines.md"
START = dt.datetime(2026, 1, 1, 3)


def is_pushed(rows: ArrowDataset) -> bool:
    return any(scan.explain().where != "True" for scan in rows.scans)


def check_table(lines: list[str], begin: str, end: str) -> None:
    """Compare a table with that of the page, or write it there."""
    table = "".join(f"{line}\n" for line in lines)
    before, _, rest = PAGE.read_text().partition(begin)
    old, _, after = rest.partition(end)
    if os.environ.get("AMUDAI_WRITE_ENGINES"):
        PAGE.write_text(f"{before}{begin}{table}{end}{after}")
    else:
        assert old == table
