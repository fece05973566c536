"""The properties of several shards together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from amudai.format.message import parse
from amudai.format.property_values import Properties, pairs_of
from amudai.format.wire import amudai_pb2 as wire

__all__ = ["united_properties"]

_OURS: Final = "amudai."


def united_properties(payloads: Sequence[bytes], ours: Properties) -> bytes:
    """The payload of a `ShardProperties` message for a shard that was merged from shards with these properties.

    Creation times become the earliest and the latest. Properties are concatenated, without those that are the same in
    name and value as one before. Properties of this library are left out, unless all shards have the same.

    Parameters
    ----------
    ours
        Properties of this library for the merged shard.
    """
    messages = [parse(wire.ShardProperties, payload) for payload in payloads]
    united = wire.ShardProperties()
    for message in messages:
        united.MergeFrom(message)
    lows = [message.creation_min.ticks for message in messages if message.HasField("creation_min")]
    highs = [message.creation_max.ticks for message in messages if message.HasField("creation_max")]
    if lows:
        united.creation_min.ticks = min(lows)
    if highs:
        united.creation_max.ticks = max(highs)
    named = {name for name, _ in ours}
    shared = set.intersection(
        *({pair.SerializeToString(deterministic=True) for pair in message.custom_properties} for message in messages)
    )
    custom = [
        pair
        for pair in _distinct(united.custom_properties)
        if not pair.name.startswith(_OURS)
        or (pair.name not in named and pair.SerializeToString(deterministic=True) in shared)
    ]
    standard = _distinct(united.standard_properties)
    del united.custom_properties[:]
    del united.standard_properties[:]
    united.custom_properties.extend([*custom, *pairs_of(ours)])
    united.standard_properties.extend(standard)
    return united.SerializeToString(deterministic=True)


def _distinct(pairs: Iterable[Any]) -> list[Any]:
    """The pairs without those that occurred before."""
    found: dict[bytes, Any] = {}
    for pair in pairs:
        found.setdefault(pair.SerializeToString(deterministic=True), pair)
    return list(found.values())
