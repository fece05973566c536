"""Times of files: those that no `datetime` can be, and those without a zone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from amudai.storage import FsspecStore, LocalStore, moment, remove_parts
from tests.any_time import BEFORE_CHRIST, FAR_FUTURE, folder_of_any_time, touch


def test_any_time_is_a_moment() -> None:
    assert moment(0) == datetime(1970, 1, 1, tzinfo=UTC)
    assert moment(-1) == datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
    assert moment(1_767_225_600_123_456_789) == datetime(2026, 1, 1, 0, 0, 0, 123_456, tzinfo=UTC)
    first, last = (each.replace(tzinfo=UTC) for each in (datetime.min, datetime.max))
    for nanoseconds in (FAR_FUTURE * 10**9, 2**100, BEFORE_CHRIST * 10**9, -(2**100)):
        assert moment(nanoseconds) == (last if nanoseconds > 0 else first)
    assert [moment((each - moment(0)) // timedelta(microseconds=1) * 1000) for each in (first, last)] == [first, last]


def test_part_files_of_any_time() -> None:
    with folder_of_any_time() as folder:
        part = folder / f".amudai-{'ab' * 8}.part"
        part.write_bytes(b"left behind")
        later = datetime.now(UTC) + timedelta(days=1)
        touch(part, FAR_FUTURE)
        assert remove_parts(LocalStore(), folder.as_uri() + "/", later) == []
        touch(part, BEFORE_CHRIST)
        assert remove_parts(LocalStore(), folder.as_uri() + "/", later) == [part.as_uri()]


@pytest.fixture
def zones(monkeypatch: pytest.MonkeyPatch) -> Iterator[Iterator[str]]:
    """Put the process into one zone after the other."""

    def each() -> Iterator[str]:
        for zone in ("UTC", "Asia/Kolkata", "America/St_Johns"):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            yield zone

    yield each()
    monkeypatch.undo()
    time.tzset()


def test_a_time_without_a_zone_is_the_same_in_every_zone(zones: Iterator[str]) -> None:
    class WithoutZone(MemoryFileSystem):  # type: ignore[misc]
        store: dict[str, Any] = {}  # noqa: RUF012
        pseudo_dirs = [""]  # noqa: RUF012

        def info(self, path: str, **options: Any) -> dict[str, Any]:
            return {**super().info(path, **options), "created": datetime(2026, 3, 29, 2, 30)}

    filesystem = WithoutZone(skip_instance_cache=True)
    filesystem.pipe_file("/a.bin", b"123")
    store = FsspecStore(filesystem)
    expected = int(datetime(2026, 3, 29, 2, 30, tzinfo=UTC).timestamp()) * 10**9
    assert {zone: store.describe("/a.bin").modified for zone in zones} == dict.fromkeys(
        ("UTC", "Asia/Kolkata", "America/St_Johns"), expected
    )
