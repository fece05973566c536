"""Catalogs that something else than this library wrote: one clear error, never one of Python's or Arrow's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pytest

import amudai

NAME = "_catalog.amudai.shard"


@pytest.fixture
def rewrite(tmp_path: Path) -> Callable[..., None]:
    """Saves a catalog of three shards, and writes it again with other properties or columns."""
    for part in range(3):
        rows = {"n": [part, part + 10], "text": [f"word{part}", "common"]}
        path = tmp_path / f"{part}.amudai.shard"
        amudai.write(rows, path, indexes=[amudai.TermIndex("text")], threads=1)
    amudai.dataset(tmp_path).save_catalog()

    def written(properties: dict[str, Any], columns: dict[str, pa.Array | None]) -> None:
        with amudai.open(tmp_path / NAME) as old:
            table, known = old.read(), dict(old.properties)
        for name, values in columns.items():
            at = table.schema.get_field_index(name)
            table = table.remove_column(at) if values is None else table.set_column(at, name, values)
        amudai.write(table, tmp_path / NAME, properties={**known, **properties}, overwrite=True)

    return written


def ask_all(folder: Path, catalog: Literal["check", "trust"]) -> list[int]:
    lake = amudai.dataset(folder, catalog=catalog, threads=1)
    return [lake.num_rows, *(lake.count(where) for where in ("n = 11", "text has 'word2'", None))]


WORDS = '[{{"path": "text", "whole": false, "slices": {}}}]'


@pytest.mark.parametrize("catalog", ["check", "trust"])
@pytest.mark.parametrize(
    ("properties", "columns"),
    [
        ({"catalog.columns": 7}, {}),
        ({"catalog.columns": "not json"}, {}),
        ({"catalog.columns": '{"n": 0, "text": 1}'}, {}),
        ({"catalog.columns": '["n", ["text"]]'}, {}),
        ({"catalog.columns": '["text", "n", "n"]'}, {}),
        ({"catalog.columns": '["other", "text", "n"]'}, {}),
        ({"catalog.words": "5"}, {}),
        ({"catalog.words": '[{"path": "text"}]'}, {}),
        ({"catalog.words": WORDS.format(0)}, {}),
        ({"catalog.words": WORDS.format(3)}, {}),
        ({}, {"shard": None}),
        ({}, {"shard": pa.array([1, 2, 3])}),
        ({}, {"size": pa.array([[1], [2], [3]])}),
        ({}, {"rows": pa.array([-1, 2, 2])}),
        ({}, {"rows": pa.array([2, 2, 3])}),
        ({}, {"positions": pa.array([2, None, 2])}),
        ({}, {"schema": pa.array([b"other", b"", None])}),
        ({}, {"facts": pa.array([1, 2, 3])}),
        ({}, {"facts": pa.array([{"0": {"kind": 1}, "1": {"kind": 2}}] * 3)}),
        ({}, {"words_0_0": pa.array(["a", "b", "c"])}),
        ({}, {"words_0_0": None}),
    ],
)
def test_other_content_is_an_error(
    catalog: Literal["check", "trust"],
    properties: dict[str, Any],
    columns: dict[str, pa.Array | None],
    rewrite: Callable[..., None],
    tmp_path: Path,
) -> None:
    assert ask_all(tmp_path, catalog) == [6, 1, 1, 6]
    rewrite(properties, columns)
    with pytest.raises(amudai.CorruptedData, match="catalog: "):
        ask_all(tmp_path, catalog)
    assert amudai.dataset(tmp_path, catalog="ignore").num_rows == 6


@pytest.mark.parametrize(
    "names",
    [
        ["0.amudai.shard", "0.amudai.shard", "2.amudai.shard"],
        ["../0.amudai.shard", "1.amudai.shard", "2.amudai.shard"],
        ["a/_b/0.amudai.shard", "1.amudai.shard", "2.amudai.shard"],
        ["0.parquet", "1.amudai.shard", "2.amudai.shard"],
        [None, "1.amudai.shard", "2.amudai.shard"],
    ],
    ids=str,
)
def test_a_trusted_catalog_leads_to_shards_of_its_folder_alone(
    names: list[str | None], rewrite: Callable[..., None], tmp_path: Path
) -> None:
    rewrite({}, {"shard": pa.array(names, pa.string())})
    with pytest.raises(amudai.CorruptedData, match=r"catalog: expected .* shard"):
        ask_all(tmp_path, "trust")
