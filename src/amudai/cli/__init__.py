"""What does a person type?

`app.py` lists the commands, one module each. `declared.py` has their options and arguments, which typer parses;
`quick.py` parses plain command lines without it. `guard.py` has the exit codes and error messages, `options.py` the
options that commands share, `terminal.py` tables and progress bars, and `rows.py` turns Arrow data into tables, JSON
lines and CSV. This room uses the public names of `amudai` and `amudai.asking` only, like any other program.
"""

from __future__ import annotations

import atexit
import signal
import sys
from collections.abc import Sequence
from gc import freeze, get_threshold, set_threshold  # `gc` itself is a command here
from typing import Final, NoReturn

__all__ = ["main"]

# Python looks for garbage each time that so many objects were made. Nearly all objects of a short command belong to
# modules, which stay: with Python's own 700, looking at them takes a tenth of the command's time.
_COLLECT_AFTER: Final = 50_000


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its exit code."""
    thresholds = get_threshold()
    set_threshold(_COLLECT_AFTER, *thresholds[1:])
    atexit.register(_skip_last_collection)
    try:
        signal.signal(signal.SIGTERM, _end)
        from amudai.cli.app import run  # takes a moment, in which somebody may press Ctrl-C

        code = run(sys.argv[1:] if arguments is None else list(arguments))
    except KeyboardInterrupt:
        code = 130
    finally:
        set_threshold(*thresholds)
    sys.exit(code)


def _skip_last_collection() -> None:
    """Keep Python from looking for garbage in all modules once more before it ends."""
    if "duckdb" not in sys.modules:  # DuckDB prints a list of what was not collected
        freeze()


def _end(number: int, _: object) -> NoReturn:
    # Raised as an exception, so that temporary files are removed as after any other error.
    raise SystemExit(128 + number)
