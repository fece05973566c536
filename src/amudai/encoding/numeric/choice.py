"""The choice of an encoding for numbers.

The statistics of a flush leave a handful of candidates. Each encodes one whole block, so sizes are exact, and the
cheapest by the profile's price is chosen. The plan is kept for the next flush, until blocks are larger than planned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy.typing as npt

from amudai import _kernels
from amudai.encoding.codec import encode_blocks
from amudai.encoding.numeric.alp import ALP
from amudai.encoding.numeric.alprd import ALPRD
from amudai.encoding.numeric.block_dictionary import BLOCK_DICTIONARY
from amudai.encoding.numeric.chimp import CHIMP
from amudai.encoding.numeric.contract import NumericEncoding
from amudai.encoding.numeric.delta import DELTA
from amudai.encoding.numeric.ffor import FFOR
from amudai.encoding.numeric.fl_bit_pack import FL_BIT_PACK
from amudai.encoding.numeric.lz4 import LZ4
from amudai.encoding.numeric.patched import PATCHED
from amudai.encoding.numeric.pco import PCO
from amudai.encoding.numeric.plain import PLAIN
from amudai.encoding.numeric.run_length import RUN_LENGTH
from amudai.encoding.numeric.single_value import SINGLE_VALUE
from amudai.encoding.numeric.snappy import SNAPPY
from amudai.encoding.numeric.truncate import TRUNCATE_U8, TRUNCATE_U16, TRUNCATE_U32, TRUNCATE_U64
from amudai.encoding.numeric.zstd import ZSTD
from amudai.encoding.pco_codec import has_pco
from amudai.encoding.plan import EncodingPlan
from amudai.encoding.profile import Profile

__all__ = ["NumberChoice", "NumberFacts", "choose"]

Numbers = npt.NDArray[Any]

# Plans are constants, so that their price and their program are computed once.
_PLAIN: Final = EncodingPlan(PLAIN)
_SINGLE: Final = EncodingPlan(SINGLE_VALUE)
_FFOR: Final = EncodingPlan(FFOR)
_PACKED: Final = EncodingPlan(FL_BIT_PACK)
_ZSTD: Final = EncodingPlan(ZSTD)
_STEPS: Final = EncodingPlan(BLOCK_DICTIONARY, (_FFOR, None))
_FEW: Final = EncodingPlan(BLOCK_DICTIONARY, (_FFOR, EncodingPlan(DELTA, (_STEPS,))))
_RUNS: Final = EncodingPlan(RUN_LENGTH, (None, None))
_FLOAT_RUNS: Final = (_RUNS, EncodingPlan(RUN_LENGTH, (None, _FFOR)))
_INTEGER_RUNS: Final = (
    *_FLOAT_RUNS,
    EncodingPlan(RUN_LENGTH, (_FFOR, _FFOR)),
    EncodingPlan(RUN_LENGTH, (EncodingPlan(DELTA, (_FFOR,)), None)),
)
_DELTA: Final = EncodingPlan(DELTA, (_FFOR,))
_DELTA_RUNS: Final = EncodingPlan(DELTA, (_RUNS,))
_DELTA_STEPS: Final = EncodingPlan(DELTA, (_STEPS,))
_SEARCH: Final = bytes([255, 255, 0])
_SEARCH_OUTLIERS: Final = bytes([255, 255, 1])
_ALP: Final = EncodingPlan(ALP, (_FFOR,), _SEARCH)
_ALP_OUTLIERS: Final = EncodingPlan(ALP, (_FFOR,), _SEARCH_OUTLIERS)
_ALPRD: Final = EncodingPlan(ALPRD, (_PACKED, _PACKED))
_ALP_ZSTD: Final = {
    "f8": EncodingPlan(ALP, (EncodingPlan(TRUNCATE_U64, (_ZSTD,)),), _SEARCH),
    "f4": EncodingPlan(ALP, (EncodingPlan(TRUNCATE_U32, (_ZSTD,)),), _SEARCH),
}
_DELTA_ZSTD: Final = EncodingPlan(DELTA, (_ZSTD,))
_BYTES_LZ4: Final = EncodingPlan(TRUNCATE_U8, (EncodingPlan(LZ4),))
_PATCHED: Final = EncodingPlan(PATCHED)
_SNAPPY: Final = EncodingPlan(SNAPPY)
_DELTA_PATCHED: Final = EncodingPlan(DELTA, (_PATCHED,))
_CHIMP: Final = EncodingPlan(CHIMP)
_PCO: Final = EncodingPlan(PCO)
_ALP_PCO: Final = EncodingPlan(ALP, (_PCO,), _SEARCH)
_ENTROPY: Final = (_PCO, _ALP_PCO)
_TRUNCATES: Final = ((7, TRUNCATE_U8), (15, TRUNCATE_U16), (31, TRUNCATE_U32), (63, TRUNCATE_U64))

# For each Truncate: packed, raw, compressed, and compressed steps.
_NARROW: Final = {
    encoding: (
        EncodingPlan(encoding, (_PACKED,)),
        EncodingPlan(encoding, (None,)),
        EncodingPlan(encoding, (_ZSTD,)),
        EncodingPlan(DELTA, (EncodingPlan(encoding, (_ZSTD,)),)),
    )
    for _, encoding in _TRUNCATES
}

# The types of the values inside, if they are not those of the encoding itself: narrower numbers, codes.
_INSIDE: Final = {
    TRUNCATE_U8: "u1",
    TRUNCATE_U16: "u2",
    TRUNCATE_U32: "u4",
    TRUNCATE_U64: "u8",
    BLOCK_DICTIONARY: "u4",
}

# Only LZ4's slow search finds the repetitions of bytes with few distinct values. Higher levels are slower, not smaller.
_BYTES_LEVEL: Final = 5
# If speed counts, this few values are not worth the search. Tables with many thousand columns mostly have few values.
_FEW_VALUES: Final = 4096
_FEW_DISTINCT: Final = 4096  # distinct values for which a dictionary is tried
_CHIMP_PRICE: Final = 2.2  # nanoseconds for a byte of Chimp
_FRAME_PRICE: Final = 16.0  # nanoseconds for a byte of a Zstandard frame, at most
# Runs of this length are offered in the largest blocks: to find a value, the runs of its block are counted.
_LONG_RUN: Final = 64
_MOST_VALUES: Final = 65_536
_DEAR: Final = 0.2
_HOPELESS: Final = 1.5  # a plan larger than the best by this factor is not tried at the slower levels
# A plan with a general compressor must be smaller than one without by this factor. The time that Zstandard takes
# varies with the data; that of Pco does not, and its price says all.
_CODEC_GAIN: Final = 0.97


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberFacts:
    """Statistics of the values from one pass over them. Null slots count with the values that fill them."""

    count: int
    min: int | float | None
    max: int | float | None
    delta_min: int | None
    delta_max: int | None
    runs: int
    distinct: int
    gcd: int


@dataclass(frozen=True, slots=True)
class NumberChoice:
    """A plan, the number of values in a block, and the expected bytes of a value."""

    plan: EncodingPlan
    block_values: int
    level: int
    bytes_per_value: float


def choose(
    values: Numbers,
    dtype: str,
    facts: NumberFacts,
    profile: Profile,
    before: NumberChoice | None = None,
    at: int = 0,
) -> NumberChoice:
    """The cheapest plan for values like these, by the block that begins at value `at`, or earlier if it is larger."""
    if profile.plain:
        return NumberChoice(_PLAIN, profile.block_values, 0, float(dtype[1]))
    if facts.runs <= 1:
        return NumberChoice(_SINGLE, profile.block_values, 0, 0.0)
    best: NumberChoice | None = None
    least = float("inf")
    tried: dict[int, float] = {}  # bytes of a value at the first level, by the identity of the plan
    candidates = list(_candidates(dtype, facts, profile))
    if before is not None:
        candidates.insert(0, (before.plan, before.block_values, before.level))
    known = _small_sizes(values, candidates) if len(values) < _FEW_VALUES else [None] * len(candidates)
    for (plan, block_values, level), encoded in zip(candidates, known, strict=True):
        if encoded is None and profile.price * _price(plan, dtype, True) >= least:
            continue  # too expensive at any size
        if best is not None and tried.get(id(plan), 0.0) > _HOPELESS * best.bytes_per_value:
            continue  # a slower level does not make up for that
        count = min(len(values), block_values)
        if encoded is None:
            first = min(at, len(values) - count)
            encoded = len(encode_blocks(values[first : first + count], None, 0, plan, block_values, level)[0])
        size = encoded / count
        tried.setdefault(id(plan), size)
        cost = size + profile.price * _decoding(plan, dtype, facts, size)
        has_codec = plan.codecs and plan not in _ENTROPY
        if has_codec and best is not None and not best.plan.codecs and size > best.bytes_per_value * _CODEC_GAIN:
            continue
        if cost < least:
            best, least = NumberChoice(plan, block_values, level, size), cost
    assert best is not None  # plain is always a candidate
    return best


def _small_sizes(values: Numbers, candidates: list[tuple[EncodingPlan, int, int]]) -> list[int | None]:
    """The bytes of a block by each plan; None for plans with codecs.

    For few values, a call for each plan would take longer than encoding.
    """
    light = [each for each in candidates if not each[0].codecs]
    programs, counts = [plan.program for plan, _, _ in light], [block_values for _, block_values, _ in light]
    sizes = iter(_kernels.encoded_sizes(values, programs, counts))
    return [None if plan.codecs else next(sizes) for plan, _, _ in candidates]


def _candidates(dtype: str, facts: NumberFacts, profile: Profile) -> Iterator[tuple[EncodingPlan, int, int]]:
    """Plans worth trying, light ones first."""
    values = profile.block_values
    short = min(values, 4096)
    light = _float_plans(profile) if dtype[0] == "f" else _integer_plans(dtype, facts, profile)
    yield _PLAIN, values, 0
    if facts.runs * 4 <= facts.count:
        runs = (_RUNS,) if not profile.cascades else _FLOAT_RUNS if dtype[0] == "f" else _INTEGER_RUNS
        for plan in runs:
            yield plan, short, 0
        if facts.runs * _LONG_RUN <= facts.count:
            for plan in runs:
                yield plan, _MOST_VALUES, 0
    if profile.cascades and facts.distinct <= min(_FEW_DISTINCT, facts.count // 2):
        yield _STEPS, values, 0
        if dtype[0] != "f":
            yield _FEW, 2 * values, 0
            yield _FEW, 4 * values, 0
    for plan in light:
        yield plan, short if plan.encoding is DELTA else values, 0
    if profile.extended:
        yield from _extended_plans(dtype, facts, profile)
    if not profile.cascades:
        return
    if dtype[0] != "f" and facts.gcd > 16 and facts.distinct > _FEW_DISTINCT:
        yield _FEW, 2 * values, 0
        yield _FEW, 4 * values, 0
    if profile.lz4_level and _narrowed(dtype, facts) is TRUNCATE_U8:
        yield _BYTES_LZ4, profile.codec_values, _BYTES_LEVEL
    if facts.count < _FEW_VALUES and profile.price >= _DEAR:
        return
    for level in profile.zstd_levels:
        for plan in _codec_plans(dtype, facts):
            yield plan, profile.codec_values, level


def _integer_plans(dtype: str, facts: NumberFacts, profile: Profile) -> Iterator[EncodingPlan]:
    low, high = _bounds(facts)
    narrow = _narrowed(dtype, facts)
    yield _FFOR
    if narrow is not None:
        if low >= 0:
            yield _NARROW[narrow][0]
        yield _NARROW[narrow][1]
    elif dtype[0] == "u":
        yield _PACKED
    span = high - low
    if facts.delta_min is not None and facts.delta_max is not None:
        steps = facts.delta_max - facts.delta_min
        if steps * 2 < span or steps < 256:
            yield _DELTA
            if profile.cascades:
                yield _DELTA_RUNS
        # One jump makes the steps of a flush as large as its values. Few distinct values have few distinct steps.
        if profile.cascades and (facts.delta_min >= 0 or steps * 2 < span or facts.distinct <= _FEW_DISTINCT):
            yield _DELTA_STEPS


def _float_plans(profile: Profile) -> Iterator[EncodingPlan]:
    yield _ALP
    if profile.cascades:
        yield _ALP_OUTLIERS
    yield _ALPRD


def _extended_plans(dtype: str, facts: NumberFacts, profile: Profile) -> Iterator[tuple[EncodingPlan, int, int]]:
    """Plans that only this library reads."""
    values = profile.block_values
    if dtype[0] == "f":
        yield _CHIMP, min(values, 4096), 0
    else:
        yield _PATCHED, values, 0
        if facts.delta_min is not None:
            yield _DELTA_PATCHED, min(values, 4096), 0
    if not profile.zstd_levels:
        yield _SNAPPY, profile.codec_values, 0
    if profile.cascades and dtype in PCO.accepts and has_pco():
        yield _PCO, profile.codec_values, 0
        if dtype[0] == "f":
            yield _ALP_PCO, profile.codec_values, 0


def _codec_plans(dtype: str, facts: NumberFacts) -> Iterator[EncodingPlan]:
    yield _ZSTD
    if dtype[0] == "f":
        yield _ALP_ZSTD[dtype]
        return
    narrow = _narrowed(dtype, facts)
    if narrow is not None:
        yield _NARROW[narrow][2]
    yield _DELTA_ZSTD
    if facts.delta_min is not None and facts.delta_max is not None and dtype[0] == "i":
        for bits, encoding in _TRUNCATES:
            if -(1 << bits) <= facts.delta_min and facts.delta_max < 1 << bits and dtype in encoding.accepts:
                yield _NARROW[encoding][3]
                break


def _narrowed(dtype: str, facts: NumberFacts) -> NumericEncoding | None:
    """The narrowest Truncate that holds all values; None if there is none."""
    if dtype[0] != "i" or dtype == "i1":
        return None
    low, high = _bounds(facts)
    for bits, encoding in _TRUNCATES:
        if bits + 1 == 8 * int(dtype[1]):
            return None  # as wide as the values themselves
        if -(1 << bits) <= low and high < 1 << bits and dtype in encoding.accepts:
            return encoding
    return None


def _bounds(facts: NumberFacts) -> tuple[int, int]:
    return int(facts.min or 0), int(facts.max or 0)


def _decoding(plan: EncodingPlan, dtype: str, facts: NumberFacts, size: float) -> float:
    """Nanoseconds to decode a value that takes `size` bytes."""
    price = _price(plan, dtype)
    if plan is _CHIMP:
        return price + _CHIMP_PRICE * size
    if plan.codecs:
        return min(price, _price(plan, dtype, True) + _FRAME_PRICE * size)
    if plan is _FEW and facts.distinct > _FEW_DISTINCT:
        return price + _price(_DELTA_STEPS, dtype) / 2  # perhaps an entry for every other value
    return price


def _price(plan: EncodingPlan, dtype: str, is_tight: bool = False) -> float:
    """Nanoseconds to decode a value: measured once, so that files do not depend on the user's machine.

    If `is_tight`, Zstandard has hardly anything to decompress: it copies a few long repetitions.
    """
    found = plan.prices.get((dtype, is_tight))
    if found is None:
        found = plan.prices[dtype, is_tight] = _computed_price(plan, dtype, is_tight)
    return found


def _computed_price(plan: EncodingPlan, dtype: str, is_tight: bool) -> float:
    width = float(dtype[1])
    inside = _INSIDE.get(plan.encoding, dtype)
    inner = [0.0 if part is None else _price(part, inside, is_tight) for part in plan.parts]
    match plan.encoding:
        case e if e in (FFOR, FL_BIT_PACK):
            return 0.09 * width
        case e if e is PLAIN or e is SINGLE_VALUE:
            return 0.07 * width
        case e if e is RUN_LENGTH:
            return 0.3
        case e if e is DELTA or e is BLOCK_DICTIONARY:
            return 0.4 + inner[0]
        case e if e is ALP:
            return 0.1 + inner[0]
        case e if e is ALPRD:
            return 0.9
        case e if e is ZSTD:
            return 0.3 * width if is_tight else 0.5 + 0.8 * width
        case e if e is LZ4:
            return 0.27 * width
        case e if e is PATCHED:
            return 0.09 * width + 0.1
        case e if e is CHIMP:
            return 1.2
        case e if e is SNAPPY:
            return 0.5 * width
        case e if e is PCO:
            return 5.0 if dtype[0] == "f" else 3.6
    return 0.05 * width + sum(inner)
