"""What goes in comes out: every type, any nesting, whatever the chunks, the profile and the layout."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import amudai
from amudai.encoding.profile import PROFILES
from tests.effort import examples
from tests.writing.arrays import OTHERS, SIMPLE, Maker, kinds, plain
from tests.writing.exact import assert_exact, kept

LAYOUTS = ["single", "two-level"]
MORE = [
    pa.binary(1),
    pa.binary(16),
    pa.dictionary(pa.int32(), pa.binary(2), ordered=True),
    pa.dictionary(pa.uint8(), pa.float64()),
    pa.list_(pa.field("element", pa.int64(), nullable=False, metadata={"a": "b"})),
    pa.map_(pa.string(), pa.int8(), keys_sorted=True),
    pa.struct([]),
    pa.struct([pa.field("x", pa.float32(), metadata={"unit": "m"})]),
]
EVERY = [*SIMPLE, *OTHERS, *MORE]


def cut(array: pa.Array, cuts: list[int]) -> pa.ChunkedArray:
    edges = sorted({0, len(array), *(at % (len(array) + 1) for at in cuts)})
    chunks = [array.slice(start, end - start) for start, end in itertools.pairwise(edges)]
    return pa.chunked_array(chunks, array.type)


@pytest.mark.slow
@pytest.mark.parametrize("kind", EVERY, ids=str)
def test_every_type(kind: pa.DataType, tmp_path: Path) -> None:
    maker = Maker(7)
    field = pa.field("c", kind, metadata={"note": "kept"})
    for (profile, layout), count in zip(itertools.product(PROFILES, LAYOUTS), [0, 1, 9, 300] * 3, strict=False):
        column = cut(maker.array(kind, count), [count // 3])
        table = pa.table([column], schema=pa.schema([field], metadata={"owner": "ops"}))
        kept(table, tmp_path, profile=profile, layout=layout, stripe_rows=None if layout == "single" else 100)


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    columns=st.lists(kinds, min_size=1, max_size=3),
    count=st.integers(0, 40),
    seed=st.integers(0, 2**32 - 1),
    cuts=st.lists(st.integers(0, 40), max_size=3),
    profile=st.sampled_from(list(PROFILES)),
    layout=st.sampled_from(LAYOUTS),
    stripe_rows=st.sampled_from([None, 1, 7, 16]),
    threads=st.sampled_from([1, 3]),
)
def test_any_nesting(
    columns: list[pa.DataType],
    count: int,
    seed: int,
    cuts: list[int],
    profile: str,
    layout: str,
    stripe_rows: int | None,
    threads: int,
    tmp_path: Path,
) -> None:
    maker = Maker(seed)
    arrays = [cut(maker.array(kind, count), cuts) for kind in columns]
    table = pa.table(arrays, names=[f"c{at}" for at in range(len(columns))])
    shard = kept(table, tmp_path, profile=profile, layout=layout, stripe_rows=stripe_rows, threads=threads)
    rows = [at % count for at in cuts] if count else []
    taken = shard.take(rows)
    for name in table.column_names:
        everything = [value for chunk in table[name].chunks for value in plain(chunk)]
        assert [value for chunk in taken[name].chunks for value in plain(chunk)] == [everything[at] for at in rows]


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["plain", "minimal_compression", "balanced", "high_compression"])
def test_many_blocks_and_flushes(profile: str, tmp_path: Path) -> None:
    """More values than a flush, so that plans are kept, judged and replaced; with nulls that come and go."""
    random = np.random.default_rng(3)
    count = 150_000
    late = random.random(count) < np.where(np.arange(count) < 70_000, 0, 0.3)
    text = np.array(["", "a", "GET /index.html", "long " * 9, "\0", "é"])[random.integers(0, 6, count)]
    table = pa.table(
        {
            "shape changes": np.where(np.arange(count) < 66_000, 5, random.integers(-(2**62), 2**62, count)),
            "nulls come": pa.array(random.integers(0, 1000, count), mask=late),
            "floats": pa.array(np.where(np.arange(count) % 70_000 < 66_000, 0.25, random.random(count)), mask=late),
            "bools": pa.array(random.random(count) < 0.5, mask=late),
            "text": pa.array(text, mask=late),
            "unique": pa.array([f"{at:x}" if at < 80_000 else "same" for at in range(count)], mask=late),
            "ids": pa.array([struct.pack("<QQ", at // 3, at) for at in range(count)], pa.binary(16), mask=late),
            "lists": pa.array([list(range(at % 4)) if not late[at] else None for at in range(count)]),
        }
    )
    shard = amudai.write(table, tmp_path / "t.amudai.shard", profile=profile)
    assert shard.verify().ok
    found = shard.read()
    for name in table.column_names:
        assert found[name].combine_chunks().equals(table[name].combine_chunks()), name
    bits = [table_["floats"].combine_chunks().fill_null(0).to_numpy().view("u8") for table_ in (found, table)]
    assert np.array_equal(*bits)


def test_dictionary_that_is_given_up(tmp_path: Path) -> None:
    """Values that begin alike and end unlike: what the dictionary took is put into blocks, nulls included."""
    words = [None if at % 11 == 0 else f"w{at % 5}" if at < 60_000 else f"value number {at}" for at in range(140_000)]
    fixed = [None if word is None else word.encode().ljust(20)[:20] for word in words]
    table = pa.table({"text": words, "fixed": pa.array(fixed, pa.binary(20))})
    shard = amudai.write(table, tmp_path / "t.amudai.shard")
    assert shard.read().equals(table)
    assert shard.verify().ok
    assert not any("dictionary(" in name and name.startswith("dictionary") for name in shard["text"].encodings)


# ---- single values ----

F32 = [0x80000000, 0x7FC00001, 0xFFC00000, 0x7F800001, 0x7F800000, 0xFF800000, 1, 0x80000001, 0x00800000, 0x7F7FFFFF]
F64 = [
    *(bits << 32 for bits in (0x80000000, 0x7FF00000, 0xFFF00000)),
    *(0x7FF8000000000001, 0xFFF8000000000000, 0x7FF0000000000001, 0xFFFFFFFFFFFFFFFF, 1, 0x8000000000000001),
    *struct.unpack("<4Q", struct.pack("<4d", 1.7976931348623157e308, 0.1, -0.1, 2.0**-1022)),
]
F16 = [0x8000, 0x7E01, 0x7C00, 0xFC00, 0x0001, 0x7C01]


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("kind", "dtype", "bits"), [(pa.float32(), "u4", F32), (pa.float64(), "u8", F64)], ids=str)
def test_odd_floats(kind: pa.DataType, dtype: str, bits: list[int], profile: str, tmp_path: Path) -> None:
    """Odd floats alone, among ordinary values of each kind that has a special encoding, and as a constant."""
    odd = np.array(bits, dtype)
    random = np.random.default_rng(0)
    common: dict[str, Any] = {
        "odd": odd,
        "decimals": np.round(random.random(3000) * 1000, 2),
        "random": random.random(3000),
        "runs": np.repeat([1.5, 2.5, -0.0], 1000),
        "few": random.choice([0.0, 1.25, 100.0], 3000),
        "constant": np.full(3000, 1.0),
    }
    for name, numbers in common.items():
        whole = np.array(numbers if name == "odd" else numbers.astype(kind.to_pandas_dtype()).view(dtype))
        whole[5 : 5 + len(odd)] = odd[: len(whole[5:])]
        array = pa.Array.from_buffers(kind, len(whole), [None, pa.py_buffer(whole)])
        kept(pa.table({name: array}), tmp_path, profile=profile)
    for one in bits:
        array = pa.Array.from_buffers(kind, 100, [None, pa.py_buffer(np.full(100, one, dtype))])
        kept(pa.table({"c": array}), tmp_path, profile=profile, stripe_rows=40)


def test_half_floats(tmp_path: Path) -> None:
    array = pa.Array.from_buffers(pa.float16(), len(F16), [None, pa.py_buffer(np.array(F16, "u2"))])
    kept(pa.table({"half": array}), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_extreme_integers(dtype: str, profile: str, tmp_path: Path) -> None:
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    middle = int(low) // 2 + int(high) // 2
    columns = {
        "ends": [low, high] * 500,
        "one": [low, *[middle] * 2000],
        "last": [*[middle] * 2000, high],
        "runs": [low] * 600 + [high] * 600 + [0] * 600,
        "steps": [low, high, low, 0, high, 0, 1],
        "alone": [low],
        "with nulls": [low, None, high, None] * 300,
    }
    for values in columns.values():
        kept(pa.table({"c": pa.array(values, pa.from_numpy_dtype(dtype))}), tmp_path, profile=profile)


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_odd_strings(profile: str, tmp_path: Path) -> None:
    long = "x" * 1_000_000
    columns: dict[str, list[str | None]] = {
        "empty": [""] * 300,
        "empty or null": ["", None] * 300,
        "NUL": ["\0", "\0\0", "", "a\0b", None] * 100,
        "long": ["", long, "a", None, long + "y", "é" * 400_000],
        "one long": [long],
        "long constant": ["y" * 129] * 100,
        "short constant": ["y" * 128] * 100,
        "planes": ["\U0010ffff", "\ud7ff", "\ue000", "\ufeff"] * 30,
        "null at the ends": [None, "a", None],
    }
    for name, values in columns.items():
        for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary()):
            given_ = [value if value is None or kind != pa.binary() else value.encode() for value in values]
            kept(pa.table({name: pa.array(given_, kind)}), tmp_path, profile=profile)


def test_long_lists(tmp_path: Path) -> None:
    lists = [None, [], list(range(100_000)), [1], list(range(100_000)), [None] * 1000]
    table = pa.table(
        {
            "list": pa.array(lists, pa.list_(pa.int64())),
            "texts": pa.array([None if each is None else [str(x) for x in each] for each in lists]),
            "fixed": pa.array([None, [0.5] * 5000, None, [-0.0] * 5000, None, None], pa.list_(pa.float64(), 5000)),
        }
    )
    shard = amudai.write(table, tmp_path / "t.amudai.shard", stripe_rows=4)
    assert shard.read().equals(table)
    assert shard.verify().ok


@pytest.mark.parametrize("kind", EVERY, ids=str)
def test_nothing_but_nulls(kind: pa.DataType, tmp_path: Path) -> None:
    if pa.types.is_run_end_encoded(kind):
        values = pa.nulls(1, kind.value_type)
        column: pa.Array = pa.RunEndEncodedArray.from_arrays(pa.array([50], kind.run_end_type), values, kind)
    else:
        column = pa.nulls(50, kind)
    kept(pa.table({"c": column}), tmp_path)
    kept(pa.table({"c": column}), tmp_path, stripe_rows=20, profile="plain", layout="two-level")


def test_no_rows_and_no_columns(tmp_path: Path) -> None:
    nothing = kept(pa.table({}), tmp_path)
    assert (nothing.num_rows, nothing.schema.names) == (0, [])
    kept(pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.list_(pa.string()))}), tmp_path)
    kept(pa.table({"a": pa.chunked_array([[], [], []], pa.string())}), tmp_path, layout="two-level")
    schema = pa.schema([("a", pa.int64())])
    with amudai.ShardWriter(tmp_path / "empty.amudai.shard", schema):
        pass
    shard = amudai.open(tmp_path / "empty.amudai.shard")
    assert shard.num_rows == 0
    assert_exact(shard.read(), schema.empty_table())


def test_empty_batches_between_others(tmp_path: Path) -> None:
    schema = pa.schema([("a", pa.list_(pa.string())), ("b", pa.dense_union([pa.field("x", pa.int64())]))])
    empty = _some(schema, 0)
    with amudai.ShardWriter(tmp_path / "t.amudai.shard", schema, stripe_rows=2) as out:
        for part in (empty, _some(schema, 3), empty, empty, _some(schema, 1), empty):
            out.write(part)
    expected = pa.concat_tables([_some(schema, 3), _some(schema, 1)])
    assert_exact(amudai.open(tmp_path / "t.amudai.shard").read(), expected)


def _some(schema: pa.Schema, count: int) -> pa.Table:
    maker = Maker(count)
    return pa.table([maker.array(field.type, count) for field in schema], schema=schema)


def test_deep_nesting(tmp_path: Path) -> None:
    kind: pa.DataType = pa.int64()
    values: Any = 7
    for depth in range(30):
        kind, values = (pa.list_(kind), [values]) if depth % 2 else (pa.struct([("s", kind)]), {"s": values})
    kept(pa.table({"deep": pa.array([values, None, values], kind)}), tmp_path)


@pytest.mark.slow
def test_containers_without_content(tmp_path: Path) -> None:
    inner = pa.struct([("x", pa.list_(pa.string())), ("y", pa.map_(pa.string(), pa.bool_()))])
    columns = {
        "empty lists": pa.array([[], []], pa.list_(pa.list_(inner))),
        "null lists": pa.array([None, None], pa.list_(pa.list_(inner))),
        "null structs": pa.array([None, None], pa.struct([("a", inner)])),
        "empty maps": pa.array([[], None], pa.map_(pa.int64(), inner)),
        "no members": pa.array([{}, None], pa.struct([])),
    }
    for profile, layout in itertools.product(PROFILES, LAYOUTS):
        kept(pa.table(columns), tmp_path, profile=profile, layout=layout, stripe_rows=1)


def test_odd_names(tmp_path: Path) -> None:
    names = ["a.b", "`", "ü", " ", "\n", "A", "a", "日本", "x" * 1000, "\0"]
    table = pa.table({name: [at, None] for at, name in enumerate(names)})
    kept(table, tmp_path)


def test_nullability_and_metadata_of_every_level(tmp_path: Path) -> None:
    item = pa.field("element", pa.string(), nullable=False, metadata={"PARQUET:field_id": "3"})
    member = pa.field("m", pa.list_(item), nullable=False, metadata={b"\xff": b"\0"})
    schema = pa.schema([pa.field("s", pa.struct([member]), nullable=False, metadata={"k": "v"})], metadata={"x": "y"})
    kept(pa.table([pa.array([{"m": ["a"]}, {"m": []}], schema.field(0).type)], schema=schema), tmp_path)


class Celsius(pa.ExtensionType):
    """An extension type of somebody else."""

    def __init__(self) -> None:
        super().__init__(pa.float32(), "tests.celsius")

    def __arrow_ext_serialize__(self) -> bytes:
        return b"scale=100"

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type: pa.DataType, serialized: bytes) -> Celsius:
        assert serialized == b"scale=100"
        return cls()


@pytest.fixture
def celsius() -> Iterator[Celsius]:
    pa.register_extension_type(Celsius())
    yield Celsius()
    pa.unregister_extension_type("tests.celsius")


def test_extension_types(celsius: Celsius, tmp_path: Path) -> None:
    storage = pa.array([1.5, None, -0.0], pa.float32())
    table = pa.table({"t": pa.ExtensionArray.from_storage(celsius, storage)})
    assert kept(table, tmp_path).schema.field("t").type == celsius
    tensor = pa.fixed_shape_tensor(pa.float32(), [2, 2])
    numbers = pa.array([[1, 2, 3, 4], [5, 6, 7, 8]], pa.list_(pa.float32(), 4))
    kept(pa.table({"t": pa.ExtensionArray.from_storage(tensor, numbers)}), tmp_path)


@pytest.mark.parametrize("timestamps", ["ticks", "int64"])
def test_times_at_their_limits(timestamps: str, tmp_path: Path) -> None:
    days = pa.array([-719162, 2932896, 0, None], pa.date32())
    columns = {
        "day": days,
        "second": pa.array([-62135596800, 253402300799, -1, None], pa.timestamp("s", "UTC")),
        "micro": pa.array([-62135596800 * 10**6, 253402300799 * 10**6 + 999_999, -1, None], pa.timestamp("us")),
        "nano": pa.array([-(2**63) // 100 * 100 + 100, 2**63 // 100 * 100, -100, None], pa.timestamp("ns")),
        "span": pa.array([-(2**63) // 10 + 1, 2**63 // 10, -1, None], pa.duration("us")),
    }
    kept(pa.table(columns), tmp_path, timestamps=timestamps)
    if timestamps == "int64":
        columns["nano"] = pa.array([-(2**63), 2**63 - 1, 1, None], pa.timestamp("ns"))
        columns["second"] = pa.array([-(2**63), 2**63 - 1, 1, None], pa.timestamp("s"))
        kept(pa.table(columns), tmp_path, timestamps=timestamps)
