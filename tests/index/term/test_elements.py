"""Does an index of elements find the rows that an index of records finds?"""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import amudai
from amudai import TermIndex, col
from amudai.errors import CorruptedData
from amudai.format import IndexDescriptor
from amudai.index import Match, Terms, open_artifact
from amudai.index.term import slots
from amudai.index.term.reader import open_term_index
from amudai.index.term.slots import SlotMap
from amudai.rows import Rows
from amudai.shard import ShardReader
from amudai.storage import Meter, metered
from amudai.types import find_in
from tests.effort import examples
from tests.forge import (
    BufferKind,
    Column,
    Forge,
    fixed_lists,
    lists,
    missing,
    store_of,
    strings,
)
from tests.forge.columns import bits_buffer
from tests.forge.content import FieldContent
from tests.index.term.indexed_shards import SMALL, Indexed, indexed
from tests.index.term.test_answers import check_all
from tests.index.term.test_fields import nested, rows_of

WORDS = ["red", "green", "blue", "Red fox"]
# Every nesting, and the way from a row to its texts.
TYPES: dict[str, pa.DataType] = {
    "plain": pa.string(),
    "list": pa.list_(pa.string()),
    "lists": pa.list_(pa.large_list(pa.string())),
    "fixed": pa.list_(pa.string(), 2),
    "fixed_lists": pa.list_(pa.list_(pa.string()), 2),
    "lists_fixed": pa.list_(pa.list_(pa.string(), 3)),
    "structs": pa.list_(pa.struct([("a", pa.string()), ("b", pa.list_(pa.string()))])),
    "map": pa.map_(pa.string(), pa.list_(pa.string())),
    "deep": pa.struct([("m", pa.list_(pa.map_(pa.string(), pa.struct([("t", pa.list_(pa.string(), 2))]))))]),
}
PATHS = {
    "plain": "plain",
    "list": "list.item",
    "lists": "lists.item.item",
    "fixed": "fixed.item",
    "fixed_lists": "fixed_lists.item.item",
    "lists_fixed": "lists_fixed.item.item",
    "structs": "structs.item.b.item",
    "map": "map.value.item",
    "deep": "deep.m.item.value.t.item",
}
NUMBERS = itertools.count()


def values(kind: pa.DataType) -> st.SearchStrategy[Any]:
    """Values of a type, many of them null or empty."""
    found: st.SearchStrategy[Any]
    if pa.types.is_string(kind):
        found = st.sampled_from(["", *WORDS])
    elif pa.types.is_fixed_size_list(kind):
        found = st.lists(values(kind.value_type), min_size=kind.list_size, max_size=kind.list_size)
    elif pa.types.is_map(kind):
        found = st.lists(st.tuples(st.sampled_from(["k", "red"]), values(kind.item_type)), max_size=3)
    elif pa.types.is_struct(kind):
        found = st.fixed_dictionaries(
            {kind.field(at).name: values(kind.field(at).type) for at in range(kind.num_fields)}
        )
    else:
        found = st.lists(values(kind.value_type), max_size=3)
    return st.none() | found


def texts(value: Any, path: list[str]) -> list[str]:
    """All texts at the end of a path, by Python's own lists and dicts."""
    if value is None:
        return []
    if not path:
        return [value]
    step, rest = path[0], path[1:]
    if step == "item":
        return [text for each in value for text in texts(each, rest)]
    if step == "value":
        return [text for _, each in value for text in texts(each, rest)]
    return texts(value[step], rest)


def truth(rows: list[dict[str, Any]], path: str, word: str) -> list[int]:
    steps = path.split(".")
    return [at for at, row in enumerate(rows) if any(word in text.split() for text in texts(row, steps))]


@pytest.mark.slow
@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), stripe_rows=st.sampled_from([None, 1, 4, 9]), batch_rows=st.sampled_from([3, 100]))
def test_rows_are_those_of_records_and_of_the_values(
    data: st.DataObject, stripe_rows: int | None, batch_rows: int, tmp_path: Path
) -> None:
    names = data.draw(st.lists(st.sampled_from(sorted(TYPES)), min_size=1, max_size=3, unique=True))
    rows = data.draw(st.lists(st.fixed_dictionaries({name: values(TYPES[name]) for name in names}), max_size=20))
    table = pa.Table.from_pylist(rows, pa.schema([(name, TYPES[name]) for name in names]))
    paths = [PATHS[name] for name in names]
    made: dict[str, Indexed] = {}
    mixed = data.draw(st.lists(st.sampled_from(["record", "element"]), min_size=len(names), max_size=len(names)))
    for kind, granularity in (("record", "record"), ("element", "element"), ("mixed", mixed)):
        location = tmp_path / f"{next(NUMBERS)}.amudai.shard"
        spec = TermIndex(*paths, tokenizer="word", granularity=granularity)
        made[kind] = indexed(table, spec, location, stripe_rows=stripe_rows, batch_rows=batch_rows, tuning=SMALL)
    for path, word in itertools.product(paths, ["red", "green", "fox", "none"]):
        expected = truth(rows, path, word)
        for kind, each in made.items():
            assert rows_of(each, path, word) == expected, kind


@pytest.mark.slow
@pytest.mark.parametrize("stripe_rows", [None, 70])
@pytest.mark.parametrize("batch_rows", [13, 1000])
def test_every_question_about_nested_fields(stripe_rows: int | None, batch_rows: int, tmp_path: Path) -> None:
    table, fields = nested(200)
    spec = TermIndex(*fields, tokenizer="word", granularity="element")
    made = indexed(
        table, spec, tmp_path / "a.amudai.shard", stripe_rows=stripe_rows, batch_rows=batch_rows, tuning=SMALL
    )
    for field, of_row in fields.items():
        check_all(made, field, [" ".join(of_row(row)) or None for row in table.to_pylist()], "word", ["k3", "full"])


TAGS = [["a"], [], None, ["b", "a"], ["a", None, "a"], ["c"]]


def stored_positions(made: Indexed, term: str) -> list[int]:
    """The integers of an artifact, all of them those of the only term."""
    column = amudai.Shard(open_artifact(made.descriptor.artifacts[1], made.shard, made.shard.root)).read()["position"]
    terms = amudai.Shard(open_artifact(made.descriptor.artifacts[0], made.shard, made.shard.root)).read()
    (leaf,) = [page for page in terms.to_pylist() if page["level"] == 0]
    start = 0
    for entry in leaf["entries"]:
        lists = [each for stripe in entry["term_positions"] for each in stripe["fields"]]
        end = lists[-1]["pos_list_end_offset"]
        if entry["term"] == term.encode():
            assert {each["repr_type"] for each in lists} == {0}
            return column.to_pylist()[start:end]
        start = end
    return []


@pytest.mark.parametrize("stripe_rows", [None, 2])
def test_a_position_is_a_slot_of_the_shard(stripe_rows: int | None, tmp_path: Path) -> None:
    table = pa.table({"tags": pa.array(TAGS, pa.list_(pa.string()))})
    spec = TermIndex("tags.item", granularity="element")
    made = indexed(table, spec, tmp_path / "a.amudai.shard", stripe_rows=stripe_rows)
    assert stored_positions(made, "a") == [0, 2, 3, 5]
    assert rows_of(made, "tags.item", "a") == [0, 3, 4]
    found = {name: value.value for name, value in made.descriptor.properties}
    assert [each.value for each in found["granularities"]] == ["element"]


def test_without_lists_slots_are_rows(tmp_path: Path) -> None:
    table = pa.table({"s": pa.array([{"t": "a"}, None, {"t": None}, {"t": "a"}], pa.struct([("t", pa.string())]))})
    for stripe_rows in (None, 1):
        location = tmp_path / f"{stripe_rows}.amudai.shard"
        made = indexed(table, TermIndex("s.t", granularity="element"), location, stripe_rows=stripe_rows)
        assert stored_positions(made, "a") == [0, 3]
        assert rows_of(made, "s.t", "a") == [0, 3]


def test_an_index_of_records_says_nothing_new(tmp_path: Path) -> None:
    made = indexed(pa.table({"t": ["a"]}), TermIndex("t"), tmp_path / "a.amudai.shard")
    assert "granularities" not in dict(made.descriptor.properties)


ROWS = 30_000
TABLE = pa.table(
    {
        "n": range(ROWS),
        "tags": pa.array([[f"t{n % 7}", f"u{n}"] if n % 3 else [] for n in range(ROWS)]),
        "kv": pa.array([[("key", f"v{n % 1000}")] * (n % 3) for n in range(ROWS)], pa.map_(pa.string(), pa.string())),
    }
)


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["single", "two-level"])
@pytest.mark.parametrize("level", ["shard", "stripe"])
def test_scans_are_answered_by_them(layout: Any, level: str, tmp_path: Path) -> None:
    indexes = [TermIndex("tags", "kv.value", tokenizer="trivial", granularity="element", level=level)]
    plain = amudai.write(TABLE, tmp_path / "plain.amudai.shard", layout=layout, stripe_rows=11_000)
    written = amudai.write(TABLE, tmp_path / "x.amudai.shard", indexes=indexes, layout=layout, stripe_rows=11_000)
    added = amudai.add_indexes(plain, indexes, tmp_path / "added.amudai.shard")
    for shard in (written, added):
        for where in (
            col("tags") == "t3",
            col("tags") == "u29999",
            col("tags") == "u10999",
            col("tags") == "u3",
            col("kv.value") == "v77",
        ):
            scan = shard.scan(where=where)
            assert scan.positions().tolist() == plain.scan(where=where).positions().tolist(), where
            assert any("term index" in note.evidence for note in scan.explain().leaves[0].notes)
            assert scan.explain().doubtful == 0
        assert shard.indexes[0].properties["granularities"] == ["element", "element"]
        assert shard.verify().ok


def read_blocks(offsets: int, wanted: Rows, monkeypatch: pytest.MonkeyPatch, shard: ShardReader) -> tuple[Rows, int]:
    monkeypatch.setattr(slots, "_SMALL", offsets)
    meter = Meter()
    with metered(meter):
        found = SlotMap(shard, find_in(shard.schema.fields(), "tags.item")).rows(wanted)
    return found, meter.blocks


@pytest.mark.slow
def test_few_slots_read_few_offsets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = np.random.default_rng(5).integers(0, 4, 2_000_000)
    offsets = pa.array(np.concatenate(([0], np.cumsum(sizes))).astype(np.int32))
    tags = pa.ListArray.from_arrays(offsets, pa.repeat("x", int(sizes.sum())))
    amudai.write({"tags": tags}, tmp_path / "x.amudai.shard", stripe_rows=1_500_000, profile="minimal_compression")
    owner = np.repeat(np.arange(len(sizes)), sizes)
    for wanted in ([0], [len(owner) - 1], [17, 18, 1_700_000], [5, 900_000, 2_300_000]):
        shard = ShardReader(tmp_path / "x.amudai.shard")
        ranges = Rows.of_positions(np.array(wanted, np.uint64))
        found, few = read_blocks(0, ranges, monkeypatch, shard)
        assert found.positions().tolist() == np.unique(owner[wanted]).tolist()
        found, every = read_blocks(1 << 30, ranges, monkeypatch, ShardReader(tmp_path / "x.amudai.shard"))
        assert found.positions().tolist() == np.unique(owner[wanted]).tolist()
        assert few < every / 3
    # Rows across many lists, the empty ones left out.
    everything, _ = read_blocks(0, Rows.one(0, len(owner)), monkeypatch, ShardReader(tmp_path / "x.amudai.shard"))
    assert everything.positions().tolist() == np.flatnonzero(sizes).tolist()


def test_only_stripes_with_hits_are_read(tmp_path: Path) -> None:
    index = TermIndex("tags", tokenizer="trivial", granularity="element")
    path = tmp_path / "x.amudai.shard"
    amudai.write(TABLE, path, indexes=[index], layout="two-level", stripe_rows=10_000)
    reader = ShardReader(path)
    files = {reader.stripes[at].descriptor(reader.schema.fields()[1]) for at in (0, 1)}
    for descriptor in files:
        assert descriptor is not None
        for encoding in descriptor.encodings:
            for buffer in encoding.buffers:  # type: ignore[union-attr]
                assert buffer.buffer is not None
                (tmp_path / buffer.buffer.url).unlink(missing_ok=True)
    shard = amudai.open(path)
    assert shard.scan(where=col("tags") == "u29999").positions().tolist() == [29_999]
    with pytest.raises(amudai.StorageError):
        shard.scan(where=col("tags") == "u1").positions()


def test_slots_that_the_shard_has_not_are_refused(tmp_path: Path) -> None:
    table = pa.table({"tags": pa.array(TAGS, pa.list_(pa.string())), "text": ["x"] * len(TAGS)})
    spec = TermIndex("text", granularity="element")
    made = indexed(table, spec, tmp_path / "a.amudai.shard")
    # Rows 0..6 taken for slots of another field, which has 7.
    path = made.path("tags.item")
    assert SlotMap(made.shard, path).count == 7
    with pytest.raises(CorruptedData):
        SlotMap(made.shard, path)._rows(made.shard.stripes[0], Rows.one(7, 8))


def found_in(word: str, *stripes: dict[str, Column], rows: int | None = None) -> list[int]:
    """The rows of a forged shard, the first stripe of `rows`, that an index of its elements, added to it, gives."""
    forge = Forge.of(*stripes)
    forge.stripes[0].rows = forge.stripes[0].rows if rows is None else rows
    store = store_of(forge)
    index = TermIndex("tags", tokenizer="word", granularity="element")
    amudai.add_indexes("shards/forged.amudai.shard", [index], "shards/x.amudai.shard", store=store)
    shard = ShardReader("shards/x.amudai.shard", store)
    (top,) = shard.schema.fields()
    (descriptor,) = shard.indexes
    reader = open_term_index(descriptor, shard, shard.index_anchor)
    answer = reader.answer((top, top.children[0]), Terms(word, Match.EQUAL, case_sensitive=True))
    assert answer is not None
    assert not answer.maybe.count
    return answer.yes.positions().tolist()


def test_items_of_null_lists_have_slots_and_no_terms() -> None:
    def hide_the_second(content: FieldContent) -> None:
        content.buffers = [*content.buffers, bits_buffer(BufferKind.PRESENCE, [True, False, True])]
        content.descriptor.null_count = 1

    for word, expected in (("a", [0, 3]), ("b", [4]), ("c", []), ("d", [2, 5])):
        tags = lists([1, 2, 1], strings(["a", "b", "c", "d"])).edited(hide_the_second)
        behind = lists([1, 1, 1], strings(["a", "b", "d"]))
        assert found_in(word, {"tags": tags}, {"tags": behind}) == expected


def test_items_that_are_not_stored_have_slots() -> None:
    words = strings(["a", "b", "a"])
    assert found_in("a", {"tags": lists([2, None, 1], missing(words))}, {"tags": lists([0, 2, 1], words)}) == [4, 5]
    nothing = {"tags": missing(lists([1], words))}
    for count in (0, 1, 5):
        assert found_in("a", nothing, {"tags": lists([1, 2], words)}, rows=count) == [count, count + 1]


def test_fixed_lists_that_were_padded_too_little() -> None:
    first = fixed_lists(2, strings(["a", "b"]), present=[True, False], count=2)
    second = fixed_lists(2, strings(["b", None, "c", "b"]))
    assert found_in("b", {"tags": first}, {"tags": second}) == [0, 2, 3]
    assert found_in("a", {"tags": first}, {"tags": second}) == [0]


def test_an_unknown_granularity_answers_nothing(tmp_path: Path) -> None:
    table = pa.table({"tags": pa.array(TAGS, pa.list_(pa.string()))})
    made = indexed(table, TermIndex("tags.item", granularity="element"), tmp_path / "a.amudai.shard")
    message = made.descriptor.to_message()
    for each in message.properties:
        if each.name == "granularities":
            each.value.list_value.elements[0].string_value = "list"
    changed = IndexDescriptor.of(message)
    question = Terms("a", Match.EQUAL, case_sensitive=True)
    assert made.reader().answer(made.path("tags.item"), question) is not None
    assert made.reader(changed).answer(made.path("tags.item"), question) is None


def test_specs_are_values() -> None:
    spec = TermIndex("a", "b", granularity=["record", "element"])
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert spec.granularities == ("record", "element")
    assert TermIndex("a", granularity="element") != TermIndex("a")
