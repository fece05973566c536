"""Indexes of a shard whose columns are dropped or renamed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from amudai.errors import UnsupportedFeature
from amudai.format import IndexDescriptor
from amudai.index.catalog import index_type
from amudai.types import NodePath

__all__ = ["index_before_renaming", "index_without"]


def index_without(descriptor: IndexDescriptor, dropped: Collection[int]) -> IndexDescriptor | None:
    """The descriptor of an index in a shard that loses the fields with the ids `dropped`; None if the index goes, too.

    An index that covers other fields as well stays for those. The entries of dropped fields become empty, because
    properties of the index may refer to entries by their number. An index of an unknown type goes: it may depend on all
    its fields.
    """
    covered = {each for ids in descriptor.indexed_fields for each in ids}
    if not covered.intersection(dropped):
        return descriptor
    _require_optional(descriptor, "dropped")
    left = tuple(() if set(ids).intersection(dropped) else ids for ids in descriptor.indexed_fields)
    return replace(descriptor, indexed_fields=left) if any(left) and _is_known(descriptor) else None


def index_before_renaming(
    descriptor: IndexDescriptor, renamed: Collection[int], paths: Mapping[int, NodePath]
) -> IndexDescriptor | None:
    """The descriptor of an index in a shard in which the fields with the ids `renamed` get other paths.

    None if the index goes, because it may depend on names. `paths` are those of all fields as they are now.
    """
    covered = {each for ids in descriptor.indexed_fields for each in ids}
    if not covered.intersection(renamed):
        return descriptor
    _require_optional(descriptor, "renamed")
    found = index_type(descriptor.index_type)
    if found is None or found.before_renaming is None:
        return None
    return replace(descriptor, properties=(*descriptor.properties, *found.before_renaming(descriptor, paths)))


def _is_known(descriptor: IndexDescriptor) -> bool:
    return index_type(descriptor.index_type) is not None


def _require_optional(descriptor: IndexDescriptor, change: str) -> None:
    if descriptor.required:
        expected = f"expected no required index over a column that is {change}"
        raise UnsupportedFeature(f"columns: {expected}, found one of type {descriptor.index_type!r}")
