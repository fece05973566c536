"""Adding, dropping and renaming columns: the others stay as they are, and nothing that is unknown is lost."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

import amudai
from amudai.arrow import schema_nodes, to_storage
from amudai.edit import Publication, Root, add_columns, first_free_id, with_first_id
from amudai.encoding import profile_of
from amudai.errors import InvalidArgument
from amudai.format import changeable_schema, encode_schema
from amudai.shard import BuildOptions, ShardBuilder, ShardMetadata, ShardReader
from amudai.types import BasicType, ExtensionProperty, SchemaNode


def built(publication: Publication, nodes: tuple[SchemaNode, ...], *stripes: pa.Table) -> ShardMetadata:
    """The metadata of new fields that are written to the root of a publication."""
    builder = ShardBuilder(nodes, publication.sealing, publication.file, BuildOptions(profile=profile_of("balanced")))
    for stripe in stripes:
        columns = [stripe.column(at).combine_chunks() for at in range(stripe.num_columns)]
        work = [partial(to_storage, column, node, node.name) for column, node in zip(columns, nodes, strict=True)]
        builder.append(work, stripe.num_rows)
        builder.end_stripe()
    metadata = builder.finish()
    builder.close()
    return metadata


@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_fields_of_another_builder_follow_those_of_a_root(tmp_path: Path, layout: str) -> None:
    old = pa.table({"a": [1, 2, 3], "s": [{"x": "p"}, None, {"x": "q"}]})
    source = amudai.write(old, tmp_path / "old.amudai.shard", stripe_rows=2, layout=layout)
    target = tmp_path / "new.amudai.shard"
    more = pa.table({"b": [[1], None, [2, 3]], "c": ["u", None, "w"]})
    reader = ShardReader(tmp_path / "old.amudai.shard")
    with Publication(reader.store, target.as_uri()) as publication:
        root = Root.of(reader).at(target.as_uri())
        nodes = with_first_id(schema_nodes(more.schema), first_free_id(root))
        added = built(publication, nodes, more[:2], more[2:])
        arrow = pa.schema([*old.schema, *more.schema])
        publication.publish(add_columns(root, added, arrow))
    new = amudai.open(target)
    assert new.read().equals(pa.Table.from_arrays([*old.columns, *more.columns], schema=arrow))
    assert new.verify().ok
    assert source.read().equals(old)
    ids = [node.schema_id for node in ShardReader(target).schema.fields()]
    assert ids == [0, 1, 3, 5]
    assert new["c"].stats.null_count == 1
    assert (new["b.item"].stats.min, new["b.item"].stats.max) == (1, 3)


def test_internal_fields_may_be_absent_from_a_stripe(tmp_path: Path) -> None:
    amudai.write({"a": [1, 2, 3]}, tmp_path / "old.amudai.shard", stripe_rows=2)
    target = tmp_path / "new.amudai.shard"
    reader = ShardReader(tmp_path / "old.amudai.shard")
    flags = pa.table({"": [True, False, False]})
    with Publication(reader.store, target.as_uri()) as publication:
        root = Root.of(reader).at(target.as_uri())
        node = SchemaNode(schema_id=first_free_id(root), name="", basic_type=BasicType.BOOLEAN, internal="test.Flag")
        added = built(publication, (node,), flags[:2], flags[2:])
        first, second = added.stripes
        added = replace(added, stripes=(first, replace(second, fields=(None, None))))
        publication.publish(add_columns(root, added))
    reader = ShardReader(target)
    assert amudai.open(target).read().to_pydict() == {"a": [1, 2, 3]}
    assert amudai.open(target).verify().ok
    (stored,) = (each for each in reader.schema.fields() if each.internal)
    assert stored == node
    assert reader.stripes[1].descriptor(stored) is None


def test_stripes_of_other_lengths_are_refused(tmp_path: Path) -> None:
    amudai.write({"a": [1, 2, 3]}, tmp_path / "old.amudai.shard", stripe_rows=2)
    target = tmp_path / "new.amudai.shard"
    reader = ShardReader(tmp_path / "old.amudai.shard")
    more = pa.table({"b": [1, 2, 3]})
    with Publication(reader.store, target.as_uri()) as publication:
        root = Root.of(reader).at(target.as_uri())
        added = built(publication, with_first_id(schema_nodes(more.schema), first_free_id(root)), more)
        with pytest.raises(InvalidArgument, match="expected stripes of 2, 1 rows, found 3"):
            add_columns(root, added)


def test_properties_of_extension_types_are_kept() -> None:
    node = SchemaNode(
        schema_id=0,
        name="x",
        basic_type=BasicType.STRING,
        extension="Foreign",
        extension_properties=(ExtensionProperty("unit", 1, b"ms"), ExtensionProperty("note", 0, b"")),
    )
    assert changeable_schema(encode_schema((node,))) == (node,)
