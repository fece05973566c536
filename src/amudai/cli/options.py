"""Options and arguments that several commands share."""

from __future__ import annotations

import os
import re
from typing import Annotated, Any, Literal

import typer

import amudai
from amudai import Dataset, HashIndex, InvalidArgument, Shard, StorageError, TermIndex

__all__ = [
    "Allow",
    "Columns",
    "Compatibility",
    "Granularity",
    "Hashes",
    "IncludeDeleted",
    "Indexes",
    "Json",
    "Level",
    "Location",
    "MaxBytes",
    "Overwrite",
    "Positions",
    "Profile",
    "Rows",
    "Target",
    "Tokenizer",
    "Where",
    "index_specs",
    "is_folder",
    "names_of",
    "opened",
    "opened_rows",
    "profile_choice",
    "readers",
    "require_new",
    "shard_name",
]

Rows = Annotated[
    str, typer.Argument(metavar="SHARD", help="Path or URL of a shard, or of a folder of shards.", show_default=False)
]
Location = Annotated[str, typer.Argument(metavar="SHARD", help="Path or URL of the shard.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Where = Annotated[
    str | None,
    typer.Option(
        "--where", "-w", metavar="EXPR", help="Only matching rows, as in \"status >= 500 and level = 'error'\"."
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option("--columns", "-C", metavar="NAMES", help="Columns to show, separated by commas."),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="PREFIX",
        help="Also read files of the shard in this folder, or at URLs that begin so. Can be repeated.",
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the target if it exists.")]
Target = Annotated[
    str,
    typer.Option("--to", "--output", "-o", metavar="SHARD", help="Path or URL of the new shard.", show_default=False),
]
Positions = Annotated[
    str | None,
    typer.Option("--positions", metavar="NUMBERS", help="Positions of rows, as in 7,10-19: both ends are included."),
]
IncludeDeleted = Annotated[bool, typer.Option("--include-deleted", help="Also show deleted rows.")]
Indexes = Annotated[
    list[str] | None,
    typer.Option("--index", metavar="COLUMN", help="Index the words of this column. Can be repeated."),
]
Hashes = Annotated[
    list[str] | None,
    typer.Option(
        "--hash",
        metavar="COLUMN[,COLUMN]",
        help="Index the exact values of this column, or of several together. Can be repeated.",
    ),
]
Tokenizer = Annotated[
    str | None,
    typer.Option("--tokenizer", metavar="NAME", help="How --index splits text: log (default), word or trivial."),
]
Level = Annotated[
    str,
    typer.Option("--level", help="Build indexes for the whole shard (shard) or for each stripe (stripe)."),
]
Granularity = Annotated[
    str | None,
    typer.Option("--granularity", metavar="NAME", help="What --index counts: record (default) or element."),
]
MaxBytes = Annotated[
    str | None,
    typer.Option(
        "--max-bytes",
        metavar="SIZE",
        help="Size limit for --index, as in 20MB. Searches may get slower.",
    ),
]
Profile = Annotated[
    list[str] | None,
    typer.Option(
        "--profile",
        metavar="NAME | COLUMN=NAME",
        help="Compression: plain, minimal_compression, balanced (default), high_compression or minimal_size, "
        "of all columns or of one. Can be repeated.",
    ),
]

Blooms = Annotated[
    list[str] | None,
    typer.Option(
        "--bloom",
        metavar="COLUMN[=SHARE]",
        help="Give this column a Bloom filter; it may miss this share of values, 0.01 by default. Can be repeated.",
    ),
]
Distinct = Annotated[
    list[str] | None,
    typer.Option("--distinct", metavar="COLUMN", help="Count the distinct values of this column. Can be repeated."),
]
Packs = Annotated[
    list[str] | None,
    typer.Option(
        "--pack",
        metavar="COLUMN,COLUMN",
        help="Store these columns together, for reading whole rows. Can be repeated.",
    ),
]

Compatibility = Annotated[
    str,
    typer.Option(
        "--compatibility",
        help="Readers of the shard: reference (all), or extended (smaller, but only this library reads it).",
    ),
]

_SHARE = re.compile(r"=[0-9.eE+-]+$")
_NAME = re.compile(r"((?:`[^`]*`|[^,`])+)(?:,|$)")


def opened(location: str, allow: list[str] | None = None) -> Shard:
    """Open the shard at this path or URL. It may refer to files at URLs that `allow` permits."""
    return amudai.open(location, allow=allow or ())


def opened_rows(locations: list[str], allow: list[str] | None = None) -> Shard | Dataset:
    """Open one shard, several shards and folders as one dataset, or an Iceberg table (`iceberg://catalog/name`)."""
    if len(locations) == 1 and locations[0].startswith("iceberg://"):
        return amudai.open_iceberg(locations[0])
    if len(locations) == 1 and not is_folder(locations[0]):
        return opened(locations[0], allow)
    return amudai.dataset(locations if len(locations) > 1 else locations[0], allow=allow or ())


def is_folder(location: str) -> bool:
    """Whether a location is a folder of shards: one that exists, or a URL that ends in a slash."""
    return location.endswith("/") or ("://" not in location and os.path.isdir(location))


def shard_name(location: str) -> str:
    """The name by which a shard is shown next to others."""
    return os.path.basename(location.rstrip("/")) or location


def require_new(to: str, overwrite: bool) -> None:
    """Raise an error if the target exists, before any work is done for it."""
    if not overwrite and "://" not in to and os.path.lexists(to):
        raise StorageError("--output: expected a new file or --overwrite, found a file that exists", file=to)


def names_of(texts: list[str] | None, option: str = "--columns") -> list[str] | None:
    """The names in options such as `--columns ts,message`; commas inside backticks belong to the name.

    >>> names_of(["ts, message", "`a,b`.c"])
    ['ts', 'message', '`a,b`.c']
    """
    if not texts:
        return None
    found = [match[1].strip() for text in texts for match in _NAME.finditer(text)]
    if not all(found) or not found:
        raise InvalidArgument(f"{option}: expected names, found {', '.join(texts)!r}")
    return found


def profile_choice(words: list[str] | None) -> str | dict[str, str]:
    """The profile that `--profile` names for all columns, or the profiles of columns.

    >>> profile_choice(["plain"]), profile_choice(["message=minimal_size", "plain"])
    ('plain', {'message': 'minimal_size', '*': 'plain'})
    """
    found: dict[str, str] = {}
    for word in words or ["balanced"]:
        column, equals, name = word.rpartition("=")
        column = column if equals else "*"
        if column in found:
            whose = "for all columns" if column == "*" else f"for {column}"
            raise InvalidArgument(f"--profile: expected one {whose}, found {found[column]} and {name}")
        found[column] = name
    return found["*"] if set(found) == {"*"} else found


def readers(text: str) -> Literal["reference", "extended"]:
    """The readers that `--compatibility` names."""
    if text not in ("reference", "extended"):
        raise InvalidArgument(f"--compatibility: expected reference or extended, found {text!r}")
    return "reference" if text == "reference" else "extended"


def index_specs(words: list[str] | None, values: list[str] | None, level: str, **of_words: str | None) -> list[Any]:
    """The indexes that `--index` and `--hash` ask for. `of_words` are the options of `--index`; None if not given."""
    told: dict[str, Any] = {name: value for name, value in of_words.items() if value is not None}
    if told and not words:
        option = next(iter(told)).replace("_", "-")
        raise InvalidArgument(f"--{option}: expected --index as well, found none")
    if not words and not values:
        return []
    terms = [TermIndex(*words, level=level, **told)] if words else []
    return [*terms, *(HashIndex(_key(text), level=level) for text in values or ())]


def _key(text: str) -> str | tuple[str, ...]:
    """A column, or several that are one key."""
    found = names_of([text], "--hash") or []
    return tuple(found) if len(found) > 1 else text


def bloom_filters(given: list[str] | None) -> dict[str, float]:
    """The Bloom filters that `--bloom` asks for, with the share of values that each may miss.

    >>> bloom_filters(["id", "user=0.001"])
    {'id': 0.01, 'user': 0.001}
    """
    found = {}
    for text in given or ():
        name, _, share = text.rpartition("=") if _SHARE.search(text) else (text, "", "0.01")
        found[name] = float(share)
    return found
