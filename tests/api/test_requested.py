"""Statistics on request: distinct counts and Bloom filters of every type, and bounds of long decimals."""

from __future__ import annotations

import operator
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai import AmudaiError, InvalidArgument, col
from amudai.stats import sketching
from tests.effort import examples

START = datetime(2026, 1, 1, tzinfo=UTC)
ROWS = 600
# Values that lie far apart in every stripe, so that bounds do not decide.
ORDER = [at * 7919 % ROWS for at in range(ROWS)]
TABLE = pa.table(
    {
        "id": pa.array(ORDER, pa.int64()),
        "half": pa.array([at / 2 for at in ORDER], pa.float32()),
        "flag": [True] * ROWS,
        "price": pa.array([Decimal(at) / 4 for at in ORDER], pa.decimal128(10, 2)),
        "long": pa.array([Decimal(at) / 4 for at in ORDER], pa.decimal128(38, 2)),
        "at": pa.array([START + timedelta(seconds=at) for at in ORDER], pa.timestamp("us", "UTC")),
        "fine": pa.array([1_700_000_000_000_000_000 + 3737 * at for at in ORDER], pa.timestamp("ns")),
        "name": [f"n{at}" for at in ORDER],
        "level": ["info", "warn", None] * (ROWS // 3),
        "http": [{"status": at, "tags": [at, at + ROWS]} for at in ORDER],
    }
)
PATHS = ["id", "half", "flag", "price", "long", "at", "fine", "name", "level", "http.status", "http.tags.item"]
VALUES: dict[str, Any] = {
    "id": 77,
    "half": 38.5,
    "price": Decimal("19.25"),
    "long": Decimal("19.25"),
    "at": START + timedelta(seconds=77),
    "fine": 1_700_000_000_000_000_000 + 3737 * 77,
    "name": "n77",
    "http.status": 77,
    "http.tags": 77,
}


def written(folder: Path, name: str = "all", **options: Any) -> amudai.Shard:
    return amudai.write(TABLE, folder / f"{name}.amudai.shard", stripe_rows=200, **options)


def wanted(path: str) -> amudai.Predicate:
    value = VALUES[path]
    return col(path).isin([pa.scalar(value, pa.timestamp("ns")) if path == "fine" else value])


def test_filters_of_every_type_rule_stripes_out(tmp_path: Path) -> None:
    shard = written(tmp_path, bloom=dict.fromkeys(PATHS, 0.0001))
    at = ORDER.index(77)
    for path in VALUES:
        scan = shard.scan(["id"], where=wanted(path))
        assert scan.to_table().column("id").to_pylist() == [77], path
        (leaf,) = scan.explain().leaves
        ruled = {step.evidence: step.ruled_out for step in leaf.notes}
        assert ruled.get("bloom filter") == ROWS - 200, (path, ruled)
        stats = shard.stripes[at // 200][path].stats if path != "http.tags" else None
        assert stats is None or (stats.bloom_filter and stats.bloom_filter.target_fpp == 0.0001)
    assert shard.verify(deep=True).ok


def test_a_smaller_share_makes_a_larger_filter(tmp_path: Path) -> None:
    sizes = [
        len(written(tmp_path, str(share), bloom={"id": share}).stripes[0]["id"].stats.bloom_filter.data)  # type: ignore[union-attr]
        for share in (0.1, 0.001)
    ]
    assert sizes[0] < sizes[1]
    assert written(tmp_path, "listed", bloom=["id"]).stripes[0]["id"].stats.bloom_filter.target_fpp == 0.01  # type: ignore[union-attr]


def test_distinct_values_are_counted_on_request(tmp_path: Path) -> None:
    plain, shard = written(tmp_path, "plain"), written(tmp_path, distinct=PATHS)
    for path in PATHS:
        stats = shard.stripes[0][path].stats
        assert stats.sketch is not None
        count = 400 if path == "http.tags.item" else {"flag": 1, "level": 2}.get(path, 200)
        assert stats.distinct_is_exact or path not in ("flag", "level")
        assert stats.distinct_count is not None
        assert abs(stats.distinct_count - count) <= (0 if stats.distinct_is_exact else count * 0.3)
        whole = shard[path].stats.distinct_count
        assert whole is not None
        assert abs(whole - {200: ROWS, 400: 2 * ROWS}.get(count, count)) <= whole * 0.4
    assert plain["id"].stats.distinct_count is None
    assert plain.stripes[0]["level"].stats.distinct_is_exact is False
    assert shard.verify(deep=True).ok


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bloom": ["http"]}, "bloom: expected a column of text, bytes"),
        ({"bloom": {"http.tags": 0.1}}, "bloom: expected a column of text, bytes"),
        ({"distinct": ["http"]}, "distinct: expected a column of text, bytes"),
        ({"bloom": {"id": 0}}, "bloom: expected a number between 0 and 1 for 'id', found 0"),
        ({"bloom": {"id": 1.0}}, "found 1.0"),
        ({"bloom": {"id": True}}, "found True"),
        ({"bloom": "id"}, "bloom: expected a list"),
    ],
)
def test_requests_that_cannot_be_met_are_errors(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message.replace("(", "\\(")):
        written(tmp_path, **options)
    assert not list(tmp_path.iterdir())


def test_a_missing_column_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AmudaiError, match="idd"):
        written(tmp_path, bloom=["idd"])


@pytest.mark.parametrize("path", ["id", "name"])
def test_too_many_values_for_a_filter_are_an_error(tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sketching, "MOST_REQUESTED", 199)
    with pytest.raises(InvalidArgument, match="expected at most 199 distinct values in a stripe, found more"):
        written(tmp_path, bloom=[path])
    assert not list(tmp_path.iterdir())


def test_edits_keep_what_was_requested(tmp_path: Path) -> None:
    shard = written(tmp_path, bloom={"id": 0.001, "http.tags.item": 0.02}, distinct=["price"])
    less = amudai.delete(shard, where=col("id") < 100, to=tmp_path / "less.amudai.shard")
    more = amudai.with_columns(
        less, {"copy": pa.array(ORDER)}, tmp_path / "more.amudai.shard", bloom={"copy": 0.01}, distinct=["copy"]
    )
    both = amudai.merge([more, more], tmp_path / "both.amudai.shard")
    compacted = amudai.compact(both, tmp_path / "compact.amudai.shard")
    copied = amudai.copy(compacted, tmp_path / "copy.amudai.shard")
    for made in (more, both, compacted, copied):
        first = made.stripes[0]
        shares = [first[path].stats.bloom_filter for path in ("id", "http.tags.item", "copy")]
        assert [each and each.target_fpp for each in shares] == [0.001, 0.02, 0.01]
        assert made["price"].stats.distinct_count
        assert made["copy"].stats.distinct_count
        assert made.verify(deep=True).ok
        assert made.count(where=col("id") == 177) == made.num_rows // 500


def test_attached_columns_get_what_was_requested(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    options: dict[str, Any] = {"bloom": {"id": 0.001}, "distinct": ["half"], "stripe_rows": 200}
    shard = amudai.attach(tmp_path / "t.parquet", to=tmp_path / "t.amudai.shard", **options)
    again = amudai.refresh(shard, to=tmp_path / "again.amudai.shard")
    for made in (shard, again):
        stats = made.stripes[0]["id"].stats
        assert stats.bloom_filter is not None
        assert (stats.bloom_filter.target_fpp, stats.distinct_count) == (0.001, None)
        assert made["half"].stats.distinct_count
        assert made.verify(deep=True).ok


# ---- decimals of more than 34 digits ----

LONG = pa.decimal128(38, 2)
NUMBERS = st.integers(-(10**38) + 1, 10**38 - 1) | st.integers(-5, 5) | st.integers(10**33, 10**35)


def long_decimals(unscaled: list[int | None]) -> pa.Array:
    width = 16
    data = b"".join((number or 0).to_bytes(width, "little", signed=True) for number in unscaled)
    valid = pa.array([number is not None for number in unscaled])
    return pa.Array.from_buffers(LONG, len(unscaled), [valid.buffers()[1], pa.py_buffer(data)])


@examples(40)
@given(
    unscaled=st.lists(st.none() | NUMBERS, min_size=1, max_size=12),
    asked=NUMBERS,
    op=st.sampled_from(["eq", "lt", "le", "gt", "ge", "ne"]),
    rows=st.integers(1, 5),
)
def test_questions_about_long_decimals_have_the_answers_of_their_values(
    tmp_path_factory: pytest.TempPathFactory, unscaled: list[int | None], asked: int, op: str, rows: int
) -> None:
    folder = tmp_path_factory.mktemp("long")
    values = long_decimals(unscaled)
    shard = amudai.write({"d": values}, folder / "d.amudai.shard", stripe_rows=rows, bloom=["d"])
    compare = getattr(operator, op)
    ask: amudai.Predicate = compare(col("d"), long_decimals([asked])[0])
    expected = [each for each in unscaled if each is not None and compare(each, asked)]
    found = shard.scan(where=ask).to_table().column("d").combine_chunks()
    assert found.equals(long_decimals(list(expected)) if expected else found[:0])
    assert len(found) == len(expected)
    stats, present = shard["d"].stats, [each for each in unscaled if each is not None]
    if present:
        assert isinstance(stats.min, Decimal)
        assert isinstance(stats.max, Decimal)
        low, high = (int(each.scaleb(2, Context(prec=60))) for each in (stats.min, stats.max))
        assert low <= min(present) <= max(present) <= high
        assert stats.min_is_exact == (low == min(present))
        assert stats.max_is_exact == (high == max(present))
    assert shard.verify(deep=True).ok


def test_long_decimals_skip_stripes_and_stretches(tmp_path: Path) -> None:
    values = pa.array([Decimal(at) / 2 for at in range(2000)], LONG)
    shard = amudai.write({"d": values}, tmp_path / "d.amudai.shard", stripe_rows=1000)
    (leaf,) = shard.scan(where=col("d") > Decimal("990.0")).explain().leaves
    ruled = {step.evidence: step.ruled_out for step in leaf.notes}
    assert ruled == {"statistics": 1000, "range index": 768}
    first = amudai.open(tmp_path / "d.amudai.shard").stripes[0]["d"].stats
    assert (first.min, first.max) == (Decimal("0.00"), Decimal("499.50"))


# ---- what stripes and shards show ----


def test_everything_that_is_stored_can_be_seen(tmp_path: Path) -> None:
    table = pa.table(
        {
            "same": ["x"] * 4,
            "null": pa.nulls(4, pa.int32()),
            "text": ["b" * 40, "a" * 40, "c", None],
            "guid": pa.array([bytes([at] * 16) for at in range(4)], pa.uuid()),
            "fixed": pa.array([bytes([at] * 3) for at in range(4)], pa.binary(3)),
        }
    )
    shard = amudai.write(table, tmp_path / "t.amudai.shard", field_properties={"text": {"unit": "letters"}})
    stripe = shard.stripes[0]
    same, null, text, guid, fixed = (stripe[name].stats for name in table.column_names)
    assert (same.is_constant, same.constant, same.min) == (True, "x", "x")
    assert (null.is_constant, null.constant, null.null_count) == (True, None, 4)
    assert (text.min, text.min_is_exact, text.max, text.max_is_exact) == ("a" * 32, False, "c", True)
    assert (text.is_constant, text.dictionary_size) == (False, None)
    assert (guid.min, guid.max) == tuple(table["guid"][at].as_py() for at in (0, 3))
    assert (fixed.min, fixed.max) == (b"\0\0\0", b"\3\3\3")
    assert stripe["text"].properties == shard["text"].properties == {"unit": "letters"}
    assert stripe["text"].standard_properties == stripe.standard_properties == shard.standard_properties == {}
    assert shard["text"].standard_properties == {}
    assert stripe["text"].path == "text"
    assert sum(stripe["text"].encodings.values()) == 1
    assert shard["text"].stats.min == "a" * 32
