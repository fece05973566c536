"""What do commands have in common?"""

from __future__ import annotations

import os
import re
from typing import Annotated, Any

import typer

from amudai.api import Shard
from amudai.api import open as open_shard
from amudai.errors import ExistingFile, InvalidArgument

__all__ = [
    "Columns",
    "Granularity",
    "Hashes",
    "Indexes",
    "Json",
    "Level",
    "Location",
    "MaxBytes",
    "Overwrite",
    "Profile",
    "Tokenizer",
    "Where",
    "index_specs",
    "names_of",
    "opened",
    "require_new",
    "shard_name",
]

Location = Annotated[str, typer.Argument(metavar="SHARD", help="The shard: a path, or a URL.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Where = Annotated[
    str | None,
    typer.Option("--where", "-w", metavar="EXPR", help="Rows that match, as in \"status >= 500 and level = 'error'\"."),
]
Columns = Annotated[
    list[str] | None,
    typer.Option("--columns", "-C", metavar="NAMES", help="Columns to show: names with commas between them."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")]
Indexes = Annotated[
    list[str] | None,
    typer.Option("--index", metavar="COLUMN", help="Index the words of this column. May be repeated."),
]
Hashes = Annotated[
    list[str] | None,
    typer.Option("--hash", metavar="COLUMN", help="Index the exact values of this column. May be repeated."),
]
Tokenizer = Annotated[
    str | None,
    typer.Option("--tokenizer", metavar="NAME", help="How --index splits text into words; else the index's default."),
]
Level = Annotated[
    str,
    typer.Option("--level", help="Whether --index and --hash are made once for the shard, or for each stripe."),
]
Granularity = Annotated[
    str | None,
    typer.Option(
        "--granularity", metavar="NAME", help="What the lists of --index count: record (the default) or element."
    ),
]
MaxBytes = Annotated[
    str | None,
    typer.Option("--max-bytes", metavar="SIZE", help="How large --index may be: 20MB. Then more rows are checked."),
]
Profile = Annotated[
    str,
    typer.Option(
        "--profile",
        help="How small at what price: plain, minimal_compression, balanced, high_compression or minimal_size.",
    ),
]

_NAME = re.compile(r"((?:`[^`]*`|[^,`])+)(?:,|$)")


def opened(location: str) -> Shard:
    """The shard at this place."""
    return open_shard(location)


def shard_name(location: str) -> str:
    """A shard's name where several are shown."""
    return os.path.basename(location.rstrip("/")) or location


def require_new(to: str, overwrite: bool) -> None:
    """Refuse a target that is there already, before any work is done for it."""
    if not overwrite and "://" not in to and os.path.lexists(to):
        raise ExistingFile("--output: expected a new file (or --overwrite), found one that exists", file=to)


def names_of(texts: list[str] | None) -> list[str] | None:
    """The names in options such as `--columns ts,message`; commas inside backticks belong to the name.

    >>> names_of(["ts, message", "`a,b`.c"])
    ['ts', 'message', '`a,b`.c']
    """
    if not texts:
        return None
    found = [match[1].strip() for text in texts for match in _NAME.finditer(text)]
    if not all(found) or not found:
        raise InvalidArgument(f"--columns: expected names, found {', '.join(texts)!r}")
    return found


def index_specs(words: list[str] | None, values: list[str] | None, level: str, **of_words: str | None) -> list[Any]:
    """What `--index` and `--hash` ask for, as the API takes it; what is None was not said."""
    told: dict[str, Any] = {name: value for name, value in of_words.items() if value is not None}
    if told and not words:
        option = next(iter(told)).replace("_", "-")
        raise InvalidArgument(f"--{option}: expected --index beside it, found none")
    if not words and not values:
        return []
    from amudai.api import HashIndex, TermIndex

    terms = [TermIndex(*words, level=level, **told)] if words else []
    return [*terms, *(HashIndex(name, level=level) for name in values or ())]
