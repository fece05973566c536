"""`python -m tests.sealed.reading FOLDER`: read all cases in a folder with the installed version, and tell the outcome.

The output is an object of JSON: for each case `same`, `refused: ...` with an error of the library, or `wrong: ...`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import amudai
from tests.golden import read_arrow
from tests.sealed.make import ROOT, answers_of

__all__ = ["outcome"]


def outcome(folder: Path) -> str:
    """What the installed version makes of a case."""
    try:
        with amudai.open(folder / ROOT) as shard:
            table, answers, report = shard.read(), answers_of(shard), shard.verify(deep=True)
    except amudai.AmudaiError as error:
        return f"refused: {error}"
    if not table.equals(read_arrow(folder / "expected.arrow"), check_metadata=False):
        return "wrong: other rows"
    if answers != json.loads((folder / "answers.json").read_text()):
        return "wrong: other answers"
    return "same" if report.ok else f"refused: {report.problems[0].message}"


if __name__ == "__main__":
    cases = sorted(path for path in Path(sys.argv[1]).iterdir() if path.is_dir())
    print(json.dumps({case.name: outcome(case) for case in cases}))
