"""An object store that fails at a request: the old shard or the new one, and the next run works."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest

import amudai
from amudai import AmudaiError
from tests.effort import EFFORT, NAMED
from tests.faults.operations import FIRST, OPERATIONS, SECOND, TARGET, Place
from tests.storage.servers import Fault, Request, proxy, s3_endpoint, s3_store

# Each takes up to a minute: all of them at the effort `full`.
NAMES = list(OPERATIONS) if NAMED["full"] <= EFFORT else ["merge", "delete", "compact"]
NO_RETRIES = {"max_retries": 0, "retry_timeout": timedelta(seconds=1)}


def copied(sound: Place) -> Place:
    """A new prefix with the same objects."""
    place = Place("", s3_store(prefix=uuid.uuid4().hex))
    for each in sound.store.list().collect():  # type: ignore[union-attr,attr-defined]
        place.store.put(each["path"], sound.store.get(each["path"]).bytes())  # type: ignore[union-attr,attr-defined]
    return place


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["error", "lost"])
@pytest.mark.parametrize("name", NAMES)
def test_every_put_may_fail(name: str, fault: Fault) -> None:
    sound = Place("", s3_store(prefix=uuid.uuid4().hex))
    sound.prepare()
    sound.write(TARGET, 420)
    old = {each: sound.content(each) for each in (FIRST, SECOND, TARGET)}
    done = copied(sound)
    OPERATIONS[name](done, {"overwrite": True}).close()
    new = done.content(TARGET)
    assert new != old[TARGET]
    at = 0
    while True:
        at += 1
        due = at
        place = copied(sound)
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
        assert {each: place.content(each) for each in (FIRST, SECOND)} == {each: old[each] for each in (FIRST, SECOND)}
        assert place.content(TARGET) == (old[TARGET] if failed else new)
        OPERATIONS[name](place, {"overwrite": True}).close()  # what was left behind does not disturb
        assert place.content(TARGET) == new
        amudai.gc("", store=place.store, older_than=timedelta(0), dry_run=False)
        assert place.content(TARGET) == new
        assert place.content(FIRST) == old[FIRST]
    assert at > 1
