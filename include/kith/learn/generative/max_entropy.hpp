// SPDX-License-Identifier: Apache-2.0
// The density of largest entropy with a given mean, [TR] (17): gamma e^(lambda T) on the values a
// similarity can take. Everything in logarithms.
#pragma once

#include <array>
#include <map>
#include <string_view>

#include "kith/core/settings.hpp"
#include "kith/core/types.hpp"
#include "kith/learn/learner.hpp"

namespace kith {

/// Which values a similarity can take: those seen among the training samples, or all between the
/// least and the largest of them. `auto` decides by how few there are.
enum class SupportRule { kAuto, kDiscrete, kInterval };
constexpr auto enum_names(SupportRule /*of*/) { return named("auto", "discrete", "interval"); }

/// What methods say of their setting `support`.
inline constexpr std::string_view kSupportHelp =
    "which values a similarity can take: those seen in training, or all between them; auto: "
    "discrete when there are few";

/// A support moved to [0, 1]: u = (t - low) / (high - low).
struct Support {
  double low = 0;
  double high = 0;
  Vector points;  ///< discrete: ascending in u, from 0 to 1; empty: the whole interval

  /// One value only: it tells no class from another.
  [[nodiscard]] bool constant() const { return !(high > low); }
  [[nodiscard]] bool discrete() const { return points.size() > 0; }
  /// Finite for every finite t, outside the support too; 0 when constant.
  [[nodiscard]] double unit(double t) const;
};
template <class A>
void archive(Archived<A, Support>& support, A& archiver) {
  archiver("support_low", support.low);
  archiver("support_high", support.high);
  archiver("support_points", support.points);
}

/// Of all pairs of training samples, each with itself included; `S` symmetric. `auto` is discrete
/// when there are at most 128 distinct values, and four pairs or more for each.
[[nodiscard]] Support make_support(const MatrixRef& S, SupportRule rule);

/// The supports of one matrix, each made once.
class Supports {
 public:
  explicit Supports(const Eigen::Map<const Matrix>& S) : S_(S) {}
  [[nodiscard]] const Support& of(SupportRule rule) {
    const auto [at, is_new] = made_.try_emplace(rule);
    if (is_new) at->second = make_support(S_, rule);
    return at->second;
  }

 private:
  Eigen::Map<const Matrix> S_;
  std::map<SupportRule, Support> made_;
};

/// p(u) = exp(lambda u - log_z) on the unit support.
struct Exponential {
  double lambda = 0;
  double log_z = 0;

  [[nodiscard]] double log_density(double u) const { return lambda * u - log_z; }
};

/// log Z(lambda) and its first two derivatives.
struct Moments {
  double log_z = 0;
  double mean = 0;
  double variance = 0;
};
[[nodiscard]] Moments moments(const Support& support, double lambda);

/// With that mean in [0, 1], strictly inside. A safeguarded Newton root in lambda.
[[nodiscard]] Exponential with_mean(const Support& support, double mean);

/// A mean at an end of the support belongs to no finite lambda: it is moved inwards by half a
/// sample's share of the range.
[[nodiscard]] double off_the_ends(double mean, double samples);

}  // namespace kith
