#!/usr/bin/env bash
# The kernels under AddressSanitizer and UndefinedBehaviorSanitizer, with the tests that feed them blocks.
# Arguments go to pytest: `tools/sanitize.sh tests/damage/test_kernels.py -k lz4`.
set -euo pipefail
cd "$(dirname "$0")/.."

python=$PWD/.venv/bin/python
cxx=${CXX:-g++}
build=build/sanitize
PATH="$PWD/.venv/bin:$PATH" # cmake and ninja of the environment, where it has them

cmake -S . -B "$build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_COMPILER="$cxx" \
  -DAMUDAI_SANITIZE=ON -DPython_EXECUTABLE="$python"
cmake --build "$build"

tests=("$@")
if [ ${#tests[@]} -eq 0 ]; then
  for path in tests/encoding tests/damage/test_kernels.py; do
    [ -e "$path" ] && tests+=("$path")
  done
fi

# Memory comes from malloc everywhere, so that every array ends where its red zone begins. An allocation that cannot be
# had returns null, as it does without sanitizers.
export LD_PRELOAD="$("$cxx" -print-file-name=libasan.so) $("$cxx" -print-file-name=libubsan.so)"
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:abort_on_error=0
export UBSAN_OPTIONS=print_stacktrace=1
export PYTHONMALLOC=malloc ARROW_DEFAULT_MEMORY_POOL=system
export AMUDAI_KERNELS=base AMUDAI_KERNELS_DIR="$PWD/$build" AMUDAI_TEST_EFFORT="${AMUDAI_TEST_EFFORT:-0.25}"
exec "$python" -m pytest -x "${tests[@]}"
