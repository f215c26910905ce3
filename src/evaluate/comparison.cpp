// SPDX-License-Identifier: Apache-2.0
#include "evaluate/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/errors.hpp"
#include "evaluate/distributions.hpp"
#include "kith/core/text.hpp"

namespace kith::detail {
namespace {

constexpr double kLevel = 0.05;       // as in [TR] and [CGR]
constexpr double kRegion = 0.01;      // one point: of no practical importance
constexpr int kFewestRankedSets = 5;  // with fewer, ranks hardly tell anything
// With two, t has one degree of freedom: errors of 5 and of 70 % need not differ significantly.
constexpr std::size_t kFewestForT = 3;

/// Of a metric whose values are shares of samples: what one sample changes.
double resolution_of(Metric metric, const Overlap& overlap) {
  return metric == Metric::kLogLoss ? 0 : 1 / overlap.test_size;
}

/// Means of the same values in another order differ by rounding, and are equal.
bool is_better(double mean, double other, double sign) {
  return sign * (other - mean) > kRoundingShare * std::max(std::abs(other), std::abs(mean));
}

/// The first with the best mean among the methods with the most finished partitions; none: no
/// method has the metric.
std::optional<std::size_t> find_best(const std::vector<MethodResult>& methods, std::size_t most,
                                     double sign) {
  std::optional<std::size_t> best;
  for (std::size_t m = 0; m < methods.size(); ++m) {
    const MethodResult& method = methods[m];
    if (method.partitions.size() != most || std::isnan(method.mean)) continue;
    if (!best || is_better(method.mean, methods[*best].mean, sign)) best = m;
  }
  return best;
}

/// The values of two methods on the partitions that both have.
struct PairedValues {
  std::vector<double> first;
  std::vector<double> second;

  [[nodiscard]] std::vector<double> differences() const {
    std::vector<double> all;
    for (std::size_t i = 0; i < first.size(); ++i) all.push_back(first[i] - second[i]);
    return all;
  }
};

PairedValues paired_values(const MethodResult& a, const MethodResult& b) {
  PairedValues found;
  for (std::size_t i = 0, j = 0; i < a.partitions.size() && j < b.partitions.size();) {
    if (a.partitions[i] != b.partitions[j]) {
      a.partitions[i] < b.partitions[j] ? ++i : ++j;
      continue;
    }
    if (!std::isnan(a.values[i]) && !std::isnan(b.values[j])) {
      found.first.push_back(a.values[i]);
      found.second.push_back(b.values[j]);
    }
    ++i, ++j;
  }
  return found;
}

Estimate estimate_of(double mean, const Interval& interval) {
  return {.mean = mean, .low = interval.low, .high = interval.high};
}

/// Which of two methods a one-sided test may find worse.
enum class Worse { kFirst, kSecond };

/// a minus b.
Difference difference_of(const MethodResult& a, const MethodResult& b, Worse worse,
                         const ExperimentResult& result, const Overlap& overlap) {
  Difference found;
  const PairedValues values = paired_values(a, b);
  if (values.first.empty()) return found;
  const std::vector<double> differences = values.differences();
  found.estimate.mean = mean(differences);
  if (differences.size() > 1) {
    const CorrectedMean corrected =
        corrected_mean(differences, overlap.ratio, resolution_of(result.metric, overlap));
    found.estimate = estimate_of(corrected.mean, interval(corrected));
    if (result.metric != Metric::kLogLoss) found.bayes = posterior(corrected, kRegion);
    if (result.test == SignificanceTest::kCorrectedT && differences.size() >= kFewestForT) {
      found.p_value = p_value(corrected);
    }
  } else if (result.metric == Metric::kError && !a.missed.empty()) {
    PairedErrors pairs;
    pairs.add(a.missed, b.missed);
    found.estimate = estimate_of(found.estimate.mean, paired_interval(pairs));
    if (result.test == SignificanceTest::kMcnemar) found.p_value = mcnemar_mid_p(pairs);
  }
  if (result.test == SignificanceTest::kWilcoxon) {
    const bool first_is_larger = smaller_is_better(result.metric) == (worse == Worse::kFirst);
    found.p_value = first_is_larger ? wilcoxon_larger(values.first, values.second)
                                    : wilcoxon_larger(values.second, values.first);
  }
  return found;
}

void adjust(std::span<Difference* const> differences) {
  std::vector<double> raw;
  for (const Difference* one : differences) raw.push_back(one->p_value);
  const std::vector<double> adjusted = holm(raw);
  for (std::size_t i = 0; i < raw.size(); ++i) differences[i]->p_adjusted = adjusted[i];
}

/// The least p-value that `partitions` values could give, whatever they are.
double least_p(const ExperimentResult& result, const Overlap& overlap, std::size_t partitions) {
  const auto count = static_cast<double>(partitions);
  switch (result.test) {
    case SignificanceTest::kWilcoxon:
      return std::pow(0.5, count);
    case SignificanceTest::kMcnemar:
      return std::pow(0.5, overlap.test_size);
    case SignificanceTest::kCorrectedT: {
      if (partitions < kFewestForT) return 1;
      const double resolution = resolution_of(result.metric, overlap);
      const double scale = resolution * std::sqrt((1 / count + overlap.ratio) / count);
      return scale == 0 ? 0 : student_two_sided(1 / scale, count - 1);
    }
    case SignificanceTest::kAuto:
    case SignificanceTest::kNone:
      break;
  }
  return 1;
}

std::string test_words(const ExperimentResult& result) {
  switch (result.test) {
    case SignificanceTest::kCorrectedT:
      return "the two-sided corrected resampled t-test against the best method";
    case SignificanceTest::kMcnemar:
      return "McNemar's mid-p test against the best method, on the same samples";
    case SignificanceTest::kWilcoxon:
      return "the one-sided Wilcoxon signed-rank test against the best method";
    case SignificanceTest::kAuto:
    case SignificanceTest::kNone:
      break;
  }
  return "no test";
}

/// How many finished partitions a test needs to find anything.
std::size_t fewest_partitions(SignificanceTest test) {
  if (test == SignificanceTest::kWilcoxon) return 5;
  return test == SignificanceTest::kCorrectedT ? kFewestForT : 1;
}

/// Why no difference could be significant, and what would be needed.
std::string why_nothing(const ExperimentResult& result, std::size_t most, bool tested) {
  const std::string text = "No difference could be significant here: ";
  if (result.test == SignificanceTest::kNone) {
    if (result.partitions > 1 || result.metric == Metric::kError) {
      return "No test was asked for, so that nothing is marked.";
    }
    return text + fmt::format(
                      "one partition allows a test of the error alone. At least {} are needed for "
                      "other metrics.",
                      kFewestForT);
  }
  const std::size_t needed = fewest_partitions(result.test);
  if (most < needed && most < static_cast<std::size_t>(result.partitions)) {
    return text + fmt::format(
                      "only {} of {} partitions {} finished, and {} are needed. Rerun the same "
                      "evaluation to resume it.",
                      most, result.partitions, most == 1 ? "is" : "are", needed);
  }
  if (most < needed) {
    return text + fmt::format("the {} needs at least {} partitions, and there {}.",
                              result.test == SignificanceTest::kWilcoxon
                                  ? "Wilcoxon signed-rank test"
                                  : "corrected resampled t-test",
                              needed, most == 1 ? "is one" : fmt::format("are {}", most));
  }
  if (!tested && !result.complete()) {
    return text +
           "the other methods have finished too few partitions. Rerun the same evaluation to "
           "resume it.";
  }
  if (!tested) return text + "no other method has this metric.";
  return text + fmt::format(
                    "there are too few test samples for {}. More test samples or more partitions "
                    "are needed.",
                    counted(std::ssize(result.methods), "method"));
}

std::string note_of(const ExperimentResult& result, std::size_t most, std::ptrdiff_t tested) {
  if (result.methods.size() < 2) return "";
  if (!result.could_tell) return why_nothing(result, most, tested > 0);
  std::string text = fmt::format("p is of {}", test_words(result));
  if (result.test == SignificanceTest::kWilcoxon) {
    text +=
        ". Over overlapping random partitions this test finds differences where there are none far "
        "more often than in 5 % of cases";
  } else if (tested > 1) {
    text += fmt::format(", adjusted by Holm's method for {} comparisons", tested);
  }
  text += ".";
  if (result.test == SignificanceTest::kMcnemar && result.groups > 0) {
    text += " It takes the samples of a group as independent, which makes p too small.";
  }
  return text;
}

/// The method that has a better mean than the leader on fewer partitions; null: there is none.
const MethodResult* find_ahead(const ExperimentResult& result, const MethodResult& leader,
                               double sign) {
  for (const MethodResult& method : result.methods) {
    if (method.partitions.size() < leader.partitions.size() &&
        is_better(method.mean, leader.mean, sign)) {
      return &method;
    }
  }
  return nullptr;
}

void compare_pairs(ExperimentResult& result, const Overlap& overlap) {
  const std::vector<MethodResult>& methods = result.methods;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    for (std::size_t j = i + 1; j < methods.size(); ++j) {
      const bool first_larger = methods[i].mean > methods[j].mean;
      const Worse worse =
          first_larger == smaller_is_better(result.metric) ? Worse::kFirst : Worse::kSecond;
      result.pairs.push_back(
          {.first = i,
           .second = j,
           .difference = difference_of(methods[i], methods[j], worse, result, overlap)});
    }
  }
  std::vector<Difference*> all;
  for (MethodPair& pair : result.pairs) all.push_back(&pair.difference);
  adjust(all);
}

}  // namespace

void compare(ExperimentResult& result, const Overlap& overlap) {
  std::size_t most = 1;
  for (const MethodResult& method : result.methods) {
    most = std::max(most, method.partitions.size());
  }
  const double sign = smaller_is_better(result.metric) ? 1 : -1;
  const std::optional<std::size_t> best = find_best(result.methods, most, sign);
  if (!best) return;
  MethodResult& leader = result.methods[*best];
  leader.leads = true;
  std::vector<Difference*> to_best;
  for (MethodResult& method : result.methods) {
    if (method.leads) continue;
    method.to_best = difference_of(method, leader, Worse::kFirst, result, overlap);
    to_best.push_back(&*method.to_best);
  }
  adjust(to_best);
  const auto tested = std::count_if(to_best.begin(), to_best.end(), [](const Difference* one) {
    return !std::isnan(one->p_value);
  });
  const double adjusted =
      result.test == SignificanceTest::kWilcoxon ? 1 : static_cast<double>(tested);
  const MethodResult* ahead = find_ahead(result, leader, sign);
  result.could_tell =
      ahead == nullptr && tested > 0 && adjusted * least_p(result, overlap, most) <= kLevel;
  for (MethodResult& method : result.methods) {
    method.best =
        result.could_tell && (method.leads || (method.partitions.size() == most &&
                                               deciding_p(*method.to_best, result.test) > kLevel));
  }
  compare_pairs(result, overlap);
  result.test_note = note_of(result, most, tested);
  if (ahead != nullptr) {
    result.test_note = fmt::format(
        "The evaluation is not finished, and nothing is marked as best: {} has a better mean than "
        "{}, on {} of {}.",
        ahead->name, leader.name, ahead->partitions.size(),
        counted(result.partitions, "partition"));
  }
}

void rank(RankTable& table, const Matrix& ranks) {
  const Vector means = ranks.colwise().mean();
  table.ranks.assign(means.begin(), means.end());
  const auto sets = static_cast<int>(ranks.rows());
  if (sets < kFewestRankedSets) {
    table.note = fmt::format(
        "Ranks over {} data sets are too few for a test: Friedman's and Nemenyi's tests are made "
        "from {} data sets on.",
        sets, kFewestRankedSets);
    return;
  }
  table.friedman = friedman(ranks);
  table.critical_difference = critical_difference(static_cast<int>(ranks.cols()), sets, kLevel);
  const bool differ = table.friedman->p_value <= kLevel;
  table.note = fmt::format(
      "Friedman's test {} (p = {:.3g}). Average ranks that differ by less than {:.2f} do not "
      "differ significantly (Nemenyi's critical difference, {} methods, {} data sets, 5 %).",
      differ ? "finds that the methods differ" : "finds no difference between the methods",
      table.friedman->p_value, table.critical_difference, ranks.cols(), sets);
}

}  // namespace kith::detail

namespace kith {

double deciding_p(const Difference& difference, SignificanceTest test) {
  return test == SignificanceTest::kWilcoxon ? difference.p_value : difference.p_adjusted;
}

SignificanceTest chosen_test(SignificanceTest test, Metric metric, std::size_t partitions,
                             std::string_view protocol, std::string_view data_set) {
  if (test == SignificanceTest::kAuto) {
    if (protocol != "kith") return SignificanceTest::kWilcoxon;
    if (partitions > 1) return SignificanceTest::kCorrectedT;
    return metric == Metric::kError ? SignificanceTest::kMcnemar : SignificanceTest::kNone;
  }
  if (test == SignificanceTest::kMcnemar && partitions != 1) {
    throw invalid(
        "McNemar's test compares methods on one partition, and {} has {}; corrected-t "
        "takes several",
        in_quotes(data_set), partitions);
  }
  if (test == SignificanceTest::kMcnemar && metric != Metric::kError) {
    throw invalid("McNemar's test compares errors; the metric is {}", enum_name(metric));
  }
  if (test == SignificanceTest::kCorrectedT && partitions < 2) {
    throw invalid(
        "the corrected resampled t-test needs {} partitions or more, and {} has one; "
        "mcnemar takes one",
        detail::kFewestForT, in_quotes(data_set));
  }
  return test;
}

}  // namespace kith
