"""Writing the schema of a shard.

The inverse of `schema.py`; `proto/schema.fbs` names the slots. A schema that no reader could use (ids out of order, two
fields of the same name, a list without an item) raises InvalidSchema.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import xxhash

from amudai.errors import InvalidSchema
from amudai.format.flat_builder import FlatBuilder, Place, TableShape
from amudai.types import BasicType, ExtensionProperty, SchemaNode

__all__ = ["encode_schema", "hash_lookup"]

# The size of each slot in bytes, and which slots are references.
_SCHEMA: Final = TableShape((4, 4, 4), references=(0, 2))
_FIELD: Final = TableShape((4, 4), references=(0, 1))
_DATA_TYPE: Final = TableShape((1, 4, 4, 4, 4, 4, 1, 8, 4, 4), references=(3, 4, 5, 8, 9))
_EXTENDED: Final = TableShape((4, 4), references=(0, 1))
_PROPERTY: Final = TableShape((4, 4), references=(0, 1))
_VALUE: Final = TableShape((1, 4), references=(1,))
_INTERNAL: Final = TableShape((4,), references=(0,))
_LOOKUP: Final = TableShape((4, 4), references=(0, 1))

_NO_PARENT: Final = 0xFFFF_FFFF
_GUID_SIZE: Final = 16
_MAX_FIXED_SIZE: Final = 0xFFFF_FFFF
_MAX_DEPTH: Final = 64
_LOOKUP_FROM: Final = 10  # a node with this many distinct names among its children gets a lookup
_CHILD_COUNTS: Final = {BasicType.LIST: 1, BasicType.FIXED_SIZE_LIST: 1, BasicType.MAP: 2}
_NAMED_CHILDREN: Final = frozenset({BasicType.STRUCT, BasicType.UNION})

U32 = npt.NDArray[np.uint32]


def encode_schema(fields: Sequence[SchemaNode], id_count: int | None = None) -> bytes:
    """The payload of a schema with these top-level fields.

    A schema that the format cannot hold raises `InvalidSchema`, which names the field.

    Parameters
    ----------
    id_count
        The number of slots that field lists have. No two nodes may have the same id, and all ids must be smaller. None
        if ids ascend depth first from 0 without gaps, as in a new shard.
    """
    _check_names(fields, "schema")
    writer = _Writer(id_count)
    places = [writer.field(node) for node in fields]
    build = writer.build
    listed = build.references(places)
    lookup = _lookup(build, [node.name for node in fields])
    return build.finish(build.table(_SCHEMA, listed, writer.count if id_count is None else id_count, lookup))


def hash_lookup(names: Sequence[str]) -> tuple[U32, U32]:
    """The buckets and entries of the hash table in which a reader looks up the index of a name.

    >>> buckets, entries = hash_lookup(["ts", "level", "message"])
    >>> buckets.tolist(), entries.tolist()
    ([0, 1, 3], [2, 0, 1])
    """
    size = 1 << (max(len(names), 4) // 2 - 1).bit_length()  # the next power of two
    hashes = np.array([xxhash.xxh3_64_intdigest(name.encode()) & (size - 1) for name in names], np.intp)
    buckets = np.zeros(size + 1, np.uint32)
    buckets[1:] = np.cumsum(np.bincount(hashes, minlength=size))
    return buckets, np.argsort(hashes, kind="stable").astype(np.uint32)


class _Writer:
    """Writes fields one after the other. `count` is the number of nodes so far."""

    __slots__ = ("_id_count", "_ids", "build", "count")

    def __init__(self, id_count: int | None) -> None:
        self.build = FlatBuilder()
        self.count = 0
        self._id_count = id_count
        self._ids: set[int] = set()

    def field(self, node: SchemaNode) -> Place:
        data_type = self._node(node, _NO_PARENT, 1)
        internal = self.build.table(_INTERNAL, self._text(node.internal)) if node.internal else 0
        return self.build.table(_FIELD, data_type, internal)

    def _node(self, node: SchemaNode, parent: int, depth: int) -> Place:
        self._check_id(node)
        _check(node, depth)
        self.count += 1
        build, schema_id = self.build, node.schema_id
        name = self._text(node.name)
        aliases = build.references([self._text(alias) for alias in node.aliases]) if node.aliases else 0
        children = build.references([self._node(child, schema_id, depth + 1) for child in node.children])
        extended = 0
        if node.extension:
            label = self._text(node.extension)
            extended = build.table(_EXTENDED, label, self._properties(node.extension_properties))
        lookup = 0
        if node.basic_type in _NAMED_CHILDREN and len(node.children) >= _LOOKUP_FROM:
            names = [child.name for child in node.children]
            if len(set(names) - {""}) >= _LOOKUP_FROM:
                lookup = _lookup(build, names)
        fixed = _GUID_SIZE if node.basic_type is BasicType.GUID else node.fixed_size
        kind, signed = int(node.basic_type), int(node.signed)
        return build.table(
            _DATA_TYPE, kind, schema_id, parent, name, aliases, children, signed, fixed, extended, lookup
        )

    def _properties(self, properties: Sequence[ExtensionProperty]) -> Place:
        places = []
        for each in properties:
            name = self._text(each.name)
            value = self.build.table(_VALUE, each.kind, self.build.octets(each.data))
            places.append(self.build.table(_PROPERTY, name, value))
        return self.build.references(places)

    def _check_id(self, node: SchemaNode) -> None:
        if self._id_count is None:
            if node.schema_id != self.count:
                raise InvalidSchema(f"schema id of {node.name!r}: expected {self.count}, found {node.schema_id}")
            return
        if not 0 <= node.schema_id < self._id_count or node.schema_id in self._ids:
            expected = f"expected one of its own below {self._id_count}"
            raise InvalidSchema(f"schema id of {node.name!r}: {expected}, found {node.schema_id}")
        self._ids.add(node.schema_id)

    def _text(self, text: str) -> Place:
        try:
            return self.build.text(text)
        except UnicodeEncodeError as error:
            found = f"{text!r}, which has a lone surrogate"
            raise InvalidSchema(f"schema text: expected Unicode, found {found}") from error


def _lookup(build: FlatBuilder, names: Sequence[str]) -> Place:
    buckets, entries = hash_lookup(names)
    first = build.numbers(buckets)
    return build.table(_LOOKUP, first, build.numbers(entries))


def _check(node: SchemaNode, depth: int) -> None:
    kind, name = node.basic_type, node.name
    if depth > _MAX_DEPTH:
        raise InvalidSchema(f"schema of {name!r}: expected at most {_MAX_DEPTH} levels, found more")
    if kind in _NAMED_CHILDREN:
        _check_names(node.children, f"{kind.name.lower()} {name!r}", unnamed=kind is BasicType.UNION)
    elif len(node.children) != (expected := _CHILD_COUNTS.get(kind, 0)):
        found = f"expected {expected} children, found {len(node.children)}"
        raise InvalidSchema(f"{kind.name.lower()} field {name!r}: {found}")
    if kind is BasicType.GUID and node.fixed_size not in (0, _GUID_SIZE):
        raise InvalidSchema(f"fixed size of guid {name!r}: expected {_GUID_SIZE}, found {node.fixed_size}")
    if not 0 <= node.fixed_size <= _MAX_FIXED_SIZE:
        raise InvalidSchema(f"fixed size of {name!r}: expected 0..{_MAX_FIXED_SIZE}, found {node.fixed_size}")
    if node.internal and depth > 1:
        raise InvalidSchema(f"field {name!r}: expected internal fields at the top only, found one below")


def _check_names(nodes: Sequence[SchemaNode], where: str, *, unnamed: bool = False) -> None:
    """Raise an error if two fields have the same name, or a field that is not internal has none."""
    seen: set[str] = set()
    for node in nodes:
        if node.name in seen:
            raise InvalidSchema(f"fields of {where}: expected different names, found {node.name!r} twice")
        if node.name:
            seen.add(node.name)
        elif not (unnamed or node.internal):
            raise InvalidSchema(f"fields of {where}: expected names, found one that is empty")
