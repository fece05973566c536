"""Who may ask? Only the browser of the person who started the server: the right host, the right origin, the token."""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from amudai.web.html import tag, together

__all__ = ["SAFETY_HEADERS", "Guard"]

# Everything comes from this server, and nothing is inline: a value that is HTML could load and run nothing.
SAFETY_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")


class Guard:
    """Lets requests through to `app` that have a host of this machine, no foreign origin, and the token.

    The token is in the address that the server prints. It becomes a cookie that scripts cannot read and other sites
    cannot send, and leaves the address. All answers get `SAFETY_HEADERS`.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._port = port
        # Cookies do not know ports: servers on two ports must not overwrite each other's.
        self._cookie = f"amudai-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        async def safe_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                known = {name.lower() for name, _ in message["headers"]}
                more = [(name.lower().encode(), value.encode()) for name, value in SAFETY_HEADERS.items()]
                message["headers"] = [*message["headers"], *(each for each in more if each[0] not in known)]
            await send(message)

        refusal = self._refusal(scope)
        await (self._app if refusal is None else refusal)(scope, receive, safe_send)

    def _refusal(self, scope: Scope) -> Response | None:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        hosts = {f"{name}:{self._port}" for name in _LOOPBACK}
        if self._port == 80:
            hosts.update(_LOOPBACK)
        if headers.get("host") not in hosts:
            return _refused(f"Host: expected a name of this machine, found {headers.get('host')!r}")
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in hosts}:
            return _refused(f"Origin: expected this server, found {origin!r}")
        site, mode = headers.get("sec-fetch-site", "none"), headers.get("sec-fetch-mode", "navigate")
        if site not in ("none", "same-origin") and mode != "navigate":
            return _refused(f"Sec-Fetch-Site: expected same-origin, found {site!r}")
        if scope["method"] not in ("GET", "HEAD"):
            return PlainTextResponse("This server only reads: expected GET or HEAD.\n", 405, {"Allow": "GET, HEAD"})
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in pairs if name == "token"]
        if given:
            if not self._is_right(given[-1]):
                return _refused("token: expected the one that amudai serve printed, found another")
            return self._admitted(scope, [pair for pair in pairs if pair[0] != "token"])
        if not self._is_right(self._shown(headers.get("cookie", ""))):
            return _refused("token: open the address that amudai serve printed, which has a token")
        return None

    def _is_right(self, token: str) -> bool:
        return secrets.compare_digest(token.encode(), self._token.encode())

    def _shown(self, header: str) -> str:
        try:
            found: Any = SimpleCookie(header).get(self._cookie)
        except CookieError:
            return ""
        return "" if found is None else str(found.value)

    def _admitted(self, scope: Scope, pairs: list[tuple[str, str]]) -> Response:
        """Sets the cookie, and goes on to the address without the token.

        Not by a redirect: a browser that came from another site would follow it without the cookie.
        """
        query = urlencode(pairs)
        path = urlsplit(scope["path"]).path.lstrip("/")
        target = f"/{path}?{query}" if query else f"/{path}"
        refresh = tag("meta", http_equiv="refresh", content=f"0;url={target}")
        body = together(tag("title", "amudai"), refresh, tag("p", tag("a", "Go on to the folder", href=target)))
        response = HTMLResponse(f"<!doctype html>{body}")
        response.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
        return response


def _refused(why: str) -> Response:
    return PlainTextResponse(f"Refused. {why}\n", 403)
