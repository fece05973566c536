"""The list of formats, and the choice of the format of each file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from amudai.arguments import shown
from amudai.errors import InvalidArgument
from amudai.sources.arrow_ipc import ARROW
from amudai.sources.compression import recognised_compression
from amudai.sources.contract import SourceFormat
from amudai.sources.csv.reader import CSV
from amudai.sources.files import InputFile, translated
from amudai.sources.finding import FoundFile, SkippedFile
from amudai.sources.json.reader import JSON
from amudai.sources.logs.reader import LOGS
from amudai.sources.parquet import PARQUET
from amudai.sources.recognise import recognise

__all__ = ["FORMATS", "ChosenFile", "chosen_files", "format_named", "with_format"]

FORMATS: Final[tuple[SourceFormat, ...]] = (PARQUET, CSV, JSON, ARROW, LOGS)


@dataclass(frozen=True, slots=True)
class ChosenFile:
    """A file and the format in which it is read. `recognised`: by its content, because its name did not tell."""

    file: InputFile
    format: SourceFormat
    recognised: bool = False


def chosen_files(found: Sequence[FoundFile], skipped: list[SkippedFile]) -> list[ChosenFile]:
    """The format of each file: by the end of its name or, if that tells nothing, by its first bytes.

    A file of a folder that is in no known format is added to `skipped`. So is a text of no known ending beside files
    of another format than logs, which is more likely a README than data. A file that the caller named is an error.
    """
    chosen: list[ChosenFile | FoundFile] = []
    for each in found:
        kind = format_of(each.file)
        chosen.append(each if kind is None else _chosen(each.file, kind))
    guesses = [(place, recognise(each.file)) for place, each in enumerate(chosen) if isinstance(each, FoundFile)]
    formats = {each.format.name for each in chosen if isinstance(each, ChosenFile)}
    formats |= {guess.format for _, guess in guesses if guess.format is not None}
    for place, guess in guesses:
        each = found[place]
        reason = guess.reason
        if guess.format == "log" and not each.asked and formats != {"log"}:
            reason = f"it is text beside files in {_list(sorted(formats - {'log'}))}"
        elif guess.format is None and each.asked and each.file.content.size() == 0:
            reason = ""
        if not reason:
            kind = format_named(guess.format or "log")
            chosen[place] = ChosenFile(each.file.recognised(kind.endings[0], guess.compression), kind, True)
        elif each.asked:
            expected = f"a name that ends in one of {_list(ending for kind in FORMATS for ending in kind.endings)}"
            raise InvalidArgument(f"file: expected data of a known format, {expected}, or format=", file=each.file.path)
        else:
            skipped.append(SkippedFile(each.file.path, reason))
    return [each for each in chosen if isinstance(each, ChosenFile)]


def with_format(found: Sequence[FoundFile], kind: SourceFormat) -> list[ChosenFile]:
    """All files, in a format that the caller named."""
    return [_chosen(each.file, kind) for each in found]


def _chosen(file: InputFile, kind: SourceFormat) -> ChosenFile:
    """A file whose format is known. The name of a log that was compressed in place does not tell its compression."""
    if file.compression is None and kind not in (PARQUET, ARROW):
        with translated(file), file.content.open() as stored:
            file = file.recognised(file.ending, recognised_compression(stored.read(10)))
    return ChosenFile(file, kind)


def format_named(name: str) -> SourceFormat:
    """The format of this name."""
    for found in FORMATS:
        if isinstance(name, str) and found.name == name:
            return found
    raise InvalidArgument(f"format: expected one of {_list(found.name for found in FORMATS)}, found {shown(name)}")


def format_of(file: InputFile) -> SourceFormat | None:
    """The format of a file, by the end of its name; None if the name tells nothing."""
    return next((found for found in FORMATS if file.ending in found.endings), None)


def _list(names: Iterable[str]) -> str:
    return ", ".join(names)
