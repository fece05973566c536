"""Indexes that lose some of their fields."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from amudai.errors import UnsupportedFeature
from amudai.format import IndexDescriptor

__all__ = ["index_of_other_fields", "require_optional"]


def index_of_other_fields(
    descriptor: IndexDescriptor, lost: Collection[int], is_known: Callable[[str], bool], change: str
) -> IndexDescriptor | None:
    """The descriptor of an index that answers no more for the fields with the ids `lost`; None if the index goes, too.

    An index that covers other fields as well stays for those. The entries of lost fields become empty, because
    properties of the index may refer to entries by their number. An index of an unknown type goes: it may depend on all
    its fields. `change` says in an error what happens to the fields.
    """
    covered = {each for ids in descriptor.indexed_fields for each in ids}
    if not covered.intersection(lost):
        return descriptor
    require_optional(descriptor, change)
    left = tuple(() if set(ids).intersection(lost) else ids for ids in descriptor.indexed_fields)
    return replace(descriptor, indexed_fields=left) if any(left) and is_known(descriptor.index_type) else None


def require_optional(descriptor: IndexDescriptor, change: str) -> None:
    """Raise UnsupportedFeature if an index is required: it cannot lose a field."""
    if descriptor.required:
        expected = f"expected no required index over a column that is {change}"
        raise UnsupportedFeature(f"columns: {expected}, found one of type {descriptor.index_type!r}")
