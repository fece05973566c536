"""Many shards as one table: columns, folders, order, positions, and shards that come and go."""

from __future__ import annotations

import os
import pickle
import random
import re
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as fs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai import col
from amudai.datasets.facts import FACT
from tests.any_time import BEFORE_CHRIST, FAR_FUTURE, folder_of_any_time, touch
from tests.effort import examples


def lake_of(folder: Path, tables: dict[str, pa.Table], **options: object) -> amudai.Dataset:
    for name, table in tables.items():
        path = folder / f"{name}.amudai.shard"
        path.parent.mkdir(parents=True, exist_ok=True)
        amudai.write(table, path, **options)  # type: ignore[arg-type]
    return amudai.dataset(folder)


def logs(start: int, count: int = 50) -> pa.Table:
    rows = range(start, start + count)
    return pa.table(
        {
            "n": pa.array(rows, pa.int64()),
            "level": [("info", "warn", "error")[n % 3] for n in rows],
            "trace": [f"{n * 7919 % 100003:05}" for n in rows],
            "message": [f"request {n} took {n % 17} ms" for n in rows],
        }
    )


@pytest.fixture
def three(tmp_path: Path) -> amudai.Dataset:
    return lake_of(tmp_path, {f"{part}": logs(50 * part) for part in range(3)}, bloom=["trace"])


WHOLE = pa.concat_tables([logs(0), logs(50), logs(100)])


# ---- the face of a shard ----


def test_rows_come_in_the_order_of_the_names(three: amudai.Dataset) -> None:
    assert three.shards == ("0.amudai.shard", "1.amudai.shard", "2.amudai.shard")
    assert three.schema.equals(WHOLE.schema)
    assert three.read().equals(WHOLE)
    assert pa.Table.from_batches(three).equals(WHOLE)
    assert (three.num_rows, three.num_positions) == (150, 150)


def test_the_methods_of_a_shard_give_the_same_for_a_dataset(three: amudai.Dataset, tmp_path: Path) -> None:
    one = amudai.write(WHOLE, tmp_path / "_whole.amudai.shard")
    where = "n >= 40 and level = 'error' and message has '3'"
    for table in (one, three):
        assert table.count(where) == one.count(where) > 0
    assert three.read(["message", "n"], where).equals(one.read(["message", "n"], where))
    assert three.head(60, ["n"]).equals(one.head(60, ["n"]))
    assert three.search("7", ["n"]).to_table().equals(one.search("7", ["n"]).to_table())
    assert (
        three.scan(["n"], where, rows=slice(45, 130))
        .to_table()
        .equals(one.scan(["n"], where, rows=slice(45, 130)).to_table())
    )
    assert three.scan(rows=slice(60, 60)).count() == 0
    assert three.scan(["n"], limit=70).to_table().equals(one.head(70, ["n"]))
    assert [batch.num_rows for batch in three.to_reader(["n"], batch_rows=40)] == [40, 10, 40, 10, 40, 10]
    assert three.to_pandas(["n"]).shape == (150, 1)
    assert pa.table(three).equals(WHOLE)
    assert three.text_columns == one.text_columns
    assert three.sample(20, ["n"], seed=3).num_rows == len(set(three.sample(20, ["n"], seed=3)["n"].to_pylist())) == 20
    assert three.sample(5, ["level"], "level = 'warn'", seed=1)["level"].to_pylist() == ["warn"] * 5


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_do_not_change_the_order(three: amudai.Dataset, threads: int) -> None:
    assert three.read(["n"], threads=threads)["n"].to_pylist() == list(range(150))
    assert three.scan(["n"], limit=101, threads=threads).to_reader().read_all()["n"].to_pylist() == list(range(101))


def test_positions_are_pairs_that_take_reads(three: amudai.Dataset) -> None:
    found = three.scan(where="n in (3, 51, 149)").positions()
    assert found.to_pylist() == [
        {"shard": "0.amudai.shard", "position": 3},
        {"shard": "1.amudai.shard", "position": 1},
        {"shard": "2.amudai.shard", "position": 49},
    ]
    assert three.take(found, ["n"])["n"].to_pylist() == [3, 51, 149]
    mixed = [("2.amudai.shard", 49), ("0.amudai.shard", 3), ("2.amudai.shard", 0), ("0.amudai.shard", 3)]
    assert three.take(mixed, ["n", "@shard"]).to_pydict() == {
        "n": [149, 3, 100, 3],
        "@shard": [name for name, _ in mixed],
    }
    assert three.take([], ["n"]).num_rows == 0


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([("9.amudai.shard", 0)], "expected one of the dataset's, found '9.amudai.shard'"),
        ([("0.amudai.shard", 50)], r"rows: expected 0\.\.49, found 50"),
        ([7], "expected pairs of a shard's name and a position"),
        ([("0.amudai.shard", "a")], "expected a shard's name and a position"),
        (pa.table({"n": [1]}), "expected the columns shard and position"),
    ],
)
def test_wrong_positions_are_refused(three: amudai.Dataset, rows: object, error: str) -> None:
    with pytest.raises(amudai.AmudaiError, match=error):
        three.take(rows)


def test_positions_stay_when_shards_come_and_go(three: amudai.Dataset, tmp_path: Path) -> None:
    found = three.scan(where="n = 120").positions()
    os.unlink(tmp_path / "0.amudai.shard")
    amudai.write(logs(500), tmp_path / "00.amudai.shard")
    now = three.refresh()
    assert now.shards == ("00.amudai.shard", "1.amudai.shard", "2.amudai.shard")
    assert now.take(found, ["n"])["n"].to_pylist() == [120]
    assert now.scan(where="n = 120").positions().equals(found)


def test_the_column_shard_is_there_if_it_is_named(three: amudai.Dataset) -> None:
    assert "@shard" not in three.schema.names
    found = three.read(["@shard", "n"], "`@shard` = '1.amudai.shard' and n < 52")
    assert found.to_pydict() == {"@shard": ["1.amudai.shard"] * 2, "n": [50, 51]}
    assert set(three.read(["@shard"])["@shard"].to_pylist()) == set(three.shards)
    assert three.explain(where="`@shard` = '1.amudai.shard'").shards_ruled_out == {"folders and columns": 2}


def test_a_missing_column_is_an_error_at_once(three: amudai.Dataset) -> None:
    for ask in (lambda: three.scan(["m"]), lambda: three.scan(where="m = 1"), lambda: three.take([], ["m"])):
        with pytest.raises(amudai.InvalidArgument, match="'m'"):
            ask()


# ---- one schema of several ----


def test_columns_are_united_by_name(tmp_path: Path) -> None:
    lake = lake_of(
        tmp_path,
        {
            "a": pa.table(
                {"n": pa.array([1, 2], pa.int32()), "s": pa.array([{"x": 1}, None], pa.struct([("x", pa.int32())]))}
            ),
            "b": pa.table({"s": pa.array([{"x": 2**40, "y": "t"}]), "n": pa.array([2**40], pa.int64()), "more": ["m"]}),
        },
    )
    assert lake.schema.names == ["n", "s", "more"]
    assert lake.read().to_pydict() == {
        "n": [1, 2, 2**40],
        "s": [{"x": 1, "y": None}, None, {"x": 2**40, "y": "t"}],
        "more": [None, None, "m"],
    }
    assert lake.read(["s.y"]).to_pydict() == {"s": [{"y": None}, None, {"y": "t"}]}
    assert lake.read(["more", "n"], "n > 1").to_pydict() == {"more": [None, "m"], "n": [2, 2**40]}
    assert lake.count("s.y is null") == 2
    assert lake.count("s.y = 't'") == 1
    assert lake.count("not (s.y = 't')") == lake.count("more != 'm'") == 0
    assert lake.count("more is null") == 2
    assert lake.read(["n"], "n = 1099511627776").to_pydict() == {"n": [2**40]}
    lake.save_catalog()
    assert amudai.dataset(tmp_path).read().equals(lake.read())


def test_a_catalog_of_shards_of_any_time() -> None:
    with folder_of_any_time() as folder:
        lake_of(folder, {name: pa.table({"n": [n]}) for n, name in enumerate("abc")})
        for name, time in (("a", FAR_FUTURE), ("b", BEFORE_CHRIST), ("c", -1)):
            touch(folder / f"{name}.amudai.shard", time)
        lake = amudai.dataset(folder)
        lake.save_catalog()
        assert sorted(amudai.dataset(folder).read()["n"].to_pylist()) == [0, 1, 2]
        assert amudai.dataset(folder).count("n >= 1") == 2


def test_columns_that_cannot_be_united_are_an_error_that_names_both(tmp_path: Path) -> None:
    lake = lake_of(tmp_path, {"a": pa.table({"n": [1]}), "b": pa.table({"n": ["x"]})})
    with pytest.raises(amudai.InvalidSchema, match=r"column 'n'.*int64 in .*a\.amudai.*string in .*b\.amudai"):
        _ = lake.schema


def test_an_empty_folder_is_an_empty_table(tmp_path: Path) -> None:
    lake = amudai.dataset(tmp_path)
    assert (lake.shards, lake.num_rows, lake.schema.names, lake.count()) == ((), 0, [], 0)
    with pytest.raises(FileNotFoundError):
        amudai.dataset(tmp_path / "nothing")


# ---- folders ----


def test_folders_become_columns(tmp_path: Path) -> None:
    lake = lake_of(
        tmp_path,
        {
            "year=2024/city=S%C3%A3o/a": logs(0, 3),
            "year=2025/city=Rome/b": logs(3, 2),
            "year=2025/city=__HIVE_DEFAULT_PARTITION__/c": logs(5, 1),
        },
    )
    assert lake.schema.field("year").type == pa.int64()
    assert lake.read(["n", "year", "city"]).to_pydict() == {
        "n": [0, 1, 2, 3, 4, 5],
        "year": [2024] * 3 + [2025] * 3,
        "city": ["São"] * 3 + [None, "Rome", "Rome"]
        if lake.shards[1].startswith("year=2025/city=__")
        else ["São"] * 3 + ["Rome", "Rome", None],
    }
    assert lake.count("year = 2025") == 3
    assert lake.count("city is null") == 1
    assert lake.count("not (city = 'Rome')") == 3  # null is neither
    assert lake.count("city has 'rome' or n = 0") == 3
    assert lake.read(["year"], "year < 2025").to_pydict() == {"year": [2024] * 3}
    why = lake.explain(where="year = 2024 and n > 0")
    assert (why.shards, why.shards_ruled_out, why.total_rows) == (3, {"folders and columns": 2}, 6)
    # Files of shards that are ruled out are not touched.
    (tmp_path / "year=2025/city=Rome/b.amudai.shard").write_bytes(b"damaged")
    fresh = amudai.dataset([str(path) for path in sorted(tmp_path.rglob("*2024*/*/*.shard"))])
    assert fresh.count("year = 2024") == 3


def test_a_stored_column_counts_more_than_a_folder(tmp_path: Path) -> None:
    lake = lake_of(tmp_path, {"n=7/a": pa.table({"n": [1]}), "n=8/b": pa.table({"m": [1]})})
    assert lake.read(["n"]).to_pydict() == {"n": [1, 8]}
    assert lake.count("n = 7") == 0
    assert lake.count("n = 8") == 1


# ---- lists, hidden files ----


def test_a_list_keeps_its_order_and_names_shards_by_url(three: amudai.Dataset, tmp_path: Path) -> None:
    paths = [tmp_path / "2.amudai.shard", tmp_path / "0.amudai.shard"]
    lake = amudai.dataset(paths)
    assert lake.read(["n"])["n"].to_pylist() == [*range(100, 150), *range(50)]
    assert [name.rpartition("/")[2] for name in lake.shards] == ["2.amudai.shard", "0.amudai.shard"]
    assert amudai.dataset([tmp_path]).num_rows == 150
    with pytest.raises(amudai.InvalidArgument, match="each shard once"):
        amudai.dataset([tmp_path, paths[0]])
    with pytest.raises(amudai.InvalidArgument, match="catalog: expected the dataset of a folder"):
        lake.save_catalog()


def test_hidden_files_are_no_shards(three: amudai.Dataset, tmp_path: Path) -> None:
    amudai.write(logs(0), tmp_path / "_hidden.amudai.shard")
    (tmp_path / ".tmp").mkdir()
    amudai.write(logs(0), tmp_path / ".tmp" / "x.amudai.shard")
    amudai.write(logs(0), tmp_path / "other.suffix")
    assert amudai.dataset(tmp_path).num_rows == 150


# ---- shards that appear or disappear ----


def test_a_dataset_is_a_snapshot_of_the_list(three: amudai.Dataset, tmp_path: Path) -> None:
    assert three.count() == 150
    amudai.write(logs(150), tmp_path / "3.amudai.shard")
    assert three.count() == 150
    assert three.refresh().count() == 200


def test_a_shard_that_disappeared_is_an_error_if_it_is_needed(three: amudai.Dataset, tmp_path: Path) -> None:
    three.save_catalog()
    lake = amudai.dataset(tmp_path)
    os.unlink(tmp_path / "1.amudai.shard")
    assert lake.count("n = 120") == 1  # the catalog rules the lost shard out
    with pytest.raises(FileNotFoundError, match=r"1\.amudai\.shard"):
        lake.read(["message"])
    assert lake.refresh().num_rows == 100


def test_a_shard_that_was_overwritten_is_read_anew(three: amudai.Dataset, tmp_path: Path) -> None:
    three.save_catalog()
    amudai.write(logs(1000), tmp_path / "1.amudai.shard", overwrite=True)
    assert amudai.dataset(tmp_path).count("n >= 1000") == 50


def test_a_shard_that_is_overwritten_while_a_dataset_is_open_is_read_as_it_is_now(
    three: amudai.Dataset, tmp_path: Path
) -> None:
    three.save_catalog()
    lake = amudai.dataset(tmp_path)
    assert lake.num_rows == 150
    amudai.write(logs(1000), tmp_path / "1.amudai.shard", overwrite=True)
    assert lake.read(["n"])["n"].to_pylist() == [*range(50), *range(1000, 1050), *range(100, 150)]
    assert lake.read(["message"], rows=slice(50, 52))["message"].to_pylist() == [
        "request 1000 took 14 ms",
        "request 1001 took 15 ms",
    ]


def test_numbers_of_rows_are_those_of_the_shards_that_were_counted(three: amudai.Dataset, tmp_path: Path) -> None:
    """Rows of a shard that has become larger were in two ranges of rows, or in none."""
    three.save_catalog()
    lake = amudai.dataset(tmp_path)
    assert lake.num_rows == 150
    amudai.write(logs(1000, 70), tmp_path / "1.amudai.shard", overwrite=True)
    for rows in (slice(0, 60), slice(60, 120), slice(99, None)):
        with pytest.raises(amudai.StorageError, match=r"a shard of 50 rows, found 70.*1\.amudai\.shard"):
            lake.read(["n"], rows=rows)
    assert lake.read(["n"], rows=slice(100, None))["n"].to_pylist() == list(range(100, 150))
    assert lake.refresh().read(["n"], rows=slice(49, 51))["n"].to_pylist() == [49, 1000]


@pytest.mark.parametrize(
    "kind",
    [pa.bool_(), pa.float64(), pa.int32(), pa.string(), pa.list_(pa.int64())],
    ids=["bool", "f", "i32", "s", "l"],
)
@pytest.mark.parametrize("catalog", ["check", "trust"])
def test_a_shard_that_is_overwritten_with_other_types_is_refused(
    catalog: Literal["check", "trust"], kind: pa.DataType, tmp_path: Path
) -> None:
    """Its values were converted to the former type, or the conversion raised an error of Arrow's."""
    lake_of(tmp_path, {"a": pa.table({"n": [1, 2]}), "b": pa.table({"n": [3, 4]})}).save_catalog()
    lake = amudai.dataset(tmp_path, catalog=catalog, threads=1)
    assert lake.schema.names == ["n"]
    values = pa.array([[0], [1]] if pa.types.is_list(kind) else [0, 1]).cast(kind)
    amudai.write(pa.table({"n": values}), tmp_path / "b.amudai.shard", overwrite=True)
    for ask in (
        lambda: lake.read(),
        lambda: lake.read(["n"], "n >= 1"),
        lambda: lake.count("n > 2"),
        lambda: lake.take([("b.amudai.shard", 1)]),
        lambda: lake.scan(where="n in (1, 3)").positions(),
    ):
        with pytest.raises(amudai.StorageError, match=r"refresh\(\).*b\.amudai\.shard"):
            ask()
    assert lake.take([("a.amudai.shard", 1)]).to_pydict() == {"n": [2]}


def test_small_shards_stay_open_for_the_next_scan(
    three: amudai.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def requests_again(lake: amudai.Dataset) -> int:
        assert lake.count("n = 7") == 1
        before = lake.requests.requests
        assert lake.count("n > 1000") == 0  # the statistics in the roots say so
        return lake.requests.requests - before

    monkeypatch.setattr("amudai.datasets.members._LEAST_OPEN", 1)
    assert requests_again(amudai.dataset(tmp_path)) == 0
    sizes = [path.stat().st_size for path in tmp_path.glob("*.amudai.shard")]
    monkeypatch.setattr("amudai.datasets.members._OPEN_BYTES", sum(sizes))  # and no room for objects of Python
    assert requests_again(amudai.dataset(tmp_path, threads=1)) > 0


# ---- the catalog ----


def test_a_catalog_rules_shards_out_without_opening_them(three: amudai.Dataset, tmp_path: Path) -> None:
    three.save_catalog()
    for where, kept in {
        "n = 120": 1,
        "n between 40 and 60": 2,
        "n > 200": 0,
        f"trace = '{120 * 7919 % 100003:05}'": 1,
        "trace = 'none'": 0,
        "level is null": 0,
        "level is not null": 3,
        "n != 5": 3,
        "message has '120'": 3,
        "n = 120 or n = 5": 2,
        "not (n < 100)": 1,
    }.items():
        lake = amudai.dataset(tmp_path)
        scan = lake.scan(["n"], where)
        assert scan.to_table().equals(three.read(["n"], where)), where
        why = scan.explain()
        assert why.shards - sum(why.shards_ruled_out.values()) == kept, where  # type: ignore[operator, union-attr]


@pytest.mark.parametrize("without", [("bloom",), ("first", "last")], ids=["bounds alone", "of an earlier version"])
def test_a_catalog_has_the_bounds_of_texts(
    without: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = [["auth", "billing", None], ["mail", "mule"], ["search", "\u00e9tat"], [None]]
    parts = {f"{at}": pa.table({"service": pa.array(names)}) for at, names in enumerate(services)}
    known = pa.struct([each for each in FACT if each.name not in without])
    monkeypatch.setattr("amudai.datasets.catalog.FACT", known)
    lake_of(tmp_path, parts).save_catalog()
    plain = amudai.dataset(tmp_path, catalog="ignore")
    # How many shards are left by bounds, and by Bloom filters and counts of nulls, which say nothing about order.
    for where, kept in {
        "service = 'mail'": (1, 1),
        "service = 'cache'": (0, 0),
        "service in ('auth', 'cache', 'search')": (2, 2),
        "service in ('cache', 'zoo')": (1, 0),
        "service < 'b'": (1, 3),
        "service >= 'mule'": (2, 3),
        "service between 'c' and 'l'": (0, 3),
        "service startswith_cs 'mu'": (1, 3),
        "service startswith 'mu'": (3, 3),
        "service != 'mail'": (3, 3),
    }.items():
        scan = amudai.dataset(tmp_path).scan(where=where)
        assert scan.to_table().equals(plain.read(where=where)), where
        ruled_out = scan.explain().shards_ruled_out
        assert 4 - sum(ruled_out.values()) == kept["first" in without], where  # type: ignore[union-attr]


@pytest.mark.slow
def test_a_query_with_a_catalog_makes_few_requests(tmp_path: Path) -> None:
    lake_of(tmp_path, {f"{part:02}": logs(50 * part) for part in range(20)}, bloom=["trace"]).save_catalog()
    with_catalog, without = amudai.dataset(tmp_path), amudai.dataset(tmp_path, catalog="ignore")
    assert with_catalog.count("n = 7") == without.count("n = 7") == 1
    opened = with_catalog.scan(where="n = 7").explain()
    assert opened.shards_ruled_out == {"catalog": 19}
    assert with_catalog.requests.requests * 3 < without.requests.requests


def test_a_catalog_has_the_columns_of_its_page(tmp_path: Path) -> None:
    lake_of(tmp_path, {"0": logs(0)}, indexes=[amudai.TermIndex("message")]).save_catalog()
    catalog = amudai.open(tmp_path / "_catalog.amudai.shard")
    page = (Path(__file__).parents[2] / "docs" / "format" / "catalog.md").read_text()
    stated = {name for line in page.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)`", line)}
    *names, words = catalog.schema.names
    assert words == "words_0_0"
    assert stated >= {*names, "words_C_S", *(field.name for field in FACT)}
    assert catalog.properties["catalog.columns"] == '["n", "level", "trace", "message"]'
    assert catalog.properties["catalog.words"] == '[{"path": "message", "whole": false, "slices": 1}]'


def test_a_trusted_catalog_is_the_list_of_shards(three: amudai.Dataset, tmp_path: Path) -> None:
    three.save_catalog()
    amudai.write(logs(150), tmp_path / "3.amudai.shard")
    lake = amudai.dataset(tmp_path, catalog="trust")
    assert lake.shards == three.shards
    assert lake.read().equals(WHOLE)
    with pytest.raises(FileNotFoundError):
        amudai.dataset(tmp_path / "else", catalog="trust")
    with pytest.raises(amudai.InvalidArgument, match="catalog: expected check, trust or ignore"):
        amudai.dataset(tmp_path, catalog="maybe")  # type: ignore[arg-type]


def test_another_shard_in_place_of_the_catalog_is_refused(three: amudai.Dataset, tmp_path: Path) -> None:
    amudai.write(logs(0), tmp_path / "_catalog.amudai.shard")
    with pytest.raises(amudai.CorruptedData, match="save_catalog"):
        amudai.dataset(tmp_path)


NUMBERS = st.one_of(st.none(), st.integers(-5, 5), st.integers(-(2**63), 2**63 - 1))
FLOATS = st.one_of(st.none(), st.floats(width=64), st.sampled_from([0.0, -0.0, 1.5]))


@examples(40)
@given(
    numbers=st.lists(st.lists(NUMBERS, min_size=1, max_size=4), min_size=1, max_size=4),
    floats=st.lists(FLOATS, min_size=16, max_size=16),
    op=st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
    number=st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5),
    real=st.floats(allow_nan=False),
    negated=st.booleans(),
)
def test_facts_never_rule_out_a_row_that_matches(
    numbers: list[list[int | None]],
    floats: list[float | None],
    op: str,
    number: int,
    real: float,
    negated: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("lake")
    tables = {
        str(part): pa.table({"n": pa.array(each, pa.int64()), "f": pa.array(floats[: len(each)], pa.float64())})
        for part, each in enumerate(numbers)
    }
    plain = lake_of(folder, tables)
    plain.save_catalog()
    lake = amudai.dataset(folder)
    for column, value in (("n", number), ("f", real)):
        where = amudai.col(column) == value
        where = eval(f"col(column) {op} value", {"col": col, "column": column, "value": value})
        where = ~where if negated else where
        assert lake.scan(["n"], where).positions().equals(plain.scan(["n"], where).positions())


# ---- tasks, pickles ----


def test_tasks_of_a_dataset_give_its_rows(tmp_path: Path) -> None:
    lake = lake_of(
        tmp_path, {f"day={day}/{part}": logs(100 * day + 10 * part, 10) for day in range(3) for part in range(4)}
    )
    scan = lake.scan(["n", "day", "@shard"], "n >= 15 and day > 0")
    tasks = pickle.loads(pickle.dumps(scan.tasks(3)))
    assert 1 <= len(tasks) <= 4
    assert pa.concat_tables([task.to_table() for task in tasks]).equals(scan.to_table())
    assert all(len(task.parts) > 1 for task in tasks)
    with pytest.raises(amudai.InvalidArgument, match="use `parts`"):
        _ = tasks[0].rows
    assert lake.scan(where="n = -1").tasks() == ()


def test_a_dataset_and_a_shard_can_be_pickled(three: amudai.Dataset, tmp_path: Path) -> None:
    again = pickle.loads(pickle.dumps(three))
    assert again.read(where="n = 7").equals(three.read(where="n = 7"))
    shard = pickle.loads(pickle.dumps(three.shard("1.amudai.shard")))
    assert shard.read(["n"])["n"].to_pylist() == list(range(50, 100))


# ---- random tables ----


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_questions_have_the_answers_of_one_table(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    tables = {}
    for part in range(6):
        count = chance.randrange(0, 40)
        table = logs(chance.randrange(200), count)
        table = table.select(chance.sample(table.schema.names, chance.randrange(1, 5)))
        tables[f"{part}"] = table if count else logs(0, 0)
    lake = lake_of(tmp_path, tables)
    if seed:
        lake.save_catalog()
        lake = amudai.dataset(tmp_path)
    whole = pa.concat_tables(list(tables.values()), promote_options="default").select(lake.schema.names)
    assert lake.read().equals(whole)
    for _ in range(15):
        number, word = chance.randrange(240), chance.choice(["info", "warn", "error"])
        left = (pc.field("n") > number) if chance.random() < 0.5 else ~(pc.field("n") <= number)
        right = pc.field("level") == word
        expression = chance.choice([left, right, left & right, left | right, ~(left | right), ~(left & right)])
        assert lake.read(where=expression).equals(whole.filter(expression)), str(expression)


# ---- stores without URLs ----


@pytest.mark.parametrize("kind", ["obstore", "fsspec"])
def test_a_dataset_of_a_store_that_the_user_made(kind: str, three: amudai.Dataset, tmp_path: Path) -> None:
    store: object
    if kind == "obstore":
        store = pytest.importorskip("obstore.store").LocalStore(str(tmp_path))
    else:
        store = pytest.importorskip("fsspec.implementations.dirfs").DirFileSystem(
            str(tmp_path), pytest.importorskip("fsspec").filesystem("file")
        )
    lake = amudai.dataset("", store=store)
    assert lake.read().equals(WHOLE)
    lake.save_catalog()
    again = amudai.dataset("", store=store)
    assert again.read(["n"], "n = 120")["n"].to_pylist() == [120]
    assert again.explain(where="n = 120").shards_ruled_out == {"catalog": 2}


def test_a_list_of_shards_of_a_store_that_lists_nothing(three: amudai.Dataset, tmp_path: Path) -> None:
    store = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    assert amudai.dataset([f"{part}.amudai.shard" for part in range(3)], store=store).read().equals(WHOLE)


@pytest.mark.parametrize(
    "kinds",
    [
        (pa.list_(pa.string()), pa.large_list(pa.large_string()), pa.list_view(pa.string())),
        (pa.list_(pa.struct([("a", pa.int8())])), pa.large_list(pa.struct([("b", pa.string()), ("a", pa.int32())]))),
        (pa.dictionary(pa.int8(), pa.string()), pa.string_view(), pa.large_string()),
    ],
)
def test_forms_of_lists_and_texts_are_united(tmp_path: Path, kinds: tuple[pa.DataType, ...]) -> None:
    """Offsets of lists are 32 bits wide in one shard, and 64 in another."""
    rows = [[], ["a", "b"], None, ["c"]] if pa.types.is_string(getattr(kinds[0], "value_type", None)) else []
    rows = rows if not pa.types.is_dictionary(kinds[0]) else ["a", None, "b"]
    rows = rows or [[{"a": 1}, {"a": None}], None, [], [{"a": 3}]]
    lake = lake_of(tmp_path, {str(at): pa.table({"x": pa.array(rows, kind)}) for at, kind in enumerate(kinds)})
    found = lake.read()
    found.validate(full=True)
    values = found["x"].to_pylist()
    if "struct" in str(kinds[0]):
        values = [None if each is None else [{"a": item["a"]} for item in each] for each in values]
    assert values == rows * len(kinds)
    assert lake.count(col("x").is_null()) == len(kinds)


def test_times_that_the_unit_of_another_shard_cannot_hold(tmp_path: Path) -> None:
    late, fine = pa.array([253402300799]).cast(pa.timestamp("s")), pa.array([1]).cast(pa.timestamp("ns"))
    lake = lake_of(tmp_path, {"a": pa.table({"t": late}), "b": pa.table({"t": fine})})
    with pytest.raises(amudai.InvalidArgument, match=r"timestamp\[ns\].* as another has, found timestamp\[s\] out of"):
        lake.read()
