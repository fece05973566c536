"""Are plain command lines parsed without typer, and to the same as with it?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from amudai.cli import app, search
from amudai.cli.guard import guarded
from amudai.cli.quick import quick_arguments

PLAIN = [
    ["timeout", "a.shard"],
    ["timeout", "a.shard", "b.shard", "--count"],
    ["--count", "disk full", "a.shard", "-c", "message", "--column=host", "--where", "status >= 500"],
    ["x", "a", "-n", "0", "-s", "--any", "--prefix", "--explain", "--json", "--debug"],
    ["x", "--limit=7", "a", "--columns", "ts,message", "-C", "host", "--format", "csv", "--", "-b", "--c"],
    ["", "a", "--where="],
]
UNCLEAR = [
    [],
    ["timeout"],
    ["timeout", "a", "--help"],
    ["timeout", "a", "--nothing"],
    ["timeout", "a", "--limit"],
    ["timeout", "a", "--limit", "many"],
    ["timeout", "a", "--limit", "-1"],
    ["timeout", "a", "--count=yes"],
    ["timeout", "a", "--limit", "1", "--limit", "2"],
    ["timeout", "a", "-sn", "3"],
    ["timeout", "a", "-n3"],
    ["timeout", "a", "--where", "--count"],
]


def with_typer(words: list[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The arguments that a command gets from typer."""
    got: dict[str, Any] = {}
    command = guarded(search.run)

    def noted(**arguments: Any) -> int:
        got.update(arguments)
        return 0

    noted.__signature__ = command.__signature__  # type: ignore[attr-defined]
    monkeypatch.setattr(app, "_command", lambda _: noted)
    assert CliRunner().invoke(app.app_for(["search"]), ["search", *words]).exit_code == 0
    return got


@pytest.mark.parametrize("words", PLAIN, ids=" ".join)
def test_plain_lines_mean_what_they_mean_to_typer(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    found = quick_arguments(guarded(search.run), words)
    assert found is not None
    right = with_typer(words, monkeypatch)
    # Typer gives empty lists for options that are not given.
    assert {name: value or None for name, value in found.items()} == {
        name: (list(value) if isinstance(value, tuple) else value) or None for name, value in right.items()
    }


@pytest.mark.parametrize("words", UNCLEAR, ids=" ".join)
def test_all_other_lines_are_left_to_typer(words: list[str]) -> None:
    assert quick_arguments(guarded(search.run), words) is None


def test_counting_words_imports_only_what_it_uses(shard: Path) -> None:
    program = f"""
import sys
from amudai.cli.app import run
assert run(["search", "timeout", {str(shard)!r}, "--count"]) == 0
roots = ("click", "pandas", "pydantic", "rich", "typer", "pyarrow.parquet", "importlib.metadata", "amudai.edit",
         "amudai.sources", "amudai.exports", "amudai.shard.build", "amudai.datasets", "amudai.api.writing")
print(*(name for name in sys.modules if name.startswith(roots)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "143\n\n"


def test_a_short_command_hardly_looks_for_garbage(shard: Path) -> None:
    program = f"""
import gc, sys
from amudai.cli import main
before, thresholds = gc.get_stats(), gc.get_threshold()
try:
    main(["search", "timeout", {str(shard)!r}, "--count"])
except SystemExit:
    pass
assert gc.get_threshold() == thresholds
print(sum(after["collections"] - each["collections"] for after, each in zip(gc.get_stats(), before)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-1]) < 20
