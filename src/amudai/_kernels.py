"""Which kernels fit this processor?

The native module is built once for every x86-64 processor and once for those with AVX2 and its companions (the level
`x86-64-v3`); the better one that runs here is this module. `_kernels.pyi` describes both. `AMUDAI_KERNELS=base` asks
for the first, `AMUDAI_KERNELS_DIR` for the one in another build folder: so `tools/sanitize.sh` tests kernels that are
never installed.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType

_V3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}


def _runs_v3() -> bool:
    if os.environ.get("AMUDAI_KERNELS") == "base":
        return False
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return False
    flags = next((line for line in lines if line.startswith("flags")), "")
    return set(flags.split()) >= _V3


def _load() -> ModuleType:
    folder = os.environ.get("AMUDAI_KERNELS_DIR")
    if folder:
        return _load_from(folder)
    if _runs_v3():
        try:
            return import_module("amudai._kernels_v3")
        except ModuleNotFoundError:
            pass  # not built for this kind of machine
    return import_module("amudai._kernels_base")


def _load_from(folder: str) -> ModuleType:
    spec = PathFinder.find_spec("amudai._kernels_base", [folder])
    if spec is None or spec.loader is None:
        raise ImportError(f"AMUDAI_KERNELS_DIR: expected a folder with _kernels_base, found {folder}")
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_native = _load()
globals().update({name: value for name, value in vars(_native).items() if not name.startswith("__")})
