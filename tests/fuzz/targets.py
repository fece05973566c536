"""What is fuzzed: functions of bytes that may raise errors of ours and nothing else.

Checksums would keep a fuzzer out, so targets compute them, or read without comparing them. The seeds of a target are
sound inputs. libFuzzer changes them, and keeps what reaches code that nothing before it has reached.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

import amudai
from amudai import _kernels, col
from amudai.encoding import ByteKeys, NumberRanges, compare
from amudai.errors import AmudaiError
from amudai.format import (
    AnyValue,
    FieldDescriptor,
    FieldList,
    IndexCollection,
    RangeIndexHeader,
    ShardDirectory,
    ShardProperties,
    ShardSchema,
    StripeFieldDescriptor,
    StripeProperties,
    UrlList,
    ValueDictionary,
    checksum,
    decode_block_map,
    encode_block_map,
)
from amudai.rows import Rows
from amudai.shard import ShardReader
from amudai.storage import MemoryStore
from amudai.types import BasicType, SchemaNode
from tests.damage.blocks import Held, binaries, numbers
from tests.damage.subjects import ROOT, Subject, subjects
from tests.encoding import cascades
from tests.fuzz.inputs import FuzzInput
from tests.fuzz.round_trips import round_trip_seeds, round_trips
from tests.oracle import block
from tests.oracle.binary import (
    block_dictionary,
    fsst,
    lz4,
    lz4_shared,
    plain,
    single_value,
    snappy,
    zstd,
    zstd_shared,
)
from tests.oracle.common import ALL
from tests.sources.logs.test_shapes import CASES

__all__ = ["TARGETS", "Target"]

_LIMITS = amudai.Limits(memory=1 << 28, block_memory=1 << 26)
_DICTIONARY_HEADER = 128
_SIZES = (None, 0, 1, 3, 16)


@dataclass(frozen=True)
class Target:
    """A function that reads bytes, and sound inputs from which a fuzzer starts."""

    run: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]

    def __call__(self, data: bytes) -> None:
        """Read the bytes. Errors of ours are right answers; anything else is a finding."""
        with suppress(AmudaiError):
            self.run(data)


# ---- blocks ----


def _held(source: FuzzInput) -> tuple[Held, Rows]:
    """A block with a right checksum, and some of the rows that it claims to hold."""
    count, first, size = 1 + source.number(2), source.number(2), 1 + source.number(2)
    marks = source.piece(source.number())
    held = Held((count, block.build(marks, source.rest())))
    first %= count
    return held, Rows.one(first, min(count, first + size))


def _numbers(data: bytes) -> None:
    source = FuzzInput(data)
    dtype = source.choice(ALL)
    held, rows = _held(source)
    one = np.ones(1, dtype)
    compare.compare_numbers(held, rows, NumberRanges(one, one), inverted=False)  # type: ignore[arg-type]
    numbers(held, rows, dtype)
    (run,) = held.runs(rows)
    _kernels.describe_numbers(run.blocks, dtype)


def _head(kind: int, count: int, marks: bytes = b"") -> bytes:
    """The part of an input before its block: all rows."""
    return bytes([kind]) + (count - 1).to_bytes(2, "little") + bytes(2) + b"\xff\xff" + bytes([len(marks)]) + marks


def _number_seeds() -> Iterator[bytes]:
    random, rng = Random(1), np.random.default_rng(1)
    for at, dtype in enumerate(ALL):
        for shape in cascades.SHAPES.values():
            section, _ = cascades.encode(random, shape(rng, 40, dtype), dtype, 3)
            yield _head(at, 40) + section


def _texts(data: bytes) -> None:
    source = FuzzInput(data)
    size = source.choice(_SIZES)
    held, rows = _held(source)
    keys = ByteKeys((b"ab", b""))
    compare.compare_bytes(held, rows, keys, fixed_size=size, inverted=False)  # type: ignore[arg-type]
    binaries(held, rows, size)
    (run,) = held.runs(rows)
    _kernels.describe_binary(run.blocks, size)


def _text_seeds() -> Iterator[bytes]:
    values = [b"alpha", b"", b"beta alpha", b"alpha", b"gamma " * 9] * 4
    for encoding in (plain, lz4, zstd, fsst, block_dictionary, snappy, zstd_shared, lz4_shared):
        region = encoding.encode(values)
        yield _head(0, len(values)) + region
        fixed = encoding.encode([b"abc", b"abd", b"abc"], 3)
        yield _head(3, 3) + fixed
    yield _head(0, 7) + single_value.encode([b"same"] * 7)


# ---- messages ----


def _node(kind: BasicType) -> SchemaNode:
    return SchemaNode(schema_id=0, name="x", basic_type=kind, signed=True)


def _signed(payload: bytes) -> bytes:
    """The buffer of a dictionary with a right checksum of its header."""
    size = _DICTIONARY_HEADER - 4
    return payload[:size] + checksum(payload[:size]).to_bytes(4, "little") + payload[size + 4 :]


_MESSAGES: dict[str, Callable[[bytes], object]] = {
    "ShardDirectory": ShardDirectory.decode,
    "ShardProperties": ShardProperties.decode,
    "StripeProperties": StripeProperties.decode,
    "FieldList": FieldList.decode,
    "UrlList": UrlList.decode,
    "FieldDescriptor": lambda payload: FieldDescriptor.decode(payload).whole(),
    "StripeFieldDescriptor": StripeFieldDescriptor.decode,
    "IndexCollection": lambda payload: [each.whole() for each in IndexCollection.decode(payload).descriptors],
    "AnyValue": AnyValue.decode,
    "dictionary": lambda payload: ValueDictionary.decode(_signed(payload), _node(BasicType.STRING), sorted_ids=True),
    "range index": lambda payload: RangeIndexHeader.decode(payload, _node(BasicType.INT64)),
    "schema": lambda payload: ShardSchema(payload).fields(),
}


def _messages(data: bytes) -> None:
    source = FuzzInput(data)
    repr(source.choice(list(_MESSAGES.values()))(source.rest()))


def _message_seeds() -> Iterator[bytes]:
    """Each message of a sound shard, as a message of each kind: they are small, and alike."""
    for subject in islice(subjects(), 3):
        for payload in _payloads(ShardReader(ROOT, MemoryStore(subject.files))):
            yield from (bytes([kind]) + payload for kind in range(len(_MESSAGES)))


def _payloads(shard: ShardReader) -> Iterator[bytes]:
    """The messages to which the directory refers."""
    content, directory = shard.root.read(0, shard.root.size), shard.directory
    refs = (directory.schema, directory.field_list, directory.stripe_list, directory.properties, directory.indexes)
    for ref in refs:
        if ref is not None and not ref.url:
            yield bytes(content[ref.start + 4 : ref.end - 4])


def _block_maps(data: bytes) -> None:
    source = FuzzInput(data)
    size, first = source.number(4), source.number(4)
    last = first + 1 + source.number(4)
    found = decode_block_map(memoryview(source.rest()), data_size=size)
    found.stretch(first, last, 1 << 30)
    found.block_of(first, last)
    found.spans(np.array([first], np.uint64), np.array([last], np.uint64), 1)


def _block_map_seeds() -> Iterator[bytes]:
    for count in (1, 2, 1030):
        counts, sizes = [10 + at % 3 for at in range(count)], [24 + 8 * (at % 2) for at in range(count)]
        yield b"".join(n.to_bytes(4, "little") for n in (sum(sizes), 3, 17)) + encode_block_map(counts, sizes)


# ---- whole shards ----


@cache
def _subjects() -> list[Subject]:
    return list(subjects())


QUESTIONS: tuple[Callable[[amudai.Shard], object], ...] = (
    lambda shard: shard.read().validate(full=True),
    lambda shard: shard.scan(where=col("text").has("line7")).to_table(),
    lambda shard: shard.scan(where=(col("n") > 70) & (col("n") <= 90)).to_table(),
    lambda shard: shard.scan(where=col("word") == "word 5").to_table(),
    lambda shard: shard.take([shard.num_positions // 2]) if shard.num_positions else None,
    lambda shard: repr([(each.path, each.type, each.stats) for each in shard.columns]),
    lambda shard: shard.verify(),
)


def _shards(data: bytes) -> None:
    """A sound shard with some bytes changed, read without comparing checksums."""
    source = FuzzInput(data)
    subject = source.choice(_subjects())
    name = source.choice(sorted(subject.files))
    question = source.choice(QUESTIONS)
    content = bytearray(subject.files[name])
    while source:
        at, new = source.number(3) % max(1, len(content)), source.piece(1 + source.number() % 8)
        content[at : at + len(new)] = new
    files = {**subject.files, name: bytes(content)}
    question(amudai.open(ROOT, store=MemoryStore(files), threads=1, verify=False, limits=_LIMITS))


def _shard_seeds() -> Iterator[bytes]:
    random = Random(2)
    for subject in range(len(_subjects())):
        for question in range(len(QUESTIONS)):
            edit = random.randbytes(3) + bytes([3]) + random.randbytes(4)
            yield bytes([subject, random.randrange(4), question]) + edit


# ---- texts of users ----


@cache
def _asked() -> amudai.Shard:
    kinds = {"n": pa.int64(), "s": pa.string(), "t": pa.timestamp("us"), "d": pa.decimal128(9, 2)}
    rows = [
        {"n": 5, "s": "timeout of abc", "t": 10**15, "d": Decimal("12.50")},
        {"n": None, "s": "", "t": 0, "d": None},
    ]
    return amudai.write(pa.Table.from_pylist(rows, pa.schema(kinds)), ROOT, store=MemoryStore({}))


def _predicates(data: bytes) -> None:
    _asked().scan(where=data.decode(errors="replace")).positions()


def _predicate_seeds() -> Iterator[bytes]:
    texts = (
        'n >= 5 and not (s has "timeout" or s in ("debug", "info"))',
        "t between 2024-01-01 and 2024-02-01T10:00:00Z or s =~ 'x'",
        's matches "a(b|c)*[^d-f]{2,3}" or s like "a%_b"',
        "d <> 12.50 and n is not null and s hasprefix 'ab'",
    )
    yield from (text.encode() for text in texts)


def _kql(data: bytes) -> None:
    amudai.kql(data.decode(errors="replace"), _asked()).explain()


def _kql_seeds() -> Iterator[bytes]:
    texts = (
        'where n >= 5 and not(s has "timeout") | summarize count() by bin(t, 1h) | sort by count_ desc',
        "data | where t between (datetime(2024-01-01) .. ago(1d)) or s startswith 'x' | take 5",
        'search "timeout" | extend m = n * 2 + strlen(s) | project m, s | top 3 by m asc',
        "where s matches regex @'a(b|c)*' | parse s with * 'of ' rest | distinct rest | count",
        "let least = 3; data | where n > least | join kind=inner (data | where isnotempty(s)) on n",
    )
    yield from (text.encode() for text in texts)


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="amudai-fuzz-"))


def _reading(format: str, **options: Any) -> Callable[[bytes], None]:  # noqa: A002
    def run(data: bytes) -> None:
        path = _folder() / "input"
        path.write_bytes(data)
        with amudai.read_files(path, format=format, **options) as source:
            for batch in source.batches():
                batch.validate(full=True)

    return run


def _json_seeds() -> Iterator[bytes]:
    yield b'{"a": 1, "b": [1.5, null], "c": {"d": "2024-01-02T03:04:05.5Z"}}\n{"a": -2, "e": true, "b": []}\n'
    yield b'[{"a": "x\\u00e9\\n"}, {"a": null}]'
    yield b'{"v": 18446744073709551615}\n{"v": 1e400}\n{"v": "\\ud800"}\n'


def _csv_seeds() -> Iterator[bytes]:
    yield b'a,b,c\n1,"x ""y"", z",2024-01-02 03:04:05\n08123,,\n'
    yield b"a;b\r\n1,5;true\r\n2,5;false\r\n"
    yield "name\tvalue\nä\t1e5\n".encode("utf-16")


def _log_seeds() -> Iterator[bytes]:
    for shape in dict.fromkeys(case.shape for case in CASES):
        yield "".join(f"{case.line}\n" for case in CASES if case.shape == shape).encode() * 2


TARGETS: dict[str, Target] = {
    "numbers": Target(_numbers, _number_seeds),
    "texts": Target(_texts, _text_seeds),
    "messages": Target(_messages, _message_seeds),
    "block_maps": Target(_block_maps, _block_map_seeds),
    "shards": Target(_shards, _shard_seeds),
    "predicates": Target(_predicates, _predicate_seeds),
    "kql": Target(_kql, _kql_seeds),
    "json": Target(_reading("json"), _json_seeds),
    "csv": Target(_reading("csv", on_error="keep"), _csv_seeds),
    "logs": Target(_reading("log", extract=True), _log_seeds),
    "round_trips": Target(round_trips, round_trip_seeds),
}
