"""What does a person type?

`app.py` lists the commands, one module each. `guard.py` says how a command ends: its exit code, its one line of error.
`options.py` holds what commands have in common, `terminal.py` sizes, times and bars for people; `values.py` and
`rows.py` turn Arrow data into text, JSON lines, CSV and tables.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line, and leave with its exit code."""
    try:
        signal.signal(signal.SIGTERM, _end)
        from amudai.cli.app import run  # what it imports takes a moment, in which somebody may press Ctrl-C

        code = run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _end(number: int, _: object) -> NoReturn:
    # As an exception, so that temporary files go the way they go after any other error.
    raise SystemExit(128 + number)
