"""Is a hash index that brings nothing noticed, and only such an index?"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import amudai
from amudai import HashIndex, NeedlessIndexWarning
from amudai.encoding import RangeIndex
from amudai.index.hash.need import rows_left

ROWS = 70_000
RANDOM = np.random.default_rng(4)
COUNTED = np.arange(ROWS)
NEEDLESS = {
    "sorted": COUNTED,
    "falling": COUNTED[::-1].astype(np.float64),
    "late": COUNTED * 1000 + RANDOM.integers(0, 300_000, ROWS),
    "repeated": np.sort(RANDOM.integers(0, 4, ROWS)),
}
USEFUL = {
    "scattered": RANDOM.integers(0, 1 << 50, ROWS),
    "few": RANDOM.integers(0, 50, ROWS),
    "text": [f"{number:08}" for number in range(ROWS)],
}


def warned(data: dict[str, object], path: Path, **options: object) -> list[str]:
    """The fields that warnings name while the data is written with a hash index of each column."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        amudai.write(data, path, indexes=[HashIndex(*data)], overwrite=True, **options)  # type: ignore[arg-type]
    assert all(warning.category is NeedlessIndexWarning for warning in caught)
    assert all(warning.filename == __file__ for warning in caught), "the place is the caller's"
    return [str(warning.message).split("'")[1] for warning in caught]


@pytest.mark.parametrize("stripe_rows", [None, 30_000])
def test_only_an_index_of_ordered_values_is_needless(stripe_rows: int | None, tmp_path: Path) -> None:
    shard = tmp_path / "a.amudai.shard"
    assert warned({**NEEDLESS, **USEFUL}, shard, stripe_rows=stripe_rows) == list(NEEDLESS)
    assert len(amudai.open(shard).indexes) == 1, "it is built all the same"


@pytest.mark.slow
def test_members_of_structs_and_nulls_are_seen_through(tmp_path: Path) -> None:
    rows = [{"id": number if number % 7 else None, "tag": [number]} for number in range(ROWS)]
    with pytest.warns(NeedlessIndexWarning, match=r"^hash index over 'user.id': "):
        amudai.write({"user": rows}, tmp_path / "a.amudai.shard", indexes=[HashIndex("user.id", "user.tag")])


def test_without_a_range_index_the_hash_index_is_useful(tmp_path: Path) -> None:
    assert warned({"id": COUNTED}, tmp_path / "a.amudai.shard", profile="plain") == []


def test_a_small_shard_is_not_worth_a_word(tmp_path: Path) -> None:
    assert warned({"id": COUNTED[:5000]}, tmp_path / "a.amudai.shard") == []


def test_adding_an_index_warns_too(tmp_path: Path) -> None:
    shard = amudai.write({"id": COUNTED}, tmp_path / "a.amudai.shard")
    with pytest.warns(NeedlessIndexWarning, match="'id'"):
        amudai.add_indexes(shard, [HashIndex("id", level="stripe")], tmp_path / "b.amudai.shard")


def ranges(least: list[int], greatest: list[int], invalid: list[int] | None = None) -> RangeIndex:
    low, high = np.array(least), np.array(greatest)
    nulls: npt.NDArray[np.uint16] | None = None if invalid is None else np.array(invalid, np.uint16)
    return RangeIndex(256 * len(low), 256, low, high, nulls)


def test_rows_left_counts_the_stretches_that_may_have_a_value() -> None:
    assert rows_left([ranges([0, 10, 20], [9, 19, 29])]) == 256
    assert rows_left([ranges([0, 0, 0, 0], [9, 9, 9, 9])]) == 1024
    assert rows_left([ranges([0, 10], [9, 19]), ranges([0, 10], [9, 19])]) == 512, "one stretch of each stripe"
    assert rows_left([ranges([3, 3, 4], [3, 3, 4])]) == 0, "stretches of one value need no look"
    assert rows_left([ranges([0, 99, 20], [9, 0, 29], [0, 256, 3])]) == 256, "a stretch of nulls holds nothing"
