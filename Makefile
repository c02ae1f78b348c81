# Two commands are enough on a fresh machine: `make demo` and `make test`.
# The environment in .venv is made when it is needed, with uv where there is one, else venv and pip.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DOCS := .cache/docs
AGENTS := .cache/agents
ENGINES := .cache/engines
OLDER := .cache/older-peers
SUPPLY := .cache/supply
PLAIN := .cache/plain
FUZZ := .cache/fuzzing
OLDER_NAMES := $(basename $(notdir $(wildcard requirements/older-peers/*.in)))
OLDER_READY := $(OLDER_NAMES:%=$(OLDER)/%/.ready)

.PHONY: demo test matrix check load soak fuzz costs worst engines bench bench-quick docs peers older-peers gateways \
    agents hosts frameworks screenshots isolation advisories wheel sbom lock clean

demo: $(READY)
	@$(BIN)/anyshape demo

test: $(READY)
	$(BIN)/python scripts/test.py $(ARGS)

matrix:
	$(PYTHON) scripts/matrix.py $(ARGS)

check: $(READY)
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/pytest -q tests/test_layers.py tests/test_surface.py

fuzz: $(FUZZ)/.ready
	$(FUZZ)/bin/python scripts/fuzz.py $(ARGS)

load: $(READY)
	PYTHONPATH=tests/clock $(BIN)/python -m tests.reliability.load $(ARGS)
	UNRELIABLE_CALLS=10000 $(BIN)/pytest -q -n 0 tests/gateway/test_unreliable.py -k every_call

soak: $(READY)
	PYTHONPATH=tests/clock $(BIN)/python -m tests.reliability.soak $(ARGS)

costs: $(READY)
	$(BIN)/python scripts/cost_search.py $(ARGS)

worst: $(READY)
	$(BIN)/python scripts/worst_schema.py $(ARGS)

bench: $(READY) $(OLDER)/2025-11/.ready
	$(BIN)/python benchmarks/run.py

bench-quick: $(READY)
	$(BIN)/python benchmarks/run.py --quick

docs: $(DOCS)/.ready
	$(DOCS)/bin/python scripts/docs.py

engines: $(ENGINES)/.ready
	$(ENGINES)/bin/python scripts/ask_engines.py $(ARGS)

peers: $(READY)
	$(BIN)/python tests/peers/table.py

older-peers: $(READY) $(OLDER_READY)
	$(BIN)/python tests/peers/older.py $(OLDER)/2025-11/bin/python
	$(BIN)/python tests/peers/table.py
	$(BIN)/python tests/peers/gateway_page.py

gateways: $(READY) $(OLDER)/2025-11/.ready $(OLDER)/mcp-proxy/.ready
	$(BIN)/python tests/peers/other_gateways.py

agents: $(AGENTS)/.ready
	$(AGENTS)/bin/python tests/agents/with_sdks.py

$(AGENTS)/.ready: requirements/agents.txt pyproject.toml
	$(PYTHON) scripts/environment.py $(AGENTS) requirements/agents.txt
	@touch $@

hosts: $(READY)
	$(BIN)/python tests/hosts/hosts.py $(ARGS)
	$(BIN)/python tests/hosts/page.py

frameworks: $(READY)
	$(BIN)/python tests/hosts/frameworks.py $(ARGS)
	$(BIN)/python tests/hosts/page.py

$(OLDER)/%/.ready: requirements/older-peers/%.txt
	$(PYTHON) scripts/environment.py $(OLDER)/$* $<
	@touch $@

$(DOCS)/.ready: requirements/docs.txt
	$(PYTHON) scripts/environment.py $(DOCS) requirements/docs.txt
	@touch $@

$(FUZZ)/.ready: requirements/dev.txt requirements/fuzz.txt pyproject.toml
	$(PYTHON) scripts/environment.py $(FUZZ) requirements/dev.txt requirements/fuzz.txt
	@touch $@

$(ENGINES)/.ready: requirements/engines.txt
	$(PYTHON) scripts/environment.py $(ENGINES) requirements/engines.txt
	@touch $@

$(READY): requirements/dev.txt pyproject.toml
	$(PYTHON) scripts/environment.py $(VENV)
	@touch $@

isolation: $(READY)
	ISOLATION_SECONDS=$(or $(SECONDS),60) ISOLATION_VISITORS=$(or $(VISITORS),20) \
	    $(BIN)/pytest -q -s --timeout 0 tests/isolation/test_crowd.py $(ARGS)

advisories: $(SUPPLY)/.ready
	$(SUPPLY)/bin/python scripts/advisories.py $(ARGS)

wheel: $(SUPPLY)/.ready
	$(SUPPLY)/bin/python scripts/wheel.py

sbom: wheel $(PLAIN)/.ready
	$(SUPPLY)/bin/python scripts/sbom.py $(PLAIN) dist/*.whl

$(SUPPLY)/.ready: requirements/supply.txt
	$(PYTHON) scripts/environment.py $(SUPPLY) requirements/supply.txt
	@touch $@

$(PLAIN)/.ready: requirements/install.txt
	rm -rf $(PLAIN)
	$(PYTHON) scripts/environment.py $(PLAIN) requirements/install.txt
	@touch $@

screenshots: $(READY)
	$(BIN)/python scripts/screenshots.py

lock:
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --no-emit-index-url --no-emit-find-links pyproject.toml --group dev --all-extras -o requirements/dev.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --no-emit-index-url --no-emit-find-links pyproject.toml --group engines -o requirements/engines.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --no-emit-index-url --no-emit-find-links --group docs -o requirements/docs.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --no-emit-index-url --no-emit-find-links pyproject.toml --group agents -o requirements/agents.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --no-emit-index-url --no-emit-find-links requirements/fuzz.in -o requirements/fuzz.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --no-emit-index-url --no-emit-find-links pyproject.toml -c requirements/dev.txt -o requirements/install.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	    --no-emit-index-url --no-emit-find-links requirements/supply.in -o requirements/supply.txt
	for name in $(OLDER_NAMES:%=requirements/older-peers/%); do \
	    uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	        --no-emit-index-url --no-emit-find-links --no-strip-extras $$name.in -o $$name.txt || exit 1; \
	done

clean:
	rm -rf $(VENV) .cache site .pytest_cache .ruff_cache .hypothesis .coverage*
