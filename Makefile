.DEFAULT_GOAL := help
.PHONY: help up demo test test-unit test-process test-browser check fmt bench shots docs clean
SHELL := /bin/bash

help:
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(firstword $(MAKEFILE_LIST)) | awk -F'|' '{printf "make %-13s %s\n", $$1, $$2}'

up: ## install what is missing and serve Felix on this machine
	@.ci/venv runtime && exec .venv/bin/felix up

demo: ## the same, with a scripted run waiting for an approval
	@.ci/venv runtime && exec .venv/bin/felix up --demo

test: ## the whole test suite, with all its set-up
	@.ci/test

test-unit: ## unit tests and house rules: no database, no network
	@.ci/test unit

test-process: ## tests that start and kill real processes
	@.ci/test process

test-browser: ## tests in Chromium
	@.ci/test browser

check: ## lint, format, types, import arrows, migrations, house rules
	@.ci/check

fmt: ## format and fix what a machine can
	@.ci/venv dev
	@.venv/bin/ruff check --fix --exit-zero --quiet && .venv/bin/ruff format

bench: ## every figure of the README, beside its peer's
	@.ci/venv dev
	@[ -x .venv-bench/bin/python ] || (python3 -m venv .venv-bench && .venv-bench/bin/pip install -q langgraph langgraph-checkpoint-sqlite dbos)
	@.venv/bin/python -m benchmarks

shots: ## screenshots of the panel
	@.ci/venv dev
	@.venv/bin/python -m tests.browser.shots

docs: ## the generated parts of the documentation
	@.ci/venv dev
	@.venv/bin/python .ci/docs.py

clean: ## remove caches and build output; data and .venv stay
	@rm -rf build staticfiles *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
