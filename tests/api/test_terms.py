"""The terms of a column and their frequencies, from its indexes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pytest

import amudai
from amudai import InvalidArgument, TermIndex, col

WORDS = ["disk", "Disk", "full", "failed", "timeout", "ok", "größe", "x9"]
ROWS = [" ".join(WORDS[at * step % 8] for step in range(at % 4)) or None for at in range(900)]
TAGS = [[WORDS[at % 8], WORDS[at % 3]] for at in range(900)]
TABLE = pa.table({"message": ROWS, "tags": TAGS})


def counted(texts: Iterable[str | None], prefix: str = "") -> list[tuple[str, int]]:
    found: Counter[str] = Counter()
    for text in texts:
        found.update(set(re.findall(r"\w+", text or "")))
    known = [(term, rows) for term, rows in found.items() if term.casefold().startswith(prefix.casefold())]
    return sorted(known, key=lambda pair: (-pair[1], pair[0].encode()))


def pairs(table: pa.Table) -> list[tuple[str, int]]:
    assert all(table.column("exact").to_pylist())
    return list(zip(table.column("term").to_pylist(), table.column("rows").to_pylist(), strict=True))


@pytest.mark.parametrize("level", ["shard", "stripe"])
@pytest.mark.parametrize("granularity", ["record", "element"])
def test_terms_and_their_rows(tmp_path: Path, level: str, granularity: str) -> None:
    index = TermIndex("message", "tags", level=level, granularity=granularity)
    shard = amudai.write(TABLE, tmp_path / "a.amudai.shard", indexes=[index], stripe_rows=400)
    expected = counted(ROWS)
    assert pairs(shard["message"].terms()) == expected
    assert pairs(shard["message"].terms(limit=3)) == expected[:3]
    assert pairs(shard["message"].terms("DI")) == counted(ROWS, "di")
    assert pairs(shard["message"].terms("nothing")) == []
    assert pairs(shard["tags"].terms()) == pairs(shard["tags.item"].terms()) == counted(map(" ".join, TAGS))


def test_terms_after_edits(tmp_path: Path) -> None:
    first = amudai.write(TABLE, tmp_path / "a.amudai.shard", indexes=[TermIndex("message")])
    second = amudai.delete(first, where=col("message").has("full"), to=tmp_path / "b.amudai.shard")
    assert pairs(second["message"].terms()) == counted(ROWS)  # deleted rows count
    for how in ("merge", "keep"):
        merged = amudai.merge([first, second], tmp_path / f"{how}.amudai.shard", indexes=how)
        assert pairs(merged["message"].terms(limit=5)) == counted([*ROWS, *ROWS])[:5]
    compacted = amudai.compact(second, tmp_path / "c.amudai.shard")
    assert pairs(compacted["message"].terms()) == counted(text for text in ROWS if "full" not in (text or "").split())


def test_rough_lists_give_the_most_that_a_number_may_be(tmp_path: Path) -> None:
    rows = [f"common w{at * 7919 % 40}" for at in range(40_000)]
    exact = amudai.write({"m": rows}, tmp_path / "e.amudai.shard", indexes=[TermIndex("m")])
    size = exact.indexes[0].size
    assert size is not None
    rough = amudai.write({"m": rows}, tmp_path / "r.amudai.shard", indexes=[TermIndex("m", max_bytes=size * 3 // 4)])
    found = rough["m"].terms().to_pylist()
    true = dict(counted(rows))
    assert {each["term"] for each in found} == set(true)
    assert all(each["rows"] >= true[each["term"]] for each in found)
    assert all(each["rows"] == true[each["term"]] for each in found if each["exact"])
    assert not all(each["exact"] for each in found)


def test_without_an_index_of_all_rows_there_are_no_terms(tmp_path: Path) -> None:
    plain = amudai.write(TABLE, tmp_path / "plain.amudai.shard", indexes=[TermIndex("message")])
    other = amudai.write(TABLE, tmp_path / "other.amudai.shard")
    merged = amudai.merge([plain, other], tmp_path / "merged.amudai.shard", indexes="keep")
    for shard, name in ((plain, "tags"), (other, "message"), (merged, "message")):
        with pytest.raises(InvalidArgument, match=f"terms of '{name}': expected a term index of all rows, found none"):
            shard[name].terms()
    with pytest.raises(InvalidArgument, match="limit: expected"):
        plain["message"].terms(limit=-1)
