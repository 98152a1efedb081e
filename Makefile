# The same recipes serve a newcomer, a developer and the continuous integration.
.PHONY: race setup wheel docs test test-fast test-all test-rust test-python lint types format bench bench-cluster bench-method bench-lies bench-hostile clean help
.DEFAULT_GOAL := help

BIN := .venv/bin
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name 'Cargo.toml')

help:
	@echo "make race    set everything up and race the default stacks, about 3 minutes"
	@echo "make test    run the tests of both languages, some eight minutes on two cores"
	@echo "make test-fast run those that start no server and simulate nothing, two minutes: before each commit"
	@echo "make test-all  run the slow and the rare ones, too: before a release"
	@echo "make setup   set up alone; leaves $(BIN)/stackrace"
	@echo "make wheel   build dist/*.whl, which installs without Rust, and race with it"
	@echo "make docs    build the documentation site in build/docs; warnings are errors"
	@echo "make bench   speed and cost, side by side with the peers"
	@echo "make bench-cluster what races on several machines promise, in network namespaces: root, an hour and a half"
	@echo "make bench-method  what the statistics and the checks promise, simulated and raced: up to six hours"
	@echo "make bench-lies    the part of it that tells measurements lies: a quarter of an hour"
	@echo "make bench-hostile hostile apps, repositories, texts, peers and machines, in eight worlds: root, a quarter of an hour"
	@echo "make format lint types   before a commit"

race: setup
	$(BIN)/stackrace run --bundled

setup: .venv/.installed .venv/.servers

# The package with its engine, built in release mode, editable. The virtual environment is private to this folder.
.venv/.installed: pyproject.toml $(RUST_SOURCES) tools/make-venv
	tools/make-venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . uv
	@touch $@

# Servers from Debian's packages where root's rights are at hand; says so and goes on where they are not.
.venv/.servers: .venv/.installed
	$(BIN)/stackrace install --all --if-possible
	@touch $@

.venv/.tools: setup tools/install-test-tools
	$(BIN)/uv pip install --quiet --python $(BIN)/python --group dev
	tools/install-test-tools
	@touch $@

# One file for every Python from 3.11 on and every Linux with glibc 2.17 (2014) or later.
wheel: .venv/.tools
	rm -rf dist
	tools/build-wheel $$(uname -m)-unknown-linux-gnu
	STACKRACE_WHEEL=$$(ls dist/*.whl) $(BIN)/python -m pytest tests/e2e/test_wheel.py

# In the order of tests/conftest.py: what takes long in few tests comes first, and many short ones fill up the end.
# Five at once, on two cores as well: most wait for servers.
PYTEST := $(BIN)/python -m pytest --numprocesses 5 --dist loadfile --no-loadscope-reorder

test: .venv/.tools test-rust test-python
	@echo "make test: all passed"

# what is wrong most often shows here
test-fast: .venv/.tools
	$(BIN)/python -m pytest --numprocesses 4 --dist loadfile -m "not exhaustive" tests/core tests/frozen tests/repository \
		--ignore tests/core/stats --ignore tests/repository/test_features.py --ignore tests/repository/test_walk.py
	@echo "make test-fast: all passed"

# every chain of servers, and whatever else is slow or rare
test-all: .venv/.tools test-rust
	$(PYTEST)
	@echo "make test-all: all passed"

test-rust:
	cargo test --quiet --package loadgen

test-python: .venv/.tools
	$(PYTEST) -m "not exhaustive"

lint: .venv/.tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	cargo fmt --check
	cargo fmt --check --manifest-path crates/fuzz/Cargo.toml
	cargo clippy --quiet --workspace --all-targets -- -D warnings

types: .venv/.tools
	$(BIN)/mypy

format: .venv/.tools
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	cargo fmt
	cargo fmt --manifest-path crates/fuzz/Cargo.toml

bench: .venv/.tools
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/running.py
	$(BIN)/python benchmarks/probe_cost.py
	$(BIN)/python benchmarks/machine_speed.py
	$(BIN)/python benchmarks/orchestrator_cost.py
	$(BIN)/python benchmarks/engine_cost.py
	$(BIN)/python benchmarks/engine_truth.py
	$(BIN)/python benchmarks/engine_stalls.py
	$(BIN)/python benchmarks/engine_pacing.py
	$(BIN)/python -m benchmarks.interrupted

# merged percentiles, starts, the coordinator's cost, two hosts, narrow and bad wires, faults
bench-cluster: .venv/.tools
	$(BIN)/python -m benchmarks.cluster

# What the statistics promise is simulated in minutes; the lies take some more. The races want a machine that has
# nothing else to do; each script has --help and bounds on its time.
bench-method: .venv/.tools bench-lies
	$(BIN)/python -m benchmarks.method.simulations
	$(BIN)/python -m benchmarks.method.claims
	$(BIN)/python -m benchmarks.check
	$(BIN)/python -m benchmarks.method.default_races
	$(BIN)/python -m benchmarks.method.neighbours
	$(BIN)/python -m benchmarks.method.aa_races
	$(BIN)/python -m benchmarks.method.slowed
	$(BIN)/python -m benchmarks.method.capacities

# Some seventy faults, most of them injected into real races one at a time: a quarter of an hour.
bench-lies: .venv/.tools
	$(BIN)/python -m benchmarks.lies

# Nothing of theirs may run unasked, change anything, hang, or show a secret.
bench-hostile: .venv/.tools
	$(BIN)/python -m benchmarks.hostile

# From the Markdown files as they are, and a reference made from the code.
docs: .venv/.installed
	$(BIN)/uv pip install --quiet --python $(BIN)/python --group docs
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --jobs 2 --conf-dir docs . build/docs
	@echo "make docs: open build/docs/index.html"

clean:
	rm -rf .venv build dist target .pytest_cache .mypy_cache .ruff_cache .hypothesis
