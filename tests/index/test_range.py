"""Does a range index name the stretches that plain Python names?"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai.encoding import RangeIndexBuilder, decode_range_index
from amudai.errors import AmudaiError, CorruptedData
from amudai.format import encode_range_index
from amudai.index.questions import Between
from amudai.index.range import RangeProbe, open_range
from amudai.rows import Positions
from amudai.shard import ShardReader
from amudai.types import DECIMAL, BasicType, SchemaNode
from tests.effort import examples
from tests.forge.range_index import _bytes_block
from tests.oracle.decimal128 import from_decimal

SIZE = 256
TYPES = {
    "i1": (BasicType.INT8, True),
    "u1": (BasicType.INT8, False),
    "i2": (BasicType.INT16, True),
    "u2": (BasicType.INT16, False),
    "i4": (BasicType.INT32, True),
    "u4": (BasicType.INT32, False),
    "i8": (BasicType.INT64, True),
    "u8": (BasicType.INT64, False),
    "f4": (BasicType.FLOAT32, False),
    "f8": (BasicType.FLOAT64, False),
    "ticks": (BasicType.DATETIME, False),
}
DECIMAL_NODE = SchemaNode(
    schema_id=0, name="d", basic_type=BasicType.FIXED_SIZE_BINARY, fixed_size=16, extension=DECIMAL
)


def node_of(name: str) -> SchemaNode:
    basic, signed = TYPES[name]
    return SchemaNode(schema_id=0, name="n", basic_type=basic, signed=signed)


def exact(value: Any) -> Fraction | float:
    """A number that compares without rounding; infinities as they are."""
    value = value.item() if isinstance(value, np.generic) else value
    return float(value) if math.isinf(value) else Fraction(value)


def matches(value: Any, question: Between) -> bool:
    low, high = question.low, question.high
    if value is None or value != value or low != low or high != high:
        return False
    return (low is None or exact(low) <= exact(value)) and (high is None or exact(value) <= exact(high))


def is_empty(question: Between) -> bool:
    """Whether no number lies between the bounds: NaN bounds nothing."""
    low, high = question.low, question.high
    if low != low or high != high:
        return True
    return low is not None and high is not None and low > high


def check(found: Positions, values: list[Any], question: Between) -> None:
    """A stretch is named as far as its least and greatest valid value and its invalid ones tell."""
    yes, maybe = set(found.yes.positions().tolist()), set(found.maybe.positions().tolist())
    assert not yes & maybe
    for start in range(0, len(values), SIZE):
        part = values[start : start + SIZE]
        slots = set(range(start, start + len(part)))
        valid = [exact(value) for value in part if value is not None and value == value]
        hits = [matches(value, question) for value in part]
        if all(hits):
            assert slots <= yes
        elif any(hits):
            assert slots <= maybe
        elif not valid or is_empty(question):
            assert not slots & (yes | maybe)
        else:
            least, greatest = min(valid), max(valid)
            outside = (question.low is not None and exact(question.low) > greatest) or (
                question.high is not None and exact(question.high) < least
            )
            assert not slots & yes
            assert not outside or not slots & maybe
    assert (yes | maybe) <= set(range(len(values)))


def integers(name: str) -> st.SearchStrategy[int]:
    bits = 64 if name == "ticks" else 8 * int(name[1])
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if name.startswith("i") else (0, (1 << bits) - 1)
    return st.integers(low, high) | st.integers(max(low, -20), min(high, 20)) | st.sampled_from([low, high])


NUMBERS: st.SearchStrategy[Any] = (
    st.none()
    | st.integers(-25, 25)
    | st.integers(-(1 << 70), 1 << 70)
    | st.floats()
    | st.decimals(-30, 30)
    | st.sampled_from([-(1 << 63), (1 << 63) - 1, 1 << 63, (1 << 64) - 1, 1 << 64, (1 << 53) + 1, 0.1, -0.0])
)


@examples(300)
@given(data=st.data(), name=st.sampled_from(sorted(TYPES)), low=NUMBERS, high=NUMBERS)
def test_numbers(data: st.DataObject, name: str, low: Any, high: Any) -> None:
    node = node_of(name)
    if name in ("f4", "f8"):
        one = st.floats(width=8 * int(name[1])) | st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 1.0])
    else:
        one = integers(name)
    # Each stretch from a few values, so that some are of one value, some all null.
    parts = data.draw(st.lists(st.lists(st.none() | one, min_size=1, max_size=3), min_size=1, max_size=4))
    last = data.draw(st.integers(1, SIZE))
    values = [part[i % len(part)] for part in parts for i in range(SIZE)][: (len(parts) - 1) * SIZE + last]
    builder = RangeIndexBuilder(node)
    builder.append(
        np.array([0 if value is None else value for value in values], node.dtype),
        np.array([value is not None for value in values]),
    )
    buffer = builder.finish()
    if buffer is None:
        return
    assert buffer.whole is not None
    probe = RangeProbe(node, decode_range_index(memoryview(buffer.whole), node, len(values)))
    question = Between(low, high)
    if any(isinstance(bound, Decimal) and bound.is_snan() for bound in (low, high)):
        return
    check(probe.between(question), values, question)


@examples(150)
@given(
    values=st.lists(st.none() | st.decimals(-20, 20, places=1) | st.decimals(), min_size=1, max_size=30),
    low=st.none() | st.integers(-25, 25) | st.decimals(-20, 20) | st.just(Decimal("1E+9999")),
    high=st.none() | st.integers(-25, 25) | st.decimals(-20, 20) | st.just(Decimal("Infinity")),
)
def test_decimals(values: list[Decimal | None], low: Any, high: Any) -> None:
    values = [None if value is None or value.is_snan() else value for value in values]
    try:
        stored = b"".join(bytes(16) if value is None else from_decimal(value) for value in values)
    except ValueError:
        return  # more digits than a stored decimal has
    builder = RangeIndexBuilder(DECIMAL_NODE)
    builder.append(np.frombuffer(stored, np.uint8), np.array([value is not None for value in values]))
    buffer = builder.finish()
    if buffer is None:
        return
    assert buffer.whole is not None
    probe = RangeProbe(DECIMAL_NODE, decode_range_index(memoryview(buffer.whole), DECIMAL_NODE, len(values)))
    check(probe.between(Between(low, high)), values, Between(low, high))


@pytest.mark.slow
@pytest.mark.parametrize("profile", ["minimal_compression", "balanced", "minimal_size"])
def test_fields_of_a_shard(tmp_path: Path, profile: str) -> None:
    rng = np.random.default_rng(7)
    numbers = np.sort(rng.integers(0, 1 << 40, 5000))
    table = pa.table(
        {
            "n": numbers,
            "l": pa.array([[int(n), int(n) + 1] for n in numbers]),
            "s": pa.array([str(n) for n in numbers]),
            "c": pa.array(np.zeros(5000)),
        }
    )
    target = tmp_path / "t.amudai.shard"
    amudai.write(table, target, profile=profile, stripe_rows=3000)
    reader = ShardReader(target)
    nodes = {node.name: node for node in reader.schema.fields()}
    for stripe in reader.stripes:
        mine = numbers[stripe.first_row : stripe.first_row + stripe.num_rows].tolist()
        question = Between(mine[700], mine[1500])
        probe = open_range(stripe.column(nodes["n"]))
        assert probe is not None
        assert open_range(stripe.column(nodes["n"])) is probe  # kept as long as the column
        check(probe.between(question), mine, question)
        items = stripe.column(nodes["l"]).child(0)
        below = open_range(items)
        assert below is not None
        check(below.between(question), [each for n in mine for each in (n, n + 1)], question)
        assert open_range(stripe.column(nodes["s"])) is None
        assert open_range(stripe.column(nodes["c"])) is None


def damaged(least: list[int], greatest: list[int], counts: list[int], span: int) -> bytes:
    node = node_of("i2")
    payloads = [_bytes_block(np.array(values, "<u2").tobytes()) for values in (least, greatest, counts)]
    return encode_range_index(node, span, payloads[0], payloads[1], payloads[2])


@pytest.mark.parametrize(
    ("buffer", "span"),
    [
        (damaged([5, 1], [4, 9], [0, 0], 300), 300),
        (damaged([1, 1], [4, 9], [0, 45], 300), 300),
        (damaged([1, 1], [4, 9], [257, 0], 300), 300),
        (damaged([1, 1], [4, 9], [0], 300), 300),
        (damaged([1], [4], [0], 300), 300),
        (damaged([1, 1], [4, 9], [0, 0], 300), 301),
    ],
)
def test_what_cannot_be_is_refused(buffer: bytes, span: int) -> None:
    node = node_of("i2")
    with pytest.raises(CorruptedData):
        RangeProbe(node, decode_range_index(memoryview(buffer), node, span))


def test_every_flipped_bit_is_noticed_or_harmless() -> None:
    node = node_of("i2")
    values = [*range(256), *[300] * 40, None]
    builder = RangeIndexBuilder(node)
    builder.append(np.array([value or 0 for value in values], "i2"), np.array([value is not None for value in values]))
    buffer = builder.finish()
    assert buffer is not None
    assert buffer.whole is not None
    question = Between(3, 256)
    for bit in range(8 * len(buffer.whole)):
        changed = bytearray(buffer.whole)
        changed[bit // 8] ^= 1 << bit % 8
        try:
            probe = RangeProbe(node, decode_range_index(memoryview(bytes(changed)), node, len(values)))
        except AmudaiError:
            continue
        found = probe.between(question)
        candidates = set(found.candidates.positions().tolist())
        # The header has no checksum: a smaller block size must still not lose a position.
        assert all(at in candidates for at, value in enumerate(values) if matches(value, question)), bit
