"""Is every type of index found by its names?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from amudai.errors import InvalidArgument
from amudai.index import catalog


def test_types_are_found_by_each_of_their_names() -> None:
    for each in catalog.TYPES:
        assert all(catalog.index_type(name) is each for name in (each.name, *each.aliases))
    assert catalog.index_type("no such index") is None
    names = [name for each in catalog.TYPES for name in (each.name, *each.aliases)]
    assert len(names) == len(set(names))


def test_another_package_may_add_a_type(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "_added", [])
    mine = replace(catalog.HASH, name="mine-v1", aliases=("mine",))
    catalog.register(mine)
    assert catalog.index_type("mine-v1") is catalog.index_type("mine") is mine
    assert catalog.index_types() == (*catalog.TYPES, mine)
    for taken in ("mine", "mine-v1", "hashmap-index", "field-hashing-index"):
        with pytest.raises(InvalidArgument, match=taken):
            catalog.register(replace(catalog.HASH, name=taken, aliases=()))
        with pytest.raises(InvalidArgument, match=taken):
            catalog.register(replace(catalog.HASH, name="new", aliases=(taken,)))
