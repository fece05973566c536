# Everything from a fresh machine with Python 3.11+, make and a C++20 compiler. Each target makes what it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := CMakeLists.txt pyproject.toml $(shell find cpp -name '*.hpp' -o -name '*.cpp')

.PHONY: test demo docs lint types unit sanitize stubs proto bench clean build

test: lint types docs unit sanitize

demo: build
	$(BIN)/python -m examples.demo

build: $(VENV)/.built

$(VENV)/.tools: pyproject.toml
	@echo "Setting up $(VENV): packages now, then the kernels are compiled. This takes some minutes, once."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet cmake ninja nanobind scikit-build-core $$($(BIN)/python tools/requirements.py)
	touch $@

# The editable install keeps its build folder: only what changed is compiled again.
$(VENV)/.built: $(VENV)/.tools $(NATIVE)
	$(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --editable .
	touch $@

lint: build
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: build
	$(BIN)/mypy

# A link that leads nowhere or a docstring that cannot be read is an error. The site is in site/.
docs: build
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

unit: build
	$(BIN)/python -m pytest

# The kernels once more under AddressSanitizer and UndefinedBehaviorSanitizer, against the oracle.
sanitize: build
	bash tools/sanitize.sh

stubs: build
	$(BIN)/python tools/stubs.py

# The protobuf compiler lives in an environment of its own: it wants an older protobuf than we run on.
proto:
	test -d build/protoc || $(PYTHON) -m venv build/protoc
	build/protoc/bin/pip install --quiet "grpcio-tools==1.63.*" "setuptools<80"
	build/protoc/bin/python -m grpc_tools.protoc -Iproto --python_out=src/amudai/format/wire --pyi_out=src/amudai/format/wire proto/amudai.proto

bench: build
	$(BIN)/python -m benchmarks.kernels

clean:
	rm -rf $(VENV) build demo site
