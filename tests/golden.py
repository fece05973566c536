"""The shards that the reference implementation wrote, and what they hold.

A small set is part of the repository: `tests/fixtures/reference`. Tests use the full set where it lies beside the
checkout, in `../shared/golden`, or the set in the folder that `AMUDAI_GOLDEN` names. They ask for `CASES`, for
`INDEX_CASES`, which holds the indexes of the small set too, or for `SHARDS`, which is every shard file of the set.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

REFERENCE: Final = Path(__file__).parent / "fixtures" / "reference"
_BESIDE: Final = Path(__file__).resolve().parents[2] / "shared" / "golden"


def _locate() -> Path:
    named = os.environ.get("AMUDAI_GOLDEN")
    if named:
        return Path(named).resolve()
    return _BESIDE if (_BESIDE / "manifest.json").is_file() else REFERENCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One shard: its root file, and what the manifest says of it."""

    name: str
    root: Path
    rows: int
    profile: str | None = None
    layout: str | None = None
    stripe_rows: int | None = None
    properties: dict[str, str] = field(default_factory=dict)
    lost_by_the_writer: tuple[str, ...] = ()
    note: str = ""

    def expected(self) -> pa.Table:
        """What the shard holds."""
        return read_arrow(self.root.parent / "expected.arrow")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexCase:
    """One index: the folder of its artifacts, and what the manifest says of it."""

    name: str
    folder: Path
    index: str
    fields: tuple[str, ...]
    rows: int
    tokenizer: str | None = None
    collation: str | None = None

    def source(self) -> pa.Table:
        """The table that was indexed."""
        return read_arrow(self.folder / "source.arrow")


def read_arrow(path: Path) -> pa.Table:
    """The table in an Arrow IPC file or stream."""
    with pa.memory_map(str(path)) as source:
        try:
            return pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source).read_all()


def _case(folder: Path, entry: dict[str, Any]) -> Case:
    return Case(
        name=entry["name"],
        root=folder / entry["name"] / entry["root"],
        rows=entry["rows"],
        profile=entry.get("profile"),
        layout=entry.get("layout"),
        stripe_rows=entry.get("stripe_rows"),
        properties=entry.get("properties") or {},
        lost_by_the_writer=tuple(entry.get("lost_by_the_writer", ())),
        note=entry.get("note", ""),
    )


def _index_case(folder: Path, entry: dict[str, Any]) -> IndexCase:
    return IndexCase(
        name=entry["name"],
        folder=folder / entry["name"],
        index=entry["index"],
        fields=tuple(entry["fields"]),
        rows=entry["rows"],
        tokenizer=entry.get("tokenizer"),
        collation=entry.get("collation"),
    )


def _manifest(folder: Path) -> list[dict[str, Any]]:
    """The cases of a set. A set that is not there is an error: without it nothing tests compatibility."""
    entries: list[dict[str, Any]] = json.loads((folder / "manifest.json").read_text("utf-8"))
    return entries


def cases(folder: Path) -> list[Case]:
    """The shards of the set in `folder`."""
    return [_case(folder, entry) for entry in _manifest(folder) if "root" in entry]


def index_cases(folder: Path) -> list[IndexCase]:
    """The indexes of the set in `folder`."""
    return [_index_case(folder, entry) for entry in _manifest(folder) if "index" in entry]


GOLDEN: Final = _locate()
CASES: Final = cases(GOLDEN)
INDEX_CASES: Final = [*{case.name: case for folder in (REFERENCE, GOLDEN) for case in index_cases(folder)}.values()]
SHARDS: Final = sorted(GOLDEN.glob("*/*.amudai.shard"))
