"""`python -m tests.sealed.other_version PYTHON`: does another version of the library read what this one writes?

PYTHON is the interpreter of an environment in which the other version is installed. Shards of all features are written
here and read there. `--grown` names features that the other version does not know: they may be refused there, but not
be read wrongly.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.sealed.make import FEATURES, seal

CHECKOUT = Path(__file__).resolve().parents[2]


def outcomes(python: str, features: Iterable[str]) -> dict[str, str]:
    """What the version in the environment of `python` makes of shards that this version writes, by feature."""
    with tempfile.TemporaryDirectory() as name:
        for feature in features:
            seal(Path(name) / feature, FEATURES[feature])
        command = [python, "-m", "tests.sealed.reading", name]
        environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


def failures(found: dict[str, str], grown: Iterable[str]) -> dict[str, str]:
    """The features that are read wrongly, or refused although the other version knows them."""
    allowed = ("same", "refused")
    return {name: what for name, what in found.items() if not what.startswith(allowed if name in grown else "same")}


def main() -> int:
    """Write, read, tell; 0 if nothing failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.sealed.other_version", description=__doc__.split("\n")[0])
    parser.add_argument("python")
    parser.add_argument("--grown", nargs="*", default=[], help="features that the other version does not know")
    given = parser.parse_args()
    found = outcomes(given.python, FEATURES)
    for name, what in found.items():
        print(f"{name:24} {what}")
    return 1 if failures(found, given.grown) else 0


if __name__ == "__main__":
    raise SystemExit(main())
