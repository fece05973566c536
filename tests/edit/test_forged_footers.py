"""Parquet files whose footer contradicts itself: an error of ours, where Arrow ends the process or raises its own."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import amudai
from amudai import col
from tests.edit.footers import BINARY, I32, I64, LIST, STRUCT, Struct, changed, chunk_of, member, put, remove

COLUMNS = ["n", "word", "list"]
TABLE = pa.table(
    {
        "n": pa.array([None, *range(39)], pa.int64()),
        "word": [f"w{at}" for at in range(40)],
        "list": [[at, None] if at % 3 else None for at in range(40)],
    }
)


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(TABLE, out, row_group_size=20)
    return out.getvalue()


def meta(footer: Struct, leaf: int) -> Struct:
    """The metadata of a column chunk in the second row group."""
    found: Struct = member(chunk_of(footer, leaf, 1), 3)
    return found


def longer(footer: Struct, leaf: int, number: int) -> None:
    member(member(meta(footer, leaf), 16), number)[1].append(0)


FORGED: dict[str, tuple[Callable[[Struct], object], str, str]] = {
    "definition levels": (
        lambda footer: longer(footer, 0, 3),
        "CorruptedData",
        "column chunk 0 of row group 1: expected counts of 2 definition levels, found 3",
    ),
    "repetition levels": (
        lambda footer: longer(footer, 2, 2),
        "CorruptedData",
        "column chunk 2 of row group 1: expected counts of 2 repetition levels, found 3",
    ),
    "size of texts": (
        lambda footer: put(member(meta(footer, 0), 16), 1, I64, 5),
        "CorruptedData",
        "column chunk 0 of row group 1: expected a size of texts only in columns of BYTE_ARRAY, found 5",
    ),
    "type": (
        lambda footer: put(meta(footer, 0), 1, I32, 1),
        "CorruptedData",
        "column chunk 0 of row group 1: expected INT64, found INT32",
    ),
    "unknown type": (
        lambda footer: put(meta(footer, 1), 1, I32, -8),
        "CorruptedData",
        "column chunk 1 of row group 1: expected BYTE_ARRAY, found a type -8",
    ),
    "short bound": (
        lambda footer: put(member(meta(footer, 0), 12), 6, BINARY, b"123"),
        "CorruptedData",
        "column chunk 0 of row group 1: expected bounds of 8 bytes, found 3",
    ),
    "too few chunks": (
        lambda footer: member(member(footer, 4)[1][1], 1)[1].pop(),
        "CorruptedData",
        "column chunk 2 of row group 1: expected a column chunk for each column, found 2 chunks",
    ),
    "negative rows": (
        lambda footer: put(member(footer, 4)[1][1], 3, I64, -1),
        "CorruptedData",
        "rows of row group 1: expected a number that is not negative, found -1",
    ),
    "negative values": (
        lambda footer: put(meta(footer, 1), 5, I64, -20),
        "CorruptedData",
        "column chunk 1 of row group 1: expected a number of values that is not negative, found -20",
    ),
    "negative nulls": (
        lambda footer: put(member(meta(footer, 0), 12), 3, I64, -1),
        "CorruptedData",
        "column chunk 0 of row group 1: expected a number of nulls that is not negative, found -1",
    ),
    "encrypted column": (
        lambda footer: put(chunk_of(footer, 1, 1), 8, STRUCT, [[2, STRUCT, [[1, LIST, [BINARY, [b"word"]]]]]]),
        "UnsupportedFeature",
        "column chunk 1 of row group 1: expected a column that is not encrypted, found one that is",
    ),
}

PROGRAM = dedent("""
    import json, shutil, sys
    from pathlib import Path
    import amudai
    from amudai.column import ParquetFile
    from amudai.storage import Artifact, LocalStore

    def tried(call):
        try:
            call()
        except amudai.AmudaiError as error:
            return [type(error).__name__, error.message, str(error.place.get("url"))]
        return ["no error", "", ""]

    def column(case, leaves):
        path = (case / "a.parquet").as_uri()
        ParquetFile(Artifact.open(LocalStore(), path)).read(1, leaves)

    good, folder = Path(sys.argv[1]), Path(sys.argv[2])
    for case in sorted(folder.iterdir()):
        shutil.copy(good, case / "a.parquet")
        shard = amudai.attach(case / "a.parquet", case / "x.amudai.shard", ranges=[])
        shutil.copy(case / "forged", case / "a.parquet")
        found = {
            "attach": tried(lambda: amudai.attach(case / "a.parquet", case / "y.amudai.shard", ranges=[])),
            "attach and read": tried(lambda: amudai.attach(case / "a.parquet", case / "z.amudai.shard")),
            "refresh": tried(lambda: amudai.refresh(shard, case / "r.amudai.shard")),
            "shard": tried(lambda: amudai.open(case / "x.amudai.shard").read()),
            "columns": [tried(lambda: column(case, leaf)) for leaf in ([0], [1], [2])],
        }
        found["damage"] = len(amudai.open(case / "x.amudai.shard").verify().problems)
        found["files"] = sorted(each.name for each in case.iterdir())
        print(json.dumps([case.name, found]), flush=True)
""")


@pytest.mark.slow
def test_forged_footers_are_refused(tmp_path: Path) -> None:
    """In another process: Arrow ends the one that asks it for such a column chunk."""
    good = tmp_path / "good.parquet"
    good.write_bytes(parquet())
    for name, (change, *_) in FORGED.items():
        (tmp_path / "cases" / name).mkdir(parents=True)
        (tmp_path / "cases" / name / "forged").write_bytes(changed(good.read_bytes(), change))
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, good, tmp_path / "cases"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    outcomes = dict(json.loads(line) for line in done.stdout.splitlines())
    assert sorted(outcomes) == sorted(FORGED)
    for name, (_, kind, message) in FORGED.items():
        found = outcomes[name]
        for way in ("attach", "attach and read", "refresh"):
            assert found[way][:2] == [kind, message], (name, way)
            assert found[way][2].endswith("/a.parquet")
        assert found["shard"][0] == "StorageError"
        assert found["shard"][1].endswith("it was overwritten"), name
        assert {each[0] for each in found["columns"]} <= {"CorruptedData", "no error"}, name
        read_by_arrow = ("unknown type", "negative nulls")
        assert any(each[0] == "CorruptedData" for each in found["columns"]) == (name not in read_by_arrow), name
        assert found["damage"], name
        assert found["files"] == ["a.parquet", "forged", "x.amudai.shard"], name


@pytest.mark.parametrize("absent", [(16,), (12,), (12, 16)])
def test_footers_that_say_less_are_attached(tmp_path: Path, absent: tuple[int, ...]) -> None:
    """Older files have neither counts of levels nor statistics."""

    def change(footer: Struct) -> None:
        for leaf in range(3):
            for row_group in range(2):
                for number in absent:
                    remove(member(chunk_of(footer, leaf, row_group), 3), number)

    (tmp_path / "a.parquet").write_bytes(changed(parquet(), change))
    shard = amudai.attach(tmp_path / "a.parquet", tmp_path / "x.amudai.shard", ranges=[])
    assert shard.read() == TABLE
    stats = shard["n"].stats
    assert (stats.min, stats.max, stats.null_count) == ((None, None, None) if 12 in absent else (0, 38, 1))
    assert shard.count(col("n") > 30) == 8


@pytest.mark.parametrize("kind", [pa.uint32(), pa.uint64()])
def test_bounds_of_unsigned_numbers(tmp_path: Path, kind: pa.DataType) -> None:
    """Older files compare them as signed numbers, and then their bounds say nothing of the greatest ones."""
    most = 2**kind.bit_width - 1
    table = pa.table({"n": pa.array([most, 5, 3], kind)})
    out = io.BytesIO()
    pq.write_table(table, out)

    def older(footer: Struct) -> None:
        remove(footer, 7)
        said = member(member(chunk_of(footer), 3), 12)
        put(said, 1, BINARY, (5).to_bytes(kind.bit_width // 8, "little"))
        put(said, 2, BINARY, most.to_bytes(kind.bit_width // 8, "little"))

    for name, content, expected in (
        ("new", out.getvalue(), (3, most)),
        ("old", changed(out.getvalue(), older), (None, None)),
    ):
        (tmp_path / f"{name}.parquet").write_bytes(content)
        shard = amudai.attach(tmp_path / f"{name}.parquet", tmp_path / f"{name}.amudai.shard", ranges=[])
        assert (shard["n"].stats.min, shard["n"].stats.max) == expected
        assert shard.count(col("n") == most) == 1
