"""A short campaign, in each run of the tests: the same rows, or an error of ours."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.damage.campaign import FAILURES, OUTCOMES, SEED, Campaign, run, table
from tests.effort import scaled

pytestmark = pytest.mark.slow

PARTS = 8


@pytest.fixture(scope="module")
def campaign() -> Campaign:
    return Campaign(SEED)


@pytest.mark.parametrize("part", range(PARTS))
def test_damage_by_chance(campaign: Campaign, part: int) -> None:
    first = campaign.flips + part * 100_000
    found = [campaign.outcome(first + number) for number in range(scaled(1200) // PARTS)]
    assert [each for each in found if each.outcome in FAILURES] == []


def test_every_byte_of_small_shards(campaign: Campaign) -> None:
    stride = max(1, campaign.flips // scaled(800))
    found = [campaign.outcome(number) for number in range(0, campaign.flips, stride)]
    assert [each for each in found if each.outcome in FAILURES] == []
    assert any(each.outcome == "error" for each in found)


def test_the_same_seed_gives_the_same_damage(campaign: Campaign) -> None:
    again = Campaign(SEED)
    for number in range(campaign.flips, campaign.flips + 40):
        damage = campaign.damage(number)
        assert damage.files == again.damage(number).files
        assert damage.files != damage.subject.files


def test_a_wrong_answer_is_noticed(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = range(campaign.flips, campaign.flips + 500)
    number = next(each for each in numbers if campaign.outcome(each).outcome in ("verify", "unnoticed"))
    monkeypatch.setitem(campaign.damage(number).subject.answers, "read", "other rows")
    found = campaign.outcome(number)
    assert (found.outcome, found.detail[-4:]) == ("wrong", "read")


def test_worker_processes_and_the_table() -> None:
    found = list(run(SEED, range(3, 9), workers=1))
    assert sorted(each.number for each in found) == [3, 4, 5, 6, 7, 8]
    shown = table(Counter((each.kind, each.outcome) for each in found))
    assert shown.splitlines()[0] == f"| damage | number | {' | '.join(OUTCOMES)} |"
    assert "| all | 6 |" in shown
