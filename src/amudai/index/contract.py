"""What is a type of index?

A type has a name that shards carry, says what it can do, and can be opened and built. Its reader answers questions
about one field; its builder sees the rows of a shard as they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from amudai.errors import InvalidArgument
from amudai.format import IndexDescriptor
from amudai.index.questions import Question
from amudai.rows import Positions, Rows
from amudai.shard import ShardReader
from amudai.storage import Artifact
from amudai.types import BasicType, NodePath

if TYPE_CHECKING:
    from amudai.shard import RowSink

__all__ = ["LEVELS", "BuildPlan", "Capabilities", "IndexReader", "IndexSpec", "IndexType", "require_level"]

# What an index belongs to.
LEVELS: Final = ("shard", "stripe")


def require_level(level: str) -> None:
    """Refuse what an index cannot belong to."""
    if level not in LEVELS:
        raise InvalidArgument(f"level: expected one of {', '.join(LEVELS)}, found {level!r}")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a type of index can do.

    Attributes
    ----------
    questions
        The kinds of questions that it answers.
    basic_types
        The types of values that it takes.
    """

    questions: frozenset[type[Question]]
    basic_types: frozenset[BasicType]


class IndexReader(Protocol):
    """An open index."""

    def answer(self, path: NodePath, question: Question, rows: Rows | None = None) -> Positions | None:
        """The rows of the shard for which the answer is yes or maybe; None where this index cannot tell.

        Parameters
        ----------
        path
            The nodes from a top-level field down to the one that is asked about.
        rows
            Those that matter: what is said of others is not heard, and need not be found out.
        """


class IndexSpec(Protocol):
    """What a user asks for when an index is to be built: a `TermIndex`, a `HashIndex`."""

    @property
    def index_type(self) -> str:
        """The name of the type."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The paths of the fields that it covers."""

    @property
    def level(self) -> str:
        """Whether there is one for the shard, or one for each stripe."""


@dataclass(frozen=True, slots=True)
class BuildPlan:
    """What a builder needs to know.

    Attributes
    ----------
    paths
        For each field of the index the nodes from the top-level field down to it.
    memory
        Bytes that the builder may take.
    temp_folder
        Where it may put what does not fit.
    profile
        The name of the shard's profile.
    """

    paths: tuple[NodePath, ...]
    memory: int
    temp_folder: str | None
    profile: str


@dataclass(frozen=True, slots=True)
class IndexType:
    """One type of index: its name in shards, older names, and how it is opened and built.

    Attributes
    ----------
    label
        What people call it.
    open
        Opens an index of a shard. References in the descriptor are those of the file given last.
    build
        Begins one; None for types that are only read.
    """

    name: str
    label: str
    capabilities: Capabilities
    open: Callable[[IndexDescriptor, ShardReader, Artifact], IndexReader]
    build: Callable[[IndexSpec, BuildPlan], RowSink] | None = None
    aliases: Sequence[str] = ()
