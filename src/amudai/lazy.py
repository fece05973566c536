"""What is worked out once, when it is first asked for?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

__all__ = ["lazy"]

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801 - reads as a decorator: @lazy
    """An attribute that a method works out at the first use.

    As `functools.cached_property` has been since Python 3.12: without the lock that older versions share between all
    instances. Two threads may work it out at the same time; either result will do.

    >>> class Circle:
    ...     def __init__(self, radius: float) -> None:
    ...         self.radius = radius
    ...
    ...     @lazy
    ...     def area(self) -> float:
    ...         return 3.14 * self.radius**2
    >>> Circle(2).area
    12.56
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        if instance is None:
            return self
        # From now on it is found there, and nobody comes here again.
        found = instance.__dict__[self._name] = self._make(instance)
        return found
