# perfd's commands for people. Everything happens in .venv and .perfd of this folder; no path is absolute, so spaces in it are harmless.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
ENGINE ?=
RUN := .venv/bin/python -m
# pip's new-version notice and caches of bytecode are noise in a log that people read.
export PIP_DISABLE_PIP_VERSION_CHECK = 1

.PHONY: node help nightly serve test lint types format doctor bench-bisect bench-compare bench-detect bench-load chaos bench-site clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 18

nightly: .venv/ready  ## one whole night in the foreground: watch, plan, build, measure, judge, report
	@$(RUN) perfd nightly $(if $(ENGINE),--engine '$(ENGINE)')

serve: .venv/ready  ## the site, the clock and a worker on this machine
	@$(RUN) perfd serve

doctor: .venv/ready  ## can this machine be trusted to measure today?
	@$(RUN) perfd doctor

test: .venv/ready-dev node  ## every test; what this machine cannot run is named at the end
	@$(RUN) pytest

lint: .venv/ready-dev  ## ruff, all rules
	@$(RUN) ruff check .
	@$(RUN) ruff format --check .

types: .venv/ready-dev  ## mypy, strict
	@$(RUN) mypy

format: .venv/ready-dev  ## ruff's formatter
	@$(RUN) ruff format .
	@$(RUN) ruff check --fix .

# RIVALS is the Python of an environment of its own with inference-doctor and benchmatrix; without it only perfd is measured.
RIVALS ?=
bench-compare: .venv/ready  ## how well A/B comparisons are decided, in simulated worlds (RIVALS=PYTHON: beside two other tools)
	@.venv/bin/python tests/benchmarks/compare.py $(if $(RIVALS),--rivals '$(RIVALS)')

# GUIDELLM and AIPERF are programs of environments of their own, TOKENIZER a folder with the tokenizer that both need.
GUIDELLM ?=
AIPERF ?=
TOKENIZER ?=
bench-load: .venv/ready  ## the load client's own error against its goals, on a quiet host (GUIDELLM=, AIPERF=, TOKENIZER=, REALTIME=1)
	@$(RUN) perfd.bench.calibrate.goals $(if $(GUIDELLM),--guidellm '$(GUIDELLM)') $(if $(AIPERF),--aiperf '$(AIPERF)') \
	  $(if $(TOKENIZER),--tokenizer '$(TOKENIZER)') $(if $(REALTIME),--realtime) $(if $(ANYWAY),--anyway) $(if $(JSON),--json '$(JSON)')

bench-bisect: .venv/ready  ## how well a planted commit is found by bisection, in simulated histories
	@.venv/bin/python tests/benchmarks/bisections.py

# A twentieth of it is part of `make test`.
POINTS ?= 200
SEED ?= 1
chaos: .venv/ready  ## kill worker, clock, site and Postgres at random in real nights, and check the books (POINTS=, SEED=; 20 minutes)
	@.venv/bin/python tests/chaos/chaos.py --points '$(POINTS)' --seed '$(SEED)'

# Here RIVALS is the Python of an environment with apache-otava, asv, ruptures and scipy; DATA a folder with histories to test on.
DATA ?= ../shared/data
bench-detect: .venv/ready  ## how well changes are found, on planted and real noise (RIVALS=PYTHON: beside three other tools)
	@OPENBLAS_NUM_THREADS=1 .venv/bin/python tests/benchmarks/detect.py --data '$(DATA)' $(if $(RIVALS),--rivals '$(RIVALS)') $(if $(QUICK),--quick)

# FOLDER keeps the database of ten million Points (made on the first call: minutes, 10 GB); ONLY names measures: charts lists ingest …
FOLDER ?=
ONLY ?=
bench-site: .venv/ready-dev  ## how fast the site is over ten million Points, on a quiet host (FOLDER=, ONLY=, JSON=)
	@.venv/bin/python tests/benchmarks/site.py $(if $(FOLDER),--folder '$(FOLDER)') $(if $(ONLY),--only $(ONLY)) \
	  $(if $(JSON),--json '$(JSON)')

clean:  ## forget the virtual environment; .perfd (results, builds) is kept
	rm -rf .venv

# Programs that stand in for GitHub in tests/forge. Node is needed by nothing else, and without it those tests say what they skip.
NODE_MODULES := tests/forge/node_modules/.package-lock.json
node:
	@if ! command -v npm >/dev/null; then \
	  echo 'Node is not installed: the tests against GitHub'"'"'s contract will say that they were skipped' >&2; \
	elif [ ! -e $(NODE_MODULES) ] || [ tests/forge/package-lock.json -nt $(NODE_MODULES) ]; then \
	  { npm ci --prefix tests/forge --no-audit --no-fund --loglevel=error >/dev/null && touch $(NODE_MODULES); } || \
	    echo 'tests/forge/node_modules could not be installed: the tests against GitHub'"'"'s contract will say that they were skipped' >&2; \
	fi

# The stamps name what was installed last, so that the second `make` installs nothing.
.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'perfd needs Python 3.11 or newer; $(PYTHON) is older. Say which to use: make PYTHON=python3.12 …' >&2; exit 3; }
	@test -x .venv/bin/python || $(PYTHON) -m venv .venv
	@echo 'installing perfd into .venv (torch and triton are large; this happens once) …' >&2
	@.venv/bin/python -m pip install --quiet --constraint constraints.txt --editable .
	@touch .venv/ready

.venv/ready-dev: .venv/ready
	@.venv/bin/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch .venv/ready-dev
