# SPDX-License-Identifier: Apache-2.0
# The commands people type. CMake does the work; CMakePresets.json says how.
.DEFAULT_GOAL := build
.PHONY: build python test test-long demo install wheel bench reproduce format tidy coverage asan tsan fuzz clean help

PREFIX ?= /usr/local
DESTDIR ?=
CORES := $(shell nproc 2>/dev/null || echo 2)
FUZZ_SECONDS ?= 30
export JOBS
TEST_JOBS := $(or $(JOBS),$(CORES))

install_packages := tools/install_dependencies.sh
tests := -DKITH_BUILD_TESTS=ON -DKITH_BUILD_PYTHON=ON

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | \
	  awk -F '\t' '{ printf "  make %-10s %s\n", $$1, $$2 }'

build: ## install what is missing and build the program: build/release/kith
	@$(install_packages) program
	@$(install_packages) --optional page
	@tools/build.sh release kith_app kith

demo: build ## build the program, then run it on the data that ships with it
	@tools/demo.sh build/release/kith

python: build ## build the Python package: build/release/python
	@$(install_packages) python
	@tools/build.sh release kith_python_package "the Python package" -DKITH_BUILD_PYTHON=ON

test: ## build what the tests need, then run every test but the long ones
	@$(install_packages) program python test
	@$(install_packages) --optional page browser
	@tools/build.sh release kith_tests "kith and its tests" $(tests)
	@ctest --preset release --parallel $(TEST_JOBS)

test-long: ## run the tests that take minutes each
	@$(install_packages) program python test
	@$(install_packages) --optional page browser
	@tools/build.sh release kith_tests "kith and its tests" $(tests)
	@ctest --preset release-long

install: python ## build, then install below PREFIX (default /usr/local); DESTDIR is honoured
	@tools/build.sh release kith_pages "the manual page"
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

wheel: python ## build, then write a wheel of the Python package to build/wheel
	@KITH_BUILD_DIR="$(CURDIR)/build/release" /usr/bin/python3 -m pip wheel --quiet --no-build-isolation \
	  --no-deps --wheel-dir build/wheel .
	@ls build/wheel/*.whl

bench: ## build and run the benchmarks
	@$(install_packages) program python bench
	@$(install_packages) --optional page
	@tools/build.sh bench kith_app,kith_python_package,kith_benchmarks "kith and its benchmarks"
	@bench/run.sh build/bench

reproduce: build ## compare with the printed tables, where ../shared is; writes docs/reproduction.md
	@$(install_packages) --optional reproduce
	@tools/reproduce.py --program build/release/kith

format: ## lay out every C++ file with clang-format
	@$(install_packages) format
	@tools/check_format.sh --fix

tidy: ## run clang-tidy over the library, the program and the tests, warnings as errors
	@$(install_packages) program test developer
	@tools/run_tidy.sh $(TEST_JOBS)

coverage: ## run the tests with coverage; the report is build/coverage/coverage.html
	@$(install_packages) program test developer
	@tools/build.sh coverage kith_tests "kith and its tests with coverage"
	@ctest --preset coverage --parallel $(TEST_JOBS)
	@gcovr --gcov-executable 'llvm-cov-14 gcov' --root . --filter src/ --filter include/ --filter app/ build/coverage \
	  --html-details build/coverage/coverage.html --print-summary

asan: ## run the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(install_packages) program test sanitizer
	@tools/build.sh asan kith_tests "kith and its tests with AddressSanitizer"
	@ctest --preset asan --parallel $(TEST_JOBS)

tsan: ## run the tests labelled `threads` under ThreadSanitizer
	@$(install_packages) program test sanitizer
	@tools/run_tsan.sh $(TEST_JOBS)

fuzz: ## run every fuzzer for FUZZ_SECONDS (default 30)
	@$(install_packages) program developer
	@tools/build.sh fuzz all "the fuzzers"
	@tools/run_fuzzers.sh build/fuzz $(FUZZ_SECONDS)

clean: ## remove everything that was built
	@rm -rf build
