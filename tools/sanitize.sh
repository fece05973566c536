#!/usr/bin/env bash
# The kernels under AddressSanitizer and UndefinedBehaviorSanitizer, with the tests that feed them blocks.
# Arguments go to pytest in place of those tests: `tools/sanitize.sh tests/damage/test_kernels.py -k lz4`.
set -euo pipefail
cd "$(dirname "$0")/.."

python=$PWD/.venv/bin/python
cxx=${CXX:-g++}
build=build/sanitize
PATH="$PWD/.venv/bin:$PATH" # cmake and ninja of the environment, where it has them

mkdir -p "$build"
cmake -S . -B "$build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_COMPILER="$cxx" \
  -DAMUDAI_SANITIZE=ON -DPython_EXECUTABLE="$python" >"$build/cmake.log"
cmake --build "$build"

export python cxx build
sanitized() {
  # Memory comes from malloc everywhere, so that arrays end where their red zones begin; an allocation that cannot be
  # had returns null, as it does elsewhere. Reports go to stderr itself, which pytest would otherwise keep and lose.
  LD_PRELOAD="$("$cxx" -print-file-name=libasan.so) $("$cxx" -print-file-name=libubsan.so)" \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=16 UBSAN_OPTIONS=print_stacktrace=1 \
    PYTHONMALLOC=malloc ARROW_DEFAULT_MEMORY_POOL=system \
    AMUDAI_KERNELS=base AMUDAI_KERNELS_DIR="$PWD/$build" AMUDAI_TEST_EFFORT="${AMUDAI_TEST_EFFORT:-0.25}" \
    "$python" -m pytest -x --capture=sys "$@"
}
reported() {
  local log=$build/${1//\//.}.log
  if sanitized "$1" >"$log" 2>&1; then echo "$1: $(tail -n 1 "$log")"; else cat "$log" && return 1; fi
}
export -f sanitized reported

if [ $# -gt 0 ]; then
  sanitized "$@"
else
  # A process for each file, as many as there are cores.
  printf '%s\0' tests/encoding/test_*.py tests/format/test_block_map.py tests/damage/test_kernels.py \
    tests/scan/predicate/test_kernel.py tests/index/hash/test_reader.py \
    tests/index/term/test_{coarse,kernels,tokenizers}.py |
    xargs -0 -P "$(nproc)" -I{} bash -c 'reported "$1"' _ {}
fi
