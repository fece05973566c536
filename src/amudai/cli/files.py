"""The command `files`: list the files that a shard needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from amudai import ShardFile
from amudai.asking import json_value, size_text
from amudai.cli.options import Allow, Json, Location, opened
from amudai.cli.terminal import output, print_json, table

__all__ = ["files_json", "run"]


def run(location: Location, json: Json = False, allow: Allow = None) -> int:
    """List every file that a shard needs: its own, and those of other shards that it refers to."""
    with opened(location, allow) as shard:
        files = shard.files
    if json:
        print_json(files_json(files))
        return 0
    rows = [(file.kind, size_text(file.bytes), "owned" if file.owned else "referred to", file.url) for file in files]
    output().print(table({"kind": "left", "size": "right", "belongs": "left", "url": "fold"}, rows))
    return 0


def files_json(files: Sequence[ShardFile]) -> list[object]:
    """The files as JSON."""
    return [json_value(asdict(file)) for file in files]
