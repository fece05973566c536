"""How is a value made quickly that never changes?"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, TypeVar

__all__ = ["quick_init"]

T = TypeVar("T")


def quick_init(cls: type[T]) -> type[T]:
    """Give a frozen dataclass with slots an `__init__` that takes about half the time.

    The one that `dataclass` writes looks up `object.__setattr__` for every attribute, and calls it with the name of the
    attribute. This one calls the slots. It is for values of which every question makes some.

    >>> from dataclasses import dataclass
    >>> @quick_init
    ... @dataclass(frozen=True, slots=True)
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(3)
    Point(x=3, y=0)
    >>> Point(3).x = 4
    Traceback (most recent call last):
    dataclasses.FrozenInstanceError: cannot assign to field 'x'
    """
    known: dict[str, Any] = {}
    positional: list[str] = ["self"]
    named: list[str] = []
    body: list[str] = []
    for each in fields(cls):  # type: ignore[arg-type]  # a dataclass, which no annotation of a decorator can say
        if not each.init or each.default_factory is not MISSING:
            raise TypeError(f"{cls.__name__}.{each.name}: expected a field without a factory, which a caller may give")
        known[f"_set_{each.name}"] = getattr(cls, each.name).__set__
        known[f"_default_{each.name}"] = each.default
        stated = each.name if each.default is MISSING else f"{each.name}=_default_{each.name}"
        (named if each.kw_only else positional).append(stated)
        body.append(f"    _set_{each.name}(self, {each.name})")
    if hasattr(cls, "__post_init__"):
        body.append("    self.__post_init__()")
    arguments = ", ".join([*positional, "*", *named] if named else positional)
    exec("\n".join([f"def __init__({arguments}):", *body]), known)
    made, replaced = known["__init__"], cls.__dict__["__init__"]
    made.__qualname__, made.__module__, made.__annotations__ = (
        replaced.__qualname__,
        replaced.__module__,
        replaced.__annotations__,
    )
    cls.__init__ = made  # type: ignore[method-assign]
    return cls
