"""Every frame, block map, dictionary and range index that the reference wrote is what the notes say."""

from __future__ import annotations

from pathlib import Path

import pytest

from amudai.format import BlockMap, BufferKind, DataRef, NativeEncoding, python_values
from amudai.types import CONTAINERS, BasicType
from tests import golden
from tests.format.walk import Walk, subtree, walk


def walk_file(path: Path) -> Walk:
    content = path.read_bytes()

    def read_other(ref: DataRef) -> memoryview:
        # The shards name themselves by the absolute URL of the machine that wrote them.
        name = ref.url.rsplit("/", 1)[-1]
        other = content if name == path.name else (path.parent / name).read_bytes()
        return memoryview(other)[ref.start : ref.end]

    return walk(content, read_other)


@pytest.mark.parametrize("path", golden.SHARDS, ids=lambda path: f"{path.parent.name}/{path.name.partition('.')[0]}")
def test_everything_in_a_shard_is_read(path: Path) -> None:
    found = walk_file(path)
    assert len(found.stripes) == found.directory.stripe_count
    assert len({node.schema_id for node in found.schema.fields()}) == len(found.schema)
    for field in found.schema.fields():
        assert found.schema.find(field.name) is field
        assert found.schema.node(field.schema_id) is field
        assert found.schema.find(field.name + "?") is None
    for (ordinal, schema_id), descriptor in found.stripe_fields.items():
        node = found.schema.node(schema_id)
        assert node is not None
        if any(field.schema_id == schema_id for field in found.schema.fields()):
            assert descriptor.field.position_count == found.stripes[ordinal].total_records
        assert (descriptor.field.dictionary_size is None) == ((ordinal, schema_id) not in found.dictionaries)
        assert all(isinstance(encoding, NativeEncoding) for encoding in descriptor.encodings)
        if node.basic_type in CONTAINERS or descriptor.field.constant_value is not None:
            continue
        assert (ordinal, schema_id, BufferKind.DATA) in found.block_maps


@pytest.mark.parametrize("case", golden.CASES, ids=lambda case: case.name)
def test_what_the_manifest_says(case: golden.Case) -> None:
    found = walk_file(case.root)
    assert found.directory.total_records == case.rows == case.expected().num_rows
    assert list(found.schema.names()) == case.expected().column_names
    stored = {} if found.properties is None else python_values(found.properties.custom)
    assert stored == case.properties
    if case.layout == "single":
        assert found.urls.urls == ()


def test_the_cases_cover_what_a_reader_meets() -> None:
    found = [walk_file(path) for path in golden.SHARDS]
    maps: list[BlockMap] = [block_map for walked in found for block_map in walked.block_maps.values()]
    assert any(walked.dictionaries for walked in found)
    assert any(walked.range_indexes for walked in found)
    assert any(len(walked.stripes) > 1 for walked in found)
    assert {1, 2, 256} <= {block_map.block_count for block_map in maps}
    types = {node.basic_type for walked in found for field in walked.schema.fields() for node in subtree(field)}
    assert types >= set(BasicType) - {BasicType.UNIT, BasicType.UNION}


def test_a_nested_schema_is_a_tree_with_ids_in_order() -> None:
    case = next(case for case in golden.CASES if case.name == "nested")
    schema = walk_file(case.root).schema
    nodes = [node for field in schema.fields() for node in subtree(field)]
    assert [node.schema_id for node in nodes] == list(range(schema.id_count))
    assert all(schema.node(node.schema_id) is node for node in nodes)
