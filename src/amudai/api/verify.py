"""Is everything in the shard sound?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa

from amudai.api.display import counted
from amudai.api.progress import Report, reporting
from amudai.arrow import ArrowFields, project, to_array
from amudai.column import ColumnSource, Projection
from amudai.errors import AmudaiError, CorruptedData, InvalidArgument, located
from amudai.format import (
    FOOTER,
    HEADER,
    LOOKUP,
    IndexArtifact,
    LookupBuffer,
    check_footer,
    check_header,
    lookup_buffers,
)
from amudai.index import index_type, open_artifact
from amudai.rows import Rows
from amudai.shard import ShardReader, StripeReader
from amudai.storage import Artifact
from amudai.types import SchemaNode, nodes_below

__all__ = ["Problem", "Verification", "verify_shard"]

_ROWS = 1 << 17


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it should be, and where.

    Examples
    --------
    >>> for problem in amudai.open("tests/fixtures/sample.amudai.shard").verify().problems:
    ...     print(problem.message)
    """

    message: str
    error: AmudaiError


@dataclass(frozen=True, slots=True)
class Verification:
    """What `Shard.verify` found.

    Attributes
    ----------
    files, blocks, values, bytes
        What was looked at: files, blocks whose checksums were compared, values decoded, bytes read.
    problems
        What is wrong; empty where everything is sound.

    Examples
    --------
    >>> found = amudai.open("tests/fixtures/sample.amudai.shard").verify()
    >>> found.ok, found.problems
    (True, ())
    """

    files: int
    blocks: int
    values: int
    bytes: int
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __str__(self) -> str:
        files, problems = counted(self.files, "file"), counted(len(self.problems), "problem")
        seen = f"{files}, {self.blocks:,} blocks, {self.values:,} values, {self.bytes:,} bytes"
        if self.ok:
            return f"sound: {seen}"
        return "\n".join([f"{problems} in {seen}", *(each.message for each in self.problems)])


class _Verifier:
    def __init__(self, reader: ShardReader, report: Callable[[int, int, int], object] = lambda *_: None) -> None:
        self.reader = reader
        self.report = report
        self.fields = ArrowFields(reader)
        self.blocks = self.values = 0
        self.places: set[LookupBuffer] = set()  # of all buffers of blocks
        self.files: dict[str, Artifact] = {reader.root.url: reader.root}
        self.problems: list[Problem] = []

    def attempt(self, work: Callable[[], object]) -> None:
        """Do one piece of work; a problem is noted and the next piece goes on."""
        try:
            with located(url=self.reader.url):
                work()
        except AmudaiError as error:
            self.problems.append(Problem(str(error), error))

    def run(self) -> None:
        reader = self.reader
        self.attempt(lambda: reader.properties)
        self.attempt(lambda: reader.urls)
        self.attempt(lambda: reader.indexes.whole())
        nodes: list[tuple[SchemaNode, ...]] = []
        self.attempt(lambda: nodes.append(reader.schema.fields()))
        stripes: list[tuple[StripeReader, ...]] = []
        self.attempt(lambda: stripes.append(reader.stripes))
        fields = nodes[0] if nodes else ()
        for node in nodes_below(fields):
            self.attempt(lambda node=node: reader.descriptor(node))  # type: ignore[misc]
        for stripe in stripes[0] if stripes else ():
            self.attempt(lambda stripe=stripe: stripe.properties)  # type: ignore[misc]
            self.attempt(lambda stripe=stripe: stripe.indexes.whole())  # type: ignore[misc]
            for done, top in enumerate(fields):
                self.attempt(lambda stripe=stripe, top=top: self.column(stripe, top))  # type: ignore[misc]
                rows = stripe.first_row + stripe.num_rows * (done + 1) // len(fields)
                self.report(rows, reader.store.counters.bytes, 0)
        self.indexes(stripes[0] if stripes else ())
        for artifact in list(self.files.values()):
            self.attempt(lambda artifact=artifact: self.marks(artifact))  # type: ignore[misc]

    def indexes(self, stripes: Sequence[StripeReader]) -> None:
        """The pieces of all indexes of known types, which are shards themselves."""
        holders: tuple[ShardReader | StripeReader, ...] = (self.reader, *stripes)
        for holder in holders:
            with suppress(AmudaiError):  # noted already
                for index in holder.indexes:
                    if index_type(index.index_type) is not None:
                        for piece in index.artifacts:
                            self.attempt(lambda holder=holder, piece=piece: self.piece(holder, piece))  # type: ignore[misc]

    def piece(self, holder: ShardReader | StripeReader, artifact: IndexArtifact) -> None:
        """One piece of an index."""
        with located(index=artifact.name):
            inner = _Verifier(open_artifact(artifact, self.reader, holder.index_anchor))
            inner.run()
            self.blocks += inner.blocks
            self.values += inner.values
            self.files.update(inner.files)
            self.problems += inner.problems
            for stated in lookup_buffers(artifact.properties) or ():
                if stated not in inner.places:
                    raise CorruptedData(f"property {LOOKUP}: expected a buffer of the artifact, found {stated}")

    def column(self, stripe: StripeReader, node: SchemaNode) -> None:
        """Every buffer of a column, and every value."""
        source = stripe.column(node)
        for each in source.walk():
            self.buffers(stripe, each)
        kind = self.fields.field(node).type
        projection = project(node, kind)
        # Where nothing is stored but constants there may be any number of rows, and none tells more than the others.
        is_stored = any(each.is_stored for each in source.walk())
        for part in (Rows.all(stripe.origin) if is_stored else Rows.none(stripe.origin)).each_part(_ROWS):
            self.rows(source, part, projection, kind)
        self.values += stripe.num_rows

    def rows(self, source: ColumnSource, part: Rows, projection: Projection, kind: pa.DataType) -> None:
        """Some rows of a column; fewer at a time where their values are long."""
        try:
            stored = source.read(part, projection)
            # A sound value may still be none that this Arrow type can hold: a decimal NaN, a time too fine.
            with suppress(InvalidArgument):
                to_array(stored, projection, kind)
        except OverflowError:
            if part.count > 1:
                for half in part.each_part((part.count + 1) // 2):
                    self.rows(source, half, projection, kind)

    def buffers(self, stripe: StripeReader, source: ColumnSource) -> None:
        """Every part of a column's descriptor, and every buffer of its own."""
        descriptor = stripe.descriptor(source.node)
        if descriptor is not None:
            descriptor.field.whole()
        found = source.check()
        self.blocks += found.blocks
        self.places.update(found.lookups)
        for artifact in found.files:
            self.files.setdefault(artifact.url, artifact)

    def marks(self, artifact: Artifact) -> None:
        with located(url=artifact.url):
            check_header(artifact.read(0, min(len(HEADER), artifact.size)))
            check_footer(artifact.read(max(0, artifact.size - len(FOOTER)), artifact.size))


def verify_shard(reader: ShardReader, progress: bool | Report | None = None) -> Verification:
    """Look at everything that the shard holds."""
    # With checksums, whatever the shard was opened with, and with nothing cached.
    before = reader.store.counters.bytes
    fresh = ShardReader(reader.url, reader.store, verify=True, allow=reader.allow)
    with reporting(progress, reader.num_rows) as report:
        verifier = _Verifier(fresh, report)
        verifier.run()
    return Verification(
        files=len(verifier.files),
        blocks=verifier.blocks,
        values=verifier.values,
        bytes=reader.store.counters.bytes - before,
        problems=tuple(verifier.problems),
    )
