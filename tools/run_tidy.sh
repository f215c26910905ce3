#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy 14 over every C++ source of the library, the program and the tests, a batch of sources at a time.
# Nothing is compiled; any finding is an error.
#   tools/run_tidy.sh [JOBS]
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p build
jobs=${1:-$(nproc)}

tidy=$(command -v run-clang-tidy-14 || command -v run-clang-tidy)
cmake --preset tidy >build/tidy.log 2>&1 || {
  cat build/tidy.log >&2
  exit 1
}
tools/make_tidy_batches.py build/tidy
batches=build/tidy/batches
units=$(grep -c '"file":' "$batches/compile_commands.json")
echo "Running clang-tidy over $units batches of sources: about $((units * 60 / jobs / 60 + 1)) minutes on $jobs cores."
"$tidy" -p "$batches" -j "$jobs" -quiet -checks=-bugprone-suspicious-include >build/tidy.log 2>&1 || {
  grep -E '(error|warning): ' build/tidy.log | sort -u >&2
  echo "clang-tidy found something; build/tidy.log has it with its context." >&2
  exit 1
}
echo "clang-tidy found nothing."
