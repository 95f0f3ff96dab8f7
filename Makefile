# The commands of the house; `make` alone lists them.
#
#   PYTHON=python3.12 make setup    another interpreter (3.11 or newer)
#   make test ARGS="-k visibility"  arguments for pytest
#   make bench SCALE=0.01           sizes of the benchmarks; 1 is the full size

PYTHON ?= python3
SCALE ?= 1
ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help setup run console built test mutations check lint types imports drift web format bench soak requirements schema docs lock clean

help: ## List the commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/\1|\2/' \
		| while IFS='|' read -r name text; do printf '  make %-14s %s\n' "$$name" "$$text"; done

setup: $(READY) built ## Install everything into .venv, build the console (done by the other commands where needed)

$(READY): pyproject.toml client/pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Rootward needs Python 3.11 or newer; set PYTHON to one, as in: make setup PYTHON=python3.12"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) \
		|| { echo "Python has no venv module; on Debian: apt-get install python3-venv"; exit 1; }
	@echo 'Installing the libraries into $(VENV): one to three minutes, once ...'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r constraints.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e . -e ./client
	@touch $@

run: $(READY) built ## Start the service on the embedded store, with a sample workspace the first time
	@$(BIN)/rootward serve --tokens

console: $(READY) ## Build the console with Node (of the PATH, else of a wheel) if its sources changed
	@$(BIN)/python -m tools.console

built: $(READY) # the same; where it cannot be built the server runs without it (in CI: a failure)
	@$(BIN)/python -m tools.console --if-possible

test: $(READY) built ## Run all tests; those on a real Neo4j where Java and Maven are there
	$(BIN)/python -m pytest $(ARGS)

check: lint types imports drift web ## Lint, types, import rules, schema drift, docs, the console (-k runs all of them)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports --no-cache

drift: $(READY)
	$(BIN)/python -m tools.schema --check
	$(BIN)/python -m tools.docs --check

web: $(READY)
	$(BIN)/python -m tools.console run lint types test

format: $(READY) ## Format the code and mend what ruff can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) ## Run the benchmarks and print their tables (SCALE=0.01 for a quick look)
	$(BIN)/python -m tools.bench --scale $(SCALE)

mutations: $(READY) ## Show that tests turn red where the law, its upkeep or a version check is missing (ARGS=law for those named so)
	$(BIN)/python -m tools.mutation_check $(or $(ARGS),--quick)

soak: $(READY) ## Run the property, fault and load tests at full size (hours)
	ROOTWARD_TEST_PROFILE=soak $(BIN)/python -m pytest -m soak $(ARGS)

requirements: $(READY) ## Count the contract ids that have a test, and list those without
	@$(BIN)/python -m tools.requirements

schema: $(READY) ## Export schema.graphql from the code
	$(BIN)/python -m tools.schema

docs: $(READY) ## Draw the diagram of docs/architecture.md from the imports
	$(BIN)/python -m tools.docs

lock: $(READY) ## Choose the newest fitting version of every dependency, into constraints.txt
	$(BIN)/uv pip compile --quiet --upgrade --all-extras --universal --python-version 3.11 --no-header \
		--no-annotate --no-emit-index-url --no-emit-find-links --no-emit-package rootward -o constraints.txt pyproject.toml

clean: ## Remove the environment and all caches
	rm -rf $(VENV) .cache api/console/dist console/dist console/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
