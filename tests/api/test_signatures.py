"""The parameters of `write`, `ingest` and `ShardWriter`: the same in all three, and documented once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import amudai

# `ingest` has all options of `read_files`, but finds shards beside its own.
READING = set(inspect.signature(amudai.read_files).parameters) - {"not_in", "temp_dir"}
OWN = {
    "write": {"data", "progress"},
    "ingest": {*READING, "only_new", "progress"},
    "ShardWriter": {"schema"},
}
CALLS: dict[str, Callable[..., Any]] = {name: getattr(amudai, name) for name in OWN}


def parameters(name: str) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(CALLS[name]).parameters)


def documented(name: str) -> dict[str, str]:
    """What the docstring says of each parameter; of parameters that it names together, the same."""
    section = re.split(r"\n(?=\w+\n-+\n)", inspect.getdoc(CALLS[name]) or "")
    (text,) = [part for part in section if part.startswith("Parameters\n")]
    found = {}
    for names, said in re.findall(r"^((?:\w+,?\s)+)((?:    .*(?:\n|$))+)", text.split("\n", 2)[2], re.M):
        for each in re.findall(r"\w+", names):
            assert each not in found, f"{name} documents {each} twice"
            found[each] = said.strip()
    return found


@pytest.mark.parametrize("name", CALLS)
def test_every_parameter_is_in_the_signature(name: str) -> None:
    kinds = {each.kind for each in parameters(name).values()}
    assert kinds == {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    assert all(each.annotation is not inspect.Parameter.empty for each in parameters(name).values())


def test_the_three_have_the_same_parameters() -> None:
    shared = {name: [each for each in parameters(name).values() if each.name not in OWN[name]] for name in CALLS}
    # Names, kinds, defaults and annotations, in the same order.
    assert shared["ingest"] == shared["write"]
    assert shared["ShardWriter"] == shared["write"]
    assert parameters("ingest")["progress"] == parameters("write")["progress"]
    assert {"profile", "layout", "indexes", "bloom", "threads", "store"} <= {each.name for each in shared["write"]}


@pytest.mark.parametrize("name", CALLS)
def test_every_parameter_is_documented_once_or_refers_to_write(name: str) -> None:
    said = documented(name)
    assert set(said) == set(parameters(name))
    for parameter, text in said.items():
        if name == "ingest" and parameter in READING:
            assert text == "As for `amudai.read_files`.", f"{name}({parameter}): {text}"
            continue
        refers = text == "As for `amudai.write`."
        own = name == "write" or parameter in OWN[name] - {"progress"}
        assert refers is not own, f"{name}({parameter}): {text}"


def test_ingest_reads_as_read_files_does() -> None:
    reading = inspect.signature(amudai.read_files).parameters
    assert [parameters("ingest")[name] for name in reading if name in READING] == [
        reading[name] for name in reading if name in READING
    ]


def test_every_parameter_reaches_the_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.csv").write_text("a;b\n1;x\n")
    told: dict[str, Any] = {"paths": tmp_path / "x.csv", "format": "csv", "types": {"a": "int8"}, "on_error": "skip"}
    told |= {"on_bad_record": print, "encoding": "utf-8", "duplicates": "rename", "mixed_zones": "text"}
    told |= {"delimiter": ";", "quote": "'", "header": True, "columns": ["a", "b"], "null": ["-"], "skip": 0}
    told |= {"comment": "#", "decimal": ",", "nan": True, "year": 2024, "timezone": "UTC", "multiline": "separate"}
    told |= {"pattern": "(?P<x>.*)", "extract": True, "escape": "!"}
    assert set(told) == READING
    given: list[dict[str, Any]] = []

    def noted(paths: Any, **options: Any) -> Any:
        given.append({"paths": paths, **options})
        raise amudai.InvalidArgument("enough")

    monkeypatch.setattr("amudai.api.ingestion.read_files", noted)
    with pytest.raises(amudai.InvalidArgument, match="enough"):
        amudai.ingest(told.pop("paths"), tmp_path / "x.amudai.shard", **told)
    assert {name: value for name, value in given[0].items() if name in told} == told
    assert {name: given[0][name] for name in set(given[0]) - set(told)} == {
        "paths": tmp_path / "x.csv",
        "not_in": None,
        "temp_dir": str(tmp_path),
    }


def test_every_parameter_reaches_the_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "x.csv"
    source.write_text("a,b\n1,x\n")
    told = {
        "profile": "plain",
        "layout": "two-level",
        "indexes": [amudai.TermIndex("b")],
        "bloom": ["b"],
        "distinct": ["a"],
        "properties": {"p": 1},
        "field_properties": {"a": {"unit": "s"}},
        "extensions": {"a": "Label"},
        "aliases": {"a": ["first"]},
        "packed_groups": [["a", "b"]],
        "packed": True,
        "timestamps": "int64",
        "decimals": "int64",
        "compatibility": "extended",
        "created": datetime(2026, 1, 1, tzinfo=UTC),
        "ingestion_time": True,
        "record_id": True,
        "stripe_rows": 7,
        "stripe_bytes": "1MB",
        "memory_limit": "64MB",
        "temp_dir": tmp_path,
        "overwrite": True,
        "store": None,
        "threads": 1,
    }
    given: list[dict[str, Any]] = []
    plain = amudai.ShardWriter.__init__

    def noted(self: amudai.ShardWriter, location: Any, schema: pa.Schema, **options: Any) -> None:
        given.append(options)
        plain(self, location, schema, **options)

    monkeypatch.setattr(amudai.ShardWriter, "__init__", noted)
    amudai.write({"a": [1], "b": ["x"]}, tmp_path / "w.amudai.shard", **told)
    amudai.ingest(source, tmp_path / "i.amudai.shard", **told)
    assert given == [told, told]
    assert set(told) == set(parameters("write")) - {"data", "location", "progress"}


def test_an_unknown_option_is_refused_by_name(tmp_path: Path) -> None:
    for call in (
        lambda: amudai.write({"a": [1]}, tmp_path / "x", blooms=["a"]),  # type: ignore[call-arg]
        lambda: amudai.ingest("x.csv", tmp_path / "x", blooms=["a"]),  # type: ignore[call-arg]
    ):
        with pytest.raises(TypeError, match="blooms"):
            call()
