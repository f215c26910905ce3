// SPDX-License-Identifier: Apache-2.0
// Whether two methods differ, from results on the same test parts or the same samples.
// docs/statistics.md has the reasons and the rates of false alarms.
#pragma once

#include <span>
#include <vector>

#include "kith/core/types.hpp"
#include "kith/evaluate/statistics.hpp"

namespace kith {

/// A mean over overlapping partitions: Student's t with this location and scale.
struct CorrectedMean {
  double mean = 0;
  double scale = 0;
  double degrees = 1;
};
/// By Nadeau and Bengio (2003): the variance of the mean of J values s^2 is (1 / J + ratio) s^2,
/// `ratio` being the samples for testing over those for training. Training parts overlap, so that
/// 1 / J alone is far too small. s^2 is at least resolution^2 / J, as if one of the values differed
/// by one sample: J equal values are no proof that all others would be the same. Throws Error
/// unless there are two values, all finite.
[[nodiscard]] CorrectedMean corrected_mean(std::span<const double> values, double ratio,
                                           double resolution);
/// Of the hypothesis that the mean is 0, two-sided.
[[nodiscard]] double p_value(const CorrectedMean& mean);
/// Of 95 %. It leaves out 0 exactly where the p-value is below 5 %.
[[nodiscard]] Interval interval(const CorrectedMean& mean);

/// The Bayesian correlated t-test of Corani and Benavoli (2015), with its flat prior: how probable
/// a true mean is below -region, within the region, and above it. The three add up to 1.
struct Posterior {
  double below = 0;
  double within = 0;
  double above = 0;
};
[[nodiscard]] Posterior posterior(const CorrectedMean& mean, double region);

/// How often two methods missed the same samples.
struct PairedErrors {
  Index both = 0;
  Index first_only = 0;
  Index second_only = 0;
  Index neither = 0;

  [[nodiscard]] Index samples() const { return both + first_only + second_only + neither; }
  /// Whether each sample was missed, by both in the same order.
  void add(const std::vector<bool>& first, const std::vector<bool>& second);
};
/// McNemar's test with mid-p (Fagerland, Lydersen and Laake 2013), two-sided: of the samples that
/// one method alone missed, each is as likely to be the first one's as the second one's. 1 where
/// there are none.
[[nodiscard]] double mcnemar_mid_p(const PairedErrors& pairs);
/// Newcombe's 95 % interval (1998, method 10) of the error of the first minus that of the second.
/// Throws Error without samples.
[[nodiscard]] Interval paired_interval(const PairedErrors& pairs);

/// Holm's adjustment: below a level where the chance of any false alarm is. NaN stays NaN and does
/// not count.
[[nodiscard]] std::vector<double> holm(std::span<const double> p_values);

}  // namespace kith
