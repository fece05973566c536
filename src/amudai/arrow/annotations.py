"""Extension types and aliases: what a user says about columns besides their types."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa

from amudai.arguments import names, shown
from amudai.errors import InvalidArgument, MissingColumn
from amudai.format import extension_properties, extension_values
from amudai.types import DECIMAL, DYNAMIC, TIMESPAN, BasicType, SchemaNode, find_in, quote_name

__all__ = [
    "Extension",
    "aliases_of",
    "annotated",
    "check_aliases",
    "extension_of",
    "extensions_of",
    "labelled_field",
    "with_labels",
]

_NAME: Final = b"ARROW:extension:name"
_METADATA: Final = b"ARROW:extension:metadata"
# Extension types of Arrow that the format has types of its own for.
_OWN: Final = frozenset({"arrow.uuid", "arrow.json"})
# Labels that say how values are stored. Arrow's types state them: timestamps, durations, decimals, JSON.
_STORED: Final = frozenset({DECIMAL, TIMESPAN, DYNAMIC})
# Holds metadata of an Arrow extension type that is not a JSON object.
_OPAQUE: Final = "ARROW:extension:metadata"


@dataclass(frozen=True, slots=True)
class Extension:
    """An extension type: a label that says what the values of a column mean, and properties.

    `amudai.write` takes extension types by column, and `shard["column"].extension` returns them. Arrow's extension
    types become extension types of the shard, with their metadata as properties.

    Attributes
    ----------
    label
        The name of the type.
    properties
        Values by name: None, bool, int, float, str, bytes, `datetime`, `timedelta`, lists and dicts of these.

    Examples
    --------
    >>> vectors = amudai.Extension("EmbeddingVec", {"model": "text-embedding-3-small"})
    >>> data = {"text": ["a"], "vector": [[0.5, 0.25]]}
    >>> shard = amudai.write(data, "vectors.amudai.shard", extensions={"vector": vectors}, overwrite=True)
    >>> shard["vector"].extension
    Extension(label='EmbeddingVec', properties={'model': 'text-embedding-3-small'})
    """

    label: str
    properties: Mapping[str, object] = field(default_factory=dict)


def extension_of(node: SchemaNode) -> Extension | None:
    """The extension type of a node; None if it has none, or one that only says how values are stored."""
    if not node.extension or (node.extension in _STORED and not node.extension_properties):
        return None
    return Extension(node.extension, extension_values(node.extension_properties))


def annotated(
    nodes: Sequence[SchemaNode],
    extensions: Mapping[str, Extension | str] | None,
    aliases: Mapping[str, Iterable[str]] | None,
) -> tuple[SchemaNode, ...]:
    """The nodes with the extension types and aliases that a user gives for them, by path."""
    changed: dict[int, SchemaNode] = {}
    for path, given in _by_path(extensions, "extensions").items():
        extension = Extension(given) if isinstance(given, str) else given
        if not isinstance(extension, Extension) or not isinstance(extension.label, str) or not extension.label:
            raise InvalidArgument(f"extensions: expected an Extension or a label for {path!r}, found {shown(given)}")
        if extension.label in _STORED:
            expected = f"expected a label other than {', '.join(sorted(_STORED))}, which types of Arrow state"
            raise InvalidArgument(f"extensions: {expected}, found {extension.label} for {path!r}")
        node = _found(nodes, path, "extensions")
        if node.extension in _STORED:
            raise InvalidArgument(f"extensions: expected a column without a label of its own, found {node} at {path!r}")
        changed[node.schema_id] = replace(
            node, extension=extension.label, extension_properties=extension_properties(extension.properties)
        )
    for path, listed in _by_path(aliases, "aliases").items():
        node = _found(nodes, path, "aliases")
        given_names = names(listed, f"aliases of {path!r}")
        for alias in given_names:
            if not isinstance(alias, str) or not alias:
                raise InvalidArgument(f"aliases of {path!r}: expected names, found {shown(alias)}")
        changed[node.schema_id] = replace(changed.get(node.schema_id, node), aliases=given_names)
    found = tuple(_rebuilt(node, changed) for node in nodes) if changed else tuple(nodes)
    check_aliases(found)
    return found


def _by_path(given: Mapping[str, Any] | None, what: str) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InvalidArgument(f"{what}: expected a dict with paths of columns, found {shown(given)}")
    return given


def _found(nodes: Sequence[SchemaNode], path: str, what: str) -> SchemaNode:
    if not isinstance(path, str):
        raise InvalidArgument(f"{what}: expected names of columns, found {shown(path)}")
    try:
        return find_in(nodes, path)[-1]
    except MissingColumn as error:
        error.message = f"{what}: {error.message}"
        raise


def _rebuilt(node: SchemaNode, changed: Mapping[int, SchemaNode]) -> SchemaNode:
    children = tuple(_rebuilt(child, changed) for child in node.children)
    return replace(changed.get(node.schema_id, node), children=children)


def check_aliases(siblings: Sequence[SchemaNode], path: str = "") -> None:
    """Raise an error if a name among siblings stands for two of them."""
    taken = {node.name: node.name for node in siblings}
    for node in siblings:
        for alias in node.aliases:
            other = taken.setdefault(alias, node.name)
            if other != node.name or alias == node.name:
                expected = f"expected names that no other column has, found {alias!r} of {other!r}"
                raise InvalidArgument(f"aliases of {path}{node.name}: {expected}")
        if node.basic_type is BasicType.STRUCT:
            check_aliases(node.children, f"{path}{node.name}.")


def extensions_of(nodes: Sequence[SchemaNode], above: str = "") -> dict[str, Extension]:
    """The extension types of nodes and those below them that `annotated` sets, by path."""
    found: dict[str, Extension] = {}
    for path, node in _paths(nodes, above):
        extension = extension_of(node)
        if extension is not None and extension.label not in _STORED:
            found[path] = extension
    return found


def aliases_of(nodes: Sequence[SchemaNode]) -> dict[str, tuple[str, ...]]:
    """The aliases of nodes and those below them, by path."""
    return {path: node.aliases for path, node in _paths(nodes, "") if node.aliases}


def _paths(nodes: Sequence[SchemaNode], above: str) -> Iterable[tuple[str, SchemaNode]]:
    for node in nodes:
        path = f"{above}{quote_name(node.name)}"
        yield path, node
        match node.basic_type:
            case BasicType.STRUCT | BasicType.UNION:
                yield from _paths(node.children, f"{path}.")
            case BasicType.LIST | BasicType.FIXED_SIZE_LIST:
                yield from _paths([replace(node.children[0], name="item")], f"{path}.")
            case BasicType.MAP:
                key, value = node.children
                yield from _paths([replace(key, name="key"), replace(value, name="value")], f"{path}.")


# ---- Arrow's extension types ----


_WRAPPERS: Final = frozenset({pa.lib.Type_DICTIONARY, pa.lib.Type_RUN_END_ENCODED})


def with_labels(node: SchemaNode, field: pa.Field) -> SchemaNode:
    """The node of an Arrow field with the extension types of the field and of those below it.

    An extension type may be registered in Arrow, or only be stated by the metadata of the field.
    """
    kind = field.type
    metadata = field.metadata or {}
    if (
        not metadata
        and kind.num_fields == 0
        and kind.id not in _WRAPPERS
        and not isinstance(kind, pa.BaseExtensionType)
    ):
        return node  # most fields: nothing says more than their type
    label, properties = metadata.get(_NAME, b"").decode(errors="replace"), metadata.get(_METADATA, b"")
    while isinstance(kind, pa.BaseExtensionType) or pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        if isinstance(kind, pa.BaseExtensionType):
            label, properties = label or kind.extension_name, properties or _serialized(kind)
            kind = kind.storage_type
        else:
            kind = kind.value_type
    children = tuple(with_labels(child, below) for child, below in zip(node.children, _below(kind), strict=True))
    node = node if children == node.children else replace(node, children=children)
    if not label or label in _OWN or label in _STORED or node.extension:
        return node
    return replace(node, extension=label, extension_properties=extension_properties(_properties(properties)))


def _serialized(kind: pa.BaseExtensionType) -> bytes:
    serialize = getattr(kind, "__arrow_ext_serialize__", None)
    found = b"" if serialize is None else serialize()
    return found if isinstance(found, bytes) else b""


def _below(kind: pa.DataType) -> list[pa.Field]:
    if pa.types.is_map(kind):
        return [kind.key_field, kind.item_field]
    if pa.types.is_struct(kind) or pa.types.is_union(kind):
        return [kind.field(at) for at in range(kind.num_fields)]
    return [kind.value_field] if kind.num_fields == 1 else []


def _properties(metadata: bytes) -> dict[str, object]:
    """The metadata of an Arrow extension type: the members of a JSON object, or all of it as one property."""
    if not metadata:
        return {}
    try:
        found = json.loads(metadata)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {_OPAQUE: metadata}


def labelled_field(node: SchemaNode, field: pa.Field) -> pa.Field:
    """The Arrow field of a node with the node's extension type: a type that is registered in Arrow, or metadata."""
    if not node.extension or node.extension in _STORED:
        return field
    values = extension_values(node.extension_properties)
    if list(values) == [_OPAQUE] and isinstance(values[_OPAQUE], bytes):
        metadata = values[_OPAQUE]
    else:
        metadata = json.dumps(values, default=str).encode() if values else b""
    marked = field.with_metadata({**(field.metadata or {}), _NAME: node.extension.encode(), _METADATA: metadata})
    try:
        (found,) = pa.ipc.read_schema(pa.schema([marked]).serialize())
    except Exception:
        return marked
    return found
