"""Whatever happens to the bytes of a shard: the same result, or an error that says which file is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

import amudai
from amudai.errors import AmudaiError, CorruptedData, StorageError, UnsupportedFeature
from tests import effort
from tests.damage.specimens import SPECIMENS, Specimen, same

pytestmark = pytest.mark.slow

EACH = pytest.mark.parametrize("specimen", SPECIMENS, ids=str)

Damage = tuple[str, str, bytes]
"""What was done, to which file, and what it holds now."""


def test_there_are_golden_shards() -> None:
    assert len(SPECIMENS) > 10


@EACH
def test_flipped_bits(specimen: Specimen) -> None:
    _check(specimen, _flips(specimen, specimen.stride))


@EACH
def test_cut_short(specimen: Specimen) -> None:
    _check(specimen, _cuts(specimen))


@EACH
def test_moved_pieces(specimen: Specimen) -> None:
    _check(specimen, _moves(specimen, Random(specimen.name), effort.scaled(60) // len(specimen.files) + 1))


@EACH
def test_without_checksums_nothing_else_than_our_errors(specimen: Specimen) -> None:
    # Values may be wrong now; what checks sizes and references has to do without the checksum's help.
    for what, name, content in _flips(specimen, 11 * specimen.stride):
        found = _outcome(specimen.damaged(name, content), verify=False)
        if isinstance(found, StorageError):
            assert "url " in str(found), what  # a damaged URL means another file
        elif isinstance(found, AmudaiError):
            assert _is_named(specimen, str(found)), f"{what}: the error names no file: {found}"
        else:
            found[0].validate(full=True)


@EACH
def test_verify_reports_instead_of_raising(specimen: Specimen) -> None:
    for what, name, content in _flips(specimen, 61 * specimen.stride):
        damaged = specimen.damaged(name, content)
        try:
            shard = damaged.open()
        except AmudaiError:
            continue
        report = shard.verify()
        unnamed = [problem.message for problem in report.problems if not _is_named(specimen, problem.message)]
        assert not unnamed, f"{what}: {unnamed[0]}"
        found = _outcome(damaged)
        assert not (report.ok and isinstance(found, AmudaiError)), f"{what}: only reading found {found}"


Outcome = tuple[pa.Table, str] | AmudaiError


def _outcome(specimen: Specimen, *, verify: bool = True) -> Outcome:
    """Everything that can be read, or the error; any other error is a failure."""
    try:
        return specimen.everything(verify=verify)
    except AmudaiError as error:
        return error


def _check(specimen: Specimen, damages: Iterator[Damage]) -> None:
    expected = specimen.everything()
    for what, name, content in damages:
        found = _outcome(specimen.damaged(name, content))
        if not isinstance(found, AmudaiError):
            assert same(found, expected), what
        else:
            assert isinstance(found, CorruptedData | UnsupportedFeature | StorageError), f"{what}: {found!r}"
            assert name in str(found), f"{what}: the error does not name {name}: {found}"


def _is_named(specimen: Specimen, message: str) -> bool:
    return any(name in message for name in specimen.files)


def _flips(specimen: Specimen, stride: int) -> Iterator[Damage]:
    for name, content in specimen.files.items():
        for at in range(0, len(content), effort.spaced(stride)):
            yield f"{name}, byte {at}", name, _flipped(content, at)


def _flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :]


def _cuts(specimen: Specimen) -> Iterator[Damage]:
    """Lengths of the root file, every one at full effort, and fewer of other files, whose end is missed only later."""
    for name, content in specimen.files.items():
        stride = effort.spaced(1 if name == specimen.root else specimen.stride)
        for size in range(0, len(content), stride):
            yield f"{name}, the first {size} bytes", name, content[:size]


def _moves(specimen: Specimen, random: Random, count: int) -> Iterator[Damage]:
    """Pieces that swap their places, vanish, appear, are zeroed or repeated."""
    for name, content in specimen.files.items():
        for _ in range(count):
            a, b, c, d = sorted(random.randrange(len(content) + 1) for _ in range(4))
            # Short pieces too: a word, a frame.
            if random.random() < 0.5:
                b, d = min(b, a + random.choice([1, 4, 8, 64])), min(d, c + random.choice([1, 4, 8, 64]))
            yield f"{name}, swapped", name, content[:a] + content[c:d] + content[b:c] + content[a:b] + content[d:]
            yield f"{name}, {a}..{b} removed", name, content[:a] + content[b:]
            yield f"{name}, {a}..{b} repeated", name, content[:b] + content[a:]
            yield f"{name}, {a}..{b} zeroed", name, content[:a] + bytes(b - a) + content[b:]
            inserted = random.randbytes(random.choice([1, 2, 8, 100]))
            yield f"{name}, {len(inserted)} bytes inserted at {a}", name, content[:a] + inserted + content[a:]
            noise = random.randbytes(min(b - a, 40))
            yield f"{name}, noise at {a}", name, content[:a] + noise + content[a + len(noise) :]


def test_writing_what_is_read_from_a_damaged_shard(tmp_path: Path) -> None:
    """The error is that of reading, not one of the stream between reader and writer."""
    sound = amudai.write({"n": range(1000)}, tmp_path / "sound.amudai.shard")
    content = bytearray((tmp_path / "sound.amudai.shard").read_bytes())
    content[100] ^= 4
    (tmp_path / "damaged.amudai.shard").write_bytes(content)
    sound.close()
    damaged = amudai.open(tmp_path / "damaged.amudai.shard")
    for data in (damaged, damaged.scan(where="n > 5"), damaged.scan().tasks(1)[0]):
        with pytest.raises(amudai.CorruptedData, match="block checksum"):
            amudai.write(data, tmp_path / "new.amudai.shard")
    assert not (tmp_path / "new.amudai.shard").exists()
