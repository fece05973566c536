"""Which encoding for which data, that the plan follows when the data changes, and that others can read the blocks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai.encoding.binary.choice import BytesBlock, choose_bytes, encode_region
from amudai.encoding.binary.lz4 import LZ4
from amudai.encoding.codec import LONG_MATCHES, QUICK, RECORDS, THOROUGH
from amudai.encoding.profile import PROFILES
from amudai.format import BufferKind, NativeEncoding
from amudai.shard import StripeReader
from amudai.types import WIDTHS, BasicType, SchemaNode, decimal128, nodes_below
from tests.oracle import block as oracle
from tests.oracle import block_map as oracle_map

ROWS = 20_000
FLUSH = 65_536


def shaped() -> dict[str, Any]:
    random = np.random.default_rng(1)
    words = np.array([f"item {number} of the catalog, in stock" for number in range(50)])
    return {
        "constant": np.full(ROWS, 7),
        "seconds": np.arange(ROWS) + 1_700_000_000,
        "jitter": np.cumsum(random.integers(900, 1100, ROWS)),
        "few": random.choice(np.array([10**9, 5 * 10**12, -7, 3]), ROWS),
        "prices": random.integers(0, 10**6, ROWS) / 100,
        "random": random.random(ROWS),
        "runs": np.repeat(random.integers(0, 2**40, ROWS // 100), 100),
        "text": [f"GET /api/v1/users/{at * 7919 % 100003}/orders?page={at % 17} HTTP/1.1" for at in range(ROWS)],
        "words": random.choice(words, ROWS),
        "noise": pa.array([random.bytes(16) for _ in range(ROWS)], pa.binary(16)),
        "true": np.ones(ROWS, np.bool_),
    }


SHAPED = shaped()
# The outermost encodings that are right for the shape, by profile; "*" for all that are not named.
RIGHT: dict[str, dict[str, set[str]]] = {
    "constant": {"*": {"constant"}},
    "true": {"*": {"constant"}},
    "seconds": {"plain": {"plain"}, "*": {"delta"}},
    "jitter": {"plain": {"plain"}, "*": {"delta"}},
    "few": {"plain": {"plain"}, "minimal_compression": {"ffor"}, "*": {"block_dictionary"}},
    "prices": {"plain": {"plain"}, "*": {"alp"}},
    "random": {"plain": {"plain"}, "*": {"alprd", "plain"}},
    "runs": {"plain": {"plain"}, "minimal_size": {"run_length", "zstd"}, "*": {"run_length"}},
    # In balanced, a third of the bytes costs as much as three times the time: either is right.
    "text": {
        "plain": {"plain"},
        "minimal_compression": {"fsst", "lz4"},
        "balanced": {"lz4", "zstd"},
        "*": {"zstd"},
    },
    "words": {"plain": {"plain"}, "*": {"dictionary"}},
    "noise": {"*": {"plain"}},
}


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_data_gets_its_encoding(profile: str, tmp_path: Path) -> None:
    shard = amudai.write(SHAPED, tmp_path / "t.amudai.shard", profile=profile)
    assert shard.verify().ok
    found = {name: {cascade.partition("(")[0] for cascade in shard[name].encodings} for name in RIGHT}
    wrong = {name: each for name, each in found.items() if not each <= RIGHT[name].get(profile, RIGHT[name]["*"])}
    assert not wrong


@pytest.mark.slow
def test_smaller_profiles_are_smaller(tmp_path: Path) -> None:
    sizes = {}
    profiles = ["plain", "minimal_compression", "balanced", "high_compression"]
    for profile in profiles:
        target = tmp_path / f"{profile}.amudai.shard"
        amudai.write(SHAPED, target, profile=profile)
        sizes[profile] = target.stat().st_size
    ordered = [sizes[profile] for profile in profiles]
    assert all(later <= 1.02 * sooner for sooner, later in itertools.pairwise(ordered)), sizes


# ---- integers in balanced ----

SORTED_ENTRIES = "block_dictionary(ffor, delta(block_dictionary(ffor)))"


def integers() -> dict[str, np.ndarray[Any, Any]]:
    random = np.random.default_rng(8)
    at = np.arange(FLUSH)
    return {
        "scattered": random.choice(random.integers(0, 10**6, 300), FLUSH),
        "jump": (at // 64 + random.integers(0, 3, FLUSH) + np.where(at < FLUSH // 2, 0, 10**6)) * 36_000_000_000,
        "long runs": np.repeat(np.arange(32), FLUSH // 32),
        "short runs": np.repeat(random.integers(0, 2**40, FLUSH // 16), 16),
    }


def test_integers_in_balanced(tmp_path: Path) -> None:
    columns = integers()
    shard = amudai.write(columns, tmp_path / "t.amudai.shard")
    assert list(shard["scattered"].encodings) == [SORTED_ENTRIES], "few distinct values, far apart"
    assert list(shard["jump"].encodings) == ["delta(block_dictionary(ffor))"], "one jump does not forbid steps"
    assert sum(shard["long runs"].encodings.values()) == 1, "long runs are in one block"
    assert sum(shard["short runs"].encodings.values()) == 16, "a value among many runs is found in a smaller block"
    found = shard.read()
    rows = np.sort(np.random.default_rng(9).choice(FLUSH, 40, replace=False))
    few = shard.take(rows)
    for name, values in columns.items():
        assert np.array_equal(found[name].to_numpy(), values), name
        assert np.array_equal(few[name].to_numpy(), values[rows]), name


def test_a_smaller_plan_is_not_given_up_for_a_quick_one(tmp_path: Path) -> None:
    """A cycle of lines: compressed steps take hardly a byte, and hardly any time."""
    shard = amudai.write({"line": np.arange(2 * FLUSH) % 2000 + 1}, tmp_path / "t.amudai.shard")
    assert list(shard["line"].encodings) == ["delta(truncate_u16(zstd))"]
    assert shard["line"].encoded_bytes < 10_000


# ---- minimal_size ----


def text_of(size: int, words: int) -> list[str]:
    random = np.random.default_rng(5)
    known = np.array([random.bytes(3).hex() for _ in range(words)])
    return [" ".join(row) for row in random.choice(known, (size, 6))]


def test_slower_levels_are_for_text_that_they_make_smaller() -> None:
    """Words of a small vocabulary in any order gain much, short matches a little; lines that nearly repeat do not."""
    profile = PROFILES["minimal_size"]
    for values, expected in [
        (text_of(8192, 400), profile.slow_level),
        ([f"2026-01-01 10:00:{at % 60:02} INFO worker {at % 7} is ready" for at in range(8192)], LONG_MATCHES),
        ([f"GET /api/v1/users/{at * 7919 % 100003}/orders?page={at % 17} HTTP/1.1" for at in range(8192)], 9),
    ]:
        data = "".join(values).encode()
        offsets = np.cumsum([0, *map(len, values)], dtype=np.int64)
        chosen = choose_bytes(BytesBlock(offsets, np.frombuffer(data, np.uint8), len(values), None), profile)
        assert (chosen.encoding.name, chosen.level) == ("zstd", expected)


def test_offsets_are_compressed_in_minimal_size_alone(tmp_path: Path) -> None:
    values = [f"GET /api/v1/users/{at * 7919 % 100003}/orders{'/items' * (at % 9)}" for at in range(ROWS)]
    for profile, expected in [("high_compression", "zstd(delta(ffor))"), ("minimal_size", "zstd(delta(zstd))")]:
        shard = amudai.write({"text": values}, tmp_path / f"{profile}.amudai.shard", profile=profile)
        assert list(shard["text"].encodings) == [expected]
        assert shard.read()["text"].to_pylist() == values
        assert shard.take([3, ROWS - 1])["text"].to_pylist() == [values[3], values[-1]]


# ---- balanced ----


@pytest.mark.native
def test_the_thorough_search_of_lz4_is_for_text_that_it_makes_smaller() -> None:
    """Words of a small vocabulary in any order gain. Lines that differ in one long number alone gain nothing."""
    random = np.random.default_rng(6)
    words = np.array([bytes(random.integers(97, 123, size, np.uint8)).decode() for size in random.integers(3, 9, 90)])
    sentences = [" ".join(row) for row in random.choice(words, (4096, 8))]
    profile = replace(PROFILES["balanced"], zstd_levels=())
    after = "milliseconds, which is all that is known of it so far"
    lines = [f"request {random.bytes(8).hex()} of the gateway took {at % 97} {after}" for at in range(4096)]
    for values, expected in [(sentences, THOROUGH), (lines, QUICK)]:
        data = np.frombuffer("".join(values).encode(), np.uint8)
        block = BytesBlock(np.cumsum([0, *map(len, values)], dtype=np.int64), data, len(values), None)
        chosen = choose_bytes(block, profile)
        assert (chosen.encoding.name, chosen.level) == ("lz4", expected)
        quick, thorough = (encode_region(block, LZ4, level, profile) for level in (QUICK, THOROUGH))
        assert quick is not None
        assert thorough is not None
        gain = (len(quick) - len(thorough)) / len(data)
        assert (gain >= 0.004) == (expected == THOROUGH)


def stored_money(cents: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    words = np.stack((cents, cents >> 63), axis=1).view(np.uint8).reshape(-1, 16)
    return decimal128.from_unscaled(words, 2).reshape(-1)


@pytest.mark.native
def test_decimals_become_records_unless_that_takes_more() -> None:
    random = np.random.default_rng(7)
    cents = random.integers(90_000, 10_000_000, 4096)
    signs = random.choice([1, -1], 4096)
    for values, level in [
        (cents, RECORDS),
        (-cents, RECORDS),
        (cents * signs, RECORDS),
        (random.choice(cents[:4], 4096), 1),
    ]:
        block = BytesBlock(None, stored_money(values), 4096, None)
        chosen = choose_bytes(block, PROFILES["balanced"])
        assert (chosen.encoding.name, chosen.level) == ("zstd", level)
        assert chosen.bytes_per_slot < 4.1
        assert chosen.divisor == 1 or level != RECORDS, "a record is found by its place"
    assert choose_bytes(BytesBlock(None, stored_money(cents), 4096, None), PROFILES["plain"]).encoding.name == "plain"


def test_decimals_with_nulls_and_signs(tmp_path: Path) -> None:
    """What does not suit records is stored in another way, and comes back as well."""
    random = np.random.default_rng(7)
    cents = random.integers(1, 10**8, FLUSH)
    kind = pa.decimal128(15, 2)
    amounts = [Decimal(each) / 100 for each in cents.tolist()]
    columns = {
        "plain": pa.array(amounts, kind),
        "nulls": pa.array([None if at % 7 == 3 else each for at, each in enumerate(amounts)], kind),
        "signs": pa.array([-each if at % 3 else each for at, each in enumerate(amounts)], kind),
        "some": pa.array([-each if at > 60_000 else each for at, each in enumerate(amounts)], kind),
        "long": pa.array([each * 10**14 for each in amounts], pa.decimal128(30, 2)),
    }
    shard = amudai.write(columns, tmp_path / "t.amudai.shard")
    assert shard.verify().ok
    found = shard.read()
    rows = np.sort(random.choice(FLUSH, 300, replace=False))
    few = shard.take(rows)
    for name, values in columns.items():
        assert found[name].combine_chunks().equals(values), name
        assert few[name].combine_chunks().equals(values.take(pa.array(rows))), name
        where = amudai.col(name) > Decimal(500_000)
        expected = [at for at, each in enumerate(values.to_pylist()) if each is not None and each > 500_000]
        assert shard.scan(where=where).positions().tolist() == expected, name
    assert shard["plain"].encoded_bytes < 4.1 * FLUSH
    assert shard["nulls"].encoded_bytes < 4.4 * FLUSH
    assert shard["signs"].encoded_bytes < 5.1 * FLUSH


@pytest.mark.parametrize("dtype", ["i8", "u4"])
@pytest.mark.parametrize("first", [np.full(8192, 7), np.repeat([7, 9], 4096), np.arange(8192) // 4])
def test_a_flush_is_judged_by_its_worst_block_if_its_first_one_misleads(
    first: np.ndarray[Any, Any], dtype: str, tmp_path: Path
) -> None:
    """One value, runs and steps at the beginning say nothing about what follows."""
    random = np.random.default_rng(8)
    values = np.concatenate((first, random.integers(0, 1000, FLUSH - len(first)))).astype(dtype)
    shard = amudai.write({"number": values}, tmp_path / "x.amudai.shard")
    assert shard["number"].encoded_bytes < 1.05 * FLUSH * 10 / 8
    assert shard.read()["number"].to_numpy().tolist() == values.tolist()


# ---- data that changes while it comes in ----


def changing() -> dict[str, np.ndarray[Any, Any]]:
    random = np.random.default_rng(2)
    return {
        "constant": np.full(FLUSH, 7),
        "small": random.integers(0, 100, FLUSH),
        "steps": np.arange(FLUSH) * 1000,
        "runs": np.repeat(random.integers(0, 2**40, FLUSH // 64), 64),
        "few": random.choice(np.array([10**9, 5 * 10**12, -7, 3]), FLUSH),
        "wild": random.integers(-(2**63), 2**63 - 1, FLUSH),
    }


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["plain", "minimal_compression", "balanced"])
@pytest.mark.parametrize("dtype", ["i8", "i2", "u4", "f8"])
def test_plans_that_no_longer_fit(dtype: str, profile: str, tmp_path: Path) -> None:
    """A plan is made for one flush and kept for the next: whatever comes then must survive it."""
    columns = {
        f"{before}, then {after}": np.concatenate((first, second)).astype(dtype)
        for (before, first), (after, second) in itertools.permutations(changing().items(), 2)
    }
    found = amudai.write(columns, tmp_path / "t.amudai.shard", profile=profile).read()
    for name, values in columns.items():
        assert found[name].combine_chunks().to_numpy().tobytes() == values.tobytes(), name


def test_constants_between_nulls(tmp_path: Path) -> None:
    """Null slots hold anything; what is under them neither shows nor spoils the plan."""
    random = np.random.default_rng(4)
    for dtype in ("i8", "f8", "u1"):
        values = np.where(np.arange(FLUSH * 2) < FLUSH, 5, random.integers(0, 250, FLUSH * 2)).astype(dtype)
        nulls = random.random(len(values)) < 0.3
        values[nulls] = random.integers(0, 250, int(nulls.sum())).astype(dtype)
        column = pa.array(values, mask=nulls)
        shard = amudai.write({"c": column}, tmp_path / "t.amudai.shard", overwrite=True)
        assert shard.read()["c"].combine_chunks().equals(column)


@pytest.mark.slow
@pytest.mark.parametrize("first", [[None], [""], ["x"], ["random"]], ids=str)
def test_text_that_begins_with_nothing(first: list[str | None], tmp_path: Path) -> None:
    """The first block does not decide for all others: the text after it is compressed."""
    random = np.random.default_rng(6)
    head: list[str | None] = first * 6000
    if first == ["random"]:
        head = [random.bytes(20).hex() for _ in range(6000)]
    text = [f"the request number {at} took {at % 977} ms and was answered" for at in range(60_000)]
    shard = amudai.write({"t": head + text}, tmp_path / "t.amudai.shard", profile="balanced")
    assert shard.read()["t"].to_pylist() == head + text
    assert shard["t"].encoded_bytes < 0.4 * sum(map(len, text))


# ---- blocks that others can read ----


def every_field(shard: amudai.Shard) -> Iterator[tuple[StripeReader, SchemaNode, NativeEncoding]]:
    for stripe in shard._reader.stripes:
        for node in nodes_below(shard._reader.schema.fields()):
            descriptor = stripe.descriptor(node)
            assert descriptor is not None
            (encoding,) = descriptor.encodings
            assert isinstance(encoding, NativeEncoding)
            yield stripe, node, encoding


def dtype_of(node: SchemaNode, encoding: NativeEncoding, kind: int) -> str | None:
    basic = node.basic_type
    if kind is BufferKind.OFFSETS:
        return "u8"
    if kind is BufferKind.PRESENCE or basic in (BasicType.BOOLEAN, BasicType.UNION):
        return "u1"
    if encoding.find(BufferKind.VALUE_DICTIONARY) is not None:
        return "u4"
    return node.dtype if basic in WIDTHS else None


def blocks_of(stripe: StripeReader, encoding: NativeEncoding) -> Iterator[tuple[int, bytes, int]]:
    """Every block as the oracle's block map finds it."""
    for buffer in encoding.buffers:
        if buffer.block_map is None or buffer.buffer is None:
            continue
        artifact = stripe._fields.artifact_of(buffer.buffer)
        at = buffer.buffer.start
        for count, size in oracle_map.decode(bytes(artifact.read(buffer.block_map.start, buffer.block_map.end))):
            yield buffer.kind, bytes(artifact.read(at, at + size)), count
            at += size


def small() -> pa.Table:
    count = 2500
    random = np.random.default_rng(8)
    nulls = random.random(count) < 0.1
    table = pa.table({name: column[:count] for name, column in SHAPED.items()})
    more = {
        "nulls": pa.array(random.integers(0, 9, count), mask=nulls),
        "same fixed": pa.array([b"12345678"] * (count - 1) + [None], pa.binary(8)),
        "few fixed": pa.array([bytes([at % 3]) * 8 for at in range(count)], pa.binary(8)),
        "same long text": pa.array(["y" * 300] * count),
        "zeros": pa.array(np.zeros(count), mask=nulls),
        "empty": pa.array([""] * count, mask=nulls),
        "bytes": pa.array([random.bytes(9) for _ in range(count)]),
        "single": pa.array(random.random(count).astype("f4"), mask=nulls),
        "list": pa.array([[at] * (at % 3) if at % 5 else None for at in range(count)]),
    }
    for name, column in more.items():
        table = table.append_column(name, column)
    return table


@pytest.mark.slow
@pytest.mark.parametrize("profile", PROFILES)
def test_the_oracle_reads_every_block(profile: str, tmp_path: Path) -> None:
    """In plain Python, from the format page alone; it refuses widths of 0 and whatever else does not exist."""
    table = small()
    shard = amudai.write(table, tmp_path / "t.amudai.shard", profile=profile, stripe_rows=1500)
    seen = 0
    for stripe, node, encoding in every_field(shard):
        top = node.name in table.column_names and not node.children
        rows = slice(stripe.first_row, stripe.first_row + stripe.num_rows)
        values: list[Any] = []
        for kind, block, count in blocks_of(stripe, encoding):
            dtype = dtype_of(node, encoding, kind)
            if dtype is not None:
                found: list[Any] = list(oracle.decode_numeric(block, count, dtype))
            else:
                variable = node.basic_type in (BasicType.STRING, BasicType.BINARY)
                size = None if variable else node.fixed_size
                region = oracle.open_block(block)[1]
                if size is not None:
                    assert int.from_bytes(region[:2], "little") not in (7, 14), "no reader of fixed sizes takes these"
                found = list(oracle.decode_binary(block, count, size))
            if kind is BufferKind.DATA:
                values += found
            seen += 1
        if top and values and encoding.find(BufferKind.VALUE_DICTIONARY) is None:
            check(values, table[node.name].combine_chunks()[rows])
    assert seen > 20


def check(found: list[Any], column: pa.Array) -> None:
    kind = column.type
    if pa.types.is_boolean(kind):
        return
    expected = column.to_pylist()
    if pa.types.is_floating(kind):
        bits = column.fill_null(0).to_numpy(zero_copy_only=False).view(f"u{kind.bit_width // 8}").tolist()
        expected = [bits[at] if value is not None else None for at, value in enumerate(expected)]
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        expected = [None if value is None else value.encode() for value in expected]
    assert found == expected
