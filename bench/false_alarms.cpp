// SPDX-License-Identifier: Apache-2.0
// How often each test of significance finds a difference where there is none: the table of
// docs/statistics.md.
//   bench_false_alarms [SIMULATIONS]
#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "support/no_difference.hpp"

int main(int count, char** arguments) {
  using kith::test::Rule;
  const int simulations = count > 1 ? std::atoi(arguments[1]) : 4000;
  fmt::print(
      "| samples | method | corrected t | McNemar mid-p (1 partition) | Wilcoxon | t without "
      "correction |\n|---:|---|---:|---:|---:|---:|\n");
  for (const kith::Index n : {100, 400}) {
    for (const auto& [rule, name] : {std::pair(Rule::kNearestMean, "nearest mean"),
                                     std::pair(Rule::kLinearRidge, "linear ridge"),
                                     std::pair(Rule::kNearestNeighbour, "1-NN")}) {
      const auto found = kith::test::count_false_alarms(n, rule, 20, simulations, 1);
      fmt::print("| {} | {} | {:.1f} % | {:.1f} % | {:.1f} % | {:.1f} % |\n", n, name,
                 100 * found.corrected_t, 100 * found.mcnemar, 100 * found.wilcoxon,
                 100 * found.plain_t);
    }
  }
}
