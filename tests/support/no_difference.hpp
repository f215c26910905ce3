// SPDX-License-Identifier: Apache-2.0
// Evaluations of two methods between which there is no difference, to count the false alarms of
// tests of significance.
#pragma once

#include <Eigen/Cholesky>
#include <algorithm>
#include <utility>
#include <vector>

#include "kith/core/rng.hpp"
#include "kith/evaluate/paired_tests.hpp"

namespace kith::test {

enum class Rule { kNearestMean, kLinearRidge, kNearestNeighbour };

/// Two methods that see different features of the same samples. All features have the same
/// distribution, so neither method can be better. Both err on the same random partitions.
class NoDifference {
 public:
  static constexpr Index kFeatures = 5;  // of each method

  NoDifference(Index n, Rule rule, Rng rng) : n_(n), rule_(rule), rng_(rng) {
    constexpr double kShift = 0.4;
    X_ = RowMatrix(n, 2 * kFeatures);
    for (Index i = 0; i < n; ++i) {
      for (Index f = 0; f < 2 * kFeatures; ++f) {
        X_(i, f) = rng_.normal() + (i % 2 == 0 ? -kShift : kShift);
      }
    }
  }

  /// Error of the first and of the second method on a new random partition, a fifth for testing;
  /// `pairs` gains the samples they missed.
  std::pair<double, double> partition(PairedErrors& pairs) {
    const std::vector<Index> order = rng_.permutation(n_);
    const auto tested = static_cast<std::size_t>(n_ / 5);
    const std::vector<Index> test(order.begin(), order.begin() + static_cast<Index>(tested));
    const std::vector<Index> train(order.begin() + static_cast<Index>(tested), order.end());
    const std::vector<bool> first = missed(train, test, 0);
    const std::vector<bool> second = missed(train, test, kFeatures);
    pairs.add(first, second);
    const auto share = [&](const std::vector<bool>& one) {
      return static_cast<double>(std::count(one.begin(), one.end(), true)) /
             static_cast<double>(tested);
    };
    return {share(first), share(second)};
  }

 private:
  [[nodiscard]] std::vector<bool> missed(const std::vector<Index>& train,
                                         const std::vector<Index>& test, Index column) const {
    RowMatrix known(static_cast<Index>(train.size()), kFeatures);
    Vector side(known.rows());  // -1: the first class, 1: the second
    for (Index t = 0; t < known.rows(); ++t) {
      known.row(t) = X_.row(train[static_cast<std::size_t>(t)]).segment(column, kFeatures);
      side(t) = train[static_cast<std::size_t>(t)] % 2 == 0 ? -1 : 1;
    }
    std::vector<bool> result;
    if (rule_ == Rule::kNearestNeighbour) {
      for (const Index i : test) {
        Index nearest = 0;
        (known.rowwise() - X_.row(i).segment(column, kFeatures))
            .rowwise()
            .squaredNorm()
            .minCoeff(&nearest);
        result.push_back((side(nearest) > 0) != (i % 2 == 1));
      }
      return result;
    }
    Vector direction = known.transpose() * side;
    Vector middle = known.colwise().mean();
    if (rule_ == Rule::kLinearRidge) {
      const RowMatrix centred = known.rowwise() - middle.transpose();
      Matrix normal = centred.transpose() * centred;
      normal.diagonal().array() += 1;
      direction = normal.llt().solve(centred.transpose() * side).eval();
    }
    for (const Index i : test) {
      const Vector x = X_.row(i).segment(column, kFeatures).transpose();
      result.push_back((direction.dot(x - middle) > 0) != (i % 2 == 1));
    }
    return result;
  }

  Index n_;
  Rule rule_;
  Rng rng_;
  RowMatrix X_;
};

/// Shares of simulated evaluations in which a test found a difference at 5 %.
struct FalseAlarms {
  double corrected_t = 0;
  double plain_t = 0;   ///< that takes partitions as independent
  double wilcoxon = 0;  ///< one-sided, that the worse method is worse
  double mcnemar = 0;   ///< on the first partition alone
};

inline FalseAlarms count_false_alarms(Index n, Rule rule, int partitions, int simulations,
                                      std::uint64_t seed) {
  constexpr double kLevel = 0.05;
  const RngStreams streams(seed);
  FalseAlarms found;
  const double one = 1.0 / simulations;
  for (int s = 0; s < simulations; ++s) {
    NoDifference made(n, rule, streams.stream("simulation", static_cast<std::uint64_t>(s)));
    std::vector<double> first, second, differences;
    PairedErrors pairs;
    for (int p = 0; p < partitions; ++p) {
      PairedErrors own;
      const auto [a, b] = made.partition(own);
      if (p == 0) pairs = own;
      first.push_back(a);
      second.push_back(b);
      differences.push_back(a - b);
    }
    const auto tested = static_cast<double>(n / 5);
    const double ratio = tested / (static_cast<double>(n) - tested);
    const bool first_worse = mean(first) >= mean(second);
    if (p_value(corrected_mean(differences, ratio, 1 / tested)) <= kLevel) found.corrected_t += one;
    if (p_value(corrected_mean(differences, 0, 1 / tested)) <= kLevel) found.plain_t += one;
    const double wilcoxon =
        first_worse ? wilcoxon_larger(first, second) : wilcoxon_larger(second, first);
    if (wilcoxon <= kLevel) found.wilcoxon += one;
    if (mcnemar_mid_p(pairs) <= kLevel) found.mcnemar += one;
  }
  return found;
}

}  // namespace kith::test
