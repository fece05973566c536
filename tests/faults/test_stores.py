"""A store that fails at its n-th call, for every n: the new shard or none, and the next run works."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import pytest

import amudai
from amudai import AmudaiError, StorageError
from amudai.storage import MemoryStore
from tests.faults.operations import FIRST, OPERATIONS, TARGET, Place

Fault = Literal["error", "short", "full", "lost"]


class FaultyStore(MemoryStore):
    """Fails at one call. `error` raises, `short` returns too few bytes or raises, `full` stores nothing of a file.

    `lost` raises as well, but a file that is put or replaced is there afterwards.
    """

    def __init__(self, files: dict[str, bytes], fault: Fault, at: int) -> None:
        super().__init__(files)
        self.fault = fault
        self.left = at

    def _is_due(self) -> bool:
        self.left -= 1
        return self.left == 0

    def _size(self, url: str) -> int:
        if self._is_due():
            raise StorageError("injected: no size")
        return super()._size(url)

    def _fetch(self, url: str, ranges: Sequence[tuple[int, int]]) -> Sequence[memoryview]:
        found = super()._fetch(url, ranges)
        if not self._is_due():
            return found
        if self.fault != "short":
            raise StorageError("injected: no bytes")
        return [*found[:-1], found[-1][:-1]]

    def _put(self, url: str, parts: Iterable[bytes]) -> None:
        self._write(parts, lambda parts: super(FaultyStore, self)._put(url, parts))

    def _replace(self, url: str, parts: Iterable[bytes], tag: str) -> None:
        self._write(parts, lambda parts: super(FaultyStore, self)._replace(url, parts, tag))

    def _write(self, parts: Iterable[bytes], write: Callable[[Iterable[bytes]], None]) -> None:
        if not self._is_due():
            write(parts)
            return
        if self.fault == "lost":
            write(parts)
            raise StorageError("injected: no answer")
        next(iter(parts), b"")  # some of it was sent
        raise StorageError("injected: no space left")


@pytest.fixture(scope="module")
def files() -> dict[str, bytes]:
    store = MemoryStore({})
    Place("", store).prepare()
    return dict(store._files)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["error", "short", "lost"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_call_may_fail(files: dict[str, bytes], name: str, fault: Fault) -> None:
    operation = OPERATIONS[name]
    sound = Place("", MemoryStore(files))
    operation(sound, {}).close()
    expected = sound.content(TARGET)
    at = failures = 0
    while True:
        at += 1
        store = FaultyStore(files, fault, at)
        try:
            operation(Place("", store), {}).close()
        except AmudaiError:
            failures += 1
        if store.left > 0:
            break  # no call is left that could fail
        assert files.items() <= store._files.items(), at  # what was read has the same bytes
        after = Place("", MemoryStore(store._files))
        if TARGET in store._files:
            assert after.content(TARGET) == expected, at
        elif store._files != files or at == 1:
            # What was left behind does not disturb. If nothing was, the next turn shows that a run works.
            with pytest.raises(FileNotFoundError):
                after.open(TARGET)
            operation(after, {}).close()
            assert after.content(TARGET) == expected, at
    assert failures > 3


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["error", "lost"])
def test_appended_rows_are_there_once_or_not_at_all(fault: Fault) -> None:
    sound = MemoryStore({})
    amudai.write({"n": [1, 2]}, TARGET, store=sound, indexes=[amudai.HashIndex("n")])
    failures = at = 0
    while True:
        at += 1
        store = FaultyStore(sound._files, fault, at)
        try:
            amudai.append(TARGET, {"n": [3, 4]}, store=store)
            wanted = [[1, 2, 3, 4]]
        except AmudaiError:
            failures += 1
            wanted = [[1, 2], [1, 2, 3, 4]]
        is_over, store.left = store.left > 0, 0
        assert amudai.open(TARGET, store=store).read()["n"].to_pylist() in wanted, at
        # The next addition finds nothing that disturbs it.
        assert amudai.append(TARGET, {"n": [5]}, store=store).read()["n"].to_pylist()[-1] == 5, at
        if is_over:
            break
    assert failures > 3


def test_the_face_of_a_fault_is_an_error_of_ours(files: dict[str, bytes]) -> None:
    store = FaultyStore(files, "error", 1)
    with pytest.raises(StorageError, match=r"injected.*first\.amudai\.shard"):
        amudai.open(FIRST, store=store)
