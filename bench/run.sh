#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every benchmark program of a build, then every comparison in bench/*.py with the path of the
# kith program of that build.
#   bench/run.sh BUILD_DIR [NAME...]     NAME: only these, such as symmetric_eigen
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
shift
python=/usr/bin/python3
[ -x "$python" ] || python=python3

chosen() {  # chosen NAME WANTED...
  local name=$1 wanted
  shift
  [ $# -gt 0 ] || return 0
  for wanted in "$@"; do [ "$name" = "$wanted" ] && return 0; done
  return 1
}

for program in "$build"/bench/bench_*; do
  [ -f "$program" ] && [ -x "$program" ] || continue
  name=$(basename "$program")
  chosen "${name#bench_}" "$@" || continue
  echo "== $name"
  "$program"
done
for script in "$here"/*.py; do
  [ -f "$script" ] || continue
  name=$(basename "$script" .py)
  chosen "$name" "$@" || continue
  echo "== $name"
  "$python" "$script" "$build/kith"
done
