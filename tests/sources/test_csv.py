"""CSV: types, what is decided about a file, what the caller can say, and bad records."""

from __future__ import annotations

import csv
import datetime
import io
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from amudai.errors import CorruptedData, InvalidArgument, InvalidSchema
from amudai.sources.content import MemoryContent
from amudai.sources.csv.dialect import Dialect, values_of
from amudai.sources.csv.quotes import odd_quotes
from amudai.sources.csv.records import stretches_of, whole_records
from amudai.sources.files import InputFile
from amudai.sources.records import Records
from tests.sources.reading import bad, content, read, table, write

UTC = datetime.UTC


def types(path: Path, **options: Any) -> dict[str, str]:
    return {field.name: str(field.type) for field in read(path, **options).schema}


def kind(folder: Path, *values: str, **options: Any) -> str:
    """The type of a column with these values."""
    sink = io.StringIO()
    csv.writer(sink).writerows([["c", "other"], *([value, "x"] for value in values)])
    return types(write(folder, "kind.csv", sink.getvalue()), **options)["c"]


def decided(path: Path, **options: Any) -> dict[str, object]:
    (decisions,) = read(path, **options).decisions.values()
    return {decision.option: decision.value for decision in decisions}


# ---- types ----


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "-5", "0"], "int64"),
        (["1", "", "NA", "null"], "int64"),
        ([" 7", "8 "], "int64"),
        (["9" * 18, "-" + "9" * 18], "int64"),
        (["1" + "0" * 18], "string"),  # 19 digits
        ([str(2**64 - 1), "1"], "string"),
        (["08123", "81234"], "string"),
        (["-01"], "string"),
        (["+49", "50"], "string"),
        (["0x1f", "1"], "string"),
        (["00.5", "1.5"], "string"),
        (["+1.5", "2.5"], "string"),
        (["1.5", "2"], "double"),
        (["1e3", ".5", "5.", "-inf"], "double"),
        (["0.5", str(2**53)], "double"),
        (["0.5", str(2**53 + 1)], "string"),  # a double would round it
        (["0.5", "1e400"], "string"),  # a double would make it infinite
        (["0.5", "inf", "-Infinity"], "double"),
        (["true", "False", "TRUE", ""], "bool"),
        ([" true"], "string"),
        (["yes", "no"], "string"),
        (["1", "true"], "string"),
        (["2024-01-31", ""], "date32[day]"),
        (["2024-01-31", "2024-02-30"], "string"),
        (["2024-01-31 10:00:00", "2024-01-31"], "timestamp[us]"),
        (["2024-01-31T10:00", "2024-01-31T10:00:00.25"], "timestamp[us]"),
        (["2024-01-31T10:00:00.123456789"], "timestamp[ns]"),
        (["2024-01-31T10:00:00Z", "2024-01-31 10:00:00.5+02:00"], "timestamp[us, tz=UTC]"),
        (["10:00:00", "11:30:00"], "string"),
        (["31.01.2024"], "string"),
        (["1", " NA"], "string"),
        (["", "NA"], "null"),
        (["a", "1"], "string"),
    ],
)
def test_types_are_inferred(values: list[str], expected: str, tmp_path: Path) -> None:
    assert kind(tmp_path, *values) == expected


def test_the_last_record_counts_without_a_line_end(tmp_path: Path) -> None:
    assert content(write(tmp_path, "t.csv", 'a,b\n1,""\n2,3')) == {"a": [1, 2], "b": [None, 3]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n1\n\n3\n", {"a": [1, None, 3]}),
        ("a\n1\n\n\n", {"a": [1, None, None]}),
        ("\n\na\n\n1", {"a": [None, 1]}),
        ("a\r\nx\r\n\r\ny", {"a": ["x", "", "y"]}),
        ("\n# c\n\na\n1\n# d\n\n2\n", {"a": [1, None, 2]}),
        ("a,b\n1,2\n\n3,4\n", {"a": [1, 3], "b": [2, 4]}),
    ],
)
def test_an_empty_line_is_a_null_if_there_is_one_column(
    text: str, expected: dict[str, list[object]], tmp_path: Path
) -> None:
    options = {"comment": "#"} if "#" in text else {}
    assert content(write(tmp_path, "t.csv", text), **options) == expected


@pytest.mark.slow
def test_nulls_of_one_column_come_back_from_other_writers(tmp_path: Path) -> None:
    column = pa.array([None, *range(500_000), None])
    pa.csv.write_csv(pa.table({"a": column}), tmp_path / "t.csv")
    assert table(read(tmp_path / "t.csv"))["a"].combine_chunks().equals(column)


def test_identifiers_stay_as_they_are_written(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", f"zip,phone,id,n\n08123,+49 30,{2**64 - 1},1\n81234,+1,7,2\n")
    assert content(path) == {
        "zip": ["08123", "81234"],
        "phone": ["+49 30", "+1"],
        "id": [str(2**64 - 1), "7"],
        "n": [1, 2],
    }
    assert content(path, types={"zip": "int64", "id": "uint64"})["zip"] == [8123, 81234]


def test_times_keep_their_meaning(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "moment,clock\n2013-01-10T09:58:30+02:00,2013-01-10T09:58:30.5\n")
    assert content(path) == {
        "moment": [datetime.datetime(2013, 1, 10, 7, 58, 30, tzinfo=UTC)],
        "clock": [datetime.datetime(2013, 1, 10, 9, 58, 30, 500_000)],
    }
    path = write(tmp_path, "u.csv", "t\n2013-01-10T07:58:30Z\n2013-01-10T07:58:30\n")
    with pytest.raises(InvalidSchema, match=r"'t': expected times that all name a zone.*types= or --type.*u\.csv"):
        read(path)
    assert content(path, mixed_zones="text") == {"t": ["2013-01-10T07:58:30Z", "2013-01-10T07:58:30"]}


def test_texts_that_mean_null(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "n,s\n1,NA\nNA,\n,x\n-,-\n")
    assert content(path) == {"n": ["1", "NA", "", "-"], "s": ["NA", "", "x", "-"]}
    assert content(path, null=["", "NA", "-"]) == {"n": [1, None, None, None], "s": [None, None, "x", None]}
    path = write(tmp_path, "u.csv", "n,s\n1,NA\nNA,\n,x\n")
    assert content(path) == {"n": [1, None, None], "s": ["NA", "", "x"]}


def test_the_decimal_point(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "price;n\n1,5;1\n-20,25;2\n")
    assert content(path, decimal=",") == {"price": [1.5, -20.25], "n": [1, 2]}
    assert content(path) == {"price": ["1,5", "-20,25"], "n": [1, 2]}
    assert content(path, decimal=",", types={"price": pa.decimal128(6, 2)})["price"] == [
        Decimal("1.5"),
        Decimal("-20.25"),
    ]
    path = write(tmp_path, "u.csv", "price;n\n1,5;1\n1.5;2\nx;3\n")
    source = read(path, decimal=",", types={"price": "double"}, on_error="skip")
    assert table(source).to_pydict() == {"price": [1.5], "n": [1]}


# ---- what is decided ----


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "^", "\x01"])
def test_delimiters_are_recognised(delimiter: str, tmp_path: Path) -> None:
    rows = [["id", "name", "at"], ["1", "Doe, John; Jr.", "2024-01-31 10:00:00"], ["2", "x", ""], ["3", "a b c", ""]]
    sink = io.StringIO()
    csv.writer(sink, delimiter=delimiter, lineterminator="\n").writerows(rows)
    path = write(tmp_path, "t.csv", sink.getvalue())
    assert decided(path) == {"delimiter": delimiter, "quote": '"', "header": True, "encoding": "utf-8"}
    assert content(path)["name"] == ["Doe, John; Jr.", "x", "a b c"]
    assert content(path)["id"] == [1, 2, 3]


def test_the_ending_decides_in_doubt(tmp_path: Path) -> None:
    assert content(write(tmp_path, "t.tsv", "a\tb\n1\tx,y\n")) == {"a": [1], "b": ["x,y"]}
    assert decided(write(tmp_path, "u.tsv", "a\n1\n"))["delimiter"] == "\t"
    assert content(write(tmp_path, "t.csv", "time\n10:20\n11:30\n")) == {"time": ["10:20", "11:30"]}


@pytest.mark.parametrize(
    "texts",
    [
        ["2026-10-11 19:26:49", "2026-09-08 20:09:25", "2026-12-03 19:33:03"],
        ["10:00:00.5 pm", "11:00:00.5 am", "12:30:00 am"],
        ["1/2/2026, 10:00 UTC", "1/3/2026, 11:00 UTC", "1/4/2026, 12:00 UTC"],
        ["5 Jan 2026", "6 Jan 2026", "17 February 2026"],
        ["https://example.org/a", "http://example.org/b", "s3://bucket/key"],
        ["C:\\data\\a", "C:\\data\\b", "D:\\c"],
        ["08:00:2b:01:02:03", "08:00:2b:01:02:04", "08:00:2b:01:02:05"],
    ],
)
@pytest.mark.parametrize("header", [[], ["started at"], ["at"]])
def test_one_column_of_values_with_blanks_or_colons(texts: list[str], header: list[str], tmp_path: Path) -> None:
    """They would cut the values into records of the same length."""
    sink = io.StringIO()
    csv.writer(sink, lineterminator="\n").writerows([text] for text in [*header, *texts])
    path = write(tmp_path, "t.csv", sink.getvalue())
    (column,) = content(path, types={header[0] if header else "column_1": "string"}, header=bool(header)).values()
    assert column == texts


def test_json_in_a_file_with_tabs(tmp_path: Path) -> None:
    rows = [['{"a": 1, "b": "x"}', "['p', 'q', 'r']"], ['{"a": 2, "b": "y"}', "['s', 't', 'u']"]]
    path = write(tmp_path, "plain.csv", "".join(f"{a}\t{b}\n" for a, b in rows))
    assert decided(path, header=False)["delimiter"] == "\t"
    assert content(path, header=False) == {"column_1": [row[0] for row in rows], "column_2": [row[1] for row in rows]}
    sink = io.StringIO()
    csv.writer(sink, delimiter="\t", lineterminator="\n").writerows(rows)
    path = write(tmp_path, "quoted.csv", sink.getvalue())
    assert content(path, header=False) == {"column_1": [row[0] for row in rows], "column_2": [row[1] for row in rows]}


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_commas_inside_of_all_quoted_values(delimiter: str, tmp_path: Path) -> None:
    """As many in each record as there are delimiters."""
    rows = [["Roe, Jane", "25.11.2026"], ["Doe, John", "16.02.2018"], ["Poe, Jim", ""]]
    sink = io.StringIO()
    csv.writer(sink, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(rows)
    path = write(tmp_path, "t.csv", sink.getvalue())
    assert decided(path, header=False) == {"delimiter": delimiter, "quote": '"', "encoding": "utf-8"}
    assert content(path, header=False)["column_1"] == [row[0] for row in rows]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_commas_with_blanks_behind_them(delimiter: str, tmp_path: Path) -> None:
    rows = [["Roe, Jane", "25"], ["Doe, John", "16"], ["Poe, Jim", "3"]]
    path = write(tmp_path, "t.csv", "".join(f"{delimiter.join(row)}\n" for row in rows))
    assert content(path, header=False) == {"column_1": [row[0] for row in rows], "column_2": [25, 16, 3]}
    assert content(write(tmp_path, "u.csv", "a, b\nx, 1\n")) == {"a": ["x"], " b": [1]}


def test_one_column_of_text_with_few_delimiters(tmp_path: Path) -> None:
    texts = [*["as usual"] * 10, "for once; this", "or^that | here\tand there"]
    path = write(tmp_path, "t.csv", "\n".join(["text", *texts]))
    assert content(path) == {"text": texts}


def test_excels_note_about_the_delimiter(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "sep=;\r\na;b\r\n1;2,5\r\n")
    assert content(path, decimal=",") == {"a": [1], "b": [2.5]}
    assert decided(path)["skip"] == 1


def test_quotes_are_recognised(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "id,name\n1,'x,y'\n2,'it''s'\n")
    assert decided(path)["quote"] == "'"
    assert content(path) == {"id": [1, 2], "name": ["x,y", "it's"]}
    path = write(tmp_path, "b.tsv", 'id\ttext\n1\t"quoted" only here\n2\t"never closed\n3\tx\n4\ty\n')
    assert decided(path)["quote"] == ""
    assert content(path)["text"] == ['"quoted" only here', '"never closed', "x", "y"]
    assert content(path, quote="")["id"] == [1, 2, 3, 4]
    path = write(tmp_path, "c.csv", "n,s\n1,it's\n2,'tis\n")
    assert content(path) == {"n": [1, 2], "s": ["it's", "'tis"]}
    path = write(tmp_path, "d.csv", '"Dec 8, 2022"\n"Sep 26, 2022"\n')
    assert content(path, header=False) == {"column_1": ["Dec 8, 2022", "Sep 26, 2022"]}


@pytest.mark.parametrize(
    "texts",
    [
        ["O'Neil, John", "Roe, Jane", "Doe, Jim"],
        ["It's so, it is", "plain", "no, it isn't"],
        ["['a','b','c']", "['d','e','f']"],
        ["{'a': 1, 'b': 2}", "{'a': 2, 'b': 1}"],
    ],
)
@pytest.mark.parametrize("header", [[], ["text"]])
def test_apostrophes_in_a_column_of_quoted_values(texts: list[str], header: list[str], tmp_path: Path) -> None:
    """They are no quotes, although that would give records of the same length."""
    sink = io.StringIO()
    csv.writer(sink, lineterminator="\n").writerows([text] for text in [*header, *texts])
    path = write(tmp_path, "t.csv", sink.getvalue())
    assert decided(path, header=bool(header))["quote"] == '"'
    assert list(content(path, header=bool(header)).values()) == [texts]


def test_headers_are_recognised(tmp_path: Path) -> None:
    path = write(tmp_path, "a.csv", "1,Oslo,true\n2,Rome,false\n")
    assert decided(path)["header"] is False
    assert content(path) == {"column_1": [1, 2], "column_2": ["Oslo", "Rome"], "column_3": [True, False]}
    assert content(path, header=True) == {"1": [2], "Oslo": ["Rome"], "true": [False]}
    assert content(path, columns=["id", "city", "ok"])["id"] == [1, 2]
    path = write(tmp_path, "b.csv", "country,2019,2020,2021\nDE,1.5,2.5,3.5\n")
    assert read(path).schema.names == ["country", "2019", "2020", "2021"]
    assert read(write(tmp_path, "c.csv", "city,land\nOslo,NO\nRome,IT\n")).schema.names == ["city", "land"]
    assert read(write(tmp_path, "e.csv", "country,2020\nDE,1.5\nFR,2.5\n")).schema.names == ["country", "2020"]
    path = write(tmp_path, "h.csv", "country,1990,1995,2000,2001\nDE,7,8,9,9\nFR,1,1,2000,4\n")
    assert read(path).schema.names == ["country", "1990", "1995", "2000", "2001"]
    assert decided(write(tmp_path, "f.csv", "DE,2020\nFR,2019\nIT,7\n"))["header"] is False
    assert decided(write(tmp_path, "g.csv", "DE,1.5\nFR,2020\n"))["header"] is False
    path = write(tmp_path, "d.csv", "yes,red\nno,red\nyes,blue\nno,red\n")
    assert table(read(path)).num_rows == 4
    # The caller's name of a column is in the header.
    assert content(write(tmp_path, "e.csv", "1,2\n3,4\n"), types={"1": "int8"}) == {"1": [3], "2": [4]}


def test_names_of_columns(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "a,b,a\n1,2,3\n")
    with pytest.raises(InvalidSchema, match=r"expected unique names, found 'a' twice.*columns= or --columns.*t\.csv"):
        read(path)
    assert content(path, duplicates="rename") == {"a": [1], "b": [2], "a_1": [3]}
    assert content(path, columns=["x", "y", "z"]) == {"x": [1], "y": [2], "z": [3]}
    with pytest.raises(InvalidArgument, match=r"columns: expected 3 names, found 1.*t\.csv"):
        read(path, columns=["x"])
    path = write(tmp_path, "u.csv", ",a_1,a,a\n1,2,3,4\n")
    assert content(path, duplicates="rename") == {"column_1": [1], "a_1": [2], "a": [3], "a_2": [4]}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "cp1252", "latin-1"])
def test_encodings_are_recognised(encoding: str, tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "Straße;n\nMüller;1\nZürich;2\n".encode(encoding))
    assert content(path) == {"Straße": ["Müller", "Zürich"], "n": [1, 2]}
    expected = {"utf-8-sig": "utf-8", "latin-1": "cp1252"}
    assert decided(path)["encoding"] == expected.get(encoding, encoding)
    assert "encoding" not in decided(path, encoding=encoding)
    assert content(path, encoding=encoding)["n"] == [1, 2]


def test_encodings_that_are_wrong(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", b"s,n\na,1\n\xff,2\nb,3\n")
    assert content(path)["s"] == ["a", "ÿ", "b"]
    with pytest.raises(CorruptedData, match=r"bytes that are not utf-8 in a value of column 's'.*t\.csv, line 3\)"):
        content(path, encoding="utf-8")
    source = read(path, encoding="utf-8", on_error="skip")
    assert table(source).to_pydict() == {"s": ["a", "b"], "n": [1, 3]}
    assert bad(source) == [("t.csv", 3)]
    assert content(path, encoding="utf-8", types={"s": pa.binary()})["s"] == [b"a", b"\xff", b"b"]
    with pytest.raises(InvalidArgument, match="encoding: expected a name such as utf-8"):
        read(path, encoding="klingon")
    path = write(tmp_path, "u.csv", b"s\xff,n\na,1\n")
    with pytest.raises(CorruptedData, match=r"header: expected text in utf-8, found other bytes.*u\.csv, line 1\)"):
        read(path, encoding="utf-8")


def test_skipped_lines_and_comments(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", 'Report "of\r\n2024\r\na,b\r\n1,2\r\n#x"\r\n3,4\r\n')
    source = read(path, skip=2, comment="#")
    assert table(source).to_pydict() == {"a": [1, 3], "b": [2, 4]}
    path = write(tmp_path, "u.csv", "# made by hand\n# twice\na;b\n1;2\n# the end\n")
    assert decided(path)["comment"] == "#"
    assert content(path) == {"a": [1], "b": [2]}
    assert read(write(tmp_path, "v.csv", "#a;b\n1;2\n")).schema.names == ["#a", "b"]
    path = write(tmp_path, "w.csv", "x\n\na,b\n1,2\n3\n")
    with pytest.raises(CorruptedData, match=r"found 1 values where there are 2 columns.*line 5\)"):
        content(path, skip=2, header=True)


def test_comments_with_as_many_values_as_records(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "# made by hand\n# twice, really\na,b\n1,2\n")
    assert decided(path)["comment"] == "#"
    assert content(path) == {"a": [1], "b": [2]}


def test_a_header_behind_comments(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "##version=4\n##made, by hand\n#chrom\tpos\n1\t100\n1\t200\n")
    assert decided(path) == {"delimiter": "\t", "quote": '"', "skip": 2, "encoding": "utf-8", "header": True}
    assert content(path) == {"#chrom": [1, 1], "pos": [100, 200]}
    assert content(path, comment="#") == {"column_1": [1, 1], "column_2": [100, 200]}


@pytest.mark.parametrize(
    ("before", "skip"),
    [
        ("Report of 2024\n", 1),
        ("Report of 2024\n\n", 2),
        ("Vendor,Test\nEnd,2024\n", 2),
        ("Report\u2028of 2024\r\n\r\n\r\n", 3),
        (" \n", 1),
        ("7\n" * 21, 0),
    ],
)
def test_lines_before_the_header(before: str, skip: int, tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", before + "x,y,z\n1,2,3\n4,5,6\n")
    if not skip:
        with pytest.raises(CorruptedData, match="found 3 values where there are 1 columns"):
            content(path)
        return
    assert decided(path)["skip"] == skip
    assert content(path) == {"x": [1, 4], "y": [2, 5], "z": [3, 6]}


@pytest.mark.parametrize("text", ["5\n1,2\n3,4\n", "a\nb,c\nd,e\n", "a\nx,y\n1,2\n3\n", "a\nx,y\n"])
def test_short_records_at_the_beginning_are_bad_where_no_header_follows(text: str, tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", text)
    assert "skip" not in decided(path)
    with pytest.raises(CorruptedData, match="found 2 values where there are 1 columns"):
        content(path)


def test_lines_end_where_records_do(tmp_path: Path) -> None:
    """Python's lines end at more characters."""
    path = write(tmp_path, "t.csv", "one\x0ctwo\u2028three\na;b\n1;2\n")
    assert content(path, skip=1) == {"a": [1], "b": [2]}


def test_quotes_that_are_characters(tmp_path: Path) -> None:
    titles = ["!", '"', '"14"', '"2K1"_(album)', '"']
    path = write(tmp_path, "t.tsv", "n\ttitle\n" + "".join(f"{n}\t{title}\n" for n, title in enumerate(titles)))
    assert decided(path)["quote"] == ""
    assert content(path)["title"] == titles


def test_a_value_beyond_the_limit_of_python(tmp_path: Path) -> None:
    """The csv module raises an error for more than 131,072 characters."""
    long = "x" * 200_000
    path = write(tmp_path, "t.csv", f'{long},"a ""b"", {long}",c\n1,2,3\n')
    assert read(path).schema.names == [long, f'a "b", {long}', "c"]
    path = write(tmp_path, "u.csv", "n,s\n" + "1,a\n" * 3_000_000 + f"007,{long}\n")
    with pytest.raises(CorruptedData, match="'007', a number as the first records do not have it"):
        content(path)


ESCAPED = ["", "a", 'say "hi"', '"', "\\", "C:\\dir\\", '\\"', "two\nlines", 'a "b",\r\n"c"', "it's", "-"]


@given(
    rows=st.lists(st.lists(st.sampled_from(ESCAPED), min_size=2, max_size=2), min_size=1, max_size=8),
    size=st.integers(1, 40),
    delimiter=st.sampled_from([",", "\t", ";"]),
)
def test_escaped_quotes(rows: list[list[str]], size: int, delimiter: str) -> None:
    """However the text is cut."""
    sink = io.StringIO()
    writer = csv.writer(sink, delimiter=delimiter, escapechar="\\", doublequote=False, quoting=csv.QUOTE_ALL)
    writer.writerows(rows)
    data = sink.getvalue().encode()
    dialect = Dialect(delimiter=delimiter, escape="\\")
    stretches = stretches_of(InputFile.named("t.csv", MemoryContent(data)), dialect, size)
    texts = [records.text(place) for records in (each.records() for each in stretches) for place in range(len(records))]
    assert [values_of(text.decode(), dialect) for text in texts] == rows
    assert whole_records(data + b'"', dialect) == len(data)


def test_escapes_are_decided(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", 'n,s\n1,"say \\"hi\\", you"\n2,"C:\\\\"\n3,D:\\\\dir\n4,"a ""b"" \\c"\n')
    assert decided(path)["escape"] == "\\"
    assert content(path)["s"] == ['say "hi", you', "C:\\", r"D:\\dir", r'a "b" \c']
    with pytest.raises(CorruptedData, match=r"line 2\)"):
        content(path, escape="")
    path = write(tmp_path, "u.csv", 'n,s\n1,"C:\\dir\\"\n2,"a"\n')
    assert "escape" not in decided(path)
    assert content(path)["s"] == ["C:\\dir\\", "a"]
    for options in ({"escape": '"'}, {"escape": ",", "delimiter": ","}, {"escape": "\\", "quote": ""}):
        with pytest.raises(InvalidArgument, match="escape: expected another character than quote and delimiter"):
            read(path, **options)


def test_what_the_caller_says_is_checked(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "a,b\n1,2\n")
    for options in ({"delimiter": "ab"}, {"delimiter": "ü"}, {"quote": "''"}, {"escape": "ab"}, {"decimal": ""}):
        (name,) = options
        with pytest.raises(InvalidArgument, match=f"{name}: expected one ASCII character, found"):
            read(path, **options)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="skip: expected at least 0, found -1"):
        read(path, skip=-1)
    assert content(path, delimiter="|") == {"a,b": ["1,2"]}
    assert decided(path, delimiter=",", quote='"', header=True, encoding="utf-8") == {}


# ---- bad records ----


def test_bad_csv_records(tmp_path: Path) -> None:
    lines = ["n,s", "1,a", "2", '3,"two', 'lines"', "x,b", "", "4,c,d", "5,e"]
    path = write(tmp_path, "t.csv", "\n".join(lines))
    stated = {"n": pa.int64()}
    source = read(path, types=stated, on_error="skip")
    assert table(source).to_pydict() == {"n": [1, 3, 5], "s": ["a", "two\nlines", "e"]}
    assert bad(source) == [("t.csv", 3), ("t.csv", 6), ("t.csv", 8)]
    assert "found 1 values where there are 2 columns" in source.bad_records.examples[0].reason
    assert "'x' for int64 in column 'n'" in source.bad_records.examples[1].reason
    assert source.bad_records.examples[1].text == "x,b"
    with pytest.raises(CorruptedData, match=r"found 1 values where there are 2 columns \(file .*t\.csv, line 3\)"):
        content(path, types=stated)


CELLS = ["", "a", '"a"', '"a" ', '"a"b', '"a" b', '"a,b"', '"a""b"', '""', '""x', '""""', '"""a"', 'a"b"c', '5"']


@given(
    rows=st.lists(st.lists(st.sampled_from(CELLS), min_size=1, max_size=3), min_size=1, max_size=6),
    end=st.sampled_from(["\n", "\r\n"]),
    delimiter=st.sampled_from([",", "\t"]),
)
def test_odd_quotes(rows: list[list[str]], end: str, delimiter: str) -> None:
    records = [delimiter.join(row) + end for row in rows]
    ends = np.cumsum([len(record) for record in records], dtype=np.int64)
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    found = Records(InputFile("", ""), "".join(records).encode(), starts, ends, starts)
    odd = ('"a"b', '"a" b', '""x')
    expected = [any(cell in odd for cell in row) for row in rows]
    assert odd_quotes(found, Dialect(delimiter=delimiter)).tolist() == expected


@pytest.mark.parametrize("options", [{}, {"types": {"n": pa.int32()}}])
def test_text_behind_a_closing_quote(options: dict[str, Any], tmp_path: Path) -> None:
    """Arrow's own reader leaves the quotes out, and keeps the text."""
    path = write(tmp_path, "t.csv", 's,n\n"a, b",1\n"x"y,2\n"z" ,3\n"e\\"f",4\n"""",5\n')
    reason = "expected one that fits the schema, found text behind a closing \": quote=''"
    with pytest.raises(CorruptedData, match=rf"{reason}.*line 3\)"):
        content(path, **options)
    source = read(path, on_error="skip", **options)
    assert table(source).to_pydict() == {"s": ["a, b", "z ", '"'], "n": [1, 3, 5]}
    assert bad(source) == [("t.csv", 3), ("t.csv", 5)]


@pytest.mark.parametrize("record", ['"a,"b,1', '"a\n"b,1', '5","a,"b,1', '"a","b,"c', '"a\r\n,"b,2'])
def test_text_behind_a_quote_that_closes_behind_a_delimiter_or_a_line_end(record: str, tmp_path: Path) -> None:
    """Such a quote looks like one that opens a value."""
    path = write(tmp_path, "t.csv", f's,t\n"x, y",1\n{record}\n"x\n",2\n",",3\n')
    with pytest.raises(CorruptedData, match=r"found (text behind a closing|3 values where).*line 3\)"):
        content(path, quote='"', header=True)
    source = read(path, on_error="skip", quote='"', header=True)
    assert list(map(str, table(source)["t"].to_pylist())) == ["1", "2", "3"]
    assert source.bad_records.count == 1


def test_text_behind_a_closing_quote_in_the_header(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", '"size" (m),n\n1,2\n')
    with pytest.raises(CorruptedData, match=r"header: .* found text behind a closing \": quote=''.*line 1\)"):
        content(path, quote='"')
    assert list(content(path, quote="")) == ['"size" (m)', "n"]


def test_a_quote_that_nobody_closes(tmp_path: Path) -> None:
    """Arrow's own reader takes the rest of the file for one value."""
    path = write(tmp_path, "u.csv", 'n,s\n1,a\n2,"b\n3,c\n')
    source = read(path, quote='"', on_error="skip")
    assert table(source).to_pydict() == {"n": [1, 3], "s": ["a", "c"]}
    assert bad(source) == [("u.csv", 3)]
    assert source.bad_records.examples[0].text == '2,"b'
    with pytest.raises(CorruptedData, match=r"expected a quote that closes the value, found none.*line 3\)"):
        content(path, quote='"')
    path = write(tmp_path, "v.csv", 'n,s\n"1\n2","b\n3,c\n4,d\n')
    source = read(path, quote='"', on_error="skip")
    assert bad(source) == [("v.csv", 3)]  # where the quote opens, not where its record begins
    assert table(source)["n"].to_pylist() == [3, 4]
    assert content(path, quote='"', on_error="keep")["bad_record"] == [None, None, '"1\n2","b']
    path = write(tmp_path, "w.csv", f'n,s\n1,a\n2,"{"b" * 5000}\n3,c\n')
    assert content(path, quote='"', on_error="keep")["bad_record"][-1] == f'2,"{"b" * 5000}'


def test_any_line_end(tmp_path: Path) -> None:
    for end in ("\n", "\r\n", "\r", "\r\r\n"):
        assert content(write(tmp_path, "t.csv", f"a,b{end}1,2{end}{end}3,4{end}")) == {"a": [1, 3], "b": [2, 4]}
    path = write(tmp_path, "u.csv", 'a,b\n1,2\r3,4\n5,6\r\n7,"x\ry"\nbad\n')
    source = read(path, types={"b": "string"}, on_error="skip")
    assert table(source).to_pydict() == {"a": [1, 3, 5, 7], "b": ["2", "4", "6", "x\ry"]}
    assert bad(source) == [("u.csv", 7)]


def test_quotes_inside_values(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", 'n,s\n1,5" disk\n2,"say ""hi"""\n3,"a,\n""b"""\n4,x"\n')
    assert content(path) == {"n": [1, 2, 3, 4], "s": ['5" disk', 'say "hi"', 'a,\n"b"', 'x"']}


@pytest.mark.parametrize(
    ("late", "trouble"),
    [
        ("2.5", "found invalid value '2.5' for int64 in column 'n'"),
        ("08", "found '08', a number as the first records do not have it, in column 'n'"),
        ("+8", "invalid value '.8' for int64 in column 'n'"),
        ("0x8", "found '0x8', a number as the first records do not have it, in column 'n'"),
    ],
)
def test_a_value_of_another_type_turns_up_late(late: str, trouble: str, tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "n,s\n" + "1,some text\n" * 500_000 + f"{late},late\n")
    way_out = r"; set the type of column 'n' \(types= or --type\) \(file .*line 500002\)"
    with pytest.raises(CorruptedData, match=trouble + way_out):
        content(path)
    assert table(read(path, types={"n": "string"}))["n"].to_pylist()[-1] == late
    source = read(path, on_error="skip")
    assert bad(source) == [("t.csv", 500_002)]


@pytest.mark.slow
def test_integers_are_not_rounded(tmp_path: Path) -> None:
    """A reader that takes large identifiers for floats makes others of them."""
    path = write(tmp_path, "t.csv", "n,s\n" + "1.5,some text\n" * 400_000 + f"{2**53 + 1},late\n9e300,x\n")
    with pytest.raises(CorruptedData, match=r"found 9007199254740993, which a double would round, in column 'n'; set"):
        content(path)
    source = read(path, on_error="skip")
    assert bad(source) == [("t.csv", 400_002)]
    assert table(read(path, types={"n": pa.float64()}))["n"].to_pylist()[-2:] == [2.0**53, 9e300]


@pytest.mark.slow
def test_numbers_that_are_too_large_for_a_double(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "n,s\n" + "1.5,some text\n" * 400_000 + "-1e400,late\ninf,x\n")
    with pytest.raises(CorruptedData, match=r"found -1e400, which no double can hold, in column 'n'; set"):
        content(path)
    source = read(path, on_error="skip")
    assert table(source)["n"].to_pylist()[-2:] == [1.5, math.inf]
    assert bad(source) == [("t.csv", 400_002)]


def test_skipped_records_are_counted_and_some_are_shown(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "a,b\n" + "1,2\n" + "broken\n" * 25 + "3,4\n")
    source = read(path, on_error="skip", delimiter=",")
    assert table(source).num_rows == 2
    assert source.bad_records.count == 25
    assert [found.line for found in source.bad_records.examples] == list(range(3, 13))
    assert "count=25" in repr(source.bad_records)
    list(source.batches())
    assert source.bad_records.count == 25


@pytest.mark.slow
def test_records_that_are_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("amudai.sources.records", "amudai.sources.csv.records"):
        monkeypatch.setattr(f"{module}.LONGEST", 1000)
    data = b"a,b\n1,2\n" + b"x" * 5000 + b"\n3,4\r\n" + b'5,"' + b"y\n" * 3000 + b'6",6\r\n7,8\n' + b"z" * 2000
    file = InputFile.at(str(write(tmp_path, "t.csv", data)))
    for size in (1, 7, 100):
        stretches = list(stretches_of(file, Dialect(), size))
        found = [
            (int(line), records.text(index).strip())
            for records in (stretch.records() for stretch in stretches)
            for index, line in enumerate(records.lines)
        ]
        refused = [(line, reason, text[:3]) for stretch in stretches for line, reason, text in stretch.refused]
        assert [each for each in found if each[1] != b"y"] == [
            (1, b"a,b"), (2, b"1,2"), (4, b"3,4"), (3005, b'6",6'), (3006, b"7,8")
        ]  # fmt: skip
        assert refused == [
            (3, "expected at most 1000 bytes, found more", b"xxx"),
            (5, "expected a quote that closes the value, found none", b'5,"'),
            (3007, "expected at most 1000 bytes, found more", b"zzz"),
        ]


numbers = st.integers(-9, 9).map(str)
words = st.sampled_from(
    ["", "x", " 7 ", "1.5", "NA", "true", "2024-01-01", '"5"', "9" * 30, "ü", "1,2", '"a\nb"', "07"]
)


@settings(deadline=None)
@given(
    rows=st.lists(st.tuples(st.one_of(numbers, words), words), min_size=1, max_size=12),
    stated=st.sampled_from([pa.int64(), pa.float64(), pa.bool_(), pa.date32(), pa.string(), pa.timestamp("s")]),
)
@example(rows=[("0", "1,2"), ("9" * 30, "")], stated=pa.float64())  # a bad record beside a number that doubles round
def test_skipping_agrees_with_reading_one_by_one(
    rows: list[tuple[str, str]], stated: pa.DataType, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """However bad records are found, the others are those that can be read alone."""
    folder = tmp_path_factory.mktemp("skip")
    options: dict[str, Any] = {
        "types": {"n": stated, "s": pa.string()}, "on_error": "skip", "header": True, "delimiter": ",", "quote": '"'
    }  # fmt: skip
    lines = [f"{number},{word}" for number, word in rows]
    source = read(write(folder, "all.csv", "n,s\n" + "".join(line + "\n" for line in lines)), **options)
    expected = []
    for line in lines:
        alone = read(write(folder, "one.csv", f"n,s\n{line}\n"), **options)
        expected += table(alone).to_pylist()
    assert table(source).to_pylist() == expected
    assert source.bad_records.count == len(rows) - len(expected)
    found = [record.line for record in source.bad_records.examples]
    assert found == sorted(found)


# ---- records, wherever blocks end ----

cells = st.text(st.sampled_from('ab,"\n\r x'), max_size=6)


@settings(deadline=None)
@given(rows=st.lists(st.lists(cells, min_size=2, max_size=3), min_size=1, max_size=6), size=st.integers(1, 40))
def test_records_are_found_in_any_block(
    rows: list[list[str]], size: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    sink = io.StringIO()
    csv.writer(sink, lineterminator="\n").writerows(rows)
    text = sink.getvalue()
    file = InputFile.at(str(write(tmp_path_factory.mktemp("csv"), "t.csv", text)))
    found = [
        (int(line), next(csv.reader(io.StringIO(records.text(index).decode(), newline=""))))
        for records in (stretch.records() for stretch in stretches_of(file, Dialect(), size))
        for index, line in enumerate(records.lines)
    ]
    reader = csv.reader(io.StringIO(text, newline=""))
    lines, expected = 1, []
    for row in reader:
        if row:
            expected.append((lines, row))
        lines = reader.line_num + 1
    assert found == expected


@pytest.mark.slow
def test_threads_keep_the_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amudai.sources.csv.reader._BLOCK", 1000)
    monkeypatch.setenv("AMUDAI_THREADS", "4")
    path = write(tmp_path, "t.csv", "n,s\n" + "".join(f"{n},x\n" if n % 97 else f"{n}\n" for n in range(5000)))
    source = read(path, on_error="skip")
    assert table(source)["n"].to_pylist() == [n for n in range(5000) if n % 97]
    skipped: list[int] = []
    source = read(path, on_error="skip", on_bad_record=lambda record: skipped.append(record.line))
    list(source.batches())
    assert skipped == list(range(2, 5002, 97))
    with pytest.raises(CorruptedData, match=r"line 2\)"):
        content(path)
