"""Do kernels and oracle read every block that the reference wrote alike?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from amudai.encoding import BINARY, NUMERIC
from amudai.format import BufferKind
from amudai.shard import FieldReader, ShardReader
from amudai.types import WIDTHS, BasicType, quote_name
from tests import golden
from tests.encoding import runs
from tests.encoding.checks import Numbers, Strings, decode_fixed, decode_numbers, decode_variable
from tests.encoding.runs import Block

# The oracle takes microseconds for a value: of large shards only some blocks are read.
FEW_VALUES = 1_000_000
STEP = 7

pytestmark = golden.requires_golden


def readers(field: FieldReader) -> Iterator[FieldReader]:
    yield field
    if field.descriptor is not None:
        for index in range(len(field.node.children)):
            yield from readers(field.child(index))


def fields_of(shard: ShardReader) -> Iterator[FieldReader]:
    for stripe in shard.stripes:
        for node in shard.schema.fields():
            yield from readers(stripe.field(node, quote_name(node.name), stripe.num_rows))


def dtype_of(field: FieldReader, kind: BufferKind) -> str | None:
    """The type of the numbers in a buffer; None where it holds strings or bytes."""
    basic = field.node.basic_type
    if kind is BufferKind.OFFSETS:
        return "u8"
    if kind is BufferKind.PRESENCE or basic in (BasicType.BOOLEAN, BasicType.UNION):
        return "u1"
    if field.encoding.find(BufferKind.VALUE_DICTIONARY) is not None:
        return "u4"
    return field.node.dtype if basic in WIDTHS else None


def sample(field: FieldReader, kind: BufferKind, all_of_them: bool) -> list[Block]:
    """Blocks of a buffer as they are stored."""
    descriptor = field.encoding.find(kind)
    assert descriptor is not None
    assert descriptor.buffer is not None
    assert descriptor.block_checksums
    found = field.blocks(kind, field.values_of(kind))
    assert found is not None
    content = field.stripe.artifact_of(descriptor).read(descriptor.buffer.start, descriptor.buffer.end)
    counts, ends = np.diff(found.block_map.values).tolist(), found.block_map.offsets.tolist()
    last = len(counts) - 1
    chosen = [at for at in range(len(counts)) if all_of_them or at % STEP == 0 or at == last]
    return [Block(bytes(content[ends[at] : ends[at + 1]]), counts[at]) for at in chosen]


def check(field: FieldReader, kind: BufferKind, blocks: list[Block]) -> None:
    dtype = dtype_of(field, kind)
    total = sum(block.count for block in blocks)
    asked = [[(0, total)], [(at, at + 1) for at in range(total % 89, total, 89)]]
    if dtype is not None:
        numbers = Numbers(blocks, dtype)
        for run in runs.open_all(blocks):
            run.inflate(run.kernels.numeric_frames(run.blocks, dtype))
            for spans in filter(None, asked):
                numbers.check(spans, *decode_numbers(run, dtype, spans))
        return
    variable = field.node.basic_type in (BasicType.STRING, BasicType.BINARY)
    size = None if variable else field.node.fixed_size
    text = field.node.basic_type is BasicType.STRING
    strings = Strings(blocks, size)
    for spans in filter(None, asked):
        used, moved = runs.touched(blocks, spans)
        for run in runs.open_all(used):
            run.inflate(run.kernels.binary_frames(run.blocks, size))
            if size is None:
                strings.check(spans, *decode_variable(run, moved, "i4", text, 0))
            else:
                strings.check(spans, *decode_fixed(run, moved, size, 0))


@pytest.mark.parametrize("path", golden.SHARDS, ids=lambda path: f"{path.parent.name}/{path.name.partition('.')[0]}")
def test_kernel_and_oracle_agree(path: Path) -> None:
    shard = ShardReader(path)
    fields = list(fields_of(shard))
    values = sum(buffer.block_map.value_count for field in fields for _, buffer in field.block_buffers())
    for field in fields:
        for kind, _ in field.block_buffers():
            try:
                check(field, kind, sample(field, kind, values <= FEW_VALUES))
            except AssertionError as error:
                error.add_note(f"stripe {field.stripe.ordinal}, field {field.path}, {kind.name}")
                raise


def test_every_encoding_occurs() -> None:
    numeric: Counter[str] = Counter()
    binary: Counter[str] = Counter()
    for path in golden.SHARDS:
        for field in fields_of(ShardReader(path)):
            for kind, buffer in field.block_buffers():
                found = numeric if dtype_of(field, kind) is not None else binary
                found.update(field._described(kind, buffer))
    words = {name for plan in (*numeric, *binary) for name in plan.replace("(", " ").replace(")", " ").split()}
    names = {word.rstrip(",") for word in words}
    # What nobody writes (values of 64 bits cut to 64 bits) is tested by the oracle's blocks alone.
    assert {encoding.name for encoding in NUMERIC} - names <= {"truncate_u64"}
    assert {plan.partition("(")[0] for plan in binary} == {encoding.name for encoding in BINARY}
