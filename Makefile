# Two commands to begin with: make demo, make test; and make serve for the browser. Each sets up what it needs first.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.up-to-date

.PHONY: peers setup demo serve test check lint types laws notebook bench lock clean

setup: $(STAMP)

# Made anew only when the lock file or the project's own description has changed.
$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("kibitz needs Python 3.11 or newer; this is %s. Try: make PYTHON=python3.12 ..." % sys.version.split()[0])'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q kibitz  # a quick first start, also where Python keeps no bytecode
	@touch $@

demo: setup
	@$(BIN)/kibitz demo
	@echo "Open the workbench in your browser: make serve"

serve: setup
	@$(BIN)/kibitz serve

# By file: what one file needs is compiled once, and it has one server and one browser.
test: setup
	$(BIN)/python -m pytest -n 2 --dist loadfile

# Programs of others that one page of the documents runs, in an environment beside ours: they bring
# another framework for networks. `make test` leaves that page out where it is missing.
PEERS := torch==2.13.0 stable-baselines3==2.9.2 sb3-contrib==2.9.2
peers: .venv/peers/.up-to-date

.venv/peers/.up-to-date: $(STAMP)
	@test -x .venv/peers/bin/python || $(BIN)/python -m venv .venv/peers
	@$(BIN)/python -c 'import glob, sysconfig; [open(folder + "/ours.pth", "w").write("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib")) for folder in glob.glob(".venv/peers/lib/*/site-packages")]'
	.venv/peers/bin/python -m pip install --quiet --disable-pip-version-check $(PEERS)
	@touch $@

# What to run before pushing.
check: lint types test laws

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

# The laws once more with the compiler off: the rules are then ordinary Python, and reading past
# the end of an array raises.
laws: setup
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 tests/test_laws.py tests/test_records.py

# What the tutorial shows, made anew.
notebook: setup
	$(BIN)/python -m pytest tests/test_notebooks.py -k tutorial --update-docs

bench: setup
	$(BIN)/python -m bench

# The models that come with kibitz, made anew; the same bit for bit, as a test checks.
models: setup
	$(BIN)/python -m bench.models

# Versions and hashes only: whoever installs brings their own package index.
lock: setup
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra bench --extra bridges --extra neural --extra web --universal --python-version 3.11 \
	    --generate-hashes --no-emit-index-url --no-emit-find-links --no-header -o requirements.lock

clean:
	rm -rf .venv build *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
