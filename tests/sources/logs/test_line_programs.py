"""Templates and the native matcher, against Python's own regular expressions and times."""

from __future__ import annotations

import datetime
import re
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amudai import AmudaiError, _kernels
from amudai.sources.logs.block import LineMatches, block_of, matches_in
from amudai.sources.logs.program import Program, compiled
from amudai.sources.records import Lines
from tests.effort import examples

pytestmark = pytest.mark.native


class Both(NamedTuple):
    """A part of a template, and the regular expression that means the same."""

    template: str
    regex: str


ATOMS = [
    Both("a", "a"),
    Both("ab", "ab"),
    Both(r"\[", r"\["),
    Both(" ", " "),
    Both("[ab]*", "[ab]*+"),
    Both("[^a]+", "[^a]++"),
    Both(r"\d{1,2}", r"\d{1,2}+"),
    Both(r"\S+", r"[^ \t\v\f\r]++"),
    Both("b?", "b?+"),
    Both(".*?ab", "(?>(?s:.*?)ab)"),
    Both(".*?1", "(?>(?s:.*?)1)"),
    Both('%q"', r'(?>(?:[^"\\]|\\(?s:.)|\\$)*+")'),
    Both(".*", "(?s:.*+)"),
]


def _joined(parts: list[Both]) -> Both:
    return Both("".join(part.template for part in parts), "".join(part.regex for part in parts))


def _alternatives(parts: list[Both]) -> Both:
    return Both(f"({'|'.join(part.template for part in parts)})", f"(?>{'|'.join(part.regex for part in parts)})")


def _optional(part: Both) -> Both:
    return Both(f"({part.template})?", f"(?>{part.regex})?+")


def _named(part: Both) -> Both:
    return Both("{?=" + part.template + "}", f"(?P<?>{part.regex})")


parts = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map(_joined),
        st.lists(inner, min_size=2, max_size=3).map(_alternatives),
        inner.map(_optional),
        inner.map(_named),
    ),
    max_leaves=10,
)
lines = st.lists(st.text('ab1 ["\\', max_size=12), min_size=1, max_size=20)


def numbered(part: Both) -> Both:
    """Give each field a name of its own."""

    def names(text: str, mark: str) -> str:
        pieces = text.split(mark)
        return "".join(
            piece + (mark.replace("?=", f"f{i}=").replace("<?>", f"<f{i}>") if i + 1 < len(pieces) else "")
            for i, piece in enumerate(pieces)
        )

    return Both(names(part.template, "{?="), names(part.regex, "(?P<?>"))


def matched(texts: list[bytes], program: Program, per_second: int = 1_000_000) -> tuple[np.ndarray, LineMatches]:
    data = np.frombuffer(b"".join(texts), np.uint8)
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    starts = np.append(0, ends[:-1]).astype(np.int64)
    return data, matches_in(data, starts, ends, program, per_second)


@examples(300)
@given(part=parts, texts=lines)
def test_templates_mean_what_regular_expressions_mean(part: Both, texts: list[str]) -> None:
    template, regex = numbered(part)
    program = compiled(template)
    expression = re.compile(regex.encode(), re.ASCII)
    data, found = matched([text.encode() for text in texts], program)
    for line, text in enumerate(texts):
        expected = expression.match(text.encode())
        assert bool(found.matched[line]) == (expected is not None), (template, text)
        for number, field in enumerate(program.fields):
            to = int(found.to[number, line])
            value = None if to < 0 else data[found.from_[number, line] : to].tobytes()
            assert value == (None if expected is None else expected[field.name]), (template, text, field)


@settings(deadline=None)
@given(part=parts, texts=lines)
def test_a_program_without_fields_matches_the_same_lines(part: Both, texts: list[str]) -> None:
    template = numbered(part).template
    encoded = [text.encode() for text in texts]
    short = matched(encoded, compiled(template, frozenset()))[1]
    assert short.matched.tolist() == matched(encoded, compiled(template))[1].matched.tolist()


FORMS = {
    "%Y-%m-%d[T ]%H:%M:%S([.,]%f)?(%z)?": "{0:%Y-%m-%dT%H:%M:%S.%f}{1}",
    "%b %e %Y %H:%M:%S": "{0:%b} {0.day:2d} {0:%Y %H:%M:%S}",
    "%d/%b/%Y:%H:%M:%S %z": "{0:%d/%b/%Y:%H:%M:%S} {1}",
    "%y%m%d %H%M%S": "{0:%y%m%d %H%M%S}",
    "%-m/%-d/%Y %-H:%M:%S %p": "{0.month}/{0.day}/{0:%Y %I:%M:%S %p}",
    "%E(\\.%f)?": "{2}.{0:%f}",
}


@settings(deadline=None)
@given(
    moments=st.lists(
        st.datetimes(datetime.datetime(1980, 1, 1), datetime.datetime(2069, 12, 31)), min_size=1, max_size=8
    ),
    zone=st.integers(-14 * 60, 14 * 60),
)
@pytest.mark.parametrize("template", FORMS)
def test_any_time(template: str, moments: list[datetime.datetime], zone: int) -> None:
    """Against Python's own way to print times."""
    east = datetime.timezone(datetime.timedelta(minutes=zone))
    texts = []
    for moment in moments:
        seconds = int(moment.replace(microsecond=0, tzinfo=datetime.UTC).timestamp())
        texts.append(FORMS[template].format(moment, f"{moment.replace(tzinfo=east):%z}", seconds).encode())
    _, found = matched(texts, compiled(template))
    shift = datetime.timedelta(minutes=zone if "%z" in template else 0)
    whole = [moment if "%f" in template else moment.replace(microsecond=0) for moment in moments]
    assert found.timed.all()
    assert found.moments.astype("M8[us]").tolist() == [moment - shift for moment in whole]
    assert found.zoned.all() == ("%z" in template or "%E" in template)


@pytest.mark.parametrize(
    ("text", "seconds", "nanoseconds"),
    [
        ("123456789", 123456789, 0),
        ("1704164645", 1704164645, 0),
        ("1704164645678", 1704164645, 678_000_000),
        ("1704164645678901", 1704164645, 678_901_000),
        ("1704164645678901234", 1704164645, 678_901_234),
        ("12345678901", None, None),
        ("9999999999999999999", None, None),
        ("99999999999999999999", None, None),
    ],
)
def test_seconds_from_1970(text: str, seconds: int | None, nanoseconds: int | None) -> None:
    _, found = matched([text.encode()], compiled("%E"), 1_000_000_000)
    assert bool(found.matched[0]) == (seconds is not None)
    if seconds is not None and nanoseconds is not None:
        assert int(found.moments[0]) == seconds * 10**9 + nanoseconds


@examples(300)
@given(
    steps=st.lists(st.tuples(st.integers(0, 19), *[st.integers(-1, 6)] * 3), max_size=12),
    text=st.binary(max_size=40),
    fields=st.integers(0, 3),
)
def test_any_program_ends_or_is_refused(steps: list[tuple[int, int, int, int]], text: bytes, fields: int) -> None:
    program = np.array([*steps, (17, 0, 0, 0)], np.int32).reshape(-1)
    classes = np.zeros(512, np.uint8)
    classes[:256] = 1
    data = np.frombuffer(text, np.uint8)
    bounds = np.array([0], np.int64), np.array([len(text)], np.int64)
    try:
        flags, _, _, to = _kernels.match_lines(
            data, *bounds, program, classes, np.frombuffer(b"abc d", np.uint8), fields, 10**6
        )
    except AmudaiError:
        return
    assert flags[0] < 16
    assert (to <= len(text)).all()


@given(
    moment=st.datetimes(),
    place=st.integers(0, 19),
    byte=st.sampled_from(b"0129:/;-. \x00\xff"),
    size=st.integers(0, 19),
)
def test_dates_and_clocks_are_read_as_their_numbers_are(
    moment: datetime.datetime, place: int, byte: int, size: int
) -> None:
    """One step reads what several steps would read, and refuses what they would refuse."""
    whole, parts = compiled("%Y-%m-%d %H:%M:%S"), compiled("%Y(-)%m(-)%d %H(:)%M(:)%S")
    assert len(whole.steps) < len(parts.steps)
    text = moment.isoformat(" ", "seconds").encode()
    changed = text[:place] + bytes([byte]) + text[place + 1 :]
    texts = [text, changed, changed[:size], text[:size]]
    found, expected = matched(texts, whole)[1], matched(texts, parts)[1]
    assert found.matched.tolist() == expected.matched.tolist()
    assert found.timed.tolist() == expected.timed.tolist()
    assert found.moments.tolist() == expected.moments.tolist()
    assert found.moments[0] == int(moment.replace(microsecond=0, tzinfo=datetime.UTC).timestamp()) * 10**6


def test_arguments_of_the_kernel_are_checked() -> None:
    program, data = compiled("a"), np.frombuffer(b"abc", np.uint8)

    def run(starts: list[int], ends: list[int], unit: int) -> None:
        places = np.array(starts, np.int64), np.array(ends, np.int64)
        _kernels.match_lines(data, *places, program.steps, program.classes, program.literals, 0, unit)

    for starts, ends in (([0], [4]), ([2], [1]), ([-1], [2])):
        with pytest.raises(AmudaiError, match="end of a line: expected one from its start to 3"):
            run(starts, ends, 10**6)
    with pytest.raises(ValueError, match="per_second"):
        run([0], [1], 1000)
    with pytest.raises(ValueError, match="ends: expected as many as starts"):
        run([0], [1, 2], 10**6)
    for from_, to in (([0], [4]), ([2], [1]), ([-1], [2])):
        with pytest.raises(AmudaiError, match="part: expected one inside of 3 bytes"):
            _kernels.part_offsets(len(data), np.array(from_, np.int64), np.array(to, np.int64))
    out = np.zeros(2, np.uint8)
    for first, offsets in ((2, [0, 2]), (-1, [0, 2]), (0, [0, 3]), (0, [2, 1]), (0, [-1, 1])):
        with pytest.raises(AmudaiError, match="part: expected one"):
            _kernels.gather_parts(data, np.array([first], np.int64), np.array(offsets, np.int32), out)


# The kernel looks at 64 bytes at once, so that parts of many sizes put line ends at all places among them.
_PARTS = st.sampled_from(["\r", "\n", "\r\n", "a", "\u00e4", "a" * 15, "a" * 60, "a" * 62 + "\u00e4"])


@given(st.lists(_PARTS, max_size=20).map("".join).map(str.encode))
def test_split_lines(data: bytes) -> None:
    starts, ends, has_returns, is_ascii = _kernels.split_lines(np.frombuffer(data, np.uint8))
    found = [data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=False)]
    lines = data.split(b"\n")
    assert found == [line.removesuffix(b"\r") for line in lines[:-1]]
    assert data[int(starts[-1]) :] == lines[-1]
    assert has_returns == (b"\r\n" in data)
    assert is_ascii == data.isascii()


@given(st.text("\r\na", max_size=20).map(lambda text: text.encode() + b"\n"))
def test_carriage_returns_at_line_ends_are_left_out(data: bytes) -> None:
    block = block_of(Lines.of(data, 1, final=True)).without_returns()
    # The last line feed is not needed.
    kept = data.replace(b"\r\n", b"\n")[:-1]
    assert bytes(block.data) == kept
    bounds = zip(block.starts.tolist(), block.ends.tolist(), strict=True)
    assert [kept[start:end] for start, end in bounds] == kept.split(b"\n")


@pytest.mark.parametrize("template", ["(a", "{a", "a)", "%Q", ".*?[ab]", ".*?", "{a=b"])
def test_templates_that_are_wrong(template: str) -> None:
    with pytest.raises(ValueError, match="template: expected"):
        compiled(template)
