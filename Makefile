# `make test` and `make demo` need nothing but Python 3.11+ with its headers and a C compiler:
# they make a virtual environment, install, build and run. Run again, they only redo what changed.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PYTEST_ARGS ?=
WORKERS ?= auto
COMPARE_ARGS ?= --write

core := setup.py fasttree/_core.pyx $(wildcard fasttree/kernels/*.pxd fasttree/kernels/*.pxi fasttree/kernels/*.h)
package := $(core) pyproject.toml README.md LICENSE MANIFEST.in $(shell find fasttree -name '*.py' -o -name '*.csv')
# What a test run needs beside the package itself. Runs against another build happen in a copy
# without fasttree/, where the source package cannot be imported by mistake.
suite := tests docs examples benchmarks README.md CHANGELOG.md pyproject.toml
# Tests that share a costly result stay with one worker, unless the other has nothing left to do.
in_parallel = -n $(WORKERS) --dist worksteal

.PHONY: help demo test lint format environments debug-test processors-test sklearn-oldest-test wheel wheel-test bench bench-smoke compare clean

help:
	@echo "make demo         a short tour, then a study with its report in build/cesarean-study.html"
	@echo "make test         the test suite                 (PYTEST_ARGS='-k name' to choose, WORKERS=0 for one process)"
	@echo "make lint         style, types, layers, spelling (make format repairs style)"
	@echo "make debug-test   the test suite on a build with bounds and other checks"
	@echo "make processors-test  the numerical tests again, as other processors would run them"
	@echo "make sklearn-oldest-test  tests of scikit-learn's protocol with its oldest supported version"
	@echo "make wheel        wheel and sdist in dist/       (make wheel-test tests that wheel)"
	@echo "make bench        micro-benchmarks of the core   (make bench-smoke: tiny sizes, no timing)"
	@echo "make compare      compare with other libraries; rewrites docs/benchmarks.md"
	@echo "make -j environments  build and install beforehand, in parallel, what the runs above need"
	@echo "make clean        remove all generated files"
	@echo "PYTHON=python3.13 VENV=.venv313 select the interpreter and the environment."

# --- the environment and the build ---

# pip compiles the package anew whenever it is installed. Environments do without; the build follows by itself.
editable = FASTTREE_NO_CORE=1 $(BIN)/python -m pip install --quiet --no-build-isolation --editable

# The package and what its build needs; what else a command needs is installed by a stamp of its own.
$(VENV)/.made: pyproject.toml setup.py
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fasttree needs Python 3.11 or newer; set PYTHON=...")'
	@echo "The environment $(VENV): a few packages are fetched."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' > $(VENV)/build-requirements.txt
	$(BIN)/python -m pip install --quiet --upgrade pip -r $(VENV)/build-requirements.txt
	$(editable) .
	touch $@

$(VENV)/.built: $(VENV)/.made $(core)
	@echo "The core is compiled: about half a minute."
	$(BIN)/python setup.py --quiet build_ext --inplace
	touch $@

$(VENV)/.demo: $(VENV)/.made
	$(BIN)/python -m pip install --quiet scikit-learn
	touch $@

# One after another, since two of pip's runs in one environment disturb each other.
$(VENV)/.tests: $(VENV)/.made
	$(editable) '.[test]'
	touch $@

$(VENV)/.dev: $(VENV)/.tests
	$(editable) '.[dev]'
	touch $@

$(VENV)/.bench: $(VENV)/.tests
	$(editable) '.[bench]'
	touch $@

# --- the two commands of the README ---

demo:
	@$(MAKE) --no-print-directory -j 2 $(VENV)/.built $(VENV)/.demo
	$(BIN)/python examples/demo.py
	$(BIN)/python examples/study.py -o build/cesarean-study.html

test: $(VENV)/.built $(VENV)/.tests
	$(BIN)/python -m pytest $(in_parallel) $(PYTEST_ARGS)

# --- for developers ---

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PATH="$(abspath $(BIN)):$$PATH" cython-lint fasttree
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The debug build never touches the source tree: left there, its generated C would be newer than the
# .pyx and the next ordinary build would quietly keep the checks.
build/debug/.built: $(VENV)/.made $(package)
	rm -rf build/debug && mkdir -p build/debug/source build/debug/site
	tar --exclude='*.so' --exclude='_core.c' --exclude=__pycache__ -cf - setup.py pyproject.toml README.md LICENSE MANIFEST.in fasttree | tar -xf - -C build/debug/source
	FASTTREE_DEBUG=1 $(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --target build/debug/site ./build/debug/source
	touch $@

debug-test: build/debug/.built $(VENV)/.tests
	rm -rf build/debug/run && mkdir build/debug/run && cp -R $(wildcard $(suite)) build/debug/run
	cd build/debug/run && PYTHONPATH=$(CURDIR)/build/debug/site $(abspath $(BIN))/python -c 'import fasttree._core as core; print("debug build:", core.__file__)'
	cd build/debug/run && PYTHONPATH=$(CURDIR)/build/debug/site $(abspath $(BIN))/pytest $(in_parallel) $(PYTEST_ARGS)

# One build for each copy that the core has of its loops for other processors. The C is that of the ordinary build.
build/copies/%/.built: $(VENV)/.built $(package)
	FASTTREE_ONLY=$* $(BIN)/python setup.py --quiet build --build-lib $(@D) --build-temp build/copies/temporary-$*
	touch $@

copies := $(if $(filter Linux-x86_64,$(shell uname -s)-$(shell uname -m)),$(patsubst %,build/copies/%/.built,1 3 4))

processors-test: $(VENV)/.built $(VENV)/.tests $(copies)
	rm -rf build/copies/run && mkdir -p build/copies/run && cp -R $(wildcard $(suite)) build/copies/run
	cd build/copies/run && $(abspath $(BIN))/python tests/as_other_processors.py $(CURDIR) .. $(in_parallel) $(PYTEST_ARGS)

# The oldest scikit-learn of pyproject.toml, with a polars of its time.
build/oldest/.installed: pyproject.toml Makefile
	rm -rf build/oldest
	$(PYTHON) -m venv build/oldest
	build/oldest/bin/python -m pip install --quiet --upgrade pip
	build/oldest/bin/python -m pip install --quiet "scikit-learn==$$(sed -n 's/.*"scikit-learn>=\([0-9.]*\)".*/\1/p' pyproject.toml | head -n 1).*" "polars<1.31" hypothesis joblib matplotlib narwhals numpy pandas pyarrow pytest pytest-timeout pytest-xdist
	touch $@

protocol = tests/estimators/test_protocol.py $(or $(wildcard tests/estimators/test_scikit_learn_*.py),$(error no tests of scikit-learn's protocol in tests/estimators))

sklearn-oldest-test: $(VENV)/.built build/oldest/.installed
	PYTHONPATH=$(CURDIR) build/oldest/bin/python -c 'import sklearn; print("scikit-learn", sklearn.__version__)'
	PYTHONPATH=$(CURDIR) build/oldest/bin/python -m pytest $(protocol) $(in_parallel) $(PYTEST_ARGS)

# After the build, since an sdist has the C made in the source tree, too, if it is not there.
wheels := dist/$(notdir $(VENV)).built
$(wheels): $(VENV)/.dev $(VENV)/.built $(package) $(shell find tests docs examples -type f -not -path '*/__pycache__/*')
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	touch $@

wheel: $(wheels)

build/wheel/.installed: $(wheels)
	rm -rf build/wheel && mkdir -p build/wheel
	$(PYTHON) -m venv build/wheel/venv
	build/wheel/venv/bin/python -m pip install --quiet --upgrade pip
	build/wheel/venv/bin/python -m pip install --quiet "$$(ls dist/*.whl)[test]"
	touch $@

wheel-test: build/wheel/.installed
	rm -rf build/wheel/run && mkdir build/wheel/run && cp -R $(wildcard $(suite)) build/wheel/run
	cd build/wheel/run && ../venv/bin/python -c 'import fasttree; print("wheel:", fasttree.__file__)'
	cd build/wheel/run && ../venv/bin/pytest $(in_parallel) $(PYTEST_ARGS)

# All that the runs above need; with `make -j`, at the same time.
environments: $(VENV)/.built $(VENV)/.tests $(VENV)/.dev build/debug/.built $(copies) build/oldest/.installed build/wheel/.installed

bench: $(VENV)/.built $(VENV)/.tests
	$(BIN)/python -m pytest benchmarks --benchmark-only $(PYTEST_ARGS)

bench-smoke: $(VENV)/.built $(VENV)/.tests
	$(BIN)/python -m pytest benchmarks --benchmark-disable -q $(in_parallel) $(PYTEST_ARGS)

compare: $(VENV)/.built $(VENV)/.bench
	$(BIN)/python -m benchmarks.compare $(COMPARE_ARGS)

clean:
	rm -rf .venv .ci-venv build dist fasttree.egg-info .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	rm -f fasttree/_core.c fasttree/_core*.so fasttree/_core.html
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
