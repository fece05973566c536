"""The face that shards and scans share: one set of names, one order of arguments, the same answers."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai import col
from amudai.api.tabular import Tabular
from tests.fixtures.make_sample import SAMPLE

# Every source of rows has these: shards, scans, and whatever else comes to hold rows.
SHARED = (
    "schema",
    "count",
    "explain",
    "to_table",
    "to_reader",
    "to_pandas",
    "to_polars",
    "__iter__",
    "__arrow_c_stream__",
    "__arrow_c_schema__",
)
# Whatever can be asked for rows has these besides.
ASKED = ("read", "scan", "search", "take", "head", "sample", "num_rows")
ORDER = ("columns", "where", "rows")


@pytest.fixture
def sample() -> amudai.Shard:
    return amudai.open(SAMPLE)


# ---- names and arguments ----


@pytest.mark.parametrize("kind", [amudai.Shard, amudai.Scan])
def test_shards_and_scans_have_the_same_face(kind: type) -> None:
    for name in SHARED:
        assert hasattr(kind, name), name
    assert not hasattr(kind, "__len__"), "num_rows and count() are the words"


def test_a_shard_is_tabular_as_any_other_source_of_rows_will_be() -> None:
    assert issubclass(amudai.Shard, Tabular)
    for name in (*SHARED, *ASKED):
        assert hasattr(Tabular, name), name
    assert Tabular.__abstractmethods__ == {"schema", "num_rows", "num_positions", "scan", "take"}
    for name in ("scan", "take"):
        assert inspect.signature(getattr(Tabular, name)) == inspect.signature(getattr(amudai.Shard, name)), name


def test_arguments_come_in_one_order() -> None:
    for name in (*SHARED, *ASKED):
        member = getattr(amudai.Shard, name)
        if not inspect.isfunction(member):
            continue
        parameters = list(inspect.signature(member).parameters.values())[1:]
        names = [parameter.name for parameter in parameters]
        if name == "take":
            assert names[:2] == ["rows", "columns"]
            continue
        assert [each for each in names if each in ORDER] == [each for each in ORDER if each in names], name
        positional = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
        others = [each for each in positional if each not in ORDER]
        assert others == {"head": ["count"], "sample": ["count"], "search": ["text"]}.get(
            name, ["requested_schema"] if name == "__arrow_c_stream__" else []
        ), name


def public() -> list[tuple[str, Any]]:
    """Every name of `amudai`, and every public member of its classes that is written by us."""
    found: list[tuple[str, Any]] = []
    for name in amudai.__all__:
        thing = getattr(amudai, name)
        found.append((name, thing))
        if inspect.isclass(thing):
            for each, member in inspect.getmembers(thing):
                function = member.fget if isinstance(member, property) else member
                if not each.startswith("_") and inspect.isfunction(function):
                    found.append((f"{name}.{each}", function))
    return found


@pytest.mark.parametrize(("name", "thing"), public(), ids=lambda value: value if isinstance(value, str) else "")
def test_everything_public_is_documented_and_typed(name: str, thing: Any) -> None:
    assert (inspect.getdoc(thing) or "").strip(), f"{name} has no docstring"
    if inspect.isfunction(thing):
        parameters = list(inspect.signature(thing).parameters.values())[1 if "." in name else 0 :]
        for parameter in parameters:
            assert parameter.annotation is not inspect.Parameter.empty, f"{name}({parameter.name}) has no type"
        assert "return" in thing.__annotations__, f"{name} does not say what it returns"


@pytest.mark.parametrize("name", [*SHARED, *ASKED, "num_positions", "columns", "text_columns", "verify"])
def test_the_face_is_shown_by_examples(name: str) -> None:
    for kind in (amudai.Shard, amudai.Scan, amudai.Field):
        doc = inspect.getdoc(getattr(kind, name, None)) or ""
        if name.startswith("__") or not hasattr(kind, name) or name in ("schema", "scan"):
            continue
        assert ">>> " in doc, f"{kind.__name__}.{name}"


# ---- the same answers ----


def test_every_way_to_read_gives_the_same_rows(sample: amudai.Shard) -> None:
    asked: tuple[Any, ...] = (["level", "status"], col("status") >= 500, slice(20, 300))
    whole = sample.read()
    keep = [row for row in range(20, 300) if whole["status"][row].as_py() >= 500]
    expected = whole.select(["level", "status"]).take(pa.array(keep))
    assert len(keep) > 3
    scan = sample.scan(*asked)
    assert scan.positions().tolist() == keep
    assert scan.schema == expected.schema
    for source, arguments in ((sample, asked), (scan, ())):
        assert source.to_table(*arguments).equals(expected)
        assert source.to_reader(*arguments).read_all().equals(expected)
        assert source.to_polars(*arguments).to_arrow().to_pylist() == expected.to_pylist()
        assert source.to_pandas(*arguments).to_dict("list") == expected.to_pydict()
        assert source.explain(*arguments).total_rows == 280
    assert sample.read(*asked).equals(expected)
    assert sample.count(*asked[1:]) == scan.count() == len(keep)


def test_iterating_gives_batches(sample: amudai.Shard) -> None:
    for source in (sample, sample.scan()):
        batches = list(source)
        assert all(isinstance(batch, pa.RecordBatch) for batch in batches)
        assert pa.Table.from_batches(batches).equals(sample.read())
    assert [batch.num_rows for batch in sample.scan(batch_rows=150)] == [150, 150, 100]


def test_options_of_pandas_are_passed_on(sample: amudai.Shard) -> None:
    import pandas as pd

    frame = sample.to_pandas(["status"], types_mapper=pd.ArrowDtype)
    assert frame["status"].dtype == pd.ArrowDtype(pa.int64())
    assert sample.scan(["status"]).to_pandas(types_mapper=pd.ArrowDtype).equals(frame)
    assert sample["status"].to_pandas(types_mapper=pd.ArrowDtype).equals(frame["status"])


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_package_is_named(package: str, sample: amudai.Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    for source in (sample, sample.scan(), sample["status"]):
        with pytest.raises(amudai.AmudaiError, match=rf"expected the package {package}.*pip install {package}"):
            getattr(source, f"to_{package}")()


@pytest.mark.slow
def test_reading_imports_neither_pandas_nor_polars() -> None:
    code = f"""
import sys, amudai
shard = amudai.open({str(SAMPLE)!r})
shard.read(), list(shard), shard.sample(3), shard.count("status >= 500"), shard["http.status"].read()
print([name for name in ("pandas", "polars", "rich", "typer") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# ---- Arrow's protocol ----


def test_schemas_are_exported(sample: amudai.Shard) -> None:
    assert pa.schema(sample) == sample.schema
    assert pa.schema(sample.scan(["status"])) == sample.scan(["status"]).schema
    assert pa.field(sample["status"]).type == pa.int64()


def test_streams_have_the_types_that_were_requested(sample: amudai.Shard) -> None:
    wanted = pa.schema([("status", pa.int32()), ("message", pa.large_string())])
    scan = sample.scan(["status", "message"])
    found = pa.table(scan, schema=wanted)
    assert found.schema == wanted
    assert found.equals(scan.to_table().cast(wanted))
    assert pa.RecordBatchReader.from_stream(scan, schema=wanted).read_all().equals(found)
    types = [pa.large_string() if pa.types.is_string(kind) else kind for kind in sample.schema.types]
    wide = pa.schema(list(zip(sample.schema.names, types, strict=True)))
    assert pa.table(sample, schema=wide).schema == wide
    assert pa.chunked_array(sample["status"], type=pa.int32()).type == pa.int32()


def test_types_that_cannot_be_had_are_refused(sample: amudai.Shard) -> None:
    with pytest.raises((pa.ArrowInvalid, pa.ArrowNotImplementedError)):
        pa.table(sample.scan(["status"]), schema=pa.schema([("status", pa.int8())]))


def test_other_libraries_take_shards_and_scans_as_they_are(sample: amudai.Shard) -> None:
    import duckdb
    import polars as pl

    assert pl.DataFrame(sample.scan(["status"]))["status"].to_list() == sample["status"].read().to_pylist()
    assert pl.Series(sample["status"]).to_list() == sample["status"].read().to_pylist()
    scan = sample.scan(["status"], col("status") >= 500)
    assert duckdb.sql("SELECT count(*) FROM scan").fetchall() == [(scan.count(),)]
    assert duckdb.sql("SELECT count(*) FROM sample").fetchall() == [(400,)]


# ---- samples ----


@pytest.fixture(scope="module")
def thousand(tmp_path_factory: pytest.TempPathFactory) -> amudai.Shard:
    table = {"n": list(range(1000)), "even": [n % 2 == 0 for n in range(1000)]}
    return amudai.write(table, tmp_path_factory.mktemp("face") / "n.amudai.shard", stripe_rows=300)


def drawn(shard: amudai.Shard, *arguments: Any, **options: Any) -> list[int]:
    found: list[int] = shard.sample(*arguments, columns=["n"], **options)["n"].to_pylist()
    return found


def test_a_sample_has_no_row_twice_and_is_in_order(thousand: amudai.Shard) -> None:
    for count in (0, 1, 20, 999, 1000):
        found = drawn(thousand, count)
        assert len(found) == count
        assert found == sorted(set(found))
    assert drawn(thousand, 5000) == list(range(1000))
    assert len(drawn(thousand)) == 10


def test_a_seed_gives_the_same_sample_again(thousand: amudai.Shard) -> None:
    for where in (None, col("n") >= 100):
        assert drawn(thousand, 20, where=where, seed=7) == drawn(thousand, 20, where=where, seed=7)
        assert drawn(thousand, 20, where=where, seed=7) != drawn(thousand, 20, where=where, seed=8)
        assert drawn(thousand, 20, where=where) != drawn(thousand, 20, where=where)


def test_a_sample_of_rows_that_match(thousand: amudai.Shard) -> None:
    found = drawn(thousand, 50, where=col("even") == True, seed=1)  # noqa: E712
    assert len(found) == 50
    assert all(n % 2 == 0 for n in found)
    assert drawn(thousand, 50, where="n < 7") == [0, 1, 2, 3, 4, 5, 6]
    assert drawn(thousand, 50, where="n < 0") == []
    assert thousand.sample(3, where="n < 0").schema == thousand.schema


@pytest.mark.slow
@pytest.mark.parametrize("where", [None, "even = true"])
def test_every_row_is_as_likely_as_any_other(thousand: amudai.Shard, where: str | None) -> None:
    counts = np.zeros(1000)
    for seed in range(200):
        counts[drawn(thousand, 100, where=where, seed=seed)] += 1
    possible = counts if where is None else counts[::2]
    mean = 200 * 100 / len(possible)
    assert counts.sum() == 200 * 100
    # Six standard deviations of how often one row is drawn, and ten times less for a tenth of the rows.
    assert abs(possible - mean).max() < 6 * mean**0.5
    tenths = possible.reshape(10, -1).mean(axis=1)
    assert abs(tenths - mean).max() < 6 * (mean / (len(possible) // 10)) ** 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"count": -1}, "count: expected at least 0"),
        ({"seed": -1}, "seed: expected"),
        ({"seed": "x"}, "seed: expected"),
    ],
)
def test_nonsense_about_samples_is_refused(thousand: amudai.Shard, options: dict[str, Any], message: str) -> None:
    with pytest.raises(amudai.InvalidArgument, match=message):
        thousand.sample(**options)


def test_a_sample_of_nothing(tmp_path: Path) -> None:
    empty = amudai.write(pa.table({"n": pa.array([], pa.int64())}), tmp_path / "e.amudai.shard")
    assert empty.sample(5).num_rows == 0
    assert empty.count() == 0
    assert list(empty) == []


# ---- searches ----


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> amudai.Shard:
    table = pa.table(
        {
            "n": range(5),
            "message": ["disk full", "Disk fine", "timeouts", None, "nothing"],
            "tags": [["error"], [], ["full"], ["Error", "disk"], None],
            "http": [{"path": "/disk", "status": 1}, None, {"path": None, "status": 2}, None, None],
        }
    )
    return amudai.write(
        table, tmp_path_factory.mktemp("face") / "t.amudai.shard", indexes=[amudai.TermIndex("message")]
    )


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("disk", {}, [0, 1, 3]),
        ("disk error", {}, [0, 3]),
        ("  disk\terror\n", {}, [0, 3]),
        ("fine error", {"any_word": True}, [0, 1, 3]),
        ("disk", {"within": ["message"]}, [0, 1]),
        ("disk", {"within": ["http.path", "tags"]}, [0, 3]),
        ("Disk", {"case_sensitive": True}, [1]),
        ("timeout", {}, []),
        ("time", {"match": "hasprefix"}, [2]),
        ("meout", {"match": "contains"}, [2]),
        ("meout", {"match": "contains", "where": "n < 2"}, []),
        ("disk", {"where": col("n") > 0}, [1, 3]),
        ("disk", {"rows": slice(1, 3)}, [1]),
        ("disk", {"limit": 2}, [0, 1]),
        ("", {}, [0, 1, 2, 3, 4]),
        ("", {"where": "n > 3"}, [4]),
    ],
)
def test_rows_with_words(texts: amudai.Shard, text: str, options: dict[str, Any], expected: list[int]) -> None:
    scan = texts.search(text, ["n"], **options)
    assert scan.to_table().to_pydict() == {"n": expected}
    assert scan.positions().tolist() == expected


def test_a_search_looks_into_every_text(texts: amudai.Shard) -> None:
    assert texts.text_columns == ("message", "tags", "http.path")
    assert texts.search("disk").schema == texts.schema


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda shard: shard.search("x", match="like"), "match: expected has, hasprefix, contains, found 'like'"),
        (lambda shard: shard.search("x", within="message"), "within: expected a list of names"),
        (lambda shard: shard.search("x", within=["nope"]), "'nope'"),
        (lambda shard: shard.search("x", within=["n"]), "n"),
        (lambda shard: shard.search("x", ["nope"]), "'nope'"),
        (lambda shard: shard.search(3), "text: expected words, found 3"),
        (lambda shard: shard.search("x", within=[]), "with text columns, found none"),
    ],
)
def test_nonsense_about_searches_is_refused(
    texts: amudai.Shard, call: Callable[[amudai.Shard], object], message: str
) -> None:
    with pytest.raises(amudai.InvalidArgument, match=re.escape(message)):
        call(texts)


def test_a_shard_without_texts_cannot_be_searched(thousand: amudai.Shard) -> None:
    with pytest.raises(amudai.InvalidArgument, match="with text columns, found none"):
        thousand.search("x")
    assert thousand.search("").count() == 1000
