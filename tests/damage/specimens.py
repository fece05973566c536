"""The shards that are damaged: small ones of many kinds, and everything that can be read of one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

import amudai
from amudai.api.field import Field
from amudai.storage import MemoryStore
from amudai.types import DELETED_RECORD, NANOSECONDS
from tests import forge, golden
from tests.oracle.binary import block_dictionary, fsst, lz4, zstd
from tests.oracle.numeric import delta, ffor, fl_bit_pack, run_length, single_value
from tests.reading.same import same_values

SAMPLE = Path(__file__).parent.parent / "fixtures" / "sample.amudai.shard"


@dataclass(frozen=True)
class Specimen:
    """A sound shard: its files by name, and of which bytes (every `stride`th) one bit is flipped."""

    name: str
    root: str
    files: dict[str, bytes]
    stride: int = 1

    def __str__(self) -> str:
        return self.name

    def damaged(self, name: str, content: bytes) -> Specimen:
        """The same shard with another content of one file."""
        return Specimen(self.name, self.root, {**self.files, name: content})

    def open(self, **options: Any) -> amudai.Shard:
        return amudai.open(self.root, store=MemoryStore(self.files), threads=1, **options)

    def everything(self, **options: Any) -> tuple[pa.Table, str]:
        """All values, and all that is known without reading them."""
        shard = self.open(**options)
        table = shard.read()
        facts: list[object] = [shard.schema, shard.num_rows, shard.properties, shard.indexes]
        facts += [(stripe, stripe.properties) for stripe in shard.stripes]
        facts += [(field.path, field.type, field.stats, field.properties) for field in _fields(shard)]
        return table, repr(facts)


def same(found: tuple[pa.Table, str], expected: tuple[pa.Table, str]) -> bool:
    """True, or an error that says where they differ: values bit by bit, and all facts."""
    assert found[1] == expected[1]
    assert found[0].schema.equals(expected[0].schema, check_metadata=True)
    return same_values(found[0], expected[0])


def _fields(above: amudai.Shard | Field) -> Iterator[Field]:
    for field in above.columns if isinstance(above, amudai.Shard) else above.children:
        yield field
        yield from _fields(field)


def _delta(values: list[int], dtype: str) -> bytes:
    return delta.encode(values, dtype, fl_bit_pack.encode)


def _flat() -> forge.Forge:
    texts = ["alpha", None, "beta", "alpha", "", "gämma"]
    columns = {
        "n": forge.numbers([1, 2, None, 4, 5, 6], "i8", block_values=4),
        "d": forge.numbers([7, 8, 9, 10, 11, 12], "u4", _delta),
        "r": forge.numbers([3, 3, 3, None, 8, 8], "i2", run_length.encode, presence_kind=3),
        "f": forge.numbers([0.5, -0.0, float("nan"), 1e300, None, 2.5], "f8"),
        "b": forge.booleans([True, None, False, True, True, None]),
        "t": forge.datetimes([638355968001234500, None] * 3),
        "s": forge.strings(texts),
        "l": forge.strings([text or "x" for text in texts], lz4.encode),
        "z": forge.strings(["zstandard"] * 6, zstd.encode),
        "y": forge.strings(texts, fsst.encode),
        "w": forge.strings(texts, block_dictionary.encode, nulls_to_encoder=True),
        "e": forge.dictionary(texts),
        "g": forge.guids([bytes(range(16)), None] * 3),
        "c": forge.constants(forge.strings([]), 6, "same"),
        "o": forge.constants(forge.numbers([], "i4"), 6, None),
        "m": forge.missing(forge.numbers([], "i4")),
        "v": forge.numbers([5] * 6, "i1", single_value.encode),
    }
    return forge.Forge.of(columns, properties={"owner": "ops"}, created=1, name="flat.amudai.shard")


def _nested() -> forge.Forge:
    columns = {
        "list": forge.lists([2, None, 0, 1], forge.numbers([1, None, 3], "i4")),
        "map": forge.maps([1, 0, None, 2], forge.strings(["a", "b", "c"]), forge.numbers([1, 2, 3], "i8")),
        "struct": forge.structs(
            {"x": forge.numbers([1, 2, 3, None], "i8"), "y": forge.strings(["p", "q", "r", "s"])},
            [True, False, True, True],
        ),
        "fixed": forge.fixed_lists(2, forge.numbers(list(range(8)), "i2", ffor.encode), [True, True, False, True]),
        "sparse": forge.unions(
            [0, 1, 1, 0], [("a", forge.numbers([1, 2, 3, 4], "i4")), ("b", forge.strings(["x", "y", "z", "w"]))]
        ),
        "dense": forge.unions(
            [0, 1, 1, 0],
            [("a", forge.numbers([1, 2], "i4")), ("b", forge.strings(["x", "y"]))],
            places=[0, 0, 1, 1],
        ),
        "unit": forge.units(4),
        "deep": forge.lists([1, 1, 0, 1], forge.lists([2, 0, 1], forge.numbers([7, 8, 9], "u1"))),
    }
    return forge.Forge.of(columns, name="nested.amudai.shard")


def _two_level() -> forge.Forge:
    stripes = [
        {"n": forge.numbers(list(range(at, at + 9)), "i8", ffor.encode), "s": forge.strings([f"text {at}"] * 9)}
        for at in (0, 9)
    ]
    return forge.Forge.of(*stripes, layout="two-level", name="two-level.amudai.shard")


def _nanoseconds() -> forge.Forge:
    stripes = [
        {
            "t": forge.datetimes([638355968001234567, None, 638355968001234568]),
            "t:nanoseconds": replace(forge.numbers(rests, "u1"), internal=NANOSECONDS),
        }
        for rests in ([89, 0, 1], [5, 5, 5])
    ]
    return forge.Forge.of(*stripes, name="nanoseconds.amudai.shard")


def _deleted() -> forge.Forge:
    """Deleted rows in one stripe, and none in the other."""

    def mark(message: Any) -> None:
        message.deleted_record_count = 2

    markers = [forge.booleans([False, True, None, True, False, False]), forge.missing(forge.booleans([True]))]
    stripes = [
        {"n": forge.numbers(list(range(at, at + 6)), "i8"), "": replace(each, internal=DELETED_RECORD)}
        for at, each in zip((0, 6), markers, strict=True)
    ]
    made = forge.Forge.of(*stripes, name="deleted.amudai.shard", edits={"ShardDirectory": mark})
    made.stripes[0].edit = mark
    return made


def _forms() -> forge.Forge:
    """Ways to store values that are rare."""
    texts = [b"alpha", None, b"", "ä".encode(), b"beta", b"gamma"]
    columns = {
        "separate": forge.separate(texts, text=True, block_bytes=7, block_values=4),
        "numbers": forge.number_dictionary([5, -5, None, 5, 7, 7], "i8"),
        "floats": forge.number_dictionary([0.5, -0.0, 0.0, float("nan"), 0.5, None], "f8"),
        "elsewhere": forge.referred(forge.constants(forge.strings([]), 6, "elsewhere")),
        "at": forge.constants(forge.datetimes([]), 6, forge.any_value(638355968001234500, "datetime")),
    }
    return forge.Forge.of(columns, name="forms.amudai.shard")


def _forged() -> list[Specimen]:
    made = [
        ("flat", _flat(), 7),
        ("nested", _nested(), 7),
        ("two-level", _two_level(), 1),
        ("nanoseconds", _nanoseconds(), 1),
        ("deleted", _deleted(), 1),
        ("forms", _forms(), 3),
    ]
    return [Specimen(name, each.name, each.files(), stride) for name, each, stride in made]


# Golden shards: the folder, its root file where the manifest does not say, and the stride.
_GOLDEN = [
    ("forced-decimal-dictionary", "x", 1),
    ("rows-2", "rows-2", 1),
    ("types-empty", "types-empty", 1),
    ("constants-stripes", "constants-stripes", 5),
    ("rows-255", "rows-255", 5),
    ("nested-null-lists", "nested-null-lists", 9),
    ("properties", "properties", 9),
    ("forced-almost-all-null", "x", 9),
    ("hash-index", "part0", 9),
    ("types-one-row", "types-one-row", 21),
    ("constants", "constants", 29),
    ("term-index-trivial", "positions", 35),
    ("stripes-two-level", "stripes-two-level", 259),
]


def _golden() -> list[Specimen]:
    found = []
    for folder, root, stride in _GOLDEN:
        path = golden.GOLDEN / folder / f"{root}.amudai.shard"
        if path.is_file():
            content = path.read_bytes()
            beside = {other.name: other.read_bytes() for other in path.parent.glob("*.amudai.stripe")}
            # Of the stripes in the folder only those that the root file names are its own.
            used = {name: other for name, other in beside.items() if name.encode() in content}
            found.append(Specimen(folder, path.name, {path.name: content, **used}, stride))
    return found


FORGED = _forged()
SPECIMENS = [*FORGED, Specimen("sample", SAMPLE.name, {SAMPLE.name: SAMPLE.read_bytes()}, 29), *_golden()]
