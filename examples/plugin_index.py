"""An index of another package: it finds text by its end, which neither dictionaries nor words help with.

    python -m examples.plugin_index

The table of the index has the texts backwards, sorted. All texts with an end are then a range of the table, and the
statistics and blocks of the stored table find it.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

import amudai
from amudai import IndexAnswer, IndexPlugin, IndexQuestion, Shard, col


class EndingIndex(IndexPlugin):
    """Finds the rows whose text ends with a given text."""

    name = "example.ending"

    def accepts(self, kind: pa.DataType) -> bool:
        """Text only."""
        return pa.types.is_string(kind)

    def builder(self, kind: pa.DataType) -> EndingBuilder:  # noqa: ARG002
        """A new builder."""
        return EndingBuilder()

    def find(self, index: Shard, asked: IndexQuestion) -> IndexAnswer | None:
        """The rows of `endswith_cs` exactly. Without regard to case this index cannot tell."""
        if asked.operator != "endswith" or not asked.case_sensitive or not asked.values[0]:
            return None
        beginning = asked.values[0][::-1]
        found = index.read(["row"], where=col("backwards").startswith_cs(beginning))
        return IndexAnswer(found["row"].combine_chunks(), exact=True)


class EndingBuilder:
    """Collects the texts of a column backwards."""

    def __init__(self) -> None:
        self._parts: list[pa.Table] = []

    def append(self, values: pa.Array, first_row: int) -> None:
        """Take values. Nulls end with nothing."""
        rows = pa.array(range(first_row, first_row + len(values)), pa.uint64())
        part = pa.table({"backwards": pc.utf8_reverse(values), "row": rows})
        self._parts.append(part.filter(pc.is_valid(values)))

    def finish(self) -> pa.Table:
        """The sorted table."""
        schema = pa.schema([("backwards", pa.string()), ("row", pa.uint64())])
        return pa.concat_tables([schema.empty_table(), *self._parts]).sort_by("backwards")


amudai.register_index(EndingIndex())


def main() -> None:
    """Write a shard with the index, and ask it."""
    names = [f"host{n}.{'example' if n % 1000 else 'rare'}.com" for n in range(20_000)]
    index = amudai.PluginIndex(EndingIndex.name, "name")
    shard = amudai.write({"name": names}, "names.amudai.shard", indexes=[index], overwrite=True)
    scan = shard.scan(["name"], where=col("name").endswith_cs(".rare.com"))
    found = scan.to_table()
    assert found.num_rows == 20
    assert scan.explain().ruled_out == 19_980
    print(scan.explain())


if __name__ == "__main__":
    main()
