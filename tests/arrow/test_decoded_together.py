"""Columns that are decoded together become the same arrays as columns that are read one by one."""

from __future__ import annotations

from datetime import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import amudai
from amudai.shard import StripeReader

pytestmark = pytest.mark.native

ROWS = 600


def columns() -> dict[str, pa.Array]:
    """Columns of many types, with and without nulls. The first ones are decoded together."""
    rng = np.random.default_rng(3)
    holes = rng.random(ROWS) < 0.3
    numbers = rng.integers(0, 100, ROWS)
    made: dict[str, pa.Array] = {}
    for kind in map(pa.type_for_alias, ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")):
        made[f"{kind}"] = pa.array(numbers).cast(kind)
        made[f"{kind} with nulls"] = pa.array(numbers, mask=holes).cast(kind)
    words = [f"größe {number}" for number in numbers]
    for texts in (pa.string(), pa.binary()):
        made[f"{texts}"] = pa.array(words).cast(texts)
        made[f"{texts} with nulls"] = pa.array(words, mask=holes).cast(texts)
        # They take many times their encoded bytes.
        made[f"long {texts}"] = pa.array([str(number) + "x" * 2000 for number in range(ROWS)]).cast(texts)
        made[f"partly empty {texts}"] = pa.array([word if word[-1] > "4" else "" for word in words]).cast(texts)
    made["times"] = pa.array([time(0, 0, int(number) % 60) for number in numbers], pa.time32("s"))
    made["halves"] = pa.array(numbers.astype(np.float16))
    return made


def others() -> dict[str, pa.Array]:
    """Columns that are stored in another form than Arrow has them, or in several buffers."""
    rows = range(ROWS)
    return {
        "constant": pa.array([7] * ROWS),
        "nulls": pa.nulls(ROWS, pa.int32()),
        "dates": pa.array(rows, pa.date32()),
        "durations": pa.array([at * 1000 for at in rows], pa.duration("us")),
        "nanoseconds": pa.array([at * 7 for at in rows], pa.timestamp("ns")),
        "wide texts": pa.array([f"{at}" for at in rows], pa.large_string()),
        "views": pa.array([f"a longer text {at}" for at in rows], pa.string_view()),
        "coded": pa.array([f"{at % 3}" for at in rows]).dictionary_encode(),
        "lists": pa.array([[at] for at in rows]),
        "bits": pa.array([at % 3 == 0 for at in rows]),
        "decimals": pa.array([Decimal(at) / 4 for at in rows], pa.decimal128(9, 2)),
        "json": pa.array([f"[{at}]" for at in rows], pa.json_(pa.string())),
    }


def read_alone(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the columns that are read one by one from now on."""
    names: list[str] = []
    read = StripeReader.read

    def noted(self: StripeReader, rows: Any, projection: Any) -> Any:
        names.append(projection.node.name)
        return read(self, rows, projection)

    monkeypatch.setattr(StripeReader, "read", noted)
    return names


def plain(table: pa.Table) -> pa.Table:
    """The table without the dictionary of a column, of which a slice has all entries."""
    return table.set_column(table.schema.get_field_index("coded"), "coded", table["coded"].cast(pa.string()))


@pytest.mark.parametrize("rows", [ROWS, 1])
@pytest.mark.parametrize("profile", ["balanced", "plain"])
def test_all_columns(rows: int, profile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simple = columns()
    table = pa.table(simple | others()).slice(0, rows)
    amudai.write(table, tmp_path / "a", profile=profile)
    alone = read_alone(monkeypatch)
    found = amudai.open(tmp_path / "a").read()
    found.validate(full=True)
    assert found.schema.equals(table.schema)
    assert plain(found).equals(plain(table))
    if rows == ROWS and profile == "balanced":
        assert not set(alone) & set(simple), "these are read together"


def test_some_rows_of_short_stripes(tmp_path: Path) -> None:
    table = pa.table(columns() | others()).drop_columns("views")  # Arrow takes no rows of views
    amudai.write(table, tmp_path / "a", stripe_rows=250)
    wanted = [3, 249, 250, 599]
    found = amudai.open(tmp_path / "a").take(wanted)
    found.validate(full=True)
    assert plain(found).equals(plain(table).take(wanted))


def test_a_column_that_is_kept_does_not_show_its_neighbours(tmp_path: Path) -> None:
    found = amudai.write(pa.table(columns() | others()), tmp_path / "a").read()
    for name, array in columns().items():
        sizes = [None if each is None else each.size for each in found[name].chunk(0).buffers()]
        content = array.type.bit_width // 8 * ROWS if len(sizes) == 2 else 4 * (ROWS + 1)
        assert sizes[0] == ((ROWS + 7) // 8 if array.null_count else None), name
        assert sizes[1] == content, name
        if len(sizes) == 3:
            assert sizes[2] == sum(len(each.as_py() or b"") for each in array.cast(pa.binary())), name


def test_a_damaged_column_says_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "a"
    shard = amudai.write(pa.table(columns() | others()), path)
    (place,) = [each for each in shard.inspect(["int16"]).stripes[0].fields[0].buffers if each.kind == "data"]
    shard.close()
    content = bytearray(path.read_bytes())
    content[place.start + 20] ^= 1
    path.write_bytes(content)
    with pytest.raises(amudai.CorruptedData, match="int16"):
        amudai.open(path).read()
