"""What can be noted about columns and stripes?"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import amudai

SCHEMA = pa.schema(
    [("status", pa.int64()), ("http", pa.struct([("url", pa.string()), ("tags", pa.list_(pa.string()))]))]
)
ROWS = {"status": [200, 404], "http": [{"url": "/", "tags": ["a"]}, None]}


@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_fields_keep_what_is_noted(tmp_path: Path, layout: str) -> None:
    noted = {"status": {"unit": "code", "width": 3}, "http.url": {"kind": "path"}, "http.tags.item": {"sorted": True}}
    target = tmp_path / "t.amudai.shard"
    with amudai.ShardWriter(target, SCHEMA, layout=layout, field_properties=noted) as out:  # type: ignore[arg-type]
        out.write(ROWS)
        out.end_stripe()
        out.write(ROWS)
    shard = amudai.open(target)
    assert shard.num_rows == 4
    for path, properties in noted.items():
        assert shard[path].properties == properties
    assert shard["http"].properties == {}


def test_a_path_that_leads_nowhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(amudai.InvalidArgument, match="htpp"):
        amudai.ShardWriter(tmp_path / "t.amudai.shard", SCHEMA, field_properties={"htpp.url": {}})
    assert list(tmp_path.iterdir()) == []


def test_stripes_end_where_the_caller_says(tmp_path: Path) -> None:
    target = tmp_path / "t.amudai.shard"
    with amudai.ShardWriter(target, SCHEMA) as out:
        out.end_stripe({"lost": True})  # no rows yet
        out.write(ROWS)
        assert out.end_stripe({"day": "Monday", "hours": 24}) is None  # type: ignore[func-returns-value]
        out.end_stripe()
        out.write(ROWS)
        out.write(ROWS)
    stripes = amudai.open(target).stripes
    assert [stripe.num_rows for stripe in stripes] == [2, 4]
    assert [stripe.properties for stripe in stripes] == [{"day": "Monday", "hours": 24}, {}]
    with pytest.raises(amudai.InvalidArgument, match="after"):
        out.end_stripe()
