"""Which attributes are computed once, at their first use?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Generic, Self, TypeVar, overload

__all__ = ["lazy", "lazy_names"]

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801 - reads as a decorator: @lazy
    """An attribute that a method computes at its first use.

    Works like `functools.cached_property` of Python 3.12, without the lock that older versions share between all
    instances. Two threads may compute the value at the same time; either result is kept.

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
        # From now on Python finds the value in the instance and does not call `__get__` again.
        found = instance.__dict__[self._name] = self._make(instance)
        return found


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of a package that imports a module when one of its names is first used.

    A package that offers names would otherwise import all of its modules for each of them. Type checkers do not follow
    this function: the package imports the same names once more under `TYPE_CHECKING`.

    Parameters
    ----------
    package
        The full name of the package: `__name__`.
    homes
        The full names of modules, each with the names that it defines, separated by spaces. The package itself may
        stand among them, with names of modules that it offers as a whole.

    Examples
    --------
    >>> find, names = lazy_names("amudai.types", {"amudai.types.path": "parse_path quote_name"})
    >>> find("quote_name").__module__
    'amudai.types.path'
    >>> find("quote_nmae")
    Traceback (most recent call last):
    AttributeError: module 'amudai.types' has no attribute 'quote_nmae'
    """
    module = sys.modules[package]
    home_of = {name: home for home, names in homes.items() for name in names.split()}

    def find(name: str) -> object:
        home = home_of.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=module)
        found = import_module(f"{package}.{name}") if home == package else getattr(import_module(home), name)
        setattr(module, name, found)  # from now on it is found there, and nobody comes here again
        return found

    def names() -> list[str]:
        return sorted([*home_of, *(name for name in vars(module) if name.startswith("__"))])

    return find, names
