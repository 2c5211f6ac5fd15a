# SPDX-License-Identifier: MIT
# Short commands for the things one does every day; CMake does the work.
#
#   make demo      set up, build, run a model, show its ledger, write the page that shows it
#   make test      set up, build, run every test
#   make viewer    build the viewer again, say what is missing for it
#   make test-viewer   set up with Chromium, build, run the tests of the viewer
#   make python    build the Python package, install it into build/python/venv
#   make wheel     build the Python package as a wheel with its libraries inside, into build/python/dist
#   make test-wheel    test that wheel in a fresh environment without a compiler; mypy and pyright
#   make test-python   both
#   make docs      build the site from docs/, run its notebooks, check its links: build/docs/html/index.html
#   make build     set up and build; the tool is build/bin/holonom
#   make hunt       build, hunt with random models and machines for wrong answers; HUNT="--models 10000 --seed 3" says
#                  which (tests/README.md)
#   make bench     set up with other engines, run the same mechanisms in them and here, one page: build/bench/index.html;
#                  BENCH=short takes fewer sizes and repeats
#   make install   install to PREFIX (default /usr/local)
#   make clean     remove build/
#
# SETUP=skip leaves out the check for missing packages, for machines that are not Debian.

BUILD := build
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
HUNT ?= --models 1000
SETUP ?= scripts/setup
DEMO_MODEL ?= models/gyro-top.yaml
DEMO_FOLDER := $(BUILD)/demo
DEMO_NAME := $(basename $(notdir $(DEMO_MODEL)))

.DEFAULT_GOAL := build
.PHONY: setup build demo test viewer test-viewer python wheel test-wheel test-python docs hunt bench install clean

setup:
ifneq ($(SETUP),skip)
	@$(SETUP)
endif

$(BUILD)/build.ninja: | setup
	cmake --preset release

build: setup $(BUILD)/build.ninja
	cmake --build $(BUILD) --parallel $(JOBS)

demo: build
	@mkdir -p $(DEMO_FOLDER)
	$(BUILD)/bin/holonom run $(DEMO_MODEL) --output $(DEMO_FOLDER)/$(DEMO_NAME).h5
	@if [ -f $(BUILD)/share/holonom/viewer.html ]; then \
		$(BUILD)/bin/holonom view $(DEMO_FOLDER)/$(DEMO_NAME).h5; \
	else echo "  no page: the viewer needs Node (nodejs, npm); then: make viewer"; fi
	@echo "files written:" && ls -1 $(DEMO_FOLDER)/*

test: build
	ctest --test-dir $(BUILD) --parallel $(JOBS) --output-on-failure

viewer: build
	cmake --build $(BUILD) --target viewer

test-viewer:
ifneq ($(SETUP),skip)
	@$(SETUP) --viewer
endif
	@$(MAKE) --no-print-directory build
	scripts/test-viewer $(BUILD) all

python:
ifneq ($(SETUP),skip)
	@$(SETUP) --python
endif
	python3 -m venv $(BUILD)/python/venv
	$(BUILD)/python/venv/bin/pip install --quiet --upgrade pip
	$(BUILD)/python/venv/bin/pip install --quiet './python[test]'

wheel:
ifneq ($(SETUP),skip)
	@$(SETUP) --python
endif
	scripts/wheel $(BUILD)

test-wheel:
	scripts/test-wheel $(BUILD)
	cd python && ../$(BUILD)/python/test/venv/bin/python -m mypy --cache-dir ../$(BUILD)/python/mypy src/holonom tests
	cd python && ../$(BUILD)/python/test/venv/bin/pyright --pythonpath ../$(BUILD)/python/test/venv/bin/python

test-python: wheel
	@$(MAKE) --no-print-directory test-wheel

docs:
ifneq ($(SETUP),skip)
	@$(SETUP) --docs
endif
	scripts/docs $(BUILD)

hunt: build
	$(BUILD)/tests/hunter/machines --jobs $(JOBS) $(HUNT)
	$(BUILD)/tests/hunter/hunter --jobs $(JOBS) $(HUNT)

bench:
ifneq ($(SETUP),skip)
	@$(SETUP) --bench
endif
	@$(MAKE) --no-print-directory build
	benchmarks/peers/run $(if $(filter short,$(BENCH)),--short)

install: build
	cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	rm -rf $(BUILD)
