"""When is a dictionary that blocks share worth its bytes?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from amudai.encoding import PROFILES, BytesBlock
from amudai.encoding.binary.choice import BytesChoice, choose_bytes
from amudai.encoding.binary.shared_choice import SharedChoice, choose_shared

PROFILE = replace(PROFILES["high_compression"], extended=True)


def block(values: list[bytes]) -> BytesBlock:
    offsets = np.cumsum([0, *map(len, values)], dtype=np.int64)
    return BytesBlock(offsets, np.frombuffer(b"".join(values), np.uint8), len(values), None)


def chosen(values: list[bytes], final: bool = True) -> tuple[BytesChoice, SharedChoice | None]:
    staged = block(values)
    usual = choose_bytes(block(values[:250]), PROFILE)
    return usual, choose_shared(staged, final, [usual], PROFILE)


def paragraphs(count: int, distinct: int) -> list[bytes]:
    rng = np.random.default_rng(5)
    known = [rng.bytes(250).hex().encode() for _ in range(distinct)]
    return [b"%s number %d" % (known[rng.integers(distinct)], at) for at in range(count)]


def test_text_that_blocks_have_in_common_gets_one() -> None:
    usual, found = chosen(paragraphs(1500, 30))
    assert found is not None
    assert found.choice.encoding.needs_dictionary
    assert found.choice.bytes_per_slot < usual.bytes_per_slot / 2
    assert len(found.encoder.content) < 1500 * (usual.bytes_per_slot - found.choice.bytes_per_slot)


@pytest.mark.parametrize("kind", ["noise", "little text", "a short rest"])
def test_other_text_gets_none(kind: str) -> None:
    rng = np.random.default_rng(6)
    values = {
        "noise": lambda: [rng.bytes(200) for _ in range(3000)],
        "little text": lambda: paragraphs(60, 30),
        "a short rest": lambda: [rng.bytes(32).hex().encode() for _ in range(4 * 2048 + 1)],
    }[kind]()
    assert chosen(values)[1] is None


def test_a_dictionary_that_is_barely_worth_it_counts_on_more_text() -> None:
    """What a column has at its end is all there is; before that, as much again is expected."""
    found = {
        final: [chosen(paragraphs(count, 30), final)[1] for count in range(500, 1500, 100)] for final in (True, False)
    }
    wanted = {final: [each is not None for each in some] for final, some in found.items()}
    assert all(later or not now for now, later in zip(wanted[True], wanted[False], strict=True))
