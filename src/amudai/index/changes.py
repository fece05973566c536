"""Indexes of a shard whose columns are dropped or renamed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from amudai.edit import index_of_other_fields, require_optional
from amudai.format import IndexDescriptor
from amudai.index.catalog import index_type
from amudai.types import NodePath

__all__ = ["index_before_renaming", "index_without"]


def index_without(descriptor: IndexDescriptor, dropped: Collection[int]) -> IndexDescriptor | None:
    """The descriptor of an index in a shard that loses the fields with the ids `dropped`; None if the index goes, too.

    An index that covers other fields as well stays for those.
    """
    return index_of_other_fields(descriptor, dropped, lambda name: index_type(name) is not None, "dropped")


def index_before_renaming(
    descriptor: IndexDescriptor, renamed: Collection[int], paths: Mapping[int, NodePath]
) -> IndexDescriptor | None:
    """The descriptor of an index in a shard in which the fields with the ids `renamed` get other paths.

    None if the index goes, because it may depend on names. `paths` are those of all fields as they are now.
    """
    covered = {each for ids in descriptor.indexed_fields for each in ids}
    if not covered.intersection(renamed):
        return descriptor
    require_optional(descriptor, "renamed")
    found = index_type(descriptor.index_type)
    if found is None or found.before_renaming is None:
        return None
    return replace(descriptor, properties=(*descriptor.properties, *found.before_renaming(descriptor, paths)))
