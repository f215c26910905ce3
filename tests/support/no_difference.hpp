// SPDX-License-Identifier: Apache-2.0
// Evaluations of methods between which there is no difference, to count the false alarms of tests
// of significance.
#pragma once

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kith/core/rng.hpp"
#include "kith/evaluate/paired_tests.hpp"

namespace kith::test {

enum class Rule { kNearestMean, kLinearRidge, kNearestNeighbour };

/// Which data and methods are simulated.
struct Simulated {
  Index samples = 100;
  Rule rule = Rule::kNearestMean;
  double shift = 0.4;  ///< of the classes, up and down: how easy they are
  Index fresh = 2000;  ///< new samples for each partition, which tell true errors of two methods
};

/// Samples of two classes.
struct SidedSamples {
  Matrix X;
  Vector side;  // -1: the first class, 1: the second

  [[nodiscard]] SidedSamples rows(const std::vector<Index>& which) const {
    return {X(which, Eigen::all), side(which)};
  }
};

/// Whether a method that was fitted to some samples misses others, and sees these features of both.
inline std::vector<bool> missed(Rule rule, const SidedSamples& train, const SidedSamples& test,
                                Index first, Index features) {
  const Matrix known = train.X.middleCols(first, features);
  Vector lead(test.X.rows());  // above 0: the second class
  if (rule == Rule::kNearestNeighbour) {
    // Squared distances, less the norms of the queries: a column for each.
    Matrix distances = -2 * known * test.X.middleCols(first, features).transpose();
    distances.colwise() += known.rowwise().squaredNorm();
    for (Index i = 0; i < lead.size(); ++i) {
      Index nearest = 0;
      distances.col(i).minCoeff(&nearest);
      lead(i) = train.side(nearest);
    }
  } else {
    const Vector middle = known.colwise().mean();
    Vector direction = known.transpose() * train.side;
    if (rule == Rule::kLinearRidge) {
      const Matrix centred = known.rowwise() - middle.transpose();
      Matrix normal = centred.transpose() * centred;
      normal.diagonal().array() += 1;
      direction = normal.llt().solve(centred.transpose() * train.side).eval();
    }
    lead = (test.X.middleCols(first, features).rowwise() - middle.transpose()) * direction;
  }
  std::vector<bool> result;
  for (Index i = 0; i < lead.size(); ++i) result.push_back((lead(i) > 0) != (test.side(i) > 0));
  return result;
}

inline double share_of(const std::vector<bool>& missed) {
  return static_cast<double>(std::ranges::count(missed, true)) / static_cast<double>(missed.size());
}

/// What methods, each fitted to the training part of one partition, miss.
struct SimulatedPart {
  std::vector<std::vector<bool>> missed;  ///< [method][test sample]
  std::vector<double> true_errors;        ///< of each method, on samples of no partition
};

/// All partitions of one evaluation.
struct SimulatedParts {
  std::vector<SimulatedPart> parts;
  std::vector<double> true_errors;  ///< mean of each method; zeros where they are not wanted

  [[nodiscard]] std::size_t methods() const { return true_errors.size(); }
  /// On each test part, above or below the true error.
  [[nodiscard]] std::vector<double> excess(std::size_t method) const {
    std::vector<double> all;
    for (const SimulatedPart& part : parts) {
      all.push_back(share_of(part.missed[method]) - true_errors[method]);
    }
    return all;
  }
};

/// Methods that see different features of the same samples. All features have the same
/// distribution, so that over all draws of samples no method is better than another. All err on the
/// same test parts.
class NoDifference {
 public:
  static constexpr Index kFeatures = 5;  // of each method

  NoDifference(const Simulated& what, int methods, Rng rng)
      : what_(what), methods_(methods), rng_(rng), data_(drawn(what.samples)) {}

  /// On random partitions, a fifth of the samples for testing. True errors are those on `fresh` new
  /// samples for each partition.
  SimulatedParts on_random_partitions(int count, Index fresh) {
    SimulatedParts all{{}, std::vector<double>(static_cast<std::size_t>(methods_), 0)};
    for (int p = 0; p < count; ++p) {
      all.parts.push_back(part(rng_.permutation(what_.samples), 0, fresh));
      for (std::size_t m = 0; m < all.methods(); ++m) {
        all.true_errors[m] += all.parts.back().true_errors[m] / count;
      }
    }
    return all;
  }
  /// On each of five folds, again and again: the test parts of a repeat share no sample. The true
  /// errors are those of other partitions: models of four fifths of the samples are all alike.
  SimulatedParts on_repeated_folds(int repeats, const std::vector<double>& true_errors) {
    SimulatedParts all{{}, true_errors};
    for (int r = 0; r < repeats; ++r) {
      const std::vector<Index> order = rng_.permutation(what_.samples);
      for (Index fold = 0; fold < 5; ++fold) {
        all.parts.push_back(part(order, fold * (what_.samples / 5), 0));
      }
    }
    return all;
  }

 private:
  SidedSamples drawn(Index n) {
    SidedSamples made{Matrix(n, methods_ * kFeatures), Vector(n)};
    for (Index i = 0; i < n; ++i) {
      made.side(i) = i % 2 == 0 ? -1 : 1;
      for (double& x : made.X.row(i)) x = rng_.normal() + made.side(i) * what_.shift;
    }
    return made;
  }

  /// A fifth of the samples, in this order from `first` on, is for testing.
  SimulatedPart part(std::vector<Index> order, Index first, Index fresh) {
    std::rotate(order.begin(), order.begin() + first, order.end());
    const auto end = order.begin() + what_.samples / 5;
    const SidedSamples test = data_.rows({order.begin(), end});
    const SidedSamples train = data_.rows({end, order.end()});
    const SidedSamples others = drawn(fresh);
    SimulatedPart found;
    for (int m = 0; m < methods_; ++m) {
      const Index column = m * kFeatures;
      found.missed.push_back(missed(what_.rule, train, test, column, kFeatures));
      if (fresh == 0) continue;
      found.true_errors.push_back(share_of(missed(what_.rule, train, others, column, kFeatures)));
    }
    return found;
  }

  Simulated what_;
  int methods_;
  Rng rng_;
  SidedSamples data_;
};

/// How far the difference of two methods is from the true one. `ratio`: of Nadeau and Bengio; 0
/// takes the parts as independent.
inline CorrectedMean difference_of(const SimulatedParts& found, std::size_t first,
                                   std::size_t second, double ratio) {
  std::vector<double> differences = found.excess(first);
  const std::vector<double> others = found.excess(second);
  for (std::size_t i = 0; i < others.size(); ++i) differences[i] -= others[i];
  const double resolution = 1 / static_cast<double>(found.parts.front().missed.front().size());
  return corrected_mean(differences, ratio, resolution);
}

inline constexpr double kAlarmLevel = 0.05;

/// Of each method, whether the table would leave it unmarked: significantly worse than the one with
/// the least error, adjusted by Holm's method.
inline std::vector<bool> unmarked(const SimulatedParts& found, double ratio) {
  std::vector<double> means;
  for (std::size_t m = 0; m < found.methods(); ++m) means.push_back(mean(found.excess(m)));
  const auto best = static_cast<std::size_t>(std::ranges::min_element(means) - means.begin());
  std::vector<double> p;
  for (std::size_t m = 0; m < found.methods(); ++m) {
    p.push_back(m == best ? std::numeric_limits<double>::quiet_NaN()
                          : p_value(difference_of(found, m, best, ratio)));
  }
  std::vector<bool> result;
  for (const double one : holm(p)) result.push_back(one <= kAlarmLevel);
  return result;
}

/// Whether some pair of methods differs significantly, adjusted over all pairs.
inline bool any_pair_differs(const SimulatedParts& found, double ratio) {
  std::vector<double> p;
  for (std::size_t i = 0; i < found.methods(); ++i) {
    for (std::size_t j = 0; j < i; ++j) p.push_back(p_value(difference_of(found, i, j, ratio)));
  }
  return std::ranges::min(holm(p)) <= kAlarmLevel;
}

/// Shares of simulated evaluations in which a test found at 5 % what is not there. Where nothing
/// else is said: a difference of the errors, less the true errors of the models that were fitted.
struct FalseAlarms {
  // Of two methods.
  double corrected_t = 0;
  double corrected_t_folds = 0;  ///< the same on repeated folds
  double corrected_t_draws =
      0;                ///< errors as they are: over all draws of samples methods are equal
  double plain_t = 0;   ///< that takes partitions as independent
  double wilcoxon = 0;  ///< one-sided, that the worse method is worse
  double mcnemar = 0;   ///< errors as they are, on the first partition alone
  // Of five methods, by the corrected t and Holm's adjustment.
  double one_of_five = 0;  ///< a given one loses its mark
  double any_of_five = 0;  ///< some of them do
  double any_pair = 0;     ///< some pair differs, adjusted over all pairs
};

/// On 20 random partitions and 4 times 5 folds.
inline FalseAlarms count_false_alarms(const Simulated& what, int simulations, std::uint64_t seed) {
  constexpr double kRatio = 0.25;  // a fifth for testing
  const RngStreams streams(seed);
  FalseAlarms found;
  const auto count = [&](bool alarm, double& share) { share += alarm ? 1.0 / simulations : 0; };
  const auto differ = [](const SimulatedParts& parts, double ratio) {
    return p_value(difference_of(parts, 0, 1, ratio)) <= kAlarmLevel;
  };
  for (int s = 0; s < simulations; ++s) {
    const auto number = static_cast<std::uint64_t>(s);
    NoDifference two(what, 2, streams.stream("two methods", number));
    const SimulatedParts random = two.on_random_partitions(20, what.fresh);
    count(differ(random, kRatio), found.corrected_t);
    count(differ(random, 0), found.plain_t);
    count(differ(two.on_repeated_folds(4, random.true_errors), kRatio), found.corrected_t_folds);
    count(differ({random.parts, {0, 0}}, kRatio), found.corrected_t_draws);
    std::vector<double> worse = random.excess(0), better = random.excess(1);
    if (mean(worse) < mean(better)) std::swap(worse, better);
    count(wilcoxon_larger(worse, better) <= kAlarmLevel, found.wilcoxon);
    PairedErrors pairs;
    pairs.add(random.parts[0].missed[0], random.parts[0].missed[1]);
    count(mcnemar_mid_p(pairs) <= kAlarmLevel, found.mcnemar);
    NoDifference five(what, 5, streams.stream("five methods", number));
    const SimulatedParts all = five.on_random_partitions(20, what.fresh / 4);
    const std::vector<bool> lost = unmarked(all, kRatio);
    count(lost[0], found.one_of_five);
    count(std::ranges::count(lost, true) > 0, found.any_of_five);
    count(any_pair_differs(all, kRatio), found.any_pair);
  }
  return found;
}

}  // namespace kith::test
