"""What does a person look at?

`amudai serve` shows a folder of shards in a browser. `app.py` lists the addresses, `guard.py` refuses what does not
come from the person who started the server, and `workers.py` runs queries in threads, with limits. `folder.py` knows
the shards. `question.py` is what the address asks, `asked.py` turns it into a scan or a query, and `answer.py` answers
it with `matches.py`, which searches for rows, and `histogram.py`. `warming.py` prepares for the first question. The
`*_page.py` modules make HTML of it with `html.py`, which escapes everything, and `pictures.py` draws. This room uses
the public names of `amudai` and `amudai.asking` only, like any other program.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.web.app import web_app
    from amudai.web.server import ServerOptions, serve
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.web.app": "web_app",
            "amudai.web.server": "ServerOptions serve",
        },
    )

__all__ = ["ServerOptions", "serve", "web_app"]
