"""Columns that the kernels read from plain CSV text, against pyarrow's reader and the rules for types."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from amudai import _kernels
from amudai.errors import InvalidSchema
from amudai.sources.csv import columns
from amudai.sources.csv.columns import plain_columns, plain_types
from amudai.sources.csv.dialect import Dialect
from amudai.sources.csv.parse import Parser
from amudai.sources.csv.records import Stretch, kernel_arguments
from amudai.sources.csv.types import NULLS, inferred_type
from amudai.sources.files import InputFile
from tests.kernel_modules import KERNELS
from tests.sources.reading import content, read, table, write

pytestmark = pytest.mark.native

FILE = InputFile("t.csv", ".csv")
TYPES = [
    *(pa.null(), pa.bool_(), pa.int64(), pa.float64(), pa.date32(), pa.string()),
    *(pa.timestamp("us"), pa.timestamp("ns"), pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC")),
]
NUMBERS = [
    *("0", "7", "-7", "12345678", "123456789", "9" * 16, "9" * 18, "-" + "9" * 18, "9" * 19, "007", "+7", "-0", "0x1f"),
    *(
        "0.5",
        "-0.0",
        "173665.47",
        ".5",
        "5.",
        "-.5",
        ".",
        "-",
        "1e5",
        "1E-7",
        "1e",
        "1e+",
        "1e400",
        "1e-400",
        "4.9e-324",
    ),
    *("9007199254740993", "9007199254740993.0", "0.1234567890123456", "123456789.123456789", "1.7976931348623157e308"),
    *(" 7", "8 ", "\t9 ", "1 2", "1_000", "inf", "-inf", "nan", "1,5", "00.5", "1.5.5", "12a"),
]
TIMES = [
    *("2026-03-02", "2026-02-29", "2024-02-29", "2026-13-01", "0001-01-01", "0000-01-01", "9999-12-31", "2026-3-2"),
    *("2026-03-02 10:20:30", "2026-03-02T10:20:30", "2026-03-02T10:20", "2026-03-02T24:00:00", "2026-03-02T10:20:60"),
    *("2026-03-02T10:20:30.5", "2026-03-02T10:20:30.123456", "2026-03-02T10:20:30.1234567", "2026-03-02T10:20:30."),
    *("2026-03-02T10:20:30Z", "2026-03-02T10:20:30.25+02:00", "2026-03-02 10:20:30-0330", "2026-03-02T10:20:30+02"),
    *("2026-03-02T10:20:30+24:00", "2026-03-02T10:20:30+02:60", "1650-01-01T00:00:00", "2300-01-01T00:00:00Z"),
    *("10:20:30", "02/03/2026", "2026-03-02T10:20:30 UTC", "2026-03-02x"),
]
WORDS = [
    *(
        "true",
        "True",
        "FALSE",
        "tRue",
        "yes",
        "",
        "NA",
        "null",
        "NaN",
        "-nan",
        "1.#IND",
        "x",
        "ü€",
        "in",
        "info",
        "nanny",
    ),
    *("Oslo", "word " * 20, "a\nb", "a\r\nb", 'say ""hi""', "a,b", "#c", " ", "-1-", "12 Main St", "(none)"),
]
VALUES = st.one_of(
    st.sampled_from(NUMBERS), st.sampled_from(TIMES), st.sampled_from(WORDS), st.integers(-(10**17), 10**17).map(str),
    st.floats(allow_nan=False).map(repr), st.decimals(-1000, 1000, places=3).map(str),
)  # fmt: skip


def quoted(value: str) -> str:
    """The value as it stands in CSV; it has doubled quotes if it has quotes."""
    return f'"{value}"' if re.search('[,\n\r"]', value) else value


def stretch(text: str, dialect: Dialect) -> Stretch:
    return Stretch(FILE, dialect, memoryview(text.encode()), 1)


def by_pyarrow(text: str, dialect: Dialect, types: dict[str, pa.DataType], nulls: tuple[str, ...] | None) -> Any:
    """What the closer look finds; None if some record is bad."""
    parser = Parser(dialect=dialect, names=list(types), types=types, nulls=nulls)
    records = stretch(text, dialect).records()
    try:
        found = parser.table(records)
    except pa.ArrowInvalid:
        return None
    return found if found.num_rows == len(records) else None


def bits(batch: Any) -> list[list[Any]]:
    """Values that can be compared: the bits of doubles, as -0.0 equals 0.0."""
    found = pa.table(batch).combine_chunks()
    return [
        [None if value is None else np.float64(value).tobytes() for value in column.to_pylist()]
        if column.type == pa.float64()
        else column.cast(pa.int64()).to_pylist()
        if pa.types.is_timestamp(column.type)
        else column.to_pylist()
        for column in found.columns
    ]


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
@settings(deadline=None)
@given(
    kinds=st.lists(st.sampled_from(TYPES), min_size=2, max_size=2),
    rows=st.lists(st.tuples(VALUES, VALUES, st.booleans()), max_size=8),
    end=st.sampled_from(["\n", "\r\n"]),
    is_ended=st.booleans(),
    nulls=st.sampled_from([None, ("",), ("7", "x"), ("true", "2026-03-02", " 7")]),
)
@example(kinds=[pa.int64(), pa.string()], rows=[("7", 'say ""hi""', True)], end="\r\n", is_ended=False, nulls=None)
def test_columns_are_those_of_pyarrow(
    kernels: ModuleType,
    kinds: list[pa.DataType],
    rows: list[tuple[str, str, bool]],
    end: str,
    is_ended: bool,
    nulls: tuple[str, ...] | None,
) -> None:
    types = dict(zip("ab", kinds, strict=True))
    lines = [f"{quoted(a)},{quoted(b)}" if is_plain else f'"{a}",{quoted(b)}' for a, b, is_plain in rows]
    text = end.join(lines) + (end if is_ended and lines else "")
    dialect = Dialect()
    plain = plain_columns(dialect, types, nulls, ".")
    assert plain is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_kernels", kernels)
        found = plain.batch(memoryview(text.encode()))
    if found is not None:
        found.validate(full=True)
        assert bits(found) == bits(by_pyarrow(text, dialect, types, nulls) or pa.schema(types).empty_table())


@settings(deadline=None)
@given(
    values=st.lists(VALUES, min_size=1, max_size=6),
    padding=st.sampled_from([0, 64, 70]),
    nulls=st.sampled_from([NULLS, ("7",)]),
)
@example(values=["2026-03-02T10:20:30Z", "2026-03-02T10:20:30"], padding=64, nulls=NULLS)
@example(values=["7", "9" * 16, "0.5"], padding=0, nulls=NULLS)
def test_types_are_those_of_the_rules(values: list[str], padding: int, nulls: tuple[str, ...]) -> None:
    """A type is found as the closer look finds it, or not at all."""
    texts = [value.replace('""', '"') for value in values]
    texts = texts[:1] * padding + texts
    data = "".join(quoted(text.replace('"', '""')) + ",x\n" for text in texts).encode()
    found = plain_types(memoryview(data), Dialect(), ["a", "b"], nulls, ".")
    assert found.pop("b") == pa.string()
    if found:
        nulled = pa.array(nulls, pa.string())
        assert found["a"] == inferred_type("a", pa.chunked_array([texts], pa.string()), nulled, ".", "raise")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "-20", "NA"], pa.int64()),
        (["1", "2.5"], pa.float64()),
        (["true", "False", ""], pa.bool_()),
        (["2026-03-02", "null"], pa.date32()),
        (["2026-03-02 10:00:00", "2026-03-02T10:00:00.25"], pa.timestamp("us")),
        (["2026-03-02T10:00:00Z", "2026-03-02T10:00:00+02:00"], pa.timestamp("us", "UTC")),
        (["Oslo", "12 Main St", "ü", "it's", "0812"], pa.string()),
        (["", "NA"], pa.null()),
    ],
)
def test_plain_text_needs_no_closer_look(values: list[str], kind: pa.DataType) -> None:
    text = "".join(f'{value},"a ""b"", {value}"\r\n' for value in values)
    data, dialect = memoryview(text.encode()), Dialect()
    assert plain_types(data, dialect, ["a", "b"], NULLS, ".") == {"a": kind, "b": pa.string()}
    plain = plain_columns(dialect, {"a": kind, "b": pa.string()}, None, ".")
    assert plain is not None
    found = plain.batch(data)
    assert found is not None
    assert found["b"].to_pylist() == [f'a "b", {value}' for value in values]
    assert found["a"].null_count == (0 if kind == pa.string() else sum(value in NULLS for value in values))


@pytest.mark.parametrize(
    "text",
    ["1,2\n3\n", "1,2\n\n3,4\n", "1,2\r3,4\r", '1,"2\n', '1,2"\n', '1,"2"x\n', "1,2\n#,4\n", "1,2,3\n4\n", "\n1,2\n"],
)
def test_other_text_needs_a_closer_look(text: str) -> None:
    plain = plain_columns(Dialect(comment="#"), {"a": pa.string(), "b": pa.string()}, None, ".")
    assert plain is not None
    assert plain.batch(memoryview(text.encode())) is None
    assert plain_types(memoryview(text.encode()), Dialect(comment="#"), ["a", "b"], NULLS, ".") == {}


def test_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match=r"kinds: expected 0\.\.10"):
        _kernels.csv_columns(np.zeros(0, np.uint8), ord(","), None, b"", True, np.array([11], np.uint8), [])


def test_bytes_that_are_no_text_need_a_closer_look(tmp_path: Path) -> None:
    """A bad record decides on no type, and does not spoil the others."""
    path = write(tmp_path, "t.csv", b"n,s\n1,a\n2,b\xff\n3,c\n" + b"x\xff,d\n")
    source = read(path, on_error="skip", encoding="utf-8")
    assert table(source).to_pydict() == {"n": [1, 3], "s": ["a", "c"]}
    assert source.bad_records.count == 2


def test_mixed_zones_at_the_beginning_are_an_error_whatever_follows(tmp_path: Path) -> None:
    moments = "2026-03-02T10:00:00Z\n2026-03-02T10:00:00\n" * 40
    with pytest.raises(InvalidSchema, match="found both"):
        read(write(tmp_path, "t.csv", "c\n" + moments + "Oslo\n"))


@pytest.mark.parametrize("size", [1, 5, 64, 1000])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_values_wherever_blocks_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, end: str) -> None:
    monkeypatch.setattr("amudai.sources.csv.reader._BLOCK", size)
    texts = [f'{n} "quoted",{end}{"y" * (n % 90)}' if n % 3 else "x" * (n % 70) for n in range(40)]
    lines = ["n,s,d", *(f'{n},"{text.replace(chr(34), chr(34) * 2)}",{n / 8}' for n, text in enumerate(texts))]
    path = write(tmp_path, "t.csv", ("\ufeff" + end.join(lines)).encode())
    found = content(path)
    assert found == {"n": list(range(40)), "s": texts, "d": [n / 8 for n in range(40)]}


@given(
    parts=st.lists(st.sampled_from([*'ab,"\n\r#', '""', "\r\n", "x" * 40, '"a\nb"', '"a\r\nb",', ",'\n"]), max_size=30),
    cut=st.integers(0, 200),
    is_final=st.booleans(),
    comment=st.sampled_from(["", "#"]),
)
@example(parts=["x" * 40, "\n", '"', "x" * 40, '"', "\n", "b"], cut=83, is_final=False, comment="")
@example(parts=["x" * 40, "\n", '"', "x" * 21, '"', "a"], cut=65, is_final=True, comment="")
@example(parts=["x" * 40, "\n", '"', "x" * 20, "\r", '"', "\n"], cut=200, is_final=False, comment="")
@example(parts=["x" * 40, "x" * 22, "\r", "\n", "a"], cut=64, is_final=False, comment="")
@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
def test_stretches_end_with_records(
    kernels: ModuleType, parts: list[str], cut: int, is_final: bool, comment: str
) -> None:
    text = "".join(parts)
    data = np.frombuffer(text[:cut].encode(), np.uint8)
    arguments = kernel_arguments(Dialect(comment=comment))
    used, lines = kernels.csv_whole(data, *arguments, is_final)
    _, ends, _, most, _, _ = kernels.csv_records(data, *arguments, is_final)
    assert lines == len(re.findall(r"\r\n|\r|\n", text[:used]))
    assert (used == 0) == (most == 0)
    if is_final:
        assert used == most
    # What follows does not depend on what is before, so that the rest can be split alone.
    rest = kernels.csv_records(data[used:], *arguments, is_final)
    assert used <= most == used + rest[3]
    assert [end for end in ends.tolist() if end > used] == (rest[1] + used).tolist()
