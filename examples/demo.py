"""The main job, for now: open a sample shard, show what it is, read some of it.  make demo"""

from __future__ import annotations

from pathlib import Path

import amudai

SAMPLE = Path(__file__).parent.parent / "tests" / "fixtures" / "sample.amudai.shard"


def main() -> None:
    """Print schema, statistics and first rows of the sample."""
    with amudai.open(SAMPLE) as shard:
        print(shard, end="\n\n")
        print("Schema", shard.schema, sep="\n", end="\n\n")
        print("Statistics")
        for field in shard:
            stats = field.stats
            print(f"  {field.path}: {stats.count:,} values, {stats.null_count:,} null, {stats.min} .. {stats.max}")
        print("\nFirst rows")
        for row in shard.head(5).to_pylist():
            print(" ", row)
        print("\nThree rows by position", shard.take([399, 7, 0], ["ts", "status"]).to_pylist(), sep="\n  ")
        print("\nVerified:", shard.verify())
        print("Asked of storage:", shard.requests)


if __name__ == "__main__":
    main()
