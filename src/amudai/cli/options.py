"""Options and arguments that several commands share."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import amudai
from amudai import InvalidArgument, StorageError
from amudai.cli.declared import argument, option

if TYPE_CHECKING:
    from amudai import Dataset, Shard

__all__ = [
    "FORMATS",
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
    "Timestamps",
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
    "timestamps_of",
]

# How rows can be printed.
FORMATS: Final = ("table", "jsonl", "csv")
Rows = Annotated[
    str, argument(metavar="SHARD", help="Path or URL of a shard, or of a folder of shards.", show_default=False)
]
Location = Annotated[str, argument(metavar="SHARD", help="Path or URL of the shard.", show_default=False)]
Json = Annotated[bool, option("--json", help="Print JSON.")]
Where = Annotated[
    str | None,
    option("--where", "-w", metavar="EXPR", help="Only matching rows, as in \"status >= 500 and level = 'error'\"."),
]
Columns = Annotated[
    list[str] | None,
    option("--columns", "-C", metavar="NAMES", help="Columns to show, separated by commas."),
]
Allow = Annotated[
    list[str] | None,
    option(
        "--allow",
        metavar="PREFIX",
        help="Also read files of the shard in this folder, or at URLs that begin so. Can be repeated.",
    ),
]
Overwrite = Annotated[bool, option("--overwrite", help="Replace the target if it exists.")]
Target = Annotated[
    str,
    option("--to", "--output", "-o", metavar="SHARD", help="Path or URL of the new shard.", show_default=False),
]
Timestamps = Annotated[
    str, option("--timestamps", help="How times are stored: ticks (of 100 ns, exact) or int64 (as they are).")
]
Positions = Annotated[
    str | None,
    option("--positions", metavar="NUMBERS", help="Positions of rows, as in 7,10-19: both ends are included."),
]
IncludeDeleted = Annotated[bool, option("--include-deleted", help="Also show deleted rows.")]
Indexes = Annotated[
    list[str] | None,
    option("--index", metavar="COLUMN", help="Index the words of this column. Can be repeated."),
]
Hashes = Annotated[
    list[str] | None,
    option(
        "--hash",
        metavar="COLUMN[,COLUMN]",
        help="Index the exact values of this column, or of several together. Can be repeated.",
    ),
]
Tokenizer = Annotated[
    str | None,
    option("--tokenizer", metavar="NAME", help="How --index splits text: log (default), word or trivial."),
]
Level = Annotated[
    str,
    option(
        "--level", help="Build indexes for the whole shard (shard), for each stripe (stripe), or in the field (field)."
    ),
]
Granularity = Annotated[
    str | None,
    option("--granularity", metavar="NAME", help="What --index counts: record (default) or element."),
]
MaxBytes = Annotated[
    str | None,
    option(
        "--max-bytes",
        metavar="SIZE",
        help="Size limit for --index, as in 20MB. Searches may get slower.",
    ),
]
Profile = Annotated[
    list[str] | None,
    option(
        "--profile",
        metavar="NAME | COLUMN=NAME",
        help="Compression: plain, minimal_compression, balanced (default), high_compression or minimal_size, "
        "of all columns or of one. Can be repeated.",
    ),
]

Blooms = Annotated[
    list[str] | None,
    option(
        "--bloom",
        metavar="COLUMN[=SHARE]",
        help="Give this column a Bloom filter; it may miss this share of values, 0.01 by default. Can be repeated.",
    ),
]
Distinct = Annotated[
    list[str] | None,
    option("--distinct", metavar="COLUMN", help="Count the distinct values of this column. Can be repeated."),
]
Packs = Annotated[
    list[str] | None,
    option(
        "--pack",
        metavar="COLUMN,COLUMN",
        help="Store these columns together, for reading whole rows. Can be repeated.",
    ),
]

Compatibility = Annotated[
    str,
    option(
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
    """Open one shard, several shards and folders as one dataset, or an Iceberg table (`iceberg://catalog/name`).

    `-` is what standard input has: a log, CSV, JSON, Parquet or another file that `ingest` reads.
    """
    if locations == ["-"]:
        return _of_standard_input()
    if len(locations) == 1 and locations[0].startswith("iceberg://"):
        return amudai.open_iceberg(locations[0])
    if len(locations) == 1 and not is_folder(locations[0]):
        return opened(locations[0], allow)
    return amudai.dataset(locations if len(locations) > 1 else locations[0], allow=allow or ())


def _of_standard_input() -> Shard:
    """A shard of what standard input has, in a folder that is removed when the command ends."""
    import atexit
    import tempfile

    from amudai.cli.standard_input import StandardInput

    given = StandardInput()
    folder = tempfile.TemporaryDirectory(prefix="amudai-")
    atexit.register(folder.cleanup)
    with amudai.read_files(given) as source:
        return amudai.write(source, os.path.join(folder.name, "stdin.amudai.shard"), profile="minimal_compression")


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


def timestamps_of(text: str) -> Literal["ticks", "int64"]:
    """What `--timestamps` asks for."""
    if text not in ("ticks", "int64"):
        raise InvalidArgument(f"--timestamps: expected ticks or int64, found {text!r}")
    return "ticks" if text == "ticks" else "int64"


def index_specs(words: list[str] | None, values: list[str] | None, level: str, **of_words: str | None) -> list[Any]:
    """The indexes that `--index` and `--hash` ask for. `of_words` are the options of `--index`; None if not given."""
    told: dict[str, Any] = {name: value for name, value in of_words.items() if value is not None}
    if told and not words:
        option = next(iter(told)).replace("_", "-")
        raise InvalidArgument(f"--{option}: expected --index as well, found none")
    if not words and not values:
        return []
    terms = [amudai.TermIndex(*words, level=level, **told)] if words else []
    return [*terms, *(amudai.HashIndex(_key(text), level=level) for text in values or ())]


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
