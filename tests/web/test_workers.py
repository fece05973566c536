"""Do queries run side by side, up to so many, and do they stop when nobody waits for them?"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amudai.web.workers import Busy, Job, Stopped, Workers
from tests.web.places import client

ENDLESS = "SELECT count(*) AS n FROM range(1000000000000) a, data WHERE hash(a.range) = status"


PATIENCE = 120  # seconds that a busy machine may take for what is a moment on a quiet one


async def until(condition: Any) -> None:
    begin = time.monotonic()
    while not condition():
        assert time.monotonic() - begin < PATIENCE
        await asyncio.sleep(0.01)


def test_items_come_in_order_and_the_place_is_given_back() -> None:
    async def run() -> None:
        workers = Workers(1, 10)
        running = workers.start(lambda job: iter([1, 2, 3]))
        assert workers.running == 1
        with pytest.raises(Busy, match="expected at most 1 queries at once"):
            workers.start(lambda job: iter([]))
        assert [item async for item in running] == [1, 2, 3]
        await until(lambda: workers.running == 0)
        workers.close()

    asyncio.run(run())


def test_an_error_ends_a_query_and_gives_its_place_back() -> None:
    def failing(job: Job) -> Iterator[int]:
        yield 1
        raise ValueError("wrong")

    async def run() -> None:
        workers = Workers(1, 10)
        with pytest.raises(ValueError, match="wrong"):
            async for _ in workers.start(failing):
                pass
        await until(lambda: workers.running == 0)

    asyncio.run(run())


def test_a_query_is_stopped_when_its_time_is_up() -> None:
    hooks: list[str] = []

    def endless(job: Job) -> Iterator[int]:
        job.on_stop(lambda: hooks.append("called"))
        while True:
            job.check()
            time.sleep(0.005)
            yield 1

    async def run() -> None:
        workers = Workers(1, 0.1)
        with pytest.raises(Stopped, match=r"took longer than 0\.1 s"):
            async for _ in workers.start(endless):
                pass
        await until(lambda: workers.running == 0)

    asyncio.run(run())
    assert hooks == ["called"]


def test_a_query_that_nobody_waits_for_keeps_its_place_until_its_step_ends() -> None:
    entered, leave, closed = threading.Event(), threading.Event(), threading.Event()

    def slow(job: Job) -> Iterator[int]:
        try:
            entered.set()
            leave.wait(PATIENCE)
            job.check()
            yield 1
        finally:
            closed.set()

    async def run() -> None:
        workers = Workers(1, 10)

        async def read() -> None:
            async for _ in workers.start(slow):
                pass

        task = asyncio.ensure_future(read())
        await until(entered.is_set)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert workers.running == 1
        leave.set()
        await until(lambda: workers.running == 0)
        assert closed.is_set()

    asyncio.run(run())


def test_hooks_of_a_stopped_job_are_called_at_once() -> None:
    job, called = Job(), []
    job.stop("why")
    job.stop("other")
    job.on_stop(lambda: called.append(1))
    assert called == [1]
    with pytest.raises(Stopped, match=r"^why$"):
        job.check()


@pytest.mark.slow
def test_ten_queries_at_once_do_not_block_each_other_and_one_more_is_429(folder: Path, workers: list[Workers]) -> None:
    # Longer than any test waits: what ends was not ended by the limit of time.
    made = client(folder, seconds=100 * PATIENCE)
    (places,) = workers

    async def run() -> None:
        stuck = [asyncio.ensure_future(made.answered("GET", "/results", params={"q": ENDLESS})) for _ in range(9)]
        await until(lambda: places.running == 9)
        quick = await made.answered("GET", "/results", params={"q": "message has 'timeout'"})
        assert '"part": "end"' in quick.text
        await until(lambda: places.running == 9)
        stuck.append(asyncio.ensure_future(made.answered("GET", "/results", params={"q": ENDLESS})))
        await until(lambda: places.running == 10)
        refused = await made.answered("GET", "/results", params={"q": "timeout"})
        assert refused.status_code == 429
        assert refused.headers["retry-after"] == "1"
        assert "expected at most 10 queries at once" in refused.text
        # Pages that read metadata need no place.
        assert (await made.answered("GET", "/")).status_code == 200
        assert not any(each.done() for each in stuck)
        for each in stuck:
            each.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)
        # Cancelling stops the work: there is room again.
        await until(lambda: places.running == 0)
        assert (await made.answered("GET", "/results", params={"q": "timeout"})).status_code == 200

    asyncio.run(run())


def test_a_client_that_goes_away_stops_its_query(folder: Path, workers: list[Workers]) -> None:
    from amudai.web import web_app
    from amudai.web.app import WebLimits
    from amudai.web.folder import Folder
    from tests.web.places import PORT, TOKEN

    app = web_app(Folder(str(folder)), TOKEN, PORT, WebLimits(queries=1, seconds=100 * PATIENCE))
    (places,) = workers
    headers = [(b"host", f"127.0.0.1:{PORT}".encode()), (b"cookie", f"amudai-{PORT}={TOKEN}".encode())]

    async def status(query: bytes, gone_after: float | None) -> int:
        sent: list[dict[str, Any]] = []
        done = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if not done.is_set() and gone_after is not None:
                await asyncio.sleep(gone_after)
            else:
                await done.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": "/results", "raw_path": b"/results", "query_string": query}
        await app({**scope, "headers": headers, "http_version": "1.1", "scheme": "http"}, receive, send)
        return int(sent[0]["status"])

    async def run() -> None:
        from urllib.parse import urlencode

        endless = urlencode({"q": ENDLESS}).encode()
        assert await status(endless, 0.3) == 200
        await until(lambda: places.running == 0)
        assert await status(b"q=timeout", None) == 200

    asyncio.run(run())
