# What people and CI run. `make help` lists it.

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Tests of a whole cluster have both cores to themselves: they measure what players wait for.
# Of the others a file's tests stay together: they share servers. ARGS chooses, like ARGS='tests/unit -k drain'.
CLUSTER := tests/system tests/browser tests/chaos
# Those among them that wait for whole clusters and measure nothing: two at a time.
PATIENT := $(addprefix tests/system/test_,operations_pages.py benchmarks.py inside.py)
UNIT := $(BIN)/pytest -n 2 --dist loadfile $(addprefix --ignore=,$(CLUSTER))
PAIRED := $(BIN)/pytest -n 2 --dist loadfile $(PATIENT)
WHOLE := $(BIN)/pytest $(CLUSTER) $(addprefix --ignore=,$(PATIENT))

.DEFAULT_GOAL := help
.PHONY: help setup play test unit system chaos fuzz secrecy audit licences sbom bench-engine bench-deal bench-move bench-matching bench-scale soak lint format proto metrics env-files operator-files ops-check monitoring-check walk clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | awk -F'\t' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: $(READY) ## make .venv with the numbridge command and everything it needs

$(READY): pyproject.toml requirements.lock scripts/setup.sh
	@scripts/setup.sh
	@touch $@

play: setup ## run a cluster with three house bots, until Ctrl-C
	@$(BIN)/numbridge up --bots 3

test: setup ## run every test; on Debian as root, install what some of them need
	@scripts/test-packages.sh
	@$(if $(ARGS),$(BIN)/pytest $(ARGS),$(UNIT) && $(PAIRED) && $(WHOLE))

unit: setup ## run the tests that start no cluster
	@$(UNIT) $(ARGS)

system: setup ## run the tests of a whole cluster: protocol, browser, faults
	@$(if $(ARGS),$(BIN)/pytest $(CLUSTER) $(ARGS),$(PAIRED) && $(WHOLE))

chaos: setup ## kill, pause and restart a cluster under load for SECONDS (300), with SEED (1)
	$(BIN)/python -m tests.chaos --seconds $(or $(SECONDS),300) --seed $(or $(SEED),1) $(ARGS)

fuzz: setup ## feed everything that comes from outside with nonsense for SECONDS (60)
	$(BIN)/python -m tests.fuzz --seconds $(or $(SECONDS),60) $(ARGS)

secrecy: setup ## play GAMES (1000) at random and look for secrets in whatever leaves a table
	$(BIN)/python -m tests.unit.secrecy --games $(or $(GAMES),1000) $(ARGS)

bench-engine: setup ## what the rules cost a move, against encoding it as JSON
	$(BIN)/python -m bench.engine $(ARGS)

bench-deal: setup ## what a deal costs, against a textbook search
	$(BIN)/python -m bench.deal $(ARGS)

bench-move: setup ## where a move's time goes, against the bare way without a game
	$(BIN)/python -m bench.move --tables 64 $(ARGS)

bench-matching: setup ## what matching costs: the core alone, and the whole path from a seek to a seat
	$(BIN)/python -m bench.matching $(ARGS)

bench-scale: setup ## how cost grows with games; ARGS='shape', 'sockets' or 'takeover' for other things
	$(BIN)/python -m bench.scale $(or $(ARGS),games)

soak: setup ## whether anything grows in MINUTES (60) of games
	$(BIN)/python -m bench.soak --minutes $(or $(MINUTES),60) $(ARGS)

audit: setup ## ask the package index for known vulnerabilities of what is locked
	$(BIN)/python -m supply audit --all $(ARGS)

licences: setup ## list under what terms each release in the image comes
	@$(BIN)/python -m supply licences $(ARGS)

sbom: setup ## print the image's bill of materials, CycloneDX
	@$(BIN)/python -m supply sbom $(ARGS)

lint: setup ## check style, types and generated files
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	scripts/proto.sh --check

format: setup ## mend what ruff can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

metrics: setup ## write k8s/monitoring/METRICS.md from what the code declares
	$(BIN)/python -m tests.unit.ops.inventory

env-files: setup ## write k8s/base/env anew: defaults as the code has them, what is set stays set
	$(BIN)/python -m tests.unit.ops.env_files

operator-files: setup ## write k8s/monitoring/operator.yaml from the rules
	$(BIN)/python -m tests.unit.ops.operator_files

ops-check: setup ## check metrics, alerts, manifests and the image's commands, without a cluster
	@scripts/test-packages.sh
	$(BIN)/pytest -q tests/unit/ops

monitoring-check: setup ## a cluster under load and faults, watched by Prometheus with the shipped rules (3 minutes)
	@scripts/test-packages.sh
	$(BIN)/python -m tests.monitoring $(ARGS)

walk: setup ## follow every page of docs/operations to the letter, in an empty folder
	WALK=all $(BIN)/pytest -q tests/system/test_operations_pages.py

proto: setup ## generate numbridge/v1 from proto/
	scripts/proto.sh

clean: ## remove .venv and every cache
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -not -path './node_modules/*' -prune -exec rm -rf {} +
