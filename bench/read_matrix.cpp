// SPDX-License-Identifier: Apache-2.0
// Reads one matrix and says how fast: read_matrix FILE -> "rows cols seconds peak_kib first_kib".
// The memory before reading is given so that the program's own size can be taken off.
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include "kith/data/formats.hpp"

namespace {

/// Of this program alone: getrusage would count the parent's memory from before the exec.
long peak_kib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "VmHWM:") continue;
    long kib = 0;
    status >> kib;
    return kib;
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count != 2) {
    std::fputs("usage: read_matrix FILE\n", stderr);
    return 1;
  }
  const long before = peak_kib();
  const auto start = std::chrono::steady_clock::now();
  const kith::SimilaritySet set = kith::read_similarity(arguments[1], {}, {});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("%ld %ld %.6f %ld %ld\n", static_cast<long>(set.rows()),
              static_cast<long>(set.cols()), seconds.count(), peak_kib(), before);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
