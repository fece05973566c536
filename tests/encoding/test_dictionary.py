"""Do codes become the values of a dictionary?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai import encoding as package
from amudai.encoding import BlockBuffer, Values
from amudai.encoding.dictionary import _expected
from amudai.errors import CorruptedData
from amudai.format import ValueDictionary
from amudai.rows import Rows
from amudai.types import BasicType, SchemaNode
from tests.effort import examples
from tests.encoding import cascades, runs
from tests.encoding.runs import Block
from tests.oracle import block, dictionary
from tests.oracle.numeric import plain, single_value

pytestmark = pytest.mark.native

KINDS = {
    "String": SchemaNode(schema_id=0, name="s", basic_type=BasicType.STRING),
    "Binary": SchemaNode(schema_id=0, name="b", basic_type=BasicType.BINARY),
    "FixedSizeBinary": SchemaNode(schema_id=0, name="f", basic_type=BasicType.FIXED_SIZE_BINARY, fixed_size=3),
    "Guid": SchemaNode(schema_id=0, name="g", basic_type=BasicType.GUID, fixed_size=16),
}


def stored(entries: Sequence[bytes | None], kind: str) -> ValueDictionary:
    """The entries as the package reads them from the oracle's bytes."""
    size = KINDS[kind].fixed_size
    return ValueDictionary.decode(dictionary.encode([*entries], kind, size), KINDS[kind], expected_count=len(entries))


def code_buffer(codes: Sequence[int], counts: Sequence[int], seed: int = 0) -> BlockBuffer:
    random, blocks, at = Random(seed), [], 0
    for count in counts:
        data, _ = cascades.encode(random, [*codes[at : at + count]], "u4", 3)
        blocks.append(Block(block.build(b"", data), count))
        at += count
    return runs.buffer_of(blocks)


def listed(found: Values, size: int, wide: bool) -> list[bytes | None]:
    valid = found.valid()
    present = [True] * found.length if valid is None else valid.tolist()
    if size:
        offsets = [at * size for at in range(found.length + 1)]
    else:
        offsets = np.frombuffer(found.offsets, "i8" if wide else "i4", found.length + 1).tolist()
    content = b"" if found.data is None else found.data.to_pybytes()
    return [content[offsets[at] : offsets[at + 1]] if here else None for at, here in enumerate(present)]


@pytest.mark.parametrize("null", [None, 0, 2, 5], ids=["no null", "null first", "null inside", "null last"])
@pytest.mark.parametrize("kind", KINDS)
def test_codes_become_values(kind: str, null: int | None) -> None:
    rng = np.random.default_rng(null)
    size = KINDS[kind].fixed_size
    if size:
        entries: list[bytes | None] = [bytes([at]) * size for at in range(5)]
    else:
        entries = [b"", b"info", b"x" * 40, "naïve ✓".encode(), b"y" * 3000]
    if null is not None:
        entries.insert(null, None)
    counts = [1, 300, 1025, 7]
    codes = rng.integers(0, len(entries), sum(counts)).tolist()
    buffer, values = code_buffer(codes, counts), stored(entries, kind)
    assert values.null_id == null
    for _, spans in runs.patterns(counts, rng):
        expected = [entries[codes[at]] for at in runs.positions_of(spans)]
        for wide in (False, True):
            found = package.decode_dictionary(buffer, runs.ranges_of(spans), values, wide=wide)
            assert listed(found, size, wide) == expected
            assert found.nulls == expected.count(None)
            assert (found.validity is None) == (None not in expected)


@examples(100)
@given(data=st.data())
def test_any_dictionary(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(sorted(KINDS)))
    size = KINDS[kind].fixed_size
    entry = st.binary(min_size=size, max_size=size or 45)
    if kind == "String":
        entry = st.text(max_size=20).map(str.encode)
    entries: list[bytes | None] = [*data.draw(st.lists(entry, unique=True, min_size=1, max_size=9))]
    if data.draw(st.booleans()):
        entries.insert(data.draw(st.integers(0, len(entries))), None)
    counts = data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=3))
    total = sum(counts)
    codes = data.draw(st.lists(st.integers(0, len(entries) - 1), min_size=total, max_size=total))
    buffer = code_buffer(codes, counts, data.draw(st.integers(0, 1 << 30)))
    wide = data.draw(st.booleans())
    found = package.decode_dictionary(buffer, Rows.one(0, total), stored(entries, kind), wide=wide)
    assert listed(found, size, wide) == [entries[code] for code in codes]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("code", [3, 4, 255, (1 << 32) - 1])
def test_codes_that_name_no_entry_are_refused(kind: str, code: int) -> None:
    size = KINDS[kind].fixed_size
    values = stored([bytes(size) or b"a", None, b"b" * (size or 1)], kind)
    buffer = code_buffer([0, 1, 2, code, 0], [5])
    assert package.decode_dictionary(buffer, Rows.one(0, 3), values, wide=False).nulls == 1
    with pytest.raises(CorruptedData, match=f"dictionary code: expected 0..2, found {code}"):
        package.decode_dictionary(buffer, Rows.one(0, 5), values, wide=False)


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_dictionary_has_no_codes(kind: str) -> None:
    values = stored([], kind)
    assert package.decode_dictionary(code_buffer([0], [1]), Rows.one(0, 0), values, wide=False).length == 0
    with pytest.raises(CorruptedData, match="dictionary"):
        package.decode_dictionary(code_buffer([0], [1]), Rows.one(0, 1), values, wide=False)


def test_a_dictionary_of_null_alone() -> None:
    for kind in KINDS:
        size = KINDS[kind].fixed_size
        found = package.decode_dictionary(code_buffer([0] * 9, [9]), Rows.one(0, 9), stored([None], kind), wide=False)
        assert listed(found, size, wide=False) == [None] * 9


def test_more_bytes_than_offsets_can_count() -> None:
    values = stored([b"v" * 70_000, None], "String")
    count = 40_000
    buffer = runs.buffer_of([Block(block.build(b"", single_value.encode([0] * count, "u4")), count)])
    pool = pa.default_memory_pool()
    most = max(pool.max_memory() or 0, pool.bytes_allocated() + (1 << 24))
    with pytest.raises(OverflowError):
        package.decode_dictionary(buffer, Rows.one(0, count), values, wide=False)
    assert (pool.max_memory() or 0) <= most, "memory for the values was taken before they were counted"
    assert package.decode_dictionary(buffer, Rows.one(0, 2), values, wide=False).data.size == 140_000


def test_text_of_a_dictionary_is_checked() -> None:
    good = stored(["é".encode(), None, b"", b"x"], "String")
    assert good.offsets is not None
    package.require_text(good.values, good.offsets)
    for entries in ([b"\xff"], [b"ab\xc3", b"\xa9"]):
        bad = stored(entries, "String")
        assert bad.offsets is not None
        with pytest.raises(CorruptedData, match="UTF-8"):
            package.require_text(bad.values, bad.offsets)


def test_codes_are_never_null() -> None:
    section = block.build(bytes([2, 1, 0]), plain.encode([0, 0], "u4"))
    with pytest.raises(CorruptedData, match="expected no nulls"):
        package.decode_dictionary(
            runs.buffer_of([Block(section, 2)]), Rows.one(0, 2), stored([b"a"], "String"), wide=False
        )


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_the_entries_of_a_longer_column_are_expected_from_its_first_values(share: float) -> None:
    # Some values are new, the others are among a hundred.
    random = np.random.default_rng(2)
    values = np.where(random.random(65_536) < share, 1000 + np.arange(65_536), random.integers(0, 100, 65_536))
    counts = np.unique(values[:16_384], return_counts=True)[1].astype(np.uint64)
    assert _expected(counts, 65_536) == pytest.approx(len(np.unique(values)), rel=0.03)
    few = np.full(100, 5, np.uint64)
    assert _expected(few, 65_536) == 100


def test_codes_that_take_few_bytes_speak_for_a_dictionary(tmp_path: Path) -> None:
    # Paths in runs: blocks of them would take little, too, but codes in runs take next to nothing.
    paths = np.repeat([f"/var/log/service-{n * 7 % 16}/messages.log" for n in range(150)], 1000)
    with amudai.write(pa.table({"path": paths}), tmp_path / "t.amudai.shard") as shard:
        (field,) = shard.inspect(blocks=True).stripes[0].fields
        assert {each.kind for each in field.buffers} == {"data", "value dictionary"}
        assert sum(each.bytes for each in field.buffers) < 3000
        assert shard.read()["path"].to_pylist() == paths.tolist()
