"""The addresses of the server, and who answers them."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, BinaryIO, Final, cast

import pyarrow as pa
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from amudai import AmudaiError, InvalidArgument, Progress, QueryLimits, QueryResult, StorageError
from amudai.asking import WRITERS
from amudai.web.answer import answer
from amudai.web.asked import AskedScan, asked_of
from amudai.web.folder import Folder, Snapshot
from amudai.web.folder_page import SORTS, folder_page, folder_totals
from amudai.web.guard import Guard
from amudai.web.html import Html, tag
from amudai.web.layout import page, problem
from amudai.web.parts import AnswerRows
from amudai.web.question import PAGE_ROWS, Question
from amudai.web.search_page import AnswerView, row_part, search_page
from amudai.web.shard_page import column_part, encodings_part, shard_page, verification_part
from amudai.web.workers import Busy, Job, Running, Stopped, Workers

__all__ = ["WebLimits", "web_app"]

_ASSETS: Final = {"style.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
_TYPES: Final = {"parquet": "application/vnd.apache.parquet", "csv": "text/csv; charset=utf-8"}
# A download may take long: whoever waits for it can stop it.
_DOWNLOAD_SECONDS: Final = 6 * 3600
_CHUNK: Final = 1 << 20
_log: Final = logging.getLogger("amudai.web")


@dataclass(frozen=True, slots=True, kw_only=True)
class WebLimits:
    """How much queries may take.

    Attributes
    ----------
    queries
        How many may run at once; one more is answered with 429.
    seconds
        How long each may run. Downloads may take longer.
    memory
        Bytes that each may take.
    """

    queries: int = 10
    seconds: float = 60
    memory: int = 1 << 30

    @property
    def of_query(self) -> QueryLimits:
        """The limits of one query in DuckDB, which reads nothing but the shards."""
        return QueryLimits(memory=self.memory, threads=2, only_tables=True)


def web_app(folder: Folder, token: str, port: int, limits: WebLimits | None = None) -> Guard:
    """The server of a folder, as an ASGI application."""
    limits = limits or WebLimits()
    pages = _Pages(folder, limits)
    routes = [
        Route("/", pages.folder),
        Route("/totals", pages.totals),
        Route("/search", pages.search),
        Route("/results", pages.results),
        Route("/row", pages.row),
        Route("/download", pages.download),
        Route("/complete", pages.complete),
        Route("/shard", pages.shard),
        Route("/encodings", pages.encodings),
        Route("/column", pages.column),
        Route("/verify", pages.verify),
        Route("/assets/{name}", pages.asset),
        Route("/favicon.ico", lambda _: RedirectResponse("/assets/icon.svg")),
    ]
    handlers: dict[Any, Any] = {
        AmudaiError: pages.failed,
        Busy: pages.busy,
        Stopped: pages.stopped,
        404: pages.missing,
        Exception: pages.broken,
    }
    return Guard(Starlette(routes=routes, exception_handlers=handlers), token, port)


class _Pages:
    """One method for each address."""

    def __init__(self, folder: Folder, limits: WebLimits) -> None:
        self._folder = folder
        self._limits = limits.of_query
        self._workers = Workers(limits.queries, limits.seconds)

    # ---- pages: metadata only ----

    async def folder(self, request: Request) -> Response:
        """The shards of the folder."""
        sort, number = request.query_params.get("sort", "name"), request.query_params.get("page", "1")
        if sort not in SORTS or not number.isdecimal() or not 1 <= int(number) < 1 << 31:
            raise InvalidArgument(f"folder: expected sort and page, found {sort!r} and {number!r}")
        return await self._page(lambda: folder_page(self._folder.now(), sort, int(number) - 1))

    async def totals(self, _: Request) -> Response:
        """What all shards hold together."""
        return await self._page(lambda: folder_totals(self._folder.now()))

    async def shard(self, request: Request) -> Response:
        """One shard."""
        name = request.query_params.get("name", "")
        return await self._page(lambda: shard_page(self._folder.now(), name))

    async def search(self, request: Request) -> Response:
        """The frame of an answer."""
        question = _question(request)
        return await self._page(lambda: search_page(question, self._folder.now()))

    async def complete(self, request: Request) -> Response:
        """What may come next in a question, as JSON."""
        question = _question(request)
        language = question.spoken
        text = request.query_params.get("q", "")
        words = await self._workers.page(lambda: self._folder.now().words(question.shard).after(text, language))
        return JSONResponse({"begun": words[0], "words": words[1][:50], "language": language})

    async def asset(self, request: Request) -> Response:
        """A file of the package."""
        name = request.path_params["name"]
        if name not in _ASSETS:
            return await self.missing(request, None)
        content = files("amudai.web").joinpath("assets", name).read_bytes()
        return Response(content, media_type=_ASSETS[name], headers={"Cache-Control": "no-cache"})

    # ---- work: values are read, in a place among the queries ----

    async def results(self, request: Request) -> Response:
        """The answer, part by part: a line of JSON with the place and the HTML of each."""
        question = _question(request)
        snapshot = await self._workers.page(self._folder.now)
        return self._lines(lambda job: _parts(question, snapshot, job, self._limits))

    async def row(self, request: Request) -> Response:
        """One row in full."""
        question, params = _question(request), request.query_params
        is_part = "part" in params
        snapshot = await self._workers.page(self._folder.now)
        parts = await self._all(lambda job: iter([_row(question, snapshot, dict(params), job, self._limits)]))
        if is_part:
            return HTMLResponse(parts[0])
        return HTMLResponse(page("one row", snapshot.folder.name, question, parts[0], where="row"))

    async def column(self, request: Request) -> Response:
        """The values of a column."""
        name, path = request.query_params.get("name", ""), request.query_params.get("column", "")
        parts = await self._all(lambda _: iter([column_part(self._folder.now(), name, path)]))
        if "part" in request.query_params:
            return HTMLResponse(parts[0])
        content = (tag("h1", f"{path} in {name}"), parts[0])
        return HTMLResponse(page(path, self._folder.name, Question(shard=name), *content, where="column"))

    async def encodings(self, request: Request) -> Response:
        """The encodings of all columns, as JSON."""
        name = request.query_params.get("name", "")
        return JSONResponse((await self._all(lambda _: iter([encodings_part(self._folder.now(), name)])))[0])

    async def verify(self, request: Request) -> Response:
        """A verification: lines of JSON that say how far it is, then its result."""
        name = request.query_params.get("name", "")
        snapshot = await self._workers.page(self._folder.now)
        return self._lines(lambda job: _verified(snapshot, name, job), _DOWNLOAD_SECONDS)

    async def download(self, request: Request) -> Response:
        """All rows of an answer, as a file."""
        question, kind = _question(request), request.query_params.get("format", "")
        if kind not in _TYPES:
            raise InvalidArgument(f"format: expected {' or '.join(_TYPES)}, found {kind!r}")
        snapshot = await self._workers.page(self._folder.now)
        running = self._workers.start(
            lambda job: _downloaded(question, snapshot, kind, job, self._limits), _DOWNLOAD_SECONDS
        )
        headers = {"Content-Disposition": f'attachment; filename="rows.{kind}"'}
        return await _begun(running, _TYPES[kind], headers)

    def _lines(self, make: Callable[[Job], Iterator[tuple[str, object]]], seconds: float | None = None) -> Response:
        def lines(job: Job) -> Iterator[bytes]:
            for place, content in _guarded(make, job):
                yield json.dumps({"part": place, "html": content}, ensure_ascii=False).encode() + b"\n"

        return _Streamed(self._workers.start(lines, seconds), "application/x-ndjson")

    async def _all(self, make: Callable[[Job], Iterator[Any]]) -> list[Any]:
        def late(job: Job) -> Iterator[Any]:
            yield from make(job)

        return [item async for item in self._workers.start(late)]

    async def _page(self, make: Callable[[], Html]) -> Response:
        return HTMLResponse(await self._workers.page(make))

    # ---- errors ----

    async def failed(self, _: Request, error: Exception) -> Response:
        """What was asked cannot be answered."""
        code = 404 if isinstance(error, StorageError) else 400 if isinstance(error, ValueError) else 500
        return self._error("Not answered", str(error), code)

    async def busy(self, _: Request, error: Exception) -> Response:
        """Too many queries at once."""
        return self._error("Busy", str(error), 429, {"Retry-After": "1"})

    async def stopped(self, _: Request, error: Exception) -> Response:
        """The time of a query is up."""
        return self._error("Stopped", str(error), 503)

    async def missing(self, _: Request, __: Exception | None) -> Response:
        """An address that there is not."""
        return PlainTextResponse("There is no such page.\n", 404)

    async def broken(self, _: Request, error: Exception) -> Response:
        """A mistake of ours."""
        _log.error("a request failed", exc_info=error)
        return PlainTextResponse("The server failed. Its log says why.\n", 500)

    def _error(self, title: str, said: str, code: int, headers: dict[str, str] | None = None) -> Response:
        content = problem(f"{title}: ", said)
        return HTMLResponse(page(title, self._folder.name, Question(), content), code, headers)


def _question(request: Request) -> Question:
    return Question.of(request.query_params.multi_items())


def _guarded(make: Callable[[Job], Iterator[tuple[str, object]]], job: Job) -> Iterator[tuple[str, object]]:
    """The parts; an error becomes the last one."""
    try:
        yield from make(job)
        yield "end", ""
    except (AmudaiError, Stopped) as error:
        why = job.why if job.why is not None else str(error)
        yield "problem", problem("Stopped: " if job.why is not None else "Not answered: ", why)
    except MemoryError:
        yield "problem", problem("Not answered: ", "there is not enough memory for it")
    except Exception as error:
        _log.error("a query failed", exc_info=error)
        yield "problem", problem("The server failed. ", "Its log says why.")


def _parts(question: Question, snapshot: Snapshot, job: Job, limits: QueryLimits) -> Iterator[tuple[str, object]]:
    view = AnswerView(question, snapshot)
    for part in answer(question, snapshot, job, limits):
        yield from view.shown(part)


def _row(question: Question, snapshot: Snapshot, params: dict[str, str], job: Job, limits: QueryLimits) -> Html:
    if "of" in params:
        name, position = params["of"], params.get("position", "")
        if not position.isdecimal():
            raise InvalidArgument(f"position: expected a number, found {position!r}")
        shard = snapshot.shard(name)
        table = shard.take([int(position)])
        return row_part(question, table, f"{name}, row {int(position):,}")
    number = params.get("n", "")
    if not number.isdecimal() or int(number) < 1:
        raise InvalidArgument(f"n: expected a number from 1, found {number!r}")
    at = int(number) - 1
    for part in answer(question.with_(page=at // PAGE_ROWS, columns=()), snapshot, job, limits):
        if isinstance(part, AnswerRows) and part.first <= at < part.first + part.table.num_rows:
            return row_part(question, part.table.slice(at - part.first, 1), f"row {at + 1:,} of the answer")
    raise InvalidArgument(f"n: expected a row of the answer, found {number}")


def _verified(snapshot: Snapshot, name: str, job: Job) -> Iterator[tuple[str, object]]:
    """How far a verification is, in thousandths, and its result. The work is in a thread of its own."""
    from queue import SimpleQueue
    from threading import Thread

    steps: SimpleQueue[tuple[str, object]] = SimpleQueue()
    begin = time.perf_counter()

    def report(progress: Progress) -> None:
        job.check()
        steps.put(("progress", 1000 * progress.rows // max(1, progress.total_rows or 1)))

    def work() -> None:
        try:
            with snapshot.opened(name) as shard:
                found = shard.verify(progress=report)
            steps.put(("result", verification_part(found, time.perf_counter() - begin)))
        except AmudaiError as error:
            steps.put(("result", problem("✗ Cannot be opened. ", str(error))))
        except Stopped:
            steps.put(("stopped", ""))

    thread = Thread(target=work, name="amudai-verify", daemon=True)
    thread.start()
    while True:
        step = steps.get()
        yield step
        if step[0] != "progress":
            thread.join()
            return


def _downloaded(question: Question, snapshot: Snapshot, kind: str, job: Job, limits: QueryLimits) -> Iterator[bytes]:
    """The bytes of a file with all rows."""
    asked = asked_of(question, snapshot, limits)
    if isinstance(asked, QueryResult):
        job.on_stop(asked.cancel)
    rows = asked.rows() if isinstance(asked, AskedScan) else asked
    out = _Written()
    writer = WRITERS[kind](rows.schema, cast("BinaryIO", out))
    first: Iterator[pa.RecordBatch] = iter(rows)
    for batch in first:
        job.check()
        writer.write(batch)
        yield from out.chunks(_CHUNK)
    writer.close()
    yield from out.chunks(0)


class _Written(io.RawIOBase):
    """Keeps what is written until it is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[bytes] = []
        self._size = self._position = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def write(self, content: Any) -> int:
        self._kept.append(bytes(content))
        self._size += len(self._kept[-1])
        self._position += len(self._kept[-1])
        return len(self._kept[-1])

    def chunks(self, least: int) -> Iterator[bytes]:
        """What was written, if it has at least this number of bytes."""
        if self._size and self._size >= least:
            found, self._kept, self._size = b"".join(self._kept), [], 0
            yield found


async def _begun(running: Running[bytes], kind: str, headers: dict[str, str]) -> Response:
    """A response that begins once the first bytes are there, so that an error before them has its own status."""
    items = aiter(running)
    try:
        first = [await anext(items)]
    except StopAsyncIteration:
        first = []
    return _Streamed(running, kind, headers, items, first)


class _Streamed(Response):  # type: ignore[misc]
    """Sends bytes as they are made, and stops the work when nobody listens any more."""

    def __init__(
        self,
        running: Running[bytes],
        kind: str,
        headers: dict[str, str] | None = None,
        items: AsyncIterator[bytes] | None = None,
        first: list[bytes] | None = None,
    ) -> None:
        super().__init__(None, 200, headers, kind)
        del self.headers["content-length"]
        self._running = running
        self._items = items if items is not None else aiter(running)
        self._first = first or []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        """Answer."""
        watcher = asyncio.ensure_future(self._watch(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            for item in self._first:
                await send({"type": "http.response.body", "body": item, "more_body": True})
            async for item in self._items:
                await send({"type": "http.response.body", "body": item, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        except (OSError, ClientDisconnect):
            self._running.job.stop("cancelled")
        finally:
            watcher.cancel()
            close: Callable[[], Awaitable[None]] | None = getattr(self._items, "aclose", None)
            if close is not None:
                await close()

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._running.job.stop("cancelled")
