"""Fuzz one target in this process: `python -m tests.fuzz.one TARGET [libFuzzer options] [folders]`."""

from __future__ import annotations

import gc
import sys
from types import FunctionType

from tests.fuzz.targets import TARGETS


def main() -> None:
    """Fuzz until libFuzzer ends the process."""
    import atheris  # only `make fuzz` installs it

    target = TARGETS[sys.argv[1]]
    for seed in target.seeds():
        target(seed)  # imports what the package imports late
    # Atheris instruments modules as they are imported, but not those of an editable installation.
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and (each.__module__ or "").startswith("amudai."):
            atheris.instrument_func(each)
    # To merge, libFuzzer starts this command again, by way of a shell.
    again = f"{sys.executable} -m tests.fuzz.one {sys.argv[1]}"
    atheris.Setup([again, *sys.argv[2:]], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
