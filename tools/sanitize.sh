#!/usr/bin/env bash
# The kernels under AddressSanitizer and UndefinedBehaviorSanitizer, with the tests that are marked `native`.
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

# Memory comes from malloc everywhere, so that arrays end where their red zones begin; an allocation that cannot be had
# returns null, as it does elsewhere. Reports go to stderr itself, which pytest would otherwise keep and lose.
sanitized() {
  LD_PRELOAD="$("$cxx" -print-file-name=libasan.so) $("$cxx" -print-file-name=libubsan.so)" \
    ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=16 UBSAN_OPTIONS=print_stacktrace=1 \
    PYTHONMALLOC=malloc ARROW_DEFAULT_MEMORY_POOL=system \
    AMUDAI_KERNELS=base AMUDAI_KERNELS_DIR="$PWD/$build" \
    AMUDAI_TEST_EFFORT="${AMUDAI_TEST_EFFORT:-quick}" AMUDAI_TEST_CASES="${AMUDAI_TEST_CASES:-4}" \
    "$python" -m pytest -x --capture=sys "$@"
}

if [ $# -gt 0 ]; then
  sanitized "$@"
else
  # Only these files are imported: sanitizers slow down everything, and know nothing of other native modules.
  mapfile -d '' files < <(grep -rlZ --include='test_*.py' 'pytest\.mark\.native' tests | sort -z)
  sanitized -n auto --dist worksteal -m native "${files[@]}"
fi
