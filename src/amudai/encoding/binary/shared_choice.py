"""The choice of a dictionary that all blocks of a column share.

A dictionary is trained with most of the first megabytes of a column, and tried on the rest of them. What it saves there
must pay for its own bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import zstandard

from amudai.encoding.binary.choice import BytesBlock, BytesChoice, decoding_time, encode_region, reach_time
from amudai.encoding.binary.plain import PLAIN
from amudai.encoding.binary.shared import LZ4_SHARED, ZSTD_SHARED
from amudai.encoding.profile import Profile
from amudai.encoding.shared_encoder import SharedEncoder

__all__ = ["TRAINING_BYTES", "SharedChoice", "choose_shared"]

# More text hardly makes a better dictionary: one from a quarter of it saves 2 % less on logs, nothing on comments.
TRAINING_BYTES: Final = 4 * 1024 * 1024
# LZ4 reaches back 64 KiB. Zstandard gains little from a larger dictionary.
_SIZES: Final = (64 * 1024, 16 * 1024)
_DIVISORS: Final = (1, 2, 4, 8)
# A dictionary is made of pieces of this many bytes that share stretches of eight bytes with much of the text. Training
# takes 0.01 seconds for a megabyte with these settings. The search for better ones takes four times as long or more,
# and its dictionaries save no more on logs and comments.
_PIECE: Final = 256
_STRETCH: Final = 8
_SAMPLE: Final = 8 * 1024  # bytes of a sample
_FEWEST: Final = 16  # samples that a dictionary is trained with
_HELD_OUT: Final = 4  # one in this many parts is not used for training
_TRIED: Final = 4  # parts on which a dictionary is tried
# How long a column gets is not known. That it is half as long as it will be is as good a guess as any.
_AS_MANY_AGAIN: Final = 2


@dataclass(frozen=True, slots=True)
class SharedChoice:
    """A dictionary, and what blocks are compressed with it."""

    encoder: SharedEncoder
    choice: BytesChoice


def choose_shared(
    staged: BytesBlock, final: bool, without: Sequence[BytesChoice], profile: Profile
) -> SharedChoice | None:
    """The cheapest way to store slots like these with a dictionary; None if one of the choices without is cheaper.

    If `final`, the column has no other slots.
    """
    parts = list(_cut(staged, profile.text_bytes))
    tried = parts[:: _HELD_OUT * max(1, len(parts) // (_HELD_OUT * _TRIED))]
    known = (part for at, part in enumerate(parts) if at % _HELD_OUT)
    samples: list[Any] = [bytes(each.content) for part in known for each in _cut(part, _SAMPLE)]
    if len(samples) < _FEWEST:
        return None
    least = min(_cost(tried, each, None, 0.0, profile).cost for each in without)
    best: SharedChoice | None = None
    for size in _SIZES:
        if size * _FEWEST > sum(map(len, samples)):
            continue  # a dictionary that holds most of the text says nothing about other text
        encoder = SharedEncoder(zstandard.train_dictionary(size, samples, k=_PIECE, d=_STRETCH).as_bytes())
        own = len(encoder.content) / (staged.count if final else _AS_MANY_AGAIN * staged.count)
        for choice in _candidates(profile):
            found = _cost(tried, choice, encoder, own, profile)
            if found.cost < least:
                least, best = found.cost, SharedChoice(encoder, found)
    return best


def _candidates(profile: Profile) -> Iterator[BytesChoice]:
    unknown = float("inf")
    for divisor in _DIVISORS:
        for level in profile.zstd_levels:
            yield BytesChoice(ZSTD_SHARED, level, unknown, unknown, divisor)
        if profile.lz4_level:
            yield BytesChoice(LZ4_SHARED, profile.lz4_level, unknown, unknown, divisor)


def _cost(
    parts: list[BytesBlock], choice: BytesChoice, encoder: SharedEncoder | None, own: float, profile: Profile
) -> BytesChoice:
    """The choice with what it costs on these parts. `own` is added for each slot."""
    size = slots = raw = blocks = 0
    time = 0.0
    for part in parts:
        for block in _cut(part, profile.text_bytes // choice.divisor):
            region = encode_region(block, choice.encoding, choice.level, profile, encoder)
            if region is None:  # as the writer does
                region, encoding = encode_region(block, PLAIN, 0, profile), PLAIN
            else:
                encoding = choice.encoding
            assert region is not None
            size += len(region) + _BLOCK
            time += decoding_time(block, encoding, region) * block.count
            slots, raw, blocks = slots + block.count, raw + len(block.content), blocks + 1
    time = time / slots + reach_time(choice, raw / blocks, profile)
    return replace(choice, bytes_per_slot=size / slots, cost=size / slots + own + profile.price * time)


_BLOCK: Final = 16  # bytes of a block besides its values, and of its entry in the block map


def _cut(block: BytesBlock, size: int) -> Iterator[BytesBlock]:
    """The block in parts of about `size` bytes. A short rest belongs to the last of them."""
    rows = max(1, round(size * block.count / max(1, len(block.content))))
    starts = range(0, max(1, block.count - rows // 2), rows)
    for start in starts:
        yield block.part(start, block.count if start == starts[-1] else start + rows)
