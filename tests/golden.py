"""The shards that the reference implementation wrote, and what they hold.

They live outside the repository: beside the project in `shared/golden`, or where `AMUDAI_GOLDEN` says. A test asks for
`CASES` (or `SHARDS`, every shard file there is); where the folder is absent it is skipped and says so.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest

_BESIDE: Final = Path(__file__).resolve().parents[2] / "shared" / "golden"


def _locate() -> Path | None:
    folder = Path(os.environ.get("AMUDAI_GOLDEN", _BESIDE))
    return folder if (folder / "manifest.json").is_file() else None


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


GOLDEN: Final[Path | None] = _locate()
_MANIFEST: Final[list[dict[str, Any]]] = [] if GOLDEN is None else json.loads((GOLDEN / "manifest.json").read_text())

CASES: Final[list[Case]] = [_case(GOLDEN, entry) for entry in _MANIFEST if GOLDEN is not None and "root" in entry]
INDEX_CASES: Final[list[IndexCase]] = [
    _index_case(GOLDEN, entry) for entry in _MANIFEST if GOLDEN is not None and "index" in entry
]
SHARDS: Final[list[Path]] = [] if GOLDEN is None else sorted(GOLDEN.glob("*/*.amudai.shard"))

requires_golden: Final = pytest.mark.skipif(
    GOLDEN is None,
    reason=f"no golden shards: no manifest.json in {os.environ.get('AMUDAI_GOLDEN', '../shared/golden')}",
)
