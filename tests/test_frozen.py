"""`quick_init` makes an `__init__` that takes what that of the dataclass took."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from amudai.format import AnyValue, DataRef, ShardDirectory
from amudai.frozen import quick_init
from amudai.plan import ScanRequest


@dataclass(frozen=True, slots=True)
class Plain:
    first: int
    second: str = "two"
    third: tuple[int, ...] = field(default=(3,), kw_only=True)

    def __post_init__(self) -> None:
        if self.first < 0:
            raise ValueError("negative")


@quick_init
@dataclass(frozen=True, slots=True)
class Quick:
    first: int
    second: str = "two"
    third: tuple[int, ...] = field(default=(3,), kw_only=True)

    def __post_init__(self) -> None:
        if self.first < 0:
            raise ValueError("negative")


def test_both_take_the_same_arguments() -> None:
    found, expected = inspect.signature(Quick), inspect.signature(Plain)
    assert [*found.parameters.values()] == [*expected.parameters.values()]
    for arguments, named in (((1,), {}), ((1, "b"), {}), ((), {"first": 1, "third": (4,)}), ((1,), {"second": "c"})):
        quick, plain = Quick(*arguments, **named), Plain(*arguments, **named)  # type: ignore[arg-type]
        assert (quick.first, quick.second, quick.third) == (plain.first, plain.second, plain.third)
    for arguments, named in (((), {}), ((1, "b", (5,)), {}), ((1,), {"fourth": 4})):
        with pytest.raises(TypeError, match=r"Quick\.__init__\(\)|__init__\(\)"):
            Quick(*arguments, **named)  # type: ignore[arg-type]


def test_values_are_frozen_and_checked() -> None:
    found = Quick(1)
    with pytest.raises(FrozenInstanceError):
        found.first = 2  # type: ignore[misc]
    with pytest.raises(ValueError, match="negative"):
        Quick(-1)
    with pytest.raises(ValueError, match="negative"):
        replace(found, first=-1)
    assert replace(found, first=2) == Quick(2) != found
    assert pickle.loads(pickle.dumps(found)) == found
    assert hash(found) == hash(Quick(1))


@pytest.mark.parametrize("kind", [DataRef, AnyValue, ShardDirectory, ScanRequest])
def test_values_of_every_question_use_it(kind: type) -> None:
    assert kind.__init__.__code__.co_filename == "<string>"
    assert "__dataclass_builtins_object__" not in kind.__init__.__code__.co_freevars
    assert kind.__init__.__module__ == kind.__module__


def test_fields_that_it_cannot_set_are_refused() -> None:
    with pytest.raises(TypeError, match="expected a field without a factory"):

        @quick_init
        @dataclass(frozen=True, slots=True)
        class Listed:
            items: list[int] = field(default_factory=list)
