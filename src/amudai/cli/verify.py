"""The command `verify`: check every byte of shards."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from amudai import CorruptedData
from amudai.asking import count_text, size_text, time_text
from amudai.cli.guard import NOTHING, OK
from amudai.cli.options import Allow, Json, opened
from amudai.cli.terminal import Bar, output, print_json

__all__ = ["run"]


def run(
    locations: Annotated[
        list[str], typer.Argument(metavar="SHARDS...", help="Paths or URLs of shards.", show_default=False)
    ],
    deep: Annotated[
        bool, typer.Option("--deep", help="Also compute statistics and indexes again, and compare them.")
    ] = False,
    json: Json = False,
    allow: Allow = None,
) -> int:
    """Read every byte of shards and compare all checksums. The exit code is 0 if all are sound, 1 if not."""
    documents = []
    sound = True
    for location in locations:
        begin = time.perf_counter()
        seen = ""
        counts: dict[str, int] = {}
        try:
            with opened(location, allow) as shard, Bar("verifying", shard.num_positions) as bar:
                found = shard.verify(deep=deep, progress=bar)
            problems = [problem.message for problem in found.problems]
            counts = {"files": found.files, "blocks": found.blocks, "values": found.values, "bytes": found.bytes}
            seen = ", ".join(count_text(counts[each], each[:-1]) for each in ("files", "blocks", "values"))
            seen += f", {size_text(found.bytes)}"
        except CorruptedData as error:
            # Too damaged to be opened: this error is all that can be said.
            problems = [str(error)]
        seconds = time.perf_counter() - begin
        sound = sound and not problems
        if json:
            documents.append(
                {"shard": location, "ok": not problems, **counts, "problems": problems, "seconds": seconds}
            )
        else:
            console = output()
            state = f"{location}: {'sound' if not problems else count_text(len(problems), 'problem')}"
            console.print(state, style="green" if not problems else "bold red", end="", soft_wrap=True)
            console.print(f" ({f'{seen} in ' if seen else ''}{time_text(seconds)})", soft_wrap=True)
            for problem in problems:
                console.print(f"  {problem}", soft_wrap=True)
    if json:
        print_json({"ok": sound, "shards": documents})
    return OK if sound else NOTHING
