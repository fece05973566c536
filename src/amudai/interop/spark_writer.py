"""The writer of the data source of Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pyarrow as pa

from amudai.interop.staged_parts import StagedParts

try:
    from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
except ImportError:  # `spark_register` says what to install
    DataSourceArrowWriter = WriterCommitMessage = object

__all__ = ["AmudaiWriter"]

# Options of the source that are passed on to `amudai.write`.
_WRITING: Final = ("profile",)


class AmudaiWriter(DataSourceArrowWriter):  # type: ignore[misc]
    """Writes one shard for each task of Spark, and publishes all of them at once. Made by the driver for each job."""

    def __init__(self, path: str, options: Mapping[str, str], schema: pa.Schema, overwrite: bool) -> None:
        self._schema = schema
        chosen = {name: options[name] for name in _WRITING if name in options}
        self._parts = StagedParts(path, overwrite=overwrite, **chosen)
        self._parts.begin()

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Any:
        """Write the rows of one attempt of one task."""
        return AmudaiMessage(self._parts.write(iterator))

    def commit(self, messages: Sequence[Any]) -> None:
        """Publish the shards of all tasks as one, and remove what lost attempts left."""
        self._parts.commit([message.name for message in messages if message is not None], self._schema)

    def abort(self, messages: Sequence[Any]) -> None:  # noqa: ARG002 - failed attempts have no message
        """Remove everything that the job staged."""
        self._parts.abort()


class AmudaiMessage(WriterCommitMessage):  # type: ignore[misc]
    """What an attempt has written: the name of its shard, None if it had no rows."""

    def __init__(self, name: str | None) -> None:
        self.name = name
