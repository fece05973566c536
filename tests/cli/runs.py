"""How do tests run commands?"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from typer.testing import CliRunner

from amudai.cli.app import app_for

__all__ = ["amudai", "finish", "run"]


def run(*arguments: object, code: int = 0) -> Any:
    """A command inside this process; its output, with the exit code that it must have."""
    given = [str(each) for each in arguments]
    result = CliRunner().invoke(app_for(given), given)
    assert result.exit_code == code, (result.exit_code, result.stdout, result.stderr, result.exception)
    return result


def amudai(*arguments: object, **options: Any) -> subprocess.Popen[bytes]:
    """A command in a process of its own."""
    environment = {**os.environ, "PYTHONUNBUFFERED": "", **options.pop("env", {})}
    command = [sys.executable, "-m", "amudai", *map(str, arguments)]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, **{**pipes, **options})


def finish(process: subprocess.Popen[bytes], data: bytes | None = None) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    out, err = process.communicate(data, timeout=120)
    return process.returncode, out.decode(), err.decode()
