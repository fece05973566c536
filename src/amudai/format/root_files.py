"""The shard property `amudai.files`: the files that a root owns, refers to, or has retired."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Self, TypeVar

import xxhash

from amudai.errors import CorruptedData
from amudai.format.container import Bytes
from amudai.format.directory import ShardProperties, with_property
from amudai.format.property_values import AnyValue, any_value, python_value

__all__ = [
    "FILES_PROPERTY",
    "Fingerprint",
    "RootFiles",
    "has_root_files",
    "noted_time",
    "references_of",
    "with_root_files",
]

T = TypeVar("T")

FILES_PROPERTY: Final = "amudai.files"
_REFERENCES: Final = "references"
_FINGERPRINT: Final = struct.Struct("<4Q")
_WITH_TIME: Final = struct.Struct("<5Q")
_UNKNOWN: Final = bytes(16)  # in the place of a digest


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Distinguishes a file from another of the same name: its size, and the hash of the bytes `start` to `end`.

    `modified` is when it was modified, as `noted_time` has it, for files that others may write to; 0 if that does not
    matter or is unknown.
    """

    size: int
    start: int
    end: int
    digest: int
    modified: int = 0

    @classmethod
    def of(cls, size: int, start: int, content: Bytes) -> Self:
        """The fingerprint of a file of `size` bytes that has `content` at `start`."""
        return cls(size, start, start + len(content), xxhash.xxh3_64_intdigest(content))

    def matches(self, content: Bytes) -> bool:
        """Whether `content`, the bytes `start` to `end` of a file, has the hash of this fingerprint."""
        return len(content) == self.end - self.start and xxhash.xxh3_64_intdigest(content) == self.digest


def noted_time(modified: int | None) -> int:
    """A time in nanoseconds from 1970 as a root notes it: its lowest 64 bits.

    Two times with the same bits lie 584 years apart.
    """
    return (modified or 0) % 2**64


@dataclass(frozen=True, slots=True, kw_only=True)
class RootFiles:
    """What a root says about files.

    Attributes
    ----------
    root
        The name of the root file. A copy under another name owns nothing: the files belong to the original. Empty if
        nothing is owned or retired, so that the bytes of a shard in one file do not depend on its name.
    content
        A hash of the root file up to its metadata; empty if the file begins with its metadata.
    owned
        Names of files that belong to this root alone.
    retired
        Names of files that former roots of this name owned, each with the time at which it was replaced.
    references
        Names of files that belong to other roots, each with its fingerprint.
    digests
        XXH3-128 of whole files among `owned` and `references`, as far as it is known.
    """

    root: str = ""
    content: bytes = b""
    owned: tuple[str, ...] = ()
    retired: Mapping[str, datetime] = field(default_factory=dict)
    references: Mapping[str, Fingerprint] = field(default_factory=dict)
    digests: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, properties: ShardProperties) -> Self | None:
        """What the properties of a shard say about files; None if they say nothing."""
        stored = _stored(properties)
        return None if stored is None else _stated(stored, cls._of)

    @classmethod
    def _of(cls, stated: Mapping[str, object]) -> Self:
        owned = tuple(_text(name) for name in _list(stated.get("owned", [])))
        references = _references(stated)
        return cls(
            root=_text(stated.get("root", "")),
            content=_bytes(stated.get("content", b"")),
            owned=owned,
            retired={name: _time(since) for name, since in _bag(stated.get("retired", {})).items()},
            references=references,
            digests=_digests([*owned, *references], _bytes(stated.get("digests", b""))),
        )

    def encode(self) -> bytes:
        """The bytes of the property. Empty attributes are left out."""
        stated: dict[str, object] = {}
        if self.root:
            stated["root"] = self.root
        if self.content:
            stated["content"] = self.content
        if self.owned:
            stated["owned"] = sorted(self.owned)
        if self.retired:
            stated["retired"] = dict(sorted(self.retired.items()))
        if self.references:
            stated[_REFERENCES] = {
                name: _FINGERPRINT.pack(mark.size, mark.start, mark.end, mark.digest)
                + (mark.modified.to_bytes(8, "little") if mark.modified else b"")
                for name, mark in sorted(self.references.items())
            }
        if self.digests:
            stated["digests"] = b"".join(
                self.digests.get(name, _UNKNOWN) for name in (*sorted(self.owned), *sorted(self.references))
            )
        return any_value(stated).encode()


def has_root_files(properties: ShardProperties) -> bool:
    """Whether a root has the property, as all roots of this library do."""
    return any(name == FILES_PROPERTY for name, _ in properties.custom)


def references_of(properties: ShardProperties) -> Mapping[str, Fingerprint]:
    """The files of other roots that a shard refers to. Cheap for the usual shard, which has none."""
    stored = _stored(properties)
    return {} if stored is None or _REFERENCES.encode() not in stored else _stated(stored, _references)


def with_root_files(payload: Bytes, files: RootFiles) -> bytes:
    """The payload of a `ShardProperties` message with its information about files replaced by `files`."""
    return with_property(payload, FILES_PROPERTY, AnyValue("bytes", files.encode()))


def _stated(stored: bytes, read: Callable[[Mapping[str, object]], T]) -> T:
    """What `read` finds in the content of the property. CorruptedData if it is not as expected."""
    try:
        return read(_bag(python_value(AnyValue.decode(stored))))
    except (TypeError, struct.error) as error:
        raise CorruptedData(f"property {FILES_PROPERTY}: expected the files of a root, found {error}") from error


def _references(stated: Mapping[str, object]) -> dict[str, Fingerprint]:
    return {name: _fingerprint(_bytes(stored)) for name, stored in _bag(stated.get(_REFERENCES, {})).items()}


def _fingerprint(stored: bytes) -> Fingerprint:
    form = _WITH_TIME if len(stored) == _WITH_TIME.size else _FINGERPRINT
    return Fingerprint(*form.unpack(stored))


def _digests(names: Sequence[str], stored: bytes) -> dict[str, bytes]:
    if stored and len(stored) != len(_UNKNOWN) * len(names):
        raise TypeError(f"{len(stored)} bytes for {len(names)} digests")
    found = (stored[at : at + len(_UNKNOWN)] for at in range(0, len(stored), len(_UNKNOWN)))
    return {name: digest for name, digest in zip(names, found, strict=False) if digest != _UNKNOWN}


def _stored(properties: ShardProperties) -> bytes | None:
    """The bytes of the property. It is a single value, so that reading rows need not decode its content."""
    found = next((value for name, value in properties.custom if name == FILES_PROPERTY), None)
    if found is None:
        return None
    if not isinstance(found.value, bytes):
        raise CorruptedData(f"property {FILES_PROPERTY}: expected bytes, found {found.kind}")
    return found.value


def _bag(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError(f"{type(value).__name__} for a struct")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"{type(value).__name__} for a list")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} for a name")
    return value


def _bytes(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise TypeError(f"{type(value).__name__} for bytes")
    return value


def _time(value: object) -> datetime:
    if not isinstance(value, datetime):
        raise TypeError(f"{type(value).__name__} for a time")
    return value
