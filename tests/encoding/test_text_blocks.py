"""How does a column of text become blocks?"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import zstandard

import amudai
from amudai import _kernels
from amudai.encoding.binary.choice import BytesBlock, encode_region, lz4_blocks
from amudai.encoding.binary.lz4 import LZ4
from amudai.encoding.binary.zstd_work import zstd_work
from amudai.encoding.codec import QUICK, THOROUGH
from amudai.encoding.profile import profile_of


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


def test_ids_that_repeat_become_block_dictionaries(tmp_path: Path) -> None:
    # Zstandard makes them smaller, but its literals take as long to decompress as they would without any match.
    random = np.random.default_rng(3)
    ids = np.array([random.bytes(16).hex() for _ in range(10_000)])
    near = np.arange(40_000) // 4 + random.integers(-20, 20, 40_000)
    table = pa.table({"id": ids[near.clip(0, len(ids) - 1)]})
    with amudai.write(table, tmp_path / "t.amudai.shard") as shard:
        (field,) = shard.inspect(blocks=True).stripes[0].fields
        assert {block.encoding.partition("(")[0] for block in field.buffers[0].blocks or ()} == {"block_dictionary"}
        assert shard.read().equals(table)


@pytest.mark.parametrize("level", [1, 9])
@pytest.mark.parametrize("size", [300, 900, 5_000, 70_000, 400_000])
def test_work_of_a_zstd_frame(level: int, size: int) -> None:
    compress = zstandard.ZstdCompressor(level=level).compress
    random = np.random.default_rng(size)
    # Each digit is a literal. Level 9 finds some short matches as well.
    digits = random.integers(48, 64, size, np.uint8).tobytes()
    work = zstd_work(memoryview(compress(digits)))
    assert work.literals <= size
    assert work.literals + 8 * work.sequences >= 0.9 * size
    # Each word is a match, apart from the first of its kind.
    words = [bytes(random.integers(33, 127, 24, np.uint8)) for _ in range(20)]
    text = b"".join(words[at] for at in random.integers(0, len(words), size // 24 + 1))
    work = zstd_work(memoryview(compress(text)))
    assert work.literals < 24 * 25
    assert size // 24 // 8 <= work.sequences <= size // 24 + 1
    assert zstd_work(memoryview(compress(b"a" * size))).literals == 0
    assert zstd_work(memoryview(compress(random.bytes(size)))) == (0, 0)


@pytest.mark.native
@pytest.mark.parametrize("extended", [False, True])
@pytest.mark.parametrize("level", [QUICK, THOROUGH])
@pytest.mark.parametrize("nulls", [0.0, 0.1, 1.0])
def test_blocks_of_a_run_are_those_of_single_regions(level: int, nulls: float, extended: bool) -> None:
    random = np.random.default_rng(7)
    words = np.array([b"user", b"opened", b"closed", b"timeout", b"", b"gateway " * 40])
    texts = [b" ".join(words[random.integers(0, 6, random.integers(0, 9))]) for _ in range(700)]
    texts += [random.bytes(50) for _ in range(100)]  # LZ4 makes nothing of these
    valid = random.random(len(texts)) >= nulls
    texts = [text if there else b"" for text, there in zip(texts, valid, strict=True)]
    before = b"before the first value"
    offsets = np.cumsum([len(before), *map(len, texts)])
    slots = BytesBlock(offsets, np.frombuffer(before + b"".join(texts), np.uint8), len(texts), valid)
    cuts = [0, 1, 1, 200, 513, 700, 800]
    profile = replace(profile_of("balanced"), extended=extended)
    bits = np.packbits(valid, bitorder="little") if nulls else None
    found = lz4_blocks(slots, cuts, bits, level, profile)
    assert len(found) == 6
    assert found[5] is None
    for (start, end), each in zip(pairwise(cuts), found, strict=True):
        part = slots.part(start, end)
        region = encode_region(part, LZ4, level, profile) if end > start else None
        assert (each is None) == (region is None)
        if each is None or region is None:
            continue
        presence = _kernels.presence_section(np.packbits(part.valid, bitorder="little"), 0, part.count)
        assert each.block == _kernels.build_block(presence, region, True)
        assert each.values == len(region)


@pytest.mark.native
def test_a_run_refuses_cuts_and_offsets_outside_of_its_values() -> None:
    data, offsets = np.zeros(100, np.uint8), np.array([0, 50, 100])
    plain = bytes([1])
    for wrong in ([0, 3], [2, 1], [-1, 2], []):
        with pytest.raises(ValueError, match="cuts"):
            _kernels.lz4_blocks(offsets, data, None, np.array(wrong, np.int64), True, [plain])
    for wrong in ([0, 50, 101], [0, 60, 50], [-1, 50, 100]):
        with pytest.raises(ValueError, match=r"offsets|data"):
            _kernels.lz4_blocks(np.array(wrong), data, None, np.array([0, 2]), True, [plain])
    with pytest.raises(ValueError, match="validity"):
        _kernels.lz4_blocks(offsets, data, np.zeros(0, np.uint8), np.array([0, 2]), True, [plain])


@pytest.mark.parametrize("size", [70, 400])
def test_blocks_do_not_depend_on_how_texts_were_appended(size: int, tmp_path: Path) -> None:
    random = np.random.default_rng(size)
    texts = [random.bytes(size // 8).hex() * 3 + "=" * random.integers(0, size // 4) for _ in range(30_000)]
    table = pa.table({"text": texts})
    whole, pieces = tmp_path / "whole.amudai.shard", tmp_path / "pieces.amudai.shard"
    amudai.write(table, whole).close()
    with amudai.ShardWriter(pieces, table.schema) as out:
        for at in range(0, len(texts), 4321):
            out.write(table.slice(at, 4321))
    counts = []
    for path in (whole, pieces):
        with amudai.open(path) as shard:
            assert shard.read().equals(table)
            (field,) = shard.inspect(blocks=True).stripes[0].fields
            counts.append([block.values for block in field.buffers[0].blocks or ()])
    # Blocks are as large, whatever is left of the batch before.
    assert {*counts[0][:-1]} == {*counts[1][:-1]} if size < 256 else abs(len(counts[0]) - len(counts[1])) <= 2
