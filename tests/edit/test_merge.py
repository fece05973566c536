"""Merging shards: the rows of the parts, one after the other."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai.edit import Merging, Naming, Publication
from amudai.errors import InvalidArgument, InvalidSchema, MissingFile, RefusedAccess, UnsupportedFeature
from amudai.index import is_movable
from amudai.shard import ShardReader
from amudai.storage import LocalStore, MemoryStore, file_url, sealed

INNER = st.fixed_dictionaries({}, optional={"p": st.integers(-5, 5), "q": st.text("ab", max_size=2)})
VALUES = {
    "n": (pa.int64(), st.integers(-(2**40), 2**40)),
    "x": (pa.float64(), st.floats(allow_nan=False)),
    "s": (pa.string(), st.text("abc ", max_size=6)),
    "l": (pa.list_(pa.int32()), st.lists(st.integers(0, 9), max_size=3)),
    "t": (pa.timestamp("ns"), st.integers(0, 10**15)),
    "b": (pa.bool_(), st.booleans()),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """A table with some of the columns, and a struct with some of its members."""
    rows = draw(st.integers(0, 12))
    names = draw(st.lists(st.sampled_from(sorted(VALUES)), unique=True, min_size=1))
    columns = {}
    for name in names:
        kind, values = VALUES[name]
        columns[name] = pa.array(draw(st.lists(st.none() | values, min_size=rows, max_size=rows)), kind)
    if draw(st.booleans()):
        members = [pa.field("p", pa.int16()), pa.field("q", pa.string()), pa.field("r", pa.list_(pa.int8()))]
        chosen = pa.struct(draw(st.lists(st.sampled_from(members), unique=True, min_size=1)))
        values = draw(st.lists(st.none() | INNER, min_size=rows, max_size=rows))
        columns["in"] = pa.array(values, chosen)
    return pa.table(columns)


@pytest.mark.slow
@given(parts=st.lists(tables(), min_size=1, max_size=3), layouts=st.data(), stripe_rows=st.sampled_from([None, 3]))
def test_a_merge_has_the_rows_of_its_parts(
    parts: list[pa.Table], layouts: st.DataObject, stripe_rows: int | None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("merge")
    shards = [
        amudai.write(
            part,
            folder / f"{number}.amudai.shard",
            layout=layouts.draw(st.sampled_from(["single", "two-level"])),
            stripe_rows=stripe_rows,
        )
        for number, part in enumerate(parts)
    ]
    expected = pa.concat_tables(parts, promote_options="default") if len(parts) > 1 else parts[0]
    merged = amudai.merge(shards, to=folder / "all.amudai.shard")
    assert merged.read().to_pydict() == expected.to_pydict()
    assert merged.schema.names == expected.schema.names
    assert merged.verify().ok
    again = amudai.merge([merged, shards[0]], to=folder / "again.amudai.shard")
    assert again.read().slice(0, len(expected)).to_pydict() == expected.to_pydict()
    assert again.num_rows == len(expected) + len(parts[0])


def write(folder: Path, name: str, data: object, **options: object) -> amudai.Shard:
    return amudai.write(data, folder / f"{name}.amudai.shard", **options)  # type: ignore[arg-type]


class RangesStore(MemoryStore):
    """Notes which bytes of which files were read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[tuple[str, int, int]] = []

    def _fetch(self, url: str, ranges: Sequence[tuple[int, int]]) -> Sequence[memoryview]:
        self.read += [(url, start, end) for start, end in ranges]
        return super()._fetch(url, ranges)


@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_a_merge_reads_no_values(layout: Literal["single", "two-level"]) -> None:
    """No range that is read touches a buffer of values, whatever lies beside it."""
    store = RangesStore()
    noise = np.random.default_rng(1)
    columns = {f"c{at}": pa.array(noise.integers(0, 1 << 60, 20_000)) for at in range(4)}
    shards = [
        amudai.write(columns, f"{number}.amudai.shard", store=store, stripe_rows=5000, layout=layout)
        for number in range(3)
    ]
    kept = [
        (buffer.file, buffer.start, buffer.start + buffer.bytes)
        for shard in shards
        for stripe in shard._reader.stripes
        for node in shard._reader.schema.fields()
        for buffer in stripe.column(node).describe().buffers
        if buffer.kind == "data"
    ]
    assert len(kept) == 3 * 4 * 4
    store.read.clear()
    before = store.counters.requests, store.counters.bytes
    merged = amudai.merge(shards, to="all.amudai.shard", store=store)
    # The ranges are all that was read. Asking for the size of a file is a request as well.
    assert store.counters.bytes - before[1] == sum(end - start for _, start, end in store.read)
    assert store.counters.requests - before[0] >= len(store.read)
    for url, start, end in store.read:
        assert not [each for each in kept if each[0] == url and each[1] < end and start < each[2]]
    assert merged.num_rows == 60_000


def test_statistics_are_combined(tmp_path: Path) -> None:
    one = write(tmp_path, "1", {"n": [5, None, 7], "s": ["a", "b", "c"]})
    two = write(tmp_path, "2", {"n": [1, 2], "s": ["d", None]})
    merged = amudai.merge([one, two], to=tmp_path / "all")
    assert (merged["n"].stats.min, merged["n"].stats.max, merged["n"].stats.null_count) == (1, 7, 1)
    assert merged["s"].stats.null_count == 1
    assert merged["s"].stats.distinct_count == 4


def test_properties_are_concatenated(tmp_path: Path) -> None:
    one = write(tmp_path, "1", {"n": [1]}, properties={"owner": "ops", "day": 1})
    two = write(tmp_path, "2", {"n": [2]}, properties={"owner": "ops", "day": 2})
    merged = amudai.merge([one, two], to=tmp_path / "all")
    assert merged.properties == {"owner": "ops", "day": 1}  # the first of several counts
    named = [name for name, _ in merged._reader.properties.custom if not name.startswith("amudai.")]
    assert sorted(named) == ["day", "day", "owner"]


def test_types_in_conflict_name_both_shards(tmp_path: Path) -> None:
    one = write(tmp_path, "1", {"n": [1]})
    two = write(tmp_path, "2", {"n": ["x"]})
    with pytest.raises(InvalidSchema) as caught:
        amudai.merge([one, two], to=tmp_path / "all")
    message = str(caught.value)
    assert "column 'n': expected one type in all shards" in message
    assert f"int64 in {one.url}" in message
    assert f"string in {two.url}" in message
    assert not (tmp_path / "all").exists()


def test_nested_types_in_conflict_name_the_member(tmp_path: Path) -> None:
    one = write(tmp_path, "1", {"in": [{"a": 1}]})
    two = write(tmp_path, "2", {"in": [{"a": "x"}]})
    with pytest.raises(InvalidSchema, match=r"column 'in\.a': expected one type"):
        amudai.merge([one, two], to=tmp_path / "all")


@pytest.mark.parametrize(
    ("narrow", "wide", "united"),
    [
        (pa.int8(), pa.int64(), pa.int64()),
        (pa.uint8(), pa.int8(), pa.int16()),
        (pa.int32(), pa.float32(), pa.float64()),
        (pa.float32(), pa.float64(), pa.float64()),
        (pa.int16(), pa.float32(), pa.float32()),
    ],
    ids=str,
)
def test_widening_stores_a_column_again(
    narrow: pa.DataType, wide: pa.DataType, united: pa.DataType, tmp_path: Path
) -> None:
    first = pa.array([1, None, 100], narrow)
    second = pa.array([3, 4], wide)
    one = write(tmp_path, "1", pa.table({"n": first, "s": ["a", "b", "c"]}), stripe_rows=2)
    two = write(tmp_path, "2", pa.table({"n": second, "s": ["d", "e"]}))
    with pytest.raises(InvalidSchema, match="widen=True stores it as the wider type"):
        amudai.merge([one, two], to=tmp_path / "all")
    merged = amudai.merge([one, two], to=tmp_path / "all", widen=True)
    assert merged.schema.field("n").type == united
    assert merged.read().to_pydict() == {"n": [1, None, 100, 3, 4], "s": ["a", "b", "c", "d", "e"]}
    assert merged.verify().ok
    assert merged.scan(where="n >= 4").positions().tolist() == [2, 4]


def test_numbers_that_no_type_holds_are_refused(tmp_path: Path) -> None:
    one = write(tmp_path, "1", pa.table({"n": pa.array([1], pa.int64())}))
    two = write(tmp_path, "2", pa.table({"n": pa.array([1], pa.uint64())}))
    with pytest.raises(InvalidSchema, match="expected one type"):
        amudai.merge([one, two], to=tmp_path / "all", widen=True)


def test_widening_reaches_into_structs_and_lists(tmp_path: Path) -> None:
    one = write(tmp_path, "1", pa.table({"v": pa.array([[{"a": 1}], None], pa.list_(pa.struct([("a", pa.int8())])))}))
    kind = pa.list_(pa.struct([("a", pa.int64()), ("b", pa.string())]))
    two = write(tmp_path, "2", pa.table({"v": pa.array([[{"a": 2**40, "b": "x"}], []], kind)}))
    merged = amudai.merge([one, two], to=tmp_path / "all", widen=True)
    assert merged.read()["v"].to_pylist() == [[{"a": 1, "b": None}], None, [{"a": 2**40, "b": "x"}], []]
    assert merged.verify().ok


def test_columns_of_nulls_take_the_type_of_others(tmp_path: Path) -> None:
    one = write(tmp_path, "1", pa.table({"n": pa.nulls(2)}))
    two = write(tmp_path, "2", {"n": [1, 2]})
    merged = amudai.merge([one, two], to=tmp_path / "all")
    assert merged.schema.field("n").type == pa.int64()
    assert merged.read()["n"].to_pylist() == [None, None, 1, 2]


def test_nanoseconds_come_along(tmp_path: Path) -> None:
    one = write(tmp_path, "1", pa.table({"t": pa.array([100, 200], pa.timestamp("ns"))}))  # whole ticks
    two = write(tmp_path, "2", pa.table({"t": pa.array([123, None], pa.timestamp("ns"))}))
    for name, parts in (("a", [one, two]), ("b", [two, one])):
        merged = amudai.merge(parts, to=tmp_path / name)
        expected = pa.concat_tables([part.read() for part in parts])
        assert merged.read()["t"].cast(pa.int64()).to_pylist() == expected["t"].cast(pa.int64()).to_pylist()


def test_to_names_no_source_and_no_file_in_use(tmp_path: Path) -> None:
    one = write(tmp_path, "1", {"n": [1, 2]})
    two = write(tmp_path, "2", {"n": [3, 4]})
    before = Path(tmp_path / "1.amudai.shard").read_bytes()
    with pytest.raises(InvalidArgument, match="to: expected another place"):
        amudai.merge([one, two], to=tmp_path / "1.amudai.shard", overwrite=True)
    merged = amudai.merge([one, two], to=tmp_path / "all")
    with pytest.raises(InvalidArgument, match="to: expected another place"):
        amudai.merge([merged], to=tmp_path / "1.amudai.shard", overwrite=True)  # a cycle of references
    assert Path(tmp_path / "1.amudai.shard").read_bytes() == before
    assert merged.read()["n"].to_pylist() == [1, 2, 3, 4]


def test_a_merge_of_merges_refers_to_the_original_files(tmp_path: Path) -> None:
    shards = [write(tmp_path, str(number), {"n": [number]}, layout="two-level") for number in range(3)]
    first = amudai.merge(shards[:2], to=tmp_path / "first")
    second = amudai.merge([first, shards[2]], to=tmp_path / "second")
    assert {file.kind for file in second.files} == {"root"}  # all values are constants, in the descriptors
    (tmp_path / "first").unlink()
    assert amudai.open(tmp_path / "second").read()["n"].to_pylist() == [0, 1, 2]


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    one = write(tmp_path, "1", {"n": [1, 2, 3]}, layout="two-level")
    two = write(tmp_path, "2", {"n": [4, 5]})
    lost = next(file for file in one.files if file.kind == "stripe")
    Path(lost.url.removeprefix("file://")).unlink()
    with pytest.raises(MissingFile) as caught:
        amudai.merge([tmp_path / "1.amudai.shard", two], to=tmp_path / "all")
    assert lost.url in str(caught.value)
    assert not (tmp_path / "all").exists()


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shards = [write(tmp_path, str(number), {"n": [number], "l": [[1]]}) for number in range(2)]
    before = sorted(path.name for path in tmp_path.iterdir())

    def full(self: object, piece: memoryview) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sealed._LocalFile, "_write", full)
    with pytest.raises(OSError, match="expected room for the file, found none left on the device"):
        amudai.merge(shards, to=tmp_path / "all")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


def test_arguments_are_checked(tmp_path: Path) -> None:
    one = write(tmp_path, "1", {"n": [1]})
    with pytest.raises(InvalidArgument, match="shards: expected a list of shards"):
        amudai.merge("1.amudai.shard", to=tmp_path / "all")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="shards: expected at least one"):
        amudai.merge([], to=tmp_path / "all")
    with pytest.raises(InvalidArgument, match="indexes: expected one of merge, keep, rebuild, drop"):
        amudai.merge([one], to=tmp_path / "all", indexes="sort")  # type: ignore[arg-type]


# ---- references outside of the folder ----


@pytest.fixture
def days(tmp_path: Path) -> list[amudai.Shard]:
    """Two shards of the same name in two folders."""
    found = []
    for number, layout in enumerate(["single", "two-level"]):
        (tmp_path / f"day{number}").mkdir()
        data = {"n": [10 * number, 10 * number + 1], "s": ["a", "b"]}
        found.append(amudai.write(data, tmp_path / f"day{number}" / "logs.amudai.shard", layout=layout))  # type: ignore[arg-type]
    return found


def test_files_below_the_folder_are_relative(days: list[amudai.Shard], tmp_path: Path) -> None:
    merged = amudai.merge(days, to=tmp_path / "logs.amudai.shard")
    assert merged.read()["n"].to_pylist() == [0, 1, 10, 11]
    assert all(not name.startswith("file:") for name in merged._reader.urls)
    moved = tmp_path.rename(tmp_path.with_name("moved"))
    assert amudai.open(moved / "logs.amudai.shard").read()["n"].to_pylist() == [0, 1, 10, 11]


def test_files_elsewhere_are_followed_exactly_and_only_where_allowed(days: list[amudai.Shard], tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    target = tmp_path / "all" / "logs.amudai.shard"
    with pytest.raises(InvalidArgument, match=r"outside of .*/all/, the folder of the new shard"):
        amudai.merge(days, to=target)
    merged = amudai.merge(days, to=target, allow=[tmp_path])
    assert merged.read()["n"].to_pylist() == [0, 1, 10, 11]  # not the new root itself, which has the same name
    with pytest.raises(RefusedAccess, match=r"expected a file in the folder of the root, or one that allow= permits"):
        amudai.open(target).read()
    assert amudai.open(target, allow=tmp_path.as_uri()).read()["s"].to_pylist() == ["a", "b", "a", "b"]
    with pytest.raises(RefusedAccess):
        amudai.open(target, allow=[tmp_path / "day0"]).read()


def test_rows_are_appended_to_a_shard_with_files_elsewhere(days: list[amudai.Shard], tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    place = tmp_path / "all" / "logs.amudai.shard"
    before = amudai.merge(days, to=place, allow=[tmp_path]).read()
    with pytest.raises(RefusedAccess):
        amudai.append(place, before)
    assert amudai.append(place, before, allow=[tmp_path]).read().equals(pa.concat_tables([before, before]))


def test_another_process_gets_the_prefixes(days: list[amudai.Shard], tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    merged = amudai.merge(days, to=tmp_path / "all" / "logs.amudai.shard", allow=[tmp_path])
    tasks = pickle.loads(pickle.dumps(merged.scan(["n"]).tasks()))
    assert [n for task in tasks for n in task.to_table()["n"].to_pylist()] == [0, 1, 10, 11]


def test_stripes_in_other_stores(tmp_path: Path) -> None:
    cold, warm = MemoryStore(), MemoryStore()
    one = amudai.write({"n": [1, 2, 5]}, "a/1.amudai.shard", store=cold)
    two = amudai.write({"n": [3, 4, 9]}, "b/2.amudai.shard", store=warm, layout="two-level")
    with pytest.raises(InvalidArgument, match="expected allow= to map a prefix of URLs to its store"):
        amudai.merge([one, two], to=tmp_path / "all")
    allow = {"cold://lake/": cold, "warm://lake": warm}
    merged = amudai.merge([one, two], to=tmp_path / "all", allow=allow)
    assert merged.read()["n"].to_pylist() == [1, 2, 5, 3, 4, 9]
    assert merged._reader.urls[0] == "cold://lake/a/1.amudai.shard"
    assert amudai.open(tmp_path / "all", allow=allow).verify().ok
    with pytest.raises(InvalidArgument, match="which lives in this process only"):
        merged.scan().tasks()[0].__reduce__()
    again = amudai.merge([merged, merged], to="both", store=cold, allow=allow)
    assert again.read()["n"].to_pylist() == 2 * [1, 2, 5, 3, 4, 9]
    assert sorted(again._reader.urls)[0] == "a/1.amudai.shard"  # relative: below the folder in the same store


def test_stripes_in_an_fsspec_store(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    root = f"/merge-{tmp_path.name}"
    one = amudai.write({"n": [1, 2, 5]}, f"{root}/day1/1.amudai.shard", store=memory)
    two = amudai.write({"n": [3, 4]}, f"{root}/day2/1.amudai.shard", store=memory)
    merged = amudai.merge([one, two], to=f"{root}/all.amudai.shard", store=memory)
    assert merged.read()["n"].to_pylist() == [1, 2, 5, 3, 4]
    local = amudai.merge([one, two], to=tmp_path / "all", allow={"memory://": memory})
    assert local.read()["n"].to_pylist() == [1, 2, 5, 3, 4]


def test_unknown_fields_of_roots_are_kept_or_refused(tmp_path: Path) -> None:
    shards = [write(tmp_path, str(number), {"n": [number, 7]}) for number in range(2)]
    target = file_url(tmp_path / "all")
    naming = Naming(url=target, store=LocalStore())
    merging = Merging([ShardReader(shard.url) for shard in shards], naming)
    unknown = (("ShardDirectory", b"\xf8\x07\x01"),)
    first = replace(merging.sources[0].root.metadata, unknown=unknown)
    sources = (replace(merging.sources[0], root=replace(merging.sources[0].root, metadata=first)), merging.sources[1])
    merging.sources = sources
    with (
        Publication(LocalStore(), target) as publication,
        pytest.raises(UnsupportedFeature, match="later version in ShardDirectory: expected the same in all shards"),
    ):
        merging.root(publication.file, is_movable)


TIMES = [(pa.timestamp("s"), pa.timestamp("ns")), (pa.duration("ms"), pa.duration("us"))]


@pytest.mark.parametrize(("one", "two"), TIMES, ids=str)
@pytest.mark.parametrize("nested", [False, True], ids=["plain", "in a struct"])
def test_times_of_different_units_stored_as_integers_are_not_mixed(
    one: pa.DataType, two: pa.DataType, nested: bool, tmp_path: Path
) -> None:
    def table(kind: pa.DataType) -> pa.Table:
        values = pa.array([1_700_000], pa.int64()).cast(kind)
        return pa.table({"t": pa.StructArray.from_arrays([values], ["in"]) if nested else values})

    parts = [
        amudai.write(table(kind), tmp_path / f"{at}.amudai.shard", timestamps="int64")
        for at, kind in enumerate((one, two))
    ]
    for merge in (amudai.merge, amudai.compact):
        with pytest.raises(InvalidSchema, match=r"because times are stored as integers, found .* in file://"):
            merge(parts, to=tmp_path / "m.amudai.shard", widen=True)  # type: ignore[operator]
    same = amudai.merge([parts[0], parts[0]], to=tmp_path / "m.amudai.shard", widen=True)
    assert same.read() == pa.concat_tables([table(one)] * 2)


def test_times_of_different_units_that_do_not_depend_on_it(tmp_path: Path) -> None:
    """Ticks count the same in all units, and other integers have none."""
    kinds = [pa.struct([("at", pa.timestamp(unit)), ("n", pa.int64())]) for unit in ("ms", "us")]
    parts = [
        amudai.write(pa.table({"s": pa.array([{"at": 5, "n": 1}], kind)}), tmp_path / f"{at}.amudai.shard")
        for at, kind in enumerate(kinds)
    ]
    found = amudai.merge(parts, to=tmp_path / "m.amudai.shard", widen=True).read()["s"].combine_chunks().field("at")
    assert found.cast(pa.int64()).to_pylist() == [5000, 5]
