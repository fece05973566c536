"""The dialect of a CSV file: its delimiter and its quote, decided from the beginning of the file."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice, takewhile
from typing import Final

from amudai.arguments import shown, whole_number
from amudai.errors import InvalidArgument
from amudai.sources.contract import CsvOptions, Decision
from amudai.sources.csv.escapes import unescaped
from amudai.sources.csv.header import has_header, is_clearly_header

__all__ = ["Dialect", "decided_dialect", "lines_of", "rows_of", "told_dialect", "values_of", "values_of_each"]

_PREFERRED: Final = {".tsv": "\t", ".tab": "\t", ".psv": "|"}
# How far each delimiter is believed. Spaces and colons are in most texts.
_DELIMITERS: Final = {
    ",": 1.0,
    ";": 1.0,
    "\t": 1.0,
    "|": 1.0,
    "\x1f": 1.0,
    "\x01": 1.0,
    "^": 0.9,
    "~": 0.9,
    ":": 0.5,
    " ": 0.5,
}
_WEAK: Final = frozenset(": ")
_HASH: Final = "#"
_BACKSLASH: Final = "\\"
# Excel's note about the delimiter, in a line of its own.
_NOTE: Final = re.compile(r'"?sep=(.)"?\s*?\r?\n')

_NUMBER: Final = r"[-+]?[$€£]?(?:\d[\d.,' ]*|[.,]\d+)(?:[eE][-+]?\d+)?\s?[%€$£]?"
_REST: Final = r"[^\s;|]*"  # of a time: seconds, a zone
_TIME: Final = (
    rf"\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}(?:[T ]\d\d?:\d\d{_REST}(?: ?[AP]M)?)?|\d\d?:\d\d(?::\d\d)?{_REST}"
)
# What one value may be. A text with other delimiters inside may be several values.
_CLEAN: Final = re.compile(rf"\s*(?:{_NUMBER}|{_TIME}|\{{.*\}}|\[.*\]|[^,;\t|\x1f\x01^~]*)\s*", re.IGNORECASE)
# What a record of one column may be that has blanks and colons inside: times (2026-03-02 10:00:00 +02:00, 5 Jan 2026),
# URLs, paths of Windows, addresses of hardware.
_DATE: Final = r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}|\d\d? [a-z]{3,9}\.?,? \d{4}|[a-z]{3,9}\.? \d\d?,? \d{4}"
_CLOCK: Final = r"\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?(?:[ap]m|[a-z]{1,5}|[-+]\d\d(?::?\d\d)?))?"
_PLACE: Final = r"[a-z][a-z\d+.-]*:[/\\]\S*|(?:[\da-f]{2}:){5}[\da-f]{2}"
_ONE_VALUE: Final = re.compile(rf"(?:(?:{_DATE})(?:,? |T))?{_CLOCK}|{_DATE}|{_PLACE}", re.IGNORECASE)
_WRAPPED: Final = re.compile(r"'(?:[^']|'')*'")
_FEW: Final = 400  # records that are looked at
_MOST_LINES: Final = 50  # of one value
_CLEARLY: Final = 1.05
_BROKEN: Final = 0.8
_SPACED: Final = 0.99
_MOSTLY_ONE: Final = 0.8
_MOST_TITLES: Final = 20  # lines before the header


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """How the text of a file becomes records.

    Attributes
    ----------
    quote, escape, comment
        Empty if there is none.
    skip
        Lines at the beginning that are left out.
    has_empty
        Whether an empty line after the first record is a record, too.
    """

    delimiter: str = ","
    quote: str = '"'
    escape: str = ""
    comment: str = ""
    skip: int = 0
    encoding: str = "utf-8"
    has_empty: bool = False


def told_dialect(options: CsvOptions, encoding: str, ending: str) -> Dialect:
    """The dialect that the caller stated, with defaults for what is to be decided."""
    for name in ("delimiter", "quote", "escape", "decimal"):
        text = getattr(options, name)
        may_be_none = name in ("quote", "escape") and text == ""
        if text is not None and not may_be_none and not (len(text) == 1 and text.isascii()):
            raise InvalidArgument(f"{name}: expected one ASCII character, found {text!r}")
    if options.comment is not None and not options.comment.isprintable():
        raise InvalidArgument(f"comment: expected printable characters, found {shown(options.comment)}")
    if options.escape and (options.quote == "" or options.escape in (options.quote or '"', options.delimiter)):
        raise InvalidArgument(f"escape: expected another character than quote and delimiter, found {options.escape!r}")
    skip = whole_number(options.skip, "skip")
    return Dialect(
        delimiter=options.delimiter if options.delimiter is not None else _PREFERRED.get(ending, ","),
        quote=options.quote if options.quote is not None else '"',
        escape=options.escape or "",
        comment=options.comment or "",
        skip=skip,
        encoding=encoding,
    )


def rows_of(text: str, dialect: Dialect, most: int | None = None) -> list[list[str]]:
    """The values of records, without empty lines; those of the first `most` records if told.

    >>> rows_of("a;'b;c'", Dialect(delimiter=";", quote="'"))
    [['a', 'b;c']]
    """
    rows: list[list[str]] = []
    # A value may be beyond the limit of the csv module. The rows so far are a sample too.
    with suppress(csv.Error):
        rows.extend(islice((row for row in _reader(io.StringIO(text, newline=""), dialect) if row), most))
    return rows


def _reader(lines: Iterable[str], dialect: Dialect) -> Iterator[list[str]]:
    return csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quotechar=dialect.quote or None,
        quoting=csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
    )


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends, as records see them: other separators of Unicode are characters."""
    return list(io.StringIO(text, newline=""))


def values_of(record: str, dialect: Dialect) -> list[str]:
    """The values of one record, however long they are.

    >>> values_of('a,"b,""c"', Dialect())
    ['a', 'b,"c']
    """
    rows = rows_of(record, dialect, 1)
    if rows:
        return rows[0]
    # A value beyond the limit of the csv module.
    text, mark, quote = record.rstrip("\r\n"), re.escape(dialect.delimiter), re.escape(dialect.quote)
    quoted = rf"(?:{quote}([^{quote}]*(?:{quote}{quote}[^{quote}]*)*){quote})?" if quote else "()"
    cell = re.compile(rf"{quoted}([^{mark}]*)")
    values, at = [], 0
    while at <= len(text):
        found = cell.match(text, at)
        assert found is not None
        values.append((found[1] or "").replace(2 * dialect.quote, dialect.quote) + found[2])
        at = found.end() + 1
    return values


def values_of_each(records: Sequence[str], dialect: Dialect) -> list[list[str]]:
    """The values of many records, as `values_of` finds them one by one.

    >>> values_of_each(["a,b", '"c'], Dialect())
    [['a', 'b'], ['c']]
    """
    with suppress(csv.Error):
        rows = list(_reader(records, dialect))
        # There are fewer where a quote that does not close takes in the next record.
        if len(rows) == len(records) and all(rows):
            return rows
    return [values_of(record, dialect) for record in records]


def decided_dialect(
    sample: str, told: Dialect, options: CsvOptions, ending: str, *, is_whole: bool
) -> tuple[Dialect, list[Decision]]:
    """The dialect of a file that begins with `sample`, without the lines that the caller skips.

    A delimiter is good if it gives records of the same length, and values that look like one value each. Quotes are
    `"` unless values are wrapped in `'`, or `"` occurs where no quote can be. Lines that begin with `#` are comments if
    the first line is one, unless all at the beginning have as many values as the records.
    """
    dialect, decisions = told, []
    note = _NOTE.match(sample)
    if note is not None and options.delimiter is None:
        sample = sample[note.end() :]
        dialect = replace(dialect, delimiter=note[1], skip=dialect.skip + 1)
        decisions.append(Decision("skip", dialect.skip, "the first line names the delimiter"))
    lines = lines_of(sample)
    comment = told.comment or (_HASH if options.comment is None and sample.startswith(_HASH) else "")
    body = "".join(line for line in lines if not line.startswith(comment)) if comment else sample
    found = _delimited(body, dialect, options, ending, is_whole) if note is None else dialect
    if comment and not told.comment:
        if body and not _begins_with_record(lines, body, found, is_whole):
            found = replace(found, comment=comment)
            decisions.append(Decision("comment", comment))
        else:
            body = sample
            found = _delimited(body, dialect, options, ending, is_whole) if note is None else dialect
    if found.escape:
        body = _unescaped(body, found)
    elif options.escape is None and found.quote and _has_escapes(body, found, is_whole):
        found = replace(found, escape=_BACKSLASH)
        body = _unescaped(body, found)
        decisions.append(Decision("escape", found.escape))
    if options.quote is None:
        found = replace(found, quote=_quote(body, found, is_whole))
        decisions.insert(0, Decision("quote", found.quote))
    if note is None and not told.skip and not told.comment and options.header is not False:
        before, reason = _lines_before(lines, body, found, is_whole)
        if before:
            found = replace(found, skip=before, comment="")
            decisions = [each for each in decisions if each.option != "comment"]
            decisions.append(Decision("skip", before, reason))
    if options.delimiter is None:
        decisions.insert(0, Decision("delimiter", found.delimiter))
    return found, decisions


def _unescaped(text: str, dialect: Dialect) -> str:
    return unescaped(text.encode(), dialect.delimiter, dialect.quote, dialect.escape).decode()


def _has_escapes(sample: str, dialect: Dialect, is_whole: bool) -> bool:
    """Whether quotes close in the middle of values unless a backslash escapes them."""
    if _BACKSLASH + dialect.quote not in sample or not _is_broken(sample, dialect, is_whole):
        return False
    plain = _unescaped(sample, replace(dialect, escape=_BACKSLASH))
    return not _is_broken(plain, dialect, is_whole) and _score(plain, dialect, is_whole) >= _score(
        sample, dialect, is_whole
    )


def _lines_before(lines: Sequence[str], body: str, dialect: Dialect, is_whole: bool) -> tuple[int, str]:
    """How many lines at the beginning are left out because the header follows them, and why; 0 if none are.

    They are comments if the last line of a block of comments has as many values as the records, which have no header.
    They are titles if they are shorter than all records, and what follows is clearly a header or behind an empty line.
    """
    rows = _sampled(body, dialect, is_whole)
    length = _length(rows)
    if length == 1:
        return 0, ""
    if dialect.comment == _HASH:
        count = next((place for place, line in enumerate(lines) if not line.startswith(_HASH)), len(lines))
        is_header = count > 1 and len(values_of(lines[count - 1], dialect)) == length and not has_header(rows)
        return (count - 1, "comments before the header") if is_header else (0, "")
    first = next(place for place, row in enumerate(rows) if len(row) == length)
    records = rows[first:]
    if not 0 < first <= _MOST_TITLES or len(records) < 2 or any(len(row) != length for row in records):
        return 0, ""
    # Titles are lines of their own, and so are the empty lines among them.
    texts = [place for place, line in enumerate(lines) if line.strip("\r\n")]
    before = texts[first] if first < len(texts) else 0
    if any(len(row) > length for row in rows[:first]) or values_of(lines[before], dialect) != records[0]:
        return 0, ""
    is_apart = not lines[before - 1].strip()
    return (before, "lines before the header") if is_apart or is_clearly_header(records) else (0, "")


def _begins_with_record(lines: Sequence[str], body: str, dialect: Dialect, is_whole: bool) -> bool:
    """Whether lines at the beginning that look like comments have as many values as the records, as a header has."""
    length = _length(_sampled(body, dialect, is_whole))
    comments = takewhile(lambda line: line.startswith(_HASH), lines)
    return all(len(values_of(line, dialect)) == length for line in comments)


def _delimited(sample: str, dialect: Dialect, options: CsvOptions, ending: str, is_whole: bool) -> Dialect:
    """The dialect with the best delimiter."""
    if options.delimiter is not None:
        return dialect
    best, most = dialect, 0.0
    for delimiter, belief in _DELIMITERS.items():
        weight = belief * (2 if _PREFERRED.get(ending) == delimiter else 1)
        if delimiter not in sample or weight <= most:
            continue  # no score is above 1
        tried = replace(dialect, delimiter=delimiter)
        quotes = [options.quote] if options.quote is not None else _quotes(sample, tried, is_whole)
        for quote in quotes:
            rows = _sampled(sample, replace(tried, quote=quote), is_whole)
            # Where quotes close in the middle of values, another delimiter is likely to put them around whole ones.
            share = weight * _BROKEN if "" in quotes else weight
            if _score_of(rows, tried, clean=1.0) * share <= most:
                continue  # it has too few records of the same length, whatever the values are
            if delimiter in _WEAK and _are_values(rows, delimiter):
                continue
            score = _score_of(rows, tried, _clean_share(rows, delimiter)) * share
            if _are_spaced(rows):
                score *= _SPACED  # a comma in `Doe, Jane|7` is part of a text, if another delimiter is as good
            if score > most:
                best, most = tried, score
    return best


def _quotes(sample: str, dialect: Dialect, is_whole: bool) -> list[str]:
    """The quotes that a sample can have."""
    quotes = ['"']
    # Most texts with a `'` have it as an apostrophe: no value begins with it.
    if _begins_values("'", sample, dialect) and not _is_one_column(sample, dialect, is_whole):
        quotes.append("'")
    if '"' in sample and _is_broken(sample, replace(dialect, quote='"'), is_whole):
        quotes.append("")
    return quotes


def _are_spaced(rows: list[list[str]]) -> bool:
    """Whether a blank follows each delimiter."""
    return all(value.startswith(" ") for row in rows for value in row[1:] if value)


def _are_values(rows: list[list[str]], delimiter: str) -> bool:
    """Whether each record behind the first is one value, which the delimiter would cut."""
    return all(_ONE_VALUE.fullmatch(delimiter.join(row).strip()) for row in rows[1:])


def _begins_values(quote: str, sample: str, dialect: Dialect) -> bool:
    return quote in sample and re.search(rf"(?:^|[\r\n]|{re.escape(dialect.delimiter)}){quote}", sample) is not None


def _is_one_column(sample: str, dialect: Dialect, is_whole: bool) -> bool:
    """Whether every record is one value, and some of them have the delimiter inside of `"`."""
    rows = _sampled(sample, replace(dialect, quote='"'), is_whole)
    return _length(rows) == 1 and any(dialect.delimiter in row[0] for row in rows)


def _quote(sample: str, dialect: Dialect, is_whole: bool) -> str:
    """The quote with the best records; `"` unless another one is clearly better."""
    quotes = _quotes(sample, dialect, is_whole)
    if quotes == ['"']:
        return '"'
    scores = {quote: _score(sample, replace(dialect, quote=quote), is_whole) for quote in quotes}
    if "'" in scores and scores["'"] >= scores['"'] and _is_wrapped(_sampled(sample, dialect, is_whole)):
        return "'"
    best = max(scores, key=scores.__getitem__)
    if scores[best] > _CLEARLY * scores['"']:
        return best
    if "" not in scores:
        return '"'
    is_plain = scores[""] >= scores['"'] and _never_closes(sample, dialect)
    return "" if is_plain or _needs_no_quotes(sample, dialect, is_whole) else '"'


def _needs_no_quotes(sample: str, dialect: Dialect, is_whole: bool) -> bool:
    """Whether all lines have as many values if quotes are characters, and no column is quoted throughout."""
    rows = _sampled(sample, replace(dialect, quote=""), is_whole)
    if len(rows) < 2 or len(rows[0]) == 1 or len({len(row) for row in rows}) > 1:
        return False
    columns = zip(*rows[1:], strict=True)
    return not any(all(value.startswith('"') for value in column if value) and any(column) for column in columns)


def _never_closes(sample: str, dialect: Dialect) -> bool:
    """Whether values often begin with a quote, and none ends with it."""
    mark = re.escape(dialect.delimiter)
    begins = re.findall(rf'(?:^|{mark})"', sample, re.MULTILINE)
    return len(begins) > 1 and re.search(rf'"\s*(?:{mark}|$)', sample, re.MULTILINE) is None


def _is_broken(sample: str, dialect: Dialect, is_whole: bool) -> bool:
    """Whether a quote closes in the middle of a value, or not at all."""
    reader = csv.reader(
        io.StringIO(sample, newline=""), delimiter=dialect.delimiter, quotechar=dialect.quote, strict=True
    )
    last = 0
    try:
        for _ in reader:
            last = reader.line_num
    except csv.Error:
        # The end of the sample may be within a value, but hardly in one that began long before.
        at_end = reader.line_num >= len(lines_of(sample))
        return is_whole or not at_end or reader.line_num - last > _MOST_LINES
    return False


def _is_wrapped(rows: list[list[str]]) -> bool:
    """Whether some column has only values in single quotes, besides numbers and empty ones."""
    columns: dict[int, list[str]] = {}
    for row in rows:
        for place, value in enumerate(row):
            if value.strip():
                columns.setdefault(place, []).append(value.strip())
    return any(len(values) > 1 and all(map(_WRAPPED.fullmatch, values)) for values in columns.values())


def _sampled(sample: str, dialect: Dialect, is_whole: bool) -> list[list[str]]:
    rows = rows_of(sample, dialect, _FEW + 1)
    if not is_whole and len(rows) > 1:
        rows.pop()  # it may go on behind the sample
    return rows[:_FEW]


def _length(rows: list[list[str]]) -> int:
    """How many values most records have; more than one, if some have more."""
    lengths = Counter(map(len, rows))
    return max(lengths.items(), key=lambda item: (item[0] > 1, item[1]), default=(1, 0))[0]


def _score(sample: str, dialect: Dialect, is_whole: bool) -> float:
    rows = _sampled(sample, dialect, is_whole)
    return _score_of(rows, dialect, _clean_share(rows, dialect.delimiter)) if _length(rows) > 1 else 0.0


def _score_of(rows: list[list[str]], dialect: Dialect, clean: float) -> float:
    """The score of records, given the share of values that look like one value."""
    length = _length(rows)
    if length == 1:
        return 0.0
    if sum(len(row) == 1 for row in rows) > _MOSTLY_ONE * len(rows):
        return 0.0  # a column of text, which has the delimiter now and then
    consistency = sum(len(row) == length for row in rows) / len(rows)
    if dialect.delimiter in _WEAK and (consistency < 1 or len(rows) < 3):
        return 0.0
    first = 1.0 if len(rows[0]) == length else 0.5
    return consistency**2 * first * (0.2 + 0.8 * clean) * (1 - 0.3 / length)


def _clean_share(rows: Iterable[list[str]], delimiter: str) -> float:
    """The share of values that look like one value. A value with the delimiter inside was quoted, and is one."""
    values = Counter(chain.from_iterable(rows))
    clean = sum(count for value, count in values.items() if delimiter in value or _CLEAN.fullmatch(value) is not None)
    return clean / max(1, values.total())
