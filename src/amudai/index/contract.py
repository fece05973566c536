"""The contract of an index type.

A type has the name that shards use for it, its capabilities, and functions that open, build and merge an index. The
reader of an index answers questions about one field. The builder sees the rows of a shard while they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from amudai.arguments import is_one_of, shown
from amudai.errors import InvalidArgument
from amudai.format import IndexDescriptor, Properties
from amudai.index.questions import Question
from amudai.rows import Positions, Rows
from amudai.shard import ShardReader
from amudai.storage import Artifact
from amudai.threads import Crew
from amudai.types import BasicType, NodePath

if TYPE_CHECKING:
    from amudai.edit import IndexPart
    from amudai.shard import ArtifactSpace, RowSink

__all__ = [
    "LEVELS",
    "BuildPlan",
    "Capabilities",
    "IndexMerging",
    "IndexReader",
    "IndexSpec",
    "IndexType",
    "TermCounts",
    "Vocabulary",
    "require_level",
]

# An index covers all rows of the shard, or those of one stripe. An index of a field covers all rows of one field, and
# is found in the descriptor of the field.
LEVELS: Final = ("shard", "stripe", "field")


def require_level(level: str) -> None:
    """Raise InvalidArgument if `level` is not one of `LEVELS`."""
    if not is_one_of(level, LEVELS):
        raise InvalidArgument(f"level: expected one of {', '.join(LEVELS)}, found {shown(level)}")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a type of index can do.

    Attributes
    ----------
    questions
        The kinds of questions that the index answers.
    basic_types
        The types of fields that the index can cover.
    """

    questions: frozenset[type[Question]]
    basic_types: frozenset[BasicType]


@dataclass(frozen=True, slots=True, eq=False)
class TermCounts:
    """Some terms of a field, each with the number of its rows.

    Attributes
    ----------
    terms
        The UTF-8 of the terms, as binary values.
    rows
        How many rows have each term, deleted rows included.
    exact
        Whether each of these numbers is exact. Otherwise it is the most that it may be.
    """

    terms: pa.Array
    rows: npt.NDArray[np.uint64]
    exact: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """All terms of a field, as hashes without regard to case: see `term_hash`.

    Attributes
    ----------
    whole
        True if a term is a whole value; False if a term is a word.
    hashes
        The hashes, in groups. A hash may come several times.
    """

    whole: bool
    hashes: Iterator[npt.NDArray[np.uint64]]


class IndexReader(Protocol):
    """An open index."""

    def answer(self, path: NodePath, question: Question, rows: Rows | None = None) -> Positions | None:
        """The rows of the shard for which the answer is yes or maybe; None if this index cannot tell.

        Parameters
        ----------
        path
            The nodes from a top-level field down to the field in question.
        rows
            The rows that matter. The caller ignores the answer for all other rows, so the index may leave them out.
        """


class IndexSpec(Protocol):
    """An index that a user wants built: a `TermIndex` or a `HashIndex`."""

    @property
    def index_type(self) -> str:
        """The name of the index type."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The paths of the fields to cover."""

    @property
    def level(self) -> str:
        """`"shard"` for one index of all rows, `"stripe"` for one index per stripe, `"field"` for one index of all rows
        in the descriptor of its field.
        """


class IndexMerging(Protocol):
    """An index that is made of the indexes of several shards."""

    def finish(self, space: ArtifactSpace) -> IndexDescriptor:
        """Write the index and return its descriptor. The caller adds the size."""

    def close(self) -> None:
        """Free all resources, finished or not."""


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """What the builder of an index needs to know.

    Attributes
    ----------
    paths
        For each field of the index, the nodes from the top-level field down to it.
    memory
        Bytes of memory that the builder may use.
    temp_folder
        Folder for temporary files with what does not fit into memory.
    profile
        The name of the shard's profile.
    crew
        The threads that the builder may use.
    """

    paths: tuple[NodePath, ...]
    memory: int
    temp_folder: str | None
    profile: str
    crew: Crew = field(default_factory=lambda: Crew(1))


@dataclass(frozen=True, slots=True)
class IndexType:
    """One type of index.

    Attributes
    ----------
    name, aliases
        The name in shards, and older names that shards may still use.
    label
        The name that `explain` shows.
    open
        Opens an index of a shard. References in the descriptor are relative to the file that is the last argument.
    build
        Creates a builder; None for types that can only be read.
    spec
        What a user would pass to get an index like that of a shard, with `level="shard"`; None if this version cannot
        build or merge such an index. Indexes of several shards can be merged if their specs are equal.
    merge
        Makes one index of the indexes of several shards; None for types that cannot.
    before_renaming
        Properties that the descriptor of an index needs before a field is renamed, so that its reader does without the
        name. It is called with the descriptor and, by schema id, the paths of all fields as they are now. None if an
        index of this type cannot outlive a renaming: then it is dropped.
    paths_when_built
        The paths of the indexed fields with the names that they had when an index was built: called with its descriptor
        and the paths as they are now. None if an index of this type holds no names.
    check
        Raises CorruptedData if an index of a shard says anything else than one that was built from its values. It is
        called with both descriptors, the shard, the files that they are relative to, and the number of the first
        stripe that the index covers. It returns whether it could compare them. None if indexes of this type cannot be
        compared.
    terms
        The terms of a field that begin with a text, without regard to case, and the numbers of their rows: called with
        a reader that `open` returned, the path of the field, and the text. It returns None if the index does not have
        all terms of the field. None for types without terms.
    vocabulary
        All terms of a field, called with a reader and the path of the field. It returns None if the index does not have
        all terms of the field. None for types without terms.
    is_shared
        Whether scans on several threads may share a reader. It is then kept for as long as the shard is open.
    """

    name: str
    label: str
    capabilities: Capabilities
    open: Callable[[IndexDescriptor, ShardReader, Artifact], IndexReader]
    build: Callable[[IndexSpec, BuildPlan], RowSink] | None = None
    aliases: Sequence[str] = ()
    spec: Callable[[IndexDescriptor, ShardReader], IndexSpec | None] | None = None
    merge: Callable[[IndexSpec, BuildPlan, Sequence[IndexPart]], IndexMerging] | None = None
    before_renaming: Callable[[IndexDescriptor, Mapping[int, NodePath]], Properties] | None = None
    paths_when_built: Callable[[IndexDescriptor, Sequence[NodePath]], tuple[NodePath, ...]] | None = None
    check: Callable[[IndexDescriptor, IndexDescriptor, ShardReader, Artifact, Artifact, int], bool] | None = None
    terms: Callable[[Any, NodePath, str], Iterator[TermCounts] | None] | None = None
    vocabulary: Callable[[Any, NodePath], Vocabulary | None] | None = None
    is_shared: bool = False
