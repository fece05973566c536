"""Looking up a field by its path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches

from amudai.errors import MissingColumn
from amudai.types.basic import BasicType
from amudai.types.path import parse_path, quote_name
from amudai.types.schema import NodePath, SchemaNode

__all__ = ["find_alias", "find_in", "find_path", "missing_column"]

_ITEM_NAMES = frozenset({"item", "element"})
_MAP_ROLES = {"key": 0, "keys": 0, "value": 1, "values": 1}
_SHOWN = 10
_NEAR = 3


def find_path(name: str, top_level: Callable[[str], SchemaNode | None]) -> NodePath | None:
    """The nodes from a top-level field down to the field at path `name`; None if the top-level field does not exist.

    Parameters
    ----------
    top_level
        Finds a top-level field by its name.
    """
    first, *rest = parse_path(name)
    node, steps = top_level(first), tuple(rest)
    if node is None and rest:
        node, steps = top_level(name), ()  # a name with dots that is not quoted
    if node is None:
        return None
    found = [node]
    while steps:
        node, steps = _step_into(node, steps, name)
        found.append(node)
    return tuple(found)


def find_in(nodes: Sequence[SchemaNode], name: str) -> NodePath:
    """The nodes from one of the top-level fields `nodes` down to the field at path `name`."""
    by_name = {node.name: node for node in nodes}
    found = find_path(name, lambda first: by_name.get(first) or find_alias(nodes, first))
    if found is None:
        raise missing_column(name, list(by_name))
    return found


def find_alias(nodes: Iterable[SchemaNode], alias: str) -> SchemaNode | None:
    """The first of the nodes that has this other name; None if none has."""
    return next((node for node in nodes if alias in node.aliases), None)


def missing_column(name: str, names: Sequence[str]) -> MissingColumn:
    """The error for a missing column. It lists the existing columns and suggests those with a similar name."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    same = [each for each in names if each.casefold() == name.casefold()]
    near = same[:_NEAR] or get_close_matches(name, names, _NEAR)
    shown = ", ".join(map(quote_name, names[:_SHOWN]))
    return MissingColumn(f"column {name!r}: expected one of {shown}{more}", near=near)


def _step_into(node: SchemaNode, steps: tuple[str, ...], name: str) -> tuple[SchemaNode, tuple[str, ...]]:
    """Go one step down. A path may name the items of a list or skip them. `name` is the whole path, for errors."""
    step = steps[0]
    match node.basic_type:
        case BasicType.STRUCT | BasicType.UNION:
            named = next((child for child in node.children if child.name == step), None)
            named = named or find_alias(node.children, step)
            if named is not None:
                return named, steps[1:]
        case BasicType.LIST | BasicType.FIXED_SIZE_LIST:
            item = node.children[0]
            if step in _ITEM_NAMES or (item.name and step == item.name):
                return item, steps[1:]
            return item, steps
        case BasicType.MAP if step in _MAP_ROLES:
            return node.children[_MAP_ROLES[step]], steps[1:]
    raise MissingColumn(f"column {name!r}: {quote_name(node.name) or node.basic_type.name.lower()} has no {step!r}")
