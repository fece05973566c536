"""An index of another package: it finds text by its end. Its table has the texts backwards, sorted.

python -m examples.plugin_index
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

import amudai
from amudai import IndexAnswer, IndexPlugin, IndexQuestion, Shard, col


class EndingIndex(IndexPlugin):
    """Finds the rows whose text ends with a given text."""

    name = "example.ending"

    def accepts(self, kind: pa.DataType) -> bool:  # noqa: D102
        return pa.types.is_string(kind)

    def builder(self, kind: pa.DataType) -> EndingBuilder:  # noqa: ARG002, D102
        return EndingBuilder()

    def find(self, index: Shard, asked: IndexQuestion) -> IndexAnswer | None:
        """The rows of `endswith_cs` exactly. Without regard to case this index cannot tell."""
        if asked.operator != "endswith" or not asked.case_sensitive or not asked.values[0]:
            return None
        found = index.read(["row"], where=col("backwards").startswith_cs(asked.values[0][::-1]))
        return IndexAnswer(found["row"].combine_chunks(), exact=True)


class EndingBuilder:
    """Collects the texts of a column backwards. Nulls end with nothing."""

    def __init__(self) -> None:
        schema = pa.schema([("backwards", pa.string()), ("row", pa.uint64())])
        self._parts = [schema.empty_table()]

    def append(self, values: pa.Array, first_row: int) -> None:  # noqa: D102
        rows = pa.array(range(first_row, first_row + len(values)), pa.uint64())
        self._parts.append(pa.table({"backwards": pc.utf8_reverse(values), "row": rows}).filter(pc.is_valid(values)))

    def finish(self) -> pa.Table:  # noqa: D102
        return pa.concat_tables(self._parts).sort_by("backwards")


amudai.register_index(EndingIndex())
if __name__ == "__main__":
    names = [f"host{n}.{'example' if n % 1000 else 'rare'}.com" for n in range(20_000)]
    index = amudai.PluginIndex(EndingIndex.name, "name")
    shard = amudai.write({"name": names}, "names.amudai.shard", indexes=[index], overwrite=True)
    scan = shard.scan(["name"], where=col("name").endswith_cs(".rare.com"))
    assert scan.to_table().num_rows == 20
    assert scan.explain().ruled_out == 19_980
    print(scan.explain())
