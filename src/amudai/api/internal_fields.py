"""The internal fields of an open shard."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amudai.api.field import Field
from amudai.arrow import ArrowFields, short_role
from amudai.errors import MissingColumn
from amudai.shard import ShardReader

__all__ = ["InternalFields"]


class InternalFields(Mapping[str, Field]):
    """The internal fields of a shard by their role. The last part of a role is enough to find a field.

    Fields that belong to a column, such as the nanoseconds after its ticks, are not among them.
    """

    def __init__(self, reader: ShardReader, fields: ArrowFields, threads: int) -> None:
        self._reader = reader
        self._fields = fields
        self._threads = threads
        self._nodes = fields.internal()

    def __getitem__(self, role: str) -> Field:
        for kind, node in self._nodes.items():
            if role in (kind, short_role(kind)):
                return Field(self._reader, self._fields, (node,), self._threads)
        shown = ", ".join(self._nodes) or "none"
        raise MissingColumn(f"internal field {role!r}: expected one of the shard, which has {shown}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def __repr__(self) -> str:
        return f"<amudai.InternalFields {', '.join(self._nodes) or 'none'}>"
