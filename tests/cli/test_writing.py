"""Do ingest, index and export write what they should, all of it or nothing?"""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import amudai
from tests.cli.runs import amudai as start
from tests.cli.runs import finish, run

LINES = ["2026-01-01 10:00:00 INFO started", "2026-01-01 10:00:01 WARN slow disk", "2026-01-01 10:00:02 INFO done"]


# ---- ingest ----


def test_a_hash_index_that_brings_nothing_is_noted(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("id,code\n" + "".join(f"{number},{number * 7919 % 100_003}\n" for number in range(70_000)))
    done = run("ingest", rows, "-o", tmp_path / "a.amudai.shard", "--hash", "id", "--hash", "code")
    assert [line for line in done.stderr.splitlines() if line.startswith("note: ")] == [
        "note: hash index over 'id': the values are sorted or clustered, so the range index finds them as fast; "
        "the hash index only takes space, leave it out"
    ]
    noted = run("index", tmp_path / "a.amudai.shard", "-o", tmp_path / "b.amudai.shard", "--hash", "id").stderr
    assert "note: hash index over 'id'" in noted


def test_ingest_tells_what_it_did(tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("\n".join(LINES * 100))
    target = tmp_path / "app.amudai.shard"
    text = run("ingest", log, "-o", target, "--index", "line", "--hash", "level").stdout
    assert "300 rows, 5 columns" in text
    assert "where the bytes went" in text
    assert "rows/s" in text
    shard = amudai.open(target)
    assert shard.num_rows == 300
    assert [index.fields for index in shard.indexes] == [("line",), ("level",)]
    assert "exists" in run("ingest", log, "-o", target, code=3).stderr
    found = json.loads(run("ingest", log, "-o", target, "--overwrite", "--json").stdout)
    assert found["bytes_in"] == log.stat().st_size
    assert found["bytes_out"] == target.stat().st_size == sum(part["bytes"] for part in found["bytes"])
    assert (found["rows"], found["columns"], found["skipped"]) == (300, 5, 0)


def test_ingest_takes_options(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,status\n1,200\n2,404\n")
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"id,status\n3,500\n4,501\n"))
    target = tmp_path / "x.amudai.shard"
    options = ["--type", "status=int16", "-t", "id=string", "--stripe-rows", 2, "--layout", "two-level"]
    document = json.loads(run("ingest", tmp_path, "-o", target, *options, "--profile", "plain", "--json").stdout)
    shard = amudai.open(target)
    assert shard.schema.types == [pa.string(), pa.int16()]
    assert shard.read().to_pydict() == {"id": ["1", "2", "3", "4"], "status": [200, 404, 500, 501]}
    assert len(shard.stripes) == document["stripes"] == 2
    others = [path for path in tmp_path.iterdir() if path.suffix == ".stripe"]
    assert len(others) == 2
    assert document["bytes_out"] == sum(path.stat().st_size for path in [target, *others])


def test_ingest_keeps_nanoseconds(tmp_path: Path) -> None:
    table = pa.table({"at": pa.array([1_700_000_000_123_456_789, None, -1], pa.timestamp("ns"))})
    pyarrow.parquet.write_table(table, tmp_path / "x.parquet")
    target = tmp_path / "x.amudai.shard"
    text = run("ingest", tmp_path / "x.parquet", "-o", target).stdout
    assert "3 rows, 1 column" in text
    assert "at:nanoseconds" not in text
    assert "internal fields" in text
    assert "at:nanoseconds" in run("inspect", target).stdout
    run("export", target, "-o", tmp_path / "out.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet").equals(table)
    raw = tmp_path / "raw.amudai.shard"
    run("ingest", tmp_path / "x.parquet", "-o", raw, "--timestamps", "int64")
    assert amudai.open(raw).read().equals(table)
    assert amudai.open(raw)["at"].stored_type == "int64"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--type", "status"], "COLUMN=TYPE"),
        (["--type", "status=int33"], "int33"),
        (["--type", "nope=int32"], "nope"),
        (["--format", "xml"], "xml"),
        (["--layout", "three"], "single or two-level"),
        (["--timestamps", "iso"], "ticks or int64"),
        (["--compatibility", "all"], "--compatibility: expected reference or extended"),
        (["--profile", "tiny"], "tiny"),
        (["--profile", "nope=plain"], "--profile: column 'nope': expected one of"),
        (["--profile", "id=tiny"], "tiny"),
        (["--profile", "plain", "--profile", "balanced"], "--profile: expected one for all columns"),
        (["--on-error", "ignore"], "raise or skip or keep"),
        (["--duplicates", "drop"], "--duplicates: expected raise or rename"),
        (["--mixed-zones", "drop"], "--mixed-zones: expected raise or text"),
        (["--multiline", "drop"], "--multiline: expected join or inherit or separate"),
        (["--only-new", "--overwrite"], "--only-new: expected a new shard"),
        (["--tokenizer", "log"], "--tokenizer: expected --index as well"),
        (["--hash", "id", "--max-bytes", "1MB"], "--max-bytes: expected --index as well"),
        (["--granularity", "element"], "--granularity: expected --index as well"),
        (["--hash", "id", "--level", "row"], "shard, stripe"),
        (["--index", "nope"], "nope"),
    ],
)
def test_ingest_refuses_what_makes_no_sense(tmp_path: Path, options: list[str], said: str) -> None:
    (tmp_path / "a.csv").write_text("id,status\n1,200\n")
    error = run("ingest", tmp_path / "a.csv", "-o", tmp_path / "x.amudai.shard", *options, code=2).stderr
    assert said in error
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]


def test_bad_records_are_counted_and_shown(tmp_path: Path) -> None:
    bad = set(range(5, 100, 5))
    lines = ["not json" if number in bad else json.dumps({"n": number}) for number in range(1, 101)]
    source = tmp_path / "a.jsonl"
    source.write_text("\n".join(lines))
    target = tmp_path / "x.amudai.shard"
    error = run("ingest", source, "-o", target, code=3).stderr
    assert f"file {source}, line 5" in error
    assert not target.exists()
    result = run("ingest", source, "-o", target, "--on-error", "skip")
    assert f"skipped {source}:5: " in result.stderr
    assert result.stderr.count("skipped ") == 11
    assert "skipped 9 more" in result.stderr
    assert "19 bad records skipped" in result.stdout
    assert amudai.open(target).num_rows == 81
    found = json.loads(run("ingest", source, "-o", target, "--on-error", "skip", "--overwrite", "--json").stdout)
    assert found["skipped"] == 19
    assert [each["line"] for each in found["skipped_examples"]] == sorted(bad)[:10]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "options", "columns"),
    [
        (b'{"a": 1}\n{"a": 2}\n', [], {"a": [1, 2]}),
        (gzip.compress(b'{"a": 1}\n'), [], {"a": [1]}),
        (b"a,b\n1,x\n", ["--format", "csv"], {"a": [1], "b": ["x"]}),
        (b"hello\nworld\n", [], {"line": ["hello", "world"], "file": ["<stdin>"] * 2, "line_number": [1, 2]}),
    ],
    ids=["json", "gzip", "csv", "log"],
)
def test_ingest_reads_standard_input(
    tmp_path: Path, data: bytes, options: list[str], columns: dict[str, list[object]]
) -> None:
    target = tmp_path / "x.amudai.shard"
    code, _, error = finish(start("ingest", "-", "-o", target, *options, stdin=-1), data)
    assert code == 0, error
    assert amudai.open(target).read().to_pydict() == columns
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


@pytest.mark.slow
def test_standard_input_may_be_parquet(tmp_path: Path, table: pa.Table) -> None:
    pa.parquet.write_table(table, tmp_path / "x.parquet")
    data = (tmp_path / "x.parquet").read_bytes()
    assert finish(start("ingest", "-", "-o", tmp_path / "x.amudai.shard", stdin=-1), data)[0] == 0
    assert amudai.open(tmp_path / "x.amudai.shard").read().equals(table)


# ---- index ----


def test_index_adds_to_a_shard(tmp_path: Path, table: pa.Table) -> None:
    amudai.write(table, tmp_path / "plain.amudai.shard")
    target = tmp_path / "indexed.amudai.shard"
    options = ["--index", "message", "--tokenizer", "word", "--hash", "trace_id"]
    found = json.loads(run("index", tmp_path / "plain.amudai.shard", *options, "-o", target, "--json").stdout)
    assert [index["fields"] for index in found["indexes"]] == [["message"], ["trace_id"]]
    why = amudai.open(target).scan(where="message has 'unicorn'").explain()
    assert why.sure == 1
    assert run("search", "unicorn", target, "--count").stdout == "1\n"
    assert "trace_id" in run("index", tmp_path / "plain.amudai.shard", *options, "-o", target, "--overwrite").stdout
    assert "neither" in run("index", target, "-o", tmp_path / "y", code=2).stderr


def test_index_of_each_stripe_and_within_a_size(tmp_path: Path, table: pa.Table) -> None:
    amudai.write(table, tmp_path / "plain.amudai.shard", stripe_rows=400)
    target = tmp_path / "indexed.amudai.shard"
    options = ["--index", "message", "--hash", "trace_id", "--level", "stripe", "--granularity", "element"]
    found = json.loads(run("index", tmp_path / "plain.amudai.shard", *options, "-o", target, "--json").stdout)
    assert [(index["stripe"], index["fields"]) for index in found["indexes"]] == [
        (stripe, [name]) for stripe in range(3) for name in ("message", "trace_id")
    ]
    assert run("search", "unicorn", target, "--count").stdout == "1\n"
    assert "stripe 2" in run("index", tmp_path / "plain.amudai.shard", *options, "-o", target, "--overwrite").stdout
    small = ["--index", "message", "--max-bytes", "10", "-o", tmp_path / "small.amudai.shard"]
    assert "at least" in run("index", tmp_path / "plain.amudai.shard", *small, code=2).stderr


# ---- export ----


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv", "jsonl"])
def test_export_writes_every_row(shard: Path, table: pa.Table, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"out.{ending}"
    document = json.loads(run("export", shard, "-o", target, "--json").stdout)
    assert (document["rows"], document["bytes"]) == (1000, target.stat().st_size)
    match ending:
        case "parquet":
            assert pa.parquet.read_table(target).equals(table)
            assert pa.parquet.ParquetFile(target).num_row_groups == 1
        case "arrow":
            assert pa.feather.read_table(target).equals(table)
        case "csv":
            found = pa.csv.read_csv(target)
            assert found["message"].equals(table["message"])
            assert found["ts"].cast(table["ts"].type).equals(table["ts"])
            assert [None if not text else json.loads(text) for text in found["http"].to_pylist()] == table[
                "http"
            ].to_pylist()
        case "jsonl":
            rows = [json.loads(line) for line in target.read_text().splitlines()]
            assert [row["http"] for row in rows] == table["http"].to_pylist()
            assert [row["status"] for row in rows] == table["status"].to_pylist()


@pytest.mark.parametrize(("zone", "text"), [(None, ""), ("UTC", "Z"), ("Europe/Berlin", "+02:00")])
def test_export_writes_the_zone_of_times(tmp_path: Path, zone: str | None, text: str) -> None:
    hour = 12 if zone == "Europe/Berlin" else 10
    times = pa.array([datetime(2026, 7, 1, 10), None], pa.timestamp("ms", "UTC")).cast(pa.timestamp("ms", zone))
    amudai.write({"ts": times, "n": [1, 2]}, tmp_path / "x.amudai.shard")
    run("export", tmp_path / "x.amudai.shard", "-o", tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text() == f"ts,n\n2026-07-01T{hour}:00:00.000{text},1\n,2\n"
    run("export", tmp_path / "x.amudai.shard", "-o", tmp_path / "x.jsonl")
    first, second = (tmp_path / "x.jsonl").read_text().splitlines()
    assert json.loads(first) == {"ts": f"2026-07-01T{hour}:00:00.000{text}", "n": 1}
    assert json.loads(second) == {"ts": None, "n": 2}
    assert run("head", tmp_path / "x.amudai.shard").stdout.splitlines()[1].startswith(f"2026-07-01 {hour}:00:00{text} ")


def test_export_takes_rows_and_columns(shard: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.parquet"
    run("export", shard, "-o", target, "--where", "status >= 500", "--columns", "status,message", "--limit", 50)
    found = pa.parquet.read_table(target)
    assert found.column_names == ["status", "message"]
    assert found.num_rows == 50
    assert min(found["status"].to_pylist()) >= 500


def test_export_leaves_nothing_half_written(shard: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("mine")
    assert "found a file that exists" in run("export", shard, "-o", target, code=3).stderr
    assert target.read_text() == "mine"
    assert "--where" not in run("export", shard, "-o", target, "--overwrite").stderr
    assert target.read_text().startswith("ts,level")
    assert "found 'out.xml'" in run("export", shard, "-o", "out.xml", code=2).stderr
    damaged = tmp_path / "damaged.amudai.shard"
    content = bytearray(shard.read_bytes())
    content[100] ^= 1
    damaged.write_bytes(content)
    assert run("export", damaged, "-o", tmp_path / "new.csv", code=3).stderr.startswith("error: ")
    assert not (tmp_path / "new.csv").exists()
    assert not list(tmp_path.glob(".amudai-*"))


@pytest.mark.slow
def test_export_streams_to_standard_output(shard: Path, table: pa.Table) -> None:
    code, out, _ = finish(start("export", shard, "-o", "-", "--format", "csv", "-C", "status"))
    assert code == 0
    assert out.splitlines() == ["status", *map(str, table["status"].to_pylist())]
    process = start("export", shard, "-o", "-", "--format", "arrow")
    data, _ = process.communicate(timeout=120)
    assert pa.ipc.open_stream(data).read_all().equals(table)


def test_compact_writes_rows_anew(tmp_path: Path) -> None:
    for name, numbers in (("a", [3, 1]), ("b", [2])):
        amudai.write({"n": numbers, "word": ["x"] * len(numbers)}, tmp_path / f"{name}.amudai.shard")
    first, second, to = (tmp_path / f"{name}.amudai.shard" for name in ("a", "b", "all"))
    done = run("compact", first, second, "-o", to, "--sort-by", "word,-n", "--where", "n > 1")
    assert "2 rows of 2 shards" in done.stdout
    assert amudai.open(to).read(["n"]).to_pydict() == {"n": [3, 2]}
    run("compact", first, "-o", to, code=3)
    assert json.loads(run("compact", first, "-o", to, "--overwrite", "--json").stdout)["rows"] == 2
    assert (
        "--sort-by: expected names" in run("compact", first, "-o", to, "--overwrite", "--sort-by", ",", code=2).stderr
    )
