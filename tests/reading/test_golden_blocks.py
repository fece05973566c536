"""Do kernels and oracle read every block that the reference wrote alike?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from amudai.column import BufferLayout, ColumnSource
from amudai.encoding import BINARY, NUMERIC
from amudai.shard import ShardReader
from amudai.types import WIDTHS, BasicType
from tests import golden
from tests.effort import scaled
from tests.encoding import runs
from tests.encoding.checks import Numbers, Strings, decode_fixed, decode_numbers, decode_variable
from tests.encoding.runs import Block

# The oracle takes microseconds for a value: of large shards only some blocks are read.
FEW_VALUES = scaled(1_000_000)
STEP = 7


def buffers_of(shard: ShardReader) -> Iterator[tuple[ColumnSource, BufferLayout]]:
    """Every buffer of blocks, with the column that it belongs to."""
    for stripe in shard.stripes:
        for node in shard.schema.fields():
            for column in stripe.column(node).walk():
                for buffer in column.describe(blocks=True).buffers:
                    if buffer.blocks:
                        yield column, buffer


def dtype_of(column: ColumnSource, kind: str) -> str | None:
    """The type of the numbers in a buffer; None where it holds strings or bytes."""
    basic = column.node.basic_type
    if kind == "offsets":
        return "u8"
    if kind == "presence" or basic in (BasicType.BOOLEAN, BasicType.UNION):
        return "u1"
    if column.codes() is not None:
        return "u4"
    return column.node.dtype if basic in WIDTHS else None


def sample(shard: ShardReader, buffer: BufferLayout, all_of_them: bool) -> list[Block]:
    """Blocks of a buffer as they are stored."""
    content = shard.artifact(buffer.file, shard.root).read(buffer.start, buffer.start + buffer.bytes)
    last = len(buffer.blocks) - 1
    return [
        Block(bytes(content[block.start : block.start + block.bytes]), block.values)
        for block in buffer.blocks
        if all_of_them or block.ordinal % STEP == 0 or block.ordinal == last
    ]


def check(column: ColumnSource, kind: str, blocks: list[Block]) -> None:
    dtype = dtype_of(column, kind)
    total = sum(block.count for block in blocks)
    asked = [[(0, total)], [(at, at + 1) for at in range(total % 89, total, 89)]]
    if dtype is not None:
        numbers = Numbers(blocks, dtype)
        for run in runs.open_all(blocks):
            run.inflate(run.kernels.numeric_frames(run.blocks, dtype))
            for spans in filter(None, asked):
                numbers.check(spans, *decode_numbers(run, dtype, spans))
        return
    variable = column.node.basic_type in (BasicType.STRING, BasicType.BINARY)
    size = None if variable else column.node.fixed_size
    text = column.node.basic_type is BasicType.STRING
    strings = Strings(blocks, size)
    for spans in filter(None, asked):
        used, moved = runs.touched(blocks, spans)
        for run in runs.open_all(used):
            run.inflate(run.kernels.binary_frames(run.blocks, size))
            if size is None:
                strings.check(spans, *decode_variable(run, moved, "i4", text, 0))
            else:
                strings.check(spans, *decode_fixed(run, moved, size, 0))


@pytest.mark.slow
@pytest.mark.parametrize("path", golden.SHARDS, ids=lambda path: f"{path.parent.name}/{path.name.partition('.')[0]}")
def test_kernel_and_oracle_agree(path: Path) -> None:
    shard = ShardReader(path)
    found = list(buffers_of(shard))
    values = sum(block.values for _, buffer in found for block in buffer.blocks)
    for column, buffer in found:
        try:
            check(column, buffer.kind, sample(shard, buffer, values <= FEW_VALUES))
        except AssertionError as error:
            error.add_note(f"column {column.path}, {buffer}")
            raise


def test_every_encoding_occurs() -> None:
    numeric: Counter[str] = Counter()
    binary: Counter[str] = Counter()
    for path in golden.SHARDS:
        for column, buffer in buffers_of(ShardReader(path)):
            found = numeric if dtype_of(column, buffer.kind) is not None else binary
            found.update(block.encoding for block in buffer.blocks)
    words = {name for plan in (*numeric, *binary) for name in plan.replace("(", " ").replace(")", " ").split()}
    names = {word.rstrip(",") for word in words}
    # No writer truncates values of 64 bits to 64 bits; only the oracle's blocks test that.
    # The reference does not know encodings with codes from 0x8000 on.
    assert {encoding.name for encoding in NUMERIC if encoding.code < 0x8000} - names <= {"truncate_u64"}
    assert {plan.partition("(")[0] for plan in binary} == {each.name for each in BINARY if each.code < 0x8000}
