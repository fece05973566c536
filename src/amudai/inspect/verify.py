"""Verification: reading every byte of a shard, comparing every checksum and decoding every value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import pyarrow as pa

from amudai.arrow import ArrowFields, to_array
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
from amudai.inspect.problem import Problem
from amudai.inspect.texts import counted
from amudai.rows import Rows
from amudai.shard import ShardReader, StripeReader
from amudai.storage import Artifact
from amudai.types import SchemaNode, nodes_below

__all__ = ["Verification", "verify_shard"]

_ROWS = 1 << 17


@dataclass(frozen=True, slots=True)
class Verification:
    """What `Shard.verify` found.

    Attributes
    ----------
    files, blocks, values, bytes
        How much was read: files, blocks whose checksums were compared, values that were decoded, and bytes.
    problems
        What is wrong; empty if everything is sound.

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
        """Do one piece of work. If it raises an error, note the problem: the next piece is done all the same."""
        try:
            with located(url=self.reader.url):
                work()
        except AmudaiError as error:
            self.problems.append(Problem.of(error))

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
        """The artifacts of all indexes of known types, which are shards themselves."""
        holders: tuple[ShardReader | StripeReader, ...] = (self.reader, *stripes)
        for holder in holders:
            with suppress(AmudaiError):  # noted already
                for index in holder.indexes:
                    if index_type(index.index_type) is not None:
                        for artifact in index.artifacts:
                            self.attempt(lambda holder=holder, artifact=artifact: self.artifact(holder, artifact))  # type: ignore[misc]

    def artifact(self, holder: ShardReader | StripeReader, artifact: IndexArtifact) -> None:
        """One artifact of an index."""
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
        projection = self.fields.projection(node)
        # A column of constants can claim any number of rows, and all of them are alike: reading one tells nothing more.
        is_stored = any(each.is_stored for top in projection.columns() for each in stripe.column(top).walk())
        for part in (Rows.all(stripe.origin) if is_stored else Rows.none(stripe.origin)).each_part(_ROWS):
            self.rows(stripe, part, projection, kind)
        self.values += stripe.num_rows

    def rows(self, stripe: StripeReader, part: Rows, projection: Projection, kind: pa.DataType) -> None:
        """Some rows of a column, in halves if their values are too long for one array."""
        try:
            stored = stripe.read(part, projection)
            # A sound value may still not fit the Arrow type: a decimal NaN, a time with too many digits.
            with suppress(InvalidArgument):
                to_array(stored, projection, kind)
        except OverflowError:
            if part.count > 1:
                for half in part.each_part((part.count + 1) // 2):
                    self.rows(stripe, half, projection, kind)

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
        """The marks at the beginning and the end of a file."""
        with located(url=artifact.url):
            check_header(artifact.read(0, min(len(HEADER), artifact.size)))
            check_footer(artifact.read(max(0, artifact.size - len(FOOTER)), artifact.size))


def verify_shard(reader: ShardReader, report: Callable[[int, int, int], object]) -> Verification:
    """Read everything that the shard holds.

    `report` is called now and then with the rows that are done, the bytes that were read, and 0.
    """
    before = reader.store.counters.bytes
    # Opened anew: with checksums even if `reader` does not compare them, and with nothing cached.
    verifier = _Verifier(
        ShardReader(reader.url, reader.store, verify=True, allow=reader.allow, limits=reader.limits), report
    )
    verifier.run()
    return Verification(
        files=len(verifier.files),
        blocks=verifier.blocks,
        values=verifier.values,
        bytes=reader.store.counters.bytes - before,
        problems=tuple(verifier.problems),
    )
