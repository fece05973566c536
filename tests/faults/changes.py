"""Something happens at the n-th call that changes local files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

# What changes files. Reading may fail as well, which the tests of stores show.
CALLS = ("open", "write", "writev", "pwrite", "fsync", "replace", "rename", "link", "ftruncate", "truncate", "unlink")


class Changes:
    """Counts calls, and does something before or after one of them."""

    def __init__(self, at: int, happen: Callable[[str], None], *, is_after: bool = False) -> None:
        self.calls = 0
        self._at = at
        self._happen = happen
        self._is_after = is_after

    def wrap(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            if name == "open" and not arguments[1] & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
                return call(*arguments, **options)
            self.calls += 1
            is_due = self.calls == self._at
            if is_due and not self._is_after:
                self._happen(name)
            found = call(*arguments, **options)
            if is_due and self._is_after:
                self._happen(name)
            return found

        return wrapped


@contextmanager
def watched(changes: Changes) -> Iterator[Changes]:
    """Count the changes of files inside the `with` block."""
    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            if hasattr(os, name):
                patch.setattr(os, name, changes.wrap(name, getattr(os, name)))
        yield changes
