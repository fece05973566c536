"""The kernels that find records of CSV text and odd numbers in them, against Python's csv module."""

from __future__ import annotations

import csv
import io
import re
from types import ModuleType

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.kernel_modules import KERNELS

pytestmark = [pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__), pytest.mark.native]

TEXT = st.lists(st.sampled_from([*'ab,"\n\r 0', ",,", '""', "\r\n", "x" * 40, '"a\nb"', '"a\r\nb",']), max_size=30)


def array(text: str) -> npt.NDArray[np.uint8]:
    return np.frombuffer(text.encode(), np.uint8)


def by_python(text: str) -> list[tuple[int, list[str]]]:
    """Line (from 0) and values of each record. Python counts lines as the file gives them: with any of three ends."""
    reader = csv.reader(io.StringIO(text, newline=""))
    found, line = [], 0
    for row in reader:
        if row:
            found.append((line, row))
        line = reader.line_num
    return found


def values(record: str) -> list[str]:
    return next(csv.reader(io.StringIO(record, newline="")))


@given(parts=TEXT)
@example(parts=['"a', "\r\n", 'b"', "\r", "c"])
@example(parts=["a", '"', "\n", "b"])
def test_records_are_those_of_python(kernels: ModuleType, parts: list[str]) -> None:
    text = "".join(parts)
    starts, ends, lines, used, lines_used, opening = kernels.csv_records(
        array(text), ord(","), ord('"'), b"", False, True
    )
    expected = by_python(text)
    if opening is None:
        assert used == len(text)
        assert lines_used == len(re.findall(r"\r\n|\r|\n", text)) + (text[-1:] not in ("\n", "\r", ""))
    else:
        at, line = opening
        assert text[at] == '"'
        assert line == len(re.findall(r"\r\n|\r(?!$)|\n", text[:at] + "x"))
        assert used <= at
        # Python ends the last record with the file.
        expected = expected[:-1]
    found = [
        (line, values(text[start:end]))
        for start, end, line in zip(starts.tolist(), ends.tolist(), lines.tolist(), strict=True)
    ]
    assert found == expected


@given(parts=TEXT, cut=st.integers(0, 60), has_empty=st.booleans())
def test_what_follows_changes_nothing(kernels: ModuleType, parts: list[str], cut: int, has_empty: bool) -> None:
    """Records of the beginning, and records of the rest, are the records of the whole."""
    text = "".join(parts)
    whole = kernels.csv_records(array(text), ord(","), ord('"'), b"", has_empty, True)
    first = kernels.csv_records(array(text[:cut]), ord(","), ord('"'), b"", has_empty, False)
    starts, ends, lines, used, lines_used, _ = first
    rest = kernels.csv_records(array(text[used:]), ord(","), ord('"'), b"", has_empty, True)
    assert [*starts, *(rest[0] + used)] == [*whole[0]]
    assert [*ends, *(rest[1] + used)] == [*whole[1]]
    assert [*lines, *(rest[2] + lines_used)] == [*whole[2]]
    assert (used + rest[3], lines_used + rest[4]) == whole[3:5]


def test_empty_lines_are_records_where_the_caller_says_so(kernels: ModuleType) -> None:
    text = 'a\n\r\n# c\n\n"\n"\n'
    starts, ends, lines, *_ = kernels.csv_records(array(text), ord(","), ord('"'), b"#", True, True)
    assert [text[start:end] for start, end in zip(starts, ends, strict=True)] == ["a\n", "\r\n", "\n", '"\n"\n']
    assert lines.tolist() == [0, 1, 3, 4]


def test_comments_and_values_without_quotes(kernels: ModuleType) -> None:
    text = '# it"s\na,"b\n\n# c\n"d,e\n'
    starts, ends, lines, used, lines_used, opening = kernels.csv_records(
        array(text), ord(","), None, b"#", False, False
    )
    found = [text[start:end] for start, end in zip(starts, ends, strict=True)]
    assert found == ['a,"b\n', '"d,e\n']
    assert (lines.tolist(), used, lines_used, opening) == ([1, 4], len(text), 5, None)


NUMBERS = st.sampled_from(
    [
        "0",
        "00",
        "07",
        "-07",
        "+7",
        "0x1f",
        "0.5",
        "-0",
        "10",
        " 07",
        "  -007",
        "\t07",
        '"07"',
        '" 07"',
        '"a,07"',
        "a 07",
        "",
    ]
)


@given(
    rows=st.lists(st.lists(NUMBERS, min_size=3, max_size=3), min_size=1, max_size=6),
    pad=st.sampled_from([0, 5000]),
    marked=st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_odd_numbers(kernels: ModuleType, rows: list[list[str]], pad: int, marked: tuple[bool, bool, bool]) -> None:
    rows = [["x" * pad, *row] for row in rows]  # long enough for the loop over whole pieces
    text = "".join(",".join(row) + "\n" for row in rows)
    starts, ends, *_ = kernels.csv_records(array(text), ord(","), ord('"'), b"", False, True)
    numbers = np.array([False, *marked], np.uint8)
    odd = kernels.csv_odd_numbers(array(text), starts, ends, ord(","), ord('"'), numbers)
    expected = [
        any(
            mark and re.match(r"[ \t]*(\+|-?0[0-9xX])", value)
            for mark, value in zip(marked, values(",".join(row[1:])), strict=True)
        )
        for row in rows
    ]
    assert odd.tolist() == expected


def test_arguments_are_checked(kernels: ModuleType) -> None:
    data, one = array("a\n"), np.array([0], np.int64)
    numbers = np.zeros(1, np.uint8)
    with pytest.raises(ValueError, match="ends: expected one for each start"):
        kernels.csv_odd_numbers(data, one, one[:0], ord(","), None, numbers)
    for start, end in ((-1, 1), (1, 0), (0, 3)):
        with pytest.raises(ValueError, match="records: expected them inside the data"):
            kernels.csv_odd_numbers(data, one + start, one + end, ord(","), None, numbers)
