"""Reading the schema of a shard.

The schema is a FlatBuffers buffer; `proto/schema.fbs` names its slots. A field is decoded when it is accessed, so that
reading two columns of ten thousand decodes two fields.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, TypeVar

import numpy as np
import xxhash

from amudai import _kernels
from amudai.errors import CorruptedData, UnsupportedFeature, located
from amudai.format.container import Bytes
from amudai.format.flat import FlatTable, Span
from amudai.format.flat_arrays import TableArray, UnusualTable
from amudai.types import BasicType, ExtensionProperty, SchemaNode, nodes_below

__all__ = ["SHARED_BYTES", "SHARED_SCHEMAS", "ShardSchema"]

_FIELDS, _ID_COUNT, _FIELD_LOOKUP = 0, 1, 2  # Schema
_DATA_TYPE, _INTERNAL = 0, 1  # Field
_BASIC_TYPE, _SCHEMA_ID, _NAME, _ALIASES, _CHILDREN, _SIGNED, _FIXED_SIZE, _EXTENDED = (
    0,
    1,
    3,
    4,
    5,
    6,
    7,
    8,
)  # DataType
_LABEL, _PROPERTIES = 0, 1  # ExtendedTypeAnnotation
_PROPERTY_NAME, _PROPERTY_VALUE = 0, 1  # ExtendedTypeProperty
_VALUE_KIND, _VALUE_DATA = 0, 1  # PropertyValue
_KIND = 0  # InternalFieldAnnotation
_BUCKETS, _ENTRIES = 0, 1  # HashLookup

# The numbers of a leaf, and their bytes: its type, its id, whether it is signed, the size of its values.
_LEAF_NUMBERS: Final = ((_BASIC_TYPE, 1), (_SCHEMA_ID, 4), (_SIGNED, 1), (_FIXED_SIZE, 8))
_BASIC_TYPES: Final[dict[int, BasicType]] = {kind.value: kind for kind in BasicType}
_CHILD_COUNTS: Final = {BasicType.LIST: 1, BasicType.FIXED_SIZE_LIST: 1, BasicType.MAP: 2}
_ANY_CHILDREN: Final = frozenset({BasicType.STRUCT, BasicType.UNION})
_GUID_SIZE: Final = 16
# Types without children, and without a size of their own that needs a check.
_LEAVES: Final = [kind.value for kind in BasicType if kind not in (*_ANY_CHILDREN, *_CHILD_COUNTS, BasicType.GUID)]
_MAX_FIXED_SIZE: Final = 0xFFFF_FFFF
_MAX_ID: Final = 0xFFFF_FFFE
_MAX_DEPTH: Final = 64
_FEW: Final = 64  # for this many fields, lists are faster than arrays
_MANY: Final = 256  # from this many fields on, decoding them at once is faster

# A buffer may refer to one table many times, and so describe more nodes than fit into memory. Therefore the bytes that
# nodes would take if nothing were shared are added up: for a node a reference to it, and a table that refers to its
# vtable, its name and its children; for an alias its reference; for a string its length. More than the size of the
# payload is an error.
_NODE_BYTES: Final = 16
_ALIAS_BYTES: Final = 4

T = TypeVar("T")


class ShardSchema:
    """The schema of a shard, in the payload of its frame.

    `place` is the place of the payload, for errors of fields that are decoded later. Decoded fields are kept for other
    shards with the same payload: the shards of a table have the same schema, and so have all indexes of a type.
    """

    __slots__ = ("_decoded", "_place")

    def __init__(self, payload: Bytes, place: located | None = None) -> None:
        self._place = located() if place is None else place
        stored = bytes(payload)
        self._decoded = _shared(stored) if len(stored) <= SHARED_BYTES else _Decoded(stored)

    def __len__(self) -> int:
        return len(self._decoded)

    @property
    def id_count(self) -> int:
        """The number of slots in the shard's field list: no node has a larger id; 0 if the writer did not say.

        In a new shard it is the number of nodes. After columns were dropped, some slots have no node.
        """
        return self._decoded.id_count

    @property
    def payload(self) -> bytes:
        """The bytes of the schema."""
        return self._decoded.payload

    def names(self) -> tuple[str, ...]:
        """The names of all top-level fields."""
        with self._place:
            return self._decoded.names()

    def column_names(self) -> list[str] | None:
        """The names of all top-level fields, found at once; None if some are internal, or must be read one by one."""
        return self._decoded.column_names()

    def field(self, index: int) -> SchemaNode:
        """The top-level field at `index`, with everything below it."""
        with self._place:
            return self._decoded.field(index)

    def fields(self) -> tuple[SchemaNode, ...]:
        """All top-level fields."""
        with self._place:
            return self._decoded.fields()

    def find(self, name: str) -> SchemaNode | None:
        """The top-level field of this name, or None. Uses the stored lookup if it is valid."""
        with self._place:
            return self._decoded.find(name)

    def node(self, schema_id: int) -> SchemaNode | None:
        """The node with this id, at any depth, or None."""
        with self._place:
            return self._decoded.node(schema_id)

    def internal(self, kind: str) -> SchemaNode | None:
        """The internal field of this kind, or None. Raises CorruptedData if there are several."""
        with self._place:
            return self._decoded.internal(kind)


class _Decoded:
    """The decoded fields of a payload."""

    __slots__ = (
        "_all",
        "_by_id",
        "_by_name",
        "_fields",
        "_found",
        "_internal",
        "_lookup",
        "_nodes",
        "_root",
        "_spent",
        "_tables",
        "_texts",
        "id_count",
        "payload",
    )

    def __init__(self, payload: bytes) -> None:
        data = memoryview(payload)
        self.payload = payload
        self._root = FlatTable.root(data)
        self._fields = _required(self._root.tables(_FIELDS), "Schema.fields")
        self._texts = _StringBuffer(data)
        self._lookup: _Lookup | None = None
        self._by_name: dict[str, int] | None = None
        self._by_id: dict[int, SchemaNode] | None = None
        self._tables: dict[int, FlatTable] = {}  # of fields whose names were looked at
        self._nodes: dict[int, SchemaNode] = {}
        self._found: dict[str, SchemaNode] = {}
        self._internal: dict[str, SchemaNode | None] = {}
        self._all: tuple[SchemaNode, ...] | None = None
        self._spent = 0
        self.id_count = self._root.u32(_ID_COUNT)

    def __len__(self) -> int:
        return len(self._fields)

    def names(self) -> tuple[str, ...]:
        return tuple(self._texts.read(self._name(index)) for index in range(len(self._fields)))

    def column_names(self) -> list[str] | None:
        return _kernels.field_names(self.payload, *self._fields.span, _DATA_TYPE, _INTERNAL, _NAME)

    def field(self, index: int) -> SchemaNode:
        node = self._nodes.get(index)
        if node is not None:
            return node
        reader = _FieldReader(self._texts, self.id_count, self._spent)
        decoded = reader.field(self._fields[index], self._data_type(index))
        node = self._nodes.setdefault(index, decoded)
        if node is decoded:  # not if another thread was faster
            self._spent = reader.spent
        return node

    def fields(self) -> tuple[SchemaNode, ...]:
        if self._all is None:
            if len(self._fields) >= _MANY:
                self._decode_leaves()
            fields = tuple(self.field(index) for index in range(len(self._fields)))
            by_id = {node.schema_id: node for node in fields if not node.children}
            if len(by_id) < len(fields):  # otherwise all are leaves, each with an id of its own
                by_id = _by_id(fields)
            self._by_id, self._all = by_id, fields
        return self._all

    def _decode_leaves(self) -> None:
        """Decode the fields without children and annotations at once, as far as they are sound."""
        try:
            fields = TableArray.of_vector(self.payload, *self._fields.span)
            types = fields.tables(_DATA_TYPE)
            kinds, ids, signed, sizes = (types.numbers(*slot) for slot in _LEAF_NUMBERS)
            others = types.has(_EXTENDED) | types.has(_ALIASES) | fields.has(_INTERNAL) | (types.lengths(_CHILDREN) > 0)
            starts, ends = types.spans(_NAME)
        except UnusualTable:
            return
        limit = min(self.id_count - 1, _MAX_ID) if self.id_count else _MAX_ID
        others |= ~np.isin(kinds, _LEAVES) | (ids > limit) | (sizes > _MAX_FIXED_SIZE)
        leaves = [index for index in np.flatnonzero(~others).tolist() if index not in self._nodes]
        if _NODE_BYTES * len(leaves) + self._spent > len(self.payload):
            return
        starts, ends = starts[leaves], ends[leaves]
        if int((ends - starts).sum()) > len(self.payload):
            return  # many names share bytes
        names = _kernels.texts(self.payload, starts.view(np.uint64), ends.view(np.uint64))
        if names is None:
            return
        kinds_of, ids_of, signs, sizes_of = kinds.tolist(), ids.tolist(), signed.tolist(), sizes.tolist()
        for index, name in zip(leaves, names, strict=True):
            node = SchemaNode(
                schema_id=ids_of[index],
                name=name,
                basic_type=_BASIC_TYPES[kinds_of[index]],
                signed=signs[index] != 0,
                fixed_size=sizes_of[index],
            )
            self._nodes.setdefault(index, node)
        self._spent += _NODE_BYTES * len(leaves)

    def find(self, name: str) -> SchemaNode | None:
        found = self._found.get(name)
        if found is None:
            index = self._find(name)
            if index is None:
                return None  # not kept: the number of missing names is not limited
            found = self._found[name] = self.field(index)
        return found

    def node(self, schema_id: int) -> SchemaNode | None:
        if self._by_id is None:
            # Ids ascend depth first, so the node is in the last field whose own id is not larger. Some writers do not
            # follow that order.
            low, high = 0, len(self._fields)
            while low < high:
                middle = (low + high) // 2
                first = self._data_type(middle).u32(_SCHEMA_ID)
                if first <= schema_id:
                    low = middle + 1
                else:
                    high = middle
            below = nodes_below((self.field(low - 1),)) if low else iter(())
            found = next((node for node in below if node.schema_id == schema_id), None)
            if found is not None:
                return found
            self.fields()
        return self._by_id.get(schema_id) if self._by_id is not None else None

    def internal(self, kind: str) -> SchemaNode | None:
        if kind not in self._internal:
            # Most schemas do not mention the kind at all. Then no field is looked at.
            self._internal[kind] = self._find_internal(kind.encode()) if kind.encode() in self.payload else None
        return self._internal[kind]

    def _find_internal(self, kind: bytes) -> SchemaNode | None:
        found = []
        for index in range(len(self._fields)):
            annotation = self._fields[index].table(_INTERNAL)
            span = None if annotation is None else annotation.text(_KIND)
            if span is not None and self._texts.data[span[0] : span[1]] == kind:
                found.append(index)
        if len(found) > 1:
            raise CorruptedData(f"internal field {kind.decode()}: expected one, found {len(found)}")
        return self.field(found[0]) if found else None

    def _find(self, name: str) -> int | None:
        wanted = name.encode("utf-8", "surrogatepass")  # a lone surrogate is not an error
        if self._lookup is None:
            self._lookup = _Lookup(self._root.table(_FIELD_LOOKUP), len(self._fields))
        candidates = self._lookup.candidates(wanted)
        if candidates is not None:
            for index in candidates:
                start, end = self._name(index)
                if end - start == len(wanted) and self._texts.data[start:end] == wanted:
                    return index
            return None
        if self._by_name is None:
            names = self.names()
            self._by_name = {names[index]: index for index in reversed(range(len(names)))}  # the first counts
        return self._by_name.get(name)

    def _data_type(self, index: int) -> FlatTable:
        found = self._tables.get(index)
        if found is None:
            found = self._tables[index] = _required(self._fields[index].table(_DATA_TYPE), "Field.data_type")
        return found

    def _name(self, index: int) -> Span:
        return _required(self._data_type(index).text(_NAME), "DataType.field_name")


def _by_id(fields: tuple[SchemaNode, ...]) -> dict[int, SchemaNode]:
    """All nodes at and below `fields`. An error if two have the same id."""
    by_id: dict[int, SchemaNode] = {}
    for node in nodes_below(fields):
        if by_id.setdefault(node.schema_id, node) is not node:
            names = f"{by_id[node.schema_id].name!r} and {node.name!r}"
            raise CorruptedData(f"schema id {node.schema_id}: expected one node, found {names}")
    return by_id


# How many schemas are kept for other shards, and the largest size of each.
SHARED_SCHEMAS: Final = 64
SHARED_BYTES: Final = 64 * 1024
_shared = lru_cache(maxsize=SHARED_SCHEMAS)(_Decoded)


class _StringBuffer:
    """The strings of the buffer. Each is decoded once, however many nodes share it."""

    __slots__ = ("_known", "_left", "data")

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self._known: dict[Span, str] = {}
        self._left = len(data)

    def read(self, span: Span) -> str:
        known = self._known.get(span)
        if known is not None:
            return known
        start, end = span
        if end - start > self._left:
            found = f"{len(self.data) - self._left + end - start}"
            raise CorruptedData(f"schema strings: expected at most {len(self.data)} bytes, found {found}")
        try:
            text = str(self.data[start:end], "utf-8")
        except UnicodeDecodeError as error:
            raise CorruptedData(f"schema string at {start}: expected UTF-8, found {error.reason}") from error
        if self._known.setdefault(span, text) is text:
            self._left -= end - start
        return text


class _FieldReader:
    """Decodes one top-level field. `spent` counts the bytes of all fields so far, as `_NODE_BYTES` explains."""

    __slots__ = ("_id_limit", "_ids", "_room", "_texts", "spent")

    def __init__(self, texts: _StringBuffer, id_count: int, spent: int) -> None:
        self._texts = texts
        self._id_limit = min(id_count - 1, _MAX_ID) if id_count else _MAX_ID
        self._ids: set[int] = set()
        self._room = len(texts.data)
        self.spent = spent

    def field(self, table: FlatTable, data_type: FlatTable) -> SchemaNode:
        annotation = table.table(_INTERNAL)
        internal = self._text(annotation, _KIND, "InternalFieldAnnotation.kind") if annotation is not None else ""
        return self._node(data_type, 1, internal)

    def _node(self, table: FlatTable, depth: int, internal: str = "") -> SchemaNode:
        self._spend(_NODE_BYTES)
        name = self._text(table, _NAME, "DataType.field_name")
        code = table.u8(_BASIC_TYPE)
        kind = _BASIC_TYPES.get(code)
        if kind is None:
            raise UnsupportedFeature(f"basic type of {name!r}: expected 0..{max(_BASIC_TYPES)}, found {code}")
        if depth > _MAX_DEPTH:
            raise CorruptedData(f"schema of {name!r}: expected at most {_MAX_DEPTH} levels, found more")
        extended = table.table(_EXTENDED)
        children = _required(table.tables(_CHILDREN), "DataType.children")
        expected = _CHILD_COUNTS.get(kind, 0)
        if len(children) != expected and kind not in _ANY_CHILDREN:
            found = f"expected {expected} children, found {len(children)}"
            raise CorruptedData(f"{kind.name.lower()} field {name!r}: {found}")
        return SchemaNode(
            schema_id=self._schema_id(table, name),
            name=name,
            basic_type=kind,
            signed=table.boolean(_SIGNED),
            fixed_size=_fixed_size(table, kind, name),
            extension=self._text(extended, _LABEL, "ExtendedTypeAnnotation.label") if extended is not None else "",
            extension_properties=() if extended is None else self._extension_properties(extended),
            aliases=self._aliases(table),
            internal=internal,
            children=tuple([self._node(children[index], depth + 1) for index in range(len(children))]),
        )

    def _extension_properties(self, extended: FlatTable) -> tuple[ExtensionProperty, ...]:
        listed = extended.tables(_PROPERTIES)
        return () if listed is None else tuple(self._extension_property(listed[index]) for index in range(len(listed)))

    def _extension_property(self, table: FlatTable) -> ExtensionProperty:
        value = _required(table.table(_PROPERTY_VALUE), "ExtendedTypeProperty.value")
        start, end = _required(value.text(_VALUE_DATA), "PropertyValue.data")
        self._spend(_NODE_BYTES + end - start)
        name = self._text(table, _PROPERTY_NAME, "ExtendedTypeProperty.name")
        return ExtensionProperty(name, value.u8(_VALUE_KIND), bytes(self._texts.data[start:end]))

    def _schema_id(self, table: FlatTable, name: str) -> int:
        schema_id = table.u32(_SCHEMA_ID)
        if schema_id > self._id_limit:
            raise CorruptedData(f"schema id of {name!r}: expected at most {self._id_limit}, found {schema_id}")
        if schema_id in self._ids:
            raise CorruptedData(f"schema id of {name!r}: expected one of its own, found {schema_id} a second time")
        self._ids.add(schema_id)
        return schema_id

    def _aliases(self, table: FlatTable) -> tuple[str, ...]:
        spans = table.texts(_ALIASES)
        if not spans:
            return ()
        self._spend(_ALIAS_BYTES * len(spans))
        return tuple(self._texts.read(span) for span in spans)

    def _text(self, table: FlatTable, slot: int, what: str) -> str:
        return self._texts.read(_required(table.text(slot), what))

    def _spend(self, size: int) -> None:
        self.spent += size
        if self.spent > self._room:
            raise CorruptedData(f"schema: expected nodes of {self._room} bytes at most, found {self.spent}")


class _Lookup:
    """The stored hash table of names. `candidates` returns None if the table is absent or invalid."""

    __slots__ = ("_buckets", "_entries", "_mask")

    def __init__(self, table: FlatTable | None, count: int) -> None:
        self._mask = -1
        buckets, entries = (None, None) if table is None else (table.u32s(_BUCKETS), table.u32s(_ENTRIES))
        if buckets is None or entries is None or len(entries) != count or len(buckets) < 2:
            return
        size = len(buckets) - 1
        if size & (size - 1) or buckets[0] != 0 or buckets[-1] != count:
            return
        # Buckets must ascend and list every field once. Otherwise a missing name would prove nothing.
        if count <= _FEW:
            ends = buckets.tolist()
            is_sound = sorted(ends) == ends and sorted(entries.tolist()) == list(range(count))
        else:
            is_sound = bool((buckets[1:] >= buckets[:-1]).all()) and np.array_equal(np.sort(entries), np.arange(count))
        if is_sound:
            self._buckets, self._entries, self._mask = buckets, entries, size - 1

    def candidates(self, name: bytes) -> list[int] | None:
        """The fields that may have this name; None if the table is absent or invalid."""
        if self._mask < 0:
            return None
        bucket = xxhash.xxh3_64_intdigest(name) & self._mask
        entries: list[int] = self._entries[self._buckets[bucket] : self._buckets[bucket + 1]].tolist()
        return entries


def _fixed_size(table: FlatTable, kind: BasicType, name: str) -> int:
    size = table.u64(_FIXED_SIZE)
    if kind is BasicType.GUID:
        if size not in (0, _GUID_SIZE):
            raise CorruptedData(f"fixed size of guid {name!r}: expected {_GUID_SIZE}, found {size}")
        return _GUID_SIZE
    if size > _MAX_FIXED_SIZE:
        raise CorruptedData(f"fixed size of {name!r}: expected at most {_MAX_FIXED_SIZE}, found {size}")
    return size


def _required(part: T | None, what: str) -> T:
    if part is None:
        raise CorruptedData(f"{what}: expected it to be set, found nothing")
    return part
