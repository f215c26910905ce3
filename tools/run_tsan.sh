#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the test programs labelled `threads` under ThreadSanitizer and runs them.
#   tools/run_tsan.sh [JOBS]
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=${1:-$(nproc)}

# g++ 12's ThreadSanitizer cannot map its shadow memory under the wider address randomisation of
# newer kernels; where it may be switched off, it is.
fixed=()
if setarch --addr-no-randomize true 2>/dev/null; then fixed=(setarch --addr-no-randomize); fi

"${fixed[@]}" tools/build.sh tsan kith_thread_programs "the thread tests with ThreadSanitizer"
"${fixed[@]}" ctest --preset tsan --parallel "$jobs"
