# Everything from a fresh machine with Python 3.11+, make and a C++20 compiler. Each target makes what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
QUICK := AMUDAI_TEST_EFFORT=quick AMUDAI_TEST_CASES=2 AMUDAI_GOLDEN=tests/fixtures/reference
# Tests start many Pythons. Without the compiled form of our modules, each would compile them again.
unexport PYTHONDONTWRITEBYTECODE
NATIVE := CMakeLists.txt pyproject.toml $(shell find cpp -name '*.hpp' -o -name '*.cpp')

.PHONY: test quick demo docs checks lint types unit unit-quick sanitize wheel-test minima tsan damage fuzz stubs proto bench bench-full clean build

# Everything CI does. Two steps run side by side: each has stretches that keep only one core busy.
test: build
	$(MAKE) --no-print-directory --output-sync -j2 checks unit sanitize wheel-test

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

# The editable install keeps its build folder: only what changed is compiled again.
$(VENV)/.built: $(VENV)/.compilers $(NATIVE)
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --editable .
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
	$(QUICK) $(BIN)/python tools/wheel_test.py

# The quick tests with the oldest versions of the dependencies that pyproject.toml allows.
minima: build
	$(QUICK) $(BIN)/python tools/minima.py

# Threads that ask one shard at once, with kernels under ThreadSanitizer.
tsan: build
	bash tools/tsan.sh

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

# The kernels, and the tables of benchmarks/ in brief: beside Parquet, a quarter of the rows. RESULTS names the JSON file.
RESULTS ?= build/bench.json
bench: build
	$(BIN)/python -m benchmarks.kernels
	$(BIN)/python -m benchmarks.run --systems parquet-zstd,amudai,amudai-idx --scale 0.25 --rounds 1 --out $(RESULTS)
	$(BIN)/python -m benchmarks.report $(RESULTS) --metric cpu

# Beside all peers that are installed, all rows.
bench-full: build
	$(BIN)/python -m benchmarks.run --out $(RESULTS)
	$(BIN)/python -m benchmarks.report $(RESULTS) --metric cpu

clean:
	rm -rf $(VENV) build demo dist site
