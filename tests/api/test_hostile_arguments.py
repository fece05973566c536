"""Every parameter of every public function and method, with values of wrong types and absurd sizes: only our errors.

Parameters are found by their signatures, so that a new one is tried as well.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import amudai
from amudai.errors import AmudaiError
from tests.effort import scaled

pytestmark = pytest.mark.slow


def _deep() -> list[Any]:
    found: list[Any] = []
    for _ in range(3000):
        found = [found]
    return found


VALUES: dict[str, Any] = {
    "a number": 3,
    "a negative number": -1,
    "a fraction": 1.5,
    "NaN": float("nan"),
    "a huge number": 1 << 70,
    "a huge negative number": -(1 << 70),
    "None": None,
    "a text": "x",
    "an empty text": "",
    "a lone surrogate": "\ud800",
    "a null character": "a\0b",
    "bytes": b"x",
    "an empty list": [],
    "a list of numbers": [3],
    "a list with a surrogate": ["\ud800"],
    "a list of None": [None],
    "a deep list": _deep(),
    "a dict": {"n": 3},
    "a dict of numbers": {3: 3},
    "a deep dict": {"n": {"x": _deep()}},
    "an array": np.zeros((2, 2)),
    "an Arrow array": pa.array([None, "x"]),
    "a huge range": range(1 << 70),
    "a slice of texts": slice("a"),
    "a huge slice": slice(1 << 70, None),
    "the first time": datetime.min.replace(tzinfo=UTC),
    "the longest time": timedelta.max,
    "no number": Decimal("NaN"),
    "an object": object(),
    "an iterator": "replaced for each call",
    "an ellipsis": ...,
    "a type": pa.int64(),
    "parentheses": "(" * 3000,
}
TABLE = pa.table(
    {
        "n": [1, 2, None, 4],
        "t": ["alpha beta", None, "gamma", "x y"],
        "l": [[1], [], None, [2, 3]],
        "s": [{"a": 1, "b": "x"}] * 4,
    }
)
# The arguments that a call needs; `to` is a new place each time.
FUNCTIONS: dict[str, dict[str, Any]] = {
    "write": {"data": TABLE, "location": "to"},
    "append": {"target": "folder", "data": TABLE},
    "write_dataset": {"data": TABLE, "folder": "to"},
    "open": {"location": "a.amudai.shard"},
    "dataset": {"locations": "folder"},
    "add_indexes": {"shard": "a.amudai.shard", "indexes": [amudai.TermIndex("t")], "to": "to"},
    "attach": {"files": "p.parquet", "to": "to"},
    "collect_garbage": {"location": "a.amudai.shard"},
    "gc": {"folder": "folder"},
    "compact": {"shards": ["a.amudai.shard"], "to": "to"},
    "copy": {"shard": "a.amudai.shard", "to": "to"},
    "delete": {"shard": "a.amudai.shard", "positions": [1], "to": "to"},
    "undelete": {"shard": "deleted.amudai.shard", "positions": [1], "to": "to"},
    "drop_columns": {"shard": "a.amudai.shard", "columns": ["n"], "to": "to"},
    "rename_columns": {"shard": "a.amudai.shard", "columns": {"n": "m"}, "to": "to"},
    "with_columns": {"shard": "a.amudai.shard", "columns": {"z": [1, 2, 3, 4]}, "to": "to"},
    "ingest": {"paths": "x.csv", "location": "to"},
    "follow": {"source": "x.log", "to": "to", "at_end": "stop"},
    "materialize": {"shard": "attached.amudai.shard", "to": "to"},
    "merge": {"shards": ["a.amudai.shard"], "to": "to"},
    "refresh": {"shard": "attached.amudai.shard", "to": "to"},
    "salvage": {"shard": "a.amudai.shard", "to": "to"},
    "upsert": {"shard": "a.amudai.shard", "data": TABLE.slice(0, 1), "key": "n", "to": "to"},
    "col": {"name": "n"},
    "Limits": {},
    "TermIndex": {},
    "HashIndex": {},
}
METHODS: dict[str, dict[str, Any]] = {
    "read": {},
    "count": {},
    "scan": {},
    "explain": {},
    "head": {},
    "tail": {},
    "sample": {},
    "inspect": {},
    "tree": {},
    "verify": {},
    "to_reader": {},
    "take": {"rows": [0]},
    "lookup": {"column": "n", "keys": [1]},
    "search": {"text": "x"},
}
# A function gets what it is, and an integer is a descriptor of an open file.
LEFT_OUT = {("follow", "at_end"), ("follow", "source"), ("follow", "every_seconds"), ("ingest", "paths")}


def _parameters(function: Callable[..., Any]) -> list[str]:
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    found = inspect.signature(function).parameters.values()
    return [each.name for each in found if each.kind not in kinds and each.name != "self"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    indexes = [amudai.TermIndex("t"), amudai.HashIndex("n")]
    amudai.write(TABLE, "a.amudai.shard", indexes=indexes).close()
    amudai.delete("a.amudai.shard", positions=[0, 1], to="deleted.amudai.shard").close()
    amudai.write_dataset(TABLE, "folder").close()
    pq.write_table(TABLE.select(["n", "t"]), "p.parquet")
    amudai.attach("p.parquet", to="attached.amudai.shard").close()
    Path("x.csv").write_text("n,t\n1,a\n2,b\n")
    Path("x.log").write_text("2024-01-02T03:04:05Z INFO a: hello\n")
    os.mkdir("out")
    return tmp_path


def _attempts(name: str, parameters: list[str]) -> Iterator[tuple[str, str]]:
    """Pairs of a parameter and a value. All of them are many: some, and others for each function."""
    pairs = [(each, value) for each in parameters if (name, each) not in LEFT_OUT for value in VALUES]
    yield from Random(name).sample(pairs, min(len(pairs), scaled(400)))


def _used(found: Any) -> None:
    """Read what a call returned: some errors come late."""
    if isinstance(found, amudai.Scan | pa.RecordBatchReader | Iterator):
        list(found)
    if isinstance(found, amudai.Shard):
        found.close()
    repr(found)


def _foreign_error(call: Callable[..., Any], arguments: dict[str, Any]) -> str | None:
    """The error of a call, if it is none of ours."""
    try:
        _used(call(**arguments))
    except AmudaiError as error:
        return None if len(str(error)) < 10_000 else "a message that nobody reads"
    except Exception as error:
        return repr(error)[:200]
    return None


def _failed(found: dict[tuple[str, str], str | None]) -> dict[tuple[str, str], str]:
    return {attempt: error for attempt, error in found.items() if error is not None}


def _value(name: str) -> Any:
    return iter(["n"]) if name == "an iterator" else VALUES[name]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    function = getattr(amudai, name)
    found = {}
    for count, (parameter, value) in enumerate(_attempts(name, _parameters(function))):
        arguments = {
            key: f"out/{count}.amudai.shard" if given == "to" else given for key, given in FUNCTIONS[name].items()
        }
        found[parameter, value] = _foreign_error(function, arguments | {parameter: _value(value)})
    assert not _failed(found)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("place", ["a.amudai.shard", "attached.amudai.shard", "folder"])
def test_methods(folder: Path, place: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    data: Any = amudai.dataset(place) if place == "folder" else amudai.open(place)
    method = getattr(data, name, None)
    if method is None or (place == "folder" and name == "take"):
        return
    found = {}
    for parameter, value in _attempts(name, _parameters(method)):
        found[parameter, value] = _foreign_error(method, METHODS[name] | {parameter: _value(value)})
    assert not _failed(found)


OPERATORS = [name for name in dir(amudai.Column) if name[0] != "_" and name not in ("str", "is_null", "is_valid")]


@pytest.mark.parametrize("column", TABLE.column_names)
def test_predicates(folder: Path, column: str) -> None:
    errors = {}
    with amudai.open("a.amudai.shard") as shard:
        for operator in [*OPERATORS, "__eq__", "__lt__", "__ge__"]:
            method = getattr(amudai.col(column), operator)
            required = [each for each in _parameters(method) if each != "escape"]
            for value in Random(f"{column} {operator}").sample(list(VALUES), scaled(len(VALUES))):
                given = [_value(value) for _ in required]

                def ask(method: Callable[..., Any] = method, given: list[Any] = given) -> object:
                    found = method(*given)
                    found = found.is_null() if isinstance(found, amudai.Column) else found
                    return None if found is NotImplemented else shard.count(found)

                errors[operator, value] = _foreign_error(ask, {})
    assert not _failed(errors)


def test_a_text_is_no_flag(folder: Path) -> None:
    with pytest.raises(amudai.InvalidArgument, match="overwrite: expected True or False, found 'no'"):
        amudai.write(TABLE, "a.amudai.shard", overwrite="no")  # type: ignore[arg-type]
    with pytest.raises(amudai.InvalidArgument, match="null: expected a list of names, found the name 'NA'"):
        amudai.ingest("x.csv", "out/x.amudai.shard", null="NA")
    assert amudai.write(TABLE, "a.amudai.shard", overwrite=np.True_).num_rows == 4  # type: ignore[arg-type]


def test_very_many_threads(folder: Path) -> None:
    assert amudai.open("a.amudai.shard", threads=1 << 40).read(threads=1 << 70).num_rows == 4


def test_more_lines_to_skip_than_there_are(folder: Path) -> None:
    assert amudai.ingest("x.csv", "out/x.amudai.shard", skip=1 << 62).num_rows == 0


def test_an_empty_path_is_not_the_root_of_all_folders(folder: Path) -> None:
    with pytest.raises(amudai.InvalidArgument, match="folder: expected a path, found an empty text"):
        amudai.write_dataset(TABLE, "")
    with pytest.raises(amudai.InvalidArgument, match="target: expected a path, found an empty text"):
        amudai.append("", TABLE)
