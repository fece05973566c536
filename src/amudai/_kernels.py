"""Which kernels fit this processor?

The native module is built once for every x86-64 processor and once for those with AVX2 and its companions (the level
`x86-64-v3`); the better one that runs here is this module. `_kernels.pyi` describes both.
"""

from __future__ import annotations

import os
from importlib import import_module
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
    if _runs_v3():
        try:
            return import_module("amudai._kernels_v3")
        except ModuleNotFoundError:
            pass  # not built for this kind of machine
    return import_module("amudai._kernels_base")


_native = _load()
globals().update({name: value for name, value in vars(_native).items() if not name.startswith("__")})
