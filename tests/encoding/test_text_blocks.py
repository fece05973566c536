"""How does a column of text become blocks?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

import amudai


def test_blocks_of_text_are_whole_where_the_staged_bytes_end_on_a_value(tmp_path: Path) -> None:
    # 51 values take 2,048 bytes, so that 26,112 values take the 1 MiB that is staged: no whole number of blocks.
    sizes = np.resize(np.array([41] * 8 + [40] * 43), 120_000)
    letters = np.random.default_rng(11).integers(97, 105, sizes.sum(), np.uint8)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    texts = pa.StringArray.from_buffers(len(sizes), pa.py_buffer(offsets), pa.py_buffer(letters))
    with amudai.write(pa.table({"text": texts}), tmp_path / "t.amudai.shard") as shard:
        (field,) = shard.inspect(blocks=True).stripes[0].fields
        counts = [block.values for block in field.buffers[0].blocks or ()]
        assert sum(counts) == 120_000
        assert len(counts) > 10
        assert set(counts[:-1]) == {counts[0]}


def test_one_unusual_block_does_not_decide_for_the_blocks_behind_it(tmp_path: Path) -> None:
    words = np.array(["user", "session", "opened", "closed", "timeout", "gateway", "retry", "payment", "queue"])
    picks = np.random.default_rng(5).integers(0, len(words), (60_000, 8))
    lines = [" ".join(line) + f" {at % 977}" for at, line in enumerate(words[picks])]
    # The rows that wait before a large value are written as a short block.
    large = "x" * (1 << 20)
    table = pa.table({"text": [*lines[:3100], large, *lines[3100:]]})
    with amudai.write(table, tmp_path / "t.amudai.shard") as shard:
        (field,) = shard.inspect(blocks=True).stripes[0].fields
        blocks = field.buffers[0].blocks or ()
        assert blocks[0].encoding == blocks[-2].encoding
        assert shard.read().equals(table)
