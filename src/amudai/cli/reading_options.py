"""The options of `ingest` that say how files are read, from the command line to `amudai.read_files` and back."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final

import pyarrow as pa
import typer

from amudai import InvalidArgument

__all__ = [
    "ColumnNames",
    "Comment",
    "Decimal",
    "Delimiter",
    "Duplicates",
    "Encoding",
    "Escape",
    "Extract",
    "Header",
    "MixedZones",
    "Multiline",
    "Nan",
    "Nulls",
    "Pattern",
    "Quote",
    "Skip",
    "Timezone",
    "Types",
    "Year",
    "flags_of",
    "is_told",
    "reading_options",
    "type_flags",
]

_CSV: Final = "CSV"
_JSON: Final = "JSON"
_LOGS: Final = "Logs"

Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type", "-t", metavar="COLUMN=TYPE", help="Set the type of a column, as in status=int32. Can be repeated."
    ),
]
Encoding = Annotated[
    str | None, typer.Option("--encoding", metavar="NAME", help="Encoding of text files. Default: by content.")
]
Duplicates = Annotated[
    str, typer.Option("--duplicates", help="What to do with a second column of the same name: raise (stop) or rename.")
]
MixedZones = Annotated[
    str,
    typer.Option("--mixed-zones", help="What to do if only some times of a column have a zone: raise (stop) or text."),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="CHAR",
        help="Between values; tab for a tab. Default: by content.",
        rich_help_panel=_CSV,
    ),
]
Quote = Annotated[
    str | None,
    typer.Option(
        "--quote", metavar="CHAR", help="Around values; '' for none. Default: by content.", rich_help_panel=_CSV
    ),
]
Escape = Annotated[
    str | None,
    typer.Option(
        "--escape",
        metavar="CHAR",
        help="Before a quote in a quoted value; '' for none. Default: by content.",
        rich_help_panel=_CSV,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first record has the names of the columns. Default: by content.",
        rich_help_panel=_CSV,
    ),
]
ColumnNames = Annotated[
    str | None,
    typer.Option("--columns", metavar="NAMES", help="Names of the columns, with commas between.", rich_help_panel=_CSV),
]
Nulls = Annotated[
    list[str] | None,
    typer.Option("--null", metavar="TEXT", help="A text that means null, in place of the usual.", rich_help_panel=_CSV),
]
Skip = Annotated[
    int, typer.Option("--skip", metavar="LINES", help="Lines to leave out at the beginning.", rich_help_panel=_CSV)
]
Comment = Annotated[
    str | None,
    typer.Option("--comment", metavar="TEXT", help="Leave out lines that begin with this.", rich_help_panel=_CSV),
]
Decimal = Annotated[
    str, typer.Option("--decimal", metavar="CHAR", help="Before the fraction of a number.", rich_help_panel=_CSV)
]
Nan = Annotated[bool, typer.Option("--nan", help="NaN and Infinity are numbers, not errors.", rich_help_panel=_JSON)]
Year = Annotated[
    int | None,
    typer.Option(
        "--year", help="Year of the first line, if times have none. Default: by content.", rich_help_panel=_LOGS
    ),
]
Timezone = Annotated[
    str | None,
    typer.Option("--timezone", metavar="ZONE", help="Zone of times that name none.", rich_help_panel=_LOGS),
]
Multiline = Annotated[
    str,
    typer.Option(
        "--multiline",
        help="Lines that continue a record: join them, inherit its time and level, or keep them separate.",
        rich_help_panel=_LOGS,
    ),
]
Pattern = Annotated[
    str | None,
    typer.Option(
        "--pattern",
        metavar="REGEX",
        help="A regular expression with named groups, or a grok pattern.",
        rich_help_panel=_LOGS,
    ),
]
Extract = Annotated[bool, typer.Option("--extract", help="Make columns of all parts of a line.", rich_help_panel=_LOGS)]

# What each option is if it is not given.
_DEFAULTS: Final[dict[str, Any]] = {
    "encoding": None,
    "duplicates": "raise",
    "mixed_zones": "raise",
    "delimiter": None,
    "quote": None,
    "escape": None,
    "header": None,
    "columns": None,
    "null": None,
    "skip": 0,
    "comment": None,
    "decimal": ".",
    "nan": False,
    "year": None,
    "timezone": None,
    "multiline": "join",
    "pattern": None,
    "extract": False,
}
_TAB: Final = {"tab": "\t", r"\t": "\t"}
_CHOICES: Final = {
    "duplicates": ("raise", "rename"),
    "mixed_zones": ("raise", "text"),
    "multiline": ("join", "inherit", "separate"),
}


def reading_options(types: Iterable[str] | None, **told: Any) -> dict[str, Any]:
    """The arguments of `amudai.read_files` that options of the command line mean."""
    for name, choices in _CHOICES.items():
        if told[name] not in choices:
            option = name.replace("_", "-")
            raise InvalidArgument(f"--{option}: expected {' or '.join(choices)}, found {told[name]!r}")
    found = {name: told[name] for name in _DEFAULTS}
    if found["delimiter"] is not None:
        found["delimiter"] = _TAB.get(found["delimiter"], found["delimiter"])
    if found["columns"] is not None:
        found["columns"] = next(csv.reader([found["columns"]]), [])
    return {**found, "types": dict(_type(each) for each in types or ())}


def flags_of(options: Mapping[str, Any]) -> Iterator[str]:
    """The words of a command line that say the same as arguments of `amudai.read_files`.

    >>> list(flags_of({"delimiter": ";", "header": False, "null": ["-", "NA"], "skip": 0}))
    ['--delimiter', ';', '--no-header', '--null', '-', '--null', 'NA']
    """
    for name, value in options.items():
        flag = f"--{name.replace('_', '-')}"
        if name == "types":
            for column, kind in value.items():
                yield from ("--type", f"{column}={kind}")
        elif value == _DEFAULTS.get(name):
            continue
        elif name == "header":
            yield flag if value else "--no-header"
        elif name == "columns":
            yield from (flag, _joined(value))
        elif isinstance(value, bool):
            yield flag
        elif isinstance(value, list | tuple):
            for each in value:
                yield from (flag, str(each))
        else:
            yield from (flag, "tab" if value == "\t" else str(value))


def is_told(name: str, value: Any) -> bool:
    """Whether an argument of `amudai.read_files` says something, rather than being what it is by default."""
    return bool(value != _DEFAULTS.get(name))


def type_flags(schema: pa.Schema, names: Iterable[str]) -> Iterator[str]:
    """The words that set the types of these columns. Types without a name on the command line are left out."""
    for name in names:
        kind = str(schema.field(name).type).replace("tz=", "")
        if re.fullmatch(r"[a-z0-9_]+(\[[^<>]*\]|\([^<>]*\))?", kind) and not kind.startswith("fixed_size"):
            yield from ("--type", f"{name}={kind}")


def _joined(names: Iterable[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(names)
    return out.getvalue()


def _type(text: str) -> tuple[str, str]:
    # The last sign counts, because names may contain one, but not the one in timestamp[us, tz=UTC].
    match = re.fullmatch(r"(.+?)=([^=\[\]]+(?:\[.*\])?)", text, re.DOTALL)
    if match is None:
        raise InvalidArgument(f"--type: expected COLUMN=TYPE such as status=int32, found {text!r}")
    return match[1], match[2]
