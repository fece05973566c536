"""What can be written: everything that holds columns, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from amudai.arrow import batches_of, columns_of
from amudai.errors import InvalidArgument, InvalidSchema

TABLE = pa.table({"n": pa.array([1, 2, None, 4, 5]), "s": pa.array(["a", "b", "c", None, "e"])})
BATCHES = TABLE.to_batches(max_chunksize=2)


class Stream:
    """Only the stream protocol, as a frame of some other library."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


class Single:
    """Only the array protocol."""

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return BATCHES[0].__arrow_c_array__(requested_schema)


def read(data: Any, schema: pa.Schema | None = None) -> pa.Table:
    found, batches = batches_of(data, schema)
    collected = list(batches)
    assert all(batch.schema.equals(found, check_metadata=True) for batch in collected)
    return pa.Table.from_batches(collected, found)


@pytest.mark.parametrize(
    "data",
    [
        TABLE,
        pa.RecordBatchReader.from_batches(TABLE.schema, BATCHES),
        BATCHES,
        iter(BATCHES),
        (batch for batch in BATCHES),
        [TABLE.slice(0, 2), TABLE.slice(2)],
        [BATCHES[0], TABLE.slice(2)],
        [Stream(TABLE.slice(0, 1)), BATCHES[0].slice(1), TABLE.slice(2, 0), Stream(TABLE.slice(2))],
        ds.dataset(TABLE),
        ds.dataset(TABLE).scanner(),
        Stream(TABLE),
        {"n": TABLE["n"], "s": TABLE["s"].to_pylist()},
        {"n": TABLE["n"].combine_chunks(), "s": np.array(["a", "b", "c", None, "e"], object)},
    ],
    ids=lambda data: type(data).__name__,
)
def test_everything_that_holds_a_table(data: Any) -> None:
    assert read(data).equals(TABLE)


def test_one_batch() -> None:
    assert read(BATCHES[0]).equals(TABLE.slice(0, 2))
    assert read(Single()).equals(TABLE.slice(0, 2))
    assert read(pa.array([{"n": 1}])).to_pydict() == {"n": [1]}


def test_a_projecting_scanner() -> None:
    assert read(ds.dataset(TABLE).scanner(columns=["s"])).column_names == ["s"]


def test_nothing_is_read_ahead() -> None:
    taken = []

    def endless() -> Iterator[pa.RecordBatch]:
        while True:
            taken.append(1)
            yield BATCHES[0]

    schema, batches = batches_of(endless())
    assert schema == TABLE.schema
    assert len(taken) == 1
    next(batches)
    assert len(taken) == 1
    next(batches)
    assert len(taken) == 2
    reader = pa.RecordBatchReader.from_batches(TABLE.schema, endless())
    taken.clear()
    _, batches = batches_of(reader)
    assert not taken
    next(batches)
    assert len(taken) == 1
    taken.clear()
    _, batches = batches_of(endless(), TABLE.schema)
    assert not taken


def test_columns_of_a_dict() -> None:
    data = {
        "i": [1, None],
        "f": np.array([0.5, -0.0]),
        "b": pa.array([True, False]),
        "t": np.array(["2024-01-01"] * 2, "M8[D]"),
    }
    table = read(data)
    assert table.schema == pa.schema({"i": pa.int64(), "f": pa.float64(), "b": pa.bool_(), "t": pa.date32()})
    assert read({}).num_columns == 0
    wanted = pa.schema([pa.field("f", pa.float32(), metadata={"unit": "s"}), pa.field("i", pa.uint8())])
    found = read({"i": [1, None], "f": [0.5, 1]}, wanted)
    assert found.schema.equals(wanted, check_metadata=True)
    assert found.to_pydict() == {"f": [0.5, 1.0], "i": [1, None]}


def test_a_schema_that_is_given() -> None:
    renamed = TABLE.schema.with_metadata({"owner": "ops"})
    for data in (TABLE, BATCHES, Stream(TABLE), iter([])):
        found, batches = batches_of(data, renamed)
        assert found.equals(renamed, check_metadata=True)
        assert all(batch.schema.equals(renamed, check_metadata=True) for batch in batches)
    with pytest.raises(InvalidSchema, match="column 'n': expected int32, found int64"):
        batches_of(TABLE, pa.schema({"n": pa.int32(), "s": pa.string()}))


def test_metadata_of_later_batches_gives_way() -> None:
    kind = pa.struct([pa.field("x", pa.int8(), metadata={"k": "v"})])
    first = pa.RecordBatch.from_arrays([pa.array([{"x": 1}], kind)], schema=pa.schema([pa.field("s", kind)]))
    other = pa.record_batch({"s": pa.array([{"x": 2}], pa.struct([("x", pa.int8())]))})
    table = read([first, other])
    assert table.schema.equals(first.schema, check_metadata=True)
    assert table.to_pydict() == {"s": [{"x": 1}, {"x": 2}]}


@pytest.mark.parametrize(
    ("other", "trouble"),
    [
        ({"n": pa.array([1], pa.int32()), "s": ["x"]}, "column 'n': expected int64, found int32"),
        ({"s": ["x"], "n": [1]}, "column 0: expected 'n', found 's'"),
        ({"n": [1]}, "column 's': expected string, found no such column"),
        ({"n": [1], "s": ["x"], "z": [1]}, "column 'z': expected no such column, found it"),
    ],
)
def test_later_batches_must_match(other: dict[str, Any], trouble: str) -> None:
    _, batches = batches_of([BATCHES[0], pa.record_batch(other)])
    assert next(batches).equals(BATCHES[0])
    with pytest.raises(InvalidSchema, match=trouble):
        next(batches)


def test_nullability_belongs_to_the_type() -> None:
    strict = pa.schema([pa.field("n", pa.int64(), nullable=False)])
    first, later = pa.record_batch({"n": [1]}), pa.RecordBatch.from_arrays([pa.array([2])], schema=strict)
    with pytest.raises(InvalidSchema, match="column 'n': expected int64, found int64 not null"):
        read([first, later])


@pytest.mark.parametrize(
    ("data", "trouble"),
    [
        (7, "data: expected an Arrow table, .* found int"),
        (None, "found NoneType"),
        ("logs.csv", "found str: read a file first"),
        (b"abc", "found bytes"),
        ([], "expected at least one batch, or schema="),
        ([{"n": 1}], "expected batches or tables in the iterable, found dict"),
        ([1, 2], "expected batches or tables in the iterable, found int"),
        (pa.array([1]), "found Int64Array"),
        (pa.chunked_array([[1]]), "found ChunkedArray"),
        ({"a": [1], "b": [1, 2]}, "column 'b': expected 1 values as in the first column, found 2"),
        ({"a": [1, "x"]}, "column 'a': expected values of one Arrow type"),
        ({"a": 5}, "column 'a': expected values of one Arrow type"),
        ({"a": "text"}, "column 'a': expected a list or array, found str"),
        ({"a": np.zeros((2, 2))}, "column 'a': expected values of one Arrow type"),
        ({1: [1]}, "expected names as keys, found 1"),
    ],
    ids=str,
)
def test_other_things_are_refused(data: Any, trouble: str) -> None:
    with pytest.raises(InvalidArgument, match=trouble):
        batches_of(data)


def test_a_dict_and_its_schema_must_agree() -> None:
    schema = pa.schema({"a": pa.int64()})
    with pytest.raises(InvalidSchema, match="column 'b': expected none, found it"):
        batches_of({"a": [1], "b": [1]}, schema)
    with pytest.raises(InvalidSchema, match="column 'a': expected it, found none"):
        batches_of({}, schema)
    with pytest.raises(InvalidSchema, match="column 'a': expected int64, found double"):
        batches_of({"a": pa.array([1.5])}, schema)
    # pyarrow alone would cut the fraction off.
    with pytest.raises(InvalidArgument, match=r"column 'a': .* truncated"):
        batches_of({"a": [1.5]}, schema)
    with pytest.raises(InvalidArgument, match=r"column 'a': .* truncated"):
        batches_of({"a": [[1, 1.5]]}, pa.schema({"a": pa.list_(pa.int8())}))
    assert read({"a": [1.0, None]}, schema).to_pydict() == {"a": [1, None]}


@pytest.mark.parametrize(
    ("data", "trouble"),
    [
        (
            pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]),
            "expected unique names, found 'a' twice",
        ),
        (pa.table({"": [1]}), "expected names, found an empty one"),
        (pa.table({"s": pa.array([], pa.struct([("x", pa.int8()), ("x", pa.int8())]))}), "struct 's': expected unique"),
    ],
)
def test_names_that_no_shard_can_have(data: pa.Table, trouble: str) -> None:
    for form in (data, data.to_batches() or [data], Stream(data)):
        with pytest.raises(InvalidSchema, match=trouble):
            batches_of(form)


def test_pandas_frames() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"n": [1, 2], "s": ["x", None], "c": pd.Categorical(["u", "v"])})
    table = read(frame)
    assert table.column_names == ["n", "s", "c"]
    assert pa.types.is_dictionary(table.schema.field("c").type)
    assert table.to_pydict() == {"n": [1, 2], "s": ["x", None], "c": ["u", "v"]}
    assert b"pandas" in table.schema.metadata
    assert read({"n": frame["n"]}).to_pydict() == {"n": [1, 2]}
    indexed = read(frame.set_index("s"))
    assert set(indexed.column_names) == {"n", "c", "s"}


def test_older_pandas_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    pd = pytest.importorskip("pandas")
    monkeypatch.delattr(pd.DataFrame, "__arrow_c_stream__", raising=False)  # there since pandas 2.2
    assert read(pd.DataFrame({"n": [1, 2]})).to_pydict() == {"n": [1, 2]}


def test_polars_frames() -> None:
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"n": [1, 2], "s": ["x", None], "l": [[1], [2, 3]]})
    table = read(frame)
    assert table.to_pydict() == {"n": [1, 2], "s": ["x", None], "l": [[1], [2, 3]]}
    assert read([frame.head(1), frame.tail(1)]).num_rows == 2
    assert read({"n": frame["n"]}).to_pydict() == {"n": [1, 2]}


def _deep(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


def _cycle() -> list[object]:
    found: list[object] = []
    found += [found, found]
    return found


def _deep_struct(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "values",
    [
        [1, None, _deep(20_000)],
        (_deep(64),),
        [_deep_struct(20_000)],
        np.array([None, _deep(20_000)], dtype=object),
        [np.array([None, _deep(20_000)], dtype=object)],
        _cycle(),
    ],
    ids=["list", "tuple", "struct", "numpy", "numpy in a list", "cycle"],
)
def test_nesting_that_is_too_deep(values: Any) -> None:
    with pytest.raises(InvalidSchema, match="column 'c': expected at most 64 levels, found more"):
        batches_of({"a": [1], "c": values})
    with pytest.raises(InvalidSchema, match="column 'c': expected at most 64 levels, found more"):
        columns_of({"c": values})


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([_deep(10), None], None),
        ([{"a": [1, 2]}, {"a": None}], pa.struct([("a", pa.list_(pa.int64()))])),
        ([np.arange(3), np.array([], np.int64)], pa.list_(pa.int64())),
        (np.array([[1], None], dtype=object), pa.list_(pa.int64())),
        ({3: None}.keys(), pa.int64()),
        (range(3), pa.int64()),
    ],
    ids=["deep", "structs", "arrays", "objects", "keys", "range"],
)
def test_nesting_that_is_not_too_deep(values: Any, kind: pa.DataType | None) -> None:
    schema, batches = batches_of({"c": values})
    assert kind is None or schema.field("c").type == kind
    assert pa.Table.from_batches(batches).column("c").to_pylist() == pa.array(list(values)).to_pylist()
