"""The table of `docs/engines.md` about Ray and Daft is what the receipts of scans say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import amudai
from tests.interop import tables
from tests.interop.page import START, check_table, is_pushed

pytest.importorskip("ray.data", reason="Ray Data is not installed: pip install 'amudai[ray]'")
daft = pytest.importorskip("daft", reason="Daft is not installed: pip install 'amudai[daft]'")

pytestmark = [pytest.mark.slow, pytest.mark.source]

BEGIN, END = "<!-- pushed down by clusters -->\n", "<!-- /pushed down by clusters -->\n"
# The conditions of the other table, for engines that have no SQL that reaches a source.
RAY: dict[str, str] = {
    "`status = 500`": "col('status') == 500",
    "`status < 500`": "col('status') < 500",
    "`status BETWEEN 404 AND 500`": "(col('status') >= 404) & (col('status') <= 500)",
    "`status IN (500, 503)`": "col('status').is_in([500, 503])",
    "`NOT (status < 500)`": "~(col('status') < 500)",
    "`level IS NULL`": "col('level').is_null()",
    "`level = 'warn'`": "col('level') == 'warn'",
    "OR over two columns": "(col('status') == 500) | (col('level') == 'warn')",
    "a range of times": "col('ts') >= START",
    "a member of a struct": "col('http').struct.field('code') == 3",
    "a float, `ms < 1`": "col('ms') < 1",
    "a float, `ms > 1`": "col('ms') > 1",
    "text begins with": "col('message').str.starts_with('retry')",
    "text contains": "col('message').str.contains('retry')",
    "text contains, in any case": "col('message').str.contains('retry', ignore_case=True)",
    "a regular expression": "col('message').str.match_regex('re.ry')",
    "`status + 1 = 501`": "col('status') + 1 == 501",
}
DAFT: dict[str, str] = {
    **RAY,
    "a member of a struct": "col('http').get('code') == 3",
    "text begins with": "col('message').startswith('retry')",
    "text contains": "col('message').contains('retry')",
    "text contains, in any case": "col('message').ilike('%retry%')",
    "a regular expression": "col('message').regexp('re.ry')",
}


def by_ray(shard: amudai.Shard, condition: str, col: Any) -> str:
    from amudai.interop.ray_data import AmudaiDatasource

    expression = eval(condition, {"col": col, "START": START})
    if not expression._is_pyarrow_convertible():
        return "no"  # Ray keeps the filter
    source = AmudaiDatasource(shard).apply_predicate(expression)
    found = sum(block.num_rows for task in source.get_read_tasks(1) for block in task())
    assert found == tables.logs().filter(expression.to_pyarrow()).num_rows
    return "yes" if is_pushed(source._rows) else "no"


def by_daft(shard: amudai.Shard, condition: str, monkeypatch: pytest.MonkeyPatch) -> str:
    from amudai.interop import daft_source, read_daft

    seen: list[Any] = []
    read = daft_source.from_daft
    monkeypatch.setattr(daft_source, "from_daft", lambda *asked: seen.append(read(*asked)) or seen[-1])
    expression = eval(condition, {"col": daft.col, "START": START})
    found = read_daft(shard).where(expression).select("id").to_pydict()["id"]
    monkeypatch.setattr(daft_source, "from_daft", read)
    assert found == daft.from_arrow(tables.logs()).where(expression).select("id").to_pydict()["id"]
    return "yes" if any(each is not None for each in seen) else "no"


def test_the_table_says_what_ray_and_daft_push_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ray.data.expressions import col

    shard = tables.shard_of(tables.logs(), tmp_path)
    lines = ["| condition | Ray Data | Daft |", "|---|---|---|"]
    for kind, condition in RAY.items():
        cells = [by_ray(shard, condition, col), by_daft(shard, DAFT[kind], monkeypatch)]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    check_table(lines, BEGIN, END)
