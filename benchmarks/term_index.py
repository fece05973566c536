"""How fast and how small is a term index?  python -m benchmarks.term_index [--rows N] [--profile NAME]

The messages of the log dataset, one thread, processor time. The index is built alone, without the shard around it; a
lookup from cold opens both artifacts. Memory is what the process has of its own above what it had before.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable

import pyarrow as pa

from amudai.arrow import schema_nodes, to_storage
from amudai.edit import Publication, Root
from amudai.encoding import profile_of
from amudai.index import BuildPlan, Match, TermIndex, Terms
from amudai.index.artifacts import IndexArtifactReader
from amudai.index.numbering import Numbering
from amudai.index.term.builder import TermBuilder, build_term_index
from amudai.index.term.reader import TermReader
from amudai.rows import Origin
from amudai.shard import BuildOptions, ShardBuilder, ShardReader, Sinks
from amudai.storage import open_store
from benchmarks.datasets import load
from benchmarks.memory import watched

BATCH_ROWS = 65_536
QUESTIONS = [
    ("rare term", "deadlock", Match.EQUAL, False),
    ("rare term, case-sensitive", "deadlock", Match.EQUAL, True),
    ("absent term", "zzyzx", Match.EQUAL, False),
    ("common term", "connection", Match.EQUAL, False),
    ("prefix", "user", Match.PREFIX, False),
    ("short prefix", "1", Match.PREFIX, False),
    ("suffix", "out", Match.SUFFIX, False),
    ("within", "eadloc", Match.WITHIN, False),
    ("within, case-sensitive", "eadloc", Match.WITHIN, True),
]


def build(messages: pa.ChunkedArray, sink: TermBuilder, location: str) -> tuple[float, float]:
    """Seconds to gather and to finish."""
    (node,) = schema_nodes([pa.field("message", pa.string())])
    store, url = open_store(location, None)
    with Publication(store, url) as publication:
        options = BuildOptions(profile=profile_of("balanced"))
        sinks = Sinks(shard=(sink,))
        builder = ShardBuilder([node], publication.sealing, publication.file, options, sinks=sinks)
        start, row = time.process_time(), 0
        for chunk in messages.chunks:
            for at in range(0, len(chunk), BATCH_ROWS):
                values = to_storage(chunk.slice(at, BATCH_ROWS), node, "message")
                sink.append(values, 0, row)
                row += values.length
        gathered = time.process_time()
        publication.publish(Root(url=url, metadata=builder.finish()))
        builder.close()
    return gathered - start, time.process_time() - gathered


def best(work: Callable[[], object], seconds: float) -> float:
    """Best processor time of one call."""
    work()
    least, end = 1e9, time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.process_time()
        work()
        least = min(least, time.process_time() - start)
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--profile", default="balanced")
    parser.add_argument("--memory", type=int, default=64 << 20)
    parser.add_argument("--seconds", type=float, default=0.5, help="for each lookup")
    parser.add_argument("--memory-only", action="store_true", help="measure memory, which makes building slower")
    options = parser.parse_args()
    messages = load("logs", options.rows).column("message")
    (node,) = schema_nodes([pa.field("message", pa.string())])
    plan = BuildPlan(paths=((node,),), memory=options.memory, temp_folder=None, profile=options.profile)
    spec = TermIndex("message")
    with tempfile.TemporaryDirectory() as folder:
        location = f"{folder}/index.amudai.shard"
        if options.memory_only:
            with watched() as most:
                build(messages, build_term_index(spec, plan), location)
            print(f"memory above start  {most[0] / 1e6:8.1f} MB")
            return
        gather, finish = build(messages, build_term_index(spec, plan), location)
        print(f"build               {gather + finish:8.2f} s   (gather {gather:.2f}, merge and encode {finish:.2f})")
        shard = ShardReader(location)
        (descriptor,) = shard.indexes
        print(f"size                {(descriptor.index_size or 0) / 1e6:8.2f} MB")
        tokenizers = {node.schema_id: "unicode-log"}
        # The file holds the index alone, and no rows.
        numbering = Numbering(Origin("shard", shard.url, options.rows), {0: 0}, 0, True)

        def opened() -> TermReader:
            terms, positions = descriptor.artifacts
            artifacts = (IndexArtifactReader(each, shard, shard.root) for each in (terms, positions))
            return TermReader(*artifacts, tokenizers, numbering=numbering, case_sensitive=True, own=True)

        for name, text, match, case_sensitive in QUESTIONS:
            question = Terms(text, match, case_sensitive)
            kept = opened()
            rows = kept.answer((node,), question)
            cold = best(lambda question=question: opened().answer((node,), question), options.seconds)
            warm = best(lambda question=question, kept=kept: kept.answer((node,), question), options.seconds)
            print(f"{name:26} {rows.count if rows else 0:9} rows  {cold * 1e3:8.3f} ms cold  {warm * 1e3:8.3f} ms warm")


if __name__ == "__main__":
    main()
