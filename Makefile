# SPDX-License-Identifier: Apache-2.0
# The commands people type. CMake does the work; CMakePresets.json says how.
.DEFAULT_GOAL := build
.PHONY: build test demo install wheel bench format tidy coverage asan tsan fuzz clean help
.PHONY: dependencies reproduce

PREFIX ?= /usr/local
DESTDIR ?=
CORES := $(shell nproc 2>/dev/null || echo 2)
JOBS ?= $(CORES)
FUZZ_SECONDS ?= 30

# $(call build_with,PRESET[,TARGETS]): configures once and after a change of the presets, then builds.
define build_with
@if [ ! -f build/$(1)/build.ninja ] || [ CMakePresets.json -nt build/$(1)/build.ninja ]; then \
  cmake --preset $(1); fi
@cmake --build --preset $(1) --parallel $(JOBS) $(if $(2),--target $(2))
endef

help: ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | \
	  awk -F '\t' '{ printf "  make %-10s %s\n", $$1, $$2 }'

dependencies:
	@tools/install_dependencies.sh build

build: dependencies ## install what is missing and build a release in build/release
	$(call build_with,release)

test: build ## build, then run every test
	@tools/install_dependencies.sh test || echo "Without Chromium the page of kith report is not tested in a browser." >&2
	@ctest --preset release --parallel $(JOBS)

demo: build ## build, then run kith on the data that ships with it
	@tools/demo.sh build/release/kith

install: build ## build, then install below PREFIX (default /usr/local); DESTDIR is honoured
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

wheel: build ## build, then write a wheel of the Python package to build/wheel
	@KITH_BUILD_DIR="$(CURDIR)/build/release" /usr/bin/python3 -m pip wheel --quiet --no-build-isolation \
	  --no-deps --wheel-dir build/wheel .
	@ls build/wheel/*.whl

bench: dependencies ## build and run the benchmarks
	@tools/install_dependencies.sh bench
	$(call build_with,bench)
	@bench/run.sh build/bench

reproduce: build ## compare with the printed tables, where ../shared is; writes docs/reproduction.md
	@tools/install_dependencies.sh reproduce || echo "What needs ncbi-blast+ is left out." >&2
	@tools/reproduce.py --program build/release/kith

format: dependencies ## lay out every C++ file with clang-format
	@tools/check_format.sh --fix

tidy: dependencies ## build with clang-tidy, warnings as errors
	@tools/install_dependencies.sh developer
	$(call build_with,tidy)

coverage: dependencies ## run the tests with coverage; the report is build/coverage/coverage.html
	@tools/install_dependencies.sh developer
	$(call build_with,coverage)
	@ctest --preset coverage --parallel $(JOBS)
	@gcovr --root . --filter src/ --filter include/ --filter app/ build/coverage \
	  --html-details build/coverage/coverage.html --print-summary

asan: dependencies ## run the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	$(call build_with,asan)
	@ctest --preset asan --parallel $(JOBS)

tsan: dependencies ## run the tests labelled `threads` under ThreadSanitizer
	@tools/run_tsan.sh $(JOBS)

fuzz: dependencies ## run every fuzzer for FUZZ_SECONDS (default 30)
	@tools/install_dependencies.sh developer
	$(call build_with,fuzz)
	@tools/run_fuzzers.sh build/fuzz $(FUZZ_SECONDS)

clean: ## remove everything that was built
	@rm -rf build
