# The front door. Every target installs the Debian packages it needs and builds what it runs.
# The build itself is CMake's: see CMakeLists.txt and the presets release, debug, asan, tsan and lint.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 60
# Warnings stop the build where nobody reads them.
CONFIGURE := cmake -DREFRAIN_WERROR=$(if $(CI),ON,OFF) --log-level=WARNING --preset
BUILD := cmake --build
BIN := build/release/bin

## run: build and run the demonstration: automatic tracing off and on, applications beside their sequential twins
run: setup-build setup-run
	@$(CONFIGURE) release > /dev/null
	@$(BUILD) build/release -j $(JOBS) --target demo
	@scripts/demo $(BIN)

## install: build the libraries and the command `refrain`, install them to PREFIX
install: setup-build
	@$(if $(PREFIX),,$(error make install wants PREFIX=folder))
	@$(CONFIGURE) release > /dev/null
	@$(BUILD) build/release -j $(JOBS) --target installed
	@cmake --install build/release --prefix $(PREFIX)

## test: build and pass all tests, a part of them under the sanitizers too
test: setup-build setup-test
	@JOBS=$(JOBS) scripts/test full

## test-quick: the tests of the release build, the random ones cut short
test-quick: setup-build setup-test
	@JOBS=$(JOBS) scripts/test quick

## test-debug, test-asan, test-tsan: the tests of one other build, the random ones cut short
test-debug test-asan test-tsan: test-%: setup-build setup-test
	@JOBS=$(JOBS) scripts/test $*

## test-clang: the libraries with clang, without a warning, in a project that takes their sources
test-clang: setup-build setup-clang
	@CMAKE_BUILD_PARALLEL_LEVEL=$(JOBS) scripts/check_consumer sources build/clang -DREFRAIN_WERROR=ON

## fuzz: random programs for FUZZ_SECONDS (60) seconds; a failure prints its seed and a shrunk program
fuzz: setup-build
	@$(CONFIGURE) release > /dev/null
	@$(BUILD) build/release -j $(JOBS) --target fuzz
	@$(BIN)/fuzz --seconds $(FUZZ_SECONDS)

## bench: measure what the goals need, with half the repetitions; results in build/bench/results.json
bench: bench-build
	@bench/run.py $(BIN) --out build/bench/results.json

## bench-all: measure every figure
bench-all: bench-build
	@bench/run.py $(BIN) --out build/bench/results.json --all

## bench-NAME: one benchmark with all repetitions, e.g. bench-task_overhead
bench-%: bench-build
	@bench/run.py $(BIN) --out build/bench/results.json --only $*

bench-build: setup-build setup-bench
	@$(CONFIGURE) release > /dev/null
	@$(BUILD) build/release -j $(JOBS) --target benches

## lint: format, direction of inclusion, lines per room, and clang-tidy on what the branch has changed
lint: setup-build setup-lint
	@$(CONFIGURE) lint > /dev/null
	@JOBS=$(JOBS) scripts/lint changed

## lint-all: the same with clang-tidy on the libraries, tools and applications
lint-all: setup-build setup-lint
	@$(CONFIGURE) lint > /dev/null
	@JOBS=$(JOBS) scripts/lint

## format: bring all sources into the format that lint asks for
format: setup-lint
	@scripts/sources | xargs -r clang-format -i

## clean: remove everything that was built
clean:
	@rm -rf build

## help: this list
help:
	@sed -n 's/^## /  make /p' $(MAKEFILE_LIST)

setup-%:
	@scripts/setup $*

.PHONY: run install test test-quick test-debug test-asan test-tsan test-clang fuzz bench bench-all bench-build \
        lint lint-all format clean help
