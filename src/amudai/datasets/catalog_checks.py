"""What a catalog must say. Its checksums find damage; another program may have written something else all the same."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.datasets.facts import FACT
from amudai.datasets.finding import SHARD_SUFFIX
from amudai.datasets.words import MOST_SLICES, WordColumn
from amudai.errors import CorruptedData

__all__ = ["check_names", "check_type", "counts_of", "known_paths", "known_words"]

_TYPES: Final[Mapping[str, pa.DataType]] = {
    "shard": pa.string(),
    "size": pa.int64(),
    "modified": pa.int64(),
    "rows": pa.int64(),
    "positions": pa.int64(),
    "schema": pa.binary(),
    "tail": pa.binary(),
}
# More rows than a shard may have.
_MOST_ROWS: Final = 1 << 62
# Catalogs of earlier versions lack the last members of facts.
_FIRST_FACTS: Final = ("kind", "count", "nulls", "low", "high")


def known_paths(stated: object) -> dict[str, int]:
    """The paths of columns with facts, and their numbers."""
    paths = _list(stated)
    if not all(isinstance(path, str) for path in paths) or len(set(paths)) < len(paths):
        raise CorruptedData("catalog: expected the paths of different columns, found another list")
    return {path: number for number, path in enumerate(paths)}


def known_words(stated: object) -> dict[WordColumn, tuple[int, int]]:
    """The columns whose words are known, with their numbers, and the numbers of slices of their filters."""
    found = {}
    for number, each in enumerate(_list(stated)):
        match each:
            case {"path": str(path), "whole": bool(whole), "slices": int(slices)} if (
                0 < slices <= MOST_SLICES and slices & (slices - 1) == 0
            ):
                found[WordColumn(path, whole)] = number, slices
            case _:
                raise CorruptedData(f"catalog: expected a column and its slices, found {str(each)[:100]}")
    return found


def _list(stated: object) -> list[Any]:
    try:
        found = json.loads(stated) if isinstance(stated, str) else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        raise CorruptedData(f"catalog: expected a list as JSON, found {str(stated)[:100]!r}")
    return found


def check_names(names: Sequence[str | None]) -> None:
    """Raise CorruptedData unless these are the names of different shards, as a list of the folder would give them."""
    for name in names:
        parts = [] if name is None else name.split("/")
        if not parts or not parts[-1].endswith(SHARD_SUFFIX) or any(part[:1] in ("_", ".") for part in parts):
            raise CorruptedData(f"catalog: expected the name of a shard below the folder, found {name!r}")
        # No store has a file with NUL, and some decode names.
        if name is not None and ("\0" in name or any(unquote(part).strip() in (".", "..") for part in parts)):
            raise CorruptedData(f"catalog: expected the name of a shard below the folder, found {name!r}")
    if len(set(names)) < len(names):
        raise CorruptedData("catalog: expected each shard once, found one twice")


def counts_of(rows: pa.Array, positions: pa.Array) -> dict[str, npt.NDArray[np.int64]]:
    """The columns `rows` and `positions`."""
    if not (rows.null_count or positions.null_count):
        found = {"rows": np.asarray(rows.to_numpy()), "positions": np.asarray(positions.to_numpy())}
        is_right = ((found["rows"] >= 0) & (found["rows"] <= found["positions"])).all()
        if is_right and sum(found["positions"].tolist()) < _MOST_ROWS:
            return found
    expected = "catalog: expected no more rows than positions in each shard, and fewer than 2**62 in all"
    raise CorruptedData(f"{expected}, found other counts")


def check_type(path: str, found: pa.DataType) -> None:
    """Raise CorruptedData unless a column of a catalog has its type."""
    if path.startswith("facts."):
        names = {found.field(at).name for at in range(found.num_fields)} if pa.types.is_struct(found) else set()
        is_right = names.issuperset(_FIRST_FACTS) and all(
            found.field(each.name).type.equals(each.type) for each in FACT if each.name in names
        )
    else:
        is_right = found.equals(_TYPES.get(path, pa.binary()))
    if not is_right:
        raise CorruptedData(f"catalog: column {path!r}: expected the type that save_catalog writes, found {found}")
