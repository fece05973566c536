"""Writing rows of existing shards anew, with the facts about them that are not in their columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import pyarrow as pa

from amudai.api.writing import ShardWriter
from amudai.errors import located
from amudai.format import ShardProperties, united_properties
from amudai.shard import ShardMetadata, ShardReader
from amudai.types import INGESTION_TIMESTAMP, RECORD_IDENTITY, quote_name

__all__ = ["ShardRewriter", "kept_roles", "role_column"]

# The internal fields that a writer can fill. Markers of deleted rows are gone with the rows.
_KEPT: Final = (INGESTION_TIMESTAMP, RECORD_IDENTITY)


def kept_roles(roles: Iterable[str]) -> list[str]:
    """The roles of the internal fields that rows keep when they are written anew."""
    return [role for role in roles if role in _KEPT]


def role_column(role: str) -> str:
    """The path by which a scan finds the internal field of a role."""
    return quote_name(f"@{role}")


class ShardRewriter(ShardWriter):
    """A writer of rows that come from other shards. Their internal fields keep their values."""

    _old: bytes | None = None

    def take_over(self, reader: ShardReader) -> None:
        """Take over the properties and creation times of the shard that the rows come from."""
        ref = reader.directory.properties
        self._old = (
            b"" if ref is None or ref.is_empty else bytes(reader.payload(ref, "ShardProperties", reader.root)[0])
        )

    def rewrite(self, columns: Sequence[pa.Array], roles: Sequence[str]) -> None:
        """Append rows: the columns of the schema, and then the internal fields of `roles`."""
        count = len(self.schema)
        batch = pa.RecordBatch.from_arrays(columns[:count], schema=self.schema)
        with located(url=self._url):
            self._append(batch, dict(zip(roles, columns[count:], strict=True)))

    def _metadata(self) -> ShardMetadata:
        metadata = super()._metadata()
        if self._old is None:
            return metadata
        # Creation times are mandatory, but other writers may leave them out.
        has_times = ShardProperties.decode(self._old).creation_min is not None
        stored = [self._old] if has_times else [metadata.properties, self._old]
        return replace(metadata, properties=united_properties(stored, self._builder.properties))
