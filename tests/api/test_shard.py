"""What a user calls: columns, rows, batches, single rows, checks and pictures of a shard."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai import threads as shared_threads
from amudai.arrow import SCHEMA_PROPERTY
from amudai.pool import ThreadPlaces
from amudai.storage import MemoryStore
from tests.fixtures.make_sample import SAMPLE, rows
from tests.forge import (
    Forge,
    booleans,
    constants,
    decimals,
    lists,
    maps,
    numbers,
    open_damaged,
    open_forged,
    strings,
    structs,
)
from tests.forge.decimal_table import decimal_bytes
from tests.oracle.numeric import ffor, plain


@pytest.fixture(scope="module")
def sample() -> Iterator[amudai.Shard]:
    with amudai.open(SAMPLE) as shard:
        yield shard


# ---- opening ----


@pytest.mark.parametrize("location", [str(SAMPLE), SAMPLE, SAMPLE.as_uri()], ids=["text", "path", "url"])
def test_open_takes_paths_and_urls(location: str | Path) -> None:
    shard = amudai.open(location)
    assert shard.num_rows == 400
    assert shard.url == SAMPLE.as_uri()


def test_open_names_what_it_did_not_find(tmp_path: Path) -> None:
    with pytest.raises(amudai.StorageError, match=r"gone\.amudai\.shard"):
        amudai.open(tmp_path / "gone.amudai.shard")
    (tmp_path / "text.txt").write_text("A text is no shard, however long it is.")
    with pytest.raises(amudai.CorruptedData, match=r"not an Amudai shard.*text\.txt"):
        amudai.open(tmp_path / "text.txt")
    (tmp_path / "empty").touch()
    with pytest.raises(amudai.CorruptedData, match="expected at least 28 bytes, found 0"):
        amudai.open(tmp_path / "empty")


def test_tables_outlive_the_shard() -> None:
    with amudai.open(SAMPLE) as shard:
        table = shard.read(["message"])
    assert table["message"].to_pylist() == [row["message"] for row in rows()]


def test_checksums_are_compared_unless_told_otherwise() -> None:
    forge = Forge.of({"n": numbers([1, 2, 3], "i8")})
    content = bytearray(forge.root())
    at = content.index((2).to_bytes(8, "little") + (3).to_bytes(8, "little"))
    content[at] = 77
    store = MemoryStore({"x": bytes(content)})
    with pytest.raises(amudai.CorruptedData, match="checksum"):
        amudai.open("x", store=store).read()
    assert amudai.open("x", store=store, verify=False).read()["n"].to_pylist() == [1, 77, 3]


# ---- reading columns and rows ----


def test_columns_come_in_the_order_they_were_named(sample: amudai.Shard) -> None:
    assert sample.read(["status", "ts"]).schema.names == ["status", "ts"]
    assert sample.read(["status", "status"]).schema.names == ["status", "status"]
    assert sample.read().schema == sample.schema
    assert sample.read([]).num_columns == 0


@pytest.mark.parametrize(
    "asked",
    [
        slice(0, 3),
        slice(5, 8),
        slice(397, 1000),
        slice(-2, None),
        slice(10, 5),
        slice(None),
        range(7, 12),
        range(0),
        range(399, 400),
    ],
)
def test_rows_are_those_of_the_slice(sample: amudai.Shard, asked: slice | range) -> None:
    expected = rows()
    expected = [expected[i] for i in asked] if isinstance(asked, range) else expected[asked]
    found = sample.read(["status", "message"], rows=asked)
    assert found.to_pylist() == [{"status": row["status"], "message": row["message"]} for row in expected]


@pytest.mark.parametrize("asked", [slice(0, 10, 2), range(0, 10, 2), range(-3, 5), range(398, 401), 5, [1, 2], "1"])
def test_rows_that_are_no_range_of_the_shard_are_refused(sample: amudai.Shard, asked: Any) -> None:
    with pytest.raises(amudai.InvalidArgument, match="rows: expected"):
        sample.read(["status"], rows=asked)


def test_an_unknown_column_names_those_that_exist(sample: amudai.Shard) -> None:
    names = r"expected one of ts, level, status, message, http"
    for call in (
        lambda: sample.read(["nope"]),
        lambda: sample.take([0], ["nope"]),
        lambda: sample.to_reader(["nope"]),
        lambda: sample.head(1, ["nope"]),
        lambda: sample["nope"],
        lambda: sample.read(["STATUS"]),
    ):
        with pytest.raises(amudai.InvalidArgument, match=names):
            call()
    wide = open_forged(Forge.of({f"c{i}": numbers([1], "i8") for i in range(13)}))
    with pytest.raises(amudai.InvalidArgument, match=r"c0, c1, .*c9 and 3 more"):
        wide.read(["c13"])


def test_columns_are_a_list_of_names(sample: amudai.Shard) -> None:
    with pytest.raises(amudai.InvalidArgument, match="expected a list of names, found the name 'status'"):
        sample.read("status")
    with pytest.raises(amudai.InvalidArgument, match="expected names, found 3"):
        sample.read([3])  # type: ignore[list-item]


# ---- nested columns ----


def nested() -> amudai.Shard:
    events = lists([2, 0, None], structs({"id": numbers([1, 2], "i8"), "name": strings(["a", "b"])}))
    attributes = maps(
        [1, 1, None], strings(["k", "l"]), structs({"x": numbers([10, 20], "i8"), "y": numbers([30, 40], "i8")})
    )
    pod = structs({"name": strings(["p", "q", "r"]), "node.ip": strings(["1", "2", "3"])})
    return open_forged(
        Forge.of(
            {
                "http": structs({"status": numbers([200, 500, 0], "i8"), "path": strings(["/", "/a", ""])}),
                "events": events,
                "attributes": attributes,
                "k8s.pod": pod,
            }
        )
    )


def test_a_path_into_a_struct_keeps_the_struct(sample: amudai.Shard) -> None:
    found = sample.read(["http.status"])
    assert found.schema == pa.schema([("http", pa.struct([("status", pa.int64())]))])
    assert found["http"].to_pylist() == [row["http"] and {"status": row["http"]["status"]} for row in rows()]
    both = sample.read(["http.path", "http.status"], rows=slice(0, 1))
    assert both.to_pylist() == [{"http": rows()[0]["http"]}]
    assert sample.read(["http.path", "http"]).schema == sample.read(["http"]).schema


def test_paths_lead_through_lists_with_and_without_naming_their_items() -> None:
    shard = nested()
    for path in ("events.id", "events.item.id", "events.element.id"):
        found = shard.read([path])
        assert found.schema.field("events").type == pa.list_(pa.struct([("id", pa.int64())]))
        assert found["events"].to_pylist() == [[{"id": 1}, {"id": 2}], [], None]


def test_paths_lead_into_the_values_of_maps() -> None:
    shard = nested()
    found = shard.read(["attributes.value.y"])
    assert found["attributes"].to_pylist() == [[("k", {"y": 30})], [("l", {"y": 40})], None]
    # Values without keys are no map: a path to the keys reads both.
    assert shard.read(["attributes.key"]).schema == shard.read(["attributes"]).schema


def test_backticks_keep_names_with_dots_whole() -> None:
    shard = nested()
    assert shard.read(["`k8s.pod`.name"])["k8s.pod"].to_pylist() == [{"name": "p"}, {"name": "q"}, {"name": "r"}]
    assert shard.read(["`k8s.pod`.`node.ip`"])["k8s.pod"][0].as_py() == {"node.ip": "1"}
    # Without backticks a whole name still counts.
    assert shard.read(["k8s.pod"])["k8s.pod"][0].as_py() == {"name": "p", "node.ip": "1"}
    assert shard["`k8s.pod`.`node.ip`"].path == "`k8s.pod`.`node.ip`"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("http.nope", "http has no 'nope'"),
        ("http.status.deeper", "status has no 'deeper'"),
        ("events.nope", "has no 'nope'"),
        ("attributes.nope", "attributes has no 'nope'"),
        ("nope.status", "expected one of http"),
        ("`k8s.pod", "closing backtick"),
        ("`k8s.pod`name", "dot after the closing backtick"),
        ("", "expected one of http"),
    ],
)
def test_a_path_that_leads_nowhere(path: str, message: str) -> None:
    with pytest.raises(amudai.InvalidArgument, match=message):
        nested().read([path])


# ---- batches ----


def three_stripes() -> amudai.Shard:
    return open_forged(Forge.of(*({"n": numbers(range(i, i + 5), "i8")} for i in (0, 5, 10))))


@pytest.mark.parametrize(
    ("size", "expected"),
    [(1, [1] * 15), (2, [2, 2, 1] * 3), (5, [5, 5, 5]), (7, [5, 5, 5]), (100, [5, 5, 5])],
)
def test_batches_have_the_size_asked_for_and_never_cross_stripes(size: int, expected: list[int]) -> None:
    shard = three_stripes()
    for count in (1, 3):
        batches = list(shard.to_reader(batch_rows=size, threads=count))
        assert [batch.num_rows for batch in batches] == expected
        assert [row["n"] for batch in batches for row in batch.to_pylist()] == list(range(15))


def test_batches_of_some_rows_and_columns(sample: amudai.Shard) -> None:
    reader = sample.to_reader(["level", "status"], rows=slice(100, 260), batch_rows=64)
    assert isinstance(reader, pa.RecordBatchReader)
    assert reader.schema.names == ["level", "status"]
    assert [batch.num_rows for batch in reader] == [64, 64, 32]
    assert [batch.num_rows for batch in three_stripes().to_reader(rows=slice(4, 11), batch_rows=4)] == [1, 4, 1, 1]
    assert list(sample.to_reader(rows=slice(0, 0))) == []


@pytest.mark.parametrize("size", [0, -1])
def test_batches_hold_a_row_at_least(sample: amudai.Shard, size: int) -> None:
    with pytest.raises(amudai.InvalidArgument, match="batch_rows: expected at least 1"):
        sample.to_reader(batch_rows=size)


def test_damage_is_an_error_of_ours_in_batches_too() -> None:
    reader = open_damaged(n=numbers(range(10), "i8", plain.encode, 5)).to_reader(batch_rows=5)
    with pytest.raises(amudai.CorruptedData, match="checksum"):
        list(reader)


# ---- head and single rows ----


def test_head(sample: amudai.Shard) -> None:
    assert sample.head(3).equals(sample.read(rows=slice(0, 3)))
    assert sample.head(2, ["status"]).to_pydict() == {"status": [200, 200]}
    assert sample.head().num_rows == 10
    assert sample.head(0).num_rows == 0
    assert sample.head(1000).num_rows == 400
    with pytest.raises(amudai.InvalidArgument, match="count: expected at least 0, found -1"):
        sample.head(-1)


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        lambda rows: np.array(rows, np.int64),
        lambda rows: np.array(rows, np.uint16),
        lambda rows: np.array(rows, np.uint64),
        lambda rows: pa.array(rows, pa.int32()),
        lambda rows: pa.array(rows, pa.uint64()),
        lambda rows: pa.chunked_array([rows[:2], rows[2:]]),
    ],
)
def test_take_accepts_every_kind_of_positions(sample: amudai.Shard, make: Callable[[list[int]], Any]) -> None:
    expected = rows()
    for asked in ([0, 7, 399], [399, 7, 7, 0], [5, 5], [3, 2, 1, 0]):
        found = sample.take(make(asked), ["status", "message", "http"])
        assert found.to_pylist() == [
            {name: expected[row][name] for name in ("status", "message", "http")} for row in asked
        ]


def test_take_of_nothing_is_an_empty_table(sample: amudai.Shard) -> None:
    nothing: list[Any] = []
    for asked in (nothing, np.array([], np.int64), pa.array([], pa.int64()), pa.array([], pa.null()), np.array([])):
        found = sample.take(asked, ["status"])
        assert (found.num_rows, found.schema.names) == (0, ["status"])


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ([-1], r"rows: expected 0\.\.399, found -1"),
        ([0, 400], r"rows: expected 0\.\.399, found 400"),
        ([1 << 40], r"expected 0\.\.399"),
        (np.array([1 << 63], np.uint64), r"expected 0\.\.399"),
        ([0.5], "sequence of integers"),
        ([1.0], "sequence of integers"),
        (np.array([1.0]), "sequence of integers"),
        ([True, False], "sequence of integers"),
        (["1"], "sequence of integers"),
        ([None], "sequence of integers"),
        ([[0]], "sequence of integers"),
        ([1 << 70], "sequence of integers"),
        (pa.array([1, None]), "found a null"),
        (pa.chunked_array([[1], [None]], pa.int64()), "found a null"),
        (pa.array(["a"]), "sequence of integers"),
        (5, "sequence of integers"),
        (slice(0, 3), "sequence of integers"),
    ],
)
def test_take_refuses_what_is_no_position(sample: amudai.Shard, asked: Any, message: str) -> None:
    with pytest.raises(amudai.InvalidArgument, match=message):
        sample.take(asked)


def test_take_across_stripes_in_any_order() -> None:
    assert three_stripes().take([14, 0, 7, 7, 4, 5])["n"].to_pylist() == [14, 0, 7, 7, 4, 5]


# ---- other types than the shard suggests ----


def test_a_schema_asks_for_other_types() -> None:
    columns = {
        "price": decimals(decimal_bytes("2.50", "-19.99")),
        "name": strings(["a", "b"]),
        "tags": lists([1, 1], strings(["x", "y"])),
    }
    wanted = {
        "price": pa.decimal128(10, 2),
        "name": pa.dictionary(pa.int32(), pa.large_string()),
        "tags": pa.large_list(pa.string_view()),
    }
    for schema in (wanted, pa.schema(list(wanted.items()))):
        shard = open_forged(Forge.of(columns), schema=schema)
        assert {field.name: field.type for field in shard.schema} == wanted
        table = shard.read()
        assert {field.name: field.type for field in table.schema} == wanted
        assert [str(value) for value in table["price"].to_pylist()] == ["2.50", "-19.99"]
        assert table["name"].to_pylist() == ["a", "b"]
        assert table["tags"].to_pylist() == [["x"], ["y"]]
        assert shard["tags.item"].type == pa.string_view()
    assert open_forged(Forge.of(columns), schema={"name": pa.large_string()}).schema.types[1:] == [
        pa.large_string(),
        pa.list_(pa.string()),
    ]


def test_a_schema_names_columns_that_exist(sample: amudai.Shard) -> None:
    shard = amudai.open(SAMPLE, schema={"nope": pa.int64()})
    with pytest.raises(amudai.InvalidArgument, match="schema: expected columns of the shard, found 'nope'"):
        shard.read()


# ---- pictures ----


def test_the_tree_shows_names_sizes_and_encodings(sample: amudai.Shard) -> None:
    tree = sample.tree()
    assert tree == str(sample)
    lines = tree.splitlines()
    assert lines[0] == "sample.amudai.shard: 400 rows, 1 stripe, root file 14.1 kB"
    assert "stripe 0: rows 0..400" in lines[1]
    for name, encoding in (
        ("ts", "delta(single_value)"),
        ("level", "dictionary(run_length)"),
        ("status", "ffor x2"),
        ("message", "lz4(ffor)"),
        ("path", "dictionary(ffor)"),
    ):
        (line,) = [line for line in lines[2:] if line.strip("├└─ ").startswith(f"{name} ")][:1]
        assert encoding in line
        assert " B " in line or " kB " in line
    assert any("200..503" in line for line in lines)
    assert sample.tree(fields=2).splitlines()[-1] == "└─ and 3 more columns"


def test_html_shows_the_same_and_escapes_it() -> None:
    shard = open_forged(Forge.of({"<b>": numbers([1, 2], "i8", ffor.encode)}))
    html = shard._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>&" not in html.replace("<b>forged", "")
    assert "ffor" in html
    assert f"{shard['<b>'].encoded_bytes} B" in html
    assert "&lt;b&gt;" in shard["<b>"]._repr_html_()


def test_html_of_a_scan_says_what_explain_says_and_escapes_it(tmp_path: Path) -> None:
    shard = amudai.write({"m": ["<i>a</i>", "b"]}, tmp_path / "m.amudai.shard")
    scan = shard.scan(where=amudai.col("m").contains("<i>"))
    assert "1 row found" not in scan._repr_html_()
    assert scan.count() == 1
    html = scan._repr_html_()
    assert "2 rows checked" in html
    assert "1 row found" in html
    assert "<i>" not in html
    assert "http" not in html


def test_html_shows_indexes_and_counts_what_it_leaves_out(tmp_path: Path) -> None:
    shard = amudai.write({"m": ["a"]}, tmp_path / "m.amudai.shard", indexes=[amudai.TermIndex("m")])
    assert "<summary>1 index</summary>" in shard._repr_html_()
    assert "stripe</summary>" not in shard._repr_html_()
    many = open_forged(Forge.of(*({"n": numbers([i], "i8")} for i in range(25))))
    assert "<summary>25 stripes</summary>" in many._repr_html_()
    assert "and 5 more" in many._repr_html_()
    wide = open_forged(Forge.of({f"c{i}": numbers([1], "i8") for i in range(51)}))
    assert "and 1 more column<" in wide._repr_html_()


def test_a_picture_of_many_stripes_and_columns_stays_short() -> None:
    shard = open_forged(Forge.of(*({"n": numbers([i], "i8")} for i in range(25))))
    lines = shard.tree().splitlines()
    assert "├─ and 5 more stripes" in lines
    assert len(lines) == 1 + 20 + 1 + 1


def test_short_forms(sample: amudai.Shard) -> None:
    assert repr(sample) == f"<amudai.Shard {SAMPLE.as_uri()}: 400 rows, 1 stripe>"
    assert repr(sample["http.status"]) == "<amudai.Field http.status: int64>"
    assert str(sample["http"]).splitlines()[0].startswith("http  struct")
    assert [field.path for field in sample.columns] == ["ts", "level", "status", "message", "http"]
    assert [field.path for field in sample["http"].children] == ["http.status", "http.path"]
    assert repr(sample.requests).startswith("Requests(")


# ---- fields ----


def test_a_field_tells_what_is_known_of_it() -> None:
    columns = {
        "n": numbers([3, None, -5], "i8", ffor.encode),
        "l": lists([2, None, 1], numbers([1, 2, 3], "i8")),
        "m": maps([1, 1, 1], strings(["a", "b", "c"]), booleans([True, None, False])),
    }
    shard = open_forged(Forge.of(columns))
    n = shard["n"].stats
    assert (n.count, n.null_count, n.min, n.max, n.distinct_count) == (3, 1, -5, 3, None)
    assert shard["n"].encoded_bytes == len(columns["n"].stored.buffers[0].layout()[0])
    assert shard["l.item"].stats.count == 3
    assert (shard["l.item"].name, shard["l.item"].label, shard["l.item"].path) == ("", "item", "l.item")
    assert shard["m.value"].stats.details == {"true_count": 1, "false_count": 1}
    assert shard["m"].encoded_bytes > shard["m.key"].encoded_bytes + shard["m.value"].encoded_bytes
    assert (shard["m.key"].stored_type, shard["m"].stored_type) == ("string", "map<string, boolean>")


def test_properties_of_shard_stripes_and_fields() -> None:
    column = numbers([1], "i8")
    column.stored.descriptor.custom_properties.add(name="unit").value.string_value = "ms"
    forge = Forge.of(
        {"n": column},
        properties={"owner": "ops", "level": 3, "on": True, SCHEMA_PROPERTY: b""},
        standard_properties={"owner": "format", "made": "by hand"},
        fields={0: column.stored.descriptor},
    )
    forge.stripes[0].properties = {"part": 7}
    shard = open_forged(forge)
    assert shard.properties == {"owner": "ops", "level": 3, "on": True}
    assert shard.standard_properties == {"owner": "format", "made": "by hand"}
    assert shard.stripes[0].properties == {"part": 7}
    assert shard["n"].properties == {"unit": "ms"}


# ---- threads ----


@pytest.fixture(scope="module")
def many_rows() -> amudai.Shard:
    count = 20_000
    stripe = {
        "n": numbers(range(count), "i8", plain.encode, 2048),
        "s": strings([f"row {i}" if i % 7 else None for i in range(count)], block_values=1000),
        "k": constants(strings([]), count, "same"),
    }
    return open_forged(Forge.of(stripe, stripe, layout="two-level"))


def test_the_result_does_not_depend_on_the_number_of_threads(many_rows: amudai.Shard) -> None:
    assert many_rows.num_rows * 3 > 1 << 16  # enough that threads are used at all
    alone = many_rows.read(threads=1)
    assert alone["n"].to_pylist() == [*range(20_000)] * 2
    for count in (2, 4, 16):
        assert many_rows.read(threads=count).equals(alone)
        batches = many_rows.to_reader(threads=count, batch_rows=3000)
        assert pa.Table.from_batches(batches, schema=alone.schema).equals(alone.combine_chunks())
    rows = [39_999, 0, 20_001, 7, 7]
    assert many_rows.take(rows, threads=4).equals(many_rows.take(rows, threads=1))


class Places:
    """Notes how many threads there is room for, each time that work is handed out."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(self, size: int) -> ThreadPlaces:
        self.sizes.append(size)
        return ThreadPlaces(size)


def test_the_number_of_threads_is_the_one_asked_for(many_rows: amudai.Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    places = Places()
    monkeypatch.setattr(shared_threads, "ThreadPlaces", places)
    store = many_rows._reader.store
    monkeypatch.setenv("AMUDAI_THREADS", "3")
    shard = amudai.open(many_rows.url, store=store)
    shard.read()
    assert places.sizes == [3]
    shard.read(threads=5)
    assert places.sizes == [3, 5]
    shard.read(threads=1)
    shard.read(rows=slice(0, 10))  # not worth a thread
    assert places.sizes == [3, 5]
    amudai.open(many_rows.url, store=store, threads=2).read()
    assert places.sizes == [3, 5, 2]


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5", " ", "²"])
def test_a_bad_number_of_threads_is_refused(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMUDAI_THREADS", value)
    with pytest.raises(amudai.InvalidArgument, match="AMUDAI_THREADS: expected a number of at least 1, found"):
        amudai.open(SAMPLE)
    assert amudai.open(SAMPLE, threads=1).num_rows == 400
    monkeypatch.setenv("AMUDAI_THREADS", "")
    assert amudai.open(SAMPLE).num_rows == 400


def test_a_bad_number_of_threads_in_a_call_is_refused(sample: amudai.Shard) -> None:
    for call in (
        lambda: amudai.open(SAMPLE, threads=0),
        lambda: sample.read(threads=0),
        lambda: sample.to_reader(threads=-1),
        lambda: sample.take([0], threads=0),
    ):
        with pytest.raises(amudai.InvalidArgument, match="threads: expected at least 1"):
            call()


def test_an_error_in_a_thread_is_the_error_of_the_call(many_rows: amudai.Shard) -> None:
    content = {
        name: bytes(many_rows._reader.store.read_ranges(name, [(0, many_rows._reader.store.size(name))])[0])
        for name in ("shards/forged.amudai.shard", "shards/0000000000000000.amudai.stripe")
    }
    shard = amudai.open("shards/forged.amudai.shard", store=MemoryStore(content))
    with pytest.raises(amudai.StorageError, match=r"0000000000000001\.amudai\.stripe"):
        shard.read(threads=4)


# ---- for others ----


def test_whoever_speaks_the_arrow_protocol_can_read_it(sample: amudai.Shard) -> None:
    assert pa.table(sample).equals(sample.read())
    reader = pa.RecordBatchReader.from_stream(sample)
    assert reader.schema == sample.schema
    assert reader.read_all().num_rows == 400
    assert sample.__arrow_c_stream__() is not None


@pytest.mark.slow
def test_a_shard_that_outlives_everything_is_silent() -> None:
    """A shard that is still open when the interpreter exits causes no warning about leaks."""
    program = """
        import builtins
        import amudai
        builtins.kept = amudai.open("tests/fixtures/sample.amudai.shard")
        builtins.kept.read()
    """
    done = subprocess.run([sys.executable, "-c", dedent(program)], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
