#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Configures a preset where needed, says in words what is built and how long it takes, and builds it.
#   tools/build.sh PRESET TARGETS WORDS [-DOPTION=VALUE...]      TARGETS: of CMake, separated by commas
# JOBS is the number of compilers at a time (default: one per core, as far as memory allows).
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -lt 3 ]; then
  echo "usage: tools/build.sh PRESET TARGETS WORDS [-DOPTION=VALUE...]" >&2
  exit 1
fi
preset=$1 targets=${2//,/ } words=$3
options=("${@:4}")
folder=build/$preset
mkdir -p build

cores=$(nproc 2>/dev/null || echo 2)
jobs=${JOBS:-}
if [ -z "$jobs" ]; then
  # The largest translation unit takes 2 GB of memory to compile.
  memory=$(awk '/^MemAvailable:/ { print int($2 / 2097152) }' /proc/meminfo 2>/dev/null || true)
  jobs=$cores
  if [ -n "$memory" ] && [ "$memory" -lt "$jobs" ]; then jobs=$((memory > 0 ? memory : 1)); fi
fi

is_configured() {
  [ -f "$folder/build.ninja" ] && [ ! CMakePresets.json -nt "$folder/build.ninja" ] || return 1
  local option
  for option in "${options[@]}"; do  # -DNAME=VALUE is NAME:TYPE=VALUE in the cache
    grep -qE "^${option%%=*}:[A-Z]+=${option#*=}\$" < <(sed 's/^/-D/' "$folder/CMakeCache.txt") || return 1
  done
}

# The page of `kith report` was left out: perhaps it can be had by now. A registry that does not answer costs many
# seconds, so that it is asked once in ten minutes.
left_out=$folder/report/left_out
if [ -f "$left_out" ] && { [ -n "$(find "$left_out" -mmin +10)" ] ||
  { grep -q 'not installed' "$left_out" && command -v npm >/dev/null; }; }; then
  rm -f "$left_out" "$folder/report/page_source.cpp" "$folder/build.ninja"
fi
if ! is_configured; then
  cmake --preset "$preset" "${options[@]}" >"$folder.configure.log" 2>&1 || {
    cat "$folder.configure.log" >&2
    exit 1
  }
fi

# A step takes about 25 core-seconds for the program, 9 on average with the tests, 20 under sanitizers.
# Objects that do not exist yet: a dry run would stop where CMake looks for new sources first.
# shellcheck disable=SC2086
steps=$(ninja -C "$folder" -t inputs $targets 2>/dev/null | grep '\.o$' |
  while IFS= read -r object; do [ -e "$folder/$object" ] || echo "$object"; done | wc -l)
if [ "$steps" -gt 3 ]; then
  case "$preset-$targets" in
    release-kith_app | bench-*) seconds=25 ;;
    asan-* | tsan-*) seconds=20 ;;
    *) seconds=9 ;;
  esac
  minutes=$(((steps * seconds / jobs + 59) / 60))
  echo "Building $words: about $minutes $([ $minutes -eq 1 ] && echo minute || echo minutes) on $jobs" \
    "$([ "$jobs" -eq 1 ] && echo core || echo cores) ($steps files to compile)."
fi
# shellcheck disable=SC2086
cmake --build "$folder" --parallel "$jobs" --target $targets
