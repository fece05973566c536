"""The kernels that fit this processor.

The native module is built once for every processor of its kind and, on x86-64, once more for processors with AVX2 and
its companions (the level `x86-64-v3`). This module is the better of those that run here, and only that one is loaded.
`_kernels.pyi` describes both. `AMUDAI_KERNELS=base` asks for the first, `AMUDAI_KERNELS_DIR` for the one in another
build folder: `tools/sanitize.sh` and `make fuzz` test kernels that are never installed.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from types import ModuleType


def _runs_v3() -> bool:
    if os.environ.get("AMUDAI_KERNELS") == "base":
        return False
    try:
        from amudai._processor import runs_v3
    except ModuleNotFoundError:
        return False  # built only where there is a choice: on x86-64
    return runs_v3()


def _load() -> ModuleType:
    folder = os.environ.get("AMUDAI_KERNELS_DIR")
    if folder:
        return _load_from(folder)
    return import_module("amudai._kernels_v3" if _runs_v3() else "amudai._kernels_base")


def _load_from(folder: str) -> ModuleType:
    level = os.environ.get("AMUDAI_KERNELS", "base")
    spec = PathFinder.find_spec(f"amudai._kernels_{level}", [folder])
    if spec is None or spec.loader is None:
        raise ImportError(f"AMUDAI_KERNELS_DIR: expected a folder with _kernels_{level}, found {folder}")
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_native = _load()
globals().update({name: value for name, value in vars(_native).items() if not name.startswith("__")})
