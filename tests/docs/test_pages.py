"""Is what the pages say true? Their code runs, page by page, in a folder of its own.

A Python block with prompts is a doctest, one without is executed; the names of a page's blocks are kept from one to the
next. A console block is typed into a shell that has `amudai`, and prints what stands below the command; a command that
needs nothing of the shell runs in this process, which takes a tenth of the time. A block that cannot run says so in its
first line.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import amudai
from amudai.cli.app import app_for

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OUTPUT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
NOT_RUN = "# not run here: "
CONSOLE = {"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"}
# A command of ours that leaves nothing to the shell but quotes.
ALONE = re.compile(r"""amudai (?:[^'"|<>&;*?$`~#\\]|'[^']*'|"[^"$`\\]*")+""")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: what it is written in, its text, and the line of its page where it begins."""

    language: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    found = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    return [Block(match[1], match[2], text.count("\n", 0, match.start()) + 2) for match in found]


def run_python(block: Block, page: Path, names: dict[str, Any]) -> None:
    if ">>> " not in block.text:
        # The blank lines put errors at the lines of the page.
        exec(compile("\n" * (block.line - 1) + block.text, str(page), "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, page.name, str(page), block.line - 1)
    said: list[str] = []
    failed = doctest.DocTestRunner(optionflags=OUTPUT).run(test, out=said.append, clear_globs=False).failed
    names.update(test.globs)
    assert not failed, "".join(said)


def typed(command: str, folder: Path) -> tuple[int, str, str]:
    """Exit code, output and errors of a command in a console."""
    if ALONE.fullmatch(command):
        words = shlex.split(command)[1:]
        found = CliRunner().invoke(app_for(words), words, env=CONSOLE)
        return found.exit_code, found.stdout, found.stderr
    started = re.sub(r"(^|\| )amudai ", rf"\1{shlex.quote(sys.executable)} -m amudai ", command)
    environment = {**os.environ, **CONSOLE}
    done = subprocess.run(started, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def run_console(block: Block, page: Path, folder: Path) -> None:
    for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
        command, _, expected = part.partition("\n")
        code, output, errors = typed(command, folder)
        where = f"{page.name}:{block.line}: {command}"
        assert code == 0, f"{where}\n{output}{errors}"
        if expected.strip():
            right = doctest.OutputChecker().check_output(expected, output, OUTPUT)
            assert right, f"{where}\nexpected:\n{expected}\nfound:\n{output}"


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tests").symlink_to(ROOT / "tests")  # for the sample shard
    names: dict[str, Any] = {"__name__": "page"}
    for block in blocks_of(page):
        if block.text.startswith(NOT_RUN):
            continue
        if block.language == "python":
            run_python(block, page, names)
        elif block.language == "console":
            run_console(block, page, tmp_path)


def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text("utf-8")))
    there = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    assert there == listed


def test_every_public_name_is_in_the_reference() -> None:
    listed = re.findall(r"^::: amudai\.(?:\w+\.)*(\w+)$", (ROOT / "docs" / "api.md").read_text("utf-8"), re.M)
    assert sorted(listed) == sorted([*amudai.__all__, "testing"])  # a module, for authors of plug-ins


def test_a_page_that_lies_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("text\n\n```python\n>>> 1 + 1\n3\n```\n\n```python\nassert False\n```\n")
    lie, wrong = blocks_of(page)
    assert (lie.line, wrong.line) == (4, 9)
    with pytest.raises(AssertionError, match="Expected"):
        run_python(lie, page, {})
    with pytest.raises(AssertionError):
        run_python(wrong, page, {})
