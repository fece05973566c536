"""The kernels for JSON agree with Python's json, and refuse what is not JSON."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from amudai.sources.json.inference import Kinds
from amudai.sources.json.plan import Holds
from amudai.sources.json.records import Shape
from amudai.sources.json.troubles import Trouble
from tests.effort import examples
from tests.kernel_modules import KERNELS

pytestmark = pytest.mark.native

BEGINNING = (0, 0, 0)


@pytest.fixture(params=KERNELS, ids=lambda kernels: kernels.__name__)
def kernels(request: pytest.FixtureRequest) -> Any:
    return request.param


def records(*texts: bytes) -> tuple[Any, Any, Any]:
    """The texts one after the other, where each begins, and where it ends."""
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    starts = ends - np.array([len(text) for text in texts], np.int64)
    return np.frombuffer(b"".join(texts), np.uint8), starts, ends


def troubles(refused: list[tuple[int, int, int, int, int]]) -> list[tuple[int, Trouble]]:
    return [(record, Trouble(trouble)) for record, trouble, *_ in refused]


def values(kernels: Any, holds: Holds, *texts: str, nan: bool = False) -> tuple[list[Any], list[tuple[int, Trouble]]]:
    """What a column makes of JSON values, and which values it refuses."""
    lines = [f'{{"v": {text}}}'.encode() for text in texts]
    specs = [(Holds.OBJECT, "", 1), (holds, "v", 0)]
    columns, refused = kernels.json_columns(*records(*lines), specs, nan)
    length, nulls, validity, offsets, data = columns[1]
    valid = np.ones(length, np.bool_) if not nulls else np.unpackbits(validity, bitorder="little")[:length].astype(bool)
    found: list[Any]
    if holds is Holds.BOOLEAN:
        found = np.unpackbits(data, bitorder="little")[:length].astype(bool).tolist()
    elif offsets is not None:
        content = data.tobytes()
        found = [content[offsets[at] : offsets[at + 1]].decode() for at in range(length)]
    else:
        kind = {Holds.INT64: np.int64, Holds.UINT64: np.uint64}.get(holds, np.float64)
        found = data.view(kind).tolist()
    return [value if ok else None for value, ok in zip(found, valid, strict=True)], troubles(refused)


@settings(deadline=None)
@given(numbers=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
@example(numbers=[5e-324, 1.7976931348623157e308, -0.0, 0.1, 1e22, 1e23, 123456789012345680.0])
def test_doubles_are_read_to_the_bit(numbers: list[float]) -> None:
    for kernels in KERNELS:
        for text in (repr, "{:.17e}".format, "{:.30f}".format):
            texts = [text(number) for number in numbers]
            found, refused = values(kernels, Holds.ROUNDED, *texts)
            assert refused == []
            assert [math.copysign(1, number) * abs(number) for number in found] == [float(each) for each in texts]
            assert np.array(found).tobytes() == np.array([float(each) for each in texts]).tobytes()


@settings(deadline=None)
@given(
    numbers=st.lists(st.one_of(st.integers(), st.integers(-(2**70), 2**70), st.integers(0, 400).map(lambda n: 10**n)))
)
def test_integers_are_exact_or_refused(numbers: list[int]) -> None:
    def fits_float(number: int) -> bool:
        try:
            return int(float(number)) == number
        except OverflowError:
            return False

    texts = [str(number) for number in numbers]
    for kernels in KERNELS:
        for holds, fits in (
            (Holds.INT64, lambda number: -(2**63) <= number < 2**63),
            (Holds.UINT64, lambda number: 0 <= number < 2**64),
            (Holds.FLOAT64, fits_float),
        ):
            found, refused = values(kernels, holds, *texts)
            assert found == [number for number in numbers if fits(number)]
            assert [record for record, _ in refused] == [at for at, number in enumerate(numbers) if not fits(number)]


def test_numbers_beyond_floats(kernels: Any) -> None:
    texts = ["1e400", "-1e400", "1e-400", "0.0e999999999999", "1" + "0" * 400, "0." + "0" * 400 + "1", "1e999999999999"]
    found, refused = values(kernels, Holds.ROUNDED, *texts)
    assert found == [0.0, 0.0, 0.0]
    assert refused == [(at, Trouble.RANGE) for at in (0, 1, 4, 6)]


@settings(deadline=None)
@given(texts=st.lists(st.text(st.characters(codec="utf-8"))), ascii_only=st.booleans())
def test_texts_come_back(texts: list[str], ascii_only: bool) -> None:
    for kernels in KERNELS:
        found, refused = values(kernels, Holds.TEXT, *[json.dumps(text, ensure_ascii=ascii_only) for text in texts])
        assert found == texts
        assert refused == []


def test_other_columns(kernels: Any) -> None:
    texts = ["true", "false", "null", '"a b"', '[ 1 , "x \\" y" ]', "1.50"]
    assert values(kernels, Holds.BOOLEAN, *texts)[0] == [True, False, None]
    assert values(kernels, Holds.JSON, *texts)[0] == ["true", "false", None, '"a b"', '[1,"x \\" y"]', "1.50"]
    assert values(kernels, Holds.ANY_TEXT, *texts)[0] == ["true", "false", None, "a b", '[1,"x \\" y"]', "1.50"]
    assert values(kernels, Holds.NUMBER_TEXT, *texts)[0] == [None, "a b", "1.50"]
    assert values(kernels, Holds.TEXT, *texts)[1] == [(at, Trouble.KIND) for at in (0, 1, 4, 5)]


SOUND = json.dumps({"a": [1, -2.5e3, True, None], "b": {"c": 'x\u00fc\\n"', "d": [{}, []]}, "e": 12345678901234567890})
PIECES = [
    "",
    '"',
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\\",
    "\\u",
    "0",
    "-",
    "e",
    ".",
    "\n",
    "\x00",
    "nul",
    "NaN",
    "1",
    "\x7f",
]


@examples(500)
@given(
    changes=st.lists(st.tuples(st.integers(0, 200), st.sampled_from(PIECES), st.integers(0, 2)), max_size=3),
    nan=st.booleans(),
)
@example(changes=[(40, "\\\x00", 0)], nan=False)
def test_what_is_json_is_what_python_says(changes: list[tuple[int, str, int]], nan: bool) -> None:
    text = SOUND
    for at, piece, size in changes:
        at %= len(text) + 1
        text = text[:at] + piece + text[at + size :]
    expected = sound(text, nan)
    for kernels in KERNELS:
        (_, members, _), refused = kernels.json_kinds(*records(text.encode()), nan, False, 9)
        assert (refused == []) == (expected is not None), refused
        if expected is not None:
            assert sorted(name for name, _ in members) == sorted(expected)
        specs = [(Holds.OBJECT, "", len(expected or {}))] + [(Holds.JSON, name, 0) for name in expected or {}]
        refused = kernels.json_columns(*records(text.encode()), specs, nan)[1]
        assert (refused == []) == (expected is not None), refused


def sound(text: str, nan: bool) -> dict[str, Any] | None:
    """The object, if Python reads it and no name comes twice."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise ValueError("repeated")
        return dict(pairs)

    def constant(name: str) -> float:
        if not nan:
            raise ValueError(name)
        return float(name.replace("Infinity", "inf"))

    try:
        found = json.loads(text, object_pairs_hook=unique, parse_constant=constant)
        text.encode()
        json.dumps(found, ensure_ascii=False).encode()
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


NAMES = st.sampled_from(["a", "b", "c", "\\u0061"])
VALUES = st.recursive(
    st.sampled_from(["1", "-2", "1.5", '"x"', "true", "null", "[", "x"]),
    lambda below: st.one_of(
        st.lists(below, max_size=3).map(lambda each: f"[{','.join(each)}]"),
        st.lists(st.tuples(NAMES, below), max_size=4).map(
            lambda each: "{" + ",".join(f'"{name}":{value}' for name, value in each) + "}"
        ),
    ),
    max_leaves=5,
)


@examples(500)
@given(lines=st.lists(st.lists(st.tuples(NAMES, VALUES), max_size=4), max_size=8))
@example(lines=[[("a", "1"), ("b", "-2")], [("b", "1"), ("a", '"x"')], [("a", "1"), ("b", "-2"), ("a", "1")]])
@example(lines=[[("a", '[{"b":1}]')], [("a", '[{"b":1},{"c":-2},{"b":1,"b":true}]')], [("a", "[[1]]"), ("b", "[")]])
def test_kinds_of_records_are_those_of_python(lines: list[list[tuple[str, str]]]) -> None:
    """Whatever order their members have, and whichever records are refused, which leave nothing behind."""
    texts = ["{" + ",".join(f'"{name}":{value}' for name, value in line) + "}" for line in lines]
    good = [found for text in texts if (found := sound(text, nan=False)) is not None]
    for kernels in KERNELS:
        observed, refused = kernels.json_kinds(*records(*(text.encode() for text in texts)), False, False, 99)
        assert {each[0] for each in refused} == {at for at, text in enumerate(texts) if sound(text, nan=False) is None}
        assert plain(observed) == (kinds_of(good) if good else (0, {}, None))


def plain(observed: tuple[int, list[Any], Any]) -> Any:
    kinds, members, elements = observed
    return kinds, {name: plain(member) for name, member in members}, None if elements is None else plain(elements)


def kinds_of(values: list[Any]) -> Any:
    """What `json_kinds` finds where these values stand."""
    kinds, members, elements, has_arrays = Kinds(0), {}, [], False
    for value in values:
        if isinstance(value, dict):
            kinds |= Kinds.OBJECT
            for name, below in value.items():
                members.setdefault(name, []).append(below)
        elif isinstance(value, list):
            kinds |= Kinds.ARRAY
            elements += value
            has_arrays = True
        else:
            kinds |= KINDS[json.dumps(value)]
    below = {name: kinds_of(each) for name, each in members.items()}
    return kinds, below, kinds_of(elements) if has_arrays else None


KINDS = {
    "1": Kinds.INTEGER,
    "-2": Kinds.INTEGER | Kinds.NEGATIVE,
    "1.5": Kinds.FRACTION,
    '"x"': Kinds.TEXT,
    "true": Kinds.BOOLEAN,
    "null": Kinds.NULL,
}


def test_a_bad_record_leaves_nothing_behind(kernels: Any) -> None:
    lines = [
        b'{"a": [1], "b": {"c": "x"}}',
        b'{"a": [2, 3], "b": {"c": "yy"}, "d": 1}',
        b'{"b": {"c": "zz", "d": true}}',
        b"{}",
    ]
    specs = [(11, "", 2), (10, "a", 1), (2, "", 0), (11, "b", 1), (6, "c", 0)]
    columns, refused = kernels.json_columns(*records(*lines), specs, False)
    assert troubles(refused) == [(1, Trouble.UNKNOWN), (2, Trouble.UNKNOWN)]
    root, array, elements, struct, texts = columns
    assert (root[:2], array[:2], elements[:2], struct[:2], texts[:2]) == ((2, 0), (2, 1), (1, 0), (2, 1), (2, 1))
    assert (array[2].tolist(), array[3].tolist(), elements[4].tolist()) == ([1], [0, 1, 1], [1])
    assert (texts[3].tolist(), texts[4].tobytes()) == ([0, 1, 1], b"x")


@pytest.mark.parametrize("depth", [63, 64, 10_000, 1_000_000])
def test_depth_is_bounded(kernels: Any, depth: int) -> None:
    for record in (
        b'{"a":' + b"[" * depth + b"]" * depth + b"}",
        b'{"a":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}",
    ):
        refused = kernels.json_kinds(*records(record), False, False, 9)[1]
        assert troubles(refused) == ([] if depth < 64 else [(0, Trouble.DEPTH)])
        for holds in (Holds.JSON, Holds.INT64):
            refused = kernels.json_columns(*records(record), [(Holds.OBJECT, "", 1), (holds, "a", 0)], False)[1]
            wanted = [] if holds is Holds.JSON else [(0, Trouble.KIND)]
            assert troubles(refused) == (wanted if depth < 64 else [(0, Trouble.DEPTH)])


def test_repeated_names_in_maps(kernels: Any) -> None:
    specs = [(Holds.OBJECT, "", 1), (Holds.MAP, "m", 2), (Holds.TEXT, "key", 0), (Holds.INT64, "value", 0)]
    lines = [b'{"m": {"x": 1, "y": 2}}', b'{"m": {"x": 1, "\\u0078": 2}}', b'{"m": {}}']
    columns, refused = kernels.json_columns(*records(*lines), specs, False)
    assert troubles(refused) == [(1, Trouble.REPEATED)]
    assert columns[1][3].tolist() == [0, 2, 2]
    assert columns[2][4].tobytes() == b"xy"


@settings(deadline=None)
@given(
    text=st.text(st.sampled_from('[]{}",\\ \n1a'), max_size=40),
    shape=st.sampled_from(list(Shape)),
    size=st.integers(1, 9),
)
def test_blocks_do_not_change_the_cuts(text: str, shape: Shape, size: int) -> None:
    data = np.frombuffer(text.encode(), np.uint8)
    for kernels in KERNELS:
        starts, ends, lines, feeds, state, unfinished = kernels.json_cut(data, shape, BEGINNING)
        assert len(starts) == len(ends) + unfinished
        assert lines.tolist() == [text.count("\n", 0, int(at)) for at in starts]
        found: tuple[list[int], list[int], list[int]] = ([], [], [])
        count, at = 0, BEGINNING
        for first in range(0, len(data), size):
            part = kernels.json_cut(data[first : first + size], shape, at)
            found[0].extend((part[0] + first).tolist())
            found[1].extend((part[1] + first).tolist())
            found[2].extend((part[2] + count).tolist())
            count, at = count + part[3], part[4]
        assert found == (starts.tolist(), ends.tolist(), lines.tolist())
        assert (count, at) == (feeds, state)


def test_wrong_arguments_are_refused(kernels: Any) -> None:
    data, starts, ends = records(b'{"a": 1}')
    root = (Holds.OBJECT, "", 1)
    for specs in (
        [],
        [root],
        [(Holds.INT64, "a", 0), (Holds.INT64, "b", 0)],
        [root, (Holds.INT64, "a", 1), (Holds.INT64, "a", 0)],
        [root, (Holds.INT64, "a", 0), (Holds.INT64, "b", 0)],
        [root, (Holds.MAP, "a", 2), (Holds.INT64, "", 0), (Holds.INT64, "", 0)],
        [root, (13, "a", 0)],
        [root] * 200,
    ):
        with pytest.raises(ValueError, match="columns: "):
            kernels.json_columns(data, starts, ends, specs, False)
    for first, last in ((starts - 1, ends), (starts, ends + 1), (ends, starts), (starts, ends[:0])):
        with pytest.raises(ValueError, match="records: expected"):
            kernels.json_kinds(data, first, last, False, False, 9)
    with pytest.raises(ValueError, match="shape: expected"):
        kernels.json_cut(data, 3, BEGINNING)
