"""How fast do the kernels decode, by encoding?  python -m benchmarks.kernels

Single thread, into memory that is used again and again; beside each figure memcpy of the same output in the same run.
Blocks are made by the tests' oracle, so any encoding can be measured before a writer chooses it.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from amudai import _kernels
from amudai.encoding.decode import _inflated
from tests.oracle import block as oracle_block
from tests.oracle.binary import block_dictionary as b_dictionary
from tests.oracle.binary import fsst as b_fsst
from tests.oracle.binary import lz4 as b_lz4
from tests.oracle.binary import plain as b_plain
from tests.oracle.binary import zstd as b_zstd
from tests.oracle.numeric import (
    alp,
    alprd,
    block_dictionary,
    delta,
    ffor,
    fl_bit_pack,
    lz4,
    plain,
    run_length,
    truncate,
    zstd,
)

RUN_SLOTS = 65_536  # a batch: its output stays in the second-level cache, as a scan's does


def best(work: Callable[[], object], seconds: float) -> float:
    """Best time of one call."""
    work()
    least, end = 1e9, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        work()
        least = min(least, time.perf_counter() - start)
    return least


def opened(blocks: list[bytes], counts: list[int]) -> tuple[_kernels.Blocks, list[memoryview]]:
    data = memoryview(b"".join(blocks))
    sizes = np.array([len(block) for block in blocks], np.uint64)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.uint64)
    run = _kernels.Blocks(
        [data],
        np.zeros(len(blocks), np.uint32),
        starts,
        sizes,
        np.array(counts, np.uint64),
        np.arange(len(blocks), dtype=np.uint64),
        True,
        True,
    )
    return run, [data]


def inflate(blocks: _kernels.Blocks, buffers: list[memoryview], frames: list) -> None:
    if frames:
        blocks.add_inflated(frames, [_inflated(buffers[b][s:e], size) for b, s, e, size in frames])


def numbers(name: str, values: np.ndarray, encode: Callable[[list[int], str], bytes]) -> tuple[str, float, float]:
    dtype = values.dtype.str[1:]
    bits = values.view(f"u{values.dtype.itemsize}") if values.dtype.kind == "f" else values
    repeat = max(1, RUN_SLOTS // len(values))
    one = oracle_block.build(b"", encode([int(v) for v in bits], dtype))
    out = np.empty(repeat * len(values), values.dtype)
    spans = (np.arange(repeat, dtype=np.uint32), np.zeros(repeat, np.uint32), np.full(repeat, len(values), np.uint32))

    blocks, buffers = opened([one] * repeat, [len(values)] * repeat)
    frames = _kernels.numeric_frames(blocks, dtype)
    inflate(blocks, buffers, frames)

    def work() -> None:
        for b, s, e, size in frames:
            _inflated(buffers[b][s:e], size)
        _kernels.decode_numbers(blocks, *spans, out, None, 0)

    elapsed = best(work, 0.3)
    assert (out[: len(values)].view(np.uint8) == values.view(np.uint8)).all(), name
    copied = np.empty_like(out)
    return name, out.nbytes / elapsed / 1e9, out.nbytes / best(lambda: np.copyto(copied, out), 0.1) / 1e9


def strings(name: str, values: list[bytes], encode: Callable[[list[bytes]], bytes]) -> tuple[str, float, float]:
    total = sum(map(len, values))
    repeat = max(1, (1 << 20) // max(total, 1))
    one = oracle_block.build(b"", encode(values))
    n = len(values)
    blocks, buffers = opened([one] * repeat, [n] * repeat)
    inflate(blocks, buffers, _kernels.binary_frames(blocks, None))
    spans = (np.arange(repeat, dtype=np.uint32), np.zeros(repeat, np.uint32), np.full(repeat, n, np.uint32))
    offsets = np.zeros(repeat * n + 1, np.int32)
    validity = np.empty(repeat * n // 8 + 1, np.uint8)
    origins, sizes = np.empty(repeat, np.uint64), np.zeros(repeat, np.uint64)
    _kernels.decode_offsets(blocks, *spans, offsets, validity, 0, origins, sizes)
    frames = _kernels.payload_frames(blocks, sizes) if sizes.any() else []
    inflate(blocks, buffers, frames)
    out = np.empty(int(offsets[-1]) + 64, np.uint8)

    def work() -> None:
        _kernels.decode_offsets(blocks, *spans, offsets, validity, 0, origins, sizes)
        for b, s, e, size in frames:
            _inflated(buffers[b][s:e], size)
        _kernels.decode_bytes(blocks, *spans, origins, offsets, 0, True, out)

    elapsed = best(work, 0.3)
    assert bytes(out[:total]) == b"".join(values), name
    written = out.nbytes + offsets.nbytes
    copied, source = np.empty(written, np.uint8), np.zeros(written, np.uint8)
    return name, written / elapsed / 1e9, written / best(lambda: np.copyto(copied, source), 0.1) / 1e9


def dictionary_strings(name: str, values: list[bytes]) -> tuple[str, float, float]:
    distinct = sorted(set(values))
    place = {value: index for index, value in enumerate(distinct)}
    codes = np.array([place[value] for value in values], np.uint32)
    entries = np.frombuffer(b"".join(distinct), np.uint8)
    ends = np.concatenate(([0], np.cumsum([len(value) for value in distinct]))).astype(np.uint64)
    offsets = np.zeros(len(codes) + 1, np.int32)
    validity = np.empty(len(codes) // 8 + 1, np.uint8)
    out = np.empty(sum(map(len, values)) + 64, np.uint8)
    block = oracle_block.build(b"", fl_bit_pack.encode([int(c) for c in codes[:8192]], "u4"))
    repeat = len(codes) // 8192
    blocks, _ = opened([block] * repeat, [8192] * repeat)
    spans = (np.arange(repeat, dtype=np.uint32), np.zeros(repeat, np.uint32), np.full(repeat, 8192, np.uint32))
    decoded = np.empty(len(codes), np.uint32)

    def work() -> None:
        _kernels.decode_numbers(blocks, *spans, decoded, None, 0)
        _kernels.gather_offsets(codes, ends, None, offsets, validity)
        _kernels.gather_bytes(codes, entries, ends, out)

    elapsed = best(work, 0.3)
    assert bytes(out[:-64]) == b"".join(values)
    written = out.nbytes + offsets.nbytes
    copied, source = np.empty(written, np.uint8), np.zeros(written, np.uint8)
    return name, written / elapsed / 1e9, written / best(lambda: np.copyto(copied, source), 0.1) / 1e9


def text_values() -> dict[str, list[bytes]]:
    """Real log lines if the shared data set is there, otherwise generated ones."""
    folder = Path(os.environ.get("AMUDAI_DATA", "../shared/data"))
    logs = folder / "logs" / "HDFS_2k.log"
    if logs.exists():
        lines = logs.read_bytes().splitlines()[:600]
    else:
        dice = random.Random(1)
        lines = [
            b"INFO dfs.DataNode: Receiving block blk_%d src: /10.0.%d.%d" % (dice.getrandbits(40), i % 7, i % 99)
            for i in range(600)
        ]
    words = [b"service-%02d" % (i * 7919 % 12) for i in range(65_536)]
    return {"log lines": lines, "services": words}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    only = parser.parse_args().only
    rng = np.random.default_rng(7)
    n = 8192
    small = rng.integers(0, 1 << 18, n)
    steps = np.cumsum(rng.integers(0, 4000, n)).astype(np.int64)
    runs = np.repeat(rng.integers(0, 1 << 40, n // 16), 16)
    long_runs = np.repeat(rng.integers(0, 1 << 40, n // 256), 256)
    cents = np.round(rng.uniform(0, 9000, n), 2)
    reals = rng.normal(0.5, 0.01, n)
    few = rng.choice(rng.integers(0, 1 << 40, 200), n)

    def packed(values: list[int], dtype: str) -> bytes:
        return fl_bit_pack.encode(values, dtype)

    def framed(values: list[int], dtype: str) -> bytes:
        return ffor.encode(values, dtype)

    text = text_values()
    cases: list[Callable[[], tuple[str, float, float]]] = [
        lambda: numbers("plain i64", small, plain.encode),
        lambda: numbers("fl_bit_pack u64, 18 bits", small.astype(np.uint64), packed),
        lambda: numbers("fl_bit_pack u32, 18 bits", small.astype(np.uint32), packed),
        lambda: numbers("ffor i64, 18 bits", small + 10**9, framed),
        lambda: numbers("truncate_u32(fl_bit_pack) i64", small, lambda v, t: truncate.encode(v, t, "u4", packed)),
        lambda: numbers("delta(ffor) i64", steps, lambda v, t: delta.encode(v, t, framed)),
        lambda: numbers("run_length i64, runs of 16", runs, run_length.encode),
        lambda: numbers("run_length i64, runs of 256", long_runs, run_length.encode),
        lambda: numbers("alp(ffor) f64", cents, lambda v, t: alp.encode(v, t, 14, 12, framed)),
        lambda: numbers("alprd f64", reals, lambda v, t: alprd.encode(v, t, 52, packed, packed)),
        lambda: numbers("block_dictionary(ffor) i64", few, lambda v, t: block_dictionary.encode(v, t, framed)),
        lambda: numbers("lz4 i64", few, lz4.encode),
        lambda: numbers("zstd i64", few, zstd.encode),
        lambda: strings("plain text", text["log lines"], b_plain.encode),
        lambda: strings(
            "fsst text",
            text["log lines"],
            lambda v: b_fsst.encode(v, nested_offsets=lambda o, t: delta.encode(o, t, packed)),
        ),
        lambda: strings(
            "lz4 text",
            text["log lines"],
            lambda v: b_lz4.encode(v, nested_offsets=lambda o, t: delta.encode(o, t, packed)),
        ),
        lambda: strings(
            "zstd text",
            text["log lines"],
            lambda v: b_zstd.encode(v, nested_offsets=lambda o, t: delta.encode(o, t, packed)),
        ),
        lambda: strings(
            "block_dictionary text", text["services"][:4096], lambda v: b_dictionary.encode(v, nested_codes=packed)
        ),
        lambda: dictionary_strings("dictionary strings", text["services"]),
    ]
    print(f"{'encoding':<34}{'GB/s':>8}{'memcpy':>8}{'ratio':>7}")
    for case in cases:
        name, speed, memcpy = case()
        if only in name:
            print(f"{name:<34}{speed:>8.1f}{memcpy:>8.1f}{speed / memcpy:>7.2f}", flush=True)


if __name__ == "__main__":
    main()
