"""Do indexes of stripes answer for their stripes, and for no other?"""

from __future__ import annotations

import copy
import itertools
import pickle
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import amudai
from amudai import HashIndex, Predicate, TermIndex, col
from amudai.format import IndexCollection
from amudai.index import Keys
from amudai.plan.open_indexes import open_indexes
from amudai.plan.unusable import UnusableIndexes
from amudai.rows import Rows
from amudai.shard import ShardReader
from tests.effort import examples
from tests.oracle.predicates import rows_of
from tests.scan.tables import predicates, tables

ROWS, STRIPE_ROWS = 2_000, 600
STRIPES = 4
TABLE = pa.table(
    {
        "n": pa.array(range(ROWS)),
        # `late` is in the last two stripes only, `disk` in all, `first` once.
        "text": pa.array(
            [
                f"{'Disk' if n % 3 else 'fan'} {'late' if n >= 1_200 else 'first' if n == 7 else ''} {n}"
                for n in range(ROWS)
            ]
        ),
        "id": pa.array([f"{n * 7919 % ROWS:08x}" for n in range(ROWS)]),
    }
)
OF_STRIPES = [TermIndex("text", level="stripe"), HashIndex("id", "n", level="stripe")]
NUMBERS = itertools.count()


def rows(keep: Callable[[int], bool]) -> list[int]:
    return [n for n in range(ROWS) if keep(n)]


def evidence(scan: amudai.Scan) -> list[str]:
    return [note.evidence for leaf in scan.explain().leaves for note in leaf.notes]


def check(shard: amudai.Shard) -> None:
    """The answers are right, all stripes gave them, and they are listed."""
    assert shard.read().equals(TABLE)
    for word, expected in (
        ("disk", rows(lambda n: n % 3 > 0)),
        ("late", rows(lambda n: n >= 1_200)),
        ("first", [7]),
        ("nowhere", []),
    ):
        scan = shard.scan(where=col("text").has(word))
        assert scan.positions().tolist() == expected
        assert (scan.explain().sure, scan.explain().doubtful) == (len(expected), 0)
        assert "term index of 4 stripes" in evidence(scan)
    for n in (0, 599, 600, ROWS - 1):
        scan = shard.scan(["n"], where=col("id") == TABLE["id"][n].as_py())
        assert scan.to_table()["n"].to_pylist() == [n]
        assert scan.explain().doubtful <= 1
        assert "hash index of 4 stripes" in evidence(scan)
    assert [(index.stripe, index.fields) for index in shard.indexes] == [
        (stripe, fields) for stripe in range(STRIPES) for fields in (("text",), ("id", "n"))
    ]
    assert all(index.size for index in shard.indexes)
    assert "of stripe 3 over text" in shard.tree()
    assert shard.verify().ok


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["single", "two-level"])
@pytest.mark.parametrize("memory_limit", ["512MB", "1MB"])
def test_each_stripe_gets_its_own(tmp_path: Path, layout: Any, memory_limit: str) -> None:
    path = tmp_path / "x.amudai.shard"
    options = {"layout": layout, "stripe_rows": STRIPE_ROWS, "memory_limit": memory_limit}
    check(amudai.write(TABLE, path, indexes=OF_STRIPES, **options))
    beside = {each.name for each in tmp_path.iterdir() if each.name.endswith(".amudai.index")}
    assert bool(beside) == (layout == "two-level"), "a single file holds everything"
    reader = ShardReader(path)
    assert beside <= set(reader.urls), "whoever moves the shard moves these files, too"
    assert not len(reader.indexes)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_they_are_added_afterwards(tmp_path: Path, layout: Any) -> None:
    plain = amudai.write(TABLE, tmp_path / "plain.amudai.shard", layout=layout, stripe_rows=STRIPE_ROWS)
    first = amudai.add_indexes(plain, OF_STRIPES[:1], tmp_path / "first.amudai.shard")
    check(amudai.add_indexes(first, OF_STRIPES[1:], tmp_path / "both.amudai.shard", memory_limit="1MB"))


def test_both_levels_go_together(tmp_path: Path) -> None:
    indexes = [HashIndex("id", level="stripe"), TermIndex("text"), HashIndex("n")]
    shard = amudai.write(TABLE, tmp_path / "x.amudai.shard", indexes=indexes, stripe_rows=STRIPE_ROWS)
    assert [index.stripe for index in shard.indexes] == [None, None, 0, 1, 2, 3]
    assert shard.scan(where=(col("id") == TABLE["id"][5].as_py()) & col("text").has("disk")).positions().tolist() == [5]


class Only(ShardReader):
    """A shard some of whose stripes have lost their indexes."""

    kept: frozenset[int] = frozenset()

    @property
    def stripes(self) -> Any:
        found = super().stripes
        for stripe in found:
            if stripe.ordinal not in self.kept:
                stripe.__dict__["indexes"] = IndexCollection(())
        return found


@pytest.mark.slow
@pytest.mark.parametrize("kept", [{0}, {2}, {1, 3}, {0, 1, 2}])
def test_stripes_without_one_stay_in_doubt(tmp_path: Path, kept: set[int]) -> None:
    path = tmp_path / "x.amudai.shard"
    amudai.write(TABLE, path, indexes=OF_STRIPES, stripe_rows=STRIPE_ROWS)
    reader = Only(path)
    reader.kept = frozenset(kept)
    shard = amudai.Shard(reader)
    assert {index.stripe for index in shard.indexes} == kept
    for word, expected in (("late", rows(lambda n: n >= 1_200)), ("disk", rows(lambda n: n % 3 > 0)), ("first", [7])):
        scan = shard.scan(where=col("text").has(word))
        assert scan.positions().tolist() == expected
        told = [n for n in expected if n // STRIPE_ROWS in kept]
        untold = sum(stripe.num_rows for stripe in shard.stripes if stripe.ordinal not in kept)
        assert scan.explain().sure == len(told)
        assert scan.explain().doubtful == untold
        assert f"term index of {len(kept)} stripe{'s' if len(kept) > 1 else ''}" in evidence(scan)
    lost = shard.scan(where=col("id") == TABLE["id"][1_999].as_py())
    assert lost.positions().tolist() == [1_999]
    absent = shard.scan(where=~col("text").has("disk"))
    assert absent.positions().tolist() == rows(lambda n: n % 3 == 0)


def test_stripes_that_are_ruled_out_are_not_asked(tmp_path: Path) -> None:
    path = tmp_path / "x.amudai.shard"
    amudai.write(TABLE, path, indexes=OF_STRIPES, stripe_rows=STRIPE_ROWS, layout="two-level")
    reader = ShardReader(path)
    for stripe in (0, 1, 2):
        for index in reader.stripes[stripe].indexes:
            for artifact in index.artifacts:
                (tmp_path / artifact.data.url).unlink()
    shard = amudai.open(path)
    where = (col("n") >= 1_800) & col("text").has("disk")
    assert shard.scan(where=where).positions().tolist() == rows(lambda n: n >= 1_800 and n % 3 > 0)
    with pytest.raises(amudai.StorageError):
        shard.scan(where=col("text").has("disk")).count()
    with pytest.warns(RuntimeWarning, match="damaged"):
        assert shard.scan(where=col("text").has("first"), on_damaged_index="ignore").positions().tolist() == [7]
    assert len(shard.verify().problems) == 3 * (2 + 8), "every artifact that is gone"


@pytest.mark.slow
def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    written = []
    for threads in (1, 3):
        folder = tmp_path / str(threads)
        folder.mkdir()
        amudai.write(
            TABLE,
            folder / "x.amudai.shard",
            indexes=OF_STRIPES,
            layout="two-level",
            stripe_rows=STRIPE_ROWS,
            threads=threads,
        )
        written.append({each.name: each.read_bytes() for each in folder.iterdir()})
    assert written[0] == written[1]


def test_another_index_of_the_same_rows_replaces_the_first(tmp_path: Path) -> None:
    path = tmp_path / "x.amudai.shard"
    for level, tokenizer in itertools.product(("shard", "stripe"), ("log", "trivial")):
        index = TermIndex("text", tokenizer=tokenizer, level=level)
        shard = amudai.write(TABLE, path, indexes=[index], layout="two-level", stripe_rows=STRIPE_ROWS, overwrite=True)
        assert shard.scan(where=col("text").has("late")).count() == 800
        amudai.collect_garbage(path, older_than=timedelta(0))
        assert len(list(tmp_path.glob("*.amudai.index"))) == (2 if level == "shard" else 2 * STRIPES)


@pytest.mark.slow
@pytest.mark.parametrize("level", ["shard", "stripe"])
def test_other_values_give_other_files(tmp_path: Path, level: str) -> None:
    """Also where a column is one value, which lies in no buffer."""
    path = tmp_path / "x.amudai.shard"
    for word in ("one", "two", "three"):
        indexes = [TermIndex("t", level=level), HashIndex("t", level=level)]
        amudai.write({"t": [word, word]}, path, indexes=indexes, layout="two-level", overwrite=True)
        amudai.collect_garbage(path, older_than=timedelta(0))
        shard = amudai.open(path)
        assert shard.verify().ok
        assert len(list(tmp_path.glob("*.amudai.index"))) == 2 + 8
        (reader,) = [
            index for index in open_indexes(shard._reader, UnusableIndexes()) if index.type.label == "hash index"
        ]
        found = reader.ask((shard._reader.schema.fields()[0],), Keys((word.encode(),)), Rows.all(shard._reader.origin))
        assert found is not None
        assert found.maybe.positions().tolist() == [0, 1]


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    def batches() -> Any:
        yield from TABLE.to_batches(1_000)
        raise RuntimeError("the source broke")

    reader = pa.RecordBatchReader.from_batches(TABLE.schema, batches())
    with pytest.raises(RuntimeError):
        amudai.write(reader, tmp_path / "x.amudai.shard", indexes=OF_STRIPES, layout="two-level", stripe_rows=300)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("index", [TermIndex("a", level="stripe"), HashIndex("a", "b", level="stripe")])
def test_specs_are_values(index: Any) -> None:
    assert pickle.loads(pickle.dumps(index)) == index == copy.deepcopy(index)
    assert "level='stripe'" in repr(index)


@pytest.mark.parametrize("kind", [TermIndex, HashIndex])
def test_other_levels_are_refused(kind: Any) -> None:
    with pytest.raises(amudai.InvalidArgument, match="level: expected one of shard, stripe, field, found 'row'"):
        kind("a", level="row")


@pytest.mark.slow
@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables(), wheres=st.lists(predicates(), min_size=1, max_size=4), data=st.data())
def test_any_predicate_gives_the_rows_of_a_full_read(
    tmp_path: Path, table: pa.Table, wheres: list[Predicate], data: st.DataObject
) -> None:
    indexes = [
        TermIndex("message", "level", "http.path", level="stripe"),
        TermIndex("tags", tokenizer="word", collation="case_insensitive", level="stripe"),
        HashIndex("level", "n", "f", "t", "http.status", "tags", level="stripe"),
    ]
    few = max(3, table.num_rows // 8)
    stripe_rows = data.draw(st.sampled_from([None, few, 200]))
    layout = data.draw(st.sampled_from(["single", "two-level"]))
    path = tmp_path / f"{next(NUMBERS)}.amudai.shard"
    shard = amudai.write(table, path, indexes=indexes, stripe_rows=stripe_rows, layout=layout)
    if data.draw(st.booleans()):
        reader = Only(path)
        reader.kept = frozenset(data.draw(st.sets(st.integers(0, 3))))
        shard = amudai.Shard(reader)
    for where in wheres:
        assert shard.scan(where=where).positions().tolist() == rows_of(where, table.to_pylist()), where
