"""Do inspect, schema, stats, head, sample, indexes and verify say what is there?"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pyarrow as pa

import amudai
from tests.cli.runs import run


def test_schema_names_both_types(shard: Path) -> None:
    lines = run("schema", shard).stdout.splitlines()
    assert any(line.split()[:3] == ["ts", "timestamp[us]", "datetime"] for line in lines)
    assert any(line.split()[:3] == ["size", "int64", "int64"] for line in lines)  # a member of http
    found = json.loads(run("schema", shard, "--json").stdout)
    assert [(each["name"], each["type"]) for each in found][:2] == [("ts", "timestamp[us]"), ("level", "string")]
    assert [child["name"] for child in found[-1]["children"]] == ["path", "size"]
    assert all(each["nullable"] for each in found)


def test_stats_are_those_of_the_table(shard: Path, table: pa.Table) -> None:
    found = {each["column"]: each for each in json.loads(run("stats", shard, "--json").stdout)}
    assert (found["status"]["min"], found["status"]["max"]) == (200, 502)
    assert found["ts"]["min"] == "2026-01-01T10:00:00"
    assert found["http"]["null_count"] == table["http"].null_count == 200
    assert found["http.size"]["max"] == 999
    assert found["status"]["stored_bytes"] == amudai.open(shard)["status"].encoded_bytes
    assert "502" in run("stats", shard).stdout
    one = run("stats", shard, "status").stdout
    assert "502" in one
    assert "encodings" in one
    assert "level" not in one
    assert "nope" in run("stats", shard, "nope", code=2).stderr


def test_inspect_shows_the_tree_down_to_blocks(shard: Path) -> None:
    text = run("inspect", shard).stdout
    assert "1,000 rows, 2 stripes" in text
    assert "property owner = ops" in text
    assert "stripe 1: rows 600..1,000" in text
    assert "index inverted-text-index-v1 over message" in text
    assert "blocks" not in text
    assert "values 0..600" in run("inspect", shard, "-v").stdout
    assert "stripe 0:" not in run("inspect", shard, "--stripe", 1).stdout
    assert "expected 0..1, found 2" in run("inspect", shard, "--stripe", 2, code=2).stderr


def test_inspect_accounts_for_every_block(shard: Path) -> None:
    found = json.loads(run("inspect", shard, "-v", "--json").stdout)
    assert found["bytes"] == shard.stat().st_size
    stored = amudai.open(shard)
    for name in ("status", "message"):
        fields = [field for stripe in found["stripes"] for field in stripe["fields"] if field["name"] == name]
        assert sum(field["bytes"] for field in fields) == stored[name].encoded_bytes
        data = [buffer for field in fields for buffer in field["buffers"] if buffer["kind"] == "data"]
        assert sum(block["values"] for buffer in data for block in buffer["blocks"]) == 1000
        plans = [block["encoding"] for buffer in data for block in buffer["blocks"]]
        assert {plan: plans.count(plan) for plan in plans} == {
            plan.removeprefix("dictionary(").removesuffix(")") if plan.startswith("dictionary(") else plan: count
            for plan, count in stored[name].encodings.items()
        }


def test_inspect_shows_the_rest_of_a_damaged_shard(shard: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.amudai.shard"
    content = bytearray(shard.read_bytes())
    content[100] ^= 1
    damaged.write_bytes(content)
    result = run("inspect", damaged, code=3)
    assert result.stdout.count("unreadable: ") == 1
    assert "message" in result.stdout
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    found = json.loads(run("inspect", damaged, "--json", code=3).stdout)
    problems = [field["problem"] for stripe in found["stripes"] for field in stripe["fields"] if "problem" in field]
    assert len(problems) == 1
    assert "damaged.amudai.shard" in problems[0]


def test_head_and_sample_print_rows(shard: Path, table: pa.Table) -> None:
    rows = [json.loads(line) for line in run("head", shard, "-n", 3, "--json").stdout.splitlines()]
    assert rows[1] == {
        "ts": "2026-01-01T10:00:01.000000",
        "level": "info",
        "status": 200,
        "trace_id": table["trace_id"][1].as_py(),
        "message": "request 1 done",
        "http": {"path": "/v1", "size": 1},
    }
    assert rows[0]["http"] is None
    printed = list(csv.DictReader(io.StringIO(run("head", shard, "-f", "csv", "-C", "status,http.path").stdout)))
    assert len(printed) == 10
    assert printed[1] == {"status": "200", "http": '{"path": "/v1"}'}
    assert printed[0]["http"] == ""
    shown = run("head", shard, "-n", 2).stdout.splitlines()
    assert shown[0].split() == table.column_names
    assert "2026-01-01 10:00:01 " in shown[2]
    assert run("head", shard, "-n", 0).stdout == ""


def test_a_sample_is_repeatable_and_in_order(shard: Path) -> None:
    first = run("sample", shard, "-n", 50, "--seed", 3, "--json", "-C", "message").stdout
    assert first == run("sample", shard, "-n", 50, "--seed", 3, "--json", "-C", "message").stdout
    numbers = [int(json.loads(line)["message"].split()[1]) for line in first.splitlines()]
    assert numbers == sorted(set(numbers))
    assert len(numbers) == 50
    assert numbers != list(range(50))
    assert len(run("sample", shard, "-n", 5000, "--json").stdout.splitlines()) == 1000


def test_indexes_are_listed(shard: Path, tmp_path: Path) -> None:
    (found,) = json.loads(run("indexes", shard, "--json").stdout)
    assert (found["type"], found["fields"]) == ("inverted-text-index-v1", ["message"])
    assert "message" in run("indexes", shard).stdout
    amudai.write({"a": [1]}, tmp_path / "a.amudai.shard")
    assert json.loads(run("indexes", tmp_path / "a.amudai.shard", "--json").stdout) == []
    assert "no indexes" in run("indexes", tmp_path / "a.amudai.shard").stderr


def test_verify_says_it_by_its_exit_code(shard: Path, tmp_path: Path) -> None:
    assert "sound" in run("verify", shard).stdout
    damaged = tmp_path / "damaged.amudai.shard"
    content = bytearray(shard.read_bytes())
    content[100] ^= 1
    damaged.write_bytes(content)
    assert "1 problem" in run("verify", damaged, code=1).stdout
    found = json.loads(run("verify", shard, damaged, "--json", code=1).stdout)
    assert not found["ok"]
    assert [each["ok"] for each in found["shards"]] == [True, False]
    damaged.write_bytes(b"no shard at all")
    assert "damaged.amudai.shard" in run("verify", damaged, code=1).stdout
    assert "error: " in run("verify", tmp_path / "missing", code=3).stderr
