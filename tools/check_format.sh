#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the layout of every C++ file with clang-format 14, or mends it with --fix. Without
# clang-format 14 it says so and exits with 77 (skipped).
set -euo pipefail
cd "$(dirname "$0")/.."
action=(--dry-run -Werror)
[ "${1:-}" != --fix ] || action=(-i)
for program in clang-format-14 clang-format; do
  command -v "$program" >/dev/null || continue
  case "$("$program" --version)" in
    *"version 14."*)
      find . \( -path ./build -o -path ./node_modules \) -prune -o -name '*.[ch]pp' -print0 |
        xargs -0 "$program" "${action[@]}"
      exit
      ;;
  esac
done
echo "skipped: there is no clang-format 14 here"
exit 77
