"""Do the kernels of the term index keep their word at the border?"""

from __future__ import annotations

from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai import _kernels
from amudai.encoding import compress_small_numbers, open_numbers
from amudai.errors import CorruptedData
from amudai.index.term.page_layout import PageLayout
from amudai.index.term.sections import block as checked_block
from amudai.index.term.sections import packed_program, packed_steps_program
from amudai.rows import Rows
from tests.effort import examples
from tests.encoding.runs import Block, buffer_of
from tests.index.term.runs import terms_of_run
from tests.oracle import block, presence
from tests.oracle import text as oracle
from tests.oracle.numeric import plain

pytestmark = pytest.mark.native


def terms_of(terms: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, terms)], dtype=np.int64)
    return offsets, np.frombuffer(b"".join(terms) or b"\0", np.uint8)[: int(offsets[-1])]


def u8(*values: int) -> np.ndarray:
    return np.array(values, np.uint64)


def row_ranges(integers: np.ndarray, counts: np.ndarray, pairs: np.ndarray, rows: int) -> tuple[list[int], list[int]]:
    starts, ends = (np.full(len(integers) + 1, 7, np.uint64) for _ in range(2))
    count = _kernels.row_ranges(integers, counts, pairs, rows, starts, ends)
    return starts[:count].tolist(), ends[:count].tolist()


def in_blocks(rows: np.ndarray, size: int, before: int) -> tuple[_kernels.Blocks, int, int]:
    """A list of rows in blocks of this size, with some numbers of another list before it."""
    numbers = np.concatenate((np.full(before, 1 << 50, np.uint64), rows))
    parts = [numbers[at : at + size] for at in range(0, len(numbers), size)]
    stored = [Block(block.build(b"", plain.encode(part.tolist(), "u8")), len(part)) for part in parts]
    found = open_numbers(buffer_of(stored), before, len(numbers), "u8")
    assert found is not None
    return (*found, len(rows))


def common_rows(
    lists: list[tuple[_kernels.Blocks, int, int]], rows: int, among: Rows | None = None
) -> tuple[list[int], list[int]]:
    starts, ends = (np.full(min(count for _, _, count in lists) + 1, 7, np.uint64) for _ in range(2))
    count = _kernels.common_rows(lists, rows, *((u8(), u8()) if among is None else among.arrays), starts, ends)
    return starts[:count].tolist(), ends[:count].tolist()


@given(
    st.integers(0, 1 << 32),
    st.lists(
        st.tuples(st.integers(1, 20) | st.integers(1, 3000), st.sampled_from([1, 2, 3, 40, 2000, 300_000])),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([None, 1, 5, 600, 1 << 20]),
)
@examples(150)
def test_rows_that_all_lists_have(seed: int, shapes: list[tuple[int, int]], size: int | None) -> None:
    """Dense and sparse lists, windows with and without rows, blocks that end anywhere."""
    rng = np.random.default_rng(seed)
    lists = [np.cumsum(rng.integers(1, gap + 1, count)).astype(np.uint64) for count, gap in shapes]
    # Some rows of one are in all of them: otherwise few lists have anything in common.
    shared = rng.choice(lists[0], len(lists[0]) // 3, replace=False)
    lists = [np.union1d(each, shared) for each in lists]
    expected = reduce(np.intersect1d, lists)
    among = None
    if size is not None:
        edges = np.cumsum(rng.integers(1, size + 1, 200)).astype(np.uint64)
        among = Rows(edges[::2], edges[1::2])
        expected = np.intersect1d(expected, expected[np.searchsorted(edges, expected, "right") % 2 == 1])
    stored = [in_blocks(each, int(rng.integers(1, 700)), int(rng.integers(0, 900))) for each in lists]
    most = int(max(each[-1] for each in lists)) + 1
    every = Rows.of_positions(expected)
    assert common_rows(stored, most, among) == (every.starts.tolist(), every.ends.tolist())


@pytest.mark.slow
def test_a_few_rows_are_looked_for_in_many_blocks() -> None:
    many = np.arange(0, 60_000, 3, dtype=np.uint64)
    few = u8(0, 1, 2, 3, 29_997, 29_998, 45_000, 59_997, 59_998)
    for size in (1, 7, 1024, 50_000):
        stored = in_blocks(many, size, 5)
        expected = [row for row in few.tolist() if row % 3 == 0]
        assert common_rows([in_blocks(few, 4, 0), stored], 60_000)[0] == expected
        among = Rows(u8(2, 45_000), u8(30_000, 45_001))
        assert common_rows([stored, in_blocks(few, 4, 0), stored], 60_000, among)[0] == [3, 29_997, 45_000]
    # Blocks are passed by where the next one begins, which must be behind what was before.
    wrong = np.concatenate((many[:1000], many[:1000], many[1000:]))
    with pytest.raises(CorruptedData, match="ascending"):
        common_rows([in_blocks(u8(5, 59_997), 2, 0), in_blocks(wrong, 100, 0)], 60_000)


def test_lists_in_blocks_that_cannot_be_are_refused() -> None:
    good = in_blocks(u8(1, 2, 9), 2, 0)
    for rows, message in [
        ([5, 10], "less than 10, found 10"),
        ([5, 4], "ascending"),
        ([3, 5, 5], "ascending"),
        ([3, 5, 4], "ascending"),
        ([2**64 - 1], "less than 10"),
    ]:
        for size in (1, 2, 3):
            with pytest.raises(CorruptedData, match=message):
                common_rows([in_blocks(u8(*rows), size, 0)], 10)
            with pytest.raises(CorruptedData, match=message):
                common_rows([in_blocks(u8(1, 2, 3, 4, 5, 6, 7, 8, 9), 4, 1), in_blocks(u8(*rows), size, 1)], 10)
    with pytest.raises(ValueError, match="lists"):
        common_rows([(good[0], 0, 4)], 10)
    with pytest.raises(ValueError, match="lists"):
        common_rows([(good[0], 2, 1)], 10)
    with pytest.raises(ValueError, match="too short"):
        _kernels.common_rows([good], 10, u8(), u8(), u8(0, 0, 0), u8(0, 0, 0, 0))
    with pytest.raises(ValueError, match="ascending ranges"):
        common_rows([good], 10, Rows(u8(5, 1), u8(6, 2)))
    with pytest.raises(TypeError, match="None"):
        common_rows([(None, 0, 1)], 10)  # type: ignore[list-item]
    with pytest.raises(ValueError, match="some"):
        _kernels.common_rows([], 10, u8(), u8(), u8(0), u8(0))


def test_the_last_row_that_there_can_be() -> None:
    last = 2**64 - 2
    lists = [in_blocks(u8(3, last), 1, 0), in_blocks(u8(4, last), 2, 0)]
    assert common_rows(lists, 2**64 - 1) == ([last], [last + 1])
    assert common_rows(lists, 2**64 - 1, Rows(u8(2), u8(2**64 - 1))) == ([last], [last + 1])


def test_a_damaged_list_says_which_block() -> None:
    stored = [Block(block.build(b"", plain.encode([at], "u8")), 1) for at in range(3)]
    null = [*stored[:2], Block(block.build(presence.encode([False]), plain.encode([2], "u8")), 1)]
    found = open_numbers(buffer_of(null), 0, 3, "u8")
    assert found is not None
    with pytest.raises(CorruptedData, match="expected no nulls") as caught:
        common_rows([(*found, 3)], 10)
    assert caught.value.place["block"] == 2


@given(st.lists(st.lists(st.tuples(st.integers(0, 300), st.integers(1, 40)), max_size=8), min_size=1, max_size=6))
@examples(200)
def test_lists_are_united(lists: list[list[tuple[int, int]]]) -> None:
    """As ranges or as rows, through a bitmap or a sort: the rows are the same."""
    for rows in (400, 400_000):
        expected, integers, counts, pairs = set(), [], [], []
        for number, ranges in enumerate(lists):
            covered = sorted({row for start, size in ranges for row in range(start, start + size)})
            expected.update(covered)
            as_pairs = number % 2
            mine = covered
            if as_pairs:
                starts = [row for row in covered if row - 1 not in covered]
                ends = [row + 1 for row in covered if row + 1 not in covered]
                mine = [edge for pair in zip(starts, ends, strict=True) for edge in pair]
            integers += mine
            counts.append(len(mine))
            pairs.append(as_pairs)
        starts, ends = row_ranges(u8(*integers), u8(*counts), np.array(pairs, np.uint8), rows)
        found = [row for start, end in zip(starts, ends, strict=True) for row in range(start, end)]
        assert found == sorted(expected)
        assert all(start > end for start, end in zip(starts[1:], ends[:-1], strict=True))


def test_lists_that_cannot_be_are_refused() -> None:
    no, yes = np.zeros(1, np.uint8), np.ones(1, np.uint8)
    for integers, pairs, message in [
        (u8(5, 10), no, "less than 10, found 10"),
        (u8(5, 4), no, "ascending"),
        (u8(5, 5), no, "ascending"),
        (u8(4, 11), yes, "less than 10, found 10"),
        (u8(4, 4), yes, "range"),
        (u8(1, 5, 3, 7), yes, "ascending"),
        (u8(2**64 - 1), no, "less than 10"),
    ]:
        with pytest.raises(CorruptedData, match=message):
            row_ranges(integers, u8(len(integers)), pairs, 10)
    # A number without a partner means nothing.
    assert row_ranges(u8(1, 3, 9), u8(3), yes, 10) == ([1], [3])
    with pytest.raises(ValueError, match="counts"):
        row_ranges(u8(1), u8(2), no, 10)
    with pytest.raises(ValueError, match="pairs"):
        row_ranges(u8(1), u8(1), np.zeros(2, np.uint8), 10)


def test_terms_of_any_bytes_are_compared_within_their_bounds() -> None:
    """Terms come from files: a term that is not valid UTF-8 matches no valid text, and is never read past its end."""
    terms = [b"", b"a", b"a\xe4", b"\x80", b"\xc3", b"\xf0\x9f", b"\xff\xff", b"z"]
    offsets, data = terms_of(terms)
    for match in ("equal", "prefix", "suffix", "within"):
        for folded in (False, True):
            yes, maybe = _kernels.match_terms(offsets, data, 0, len(terms), b"a", match, folded, True)
            assert set(yes.tolist()) <= {1, 2}
            assert not len(maybe)
    for text in (b"a", b"\xc3\xa9", b"\xff", b"\xe4"):
        low, high = _kernels.term_range(offsets, data, text, True)
        assert 0 <= low <= high <= len(terms)


def test_offsets_outside_of_the_data_are_refused() -> None:
    data = np.zeros(3, np.uint8)
    for offsets in ([0, 4], [2, 1], [-1, 2], []):
        with pytest.raises(ValueError, match=r"offsets|data"):
            _kernels.term_range(np.array(offsets, np.int64), data, b"a", False)
    with pytest.raises(ValueError, match="text"):
        _kernels.match_terms(np.array([0, 1], np.int64), data, 0, 1, b"", "within", True, False)
    with pytest.raises(ValueError, match="low"):
        _kernels.match_terms(np.array([0, 1], np.int64), data, 0, 2, b"a", "equal", True, False)


def test_terms_sort_as_the_collation_says() -> None:
    """The example of the format, through a run and its merge."""
    expected = ["10", "9", "aBc", "abc", "Abd", "app", "APPLE", "Apple", "apple", "eb", "Ia", "ia", "\u0131a", "K", "k"]
    expected += ["STRASSE", "STRA\u1e9eE", "stra\u00dfe", "Sun", "sun", "\u017fun", "Zeta", "zeta", "[k", "_x"]
    expected += ["\u00c9a", "\u00e9a", "\u0130a", "\u00b5", "\u03bc", "\u212a"]
    run = _kernels.TermRun("trivial")
    values = [term.encode() for term in sorted(expected)]
    offsets, data = terms_of(values)
    assert run.add(offsets, data, None, 0, None, None, 0, 0, 1 << 30) == len(values)
    assert run.terms == len(values)
    assert [term.decode() for term in terms_of_run(run.finish())] == expected
    assert run.terms == 0


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=12), max_size=30), st.text(min_size=1, max_size=3))
@examples(200)
def test_terms_match_as_the_model_says(texts: list[str], text: str) -> None:
    if any(0xD800 <= ord(char) <= 0xDFFF for char in text):
        return
    offsets, data = terms_of([each.encode() for each in texts])
    for match in ("equal", "prefix", "suffix", "within"):
        for folded in (False, True):
            yes, maybe = _kernels.match_terms(offsets, data, 0, len(texts), text.encode(), match, folded, False)
            expected = [i for i, each in enumerate(texts) if oracle.matches(each, text, match, not folded)]
            assert yes.tolist() == expected
            assert not len(maybe)


def test_rows_of_a_run_are_limited() -> None:
    run = _kernels.TermRun("unicode-word")
    offsets, data = terms_of([b"a", b"b"])
    with pytest.raises(ValueError, match="rows"):
        run.add(offsets, data, None, 0, None, None, 2**32 - 2, 0, 1 << 20)
    with pytest.raises(ValueError, match="codes"):
        run.add(offsets, data, None, 0, np.array([2], np.uint32), None, 0, 0, 1 << 20)
    with pytest.raises(ValueError, match="validity"):
        run.add(offsets, data, np.zeros(0, np.uint8), 0, None, None, 0, 0, 1 << 20)
    with pytest.raises(ValueError, match="tokenizer"):
        _kernels.TermRun("ngram")


@pytest.mark.parametrize("run", [b"\x05ab", b"\x01a", b"\x01a\xff", b"\x01a\x02\x02\x01\x00"])
def test_a_run_that_ends_too_early_is_refused(run: bytes) -> None:
    with pytest.raises(ValueError, match="run"):
        _kernels.TermMerge([run], np.zeros(1, np.uint16), np.zeros(1, np.uint32), u8(0)).next(10, 10)


@pytest.mark.parametrize(("gap", "bits"), [(3, 3.5), (12, 5.5), (50, 7.8)])
def test_small_steps_compress_well(gap: int, bits: float) -> None:
    """The form that dense lists get depends on the match finder: a change of Zstandard would show here."""
    steps = np.random.default_rng(1).geometric(1 / gap, 16_384).astype(np.uint64)
    assert len(compress_small_numbers(steps.data)) * 8 / len(steps) < bits


@pytest.mark.parametrize("leaves", [1, 2, 3, 4, 9, 10, 27, 28, 100])
def test_the_layout_says_where_pages_are(leaves: int) -> None:
    layout = PageLayout(leaves, 3, True, True)
    below, first, record = leaves, 0, leaves
    levels, level = [0] * leaves, 0
    while True:
        pages = -(-below // 3)
        level += 1
        for page in range(pages):
            levels.append(level)
            for entry in range(min(3, below - 3 * page)):
                assert layout.child(record, entry) == first + 3 * page + entry
            record += 1
        first, below = first + below, pages
        if pages == 1:
            break
    assert layout.levels.tolist() == [layout.level(record) for record in range(len(levels))] == levels
    stated = {name: value.value for name, value in layout.properties}
    assert PageLayout.of(stated, len(levels)) == layout
    assert PageLayout.of(stated, len(levels) + 1) is None
    assert PageLayout.of(stated | {"only_rows": 1}, len(levels)) is None


def blocks_of(values: np.ndarray, program: bytes, each: int) -> tuple[np.ndarray, np.ndarray]:
    data, sizes = _kernels.encode_numbers(values, None, 0, program, each, None, True)
    return np.frombuffer(data, np.uint8), sizes.astype(np.uint64)


def numbers_in(data: np.ndarray, sizes: np.ndarray, counts: list[int]) -> list[int]:
    borders = np.concatenate(([0], np.cumsum(sizes))).astype(int).tolist()
    pieces = [bytes(data[start:end]) for start, end in pairwise(borders)]
    opened = open_numbers(buffer_of([Block(*each) for each in zip(pieces, counts, strict=True)]), 0, sum(counts), "u8")
    assert opened is not None
    found = np.zeros(sum(counts), np.uint64)
    _kernels.decode_stretch(*opened, found, None)
    return found.tolist()


@given(st.lists(st.integers(1, 1 << 30), min_size=8, max_size=200), st.integers(1, 9), st.data())
def test_blocks_of_differences_are_shifted(steps: list[int], each: int, data: st.DataObject) -> None:
    values = np.cumsum(np.array(steps, np.uint64), dtype=np.uint64)
    stored, sizes = blocks_of(values, packed_steps_program, each)
    counts = [min(each, len(values) - at) for at in range(0, len(values), each)]
    shifts = np.array(data.draw(st.lists(st.integers(0, 1 << 40), min_size=len(sizes), max_size=len(sizes))), np.uint64)
    shifted, moved = _kernels.shift_blocks(stored, sizes, shifts, np.arange(len(sizes), dtype=np.uint64), True)
    # A block of one number holds no differences, and stays as it is.
    expected = values + np.repeat(np.where(moved.astype(bool), shifts, np.uint64(0)), counts)
    assert all(moved[np.array(counts) > 2])
    assert numbers_in(shifted, sizes, counts) == expected.tolist()


def test_blocks_that_cannot_be_shifted_stay_as_they_are() -> None:
    values = u8(3, 9, 20, 21)
    one = np.zeros(1, np.uint64)
    most = u8((1 << 64) - 3)
    with_null = block.build(bytes([2, 1, 0, 1, 1]), b"\x05\0" + bytes(20), True)
    for data, sizes, shift in (
        (*blocks_of(values, packed_program, 4), u8(5)),
        (*blocks_of(values, packed_steps_program, 4), most),
        (np.frombuffer(with_null, np.uint8), u8(len(with_null)), u8(5)),
        (np.frombuffer(short := checked_block(b"\x05\0"), np.uint8), u8(len(short)), u8(5)),
    ):
        shifted, moved = _kernels.shift_blocks(data, sizes, shift, one, True)
        assert moved.tolist() == [0]
        assert shifted.tobytes() == data.tobytes()


def test_damaged_blocks_are_not_shifted() -> None:
    data, sizes = blocks_of(np.arange(3, 40, 2, dtype=np.uint64), packed_steps_program, 10)
    shifts, ordinals = u8(5, 5), u8(7, 8)
    damaged = data.copy()
    damaged[int(sizes[0]) + 12] ^= 1
    with pytest.raises(CorruptedData, match="block checksum") as caught:
        _kernels.shift_blocks(damaged, sizes, shifts, ordinals, True)
    assert "block 8" in str(caught.value)
    for wrong in (sizes[:1], sizes + np.uint64(1), u8(1 << 63, 1 << 63)):
        with pytest.raises(ValueError, match="size"):
            _kernels.shift_blocks(data, wrong, shifts[: len(wrong)], ordinals[: len(wrong)], True)
    with pytest.raises(ValueError, match="one for each block"):
        _kernels.shift_blocks(data, sizes, shifts[:1], ordinals, True)
    tiny = np.zeros(5, np.uint8)
    with pytest.raises(CorruptedData, match="block bytes"):
        _kernels.shift_blocks(tiny, u8(5), u8(1), u8(0), True)
