"""The command `sample`: show rows picked at random."""

from __future__ import annotations

from typing import Annotated

import typer

from amudai.cli.head import Count, Format, print_rows
from amudai.cli.options import Allow, Columns, Json, Rows, names_of, opened_rows

__all__ = ["run"]


def run(
    location: Rows,
    rows: Count = 10,
    columns: Columns = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Seed for the choice: the same seed picks the same rows.", min=0)
    ] = None,
    format: Format = "table",  # noqa: A002
    json: Json = False,
    allow: Allow = None,
) -> int:
    """Show rows picked at random, in their order. Only the blocks that hold these rows are read."""
    with opened_rows([location], allow) as shard:
        print_rows(shard.sample(rows, names_of(columns), seed=seed), "jsonl" if json else format)
    return 0
