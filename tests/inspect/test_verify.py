"""Does verification read everything, and name what is wrong?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai.arrow import SCHEMA_PROPERTY
from amudai.storage import MemoryStore
from tests.fixtures.make_sample import SAMPLE
from tests.forge import Forge, booleans, dictionary, numbers, open_damaged, open_forged, strings
from tests.oracle.numeric import plain


def test_verify_of_a_sound_shard() -> None:
    found = amudai.open(SAMPLE).verify()
    assert found.ok
    assert found.problems == ()
    assert (found.files, found.blocks, found.values) == (1, 8, 2000)
    assert found.bytes >= SAMPLE.stat().st_size
    assert str(found).startswith("sound: 1 file, 8 blocks, 2,000 values")


def test_verify_names_the_block_that_is_open_damaged() -> None:
    found = open_damaged(n=numbers(range(10), "i8", plain.encode, 5)).verify()
    assert not found.ok
    (problem,) = found.problems
    assert isinstance(problem.error, amudai.CorruptedData)
    assert "checksum" in problem.message
    assert problem.error.place["block"] == 0
    assert "damaged.amudai.shard" in problem.message


def test_verify_goes_on_after_a_problem() -> None:
    shard = open_damaged(
        a=numbers([1, 2], "i8"), b=strings(["x", "y"]), c=booleans([True, False]), d=dictionary(["p", "q"])
    )
    found = shard.verify()
    assert len(found.problems) == 4
    assert str(found).startswith("4 problems in 1 file")
    assert str(found).count("checksum") == 4


def test_verify_compares_checksums_even_if_reading_does_not() -> None:
    shard = open_damaged(n=numbers([1, 2], "i8"))
    unchecked = amudai.open(shard.url, store=shard._reader.store, verify=False)
    assert unchecked.read().num_rows == 2
    assert not unchecked.verify().ok


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("properties", {"properties": {"a": 1}, "broken_checksums": frozenset({"ShardProperties"})}),
        ("descriptors of the shard", {"broken_checksums": frozenset({"FieldDescriptor"})}),
        ("urls", {"broken_checksums": frozenset({"UrlList"})}),
        ("stripes", {"broken_checksums": frozenset({"StripeList"})}),
        ("schema", {"raw_schema": b"garbage"}),
        ("kept schema", {"properties": {SCHEMA_PROPERTY: pa.schema([("n", pa.int32())]).serialize().to_pybytes()}}),
    ],
)
def test_verify_looks_at_all_metadata(name: str, options: dict[str, Any]) -> None:
    found = open_forged(Forge.of({"n": numbers([1, 2], "i8")}, **options)).verify()
    assert not found.ok, name


def test_verify_looks_at_the_marks_of_every_file() -> None:
    forge = Forge.of({"n": numbers([1], "i8")}, layout="two-level")
    files = forge.files()
    stripe = next(name for name in files if name.endswith(".stripe"))
    files[stripe] = b"XXXX" + files[stripe][4:]
    found = amudai.open(forge.name, store=MemoryStore(files)).verify()
    (problem,) = found.problems
    assert "not an Amudai shard" in problem.message
    assert found.files == 2


def test_verify_tells_how_far_it_is() -> None:
    seen: list[amudai.Progress] = []
    assert amudai.open(SAMPLE).verify(progress=seen.append).ok
    assert [each.rows for each in seen] == [80, 160, 240, 320, 400]
    assert seen[-1].bytes_in > 0
    assert seen[-1].total_rows == 400


def test_threads_find_the_same_in_the_same_order(tmp_path: Path) -> None:
    path = tmp_path / "t.amudai.shard"
    numbers = np.random.default_rng(1).integers(0, 1 << 40, 300_000)
    amudai.write(pa.table({f"c{at}": numbers for at in range(6)}), path, indexes=[amudai.HashIndex("c5")])
    sound = amudai.open(path, threads=1).verify()
    assert sound.ok
    assert amudai.open(path, threads=4).verify() == sound
    content = bytearray(path.read_bytes())
    for share in (0.1, 0.2, 0.35, 0.5, 0.9):
        content[int(share * len(content))] ^= 1
    path.write_bytes(content)
    damaged = amudai.open(path, threads=1).verify()
    assert len(damaged.problems) > 3
    assert str(amudai.open(path, threads=4).verify()) == str(damaged)


def test_threads_find_the_same_in_the_artifacts_of_indexes(tmp_path: Path) -> None:
    """Artifacts are verified side by side. Their problems are in the order of the artifacts all the same."""
    path = tmp_path / "t.amudai.shard"
    texts = pa.array([f"row {n} of {n * 7919 % 1009}" for n in range(20_000)])
    indexes = [amudai.TermIndex("text"), amudai.HashIndex("text")]
    amudai.write({"text": texts}, tmp_path / "plain.amudai.shard")
    amudai.add_indexes(tmp_path / "plain.amudai.shard", indexes, path)
    sound = amudai.open(path, threads=1).verify()
    assert sound.ok
    assert amudai.open(path, threads=3).verify() == sound
    content = path.read_bytes()
    both = 0
    for at in range(64, len(content), len(content) // 12):
        damaged = bytearray(content)
        for place in (at, at * 5 % len(content), at * 11 % len(content)):
            damaged[place] ^= 1
        path.write_bytes(damaged)
        try:
            found = amudai.open(path, threads=1).verify()
        except amudai.AmudaiError:
            continue  # it cannot be opened
        assert str(amudai.open(path, threads=3).verify()) == str(found)
        both += len({problem.error.place.get("index") for problem in found.problems} - {None}) > 1
    assert both > 1, "damage in artifacts of both indexes"
