"""What `make fuzz` fuzzes, with the inputs that are kept: errors of ours, and nothing else."""

from __future__ import annotations

from random import Random

import pytest

from amudai.errors import AmudaiError
from tests import effort
from tests.damage.blocks import bounded
from tests.fuzz.corpus import content_of
from tests.fuzz.targets import TARGETS

pytestmark = [pytest.mark.native, pytest.mark.slow]


@pytest.mark.parametrize("name", TARGETS)
def test_kept_inputs(name: str) -> None:
    target = TARGETS[name]
    for data in content_of(name):
        with bounded():
            target(data)


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_are_sound_and_changes_of_them_are_read_or_refused(name: str) -> None:
    target, random = TARGETS[name], Random(3)
    sound = 0
    for seed in target.seeds():
        try:
            target.run(seed)
            sound += 1
        except AmudaiError:
            pass
        for _ in range(effort.scaled(3)):
            at = random.randrange(len(seed))
            with bounded():
                target(seed[:at] + random.randbytes(random.randrange(4)) + seed[at + random.randrange(3) :])
    assert sound > 1
