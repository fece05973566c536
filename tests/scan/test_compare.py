"""Are values that are compared in their blocks the same that a full read finds, and is nothing else read?"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import amudai
from amudai import col
from amudai.arrow import ArrowFields
from amudai.errors import CorruptedData
from amudai.plan import check
from amudai.plan.prune import Pruner
from amudai.predicate import Compare, IsIn, Predicate
from amudai.rows import Rows
from tests.effort import examples
from tests.forge import Forge, numbers, open_forged, strings, structs
from tests.forge.columns import bits_buffer
from tests.forge.content import BufferKind
from tests.oracle.predicates import rows_of
from tests.scan.tables import predicates, tables

NUMBERS = itertools.count()
# What the oracle said of a row, by predicate: many tests ask the same of equal rows, and the oracle is slow.
ANSWERS: dict[str, dict[str, bool]] = {}
OPS: Any = ["==", "!=", "<", "<=", ">", ">="]


@pytest.fixture(autouse=True)
def no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known before values are looked at."""
    make = Pruner.__init__

    def without(self: Pruner, *arguments: Any) -> None:
        make(self, *arguments)
        self._evidence = ()

    monkeypatch.setattr(Pruner, "__init__", without)


@pytest.fixture
def no_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail the test if values are read in order to compare them."""

    def refuse(*_: object) -> pa.ChunkedArray:
        raise AssertionError("values were read")

    monkeypatch.setattr(check, "read_rows", refuse)


def check_rows(shard: amudai.Shard, table: pa.Table, wheres: Sequence[Predicate]) -> None:
    rows = [repr(row) for row in table.to_pylist()]
    different = dict(zip(rows, table.to_pylist(), strict=True))
    for where in wheres:
        answers = ANSWERS.setdefault(repr(where), {})
        asked = [name for name in different if name not in answers]
        true = {asked[number] for number in rows_of(where, [different[name] for name in asked])}
        answers.update((name, name in true) for name in asked)
        expected = [number for number, row in enumerate(rows) if answers[row]]
        assert shard.scan(where=where).positions().tolist() == expected, where


@pytest.mark.slow
@examples(30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    table=tables(),
    wheres=st.lists(predicates(), min_size=1, max_size=6),
    profile=st.sampled_from(["plain", "minimal_compression", "balanced", "high_compression"]),
    stripe_rows=st.sampled_from([None, 7, 300]),
)
def test_any_predicate_without_evidence(
    tmp_path: Path, table: pa.Table, wheres: list[Predicate], profile: Any, stripe_rows: int | None
) -> None:
    path = tmp_path / f"{next(NUMBERS)}.amudai.shard"
    check_rows(amudai.write(table, path, profile=profile, stripe_rows=stripe_rows), table, wheres)


# ---- numbers ----

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


@pytest.mark.slow
@pytest.mark.usefixtures("no_reading")
@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("shape", ["narrow", "wide", "few", "runs", "equal but one"])
def test_integers_up_to_the_limits_of_their_type(name: str, shape: str, tmp_path: Path) -> None:
    rng, limits = np.random.default_rng(len(shape)), np.iinfo(name)
    count, low, high = 1200, int(limits.min), int(limits.max)
    values: dict[str, Any] = {
        "narrow": high - rng.integers(0, 50, count).astype(object),
        "wide": np.frombuffer(rng.bytes(count * limits.bits // 8), name),
        "few": rng.choice(np.array([low, low + 1, 0, high - 1, high], name), count),
        "runs": np.repeat(rng.choice(np.array([low, 0, 5, high], name), count // 50), 50),
        "equal but one": np.array([high] * (count - 1) + [low], name),
    }
    array = pa.array(values[shape].tolist(), getattr(pa, name)(), mask=rng.random(count) < 0.1)
    table = pa.table({"n": array})
    shard = amudai.write(table, tmp_path / "n.amudai.shard", profile="balanced")
    near = sorted({low, low + 1, max(low, -1), 0, 5, high - 20, high - 1, high})
    wheres: list[Predicate] = [Compare("n", op, value) for op in OPS for value in near]
    wheres += [~where for where in wheres] + [IsIn("n", (low, high, 5)), ~IsIn("n", (low, high, 5))]
    wheres += [(col("n") > low) & (col("n") < high), ~col("n").between(0, high - 20)]
    kept = {str(where): where for where in wheres}
    check_rows(shard, table, list(kept.values()))


@pytest.mark.slow
@pytest.mark.usefixtures("no_reading")
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_floats_compare_as_ieee_754_says(kind: pa.DataType, tmp_path: Path) -> None:
    special = [0.0, -0.0, float("nan"), 1.5, -1.5, 5e-324, float("inf"), float("-inf"), 0.1, 16777217.0]
    for values in ([*special, None] * 300, [at / 100 for at in range(3000)], [*special, 0.25] * 200):
        table = pa.table({"f": pa.array(values, kind)})
        shard = amudai.write(table, tmp_path / f"{next(NUMBERS)}.amudai.shard")
        wheres: list[Predicate] = [Compare("f", op, value) for op in OPS for value in (0.0, -0.0, 1.5, 2, -7)]
        wheres += [Compare("f", op, 0.1) for op in OPS[2:]]  # which has no float of 32 bits
        wheres += [~where for where in wheres] + [IsIn("f", (0.0, 1.5)), ~IsIn("f", (-0.0, 0.25))]
        check_rows(shard, table, wheres)


@pytest.mark.parametrize("bound", [float("inf"), float("-inf")])
def test_nothing_lies_beyond_infinity(bound: float, tmp_path: Path) -> None:
    table = pa.table({"f": [float("inf"), float("-inf"), float("nan"), 1.0, None] * 300})
    shard = amudai.write(table, tmp_path / "f.amudai.shard")
    check_rows(shard, table, [Compare("f", op, bound) for op in OPS])


@pytest.mark.usefixtures("no_reading")
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_times_are_compared_by_their_ticks(unit: str, zone: str | None, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    step = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit]
    start = int(datetime(1969, 12, 31, 23, 59, 50, tzinfo=UTC).timestamp())
    # Ticks of 100 ns around 1970, of which some are seconds.
    counts = (start * 10**9 + rng.integers(0, 200_000_000, 3000) * 100) // step // (100 if unit == "ns" else 1)
    counts *= 100 if unit == "ns" else 1
    array = pa.array(counts, pa.int64(), mask=rng.random(3000) < 0.1).cast(pa.timestamp(unit, zone))
    table = pa.table({"t": array})
    shard = amudai.write(table, tmp_path / "t.amudai.shard")
    suffix = "" if zone is None else "Z"
    texts = [f"1969-12-31T23:59:5{at}.{part}{suffix}" for at in (3, 9) for part in ("0", "1234567", "000000150")]
    for text in texts:
        instant = int(np.datetime64(text.removesuffix("Z"), "ns").astype(np.int64))
        exact, valid = counts * step, array.is_valid().to_numpy(zero_copy_only=False)
        for op, test in {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}.items():
            found = shard.scan(where=Compare("t", op, text)).positions().tolist()  # type: ignore[arg-type]
            assert found == np.flatnonzero(test(exact, instant) & valid).tolist(), (op, text)
        for op, test in {"==": np.equal, "!=": np.not_equal}.items():
            where: Predicate = Compare("t", op, text)  # type: ignore[arg-type]
            if unit == "ns" or int(instant) % step == 0:
                found = shard.scan(where=where).positions().tolist()
                assert found == np.flatnonzero(test(exact, instant) & valid).tolist(), (op, text)


TEMPORAL = [
    *(pa.timestamp(unit) for unit in ("s", "ms", "us")),
    *(pa.duration(unit) for unit in ("s", "ms", "us")),
    *(pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.date32(), pa.date64()),
]


@pytest.mark.slow
@pytest.mark.usefixtures("no_reading")
@pytest.mark.parametrize("kind", TEMPORAL, ids=str)
def test_every_type_of_time(kind: pa.DataType, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    step = 86_400_000 if kind == pa.date64() else 1
    counts = pa.array(rng.integers(0, 60, 2000) * step, mask=rng.random(2000) < 0.1)
    table = pa.table({"t": counts.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)})
    shard = amudai.write(table, tmp_path / "t.amudai.shard")
    values = sorted({value for value in table["t"].to_pylist() if value is not None})
    some = [values[0], values[7], values[-1]]
    check_rows(shard, table, [Compare("t", op, value) for op in OPS for value in some] + [IsIn("t", tuple(some))])


def test_times_between_ticks_are_nowhere(tmp_path: Path) -> None:
    table = pa.table({"t": pa.array(range(0, 100_000, 100), pa.timestamp("ns"))})
    shard = amudai.write(table, tmp_path / "t.amudai.shard")
    between = ["1970-01-01T00:00:00.000000150", "1970-01-01T00:00:00.000000199"]
    assert shard.scan(where=col("t").isin(between)).count() == 0
    assert shard.scan(where=~col("t").isin(between)).count() == 1000
    assert shard.scan(where=col("t") == between[0]).count() == 0
    assert shard.scan(where=col("t").between(between[0], between[1])).count() == 0


# ---- text and bytes ----


@pytest.mark.slow
@pytest.mark.usefixtures("no_reading")
@pytest.mark.parametrize("profile", ["plain", "minimal_compression", "balanced", "high_compression"])
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_text(profile: Any, kind: pa.DataType, tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    values: list[str | None] = [f"/api/v1/{at}/straße?x={rng.integers(10**6)}" for at in range(4000)]
    values[7], values[8], values[9], values[3999] = None, "", "/api/v1/", "/API/v1/9"
    table = pa.table({"s": pa.array(values, kind)})
    shard = amudai.write(table, tmp_path / "s.amudai.shard", profile=profile)
    assert not any("dictionary" in name for name in shard["s"].encodings)
    some = [str(values[at]) for at in (0, 8, 9, 1234, 3999)]
    wheres: list[Predicate] = []
    for text in [*some, "/api/v1/12", "/api/v1/1234/straß", "x", "/api/v1/1234/strasse"]:
        wheres += [col("s") == text, col("s") != text, col("s").startswith_cs(text), ~col("s").startswith_cs(text)]
    wheres += [col("s").isin(some), ~col("s").isin(some)]
    wheres = [where for where in wheres if str(where) != str(col("s").startswith_cs(""))]
    wheres = [where for where in wheres if str(where) != str(~col("s").startswith_cs(""))]
    check_rows(shard, table, wheres)


@pytest.mark.usefixtures("no_reading")
def test_bytes_of_one_size_or_of_any(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    ids = [rng.bytes(16) for _ in range(3000)]
    table = pa.table(
        {
            "fixed": pa.array(ids, pa.binary(16), mask=rng.random(3000) < 0.1),
            "any": pa.array([each[: at % 17] for at, each in enumerate(ids)], pa.binary()),
            "uuid": pa.array(ids, pa.binary(16)).cast(pa.uuid()),
        }
    )
    shard = amudai.write(table, tmp_path / "b.amudai.shard")
    missing = table["fixed"].is_null().to_pylist()
    for at in (0, 5, 2999):
        same = [] if missing[at] else [at]
        assert shard.scan(where=col("fixed") == ids[at]).positions().tolist() == same
        assert shard.scan(where=col("fixed") != ids[at]).count() == 3000 - sum(missing) - len(same)
        expected = [row for row, each in enumerate(ids) if each[: row % 17] == ids[at][: at % 17]]
        assert shard.scan(where=col("any") == ids[at][: at % 17]).positions().tolist() == expected
        assert shard.scan(where=col("uuid") == UUID(bytes=ids[at])).positions().tolist() == [at]
    assert shard.scan(where=col("uuid").isin([UUID(bytes=ids[4]), UUID(int=0)])).positions().tolist() == [4]


# ---- what is not compared so ----


@pytest.mark.parametrize(
    "where",
    [
        col("s").startswith("ROW 1"),
        col("s").iequals("ROW 17"),
        col("s").contains_cs("17"),
        col("s") < "row 2",
        col("s").isin([f"row {at}" for at in range(0, 600, 20)]),
        col("n").isin(list(range(0, 600, 20))),
        col("n").is_null(),
    ],
)
def test_other_questions_are_asked_of_values_that_were_read(where: Predicate, tmp_path: Path) -> None:
    values = [None if at % 7 == 0 else at for at in range(600)]
    table = pa.table({"n": values, "s": [None if at is None else f"row {at}" for at in values]})
    check_rows(amudai.write(table, tmp_path / "x.amudai.shard"), table, [where, ~where])


# ---- nulls ----


@pytest.mark.usefixtures("no_reading")
def test_nulls_of_a_presence_buffer_match_nothing() -> None:
    present = [True, False, True, True, True, True, True, True, False]
    stored = {"n": numbers([1, 2, None, 4, 5, 6, 7, 8, 9], "i8"), "s": strings([*"ab", None, *"defghi"])}
    for column in stored.values():
        column.stored.buffers.append(bits_buffer(BufferKind.PRESENCE, present))
        column.stored.descriptor.null_count = 3
    shard = open_forged(Forge.of(stored))
    for where, expected in [
        (col("n") > 1, [3, 4, 5, 6, 7]),
        (col("n") != 5, [0, 3, 5, 6, 7]),
        (col("n") == 2, []),
        (col("s") == "b", []),
        (col("s") != "d", [0, 4, 5, 6, 7]),
        (~col("s").isin(["a", "h"]), [3, 4, 5, 6]),
    ]:
        assert shard.scan(where=where).positions().tolist() == expected, where


def test_a_member_of_a_null_struct_matches_nothing() -> None:
    shard = open_forged(Forge.of({"c": structs({"a": numbers([1, 2, 3], "i8")}, present=[True, False, True])}))
    assert shard.scan(where=col("c.a") > 0).positions().tolist() == [0, 2]
    assert shard.scan(where=col("c.a") != 1).positions().tolist() == [2]


# ---- rows and damage ----


@pytest.mark.usefixtures("no_reading")
def test_rows_that_an_earlier_leaf_left_here_and_there(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    table = pa.table({"a": rng.integers(0, 5, 50_000), "b": rng.integers(0, 10**6, 50_000)})
    shard = amudai.write(table, tmp_path / "x.amudai.shard", stripe_rows=20_000)
    a, b = table["a"].to_numpy(), table["b"].to_numpy()
    for threads in (1, 3):
        both = shard.scan(where=(col("a") == 3) & (col("b") > 900_000), threads=threads)
        assert both.positions().tolist() == np.flatnonzero((a == 3) & (b > 900_000)).tolist()
        explained = both.explain()
        assert explained.leaves[0].checked == 50_000
        assert 0 < explained.blocks_decoded <= explained.blocks
        either = shard.scan(where=(col("a") == 3) | (col("b") > 900_000), threads=threads)
        assert either.positions().tolist() == np.flatnonzero((a == 3) | (b > 900_000)).tolist()


@pytest.mark.parametrize(("name", "where"), [("n", col("n") > 900_000), ("s", col("s") == "row 5")])
def test_a_flipped_bit_is_an_error_that_names_its_place(name: str, where: Predicate, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    table = pa.table({"n": rng.integers(0, 10**6, 5000), "s": [f"row {at}" for at in range(5000)]})
    path = tmp_path / "x.amudai.shard"
    reader = amudai.write(table, path)._reader
    (stripe,) = reader.stripes
    (buffer, *_) = stripe.column(ArrowFields(reader).find(name)[0]).describe().buffers
    assert buffer.kind == "data"
    content = bytearray(path.read_bytes())
    content[buffer.start + 100] ^= 1
    path.write_bytes(content)
    with pytest.raises(CorruptedData, match="checksum") as caught:
        amudai.open(path).scan(where=where).count()
    place = caught.value.place
    assert (place["field"], place["stripe"], place["block"], place["url"]) == (name, 0, 0, path.as_uri())


@examples(40)
@given(st.lists(st.integers(1, 90), min_size=1, max_size=40), st.randoms(use_true_random=False))
def test_positions_chosen_by_bits(steps: list[int], random: Any) -> None:
    places = np.cumsum(steps).tolist()
    ranges = Rows.joined(np.array(places[:-1:2], np.uint64), np.array(places[1::2], np.uint64))
    mask = np.array([random.random() < 0.5 for _ in range(ranges.count)], np.bool_)
    assert ranges.selected(mask).positions().tolist() == ranges.positions()[mask].tolist()


@pytest.mark.parametrize("profile", ["plain", "minimal_compression", "balanced", "high_compression"])
def test_texts_are_searched_in_their_blocks(tmp_path: Path, no_reading: None, profile: Any) -> None:
    rng = np.random.default_rng(3)
    words = ["timeout", "Time", "out", "tImEout,", "\u017ftop", "STOP", "ä", "Ärger", "", "x" * 300]
    texts = [" ".join(rng.choice(words, rng.integers(0, 6))) + str(at) for at in range(400)]
    rows: list[str | None] = [None if at % 7 == 0 else text for at, text in enumerate(texts)]
    rows[200:260] = ["one value"] * 60
    table = pa.table({"t": rows})
    shard = amudai.write(table, tmp_path / "t.amudai.shard", profile=profile)
    wheres: list[Predicate] = []
    for op, text in (("has", "TIMEOUT"), ("hasprefix", "time"), ("hassuffix", "ä"), ("contains", "stop")):
        wheres += [getattr(col("t"), op)(text), ~getattr(col("t"), f"{op}_cs")(text)]
    wheres += [col("t").startswith("time"), ~col("t").endswith("2"), col("t").contains("one val")]
    check_rows(shard, table, wheres)
