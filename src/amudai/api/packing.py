"""Packed groups that the caller of a writer requests, and those of a shard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from amudai.arguments import names, sequence, shown
from amudai.errors import InvalidArgument
from amudai.format import DataRef, NativeEncoding, StripeFieldDescriptor
from amudai.shard import PACKABLE, GroupRequest, ShardReader
from amudai.types import BasicType, SchemaNode, find_in, nodes_below, quote_name

__all__ = ["kept_groups", "requested_groups"]

_KINDS: Final = "text, bytes, numbers, times, decimals or booleans"


def requested_groups(
    nodes: Sequence[SchemaNode], packed_groups: Sequence[Sequence[str]], packed: bool | Sequence[str]
) -> GroupRequest:
    """The packed groups that the options `packed_groups` and `packed` request."""
    tops: list[tuple[int, ...]] = []
    structs: dict[int, frozenset[int]] = {}
    taken: set[int] = set()
    if isinstance(packed_groups, str):
        raise InvalidArgument(f"packed_groups: expected lists of columns, found {shown(packed_groups)}")
    for group in sequence(packed_groups, "packed_groups"):
        listed = names(group, "packed_groups")
        paths = [find_in(nodes, path) for path in listed]
        members = [path[-1] for path in paths]
        ids = [member.schema_id for member in members]
        for path, member in zip(listed, members, strict=True):
            if member.basic_type not in PACKABLE:
                found = f"{path!r}, which is a {member}"
                raise InvalidArgument(f"packed_groups: expected columns of {_KINDS}, found {found}")
        if len(ids) < 2:
            raise InvalidArgument(f"packed_groups: expected at least two columns in a group, found {listed}")
        if len(set(ids)) < len(ids) or taken.intersection(ids):
            raise InvalidArgument(f"packed_groups: expected each column once, found one twice in {listed}")
        taken.update(ids)
        parents = {path[-2] if len(path) > 1 else None for path in paths}
        parent = parents.pop()
        if parents or (parent is not None and parent.basic_type is not BasicType.STRUCT):
            found = f"columns of several parents in {listed}" if parents else f"members of a {parent}"
            raise InvalidArgument(f"packed_groups: expected top-level columns or members of one struct, found {found}")
        if parent is None:
            tops.append(tuple(ids))
        elif structs.setdefault(parent.schema_id, frozenset(ids)) != frozenset(ids):
            raise InvalidArgument(f"packed_groups: expected one group in a struct, found another one in {listed}")
    for struct in _packed_structs(nodes, packed):
        members = [child for child in struct.children if child.basic_type in PACKABLE]
        if struct.schema_id in structs:
            raise InvalidArgument(
                f"packed: expected a struct that packed_groups does not name, found {shown(struct.name)}"
            )
        structs[struct.schema_id] = frozenset(child.schema_id for child in members)
    return GroupRequest(tuple(tops), structs)


def _packed_structs(nodes: Sequence[SchemaNode], packed: bool | Sequence[str]) -> Iterator[SchemaNode]:
    if packed is False:
        return
    if packed is True:
        for node in nodes_below(nodes):
            if node.basic_type is BasicType.STRUCT and _packable(node) > 1:
                yield node
        return
    for path in names(packed, "packed"):
        node = find_in(nodes, path)[-1]
        if node.basic_type is not BasicType.STRUCT or _packable(node) < 2:
            found = f"{shown(path)}, which is a {node}"
            raise InvalidArgument(f"packed: expected a struct with at least two members of {_KINDS}, found {found}")
        yield node


def _packable(struct: SchemaNode) -> int:
    return sum(child.basic_type in PACKABLE for child in struct.children)


def kept_groups(reader: ShardReader) -> dict[str, Any]:
    """The option `packed_groups` that packs the columns of a new shard as the first stripe of an old one does."""
    if not reader.stripes:
        return {"packed_groups": []}
    stripe = reader.stripes[0]
    tops: dict[DataRef, list[str]] = {}
    groups: list[list[str]] = []

    def visit(node: SchemaNode, path: str) -> None:
        found = stripe.descriptor(node)
        ref = None if found is None else _group_of(found)
        if node.basic_type is BasicType.STRUCT:
            below = {child.schema_id: f"{path}.{quote_name(child.name)}" for child in node.children}
            if ref is not None:
                # A struct among them may have a group of its own.
                members = [child for child in node.children if child.basic_type in PACKABLE]
                groups.append([below[each.schema_id] for each in members if _is_member(stripe.descriptor(each))])
            for child in node.children:
                visit(child, below[child.schema_id])
        elif ref is not None:
            tops.setdefault(ref, []).append(path)

    for node in reader.schema.fields():
        if not node.internal:
            visit(node, quote_name(node.name))
    return {"packed_groups": [group for group in [*tops.values(), *groups] if len(group) > 1]}


def _group_of(descriptor: StripeFieldDescriptor) -> DataRef | None:
    """The buffer of the packed group that a descriptor names."""
    for encoding in descriptor.encodings:
        if isinstance(encoding, NativeEncoding) and encoding.packed_group:
            return next((buffer.buffer for buffer in encoding.buffers if buffer.block_map is not None), None)
    return None


def _is_member(descriptor: StripeFieldDescriptor | None) -> bool:
    """Whether values of a member of a struct are in the group of the struct."""
    encodings = () if descriptor is None else descriptor.encodings
    native = (each for each in encodings if isinstance(each, NativeEncoding))
    return any(
        buffer.buffer is None and buffer.packed_group_index is not None for each in native for buffer in each.buffers
    )
