// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/generative/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace kith {
namespace {

/// Relative to the largest sum of magnitudes: sums in another order differ by less.
constexpr double kEqualSums = 1e-12;
/// How far an impossible class scores below the least possible one: e^-1000 is 0 in doubles.
constexpr double kImpossible = 1000;

}  // namespace

std::size_t centroid(std::span<const Index> members, const PairFunction& pair) {
  std::vector<double> sums(members.size(), 0.0);
  double largest = 0;
  for (std::size_t a = 0; a < members.size(); ++a) {
    double magnitude = 0;
    for (const Index other : members) {
      const double s = pair(members[a], other);
      sums[a] += s;
      magnitude += std::abs(s);
    }
    largest = std::max(largest, magnitude);
  }
  const double best = *std::max_element(sums.begin(), sums.end());
  const auto first = std::find_if(sums.begin(), sums.end(),
                                  [&](double sum) { return sum >= best - kEqualSums * largest; });
  return static_cast<std::size_t>(first - sums.begin());
}

Matrix query_statistics(const QueryBlock& queries, std::span<const Index> columns) {
  const QueryMatrix& query = queries.matrices.front();
  check_columns(query, std::ssize(columns));
  return mean_rows(query).values();
}

double log_sum_exp(const VectorRef& logs) {
  if (logs.size() == 0) return -std::numeric_limits<double>::infinity();
  const double largest = logs.maxCoeff();
  if (!std::isfinite(largest)) return largest;
  return largest + std::log((logs.array() - largest).exp().sum());
}

Vector log_shares(std::span<const Index> counts) {
  Index total = 0;
  for (const Index count : counts) total += count;
  Vector shares(static_cast<Index>(counts.size()));
  for (std::size_t g = 0; g < counts.size(); ++g) {
    shares(static_cast<Index>(g)) =
        std::log(static_cast<double>(counts[g]) / static_cast<double>(total));
  }
  return shares;
}

Vector finite_scores(const VectorRef& log_posteriors) {
  double least = 0;
  for (const double value : log_posteriors) {
    if (std::isfinite(value)) least = std::min(least, value);
  }
  return log_posteriors.cwiseMax(least - kImpossible);
}

Prediction predict_by_joint(const Matrix& log_joint, const Matrix& T,
                            std::span<const Index> represents, std::span<const Index> counts) {
  Prediction prediction =
      blank_prediction(log_joint.rows(), static_cast<int>(log_joint.cols()), true);
  for (Index q = 0; q < log_joint.rows(); ++q) {
    const Vector joint = log_joint.row(q).transpose();
    Vector nearest = Vector::Constant(joint.size(), -std::numeric_limits<double>::infinity());
    for (std::size_t m = 0; m < represents.size(); ++m) {
      double& own = nearest(represents[m]);
      own = std::max(own, T(q, static_cast<Index>(m)));
    }
    const auto rank = [&](std::size_t g) {
      const auto at = static_cast<Index>(g);
      return std::tuple(joint(at), nearest(at), counts[g]);
    };
    std::size_t best = 0;
    for (std::size_t g = 1; g < counts.size(); ++g) {
      if (rank(g) > rank(best)) best = g;
    }
    const Vector logs = joint.array() - log_sum_exp(joint);
    // Eigen's own exp of minus infinity is not quite 0.
    const Vector shares = logs.unaryExpr([](double x) { return std::exp(x); });
    prediction.labels[static_cast<std::size_t>(q)] = static_cast<int>(best);
    prediction.probabilities.row(q) = (shares / shares.sum()).transpose();
    prediction.scores.row(q) = finite_scores(logs).transpose();
  }
  return prediction;
}

}  // namespace kith
