"""Registry of the measured systems: every module here lists its classes in SYSTEMS."""

import importlib
import pkgutil


def modules():
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name != "base")


def find(name: str):
    """Class of the system called `name`; imports only modules until it is found."""
    for cls in every():
        if cls.name == name:
            return cls
    raise KeyError(name)


def every():
    out = []
    for m in modules():
        try:
            out += importlib.import_module(f"{__name__}.{m}").SYSTEMS
        except ImportError as e:  # a peer that is not installed is left out, not fatal
            print(f"# {m}: not available ({e})")
    return out
