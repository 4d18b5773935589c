# Two commands to begin with: make demo, make test; and make serve for the browser. Each sets up what it needs first.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
LOCKED := $(INSTALL) --no-deps --no-compile --require-hashes
# Bytecode on all cores, for a quick first start, also where Python keeps none. What fails here is compiled when used.
COMPILE := $(BIN)/python -m compileall -qq -j 0 -x '/tests?/' kibitz .venv/lib || true
BASE := .venv/.base
NEURAL := .venv/.neural
DEV := .venv/.dev

# Programs start quicker with bytecode, and tests start hundreds of them.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup setup-neural setup-dev demo serve test test-long peers check lint types laws notebook bench models lock clean

# What the demo and the workbench run; what training networks needs besides; and everything.
setup: $(BASE)
setup-neural: $(NEURAL)
setup-dev: $(DEV)

# Made anew only when a lock file or the project's own description has changed. pip itself comes first: a newer
# one needs little more than half the processor time.
$(BASE): requirements/build.lock requirements/base.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("kibitz needs Python 3.11 or newer; this is %s. Try: make PYTHON=python3.12 ..." % sys.version.split()[0])'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(LOCKED) -r requirements/build.lock
	$(LOCKED) -r requirements/base.lock
	$(INSTALL) --quiet --no-deps --no-build-isolation -e .
	@$(COMPILE)
	@touch $@

# Only what is missing is added.
$(NEURAL) $(DEV): .venv/.%: requirements/%.lock $(BASE)
	$(LOCKED) -r $<
	@$(COMPILE)
	@touch $@

demo: $(BASE)
	@$(BIN)/kibitz demo
	@echo "Open the workbench in your browser: make serve"

serve: $(BASE)
	@$(BIN)/kibitz serve

# By file: what one file needs is compiled once, and it has one server and one browser. Three processes keep two
# cores busy, as tests of pages and processes often wait.
test: $(DEV)
	$(BIN)/python -m pytest -n 3 --dist loadfile -m "not long"

# What takes long: trainings, thousands of games, processes that are killed, whole games in a browser.
test-long: $(DEV)
	$(BIN)/python -m pytest -n 3 --dist loadfile -m long

# Programs of others that one page of the documents runs, in an environment beside ours: they bring
# another framework for networks. `make test` leaves that page out where it is missing.
PEERS := torch==2.13.0 stable-baselines3==2.9.2 sb3-contrib==2.9.2
peers: .venv/peers/.up-to-date

.venv/peers/.up-to-date: $(DEV)
	@test -x .venv/peers/bin/python || $(BIN)/python -m venv .venv/peers
	@$(BIN)/python -c 'import glob, sysconfig; [open(folder + "/ours.pth", "w").write("import site; site.addsitedir(%r)" % sysconfig.get_path("purelib")) for folder in glob.glob(".venv/peers/lib/*/site-packages")]'
	.venv/peers/bin/python -m pip install --quiet --disable-pip-version-check $(PEERS)
	@touch $@

# What to run before pushing.
check: lint types test test-long laws

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(DEV)
	$(BIN)/mypy

# The laws once more with the compiler off: the rules are then ordinary Python, and reading past
# the end of an array raises.
laws: $(DEV)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 -m "" tests/test_laws.py tests/test_records.py

# What the tutorial shows, made anew.
notebook: $(DEV)
	$(BIN)/python -m pytest tests/test_notebooks.py -m "" -k tutorial --update-docs

bench: $(DEV)
	$(BIN)/python -m bench

# The models that come with kibitz, made anew; the same bit for bit, as a test checks.
models: $(DEV)
	$(BIN)/python -m bench.models

# Versions and hashes only: whoever installs brings their own package index. The first file has everything, and the
# others the same versions.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
    --no-emit-find-links --no-header
SAME := $(LOCK) --constraint requirements/dev.lock
lock: $(DEV)
	$(LOCK) pyproject.toml --extra dev --extra bench --extra bridges --extra neural --extra tuning --extra web -o requirements/dev.lock
	$(SAME) pyproject.toml --extra tuning --extra web -o requirements/base.lock
	$(SAME) pyproject.toml --extra neural --extra tuning --extra web -o requirements/neural.lock
	$(SAME) --group build -o requirements/build.lock

clean:
	rm -rf .venv build *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
