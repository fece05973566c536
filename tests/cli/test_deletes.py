"""The commands that delete rows, take deletes back and replace rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import amudai
from tests.cli.runs import run

ROWS = 12


@pytest.fixture
def place(tmp_path: Path) -> Path:
    data = {"id": list(range(ROWS)), "text": [f"{'odd' if n % 2 else 'even'} {n}" for n in range(ROWS)]}
    amudai.write(data, tmp_path / "a.amudai.shard", stripe_rows=5).close()
    return tmp_path / "a.amudai.shard"


def positions(place: Path) -> list[int]:
    return amudai.open(place).scan().positions().tolist()


def test_delete_and_undelete(place: Path) -> None:
    to, again = place.with_name("b.amudai.shard"), place.with_name("c.amudai.shard")
    assert "6 rows deleted, 6 rows left in" in run("delete", place, "--where", "text has 'odd'", "--to", to).stdout
    assert positions(to) == [0, 2, 4, 6, 8, 10]
    assert "4 rows taken back, 10 rows in" in run("undelete", to, "--positions", "0-7", "-o", again).stdout
    assert positions(again) == [0, 1, 2, 3, 4, 5, 6, 7, 8, 10]
    told = json.loads(run("undelete", again, "--output", to, "--overwrite", "--json").stdout)
    assert (told["rows"], told["deleted"]) == (12, 0)
    told = json.loads(run("delete", place, "--positions", "1, 3-4,3", "--to", again, "--overwrite", "--json").stdout)
    assert (told["rows"], told["deleted"]) == (9, 3)


def test_what_shows_deleted_rows(place: Path) -> None:
    to = place.with_name("b.amudai.shard")
    run("delete", place, "--where", "id < 6", "--to", to)
    tree = run("inspect", to).stdout
    assert "6 rows, 6 deleted, 3 stripes" in tree
    assert "rows 5..10, 1 deleted" in tree
    told = json.loads(run("inspect", to, "--json").stdout)
    assert (told["rows"], told["deleted"]) == (6, 6)
    assert [(each["rows"], each["deleted"]) for each in told["stripes"]] == [(0, 5), (4, 1), (2, 0)]
    assert run("search", "", to, "--count").stdout.strip() == "6"
    assert run("search", "", to, "--count", "--include-deleted").stdout.strip() == "12"
    lines = run("head", to, "-n", "2", "--json").stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [6, 7]
    for options, count in (([], 6), (["--include-deleted"], 12)):
        run("export", to, "-o", place.with_name("out.csv"), "--overwrite", *options)
        assert len(place.with_name("out.csv").read_text().splitlines()) == count + 1
    assert "sound" in run("verify", to).stdout


def test_upsert(place: Path) -> None:
    changes = place.with_name("changes.csv")
    changes.write_text("id,text\n3,three\n99,many\n")
    to = place.with_name("b.amudai.shard")
    told = run("upsert", place, changes, "--key", "id", "--to", to).stdout
    assert "2 rows written, 1 row replaced, 13 in all in" in told
    assert amudai.open(to).read(where="id in (3, 99)").to_pydict() == {"id": [3, 99], "text": ["three", "many"]}
    told = json.loads(run("upsert", place, changes, "-k", "id,text", "--to", to, "--overwrite", "--json").stdout)
    assert (told["rows"], told["added"], told["replaced"]) == (14, 2, 0)


def test_wrong_command_lines(place: Path) -> None:
    to = place.with_name("b.amudai.shard")
    for options, message in (
        ([], "delete: expected --where or --positions, found neither"),
        (["--where", "id = 1", "--positions", "1"], "found both"),
        (["--positions", "1-x"], "--positions: expected numbers and ranges such as 7,10-19, found '1-x'"),
        (["--positions", "99"], "rows: expected 0..11, found 99"),
    ):
        assert message in run("delete", place, "--to", to, *options, code=2).stderr
    assert not to.exists()
