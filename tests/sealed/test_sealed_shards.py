"""Every shard that was ever sealed is read, searched and sound."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import amudai
from tests.sealed.make import FEATURES, ROOT, SHARDS, SUMS, sums
from tests.sealed.other_version import failures, outcomes
from tests.sealed.reading import outcome

CASES = sorted(path for path in SHARDS.iterdir() if path.is_dir())


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: folder.name)
def test_a_sealed_shard_is_read(folder: Path) -> None:
    assert outcome(folder) == "same"


def test_nothing_was_made_again() -> None:
    assert sums() == SUMS.read_text()


def test_every_feature_has_a_sealed_shard() -> None:
    assert [path.name for path in CASES if path.name not in FEATURES] == []
    assert sorted(FEATURES) == [path.name for path in CASES]


def test_every_extended_encoding_is_sealed() -> None:
    found, dictionaries = set(), []
    for folder in SHARDS.glob("extended-*"):
        with amudai.open(folder / ROOT) as shard:
            for name in shard.schema.names:
                found.update(word for label in shard[name].encodings for word in re.findall(r"\w+", label))
                if pa.types.is_floating(shard.schema.field(name).type):
                    dictionaries.append(shard.stripes[0][name].stats.dictionary_size)
    assert {"patched", "chimp", "pco", "snappy", "lz4_shared", "zstd_shared"} <= found
    assert any(dictionaries)


def test_other_rows_and_damage_are_noticed(tmp_path: Path) -> None:
    for name in ("indexes", "types"):
        shutil.copytree(SHARDS / name, tmp_path / name)
    shutil.copy(SHARDS / "profiles" / "expected.arrow", tmp_path / "types" / "expected.arrow")
    assert outcome(tmp_path / "types") == "wrong: other rows"
    (tmp_path / "indexes" / "answers.json").write_text("{}")
    assert outcome(tmp_path / "indexes") == "wrong: other answers"
    content = bytearray((tmp_path / "indexes" / ROOT).read_bytes())
    content[100] ^= 1
    (tmp_path / "indexes" / ROOT).write_bytes(content)
    assert outcome(tmp_path / "indexes").startswith("refused: ")


@pytest.mark.slow
def test_another_process_reads_what_this_one_writes() -> None:
    assert outcomes(sys.executable, ["profiles", "merged"]) == {"profiles": "same", "merged": "same"}


def test_what_another_version_may_refuse() -> None:
    found = {"a": "same", "b": "refused: unknown", "c": "wrong: other rows"}
    assert failures(found, []) == {"b": "refused: unknown", "c": "wrong: other rows"}
    assert failures(found, ["b", "c"]) == {"c": "wrong: other rows"}
