"""What does a person type?

`app.py` lists the commands, one module each. `guard.py` has the exit codes and error messages, `options.py` the options
that commands share, `terminal.py` tables and progress bars, and `rows.py` turns Arrow data into tables, JSON lines and
CSV. This room uses the public names of `amudai` and `amudai.asking` only, like any other program.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its exit code."""
    try:
        signal.signal(signal.SIGTERM, _end)
        from amudai.cli.app import run  # takes a moment, in which somebody may press Ctrl-C

        code = run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _end(number: int, _: object) -> NoReturn:
    # Raised as an exception, so that temporary files are removed as after any other error.
    raise SystemExit(128 + number)
