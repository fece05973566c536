"""What `ingest --follow` does."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from amudai import HashIndex, TermIndex, follow
from amudai.asking import count_text
from amudai.cli.ingest_report import BadRecordCount
from amudai.cli.option_words import in_option_words
from amudai.cli.standard_input import StandardInput
from amudai.cli.terminal import note, output, print_json

__all__ = ["followed"]


def followed(
    source: str,
    target: str,
    reading: Mapping[str, Any],
    on_error: str,
    every: Mapping[str, Any],
    indexes: Sequence[TermIndex | HashIndex],
    profile: str | dict[str, str],
    *,
    json: bool,
) -> int:
    """Add what arrives to a folder of shards, and say so each time. Ends with a pipe, or when it is interrupted."""
    bad = BadRecordCount(reading["types"])
    told = {name: value for name, value in reading.items() if name != "on_error"}
    with in_option_words():
        shards = follow(
            StandardInput().fileno() if source == "-" else source,
            target,
            on_error="raise" if on_error == "raise" else "skip" if on_error == "skip" else "keep",
            on_bad_record=bad,
            reading=told,
            indexes=indexes,
            profile=profile,
            **every,
        )
        for shard in shards:
            name = os.path.basename(shard.url)
            if json:
                print_json({"shard": shard.url, "rows": shard.num_rows, "bad_records": bad.count})
            else:
                said = f"{time.strftime('%H:%M:%S')} {name}: {count_text(shard.num_rows, 'row')}"
                output().print(said, soft_wrap=True)
            sys.stdout.flush()
    if bad.count and not json:
        note(f"{count_text(bad.count, 'bad record')} {'kept' if on_error == 'keep' else 'skipped'}")
    return 0
