#!/usr/bin/env bash
# The kernels under ThreadSanitizer: many threads ask one shard, and read, search and write at once.
# Arguments go to pytest in place of those tests.
set -euo pipefail
cd "$(dirname "$0")/.."

python=$PWD/.venv/bin/python
cxx=${CXX:-g++}
build=build/tsan
PATH="$PWD/.venv/bin:$PATH" # cmake and ninja of the environment, where it has them

mkdir -p "$build"
cmake -S . -B "$build" -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_COMPILER="$cxx" \
  -DAMUDAI_TSAN=ON -DAMUDAI_BASE_ONLY=ON -DPython_EXECUTABLE="$python" >"$build/cmake.log"
cmake --build "$build"

# Threads and locks of Python and Arrow are seen, their memory accesses are not: the sanitizer intercepts calls of the
# system everywhere, and instruments the kernels alone. A report that names the kernels fails.
rm -f "$build"/report.*
[ $# -gt 0 ] || set -- tests/concurrency/test_one_shard.py tests/writing/test_threads.py
status=0
LD_PRELOAD="$("$cxx" -print-file-name=libtsan.so)" \
  TSAN_OPTIONS="exitcode=0:die_after_fork=0:log_path=$PWD/$build/report" \
  ARROW_DEFAULT_MEMORY_POOL=system AMUDAI_KERNELS=base AMUDAI_KERNELS_DIR="$PWD/$build" \
  AMUDAI_TEST_EFFORT="${AMUDAI_TEST_EFFORT:-quick}" \
  "$python" -m pytest -n 0 "$@" || status=$?
reports=$(grep -l _kernels_base "$build"/report.* 2>/dev/null || true)
if [ -n "$reports" ]; then
  echo "Data races in the kernels:" $reports
  exit 1
fi
exit "$status"
