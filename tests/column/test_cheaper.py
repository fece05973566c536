"""Columns that are stored twice: which encoding a question reads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import amudai
from amudai.storage import LocalStore, StoreCapabilities


class Remote(LocalStore):
    """Local files whose bytes have to be fetched, as far as readers know."""

    @property
    def capabilities(self) -> StoreCapabilities:
        """Those of a local store without memory maps."""
        return replace(super().capabilities, mappable=False)


ROWS = 300_000
FOOTER = 24 * 1024  # what opening a Parquet file reads, and what the buffers of a shard take besides their blocks


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Numbers that are small in Parquet and large in the shard, and the reverse, with members of a struct."""
    folder = tmp_path_factory.mktemp("cheaper")
    numbers = np.random.default_rng(7).integers(0, 1000, ROWS)
    members = pa.StructArray.from_arrays([pa.array(numbers), pa.array(numbers % 7)], names=["a", "b"])
    table = pa.table({"n": numbers, "s": members})
    pq.write_table(table, folder / "a.parquet", row_group_size=100_000, compression="zstd")
    shard = amudai.attach(folder / "a.parquet", folder / "a.amudai.shard")
    amudai.materialize(shard, folder / "large.amudai.shard", keep=True, profile="plain")
    amudai.materialize(shard, folder / "small.amudai.shard", keep=True, profile="minimal_size")
    return folder


def read(
    place: Path, name: str, rows: slice | None, prefer: str, remote: bool, column: str = "n"
) -> tuple[int, pa.Table]:
    store = Remote() if remote else LocalStore()
    # One thread: the block between the parts of two threads may be read by both, which depends on their timing.
    url, options = (place / f"{name}.amudai.shard").as_uri(), {"store": store, "prefer": prefer, "threads": 1}
    with amudai.open(url, **options) as shard:  # type: ignore[arg-type]
        before = store.counters.bytes
        found = shard.read([column], rows=rows)
        return store.counters.bytes - before, found


@pytest.mark.parametrize("column", ["n", "s.a"])
@pytest.mark.parametrize("rows", [None, slice(17, 19)])
def test_the_encoding_with_fewer_bytes_is_read_from_afar(place: Path, column: str, rows: slice | None) -> None:
    for name in ("large", "small"):
        cost = {prefer: read(place, name, rows, prefer, True, column) for prefer in ("native", "parquet", "cheaper")}
        assert cost["cheaper"][1].equals(cost["native"][1])
        assert cost["cheaper"][1].equals(cost["parquet"][1])
        native, parquet, cheaper = (found[0] for found in cost.values())
        assert cheaper <= 1.1 * min(native, parquet) + FOOTER, (name, native, parquet, cheaper)
        if name == "large":  # the two differ much: all rows from Parquet, two rows from one block
            assert (parquet < native / 2) if rows is None else (native < parquet / 2)


def test_local_files_read_the_formats_own(place: Path) -> None:
    for name in ("large", "small"):
        cheaper, native = (read(place, name, None, prefer, False)[0] for prefer in ("cheaper", "native"))
        assert cheaper == native
    assert {each.storage for each in amudai.open(place / "large.amudai.shard").inspect(["n"]).fields} == {"blocks"}


def test_both_are_compared_wherever_they_are(place: Path) -> None:
    """A deep verification reads both, and not twice the cheaper one."""
    store = Remote()
    shard = amudai.open((place / "large.amudai.shard").as_uri(), store=store)
    assert shard.verify(deep=True).ok
    assert store.counters.bytes > (place / "large.amudai.shard").stat().st_size
