#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every fuzzer of a build for some seconds each, starting from the corpus in tests/fuzz/corpus.
#   tools/run_fuzzers.sh BUILD_DIR SECONDS
set -euo pipefail
build=$1
seconds=$2
found=0
for fuzzer in "$build"/tests/fuzz/fuzz_*; do
  [ -f "$fuzzer" ] && [ -x "$fuzzer" ] || continue
  found=1
  name=$(basename "$fuzzer")
  corpus=tests/fuzz/corpus/${name#fuzz_}
  work=$build/corpus/$name
  mkdir -p "$work"
  seeds=()
  [ -d "$corpus" ] && seeds=("$corpus")
  echo "== $name, $seconds s"
  "$fuzzer" -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="$work/crash-" \
    "$work" "${seeds[@]}"
done
[ $found = 1 ] || echo "There are no fuzzers in $build/tests/fuzz."
