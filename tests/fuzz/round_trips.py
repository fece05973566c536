"""Values that a fuzzer makes up: written, read, looked up, searched and exported, they are what they were."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import amudai
from amudai import col
from amudai.storage import MemoryStore
from tests.fuzz.inputs import FuzzInput

__all__ = ["round_trip_seeds", "round_trips"]

_NAME: Final = "t.amudai.shard"
_PROFILES: Final = ("plain", "minimal_compression", "balanced", "high_compression", "minimal_size")
_COMPATIBILITY: Final = ("reference", "extended")
_NUMBERS: Final = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")
_OTHERS: Final = (pa.string(), pa.binary(), pa.bool_(), pa.decimal128(34, 4), pa.timestamp("us"), pa.binary(16))
_MOST: Final = 3000


def round_trips(data: bytes) -> None:
    """Write values in some way, and ask for them in every way. A difference is an `AssertionError`."""
    source = FuzzInput(data)
    profile, compatibility = source.choice(_PROFILES), source.choice(_COMPATIBILITY)
    kind, repeats = source.choice((*_NUMBERS, *_OTHERS)), 1 + source.number() % 32
    marks = source.piece(source.number())
    values = _values(kind, source.rest(), repeats)
    null = np.zeros(len(values), np.bool_)
    if marks:
        null = np.resize(np.unpackbits(np.frombuffer(marks, np.uint8)), len(values)).astype(np.bool_)
    written = _masked(values, null)
    is_text = pa.types.is_string(written.type)
    indexes = [amudai.TermIndex("x")] if is_text else []
    if not pa.types.is_boolean(written.type) and not pa.types.is_floating(written.type):
        indexes.append(amudai.HashIndex("x"))  # type: ignore[arg-type]
    options: dict[str, Any] = {"profile": profile, "compatibility": compatibility, "indexes": indexes}
    shard = amudai.write(pa.table({"x": written}), _NAME, store=MemoryStore({}), threads=1, **options)
    found = shard.read()["x"].combine_chunks()
    found.validate(full=True)
    assert _bits(found) == _bits(written)
    some = [at for at in (0, len(values) // 2, len(values) - 1) if len(values) and not null[at]]
    for at in some:
        value = written[at].as_py()
        same = [row for row, each in enumerate(written.to_pylist()) if each is not None and each == value]
        assert shard.scan(where=col("x") == value).positions().tolist() == same  # type: ignore[union-attr]
        assert shard.take([at])["x"].combine_chunks().equals(found.slice(at, 1)) or value != value
        if is_text:
            part = value[: 1 + at % 7]
            having = [row for row, each in enumerate(written.to_pylist()) if each is not None and part in each]
            assert shard.scan(where=col("x").contains_cs(part)).positions().tolist() == having  # type: ignore[union-attr]
    if pa.types.is_integer(written.type) or is_text:
        _export(shard, written.to_pylist(), is_text)


def _values(kind: str | pa.DataType, rest: bytes, repeats: int) -> pa.Array:
    """The bytes as values, each of them repeated, so that there are runs."""
    if isinstance(kind, str):
        size = int(kind[1])
        numbers = np.frombuffer(rest[: len(rest) // size * size], f"<{kind}")
        return pa.array(np.repeat(numbers, repeats)[:_MOST])
    if pa.types.is_boolean(kind):
        return pa.array(np.unpackbits(np.frombuffer(rest, np.uint8))[:_MOST].astype(np.bool_))
    if pa.types.is_timestamp(kind):
        ticks = np.frombuffer(rest[: len(rest) // 8 * 8], "<i8") % (1 << 55)
        return pa.array(np.repeat(ticks, repeats)[:_MOST]).cast(kind)
    pieces = [rest[at : at + 16] for at in range(0, len(rest) - 15, 16)]
    if pa.types.is_decimal(kind):
        whole = [int.from_bytes(piece, "little", signed=True) % 10**34 - 5 * 10**33 for piece in pieces]
        return pa.array([Decimal(each).scaleb(-4) for each in whole for _ in range(repeats)][:_MOST], kind)
    if pa.types.is_fixed_size_binary(kind):
        return pa.array([piece for piece in pieces for _ in range(repeats)][:_MOST], kind)
    texts: list[Any] = rest.split(b"\n")
    if pa.types.is_string(kind):
        texts = [each.decode(errors="replace") for each in texts]
    return pa.array([each for each in texts for _ in range(repeats)][:_MOST], kind)


def _masked(values: pa.Array, null: npt.NDArray[np.bool_]) -> pa.Array:
    return values.take(pa.array(np.arange(len(values)), mask=null)) if null.any() else values


def _bits(values: pa.Array) -> list[object]:
    """Values, floats as their bits."""
    if not pa.types.is_floating(values.type):
        return list(values.to_pylist())
    size = values.type.bit_width // 8
    stored = np.frombuffer(values.buffers()[1], f"<u{size}")[values.offset : values.offset + len(values)]
    return [bits if valid else None for bits, valid in zip(stored.tolist(), values.is_valid().to_pylist(), strict=True)]


def _export(shard: amudai.Shard, values: list[Any], is_text: bool) -> None:
    as_json, as_csv = io.BytesIO(), io.BytesIO()
    writers = [amudai.JsonLinesWriter(as_json, ["x"]), amudai.CsvWriter(as_csv, ["x"])]
    for batch in shard.scan():
        for writer in writers:
            writer.write(batch)
    for writer in writers:
        writer.close()
    # No line ends of other kinds are looked for: texts may hold them.
    lines = as_json.getvalue().decode().split("\n")[:-1]
    assert [json.loads(line)["x"] for line in lines] == values
    if is_text:
        rows = list(csv.reader(io.StringIO(as_csv.getvalue().decode(), newline="")))
        assert [row[0] if row else "" for row in rows[1:]] == [value or "" for value in values]


def round_trip_seeds() -> Iterator[bytes]:
    """Each type in each profile: numbers that rise, repeat and jump, texts with words in common."""
    rng = np.random.default_rng(7)
    numbers = np.concatenate([np.arange(60) * 3, rng.integers(0, 1 << 40, 40), np.full(40, 9)])
    floats = np.concatenate([np.arange(60) / 100, rng.normal(0, 1e9, 40), [np.nan, -0.0, np.inf, 1e300]])
    text = "\n".join(f"line {n} of the lines, {n * n % 17}" for n in range(40)).encode() + b'\n"quoted", a\xc3\xa9\r\n'
    for at in range(len(_NUMBERS) + len(_OTHERS)):
        kind = (*_NUMBERS, *_OTHERS)[at]
        if isinstance(kind, str):
            with np.errstate(over="ignore"):
                content = (floats if kind[0] == "f" else numbers).astype(f"<{kind}").tobytes()
        else:
            content = text if kind in (pa.string(), pa.binary()) else numbers.astype("<i8").tobytes()
        for how in range(len(_PROFILES)):
            marks = b"" if how % 2 else b"\x40\x00\x01"
            yield bytes([how, how % 2, at, at % 3, len(marks)]) + marks + content
