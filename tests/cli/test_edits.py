"""Commands that merge and copy shards, list their files, and find garbage."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import amudai
from tests.cli.runs import run


@pytest.fixture
def days(tmp_path: Path) -> list[Path]:
    found = []
    for number in range(2):
        (tmp_path / f"day{number}").mkdir()
        found.append(tmp_path / f"day{number}" / "logs.amudai.shard")
        data = {"n": [number, 7], "text": ["disk full", "all well"]}
        amudai.write(data, found[-1], layout="two-level", indexes=[amudai.TermIndex("text")])
    return found


def test_merge(days: list[Path], tmp_path: Path) -> None:
    said = run("merge", *days, "-o", tmp_path / "all.amudai.shard").stdout
    assert "2 shards, 4 rows in 2 stripes, merged in" in said
    assert amudai.open(tmp_path / "all.amudai.shard").read()["n"].to_pylist() == [0, 7, 1, 7]
    told = json.loads(run("merge", *days, "-o", tmp_path / "b.amudai.shard", "--indexes", "keep", "--json").stdout)
    assert (told["shards"], told["rows"], told["stripes"]) == (2, 4, 2)
    run("merge", *days, "-o", tmp_path / "all.amudai.shard", code=3)  # exists
    run("merge", *days, "-o", tmp_path / "c.amudai.shard", "--indexes", "sort", code=2)


def test_files_elsewhere_need_allow(days: list[Path], tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    target = tmp_path / "all" / "logs.amudai.shard"
    assert "expected allow= to permit it" in run("merge", *days, "-o", target, code=2).stderr
    run("merge", *days, "-o", target, "--allow", tmp_path)
    assert "allow= permits" in run("head", target, code=3).stderr
    assert len(run("head", target, "--allow", tmp_path).stdout.splitlines()) == 5
    for command in ("schema", "stats", "inspect", "indexes", "verify", "sample", "files"):
        run(command, target, "--allow", tmp_path)
    assert run("search", "disk", target, "--count", "--allow", tmp_path).stdout.strip() == "2"


def test_files_and_copy(days: list[Path], tmp_path: Path) -> None:
    run("merge", *days, "-o", tmp_path / "all.amudai.shard")
    listed = json.loads(run("files", tmp_path / "all.amudai.shard", "--json").stdout)
    assert [(each["kind"], each["owned"]) for each in listed] == [("root", True), ("stripe", False), ("stripe", False)]
    assert "referred to" in run("files", tmp_path / "all.amudai.shard").stdout
    said = run("copy", tmp_path / "all.amudai.shard", "-o", tmp_path / "copy.amudai.shard", "--move").stdout
    assert "moved, 3 files of" in said
    assert not (tmp_path / "all.amudai.shard").exists()
    assert amudai.open(tmp_path / "copy.amudai.shard").num_rows == 4


def test_gc(days: list[Path], tmp_path: Path) -> None:
    lost = days[0].parent / "1f.amudai.stripe"
    lost.write_bytes(b"left behind")
    assert "nothing:" in run("gc", tmp_path).stderr
    os.utime(lost, (0, 0))
    assert "1f.amudai.stripe" in run("gc", tmp_path).stdout.replace("\n", "")
    assert lost.exists()
    (removed,) = json.loads(run("gc", tmp_path, "--remove", "--json").stdout)
    assert (removed["kind"], removed["bytes"], removed["removed"]) == ("stripe", 11, True)
    assert not lost.exists()
    run("gc", tmp_path, "--older-than", "-1", code=2)


def test_salvage_saves_what_is_sound_and_lists_the_rest(tmp_path: Path) -> None:
    rows = 30_000
    amudai.write({"n": range(rows), "text": ["x"] * rows}, tmp_path / "t.amudai.shard").close()
    content = bytearray((tmp_path / "t.amudai.shard").read_bytes())
    content[100] ^= 1
    (tmp_path / "bad.amudai.shard").write_bytes(content)
    saved = tmp_path / "saved.amudai.shard"
    told = json.loads(run("salvage", tmp_path / "bad.amudai.shard", "-o", saved, "--json").output)
    assert told["rows"] + told["lost_rows"] == rows
    assert [(each["column"], each["stripe"], each["first"]) for each in told["lost"]] == [("n", 0, 0)]
    shown = run("salvage", tmp_path / "bad.amudai.shard", "-o", saved, "--overwrite", "--missing", "null").output
    assert "30,000 rows saved, 0 rows lost" in shown
    assert f"n, stripe 0, rows 0..{told['lost_rows']}: block checksum" in shown
