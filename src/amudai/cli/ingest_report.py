"""What `ingest` says about the files: what was decided, left out, and bad."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from amudai import BadRecord, Source
from amudai.asking import count_text, size_text
from amudai.cli.option_words import spoken
from amudai.cli.reading_options import flags_of, is_told, type_flags
from amudai.cli.terminal import note, output, print_json, table

__all__ = ["BadRecordCount", "about_files", "command_of", "note_files", "print_plan"]

# Options that would change how files are read for which they were not decided: all files, and all CSV files.
_OF_ALL: Final = ("format", "encoding")
_OF_SOME_CSV: Final = ("skip", "comment", "escape")
_OF_CSV: Final = ("delimiter", "quote", "header", *_OF_SOME_CSV)
_SHOWN: Final = 10
_NAMED: Final = 3


class BadRecordCount:
    """Counts bad records, and keeps the first ones.

    Attributes
    ----------
    by_type
        How many of them do not fit a type that the caller set, by column.
    """

    def __init__(self, types: Iterable[str]) -> None:
        self.count = 0
        self.first: list[BadRecord] = []
        self.by_type: Counter[str] = Counter()
        self._types = tuple(types)

    def __call__(self, record: BadRecord) -> None:
        """Count a record."""
        self.count += 1
        if len(self.first) < _SHOWN:
            self.first.append(record)
        for name in self._types:
            if repr(name) in record.reason:
                self.by_type[name] += 1

    def note(self, what: str) -> None:
        """Show the first records on standard error."""
        for record in self.first:
            note(f"{what} {record.file}:{record.line}: {spoken(record.reason)}: {record.text[:80]}")
        if self.count > len(self.first):
            note(f"{what} {self.count - len(self.first):,} more")
        for name, count in self.by_type.items():
            note(f"{count_text(count, 'bad record')} because of --type {name}=")


def about_files(source: Source) -> dict[str, Any]:
    """What there is to say about the files, for a JSON document."""
    decided = [
        {"files": files, "decided": [asdict(decision) for decision in decisions]}
        for decisions, files in _grouped(source.decisions)
        if decisions
    ]
    return {
        "files": source.files,
        "files_skipped": [{"file": path, "reason": reason} for path, reason in source.skipped],
        "decisions": decided,
        "notes": [{"file": path, "note": spoken(text)} for path, texts in source.notes.items() for text in texts],
    }


def note_files(source: Source) -> None:
    """Say on standard error what was decided about the files, and which were left out."""
    groups = [(decisions, files) for decisions, files in _grouped(source.decisions) if decisions]
    for decisions, files in groups[:_SHOWN]:
        note(f"{_names(files)}: {', '.join(map(_decision, decisions))}")
    if len(groups) > _SHOWN:
        note(f"... and {len(groups) - _SHOWN:,} other decisions")
    texts = [(text, path) for path, found in source.notes.items() for text in found]
    for text, path in texts[:_SHOWN]:
        note(f"{path}: {spoken(text)}")
    if len(texts) > _SHOWN:
        note(f"... and {len(texts) - _SHOWN:,} other notes")
    for path, reason in source.skipped[:_SHOWN]:
        note(f"not read: {path}: {reason}")
    if len(source.skipped) > _SHOWN:
        note(f"not read: {len(source.skipped) - _SHOWN:,} more")


def print_plan(source: Source, command: str, *, json: bool) -> None:
    """Print what `ingest` would do: columns, decisions, and a command that says all of it."""
    if json:
        columns = [{"name": field.name, "type": str(field.type), "nullable": field.nullable} for field in source.schema]
        print_json({**about_files(source), "bytes_in": source.size, "schema": columns, "command": command})
        return
    note_files(source)
    console = output()
    found = f"{count_text(len(source.files), 'file')}, {size_text(source.size)}"
    console.print(f"{found}, {count_text(len(source.schema), 'column')}; nothing was written", style="bold")
    console.print(table({"column": "left", "type": "fold"}, [(field.name, field.type) for field in source.schema]))
    console.print(command, soft_wrap=True)


def command_of(
    sources: Sequence[str],
    to: str,
    source: Source,
    told: Mapping[str, Any],
    others: Sequence[str],
    added: Iterable[str] = (),
) -> str:
    """The command that does the same without inferring anything.

    Parameters
    ----------
    told
        The arguments of `amudai.read_files` that were given.
    others
        Words of the command line that do not concern reading.
    added
        Names of columns that no file has.
    """
    decided = _agreed(source.decisions)
    if source.skipped:
        decided.pop("format", None)  # it would be the format of the skipped files too
    options = {name: value for name, value in decided.items() if name in told}
    options |= {name: value for name, value in told.items() if name != "types" and is_told(name, value)}
    types = [name for name in source.schema.names if name not in {*told["types"], *added}]
    words = [*sources, "-o", to, *flags_of({**options, "types": told["types"]}), *type_flags(source.schema, types)]
    return shlex.join(["amudai", "ingest", *words, *others])


def _agreed(decisions: Mapping[str, tuple[Any, ...]]) -> dict[str, Any]:
    """The options on which files agree. Only CSV files have a delimiter; those in `_OF_ALL` concern every file.

    What only some CSV files need, such as lines to skip, would change the others. Then each is decided anew.
    """
    values: dict[str, list[Any]] = {}
    for each in (decision for found in decisions.values() for decision in found):
        values.setdefault(each.option, []).append(each.value)
    agreed = {
        name: found[0]
        for name, found in values.items()
        if all(value == found[0] for value in found) and (name not in _OF_ALL or len(found) == len(decisions))
    }
    tables = sum(any(each.option in _OF_CSV for each in found) for found in decisions.values())
    if any(name in values and (name not in agreed or len(values[name]) < tables) for name in _OF_SOME_CSV):
        for name in _OF_CSV:
            agreed.pop(name, None)
    return agreed


def _grouped(decisions: Mapping[str, tuple[Any, ...]]) -> list[tuple[tuple[Any, ...], list[str]]]:
    """Files with the same decisions, together."""
    found: dict[str, tuple[tuple[Any, ...], list[str]]] = {}
    for path, each in decisions.items():
        found.setdefault(repr(each), (each, []))[1].append(path)
    return list(found.values())


def _names(files: list[str]) -> str:
    shown = ", ".join(files[:_NAMED])
    return shown if len(files) <= _NAMED else f"{shown} and {len(files) - _NAMED:,} more"


def _decision(decision: Any) -> str:
    value = decision.value
    shown = {True: "yes", False: "no"}[value] if isinstance(value, bool) else repr(value)
    if isinstance(value, str) and value.isprintable() and value.strip() and len(value) > 1:
        shown = value
    because = f" ({spoken(decision.reason)})" if decision.reason else ""
    return f"{decision.option.replace('_', ' ')} {shown}{because}"
