"""Run the quick tests with the oldest versions of the dependencies that pyproject.toml allows.

`python tools/minima.py` makes an environment in build/minima: the package as a wheel, the least version of each
dependency, and what the tests need. Engines of the extras are the newest that go with these. Arguments go to pytest.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "minima"
# What is left of the checkout: the tests must find the installed package, not its source.
TESTED = (
    "README.md",
    "CHANGELOG.md",
    "benchmarks",
    "conftest.py",
    "docs",
    "examples",
    "mkdocs.yml",
    "pyproject.toml",
    "tests",
)
QUICK = ["-n", "auto", "--dist", "worksteal", "-m", "not slow and not source"]


def run(*command: object, folder: Path = ROOT) -> None:
    subprocess.run([str(part) for part in command], cwd=folder, check=True)


def minima() -> list[str]:
    """The least version of each dependency."""
    found = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    return [each.replace(">=", "==") for each in found]


def environment() -> Path:
    """The Python of the environment, which is made anew if a minimum has changed."""
    python, noted = WORK / "environment" / "bin" / "python", WORK / "minima.txt"
    wanted = "\n".join(minima())
    if not noted.exists() or noted.read_text() != wanted:
        shutil.rmtree(WORK, ignore_errors=True)
        run(sys.executable, "-m", "venv", WORK / "environment")
        requirements = subprocess.run(
            [sys.executable, ROOT / "tools" / "requirements.py"], check=True, capture_output=True, text=True
        ).stdout.split()
        tools = ("mkdocs", "mypy", "ruff", "types-", "build")
        tests = [each for each in requirements if not each.startswith(tools)]
        run(python, "-m", "pip", "install", "--quiet", "--no-compile", *minima(), *tests)
        noted.write_text(wanted)
    return python


def install(python: Path) -> None:
    """Install the package, built with the tools and the compiled kernels of the environment that runs this."""
    dist = WORK / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", dist, ROOT)
    (wheel,) = dist.glob("*.whl")
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", wheel)


def main(arguments: list[str]) -> None:
    """Install, test."""
    python = environment()
    install(python)
    tree = WORK / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir()
    for name in TESTED:
        (tree / name).symlink_to(ROOT / name)
    print(*minima(), sep="\n")
    run(python, "-m", "pytest", *QUICK, *(arguments or ["tests"]), folder=tree)


if __name__ == "__main__":
    main(sys.argv[1:])
