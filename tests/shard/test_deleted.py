"""Deleted rows: the marker, the counters, and what happens where they disagree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pytest

import amudai
from amudai.types import DELETED_RECORD
from tests.edit.ways import COUNTS, WAYS
from tests.forge import Column, Forge, booleans, constants, numbers, open_forged, strings
from tests.forge.columns import missing

Markers = Sequence[bool | None] | None


def columns_of(first: int, markers: Markers, count: int = 4) -> dict[str, Column]:
    """The columns of a stripe: numbers, texts, and the unnamed marker, which is missing if `markers` is None."""
    found = {
        "n": numbers(list(range(first, first + count)), "i8"),
        "t": strings([f"word {n}" for n in range(first, first + count)]),
        "": booleans([bool(each) for each in markers]) if markers is not None else missing(booleans([True])),
    }
    if markers is not None and None in markers:
        found[""] = booleans(list(markers))
    found[""].internal = DELETED_RECORD
    return found


def forged(*stripes: Markers, counted: Sequence[int] | None = None, total: int | None = None, **options: Any) -> Forge:
    """A shard with these markers. `counted` and `total` are what its counters say; by default the truth."""
    parts = [columns_of(4 * ordinal, markers) for ordinal, markers in enumerate(stripes)]
    true = [sum(each is True for each in markers or ()) for markers in stripes]
    counts = true if counted is None else counted
    whole = sum(counts) if total is None else total
    forge = Forge.of(
        *parts, edits={"ShardDirectory": lambda message: setattr(message, "deleted_record_count", whole)}, **options
    )
    for stripe, count in zip(forge.stripes, counts, strict=True):
        stripe.rows = 4
        stripe.edit = lambda message, count=count: setattr(message, "deleted_record_count", count)  # type: ignore[misc]
    return forge


SOME = forged([False, True, False, False], None, [True, None, False, True], layout="two-level")
LIVE = [0, 2, 3, 4, 5, 6, 7, 9, 10]


@pytest.mark.parametrize("way", [name for name in WAYS if name != "tasks"])
def test_rows_with_the_marker_are_left_out(way: str) -> None:
    assert WAYS[way](open_forged(SOME)) == LIVE


@pytest.mark.parametrize("way", COUNTS)
def test_rows_with_the_marker_are_not_counted(way: str) -> None:
    assert COUNTS[way](open_forged(SOME)) == len(LIVE)


def test_positions_are_physical() -> None:
    shard = open_forged(SOME)
    assert (shard.num_rows, shard.num_positions) == (9, 12)
    assert [(each.num_rows, each.num_positions, each.rows) for each in shard.stripes] == [
        (3, 4, range(4)),
        (4, 4, range(4, 8)),
        (2, 4, range(8, 12)),
    ]
    assert shard.scan().positions().tolist() == LIVE
    assert shard.read(["n"], rows=slice(8, 12))["n"].to_pylist() == [9, 10]
    assert shard.scan(["n"], limit=3).to_table()["n"].to_pylist() == [0, 2, 3]
    assert shard.take([10, 0, 10], ["n"])["n"].to_pylist() == [10, 0, 10]
    with pytest.raises(amudai.InvalidArgument, match="rows: expected rows that are not deleted, found 1 "):
        shard.take([2, 1, 11])


def test_tools_see_deleted_rows() -> None:
    shard = open_forged(SOME)
    everything = list(range(12))
    assert shard.read(["n"], include_deleted=True)["n"].to_pylist() == everything
    assert shard.scan(["n"], where="n >= 0", include_deleted=True).to_table()["n"].to_pylist() == everything
    assert shard.take([1, 2], ["n"], include_deleted=True)["n"].to_pylist() == [1, 2]
    assert shard.count(include_deleted=True) == 12
    assert shard.search("word", include_deleted=True).count() == 12


def test_explain_counts_deleted_rows_apart() -> None:
    found = open_forged(SOME).scan(where="n < 8").explain()
    assert (found.total_rows, found.sure + found.doubtful, found.deleted, found.ruled_out) == (12, 7, 1, 4)
    assert "1 row deleted" in str(found)
    assert "deleted" in found._repr_html_()


def test_the_marker_is_not_a_column() -> None:
    shard = open_forged(SOME)
    assert shard.schema.names == ["n", "t"]
    with pytest.raises(amudai.InvalidArgument):
        shard.read([""])


def test_displays_show_both_numbers() -> None:
    shard = open_forged(SOME)
    assert "9 rows, 3 deleted, 3 stripes" in shard.tree()
    assert "stripe 2: rows 8..12, 2 deleted" in shard.tree()
    layout = shard.inspect()
    assert (layout.num_rows, layout.num_positions) == (9, 12)
    assert [(each.num_rows, each.num_positions) for each in layout.stripes] == [(3, 4), (4, 4), (2, 4)]


def test_markers_of_other_stripes_are_not_read() -> None:
    forge = forged([False, True, False, False], [True, False, False, False], layout="two-level")
    shard = open_forged(forge)
    shard.read(["n"], rows=slice(0, 4))
    assert set(shard._reader._deleted) == {0}


@pytest.mark.parametrize("value", [True, False, None])
def test_a_constant_marker(value: bool | None) -> None:
    columns = columns_of(0, [True] * 4)
    columns[""] = constants(columns[""], 4, value)
    forge = forged([True, True, True, True], counted=[4 if value else 0])
    forge.stripes[0].contents = Forge.of(columns).stripes[0].contents
    assert open_forged(forge).read(["n"])["n"].to_pylist() == ([] if value else [0, 1, 2, 3])
    assert open_forged(forge).verify().ok


TWO = ([False, True, False, False], [True, False, False, True])
DISAGREEING: dict[str, tuple[Forge, str]] = {
    "markers without counters": (forged(*TWO, counted=[0, 0]), "deleted records: expected 0 markers, found 1"),
    "fewer counted": (forged(*TWO, counted=[1, 1]), "deleted records: expected 1 markers, found 2"),
    "more counted": (forged(*TWO, counted=[2, 2]), "deleted records: expected 2 markers, found 1"),
    "counted in the wrong stripe": (forged(*TWO, counted=[2, 1]), "deleted records: expected 2 markers, found 1"),
    "another total": (forged(*TWO, total=2), "deleted records: expected 2 in all stripes, found 3"),
    "counters without markers": (forged(None, None, counted=[1, 0]), "deleted records: expected 1 markers, found 0"),
    "counted in the total alone": (forged(None, None, total=1), "deleted records: expected 1 in all stripes, found 0"),
    "null markers": (
        forged([None, False, None, False], TWO[1], counted=[1, 2]),
        "deleted records: expected 1 markers, found 0",
    ),
}


@pytest.mark.parametrize("case", DISAGREEING)
def test_markers_and_counters_that_disagree_are_damage(case: str) -> None:
    forge, message = DISAGREEING[case]
    ways: dict[str, Callable[[amudai.Shard], object]] = {**WAYS, **COUNTS}
    for name in ways.keys() - {"num_rows", "tasks", "head"}:
        # An error in an Arrow stream arrives as Arrow's own, with the same message.
        expected = pa.ArrowInvalid if name in ("stream", "scan stream") else amudai.CorruptedData
        with pytest.raises(expected, match=message):
            ways[name](open_forged(forge))
    with pytest.raises(amudai.CorruptedData, match=message):
        open_forged(forge).take([0, 4])
    found = open_forged(forge).verify()
    assert message in "\n".join(each.message for each in found.problems)


def test_counters_in_a_shard_without_the_field() -> None:
    columns = {"n": numbers([0, 1], "i8")}
    forge = Forge.of(columns, edits={"ShardDirectory": lambda message: setattr(message, "deleted_record_count", 1)})
    forge.stripes[0].edit = lambda message: setattr(message, "deleted_record_count", 1)
    with pytest.raises(amudai.CorruptedData, match=r"expected 1 markers, found no field Kusto\.Amudai"):
        open_forged(forge).read()


def test_a_marker_of_another_type_is_damage() -> None:
    columns = {"n": numbers([0, 1], "i8"), "": numbers([1, 0], "u1")}
    columns[""].internal = DELETED_RECORD
    with pytest.raises(amudai.CorruptedData, match=r"DeletedRecord: expected boolean, found uint8"):
        open_forged(Forge.of(columns)).read()


def test_two_markers_are_damage() -> None:
    columns = {"n": numbers([0, 1], "i8"), "a": booleans([True, False]), "b": booleans([False, True])}
    columns["a"].internal = columns["b"].internal = DELETED_RECORD
    with pytest.raises(
        amudai.CorruptedData, match=r"internal field Kusto\.Amudai\.DeletedRecord: expected one, found 2"
    ):
        open_forged(Forge.of(columns)).read()


def test_a_column_that_is_named_like_the_marker_hides_nothing() -> None:
    columns = {DELETED_RECORD: booleans([True, False])}
    assert open_forged(Forge.of(columns)).read().to_pydict() == {DELETED_RECORD: [True, False]}


def test_a_shard_without_deletes_pays_nothing() -> None:
    plain = {"n": numbers(list(range(4)), "i8"), "t": strings(["a", "b", "c", "d"])}
    shard = open_forged(Forge.of(plain))
    before = shard.requests.requests
    shard.count()
    shard.read(["n"], "n > 1")
    asked = shard.requests.requests - before
    assert shard._reader.visibility.deleted is None
    again = open_forged(Forge.of(plain))
    before = again.requests.requests
    again.count(include_deleted=True)
    again.read(["n"], "n > 1", include_deleted=True)
    assert again.requests.requests - before == asked
