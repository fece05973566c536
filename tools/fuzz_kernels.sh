#!/usr/bin/env bash
# The kernels for `make fuzz`, in build/fuzz: with coverage for libFuzzer, AddressSanitizer and
# UndefinedBehaviorSanitizer. They need Clang. Without one, nothing is built.
set -euo pipefail
cd "$(dirname "$0")/.."

cxx=${CXX:-}
for version in 21 20 19 18 17 16; do
  cxx=${cxx:-$(command -v "clang++-$version" || true)}
done
if [ -z "$cxx" ]; then
  echo "No Clang of version 16 or later: the kernels are fuzzed as they are installed."
  exit 0
fi
PATH="$PWD/.venv/bin:$PATH" # cmake and ninja of the environment, where it has them
mkdir -p build/fuzz
cmake -S . -B build/fuzz -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_COMPILER="$cxx" \
  -DAMUDAI_SANITIZE=ON -DAMUDAI_FUZZ=ON -DPython_EXECUTABLE="$PWD/.venv/bin/python" >build/fuzz/cmake.log
cmake --build build/fuzz
