"""Does deep verification find statistics and indexes that say something else than the values?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import amudai
from amudai.edit import Publication, Root
from amudai.format import (
    AnyValue,
    BufferKind,
    DecimalStats,
    FieldDescriptor,
    NativeEncoding,
    StripeFieldDescriptor,
)
from amudai.storage import open_store
from amudai.types import SchemaNode, decimal128
from tests.golden import GOLDEN

TABLE = pa.table(
    {
        "n": pa.array(range(1000), pa.int64()),
        "word": [f"w{at % 300} common" for at in range(1000)],
        "tag": [["red", "blue"][: at % 3] for at in range(1000)],
        "at": pa.array([1_700_000_000_000_000_000 + 37 * at for at in range(1000)], pa.timestamp("ns")),
        "price": pa.array([Decimal(at) / 100 for at in range(1000)], pa.decimal128(9, 2)),
        "ratio": pa.array([None, float("nan"), *[at / 7 for at in range(998)]], pa.float64()),
        "few": pa.array(["ab"[at % 2] for at in range(1000)]),
        "wide": pa.array([{"x": Decimal(at)} for at in range(1000)], pa.struct([("x", pa.decimal128(38, 2))])),
    }
)
ONE = decimal128.cohort(Decimal(1))[0]
KINDS = pa.array([at % 2 for at in range(1000)], pa.int8())
NUMBERS, TEXTS = pa.array(range(1000)), pa.array([f"t{at}" for at in range(1000)])
SPARSE = pa.UnionArray.from_sparse(KINDS, [NUMBERS, TEXTS], ["i", "s"])
DENSE = pa.UnionArray.from_dense(
    KINDS, pa.array([at // 2 for at in range(1000)], pa.int32()), [NUMBERS[:500], TEXTS[:500]], ["i", "s"]
)
BELOW = pa.ListArray.from_arrays(pa.array(range(1001), pa.int32()), SPARSE)
INDEXES = [amudai.TermIndex("word", "tag"), amudai.HashIndex("n", "word")]
STRIPED = [amudai.TermIndex("word", level="stripe"), amudai.HashIndex("n", level="stripe")]


def forged(shard: amudai.Shard, change: Callable[[Root], Root]) -> amudai.Shard:
    """The shard with another root."""
    to = shard.url.replace(".amudai.shard", "-forged.amudai.shard")
    store, url = open_store(to)
    with Publication(store, url, overwrite=True) as publication:
        publication.publish(change(Root.of(shard._reader).at(url)))
    return amudai.open(to)


def node_at(shard: amudai.Shard, path: str) -> SchemaNode:
    """The schema node of a field, given by the names down to it."""
    first, *others = path.split(".")
    node = shard._reader.schema.find(first)
    assert node is not None
    for name in others:
        node = node.children[0] if name == "item" else next(each for each in node.children if each.name == name)
    return node


def with_field(root: Root, schema_id: int, change: Callable[[FieldDescriptor], FieldDescriptor]) -> Root:
    """The root with another descriptor of a field in its first stripe."""
    first, *others = root.metadata.stripes
    payload = first.fields[schema_id]
    assert payload is not None
    stored = StripeFieldDescriptor.decode(payload)
    new = replace(stored, field=replace(change(stored.field.whole()), message=None)).encode()
    fields = (*first.fields[:schema_id], new, *first.fields[schema_id + 1 :])
    stripes = (replace(first, fields=fields), *others)
    return replace(root, metadata=replace(root.metadata, stripes=stripes))


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"stripe_rows": 300}, {"layout": "two-level"}, {"profile": "plain"}])
@pytest.mark.parametrize("indexes", [INDEXES, STRIPED], ids=["shard", "stripe"])
def test_what_we_write_is_sound(tmp_path: Path, options: dict[str, Any], indexes: list[Any]) -> None:
    shard = amudai.write(TABLE, tmp_path / "a.amudai.shard", indexes=indexes, **options)
    assert shard.verify(deep=True).problems == ()


@pytest.mark.slow
def test_what_we_make_of_it_is_sound(tmp_path: Path) -> None:
    shard = amudai.write(TABLE, tmp_path / "a.amudai.shard", indexes=INDEXES, stripe_rows=400)
    fewer = amudai.delete(shard, positions=range(100, 200), to=tmp_path / "b.amudai.shard")
    for policy in ("merge", "keep"):
        both = amudai.merge([fewer, shard], tmp_path / f"{policy}.amudai.shard", indexes=policy)  # type: ignore[arg-type]
        assert both.verify(deep=True).problems == ()
    renamed = amudai.rename_columns(both, {"word": "text"}, tmp_path / "d.amudai.shard")
    assert renamed.verify(deep=True).problems == ()
    limited = amudai.write(
        TABLE, tmp_path / "e.amudai.shard", indexes=[amudai.TermIndex("word", max_bytes=7000)], overwrite=True
    )
    assert limited.verify(deep=True).problems == ()


@pytest.mark.slow
def test_what_the_reference_writes_is_sound() -> None:
    found = 0
    for path in sorted(GOLDEN.rglob("*.amudai.shard"))[:60]:
        shard = amudai.open(path)
        if shard.verify().ok:
            assert shard.verify(deep=True).problems == (), path
            found += 1
    assert found > 5


@pytest.mark.parametrize(
    ("column", "change", "message"),
    [
        ("n", {"max": AnyValue("i64", 998)}, "greatest value of int64: expected 999, as the values say, found 998"),
        ("n", {"min": AnyValue("i64", 1)}, "least value of int64: expected 0, as the values say, found 1"),
        ("ratio", {"max": AnyValue("double", 1.0)}, "greatest value of float64: expected 142"),
        ("n", {"max": AnyValue("u64", 998)}, "greatest value of int64: expected 999, as the values say, found 998"),
        ("n", {"min_inclusive": False}, "least value of int64: expected 0 itself among the values"),
        ("word", {"max_inclusive": False}, "greatest value of string: expected w99 common itself among the values"),
        ("wide.x", {"max": AnyValue("decimal", ONE)}, "greatest value of fixed_size_binary[16]: expected 999.00"),
    ],
)
def test_forged_bounds(tmp_path: Path, column: str, change: dict[str, Any], message: str) -> None:
    shard = amudai.write(TABLE, tmp_path / "a.amudai.shard")
    node = node_at(shard, column)

    def lie(field: FieldDescriptor) -> FieldDescriptor:
        assert field.range_stats is not None
        return replace(field, range_stats=replace(field.range_stats, **change))

    lying = forged(shard, lambda root: with_field(root, node.schema_id, lie))
    assert lying.verify().ok
    (problem,) = lying.verify(deep=True).problems
    assert message in problem.message
    assert "stripe 0" in problem.message


@pytest.mark.parametrize(
    ("column", "change", "message"),
    [
        ("ratio", lambda field: replace(field, null_count=0), "null_count: expected 1"),
        ("n", lambda field: replace(field, raw_data_size=9), "raw_data_size: expected 8000"),
        (
            "ratio",
            lambda field: replace(
                field, type_stats=DecimalStats(zero_count=0, positive_count=0, negative_count=0, nan_count=0)
            ),
            "statistics: expected",
        ),
        ("sparse.i", lambda field: replace(field, null_count=3), "null_count: expected 0"),
        ("dense.s", lambda field: replace(field, null_count=3), "null_count: expected 0"),
        ("below.item.i", lambda field: replace(field, null_count=3), "null_count: expected 0"),
        (
            "word",
            lambda field: replace(field, type_stats=replace(field.type_stats, max_size=3)),
            "statistics: expected",
        ),
        (
            "word",
            lambda field: replace(
                field,
                cardinality=replace(field.cardinality, sketch=replace(field.cardinality.sketch, counters=bytes(4096))),
            ),
            "sketch of distinct values",
        ),
        (
            "few",
            lambda field: replace(field, bloom_filter=replace(field.bloom_filter, data=bytes(32))),
            "Bloom filter: expected that of the values",
        ),
    ],
    ids=["nulls", "bytes", "kind", "variant", "dense variant", "variant in a list", "lengths", "sketch", "filter"],
)
def test_forged_statistics(
    tmp_path: Path, column: str, change: Callable[[FieldDescriptor], FieldDescriptor], message: str
) -> None:
    shard = amudai.write(TABLE.append_column("sparse", SPARSE), tmp_path / "a.amudai.shard")
    shard = amudai.with_columns(shard, {"dense": DENSE, "below": BELOW}, tmp_path / "b.amudai.shard")
    assert shard.verify(deep=True).problems == ()
    node = node_at(shard, column)
    lying = forged(shard, lambda root: with_field(root, node.schema_id, change))
    assert lying.verify().ok
    assert message in lying.verify(deep=True).problems[0].message


def test_a_forged_constant_of_the_shard(tmp_path: Path) -> None:
    shard = amudai.write({"n": [1] * 10 + [2] * 10, "c": [5] * 20}, tmp_path / "a.amudai.shard", stripe_rows=10)
    assert shard.verify(deep=True).problems == ()

    def lie(root: Root) -> Root:
        first = FieldDescriptor.decode(root.metadata.fields[0] or b"")
        new = replace(first.whole(), constant_value=AnyValue("i64", 1), message=None).encode()
        return replace(root, metadata=replace(root.metadata, fields=(new, *root.metadata.fields[1:])))

    lying = forged(shard, lie)
    assert lying.verify().ok
    assert "constant: expected none, as the values say, found 1" in lying.verify(deep=True).problems[0].message


def changed(at: int, column: str, value: object) -> pa.Table:
    """The table with one other value."""
    values = TABLE[column].to_pylist()
    values[at] = value
    return TABLE.set_column(TABLE.schema.get_field_index(column), column, pa.array(values, TABLE[column].type))


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (changed(500, "word", "common"), "term 'w200': expected row 500 and 0 others in stripe 0"),
        (changed(500, "word", "w200 common more"), "term 'more': expected no such term, found 1 rows"),
        (changed(500, "word", "w201 common"), "term 'w200': expected row 500"),
        (changed(7, "n", 10**6), "hash index: expected the 2000 pairs of key and row of the values, found others"),
    ],
    ids=["dropped posting", "new term", "moved posting", "dropped key"],
)
def test_an_index_of_other_values(tmp_path: Path, other: pa.Table, message: str) -> None:
    shard = amudai.write(TABLE, tmp_path / "a.amudai.shard")
    wrong = amudai.write(other, tmp_path / "b.amudai.shard", indexes=INDEXES)

    def graft(root: Root) -> Root:
        theirs = Root.of(wrong._reader).at(root.url)
        metadata = replace(
            root.metadata, indexes=theirs.metadata.indexes, urls=root.metadata.urls | theirs.metadata.urls
        )
        return replace(root, metadata=metadata, files={**root.files, **theirs.files})

    lying = forged(shard, graft)
    assert lying.verify().ok
    assert message in " ".join(each.message for each in lying.verify(deep=True).problems)


def test_an_index_of_a_renamed_column(tmp_path: Path) -> None:
    table = pa.table(
        {"a": [{"b.c": at % 7} for at in range(100)], "n": range(100), "t": [[f"x{at}"] for at in range(100)]}
    )
    indexes = [amudai.HashIndex("a.`b.c`", ("n", "a.`b.c`"), "t")]
    names = {"a": "aa", "n": "number", "t": "tags"}
    shards = []
    for number, first in enumerate((0, 1)):
        values = table.set_column(1, "n", pa.array(range(first, first + 100)))
        shard = amudai.write(values, tmp_path / f"{number}.amudai.shard", indexes=indexes)
        shards.append(amudai.rename_columns(shard, names, tmp_path / f"{number}-renamed.amudai.shard"))
    one, other = shards
    assert one.verify(deep=True).problems == ()

    def graft(root: Root) -> Root:
        theirs = Root.of(other._reader).at(root.url)
        metadata = replace(
            root.metadata, indexes=theirs.metadata.indexes, urls=root.metadata.urls | theirs.metadata.urls
        )
        return replace(root, metadata=metadata, files={**root.files, **theirs.files})

    (problem,) = forged(one, graft).verify(deep=True).problems
    assert "hash index: expected the 300 pairs of key and row of the values, found others" in problem.message


def test_a_range_index_of_other_values(tmp_path: Path) -> None:
    shard = amudai.write(TABLE, tmp_path / "a.amudai.shard")
    wrong = amudai.write(changed(700, "n", 701), tmp_path / "b.amudai.shard")

    def graft(root: Root) -> Root:
        theirs = Root.of(wrong._reader).at(root.url)
        (first,) = root.metadata.stripes
        mine, other = (
            StripeFieldDescriptor.decode(each.metadata.stripes[0].fields[0] or b"") for each in (root, theirs)
        )
        native, wrongly = mine.encodings[0], other.encodings[0]
        assert isinstance(native, NativeEncoding)
        assert isinstance(wrongly, NativeEncoding)
        ranges = next(each for each in wrongly.buffers if each.kind is BufferKind.RANGE_INDEX)
        kept = tuple(each for each in native.buffers if each.kind is not BufferKind.RANGE_INDEX)
        field = replace(mine, encodings=(NativeEncoding((*kept, ranges)),)).encode()
        stripe = replace(first, fields=(field, *first.fields[1:]))
        metadata = replace(root.metadata, stripes=(stripe,), urls=root.metadata.urls | theirs.metadata.urls)
        return replace(root, metadata=metadata, files={**root.files, **theirs.files})

    # Row 700 is not among the least and greatest of its stretch: only a value at an end changes the index.
    assert forged(shard, graft).verify(deep=True).ok
    wrong = amudai.write(changed(767, "n", 700), tmp_path / "b.amudai.shard", overwrite=True)
    lying = forged(amudai.open(shard.url), graft)
    assert lying.verify().ok
    (problem,) = lying.verify(deep=True).problems
    assert (
        "greatest value of rows 512.. in the range index: expected 767, as the values say, found 766" in problem.message
    )


@pytest.mark.slow
def test_values_that_are_stored_twice(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "a.parquet")
    shard = amudai.attach(tmp_path / "a.parquet", tmp_path / "a.amudai.shard", indexes=INDEXES)
    assert shard.verify(deep=True).problems == ()
    twice = amudai.materialize(shard, tmp_path / "twice.amudai.shard", keep=True)
    assert twice.verify(deep=True).problems == ()
    pq.write_table(changed(500, "few", "c"), tmp_path / "b.parquet")
    other = amudai.attach(tmp_path / "b.parquet", tmp_path / "b.amudai.shard")

    def graft(root: Root) -> Root:
        theirs = Root.of(other._reader).at(root.url)
        mine, wrongly = (
            StripeFieldDescriptor.decode(each.metadata.stripes[0].fields[7] or b"") for each in (root, theirs)
        )
        field = replace(mine, encodings=(mine.encodings[0], wrongly.encodings[0])).encode()
        (first,) = root.metadata.stripes
        stripe = replace(first, fields=(*first.fields[:7], field, *first.fields[8:]))
        metadata = replace(root.metadata, stripes=(stripe,), urls=root.metadata.urls | theirs.metadata.urls)
        return replace(root, metadata=metadata, files={**root.files, **theirs.files})

    lying = forged(twice, graft)
    assert lying.verify().ok
    (problem,) = lying.verify(deep=True).problems
    assert "row 500: expected 'a' in both encodings, found 'c' in Parquet" in problem.message


def test_indexes_of_stripes_that_count_slots(tmp_path: Path) -> None:
    """They count slots from the first stripe of the shard that they were built for."""
    words = ["alpha 1", "beta", None, "1 alpha"] * 3
    table = pa.table({"w": words, "l": [[each, each] for each in words], "n": range(12)})
    index = amudai.TermIndex("w", "l.item", granularity=["element", "element"], level="stripe")
    one = amudai.write(table, tmp_path / "1.amudai.shard", stripe_rows=5, indexes=[index])
    two = amudai.merge([one, one], tmp_path / "2.amudai.shard")
    three = amudai.drop_columns(two, ["w"], tmp_path / "3.amudai.shard")
    for shard in (one, two, three):
        assert shard.verify(deep=True).ok
        assert shard.count(amudai.col("l.item").has("alpha")) == shard.num_rows // 2


def test_a_hash_index_that_lost_a_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amudai.index.hash.checking._PAIRS", 5)
    rows = {"a": range(20), "b": [str(at) for at in range(20)], "c": [at % 3 for at in range(20)]}
    shards = []
    for number, values in enumerate((range(20), range(1, 21))):
        shard = amudai.write(
            {**rows, "a": values},
            tmp_path / f"{number}.amudai.shard",
            stripe_rows=8,
            indexes=[amudai.HashIndex("a", "b", ("a", "c")), amudai.HashIndex("a", "b", level="stripe")],
        )
        shards.append(amudai.drop_columns(shard, ["c", "b"], tmp_path / f"{number}-fewer.amudai.shard"))
    one, other = shards
    assert one.indexes[0].fields == ("a",)
    assert one.verify(deep=True).problems == ()
    assert one.count("a = 7") == 1

    def graft(root: Root) -> Root:
        theirs = Root.of(other._reader).at(root.url)
        metadata = replace(
            root.metadata, indexes=theirs.metadata.indexes, urls=root.metadata.urls | theirs.metadata.urls
        )
        return replace(root, metadata=metadata, files={**root.files, **theirs.files})

    (problem,) = forged(one, graft).verify(deep=True).problems
    assert "expected the 20 pairs of key and row of the values, found none of 20 of them" in problem.message


@pytest.mark.parametrize("values", [[[]], [None], [[], None], [[], []]])
def test_lists_without_any_item(tmp_path: Path, values: list[list[bool] | None]) -> None:
    shard = amudai.write(pa.table({"x": pa.array(values, pa.list_(pa.bool_()))}), tmp_path / "x.amudai.shard")
    assert shard.verify(deep=True).problems == ()


@pytest.mark.parametrize("level", ["shard", "stripe", "field"])
def test_indexes_of_a_struct_that_also_holds_a_union(
    tmp_path: Path, level: Literal["shard", "stripe", "field"]
) -> None:
    union = pa.UnionArray.from_dense(
        pa.array([0, 1, 0], pa.int8()), pa.array([0, 0, 1], pa.int32()), [pa.array([1, 2]), pa.array(["a"])], ["n", "s"]
    )
    structs = pa.StructArray.from_arrays([union, pa.array(["red", "blue", None])], ["u", "s"])
    indexes = [amudai.TermIndex("x.s", level=level), amudai.HashIndex("x.s", level=level)]
    written = amudai.write(pa.table({"x": structs}), tmp_path / "x.amudai.shard", indexes=indexes)
    plain = amudai.write(pa.table({"x": structs}), tmp_path / "plain.amudai.shard")
    added = amudai.add_indexes(plain, indexes, tmp_path / "added.amudai.shard")
    for shard in (written, added):
        assert shard.verify(deep=True).problems == ()
        assert shard.count(amudai.col("x.s").has("blue")) == 1


def test_a_native_shard_merged_with_columns_in_parquet_of_which_less_is_known(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1.0, float("nan")], "w": ["long text", ""]}), tmp_path / "p.parquet")
    attached = amudai.attach(tmp_path / "p.parquet", tmp_path / "p.amudai.shard", ranges=[])
    native = amudai.write(pa.table({"x": [2.0], "w": ["a"]}), tmp_path / "n.amudai.shard")
    merged = amudai.merge([native, attached], tmp_path / "m.amudai.shard")
    assert merged.verify(deep=True).problems == ()
    assert merged["x"].stats.details == merged["w"].stats.details == {}


def test_lists_of_a_fixed_size_in_lists_of_parquet(tmp_path: Path) -> None:
    """A null list of two is one level of Parquet, and two positions."""
    kind = pa.map_(pa.string(), pa.list_(pa.bool_(), 2))
    values = [[("a", None)], [("b", [True, None]), ("c", None)], [], None]
    pq.write_table(pa.table({"x": pa.array(values, kind)}), tmp_path / "x.parquet")
    try:
        pq.read_table(tmp_path / "x.parquet")
    except pa.ArrowInvalid:
        pytest.skip("this pyarrow does not read null lists of a fixed size from Parquet")
    shard = amudai.attach(tmp_path / "x.parquet", tmp_path / "x.amudai.shard")
    assert shard.verify(deep=True).problems == ()
    assert shard["x"].read().to_pylist() == values
