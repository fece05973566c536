"""The property that says how far growing files were read: what nobody wrote is an error of ours."""

from __future__ import annotations

import json

import pytest

from amudai.errors import CorruptedData
from amudai.format import FOLLOWED_PROPERTY, AnyValue, FollowedFile, ShardProperties, followed_of, followed_property

SOUND = {"file": "a.log", "mark": "0f", "size": 5, "lines": 1}


def noted(text: str) -> ShardProperties:
    return ShardProperties(custom=((FOLLOWED_PROPERTY, AnyValue("string", text)),))


def test_files_come_back() -> None:
    files = (FollowedFile("a.log", "0f", 5, 1), FollowedFile("b.log", "1e", 0, 0))
    assert followed_of(ShardProperties(custom=followed_property(files))) == files
    assert followed_of(ShardProperties()) == ()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "{",
        "[5]",
        "[{}]",
        "[" * 100_000,
        "1" * 5000,
        *(json.dumps([SOUND | changed]) for changed in ({"size": -1}, {"lines": 1.5}, {"size": True}, {"file": None})),
        *(json.dumps([SOUND | changed]) for changed in ({"mark": 7}, {"more": 1}, {"size": "5"}, {"file": ["a"]})),
    ],
    ids=lambda text: text[:60],
)
def test_hostile_notes(text: str) -> None:
    with pytest.raises(CorruptedData, match=FOLLOWED_PROPERTY):
        followed_of(noted(text))
