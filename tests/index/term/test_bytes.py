"""Terms of bytes and GUIDs: found by the index as by a look at every value."""

from __future__ import annotations

import uuid
from pathlib import Path

import pyarrow as pa
import pytest

import amudai
from amudai import col

IDS = [uuid.UUID(int=at * 7919**8 % 2**128) for at in range(300)]
RAW: list[bytes | None] = [f"line {at} from Host{at % 7} ä{at}".encode() for at in range(298)] + [
    b"\xff\xfe host1",
    None,
]


def table() -> pa.Table:
    ids = pa.array([each.bytes for each in IDS[:-1]] + [None], pa.uuid())
    raw = pa.array(RAW, pa.binary())
    both = pa.array([[each] if at % 2 else [] for at, each in enumerate(RAW)], pa.list_(pa.large_binary()))
    return pa.table({"id": ids, "raw": raw, "coded": raw.dictionary_encode(), "many": both})


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> amudai.Shard:
    indexes = [
        amudai.TermIndex("id", tokenizer="trivial"),
        amudai.TermIndex("raw", "coded", "many", tokenizer=["log", "word", "word"]),
    ]
    place = tmp_path_factory.mktemp("bytes") / "a.amudai.shard"
    return amudai.write(table(), place, indexes=indexes, stripe_rows=128)


def texts(column: str) -> list[str | None]:
    """The values as text; None for those that are none."""
    if column == "id":
        return [*map(str, IDS[:-1]), None]
    found: list[str | None] = []
    for value in RAW:
        try:
            found.append(None if value is None else value.decode())
        except UnicodeDecodeError:
            found.append(None)
    return found


def rows(shard: amudai.Shard, where: amudai.Predicate) -> tuple[list[int], str]:
    found = shard.scan(where=where)
    return found.positions().tolist(), str(found.explain())


@pytest.mark.parametrize("column", ["raw", "coded"])
def test_words_in_bytes(shard: amudai.Shard, column: str) -> None:
    known = texts(column)
    found, said = rows(shard, col(column).has("host1"))
    assert found == [at for at, text in enumerate(known) if text is not None and "Host1 " in text]
    assert "term index" in said
    assert rows(shard, col(column).has_cs("host1"))[0] == []
    assert rows(shard, col(column).has("ä7"))[0] == [7]
    # Bytes that are no text match nothing, so their negation is true. A null is neither.
    other = rows(shard, ~col(column).has("host1"))[0]
    assert other == [at for at in range(299) if at not in found]
    for where in (col(column).startswith_cs("line 4"), col(column).startswith("LINE 4")):
        assert rows(shard, where)[0] == [4, *range(40, 50)]
    assert rows(shard, col(column).matches(r"^line \d from Host2"))[0] == [2, 9]
    assert rows(shard, col(column) == RAW[5])[0] == [5]
    assert rows(shard, col(column).isin([RAW[5], RAW[298]]))[0] == [5, 298]
    assert rows(shard, col(column).like("line 8 from Host1 ä8"))[0] == [8]


def test_items_of_lists(shard: amudai.Shard) -> None:
    assert rows(shard, col("many").has("ä9"))[0] == [9]
    assert rows(shard, col("many").has("ä8"))[0] == []


def test_guids(shard: amudai.Shard) -> None:
    text = str(IDS[3])
    for where in (col("id") == IDS[3], col("id").startswith(text[:9]), col("id").iequals(text.upper())):
        found, said = rows(shard, where)
        assert found == [3]
        assert "term index" in said, said
        assert "1 match by evidence, 0 to be checked" in said, said
    assert rows(shard, col("id").contains(text[20:]))[0] == [3]
    assert rows(shard, col("id").has(text[:8]))[0] == [3]
    assert rows(shard, col("id").has_cs(text[:8].upper() + "A"))[0] == []


def test_what_is_stored_is_true(shard: amudai.Shard, tmp_path: Path) -> None:
    assert shard.verify(deep=True).ok
    terms = shard["id"].terms(prefix="00000", limit=None)
    assert terms["term"].to_pylist() == sorted(str(each) for each in IDS[:-1] if str(each).startswith("00000"))
    both = amudai.merge(
        [shard, amudai.copy(shard, tmp_path / "b.amudai.shard")], tmp_path / "c.amudai.shard", allow=["/"]
    )
    assert rows(both, col("raw").has("ä7"))[0] == [7, 307]


def test_search_takes_columns_of_bytes(shard: amudai.Shard) -> None:
    assert shard.search("ä11", within=["raw"]).positions().tolist() == [11]
