"""Every shard that was ever sealed is read, searched and sound."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import amudai
from tests.golden import read_arrow
from tests.sealed.make import FEATURES, ROOT, SHARDS, SUMS, answers_of, sums

CASES = sorted(path for path in SHARDS.iterdir() if path.is_dir())


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_a_sealed_shard_is_read(folder: Path) -> None:
    with amudai.open(folder / ROOT) as shard:
        table = shard.read()
        assert table.equals(read_arrow(folder / "expected.arrow"), check_metadata=False)
        expected = json.loads((folder / "answers.json").read_text())
        assert answers_of(shard) == expected
        assert shard.num_rows == table.num_rows
        report = shard.verify(deep=True)
        assert report.ok, report.problems


def test_nothing_was_made_again() -> None:
    assert sums() == SUMS.read_text()


def test_every_feature_has_a_sealed_shard() -> None:
    assert [path.name for path in CASES if path.name not in FEATURES] == []
    assert sorted(FEATURES) == [path.name for path in CASES]
