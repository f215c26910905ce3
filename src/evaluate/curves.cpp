// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/curves.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace kith {
namespace {

constexpr int kSteps = 40;  // of the grid of rates: finer than a page can show

std::vector<double> rate_grid() {
  std::vector<double> grid;
  for (int i = 0; i <= kSteps; ++i) grid.push_back(static_cast<double>(i) / kSteps);
  return grid;
}

/// For each sample how much speaks for class `c`.
Vector leads(const Prediction& prediction, int c, int classes) {
  const Matrix& scores = prediction.scores;
  const Matrix& probabilities = prediction.probabilities;
  if (classes == 2) {
    const Matrix& table = scores.size() > 0 ? scores : probabilities;
    return table.col(c) - table.col(1 - c);
  }
  if (probabilities.size() > 0) return probabilities.col(c);
  Matrix others = scores;
  others.col(c).setConstant(-std::numeric_limits<double>::infinity());
  return scores.col(c) - others.rowwise().maxCoeff();
}

/// What is found right and wrong down to each distinct value, from the largest.
struct Counts {
  std::vector<double> found;  // of the class
  std::vector<double> false_alarms;
};

Counts counts_by_lead(std::span<const int> truth, int c, const Vector& lead) {
  std::vector<Index> order(truth.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return lead(a) > lead(b); });
  Counts counts{{0}, {0}};
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || lead(order[i]) != lead(order[i - 1])) {
      counts.found.push_back(counts.found.back());
      counts.false_alarms.push_back(counts.false_alarms.back());
    }
    const bool is_class = truth[static_cast<std::size_t>(order[i])] == c;
    (is_class ? counts.found : counts.false_alarms).back() += 1;
  }
  return counts;
}

/// The curve joins its points by straight lines; where it rises at once, the upper end counts.
void add_roc(const Counts& counts, const std::vector<double>& grid, ClassCurve& sum) {
  const double positives = counts.found.back(), negatives = counts.false_alarms.back();
  std::size_t at = 0;
  for (std::size_t g = 0; g < grid.size(); ++g) {
    const double wanted = grid[g] * negatives;
    while (at + 1 < counts.found.size() && counts.false_alarms[at + 1] <= wanted) ++at;
    double found = counts.found[at];
    if (at + 1 < counts.found.size()) {
      const double step = counts.false_alarms[at + 1] - counts.false_alarms[at];
      found += (wanted - counts.false_alarms[at]) / step * (counts.found[at + 1] - found);
    }
    sum.tpr[g] += found / positives;
  }
  double area = 0;
  for (std::size_t k = 1; k < counts.found.size(); ++k) {
    area += (counts.false_alarms[k] - counts.false_alarms[k - 1]) *
            (counts.found[k] + counts.found[k - 1]) / 2;
  }
  sum.auc += area / (positives * negatives);
}

/// Precision at a recall is that of the first threshold that reaches it.
void add_precision(const Counts& counts, const std::vector<double>& grid, ClassCurve& sum) {
  const double positives = counts.found.back();
  const auto precision = [&](std::size_t k) {
    return counts.found[k] / (counts.found[k] + counts.false_alarms[k]);
  };
  std::size_t at = 1;
  for (std::size_t g = 0; g < grid.size(); ++g) {
    while (counts.found[at] < grid[g] * positives) ++at;
    sum.precision[g] += precision(at);
  }
  for (std::size_t k = 1; k < counts.found.size(); ++k) {
    sum.average_precision += (counts.found[k] - counts.found[k - 1]) / positives * precision(k);
  }
}

void add_scaled(const ClassCurve& from, double factor, ClassCurve& to) {
  for (std::size_t g = 0; g < from.tpr.size(); ++g) {
    to.tpr[g] += factor * from.tpr[g];
    to.precision[g] += factor * from.precision[g];
  }
  to.auc += factor * from.auc;
  to.average_precision += factor * from.average_precision;
}

ClassCurve no_curve(int label) {
  const std::vector<double> zeros(kSteps + 1, 0);
  return {.label = label, .tpr = zeros, .precision = zeros};
}

}  // namespace

CurveMean::CurveMean(int classes) : counts_(static_cast<std::size_t>(classes), 0) {
  for (int c = 0; c < classes; ++c) sums_.push_back(no_curve(c));
}

void CurveMean::add(std::span<const int> truth, const Prediction& prediction) {
  if (prediction.scores.size() == 0 && prediction.probabilities.size() == 0) return;
  const std::vector<double> grid = rate_grid();
  const int classes = static_cast<int>(sums_.size());
  for (int c = classes == 2 ? 1 : 0; c < classes; ++c) {
    const Counts counts = counts_by_lead(truth, c, leads(prediction, c, classes));
    if (counts.found.back() == 0 || counts.false_alarms.back() == 0) continue;
    ClassCurve& sum = sums_[static_cast<std::size_t>(c)];
    add_roc(counts, grid, sum);
    add_precision(counts, grid, sum);
    ++counts_[static_cast<std::size_t>(c)];
  }
}

std::optional<Curves> CurveMean::mean(int most) const {
  Curves curves{.grid = rate_grid(), .classes = {}};
  for (std::size_t c = 0; c < sums_.size(); ++c) {
    if (counts_[c] == 0) continue;
    curves.classes.push_back(no_curve(static_cast<int>(c)));
    add_scaled(sums_[c], 1.0 / counts_[c], curves.classes.back());
  }
  if (curves.classes.empty()) return std::nullopt;
  if (sums_.size() == 2) return curves;
  ClassCurve whole = no_curve(-1);
  for (const ClassCurve& one : curves.classes) {
    add_scaled(one, 1.0 / static_cast<double>(curves.classes.size()), whole);
  }
  std::stable_sort(curves.classes.begin(), curves.classes.end(),
                   [](const ClassCurve& a, const ClassCurve& b) { return a.auc < b.auc; });
  if (std::ssize(curves.classes) > most) {
    curves.left_out = static_cast<int>(std::ssize(curves.classes)) - most;
    curves.classes.resize(static_cast<std::size_t>(most));
  }
  curves.classes.insert(curves.classes.begin(), std::move(whole));
  return curves;
}

}  // namespace kith
