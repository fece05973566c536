"""Messages that one root takes over from another: references renamed, unknown fields kept or refused.

The bytes that a new root refers to stay where they are, but the messages that refer to them move to another file. So
every reference in a message is renamed, and a field that this version does not know must not contain a reference. The
table of messages is in docs/format/container.md, "What a new root takes over".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from amudai.errors import UnsupportedFeature
from amudai.format.container import Bytes
from amudai.format.identity import identity_in
from amudai.format.message import parse
from amudai.format.wire import amudai_pb2 as wire

__all__ = ["carried", "unknown_fields", "unknown_fields_of_stripes"]

Rename: TypeAlias = Callable[[str, bool], str]

# References are written again, so a field that a later version adds to them would be lost.
_REFERENCES: Final = frozenset({"DataRef", "UInt64Range"})
# Messages that contain references, or lists of such messages: an unknown field may be another reference.
_PLACES: Final = frozenset(
    {
        "AnyValue",
        "DataEncoding",
        "DataRefArray",
        "EncodedBuffer",
        "ExternalParquetDataEncoding",
        "IndexArtifact",
        "IndexCollection",
        "IndexDescriptor",
        "NativeDataEncoding",
        "ParquetColumnChunkRef",
        "ParquetFileColumnRef",
        "ShardDirectory",
        "StripeDirectory",
        "StripeFieldDescriptor",
        "StripeList",
        "UrlList",
    }
)
# The tag of `AnyValue.data_ref`. A payload without these bytes has no value that is stored elsewhere.
_VALUE_ELSEWHERE: Final = b"\xb2\x01"
_SCALARS: Final = frozenset({0, 1, 5})  # wire types of numbers, which refer to nothing
# Messages that refer to other bytes only by such values, or by indexes.
_WITHOUT_PLACES: Final = frozenset({"FieldDescriptor", "ShardProperties", "StripeProperties"})


def carried(kind: str, payload: Bytes, rename: Rename) -> bytes:
    """The payload of a message of `kind` with every reference in it renamed, unknown fields included.

    `rename` takes the URL of a reference, which is not empty, and whether the message notes the identity of the bytes
    there. It returns the URL to write. An unknown field that may contain a reference raises `UnsupportedFeature`, which
    names the message and the number of the field.
    """
    payload = bytes(payload)
    message = _checked(kind, payload)
    if _VALUE_ELSEWHERE not in payload:
        # A root has many descriptors, and looking at every message inside each of them takes most of the time.
        if kind in _WITHOUT_PLACES and not (kind == "FieldDescriptor" and message.HasField("indexes")):
            return payload
        if isinstance(message, wire.StripeFieldDescriptor) and _renamed_buffers(message, rename):
            return message.SerializeToString(deterministic=True)
    _rename(message, rename, False)
    return message.SerializeToString(deterministic=True)


def unknown_fields(kind: str, payload: Bytes) -> bytes:
    """The unknown fields of a message of `kind`, as stored. Raises `UnsupportedFeature` as `carried` does."""
    return _unknown(_checked(kind, payload))


def unknown_fields_of_stripes(payload: Bytes) -> list[bytes]:
    """The unknown fields of each `StripeDirectory` of a `StripeList`, as stored."""
    return [_unknown(stripe) for stripe in _checked("StripeList", payload).stripes]  # type: ignore[attr-defined]


def _checked(kind: str, payload: Bytes) -> Message:
    message: Message = parse(getattr(wire, kind), payload)
    message.DiscardUnknownFields()
    if message.ByteSize() != len(payload):  # there were unknown fields, or another writer spells numbers differently
        message = parse(getattr(wire, kind), payload)
        for each in _messages(message):
            _refuse_references(each)
    return message


def _has_unknown(message: Message) -> bool:
    known = type(message)()
    known.CopyFrom(message)
    known.DiscardUnknownFields()
    return known.ByteSize() != message.ByteSize()


def _renamed_buffers(descriptor: wire.StripeFieldDescriptor, rename: Rename) -> bool:
    """Rename the references of a descriptor to its buffers. Returns False, and renames none, if it may have others."""
    if descriptor.field.HasField("indexes"):
        return False
    encodings = list(descriptor.encodings)
    for encoding in encodings:
        if not encoding.HasField("native"):
            return False
    known: dict[tuple[str, bool], str] = {}  # nearly all references of a descriptor lead to one file
    for encoding in encodings:
        for buffer in encoding.native.buffers:
            identified = buffer.HasField("identity_first")
            for ref in (buffer.buffer, buffer.block_map):
                span = ref.range
                if span.end > span.start:
                    old = ref.url, identified
                    new = known.get(old)
                    if new is None:
                        new = known[old] = rename(*old)
                    ref.url = new
    return True


def _messages(message: Message) -> Iterator[Message]:
    """The message and all messages inside."""
    yield message
    for inner in _inner(message):
        yield from _messages(inner)


def _inner(message: Message) -> Iterator[Message]:
    """The messages directly inside a message."""
    for field, value in message.ListFields():
        if field.message_type is not None:
            yield from (value,) if isinstance(value, Message) else value


def _refuse_references(message: Message) -> None:
    name = message.DESCRIPTOR.name
    unknown = UnknownFieldSet(message)
    for field in (unknown[at] for at in range(len(unknown))):
        if name in _REFERENCES or (name in _PLACES and field.wire_type not in _SCALARS):
            expected = f"{name}: expected no unknown field that may refer to other bytes"
            raise UnsupportedFeature(f"{expected}, found field {field.field_number}")


def _rename(message: Message, rename: Rename, identified: bool) -> None:
    match message:
        case wire.DataRef():
            if message.range.end > message.range.start:
                message.url = rename(message.url, identified)
            return
        case wire.EncodedBuffer() | wire.IndexArtifact():
            identified = identity_in(message) is not None
        case wire.ParquetFileColumnRef():
            # The reference to a whole file may have an empty range; one with a range is renamed like any other.
            file = message.file_ref
            if file.url and file.range.end <= file.range.start:
                file.url = rename(file.url, False)
        case wire.ParquetColumnChunkRef():
            if message.file_url:
                message.file_url = rename(message.file_url, False)
    for inner in _inner(message):
        _rename(inner, rename, identified and isinstance(inner, wire.DataRef))


def _unknown(message: Message) -> bytes:
    if not _has_unknown(message):
        return b""
    rest = type(message)()
    rest.CopyFrom(message)
    for known in rest.DESCRIPTOR.fields:
        rest.ClearField(known.name)
    return rest.SerializeToString()
