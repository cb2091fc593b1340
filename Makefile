# The single way in. `make audit` and `make test` set up everything they need on a machine with Python 3.11 and make.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
TOOLS := $(or $(FLEETAUDIT_TOOLS),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/fleetaudit/tools)
OUT ?= out
PYTEST_ARGS ?= --numprocesses=auto --dist=loadfile
export PATH := $(abspath $(BIN)):$(TOOLS)/bin:$(PATH)

.PHONY: help audit test check unit fuzz bench golden scores docs tools browser postgresql wheels format clean

help:            ## Show what can be made
	@grep -hE '^[a-z]+: .*##|^[a-z]+:  *##' $(MAKEFILE_LIST) | sed 's/:.*##/:/' | sort

audit: $(VENV)/.installed   ## Set up, then audit examples/fleet and print where the report is
	$(BIN)/fleetaudit run --config examples/fleet/fleetaudit.yaml --output $(OUT)

test: check tools browser postgresql   ## Set up, then run every check and every test, real tools included
	$(BIN)/python -m pytest $(PYTEST_ARGS)

check: $(VENV)/.developed tools   ## Format, lint, types, layers, Rego checks, Go checks
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(TOOLS)/bin/opa fmt --fail --list rego
	$(TOOLS)/bin/opa check --strict rego
	$(TOOLS)/bin/opa test --timeout 60s rego
	for module in native native/child; do (cd $$module && \
	  $(abspath scripts)/with-go go vet ./... && $(abspath scripts)/with-go go test ./...) || exit 1; done
	cd kyverno-batch && $(abspath scripts)/with-go go vet ./...

unit: $(VENV)/.developed   ## Only the quick tests
	$(BIN)/python -m pytest tests/unit tests/meta $(PYTEST_ARGS)

fuzz: $(VENV)/.developed   ## Fuzz the reader and the frames (two minutes each)
	for target in internal/reader/FuzzSplit internal/reader/FuzzRead child/wire/FuzzReader; do \
	  (cd native/$$(dirname $$target) && $(abspath scripts)/with-go \
	  go test -run '^$$' -fuzz "^$$(basename $$target)$$" -fuzztime 2m .) || exit 1; done

bench: $(VENV)/.developed   ## Measure against the peers; writes docs/performance.md's figures to bench/results
	$(BIN)/python bench/run.py

golden: $(VENV)/.developed   ## Rewrite the expected results; read the diff before you commit it
	FLEETAUDIT_UPDATE_GOLDEN=1 $(BIN)/python -m pytest tests/golden

scores: $(VENV)/.developed   ## Plant faults in rules that changed, and record how many their tests notice
	$(BIN)/python scripts/score_rules.py

docs: $(VENV)/.developed   ## Regenerate the generated pages
	for page in scripts/generate_*.py; do $(BIN)/python "$$page" || exit 1; done

tools: $(TOOLS)/bin/.built   ## Build the real tools the tests need, once per version

$(TOOLS)/bin/.built: scripts/build-tools $(shell find kyverno-batch native/child tools/registry -name '*.go' -o -name 'go.*') | $(VENV)/.developed
	scripts/build-tools "$(TOOLS)"
	touch $@

browser: $(VENV)/.developed   ## See that a Chromium is there for the report's tests
	scripts/find-browser

postgresql: $(VENV)/.developed   ## See that a PostgreSQL is there for the tests of the history
	scripts/find-postgresql

wheels: $(VENV)/.developed   ## Build the wheel and the sdist of this platform
	$(BIN)/python -m pip wheel --no-deps --wheel-dir dist . ./kyverno-batch

format: $(VENV)/.developed   ## Format Python, Rego and Go
	$(BIN)/ruff format . && $(BIN)/ruff check --fix-only . && $(TOOLS)/bin/opa fmt --write rego

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml hatch_build.py $(shell find native -name '*.go' -o -name 'go.*' -o -name '*.pgo')
	@echo "Building and installing fleetaudit (the first time takes about a minute)"
	$(BIN)/python -m pip install --quiet .
	touch $@

$(VENV)/.developed: $(VENV)/bin/python pyproject.toml hatch_build.py $(shell find native -name '*.go' -o -name 'go.*' -o -name '*.pgo')
	$(BIN)/python -m pip install --quiet --editable . --group test --group check
	touch $@ $(VENV)/.installed

clean:           ## Remove what was built
	rm -rf $(VENV) $(OUT) dist build audit/_content audit/native/bin
