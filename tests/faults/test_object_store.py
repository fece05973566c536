"""An object store that fails at a request: the old shard or the new one, and the next run works."""

from __future__ import annotations

import uuid
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest

import amudai
from amudai import AmudaiError
from tests.effort import EFFORT, NAMED
from tests.faults.operations import FIRST, OPERATIONS, SECOND, TARGET, Place
from tests.storage.servers import Fault, Request, proxy, s3_endpoint, s3_store

# Each takes up to a minute: all of them at the effort `full`.
NAMES = list(OPERATIONS) if NAMED["full"] <= EFFORT else ["merge", "delete", "compact"]
NO_RETRIES = {"max_retries": 0, "retry_timeout": timedelta(seconds=1)}


def objects(place: Place) -> dict[str, bytes]:
    """The bytes of all objects, by name."""
    store: Any = place.store
    return {each["path"]: bytes(store.get(each["path"]).bytes()) for each in store.list().collect()}


def tags(place: Place) -> dict[str, str]:
    """The tag of each object: it tells its bytes from others."""
    store: Any = place.store
    return {each["path"]: each["e_tag"] for each in store.list().collect()}


def copied(content: dict[str, bytes]) -> Place:
    """A new prefix with these objects."""
    store: Any = s3_store(prefix=uuid.uuid4().hex)
    for name, each in content.items():
        store.put(name, each)
    return Place("", store)


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["error", "lost"])
@pytest.mark.parametrize("name", NAMES)
def test_every_put_may_fail(name: str, fault: Fault) -> None:
    sound = Place("", s3_store(prefix=uuid.uuid4().hex))
    sound.prepare()
    sources = tags(sound)
    sound.write(TARGET, 420)
    old, content = sound.content(TARGET), objects(sound)
    done = copied(content)
    OPERATIONS[name](done, {"overwrite": True}).close()
    new = done.content(TARGET)
    assert new != old
    at = 0
    while True:
        at += 1
        due = at
        place = copied(content)
        puts: list[str] = []

        def fails(request: Request, puts: list[str] = puts, due: int = due) -> Fault | None:
            if request.method == "PUT":
                puts.append(request.path)
            return fault if request.method == "PUT" and len(puts) == due else None

        with proxy(s3_endpoint(), fails) as broken:
            store = s3_store(broken.endpoint, prefix=place.store.prefix, retry_config=NO_RETRIES)  # type: ignore[union-attr,attr-defined]
            failed = False
            try:
                OPERATIONS[name](Place("", store), {"overwrite": True}).close()
            except AmudaiError:
                failed = True
        if len(puts) < due:
            break  # no put is left that could fail
        assert failed == (fault == "error"), due  # a put whose answer is lost is recognised
        assert sources.items() <= tags(place).items()
        assert place.content(TARGET) == (old if failed else new)
        OPERATIONS[name](place, {"overwrite": True}).close()  # what was left behind does not disturb
        assert place.content(TARGET) == new
        amudai.gc("", store=place.store, older_than=timedelta(0), dry_run=False)
        assert place.content(TARGET) == new
        assert sources.items() <= tags(place).items()
    assert at > 1


@pytest.mark.slow
def test_every_other_request_may_fail() -> None:
    """Reads, sizes and lists: an error, a connection that breaks, half of an answer, one after the other."""
    place = Place("", s3_store(prefix=uuid.uuid4().hex))
    place.prepare()
    sources = tags(place)
    place.write(TARGET, 420)
    old, new = place.content(TARGET), None
    kinds: tuple[Fault, ...] = ("error", "reset", "cut")
    failed = turn = 0
    is_done = False
    while not is_done:
        turn += 1
        due = turn if NAMED["full"] <= EFFORT else 4 * turn
        seen: list[str] = []

        def fails(
            request: Request, seen: list[str] = seen, due: int = due, kind: Fault = kinds[turn % 3]
        ) -> Fault | None:
            seen += [request.path] if request.method != "PUT" else []
            return kind if request.method != "PUT" and len(seen) == due else None

        with proxy(s3_endpoint(), fails) as broken:
            store = s3_store(broken.endpoint, prefix=place.store.prefix, retry_config=NO_RETRIES)  # type: ignore[union-attr,attr-defined]
            try:
                OPERATIONS["delete"](Place("", store), {"overwrite": True}).close()
                is_done = len(seen) < due  # no request is left that could fail
                found = place.content(TARGET)
                assert found == (found if new is None else new)
                old = new = found
            except AmudaiError:
                failed += 1
                assert place.content(TARGET) == old, due
        assert sources.items() <= tags(place).items(), due
    assert failed > 1
    assert new is not None


@pytest.mark.slow
def test_every_removal_may_fail() -> None:
    place = Place("", s3_store(prefix=uuid.uuid4().hex))
    place.prepare()
    for shift in (420, 480):
        place.write(TARGET, shift, overwrite=bool(shift > 420))
    expected = {each: place.content(each) for each in (FIRST, SECOND, TARGET)}
    due, removed = 0, 1
    while removed:
        due += 1
        deleted: list[str] = []

        def fails(request: Request, deleted: list[str] = deleted) -> Fault | None:
            is_removal = request.method == "DELETE" or request.path.endswith("?delete")
            deleted += [request.path] if is_removal else []
            return "error" if is_removal and len(deleted) == 2 else None

        with proxy(s3_endpoint(), fails) as broken, suppress(AmudaiError):
            store = s3_store(broken.endpoint, prefix=place.store.prefix, retry_config=NO_RETRIES)  # type: ignore[union-attr,attr-defined]
            amudai.gc("", store=store, older_than=timedelta(0), dry_run=False)
        removed = len(deleted)
        assert {each: place.content(each) for each in expected} == expected, due
    assert due > 2, "each run removed something, and failed at its second file"
