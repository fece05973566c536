"""Print the requirements of pyproject.toml, including the extras for development, as arguments for pip."""

from __future__ import annotations

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
wanted = list(project["dependencies"])
for extra in (
    "remote",
    "dask",
    "datafusion",
    "duckdb",
    "iceberg",
    "kql",
    "pandas",
    "pcodec",
    "polars",
    "serve",
    "test",
    "docs",
    "dev",
):
    wanted += [each for each in project["optional-dependencies"][extra] if not each.startswith("amudai[")]
print(" ".join(wanted))
