"""Run the tests of Spark, Ray and Daft, and with `all` those of the other engines and the examples again beside them.

`python tools/engines.py` makes an environment in build/engines, because these engines are large, and Daft wants an
older pyarrow. The environment sees the packages of the one that runs this, and so has the library and all other
engines. Arguments other than `all` go to pytest.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "engines"
# The extras of these engines, and what is imported.
ENGINES = {"daft": "daft", "ray": "ray.data", "spark": "pyspark.sql"}
# A file is run by one process, so that each engine is started once. What is skipped is named: Spark needs Java.
OPTIONS = ["-n", "2", "--dist", "loadfile", "-rs"]
# Every test that the environment of `make unit` skips, but for the examples, which start the engines anew.
CLUSTERS = [
    "tests/interop/test_spark.py",
    "tests/interop/test_spark_writer.py",
    "tests/interop/test_ray.py",
    "tests/interop/test_daft.py",
    "tests/interop/test_clusters_page.py",
]
ALL = ["tests/interop", "tests/examples/test_examples.py::test_example"]


def run(*command: object, **variables: str) -> None:
    subprocess.run([str(part) for part in command], cwd=ROOT, env={**os.environ, **variables}, check=True)


def wanted() -> list[str]:
    """The requirements of the engines that the other environment lacks."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    return [each for extra in ENGINES for each in extras[extra]]


def environment() -> Path:
    """The Python of the environment, which is made anew if a requirement or the other environment has changed."""
    folder = WORK / "environment"
    python, noted = folder / "bin" / "python", WORK / "engines.txt"
    made_of = "\n".join([sys.prefix, sys.version, *wanted()])
    if not noted.exists() or noted.read_text() != made_of:
        shutil.rmtree(WORK, ignore_errors=True)
        run(sys.executable, "-m", "venv", folder)
        own = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
        # Behind its own packages, those of the other environment, with what makes the library importable there.
        other = sysconfig.get_path("purelib")
        (own / "other_environment.pth").write_text(f"import site; site.addsitedir({other!r})\n")
        # pip makes a wheel of pyspark, 450 MB that are compressed already: compressing them again takes 13 seconds.
        stored = WORK / "stored.cfg"
        stored.write_text("[bdist_wheel]\ncompression = stored\n")
        run(python, "-m", "pip", "install", "--quiet", "--no-compile", *wanted(), DIST_EXTRA_CONFIG=str(stored))
        # Tests skip an engine that cannot be imported. Here all can.
        run(python, "-c", f"import {', '.join(ENGINES.values())}")
        noted.write_text(made_of)
    return python


def main(arguments: list[str]) -> None:
    tests = ALL if arguments == ["all"] else arguments or CLUSTERS
    run(environment(), "-m", "pytest", *OPTIONS, *tests)


if __name__ == "__main__":
    main(sys.argv[1:])
