"""What is known of values without reading them: texts of dictionaries, bounds of stretches of rows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import amudai

LEVELS = ["info", "Error", "WARN", "Émile", None, ""]


def levels(rows: int) -> list[str | None]:
    return [LEVELS[(n + n // 7) % len(LEVELS)] for n in range(rows)]


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> amudai.Shard:
    rows = 1_000
    table = pa.table(
        {
            "level": levels(rows),
            "same": ["one"] * 500 + ["two"] * 500,
            "tags": [[each, "x"] for each in levels(rows)],
            "http": [{"path": f"/{each}"} for each in levels(rows)],
            "free": [f"{n * 7919 % 1009} is free {n}" for n in range(rows)],
            "n": pa.array([None if n % 9 == 0 else n for n in range(rows)], pa.int64()),
        }
    )
    return amudai.write(table, tmp_path_factory.mktemp("known") / "k.amudai.shard", stripe_rows=500)


def test_a_dictionary_has_each_text_once(shard: amudai.Shard) -> None:
    texts = sorted(set(LEVELS) - {None})  # type: ignore[type-var]
    assert shard["level"].dictionary().to_pylist() == texts
    assert shard["level"].dictionary(limit=2).to_pylist() == texts[:2]
    assert shard["level"].dictionary("e").to_pylist() == ["Error"]
    assert shard["level"].dictionary("é").to_pylist() == ["Émile"]
    assert shard["level"].dictionary("nothing").to_pylist() == []
    assert shard["same"].dictionary().to_pylist() == ["one", "two"]  # a constant in each stripe
    assert shard["tags"].dictionary("x").to_pylist() == ["x"]
    assert shard["http.path"].dictionary().to_pylist() == ["/", "/Error", "/None", "/WARN", "/info", "/Émile"]


def test_no_value_is_read_for_a_dictionary(shard: amudai.Shard) -> None:
    with amudai.open(shard.url) as opened:
        before = opened.requests.bytes
        opened["level"].dictionary("e")
        assert opened.requests.bytes - before < 2_000


def test_columns_without_a_dictionary_are_refused(shard: amudai.Shard) -> None:
    with pytest.raises(amudai.InvalidArgument, match=r"dictionary of 'free': expected one in every stripe, found"):
        shard["free"].dictionary()
    with pytest.raises(amudai.InvalidArgument, match="expected a column of text, found a column of type int64"):
        shard["n"].dictionary()
    with pytest.raises(amudai.InvalidArgument, match="limit"):
        shard["level"].dictionary(limit=-1)


def times(unit: str, zone: str | None) -> Callable[[list[int]], pa.Array]:
    return lambda numbers: pa.array(numbers, pa.int64()).cast(pa.timestamp(unit, zone))


@pytest.mark.parametrize(
    "made",
    [
        lambda numbers: pa.array(numbers, pa.int16()),
        lambda numbers: pa.array([float("nan") if n is not None and n % 5 == 0 else n for n in numbers], pa.float64()),
        times("us", "UTC"),
        times("ns", None),
        lambda numbers: pa.array(numbers, pa.int64()).cast(pa.duration("ms")),
        lambda numbers: pa.array(numbers, pa.int32()).cast(pa.date32()),
    ],
    ids=["int16", "float64", "us", "ns", "duration", "date"],
)
def test_ranges_are_bounds_of_the_rows_they_name(made: Any, tmp_path: Path) -> None:
    numbers = [None if 256 <= n < 512 or n % 11 == 0 else n * 7919 % 10_007 for n in range(1_300)]
    column = made(numbers)
    shard = amudai.write(pa.table({"x": column}), tmp_path / "r.amudai.shard", stripe_rows=800)
    seen = 0
    for stripe in shard.stripes:
        for each in stripe["x"].ranges().to_pylist():
            assert each["first_row"] == seen
            rows = column.slice(seen, each["rows"])
            seen += each["rows"]
            known = [value for value in rows.to_pylist() if value is not None and value == value]
            assert each["nulls"] == len(rows) - len(known)
            if not known:
                assert each["min"] is None
                assert each["max"] is None
            elif column.type == pa.timestamp("ns"):
                assert each["min"] <= min(known)
                assert 0 <= each["max"].value - max(known).value < 100
            else:
                assert (each["min"], each["max"]) == (min(known), max(known))
    assert seen == 1_300


def test_columns_without_ranges_are_refused(shard: amudai.Shard) -> None:
    stripe = shard.stripes[0]
    for path in ("level", "http", "tags.item"):
        with pytest.raises(amudai.InvalidArgument, match=f"ranges of '{path}': expected a column of numbers or times"):
            stripe[path].ranges()
    half = np.array([1, -2], np.float16)
    found = amudai.write(pa.table({"h": pa.array(half)}), Path(shard.url[7:]).with_name("h.amudai.shard"))
    with pytest.raises(amudai.InvalidArgument, match="ranges of 'h'"):
        found.stripes[0]["h"].ranges()
    same = pa.table({"t": pa.array([dt.datetime(2026, 1, 1)] * 3)})
    constant = amudai.write(same, Path(shard.url[7:]).with_name("c.amudai.shard"))
    with pytest.raises(amudai.InvalidArgument, match="expected a range index, found none"):
        constant.stripes[0]["t"].ranges()
