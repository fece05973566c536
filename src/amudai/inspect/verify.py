"""Verification: reading every byte of a shard, comparing every checksum and decoding every value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from threading import Lock
from typing import Final, TypeAlias

import pyarrow as pa

from amudai.arrow import ArrowFields, to_array
from amudai.column import ColumnSource, Projection
from amudai.errors import AmudaiError, CorruptedData, InvalidArgument, LimitExceeded, located
from amudai.format import (
    BUFFER_ALIGNMENT,
    FOOTER,
    HEADER,
    LOOKUP,
    IdentityHash,
    IndexArtifact,
    IndexDescriptor,
    LookupBuffer,
    NativeEncoding,
    ParquetEncoding,
    check_footer,
    check_header,
    check_zeros,
    lookup_buffers,
    require_identity,
)
from amudai.index import check_index, index_type, open_artifact
from amudai.inspect.alternatives import is_stored_twice
from amudai.inspect.problem import Problem
from amudai.inspect.texts import counted
from amudai.rows import Rows
from amudai.shard import ShardReader, StripeReader
from amudai.storage import MAX_READ, Artifact, resolve
from amudai.threads import Crew, Each, one_by_one
from amudai.types import SchemaNode, nodes_below

__all__ = ["Verification", "verify_shard"]

_ROWS: Final = 1 << 17
_LARGEST: Final = 1 << 24  # rows at a time if blocks are larger than that
_PARTS: Final = 64  # that wait for a thread: a damaged column may claim any number of rows
_MOST_LEVELS: Final = 4

# A shard: the URL of its file, and where its directory is.
_Place: TypeAlias = tuple[str, int]


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


@dataclass(slots=True, eq=False)
class _Findings:
    """What a verifier and those of the indexes below it share.

    Attributes
    ----------
    files
        The files that were read.
    used
        The ranges of each file that something refers to.
    buffers
        The buffers of blocks of each artifact that was verified.
    is_known
        Whether everything that may refer to bytes of the files was understood.
    """

    files: dict[str, Artifact] = field(default_factory=dict)
    used: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    buffers: dict[_Place, set[LookupBuffer]] = field(default_factory=dict)
    is_known: bool = True

    def use(self, places: Iterable[tuple[Artifact, int, int]]) -> None:
        """Note that something refers to these ranges."""
        for artifact, start, end in places:
            self.files.setdefault(artifact.url, artifact)
            self.used.setdefault(artifact.url, []).append((start, end))

    def take(self, other: _Findings) -> None:
        """Add what a verifier of its own has found."""
        for url, artifact in other.files.items():
            self.files.setdefault(url, artifact)
        for url, ranges in other.used.items():
            self.used.setdefault(url, []).extend(ranges)
        self.buffers.update(other.buffers)
        self.is_known &= other.is_known


@dataclass(slots=True, eq=False)
class _ColumnFindings:
    """What was found in a column of a stripe. Columns are verified on several threads, and each has its own."""

    blocks: int = 0
    values: int = 0
    is_known: bool = True
    lookups: list[LookupBuffer] = field(default_factory=list)
    files: list[Artifact] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _ArtifactFindings:
    """What was found in an artifact of an index.

    Attributes
    ----------
    place
        Where the artifact is; None if it cannot be opened.
    verifier
        Verifies the artifact; None if somebody else does.
    is_alone
        Whether nothing else leads to what the artifact leads to. Such artifacts are verified side by side.
    """

    artifact: IndexArtifact
    place: _Place | None = None
    verifier: _Verifier | None = None
    is_alone: bool = False
    problems: list[Problem] = field(default_factory=list)


class _Verifier:
    """Verifies a shard. `above` are the shards whose indexes lead to it, `each` runs work on several threads."""

    def __init__(
        self,
        reader: ShardReader,
        report: Callable[[int, int, int], object] = lambda *_: None,
        found: _Findings | None = None,
        above: tuple[_Place, ...] = (),
        *,
        deep: bool = False,
        each: Each = one_by_one,
    ) -> None:
        self.reader = reader
        self.each = each
        self.deep = deep
        self.report = report
        self.fields = ArrowFields(reader)
        self.blocks = self.values = 0
        self.found = _Findings() if found is None else found
        self.path = (*above, _place(reader))
        self.places: set[LookupBuffer] = set()  # of all buffers of blocks
        self.found.files.setdefault(reader.root.url, reader.root)
        self.problems: list[Problem] = []

    def attempt(self, work: Callable[[], object], problems: list[Problem] | None = None) -> None:
        """Do one piece of work. If it raises an error, note the problem: the next piece is done all the same."""
        noted = self.problems if problems is None else problems
        try:
            with located(url=self.reader.url):
                work()
        except AmudaiError as error:
            noted.append(Problem.of(error))
        except (MemoryError, RecursionError) as error:
            message = f"verification: expected enough memory for it, found too little ({type(error).__name__})"
            noted.append(Problem.of(LimitExceeded(message, url=self.reader.url)))

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
        self.attempt(lambda: self.found.use(reader.places()))
        for stripe in stripes[0] if stripes else ():
            self.attempt(lambda stripe=stripe: reader.deleted_in(stripe))  # type: ignore[misc]
            self.attempt(lambda stripe=stripe: stripe.properties)  # type: ignore[misc]
            self.attempt(lambda stripe=stripe: stripe.indexes.whole())  # type: ignore[misc]
            self.attempt(lambda stripe=stripe: self.found.use(stripe.places(nodes_below(fields))))  # type: ignore[misc]
            self.columns(stripe, fields)
            self.attempt(lambda stripe=stripe: self.alternatives(stripe, fields))  # type: ignore[misc]
        self.indexes(stripes[0] if stripes else ())
        if self.deep:
            self.attempt(reader.require_work)
        if self.deep and stripes and not self.problems:
            self.evidence(fields, stripes[0])

    def alternatives(self, stripe: StripeReader, nodes: Sequence[SchemaNode]) -> None:
        """Every value of the columns that are stored twice, in both encodings: readers choose the cheaper one."""
        twice = [node for node in nodes if any(is_stored_twice(stripe, each) for each in nodes_below([node]))]
        reader = self.reader
        for prefer in ("native", "parquet") if twice else ():
            other = ShardReader(reader.url, reader.store, allow=reader.allow, limits=reader.limits, prefer=prefer)
            second = other.stripes[stripe.ordinal]
            for node in twice:
                self.attempt(partial(self.column, second, node, _ColumnFindings()))

    def evidence(self, fields: Sequence[SchemaNode], stripes: Sequence[StripeReader]) -> None:
        """Statistics, sketches, filters and indexes against the values that they are about."""
        from amudai.inspect.deep import RecomputedStatistics, compare_alternatives

        reader = self.reader
        statistics = RecomputedStatistics(reader)
        other = ShardReader(reader.url, reader.store, allow=reader.allow, limits=reader.limits, prefer="parquet")
        for stripe in stripes:
            for node in fields:
                self.attempt(lambda stripe=stripe, node=node: statistics.stripe(stripe, node))  # type: ignore[misc]
                self.attempt(
                    lambda stripe=stripe, node=node: compare_alternatives(reader, other, stripe, node)  # type: ignore[misc]
                )
            self.report(stripe.end_row, reader.store.counters.bytes, 0)
        self.problems += [Problem.of(error) for error in statistics.shard(fields)]
        for index, anchor, covered in self.all_indexes(stripes):
            self.attempt(partial(check_index, index, reader, anchor, covered))

    def files(self) -> None:
        """The marks of all files, and the bytes that nothing refers to."""
        for artifact in self.found.files.values():
            self.attempt(lambda artifact=artifact: self.marks(artifact))  # type: ignore[misc]
        self.attempt(self.digests)
        if self.problems:
            return  # what was not read may refer to any bytes
        # If the root says which files there are, it notes digests of the others, which cover all of their bytes.
        is_alone = self.reader.files is None
        for artifact in self.found.files.values():
            is_own = self.found.is_known and (is_alone or artifact.url == self.reader.url)
            self.attempt(lambda artifact=artifact, is_own=is_own: self.gaps(artifact, is_own))  # type: ignore[misc]

    def gaps(self, artifact: Artifact, is_own: bool) -> None:
        """The bytes of a file that nothing refers to must be zeros.

        Other roots may refer to more of a file that is not the shard's own. Gaps as short as padding are padding there,
        too.
        """
        at = len(HEADER)
        marks = [(artifact.size - len(FOOTER), artifact.size)]
        for start, end in sorted([*self.found.used.get(artifact.url, ()), *marks]):
            if at < start and (is_own or start - at < BUFFER_ALIGNMENT):
                for low in range(at, start, MAX_READ):
                    high = min(start, low + MAX_READ)
                    with located(url=artifact.url, range=f"{low}..{high}"):
                        check_zeros(artifact.read(low, high), "bytes that nothing refers to")
            at = max(at, end)

    def indexes(self, stripes: Sequence[StripeReader]) -> None:
        """The artifacts of all indexes of known types, which are shards themselves."""
        found: list[_ArtifactFindings] = []
        for index, anchor, _ in self.all_indexes(stripes):
            if index_type(index.index_type) is None:
                self.found.is_known = False
                continue
            for artifact in index.artifacts:
                found.append(_ArtifactFindings(artifact))
                self.attempt(partial(self.open_artifact, anchor, found[-1]), found[-1].problems)
        alone = [each.verifier for each in found if each.verifier is not None and each.is_alone]
        self.each(lambda at: alone[at].run(), len(alone))
        for each in found:
            if each.verifier is not None and not each.is_alone:
                each.verifier.run()
        for each in found:
            self.attempt(partial(self.artifact, each), each.problems)
            self.problems += each.problems

    def all_indexes(
        self, stripes: Sequence[StripeReader]
    ) -> Iterator[tuple[IndexDescriptor, Artifact, Sequence[StripeReader]]]:
        """Every index with the file that it is relative to and the stripes that it covers, as far as it can be read."""
        holders: tuple[tuple[ShardReader | StripeReader, Sequence[StripeReader]], ...] = (
            (self.reader, stripes),
            *((stripe, (stripe,)) for stripe in stripes),
        )
        for holder, covered in holders:
            with suppress(AmudaiError):  # noted already
                yield from ((index, holder.index_anchor, covered) for index in holder.indexes)
            with suppress(AmudaiError):
                nodes = tuple(nodes_below(self.reader.schema.fields()))
                yield from ((index, anchor, covered) for index, anchor in holder.field_indexes(nodes))

    def open_artifact(self, anchor: Artifact, into: _ArtifactFindings) -> None:
        """Open one artifact of an index. It gets a verifier unless it was verified before."""
        with located(index=into.artifact.name):
            reader = open_artifact(into.artifact, self.reader, anchor)
            into.place = _place(reader)
            if into.place in self.path:
                raise CorruptedData("index artifact: expected a shard of its own, found a shard that leads to it")
            if len(self.path) > _MOST_LEVELS:
                raise CorruptedData(f"index artifact: expected at most {_MOST_LEVELS} indexes of indexes, found more")
            if into.place not in self.found.buffers:
                into.is_alone = not _may_have_indexes(reader)
                findings = _Findings() if into.is_alone else self.found
                into.verifier = _Verifier(reader, found=findings, above=self.path, each=self.each)
                self.found.buffers[into.place] = into.verifier.places

    def artifact(self, seen: _ArtifactFindings) -> None:
        """What was found in one artifact of an index, and what the index says about its buffers."""
        if seen.place is None:
            return  # it cannot be opened
        with located(index=seen.artifact.name):
            inner = seen.verifier
            if inner is not None:
                if seen.is_alone:
                    self.found.take(inner.found)
                self.blocks += inner.blocks
                self.values += inner.values
                seen.problems += inner.problems
            for stated in lookup_buffers(seen.artifact.values) or ():
                if stated not in self.found.buffers[seen.place]:
                    raise CorruptedData(f"property {LOOKUP}: expected a buffer of the artifact, found {stated}")

    def columns(self, stripe: StripeReader, nodes: Sequence[SchemaNode]) -> None:
        """All columns of a stripe. Problems are noted in the order of the columns."""
        seen = [_ColumnFindings() for _ in nodes]
        lock = Lock()
        done = 0

        def verify(at: int) -> None:
            nonlocal done
            self.attempt(lambda: self.column(stripe, nodes[at], seen[at]), seen[at].problems)
            with lock:
                done += 1
                rows = stripe.first_row + stripe.num_positions * done // len(nodes)
                self.report(rows, self.reader.store.counters.bytes, 0)

        self.each(verify, len(nodes))
        for found in seen:
            self.blocks += found.blocks
            self.values += found.values
            self.places.update(found.lookups)
            self.problems += found.problems
            self.found.is_known &= found.is_known
            for artifact in found.files:
                self.found.files.setdefault(artifact.url, artifact)

    def column(self, stripe: StripeReader, node: SchemaNode, found: _ColumnFindings) -> None:
        """Every buffer of a column, and every value."""
        source = stripe.column(node)
        for each in source.walk():
            self.buffers(stripe, each, found)
        kind = self.fields.field(node).type
        projection = self.fields.projection(node)
        # A column of constants can claim any number of rows, and all of them are alike: reading one tells nothing more.
        is_stored = any(each.is_stored for top in projection.columns() for each in stripe.column(top).walk())
        # A block that is larger than a part is decoded once, not once for each part.
        largest = min(_LARGEST, max(each.block_rows for each in source.walk()))
        rows = Rows.all(stripe.origin) if is_stored else Rows.none(stripe.origin)
        parts = rows.each_part(max(_ROWS, largest))
        while some := list(islice(parts, _PARTS)):
            self.parts(stripe, some, projection, kind)
        found.values += stripe.num_positions

    def parts(self, stripe: StripeReader, parts: Sequence[Rows], projection: Projection, kind: pa.DataType) -> None:
        """Parts of a column. Raises the error of the first part that is damaged."""
        errors: list[Exception | None] = [None] * len(parts)

        def read(at: int) -> None:
            if any(errors[:at]):
                return
            try:
                self.rows(stripe, parts[at], projection, kind)
            except (AmudaiError, MemoryError, RecursionError) as error:
                errors[at] = error

        self.each(read, len(parts))
        for error in filter(None, errors):
            raise error

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

    def buffers(self, stripe: StripeReader, source: ColumnSource, into: _ColumnFindings) -> None:
        """Every part of a column's descriptor, and every buffer of its own."""
        descriptor = stripe.descriptor(source.node)
        if descriptor is not None:
            descriptor.field.whole()
            whole = all(isinstance(encoding, NativeEncoding | ParquetEncoding) for encoding in descriptor.encodings)
            into.is_known &= whole
        found = source.check()
        into.blocks += found.blocks
        into.lookups += found.lookups
        into.files += found.files

    def marks(self, artifact: Artifact) -> None:
        """The marks at the beginning and the end of a file."""
        with located(url=artifact.url):
            begin = artifact.read(0, min(len(HEADER), artifact.size))
            end = artifact.read(max(0, artifact.size - len(FOOTER)), artifact.size)
            check_header(begin)
            check_footer(end)
            if begin != end:
                found = f"{begin.hex(' ')} and {end.hex(' ')}"
                raise CorruptedData(f"header and footer: expected the same version, found {found}")

    def digests(self) -> None:
        """The digests of whole files, as far as the root knows them. A file that cannot be read was noted already."""
        said = self.reader.files
        for name, digest in ({} if said is None else said.digests).items():
            artifact = self.found.files.get(resolve(name, self.reader.url))
            if artifact is not None:
                self.attempt(lambda artifact=artifact, digest=digest: self.digest(artifact, digest))  # type: ignore[misc]

    def digest(self, artifact: Artifact, expected: bytes) -> None:
        """The digest of one file, which is read from its first byte to its last."""
        found = IdentityHash()
        with located(url=artifact.url):
            for start in range(0, artifact.size, MAX_READ):
                found.update(artifact.read(start, min(start + MAX_READ, artifact.size)))
            require_identity(expected, found.digest())


def _place(reader: ShardReader) -> _Place:
    return reader.url, reader.directory_place.start


def _may_have_indexes(reader: ShardReader) -> bool:
    """Whether a shard has indexes, or is too damaged to tell."""
    try:
        nodes = tuple(nodes_below(reader.schema.fields()))
        holders: tuple[ShardReader | StripeReader, ...] = (reader, *reader.stripes)
        return any(each.indexes.descriptors or any(each.field_indexes(nodes)) for each in holders)
    except (AmudaiError, MemoryError, RecursionError):
        return True


def verify_shard(
    reader: ShardReader, report: Callable[[int, int, int], object], *, deep: bool = False, threads: int = 1
) -> Verification:
    """Read everything that the shard holds. With `deep`, compare statistics and indexes with the values.

    `report` is called now and then with the rows that are done, the bytes that were read, and 0.
    """
    before = reader.store.counters.bytes
    # Opened anew: with checksums even if `reader` does not compare them, and with nothing cached.
    verifier = _Verifier(
        ShardReader(reader.url, reader.store, verify=True, allow=reader.allow, limits=reader.limits),
        report,
        deep=deep,
        each=Crew(threads).each,
    )
    verifier.run()
    verifier.files()
    return Verification(
        files=len(verifier.found.files),
        blocks=verifier.blocks,
        values=verifier.values,
        bytes=reader.store.counters.bytes - before,
        problems=tuple(verifier.problems),
    )
