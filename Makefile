# Every target sets up what it needs first: on a fresh machine `make submit PROBLEM=chunk_fwd_h` and `make test` are the
# only commands to type. Variables: PROBLEM, TEAM, TARGET, FILE, SUITE, DIVISION, CASE, ARGS (more options), RECORD; NODE
# and NODE_PYTHON (of dry-run: a GPU machine, and its Python that has torch); TO (of submit: a leaderboard service's
# address); PYTHON (which Python makes the environment);
# TORCH_INDEX (the package index that torch comes from: a URL, "auto" or "none").

PYTHON ?= python3
TORCH_INDEX ?= auto
export TORCH_INDEX

HARNESS := .venv/bin/harness
RUN := .venv/bin/python -m
OPTIONS = $(if $(TEAM),--team '$(TEAM)') $(if $(TARGET),--target '$(TARGET)') $(if $(FILE),--file '$(FILE)') \
	$(if $(SUITE),--suite '$(SUITE)') $(if $(DIVISION),--division '$(DIVISION)') $(if $(CASE),--case '$(CASE)') $(ARGS)

.PHONY: help need-problem need-team environment submit dry-run build new show board site serve qualify doctor lint test test-all test-gpu fuzz bench clean

help:  ## List the targets.
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

need-problem:
	@$(if $(PROBLEM),:,echo 'say which problem: make $(firstword $(MAKECMDGOALS)) PROBLEM=chunk_fwd_h' >&2; exit 2)

need-team:
	@$(if $(TEAM),:,echo 'say which team: make $(firstword $(MAKECMDGOALS)) PROBLEM=$(or $(PROBLEM),chunk_fwd_h) TEAM=your-team' >&2; exit 2)

environment:  ## Make .venv, or bring it up to date.
	@$(PYTHON) -I harness/bootstrap.py

submit: need-problem environment  ## Check, compile and judge a submission, and put it on the board: PROBLEM, [TEAM, TARGET, FILE; TO=https://host].
	@$(HARNESS) submit '$(PROBLEM)' $(if $(TO),--to '$(TO)') $(OPTIONS)

dry-run: need-problem environment  ## Judge and time on a GPU of your own, and record nothing; without one or a NODE, compile only: PROBLEM, [NODE=user@host, NODE_PYTHON].
	@$(HARNESS) dry-run '$(PROBLEM)' $(if $(NODE),--node='$(NODE)') $(if $(NODE_PYTHON),--python='$(NODE_PYTHON)') $(OPTIONS)

build: need-problem environment  ## Compile only: PROBLEM, [TEAM, TARGET, FILE].
	@$(HARNESS) build '$(PROBLEM)' $(OPTIONS)

new: need-problem need-team environment  ## Begin a team's submission from the starter: PROBLEM, TEAM.
	@$(HARNESS) new '$(PROBLEM)' --team '$(TEAM)' $(ARGS)

show: environment  ## Show one record in full: [RECORD], by default the newest of [PROBLEM, TEAM].
	@$(HARNESS) show $(if $(RECORD),'$(RECORD)') $(if $(PROBLEM),--problem '$(PROBLEM)') $(if $(TEAM),--team '$(TEAM)') $(ARGS)

board: environment  ## Show the boards: [PROBLEM, TARGET, DIVISION].
	@$(HARNESS) board $(if $(PROBLEM),'$(PROBLEM)') $(if $(TARGET),--target '$(TARGET)') $(if $(DIVISION),--division '$(DIVISION)') $(ARGS)

site: environment  ## Write the season as a static site to site/.
	@$(HARNESS) board --export site

serve: environment  ## Serve boards and take submissions on this machine: [ARGS="--host 0.0.0.0 --workers build=2,gpu=1"].
	@$(HARNESS) serve $(ARGS)

qualify: environment  ## Try honest variants and mutants on the problems: can they tell right from wrong? [PROBLEM, SUITE].
	@$(HARNESS) qualify $(if $(PROBLEM),'$(PROBLEM)') $(if $(SUITE),--suite '$(SUITE)') $(ARGS)

doctor: environment  ## Say what this machine has, and what to do about what is missing.
	@$(HARNESS) doctor $(ARGS)

lint: environment  ## Check style, types and workflows.
	$(RUN) ruff check .
	$(RUN) ruff format --check .
	$(RUN) mypy
	.venv/bin/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	.venv/bin/check-jsonschema --quiet --builtin-schema vendor.github-actions .github/actions/*/action.yml
	.venv/bin/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
	.venv/bin/zizmor --offline --quiet .github

test: environment  ## Run the tests that need no GPU.
	$(RUN) pytest -n 2 --dist worksteal -m "not gpu and not slow"

test-all: environment  ## Run the slow tests too.
	$(RUN) pytest -n 2 --dist worksteal -m "not gpu"

test-gpu: environment  ## Run the tests that need an NVIDIA GPU.
	$(RUN) pytest -m gpu

fuzz: environment  ## Try 20,000 hostile artifacts from a new seed, which is printed: [CASES, SEED].
	$(RUN) tests.fuzz $(if $(CASES),--cases '$(CASES)') $(if $(SEED),--seed '$(SEED)')

bench: environment  ## Measure what the README promises of speed; writes bench/last.json.
	$(RUN) bench
	$(RUN) bench.gate

clean:  ## Remove the environment and caches; local records stay.
	rm -rf .venv .harness/artifacts .harness/kernels .pytest_cache .mypy_cache .ruff_cache site
