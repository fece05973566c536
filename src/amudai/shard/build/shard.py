"""Building a shard from rows.

Buffers are written to the file when a stripe ends, indexes when the shard ends. `ShardBuilder.finish` returns the
metadata; the caller writes and publishes the root.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Self

from amudai.encoding import BlockEnds, ColumnMemory, Profile
from amudai.format import FOOTER, HEADER, Properties, encode_schema
from amudai.shard.build.artifact import ArtifactSpace, PreparedStripe, Sinks, node_count
from amudai.shard.build.attached import AttachedField
from amudai.shard.build.container_builders import builder_of
from amudai.shard.build.field_builder import FieldBuildContext
from amudai.shard.build.metadata import ShardMetadata, with_field_indexes
from amudai.shard.build.nanoseconds import is_zero, without_zeros
from amudai.shard.build.packed import GroupRequest, block_ends, extend, packed
from amudai.shard.build.placed import PlacedStripe, metadata_of
from amudai.shard.build.prepared import PreparedField
from amudai.shard.build.stored import StoredArray
from amudai.shard.build.stripe import digest, fields_below, place_fields
from amudai.shard.suffixes import STRIPE_SUFFIX
from amudai.stats import BloomRequest
from amudai.storage import SealedFile, Sealing, Spool
from amudai.threads import Each, one_by_one
from amudai.types import SchemaNode

__all__ = ["BuildOptions", "ShardBuilder", "StripeBuilder"]

# The spool gets this fraction of the memory. The rest is for staged values and dictionaries.
_SPOOL_SHARE: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """How a shard is written.

    Attributes
    ----------
    two_level
        Whether each stripe has a file of its own.
    stripe_rows, stripe_bytes
        A stripe ends after this many rows, or bytes of encoded values. None for no limit.
    memory
        Bytes of memory that all columns together may use. More encoded values than that go to a temporary file.
    bloom
        Fields that get a Bloom filter even if they have many distinct values, or numbers, by schema id.
    distinct
        Schema ids of fields whose distinct values are counted, whatever their type.
    profiles
        The profiles of fields that have one of their own, by schema id.
    extended
        Whether the shard may use what only this library reads.
    created
        When the shard was created, in ticks; None if that is not to be said.
    groups
        The packed groups.
    attached, unread
        Schema ids of fields whose values stay in other files, and of those among them that are not read.
    """

    profile: Profile
    two_level: bool = False
    stripe_rows: int | None = None
    stripe_bytes: int | None = None
    memory: int = 512 * 1000 * 1000
    temp_folder: str | None = None
    bloom: Mapping[int, BloomRequest] = field(default_factory=dict)
    distinct: frozenset[int] = frozenset()
    created: int | None = None
    properties: Properties = ()
    field_properties: Mapping[int, Properties] = field(default_factory=dict)
    attached: frozenset[int] = frozenset()
    unread: frozenset[int] = frozenset()
    profiles: Mapping[int, Profile] = field(default_factory=dict)
    extended: bool = False
    groups: GroupRequest = field(default_factory=GroupRequest)


class ShardBuilder:
    """Builds a shard: appends rows, ends stripes, writes files. `finish` returns the metadata for the root.

    Parameters
    ----------
    nodes
        The top-level fields. Their ids ascend depth first without gaps: from 0 in a new shard, or, for fields that are
        added to a shard, from its first free id.
    sealing, root
        Where files are created, and the root file, whose header has been written already.

    Attributes
    ----------
    properties
        The properties of the shard. Until `finish`, there can be more than those of the options.
    """

    def __init__(
        self,
        nodes: Sequence[SchemaNode],
        sealing: Sealing,
        root: SealedFile,
        options: BuildOptions,
        each: Each = one_by_one,
        sinks: Sinks | None = None,
    ) -> None:
        self._nodes = tuple(nodes)
        self._sealing = sealing
        cut = root.url.rfind("/") + 1
        self._folder, self._name = root.url[:cut], root.url[cut:]
        self._options = options
        self._each = each
        self._sinks = Sinks() if sinks is None else sinks
        self._schema = encode_schema(self._nodes, _id_count(self._nodes))  # an error before anything is written
        self._root = root
        self._stripes: list[PlacedStripe] = []
        self._open: StripeBuilder | None = None
        self.rows = 0
        self.properties = options.properties

    @property
    def encoded_bytes(self) -> int:
        """Bytes of encoded values so far."""
        return sum(stripe.size for stripe in self._stripes) + (self._open.spool.size if self._open is not None else 0)

    @property
    def rows_left(self) -> int | None:
        """Rows that still fit into the current stripe; None for any number."""
        if self._options.stripe_rows is None:
            return None
        return self._options.stripe_rows - (self._open.rows if self._open is not None else 0)

    def append(self, columns: Sequence[Callable[[], StoredArray]], rows: int) -> None:
        """Append rows. `columns` has a function for each top-level field, which returns its values."""
        if self._open is None:
            self._open = StripeBuilder(self._nodes, self._options, self._each)
        self._open.append([self._seen(index, work) for index, work in enumerate(columns)], rows)
        self.rows += rows
        limit = self._options.stripe_bytes
        if self.rows_left == 0 or (limit is not None and self._open.spool.size >= limit):
            self.end_stripe()

    def _seen(self, index: int, work: Callable[[], StoredArray]) -> Callable[[], StoredArray]:
        """The same work, which also passes the values to the sinks of this field."""
        sinks = self._sinks.wanting(self._nodes[index].schema_id)
        if not sinks:
            return work
        stripe, first_row = len(self._stripes), self.rows

        def shown() -> StoredArray:
            values = work()
            for sink in sinks:
                sink.append(values, stripe, first_row)
            return values

        return shown

    def end_stripe(self, properties: Properties = (), attached: Mapping[int, AttachedField] | None = None) -> None:
        """End the current stripe, if it has any rows.

        `attached` says where the values of fields are that stay in other files, by schema id.
        """
        stripe, self._open = self._open, None
        if stripe is None:
            return
        fields = stripe.finish()
        with stripe.spool:
            # A stripe with nothing but constants needs no file.
            if self._options.two_level and any(each.buffers for each in fields_below(fields)):
                # Named after its content and its root: the same input gives the same name, and two roots never own the
                # same file. If a file of this name exists already, it belongs to a former root of this name.
                salt = f"{self._name}\0{len(self._stripes)}\0{stripe.rows}\0".encode()
                stored = [field for field in fields if not is_zero(field.node, field.constant)]
                name = f"{digest(stored, stripe.spool, salt):016x}{STRIPE_SUFFIX}"
                with self._sealing.file(self._folder + name) as out:
                    out.hash_from_here()
                    out.write(HEADER)
                    self._place(stripe, fields, name, out, properties, attached or {})
                    out.write(FOOTER)
            else:
                self._place(stripe, fields, "", self._root, properties, attached or {})

    def _place(
        self,
        stripe: StripeBuilder,
        fields: tuple[PreparedField, ...],
        url: str,
        out: SealedFile,
        properties: Properties,
        attached: Mapping[int, AttachedField],
    ) -> None:
        start = out.tell()
        placed = place_fields(fields, url, out, stripe.spool, self._options.field_properties)
        placed = {
            schema_id: attached[schema_id].placed(field) if schema_id in attached else field
            for schema_id, field in placed.items()
            if schema_id in attached or schema_id not in self._options.attached
        }
        size = out.tell() - start
        indexes = self._space(f"stripe {len(self._stripes)}").indexes(self._sinks.stripe).descriptors
        self._stripes.append(PlacedStripe(stripe.rows, url, size, placed, properties, indexes=indexes))

    def close(self) -> None:
        """Free the scratch memory."""
        if self._open is not None:
            self._open.spool.close()
            self._open = None
        self._sinks.close()

    def finish(self) -> ShardMetadata:
        """End the last stripe, write the indexes, and return the metadata of the shard."""
        self.end_stripe()
        space = self._space("shard")
        indexes = space.indexes(self._sinks.shard)
        of_fields = space.indexes(self._sinks.field)
        nodes, stripes = without_zeros(self._nodes, self._stripes)
        count = _id_count(nodes)
        schema = self._schema if nodes == self._nodes else encode_schema(nodes, count)
        made = metadata_of(schema, count, stripes, self.properties, indexes, space.urls, self._options.created)
        return with_field_indexes(made, of_fields)

    def _space(self, owner: str) -> ArtifactSpace:
        """Where the indexes of the shard or of a stripe are written."""
        salt = f"{self._name}\0{owner}\0".encode() if self._options.two_level else None
        return ArtifactSpace(self._sealing, self._root, self._folder, salt)


def _id_count(nodes: Sequence[SchemaNode]) -> int:
    """The number of slots of the field lists: ids ascend without gaps from that of the first node."""
    return nodes[0].schema_id + node_count(nodes) if nodes else 0


def _extended(profile: Profile, options: BuildOptions) -> Profile:
    """The profile, with what only this library reads if the options allow that."""
    return replace(profile, extended=options.extended)


@dataclass(frozen=True, slots=True)
class _TopGroup:
    """A packed group of top-level fields: their places among the fields, and where their blocks end."""

    places: tuple[int, ...]
    ends: BlockEnds

    @classmethod
    def of(cls, members: Sequence[int], nodes: Sequence[SchemaNode], profile: Profile) -> Self:
        """The group of the fields with these schema ids."""
        ids = [node.schema_id for node in nodes]
        return cls(tuple(ids.index(each) for each in members), block_ends(profile, len(members)))


class StripeBuilder:
    """Builds one stripe. `each` runs the work of its fields, and the parts of that work."""

    def __init__(self, nodes: Sequence[SchemaNode], options: BuildOptions, each: Each = one_by_one) -> None:
        self.spool = Spool(options.temp_folder, options.memory // _SPOOL_SHARE)
        memory = ColumnMemory.of(options.memory, node_count(nodes))
        context = FieldBuildContext(
            _extended(options.profile, options),
            self.spool,
            options.bloom,
            options.distinct,
            memory,
            options.attached,
            options.unread,
            {each: _extended(profile, options) for each, profile in options.profiles.items()},
            each,
            options.groups.structs,
        )
        self._each = each
        self._groups = tuple(_TopGroup.of(members, nodes, options.profile) for members in options.groups.tops)
        ends = {at: group.ends for group in self._groups for at in group.places}
        self._builders = tuple(
            builder_of(node, replace(context, ends=ends[at]) if at in ends else context)
            for at, node in enumerate(nodes)
        )
        self.rows = 0

    def append(self, columns: Sequence[Callable[[], StoredArray]], rows: int) -> None:
        """Append rows. `columns` has a function for each top-level field, which returns its values."""
        ready: dict[int, StoredArray] = {}
        members = [at for group in self._groups for at in group.places]

        def prepare(index: int) -> None:
            ready[members[index]] = columns[members[index]]()

        def work(index: int) -> None:
            self._builders[index].append(ready[index] if index in ready else columns[index]())

        if members:  # where their blocks end depends on the values of all members
            self._each(prepare, len(members))
            for group in self._groups:
                extend(group.ends, [ready[at] for at in group.places], rows)
        self._each(work, len(self._builders))
        self.rows += rows

    def finish(self) -> tuple[PreparedField, ...]:
        """End the stripe. Its buffers stay in the spool."""
        done: list[PreparedField | None] = [None] * len(self._builders)

        def work(index: int) -> None:
            done[index] = self._builders[index].finish()

        self._each(work, len(done))
        fields = [field for field in done if field is not None]
        for group in self._groups:
            members = [fields[at] for at in group.places]
            made = packed(members, group.ends, self.rows)
            for at, member in zip(group.places, members, strict=True):
                fields[at] = replace(member, group=made)
        return tuple(fields)

    def prepared(self) -> PreparedStripe:
        """End the stripe, on this thread."""
        return PreparedStripe(self.finish(), self.rows, self.spool)
