"""The modules of kernels that are built and run here: one for each level of the instruction set."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Final

import pytest

from amudai import _kernels

__all__ = ["KERNELS", "with_each_kernel"]


def _modules() -> list[ModuleType]:
    levels = ["base", "v3"] if _kernels._runs_v3() else ["base"]  # type: ignore[attr-defined]
    names = [f"amudai._kernels_{level}" for level in levels]
    return [import_module(name) for name in names if find_spec(name)]


KERNELS: Final = _modules()
with_each_kernel: Final = pytest.mark.parametrize(
    "kernel", KERNELS, ids=lambda module: module.__name__.rpartition("_")[2]
)
