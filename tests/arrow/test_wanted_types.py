"""Types that a caller wants for many columns."""

import sys
from pathlib import Path
from types import FrameType

import pyarrow as pa
import pytest

import amudai


def calls(path: Path, types: dict[str, pa.DataType]) -> int:
    """How many functions of Python are called to find the schema with these types."""
    count = 0

    def counting(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    shard = amudai.open(path, schema=types)
    sys.setprofile(counting)
    try:
        assert shard.schema.types == list(types.values())
    finally:
        sys.setprofile(None)
    return count


def test_types_of_many_columns_are_checked_once(tmp_path: Path) -> None:
    taken = []
    for count in (100, 200, 400):
        names = [f"c{at}" for at in range(count)]
        path = tmp_path / f"{count}.amudai.shard"
        amudai.write(pa.table({name: pa.array(["a"]) for name in names}), path).close()
        taken.append(calls(path, dict.fromkeys(names, pa.string_view())))
    # Twice the columns take twice the calls, not four times.
    assert taken[2] - taken[1] < 3 * (taken[1] - taken[0])


def test_a_type_of_a_missing_column_is_an_error_each_time(tmp_path: Path) -> None:
    path = tmp_path / "a.amudai.shard"
    amudai.write({"a": ["x"]}, path).close()
    shard = amudai.open(path, schema={"a": pa.string_view(), "b": pa.int64()})
    for _ in range(2):
        with pytest.raises(amudai.InvalidArgument, match="'b'"):
            _ = shard.schema
