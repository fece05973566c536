"""The properties of extension types as Python values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from amudai.arguments import mapping
from amudai.errors import CorruptedData
from amudai.format.property_values import AnyValue, any_value, python_value
from amudai.types import ExtensionProperty

__all__ = ["extension_properties", "extension_values"]

# Kinds of property values.
_NULL: Final = 0
_STRING: Final = 1
_JSON: Final = 2
_ANY_VALUE: Final = 3


def extension_properties(values: Mapping[str, object]) -> tuple[ExtensionProperty, ...]:
    """Python values as properties of an extension type, in the same order. `extension_values` is the inverse.

    >>> extension_properties({"model": "small"})
    (ExtensionProperty(name='model', kind=1, data=b'small'),)
    """
    found = []
    for name, value in mapping(values, "properties of an extension type").items():
        if value is None:
            found.append(ExtensionProperty(name, _NULL, b""))
        elif isinstance(value, str):
            found.append(ExtensionProperty(name, _STRING, value.encode()))
        else:
            found.append(ExtensionProperty(name, _ANY_VALUE, any_value(value).encode()))
    return tuple(found)


def extension_values(properties: Iterable[ExtensionProperty]) -> dict[str, object]:
    """The properties of an extension type as Python values. A kind of a later version is given as its bytes."""
    return {each.name: _value(each) for each in properties}


def _value(stored: ExtensionProperty) -> object:
    try:
        match stored.kind:
            case 0:
                return None
            case 1:
                return stored.data.decode()
            case 2:
                return json.loads(stored.data)
            case 3:
                return python_value(AnyValue.decode(stored.data))
    except (ValueError, RecursionError) as error:
        raise CorruptedData(
            f"property {stored.name!r} of an extension type: expected a value of kind {stored.kind}, found {error}"
        ) from error
    return stored.data
