"""Index types of other packages: a table that is made of a column's values, and a function that finds rows by it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.api.shard import Shard
from amudai.arguments import shown
from amudai.arrow import arrow_field, project, schema_nodes, stored_columns, stored_values, to_array
from amudai.encoding import profile_of
from amudai.errors import AmudaiError, CorruptedData, InvalidArgument, UnsupportedFeature
from amudai.format import COMPLETE, IndexDescriptor, any_values
from amudai.index import (
    BuildPlan,
    Capabilities,
    IndexArtifactReader,
    IndexQuestion,
    IndexSpec,
    IndexType,
    Numbering,
    Question,
    register,
    require_level,
)
from amudai.rows import Positions, Rows
from amudai.shard import ArtifactSpace, BuildOptions, ShardReader, StoredArray, StripeBuilder
from amudai.storage import Artifact
from amudai.types import BYTES, WIDTHS, BasicType, NodePath, SchemaNode, quote_name

__all__ = ["IndexAnswer", "IndexPlugin", "PluginBuilder", "PluginIndex", "register_index"]

_SINGLE: Final = frozenset({*WIDTHS, *BYTES, BasicType.BOOLEAN})
Numbers: TypeAlias = "npt.NDArray[np.unsignedinteger[Any]] | pa.Array | list[int]"


@dataclass(frozen=True, slots=True, eq=False)
class IndexAnswer:
    """What an index of another package knows about a question.

    Attributes
    ----------
    rows
        The rows for which the answer may be yes, in any order: positions as the builder was given them. For all other
        rows the answer must be no.
    exact
        Whether the answer is yes for all of them. Otherwise scans look at their values.

    Examples
    --------
    >>> amudai.IndexAnswer([3, 7]).exact
    False
    """

    rows: Numbers
    exact: bool = False


class PluginBuilder(Protocol):
    """Makes the table of an index of another package.

    Examples
    --------
    >>> from examples.plugin_index import EndingIndex
    >>> builder = EndingIndex().builder(pa.string())
    >>> builder.append(pa.array(["b.log", None]), first_row=0)
    >>> builder.finish().to_pydict()
    {'backwards': ['gol.b'], 'row': [0]}
    """

    def append(self, values: pa.Array, first_row: int) -> None:
        """Take the next values of the column. `first_row` is the position of the first one in the shard."""

    def finish(self) -> pa.Table:
        """The table to store."""


class IndexPlugin(ABC):
    """A type of index of another package. `amudai.register_index` makes it known.

    An index is a table that is made of the values of one column. It is stored in the shard. A scan hands the stored
    table back, and asks for the rows of a condition. An index must not change any answer:
    `amudai.testing.check_index` compares scans with and without it.

    Attributes
    ----------
    name
        The name of the type in shards, such as `example.reversed`.

    Examples
    --------
    >>> from examples.plugin_index import EndingIndex  # finds text by its end
    >>> EndingIndex().accepts(pa.string()), EndingIndex().accepts(pa.int64())
    (True, False)
    """

    name: ClassVar[str]

    def accepts(self, kind: pa.DataType) -> bool:  # noqa: ARG002
        """Whether a column of this Arrow type can be indexed. Columns of single values are offered."""
        return True

    @abstractmethod
    def builder(self, kind: pa.DataType) -> PluginBuilder:
        """A new builder for a column of this Arrow type."""

    @abstractmethod
    def find(self, index: Shard, asked: IndexQuestion) -> IndexAnswer | None:
        """The rows of a condition; None if the index cannot tell.

        `index` has the columns of the table that the builder made. `asked` has an `operator` (`==`, `<`, `<=`, `>`,
        `>=`, `in`, `equals`, `has`, `hasprefix`, `hassuffix`, `contains`, `startswith`, `endswith`, `matches`), its
        `values`, and whether text is `case_sensitive`.
        """

    def as_index_type(self) -> IndexType:
        """The type in the form in which the library knows it."""
        name = getattr(self, "name", "")
        if not isinstance(name, str) or not name:
            raise InvalidArgument(f"plugin: expected a name, found {shown(name)}")
        return IndexType(
            name=name,
            label=name,
            capabilities=Capabilities(questions=frozenset({IndexQuestion}), basic_types=_SINGLE),
            open=lambda descriptor, shard, anchor: _TableReader(self, descriptor, shard, anchor),
            build=lambda spec, plan: _TableSink(self, spec, plan),
            spec=lambda descriptor, shard: _spec(self, descriptor, shard),
            before_renaming=lambda _descriptor, _paths: (),  # tables belong to schema ids
        )


@dataclass(frozen=True, slots=True, init=False)
class PluginIndex:
    """An index of a type that another package registered: `PluginIndex("example.reversed", "host")`.

    Parameters
    ----------
    index_type
        The name of the type.
    fields
        Names of top-level columns with single values. Each gets a table of its own.
    level
        `"shard"`: one index of all rows. `"stripe"`: one index for each stripe.

    Examples
    --------
    >>> amudai.PluginIndex("example.reversed", "host")
    PluginIndex(index_type='example.reversed', fields=('host',), level='shard')
    """

    index_type: str
    fields: tuple[str, ...]
    level: str

    def __init__(self, index_type: str, *fields: str, level: str = "shard") -> None:
        if not isinstance(index_type, str) or not index_type:
            raise InvalidArgument(f"index_type: expected the name of a type, found {shown(index_type)}")
        if not fields or not all(isinstance(field, str) for field in fields) or len(set(fields)) < len(fields):
            raise InvalidArgument(f"fields: expected at least one column, each once, found {shown(fields)}")
        require_level(level)
        object.__setattr__(self, "index_type", index_type)
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "level", level)


def register_index(plugin: IndexPlugin) -> None:
    """Make a type of index of another package known: writers build such indexes, and scans use them.

    A package can announce its types instead, as entry points of the group `amudai.indexes`. They are looked up when a
    shard or a writer names a type that is not known.

    Examples
    --------
    >>> from examples.plugin_index import EndingIndex  # the module registers it
    >>> index = amudai.PluginIndex(EndingIndex.name, "file")
    >>> files = {"file": ["a.log", "b.txt"] * 50}
    >>> shard = amudai.write(files, "files.amudai.shard", indexes=[index], overwrite=True)
    >>> scan = shard.scan(where=amudai.col("file").endswith_cs(".log"))
    >>> scan.count(), scan.explain().ruled_out
    (50, 50)
    """
    if not isinstance(plugin, IndexPlugin):
        raise InvalidArgument(f"plugin: expected an amudai.IndexPlugin, found {shown(plugin)}")
    register(plugin.as_index_type())


def _spec(plugin: IndexPlugin, descriptor: IndexDescriptor, shard: ShardReader) -> IndexSpec | None:
    """What a user would pass to get an index like this one."""
    names = {node.schema_id: node.name for node in shard.schema.fields()}
    found = [names.get(ids[0]) for ids in descriptor.indexed_fields if len(ids) == 1]
    if not Numbering.of(descriptor, shard).complete or len(found) != len(descriptor.indexed_fields):
        return None
    return None if None in found else PluginIndex(plugin.name, *(quote_name(str(name)) for name in found))


def _type_of(node: SchemaNode) -> pa.DataType:
    return arrow_field(node, lambda _: None).type


class _TableSink:
    """Passes the values of columns to builders of a plug-in, and stores their tables."""

    def __init__(self, plugin: IndexPlugin, spec: IndexSpec, plan: BuildPlan) -> None:
        for name, path in zip(spec.fields, plan.paths, strict=True):
            if len(path) > 1:
                raise InvalidArgument(f"{plugin.name}: expected a top-level column of single values", field=name)
            if not plugin.accepts(_type_of(path[0])):
                raise InvalidArgument(f"{plugin.name}: expected a column that it accepts, found {path[0]}", field=name)
        self._plugin = plugin
        self._plan = plan
        self._nodes = {path[0].schema_id: path[0] for path in plan.paths}
        self.fields = frozenset(self._nodes)
        self._begin()

    def _begin(self) -> None:
        self._builders = {at: self._plugin.builder(_type_of(node)) for at, node in self._nodes.items()}
        self._first: int | None = None

    def append(self, values: StoredArray, stripe: int, first_row: int) -> None:  # noqa: ARG002
        """Append values of one top-level field."""
        node = self._nodes[values.node.schema_id]
        kind = _type_of(node)
        projection = project(node, kind)
        array = to_array(stored_values(values, projection), projection, kind)
        self._builders[node.schema_id].append(array, first_row)

    def finish(self, space: ArtifactSpace) -> IndexDescriptor:
        """Store the tables, and begin again."""
        artifacts = []
        for at, builder in self._builders.items():
            table = builder.finish()
            if not isinstance(table, pa.Table):
                raise InvalidArgument(f"{self._plugin.name}: expected a pyarrow.Table to store, found {shown(table)}")
            nodes = schema_nodes(table.schema)
            options = BuildOptions(profile=profile_of(self._plan.profile), memory=self._plan.memory)
            stripe = StripeBuilder(nodes, options)
            with stripe.spool:
                for batch in table.to_batches():
                    if batch.num_rows:
                        stripe.append(stored_columns(batch, nodes, [None] * len(nodes)), batch.num_rows)
                artifacts.append(space.place(str(at), nodes, [stripe.prepared()], ()))
        self._begin()
        return IndexDescriptor(
            index_type=self._plugin.name,
            properties=any_values({COMPLETE: True}),
            indexed_fields=tuple((at,) for at in self._nodes),
            artifacts=tuple(artifacts),
        )

    def close(self) -> None:
        """Nothing to free."""


class _TableReader:
    """Hands the stored table of a column to a plug-in."""

    def __init__(self, plugin: IndexPlugin, descriptor: IndexDescriptor, shard: ShardReader, anchor: Artifact) -> None:
        if len(descriptor.artifacts) != len(descriptor.indexed_fields):
            expected, found = len(descriptor.indexed_fields), len(descriptor.artifacts)
            raise CorruptedData(f"index: expected {expected} artifacts, one for each field, found {found}")
        self._plugin = plugin
        self._shard = shard
        self._anchor = anchor
        self._numbering = Numbering.of(descriptor, shard)
        fields = [ids[0] for ids in descriptor.indexed_fields if len(ids) == 1]
        self._artifacts = dict(zip(fields, descriptor.artifacts, strict=False))
        self._tables: dict[int, Shard] = {}

    def answer(self, path: NodePath, question: Question, rows: Rows | None = None) -> Positions | None:  # noqa: ARG002
        """The rows of the shard for which the answer is yes or maybe; None if this index cannot tell."""
        artifact = self._artifacts.get(path[-1].schema_id)
        is_complete = self._numbering.complete or self._shard.trust_indexes
        if not isinstance(question, IndexQuestion) or artifact is None or not is_complete:
            return None
        table = self._tables.get(path[-1].schema_id)
        if table is None:
            table = Shard(IndexArtifactReader(artifact, self._shard, self._anchor).shard)
            self._tables[path[-1].schema_id] = table
        found = self._found(table, question)
        if found is None:
            return None
        numbers = np.unique(np.asarray(found.rows, np.int64))
        origin = self._numbering.origin
        if len(numbers) and not 0 <= numbers[0] <= numbers[-1] < origin.size:
            raise CorruptedData(f"rows: expected 0..{origin.size - 1}, found {numbers[0]}..{numbers[-1]}")
        mine = self._numbering.outward(Rows.of_positions(numbers.astype(np.uint64), origin))
        return Positions.surely(mine) if found.exact else Positions.perhaps(mine)

    def _found(self, table: Shard, question: IndexQuestion) -> IndexAnswer | None:
        try:
            return self._plugin.find(table, question)
        except AmudaiError:
            raise
        except Exception as error:
            raise UnsupportedFeature(f"{self._plugin.name}: the index cannot be asked, because {error!r}") from error
