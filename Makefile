# Everything from a bare checkout: a Python 3.11 or newer, make, and the network for the first install.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
WORKERS ?= auto

.DEFAULT_GOAL := help
.PHONY: help demo test check soak bench docs clean

help: ## Show what there is.
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Segue needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 …"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "This Python has no venv (Debian: apt install python3-venv)."; exit 1; }

$(VENV)/.installed: $(BIN)/python pyproject.toml constraints.txt
	@$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed pyproject.toml constraints.txt
	@$(PIP) install --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: $(VENV)/.installed ## Hand a session over, for real, on the embedded store.
	@$(BIN)/segue demo

test: $(VENV)/.installed-dev ## Run every test, PostgreSQL included.
	@$(BIN)/python -m pytest -n $(WORKERS) -m "not soak"

soak: $(VENV)/.installed-dev ## Run the long loads and the full kill matrices.
	@$(BIN)/python -m pytest -n $(WORKERS) -m soak

check: $(VENV)/.installed-dev ## Check style, types, the layers, and that generated documents are up to date.
	@$(BIN)/ruff format --check --quiet . && $(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache > $(VENV)/imports.log 2>&1 || { cat $(VENV)/imports.log; exit 1; }
	@$(BIN)/python scripts/cli_reference.py --check
	@$(BIN)/python scripts/api_reference.py --check
	@$(BIN)/python scripts/conformance.py --check
	@echo "check: all good"

docs: $(VENV)/.installed-dev ## Write the generated documents.
	@$(BIN)/python scripts/cli_reference.py
	@$(BIN)/python scripts/api_reference.py
	@$(BIN)/python scripts/conformance.py

bench: $(VENV)/.installed-dev ## Run the benchmarks and print their figures.
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

clean: ## Remove the virtual environment and caches.
	@rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis dist
