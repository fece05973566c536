"""The operation that merges shards: a new root over the stripes of other roots."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Final

import pyarrow as pa

from amudai.arrow import (
    SCHEMA_PROPERTY,
    ArrowFields,
    conformed,
    project,
    require_same_units,
    stored_array,
    stored_form,
    to_array,
    united_arrow_schema,
)
from amudai.edit.lost_fields import index_of_other_fields
from amudai.edit.naming import Naming
from amudai.edit.nulls import NullColumns
from amudai.edit.root import Root
from amudai.edit.schemas import MatchedColumn, matched_columns, united_nodes
from amudai.encoding import profile_of
from amudai.errors import InvalidArgument, UnsupportedFeature, located
from amudai.format import (
    AnyValue,
    FieldDescriptor,
    Fingerprint,
    FollowedFile,
    IndexCollection,
    Properties,
    StripeFieldDescriptor,
    changeable_schema,
    encode_schema,
    followed_of,
    followed_property,
    moved_indexes,
    source_marks_of,
    source_marks_property,
    united_properties,
)
from amudai.rows import Rows
from amudai.shard import (
    BuildOptions,
    ShardMetadata,
    ShardReader,
    StoredArray,
    StripeBuilder,
    StripeMetadata,
    StripeReader,
    folded,
    place_fields,
    sum_of_known,
)
from amudai.storage import SealedFile
from amudai.types import DELETED_RECORD, SchemaNode, nodes_below

__all__ = ["DROP_HINT", "MergedSource", "Merging"]

# What a user can do about an index that a merge cannot take along.
DROP_HINT: Final = 'indexes="drop" leaves it out'

# How many rows of a column are stored again at a time.
_BATCH_ROWS: Final = 1 << 17


@dataclass(frozen=True, slots=True, eq=False)
class MergedSource:
    """A shard that is merged, and the numbers that its rows, stripes and fields get.

    Attributes
    ----------
    reader, root
        The shard, and its content with the names that its files have for the new root.
    columns
        The columns of the new shard, each with the column of this shard that has its values.
    first_row, first_stripe
        The numbers of its first row and of its first stripe in the new shard.
    taken
        The numbers of the stripes that are merged, as the shard counts them, in order. The root has only these.
    """

    reader: ShardReader
    root: Root
    columns: tuple[MatchedColumn, ...]
    first_row: int
    first_stripe: int
    taken: Sequence[int]

    @property
    def ids(self) -> dict[int, int]:
        """The schema id in the new shard for each schema id of this one."""
        found = (each for column in self.columns for each in column.walk())
        return {each.stored.schema_id: each.node.schema_id for each in found if each.stored is not None}

    @property
    def widened(self) -> frozenset[int]:
        """The schema ids, in this shard, of the fields whose values are stored again as a wider type."""
        found = (each for column in self.columns for each in column.walk() if not each.children and each.is_widened)
        return frozenset(each.stored.schema_id for each in found if each.stored is not None)

    def valid_indexes(self, payload: bytes, is_known: Callable[[str], bool]) -> bytes:
        """The payload of an `IndexCollection` without the fields that are stored again: hashes of other types differ.

        `is_known` says for a type of index whether it can lose a field and stay for others.
        """
        widened = self.widened if payload else ()
        if not widened:
            return payload
        each = (index_of_other_fields(one, widened, is_known, "widened") for one in IndexCollection.decode(payload))
        return IndexCollection(tuple(one for one in each if one is not None)).encode()

    @property
    def stripes(self) -> Iterator[tuple[StripeReader, int, int]]:
        """The stripes, each with its number and the number of its first row in the new shard."""
        row = self.first_row
        for number, ordinal in enumerate(self.taken, self.first_stripe):
            stripe = self.reader.stripes[ordinal]
            yield stripe, number, row
            row += stripe.num_positions

    @property
    def rows(self) -> int:
        """How many rows of the shard are merged."""
        return sum(self.reader.stripes[ordinal].num_positions for ordinal in self.taken)

    def read(self, stripe: StripeReader, column: MatchedColumn) -> Iterator[tuple[StoredArray, int]]:
        """The values of a top-level column in a stripe, as the new shard stores them, some rows at a time.

        Each part comes with its bytes.
        """
        kind = stored_form(column.node)
        for rows in Rows.all(stripe.origin).each_part(_BATCH_ROWS):
            if column.stored is None:
                array = pa.nulls(rows.count, kind)
            else:
                own = stored_form(column.stored)
                projection = project(column.stored, own)
                array = to_array(stripe.column(column.stored).read(rows, projection), projection, own)
            yield stored_array(conformed(array, kind), column.node), array.nbytes


class Merging:
    """Several shards that become one.

    Parameters
    ----------
    readers
        The shards, in the order of their rows.
    naming
        The place of the new root.
    widen
        Whether columns of different types of numbers are stored again as the wider type. Without this they are an
        error.
    parts
        For shards of which only a part is merged, by their number: the numbers of the stripes, and the root with these.

    Attributes
    ----------
    nodes
        The united schema.
    sources
        The shards, with the numbers that their rows, stripes and fields get.
    """

    def __init__(
        self,
        readers: Sequence[ShardReader],
        naming: Naming,
        *,
        widen: bool = False,
        parts: Mapping[int, tuple[Sequence[int], Root]] | None = None,
    ) -> None:
        if not readers:
            raise InvalidArgument("shards: expected at least one, found none")
        self._naming = naming
        # Most shards have the same schema, which is then united, matched and numbered once.
        distinct: dict[bytes, ShardReader] = {}
        for reader in readers:
            distinct.setdefault(reader.schema.payload, reader)
        first = readers[0].schema
        if len(distinct) == 1:
            self.nodes, self._schema = first.fields(), first.payload
        else:
            schemas = []
            for payload, reader in distinct.items():
                with located(url=reader.url):
                    schemas.append((reader.url, changeable_schema(payload)))
            self.nodes = united_nodes(schemas, widen=widen)
            self._schema = encode_schema(self.nodes)
        self._ours = self._kept_properties(readers, widen)
        matched = {payload: matched_columns(self.nodes, reader.schema.fields()) for payload, reader in distinct.items()}
        self.sources: tuple[MergedSource, ...] = tuple(self._sources(readers, matched, parts or {}))

    def _sources(
        self,
        readers: Sequence[ShardReader],
        matched: Mapping[bytes, tuple[MatchedColumn, ...]],
        parts: Mapping[int, tuple[Sequence[int], Root]],
    ) -> Iterator[MergedSource]:
        naming = self._naming
        rows = stripes = 0
        for number, reader in enumerate(readers):
            taken, root = parts[number] if number in parts else (range(len(reader.stripes)), Root.of(reader, naming))
            is_source = reader.url == naming.url and reader.store.same_files(naming.store) and number not in parts
            if is_source or root.name in root.files:
                message = "to: expected another place: the new root refers to the bytes of this file"
                raise InvalidArgument(message, url=naming.url)
            source = MergedSource(reader, root, matched[reader.schema.payload], rows, stripes, taken)
            yield source
            rows += source.rows
            stripes += len(taken)

    def _kept_properties(self, readers: Sequence[ShardReader], widen: bool) -> Properties:
        """The properties of this library for the new shard: its Arrow schema, and what its sources were."""
        kept: list[tuple[str, pa.Schema]] = []
        natural: list[tuple[str, pa.Schema]] = []
        seen: set[tuple[bytes, object]] = set()
        marks: set[int] = set()
        followed: list[FollowedFile] = []
        for reader in readers:
            marks |= source_marks_of(reader.properties)
            followed += followed_of(reader.properties)
            stored = next((value.value for name, value in reader.properties.custom if name == SCHEMA_PROPERTY), None)
            key = reader.schema.payload, stored
            if key not in seen:
                seen.add(key)
                (natural if stored is None else kept).append((reader.url, ArrowFields(reader).schema))
        found = (*source_marks_property(marks), *followed_property(followed))
        if not kept:
            return found
        columns = [node.name for node in self.nodes if not node.internal]
        schema = united_arrow_schema(columns, kept, widen=widen)
        require_same_units([node for node in self.columns if node.name in schema.names], schema, kept)
        missing = [name for name in columns if schema.get_field_index(name) < 0]
        if missing:
            # Shards of other writers keep no Arrow schema. Their types count where no other shard has the column.
            others = united_arrow_schema(missing, natural, widen=widen)
            fields = {field.name: field for field in (*schema, *others)}
            schema = pa.schema([fields[name] for name in columns], metadata=schema.metadata)
        return (*found, (SCHEMA_PROPERTY, AnyValue("bytes", schema.serialize().to_pybytes())))

    @property
    def columns(self) -> tuple[SchemaNode, ...]:
        """The columns of the new shard that a user sees."""
        return tuple(node for node in self.nodes if not node.internal)

    def root(
        self,
        out: SealedFile,
        is_movable: Callable[[str], bool],
        *,
        drop_others: bool = False,
        keep_indexes: bool = False,
    ) -> Root:
        """The new root, without indexes of the whole shard. Columns that are stored again are written to `out`.

        Parameters
        ----------
        is_movable
            Says for a type of index whether the index of a stripe can move to another shard.
        drop_others
            Whether indexes of other types are left out. Otherwise they are an error.
        keep_indexes
            Whether the new root is going to refer to the indexes of whole shards.
        """
        nulls = NullColumns(out)
        moves = _IndexMoves(is_movable, drop_others)
        parts = [_Part(source, nulls, out, moves) for source in self.sources]
        stripes = tuple(stripe for part in parts for stripe in part.stripes())
        files: dict[str, Fingerprint] = {}
        digests: dict[str, bytes] = {}
        urls: set[str] = set()
        for old in (part.source.root for part in parts):
            unused = frozenset() if keep_indexes else old.index_files
            urls |= old.metadata.urls - unused
            files |= {name: mark for name, mark in old.files.items() if name not in unused}
            digests |= {name: digest for name, digest in old.digests.items() if name not in unused}
        metadata = [part.source.root.metadata for part in parts]
        known = [part.fields for part in parts]
        ids = {node.schema_id for node in nodes_below(self.nodes)}
        count = 1 + max(ids, default=-1)
        if self._schema == metadata[0].schema:
            count = max(count, len(metadata[0].fields))  # the last columns may have been dropped
        return Root(
            url=self._naming.url,
            metadata=ShardMetadata(
                schema=self._schema,
                stripes=stripes,
                fields=tuple(self._folded([each[at] for each in known]) if at in ids else None for at in range(count)),
                properties=united_properties([each.properties for each in metadata], self._ours),
                urls=frozenset(urls),
                raw_data_size=sum_of_known(stripe.raw_data_size for stripe in stripes),
                unknown=_same_unknown(metadata),
            ),
            files=files,
            digests=digests,
        )

    def _folded(self, parts: Sequence[FieldDescriptor | None]) -> bytes | None:
        """The descriptor of a field over all shards; None if nothing is known about it in one of them."""
        found: FieldDescriptor | None = None
        for part in parts:
            if part is None:
                return None
            found = folded(found, part)
        return None if found is None else found.encode()


@dataclass(frozen=True, slots=True)
class _IndexMoves:
    """Which indexes of stripes may move to another shard."""

    is_movable: Callable[[str], bool]
    drop_others: bool

    def allowed(self, payload: bytes) -> bytes:
        """The payload of an `IndexCollection` with the indexes that may move. Others are dropped, or an error."""
        found = IndexCollection.decode(payload)
        others = [each for each in found if not self.is_movable(each.index_type)]
        if not others:
            return payload
        if not self.drop_others or any(each.required for each in others):
            hint = "" if self.drop_others else f"; {DROP_HINT}"
            expected = "expected a known type, whose rows can get other numbers"
            raise UnsupportedFeature(f"index of a stripe: {expected}, found {others[0].index_type!r}{hint}")
        return IndexCollection(tuple(each for each in found if self.is_movable(each.index_type))).encode()


class _Part:
    """One shard as a part of the new root."""

    def __init__(self, source: MergedSource, nulls: NullColumns, out: SealedFile, moves: _IndexMoves) -> None:
        self.source = source
        self._moves = moves
        self._nulls = nulls
        self._out = out
        self._ids = source.ids
        self._same_ids = all(old == new for old, new in self._ids.items())
        self._made: dict[int, list[StripeFieldDescriptor]] = {}  # descriptors that were made here, by schema id
        self._widened = frozenset(column.node.schema_id for column in source.columns if column.is_widened)
        complete = all(column.is_complete for column in source.columns)
        self._simple = self._same_ids and complete and not self._widened

    def stripes(self) -> Iterator[StripeMetadata]:
        """The stripes with the ids and indexes of the new shard."""
        source = self.source
        for (stripe, number, row), metadata in zip(source.stripes, source.root.metadata.stripes, strict=True):
            moved = (number, row) != (stripe.ordinal, stripe.first_row) or not self._same_ids
            with located(url=source.reader.url, stripe=stripe.ordinal):
                indexes = source.valid_indexes(metadata.indexes, self._moves.is_movable)
                if indexes and moved:
                    indexes = self._moves.allowed(indexes)
                if indexes and moved:
                    indexes = moved_indexes(
                        indexes,
                        first_row=row - stripe.first_row,
                        first_stripe=number - stripe.ordinal,
                        rows=None,
                        ids=self._ids,
                    )
                fields = self._stripe_fields(stripe, metadata)
                yield replace(metadata, fields=fields, indexes=indexes, raw_data_size=self._raw_size(metadata, fields))

    def _stripe_fields(self, stripe: StripeReader, metadata: StripeMetadata) -> tuple[bytes | None, ...]:
        if self._simple and None not in metadata.fields:
            return metadata.fields
        found: dict[int, bytes | None] = {}
        for column in self.source.columns:
            if column.node.schema_id in self._widened:
                self._widen(stripe, column, metadata, found)
            else:
                self._take(column, metadata, metadata.rows, found)
        return tuple(found.get(at) for at in range(1 + max(found, default=-1)))  # ids of dropped columns are gaps

    def _raw_size(self, metadata: StripeMetadata, fields: Sequence[bytes | None]) -> int | None:
        """The bytes of the values of a stripe without any encoding: more if values were stored again."""
        if not self._widened:
            return metadata.raw_data_size
        decoded = (StripeFieldDescriptor.decode(payload).field for payload in fields if payload is not None)
        return sum_of_known(field.raw_data_size for field in decoded)

    def _take(
        self, column: MatchedColumn, metadata: StripeMetadata, positions: int | None, found: dict[int, bytes | None]
    ) -> None:
        """Take over the descriptors of a column and of the columns below it, or make descriptors of nulls."""
        stored = column.stored
        at = None if stored is None else stored.schema_id
        payload = metadata.fields[at] if at is not None and at < len(metadata.fields) else None
        if payload is None:
            self._fill(column, positions, found)
            return
        if not self._same_ids:
            _require_no_indexes(payload)
        found[column.node.schema_id] = payload
        below: int | None = None
        if not column.is_complete:
            # Only members of structs can be missing, and they have as many positions as the struct.
            below = StripeFieldDescriptor.decode(payload).field.position_count
        for child in column.children:
            self._take(child, metadata, below, found)

    def _fill(self, column: MatchedColumn, positions: int | None, found: dict[int, bytes | None]) -> None:
        # No marker means that no row is deleted. If a source leaves descriptors out below a list, nobody knows how many
        # positions there are, and they stay out.
        if positions is None or column.node.internal == DELETED_RECORD:
            found.update(dict.fromkeys((each.node.schema_id for each in column.walk()), None))
            return
        self.source.reader.require_work(positions)
        for schema_id, descriptor in self._nulls.of(column.node, positions).items():
            found[schema_id] = self._add(schema_id, descriptor)

    def _widen(
        self, stripe: StripeReader, column: MatchedColumn, metadata: StripeMetadata, found: dict[int, bytes | None]
    ) -> None:
        self.source.reader.require_work()
        builder = StripeBuilder((column.node,), BuildOptions(profile=profile_of("balanced")))
        with builder.spool:
            for values, _ in self.source.read(stripe, column):
                builder.append([lambda values=values: values], values.length)  # type: ignore[misc]
            properties = {
                each.node.schema_id: StripeFieldDescriptor.decode(payload).field.custom
                for each in column.walk()
                if each.stored is not None and (payload := metadata.fields[each.stored.schema_id]) is not None
            }
            placed = place_fields(builder.finish(), "", self._out, builder.spool, properties)
        for schema_id, descriptor in placed.items():
            found[schema_id] = self._add(schema_id, descriptor)

    def _add(self, schema_id: int, descriptor: StripeFieldDescriptor) -> bytes:
        self._made.setdefault(schema_id, []).append(descriptor)
        return descriptor.encode()

    @property
    def fields(self) -> _PartFields:
        """What is known about each field over the whole shard. Only after `stripes`."""
        return _PartFields(self.source, self._made)


class _PartFields:
    """The descriptors of the fields of one shard over all its stripes, by their new schema id."""

    def __init__(self, source: MergedSource, made: Mapping[int, Sequence[StripeFieldDescriptor]]) -> None:
        self._made = made
        self._metadata = source.root.metadata
        self._old = {new: old for old, new in source.ids.items()}

    def __getitem__(self, schema_id: int) -> FieldDescriptor | None:
        made = self._made.get(schema_id)
        old = self._old.get(schema_id)
        if made is not None:
            stripes = [each.field for each in made]
            if len(made) < len(self._metadata.stripes):
                stripes += self._of_stripes(old)
            return reduce(folded, stripes, None)
        payload = self._metadata.fields[old] if old is not None and old < len(self._metadata.fields) else None
        if payload is not None:
            return FieldDescriptor.decode(payload)
        return reduce(folded, self._of_stripes(old), None) or FieldDescriptor(position_count=0, null_count=0)

    def _of_stripes(self, old: int | None) -> list[FieldDescriptor]:
        if old is None:
            return []
        payloads = (stripe.fields[old] for stripe in self._metadata.stripes if old < len(stripe.fields))
        return [StripeFieldDescriptor.decode(payload).field for payload in payloads if payload is not None]


def _require_no_indexes(payload: bytes) -> None:
    """Raise UnsupportedFeature if a descriptor has indexes of its own, which name fields by ids that change."""
    indexes = StripeFieldDescriptor.decode(payload).field.indexes
    if indexes is not None and len(indexes):
        found = indexes.descriptors[0].index_type
        raise UnsupportedFeature(f"index of a field: expected none if schema ids change, found {found!r}")


def _same_unknown(metadata: Sequence[ShardMetadata]) -> tuple[tuple[str, bytes], ...]:
    """Fields of a later version in the directories, which can be kept only if all shards have the same."""
    first = metadata[0].unknown
    for other in metadata:
        if other.unknown != first:
            kinds = ", ".join(sorted({kind for each in metadata for kind, _ in each.unknown}))
            raise UnsupportedFeature(f"fields of a later version in {kinds}: expected the same in all shards to merge")
    return first
