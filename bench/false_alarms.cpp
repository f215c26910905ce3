// SPDX-License-Identifier: Apache-2.0
// How often tests of significance find a difference where there is none: the tables of
// docs/statistics.md.
//   bench_false_alarms [SIMULATIONS]
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "support/no_difference.hpp"

namespace {

struct Row {
  std::string_view name;
  kith::test::Simulated what;
};

std::vector<Row> rows() {
  using kith::test::Rule;
  std::vector<Row> all;
  for (const kith::Index n : {100, 400}) {
    all.push_back({"nearest mean", {n, Rule::kNearestMean, 0.4}});
    all.push_back({"nearest mean, easy classes", {n, Rule::kNearestMean, 0.9}});
    all.push_back({"linear ridge", {n, Rule::kLinearRidge, 0.4}});
    all.push_back({"1-NN", {n, Rule::kNearestNeighbour, 0.4}});
  }
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  const int simulations = count > 1 ? std::atoi(arguments[1]) : 4000;
  std::string two =
      "| samples | methods | corrected t | the same, 4 x 5 folds | McNemar mid-p, 1 partition "
      "| Wilcoxon | t without correction | corrected t, all draws |\n"
      "|---:|---|---:|---:|---:|---:|---:|---:|\n";
  std::string five =
      "| samples | methods | a given one loses its mark | any one does | any pair differs |\n"
      "|---:|---|---:|---:|---:|\n";
  for (const Row& row : rows()) {
    const auto found = kith::test::count_false_alarms(row.what, simulations, 1);
    const auto cells = [](const std::vector<double>& shares) {
      std::string text;
      for (const double share : shares) text += fmt::format(" {:.1f} % |", 100 * share);
      return text + "\n";
    };
    const std::string head = fmt::format("| {} | {} |", row.what.samples, row.name);
    two += head + cells({found.corrected_t, found.corrected_t_folds, found.mcnemar, found.wilcoxon,
                         found.plain_t, found.corrected_t_draws});
    five += head + cells({found.one_of_five, found.any_of_five, found.any_pair});
  }
  fmt::print("{}\n{}", two, five);
}
