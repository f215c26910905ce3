// SPDX-License-Identifier: Apache-2.0
// The machine whose kernel is learned with it near an indefinite similarity matrix: `robust-svm`.
#pragma once

#include "kith/learn/kernel_learning/learned_pairs.hpp"
#include "kith/learn/method.hpp"

namespace kith {

enum class RobustSolver { kNewton, kExchange, kExchangePruned, kProjectedGradient };
constexpr auto enum_names(RobustSolver /*of*/) {
  return named("newton", "exchange", "exchange-pruned", "projected-gradient");
}

struct RobustSvmSettings {
  double cost = 1;
  double rho = 1;
  std::optional<double> radius;  ///< in place of rho
  RobustSolver solver = RobustSolver::kNewton;
  std::optional<Index> iterations;  ///< at most so many; none: the solver's own limit
  Treatment test_treatment = Treatment::kSample;
  Multiclass multiclass = Multiclass::kOneVsOne;
  bool probability = true;
  double tolerance = 1e-8;
};
void describe(RobustSvmSettings& settings, FieldVisitor& field);

struct RobustSvmModel : LearnedPairsModel {};

/// One decomposition of each pair's block serves every cost and rho.
[[nodiscard]] FittedPath<RobustSvmModel> fit_path(SharedWork& work, Path<RobustSvmSettings> path,
                                                  RunContext& ctx);

template <>
struct MethodTraits<RobustSvmSettings> : MethodDefaults<RobustSvmModel> {
  static constexpr std::string_view name = "robust-svm";
  static constexpr std::string_view title = "robust-SVM";
  static constexpr std::string_view paper = "[LA], [CY], [TR] 2.1.2";
  static constexpr std::string_view summary =
      "support vector machine and its kernel learned together, at a squared distance from the "
      "matrix";
  static std::optional<std::pair<std::string_view, std::string_view>> in_place_of(
      const RobustSvmSettings& settings) {
    if (!settings.radius) return std::nullopt;
    return std::pair<std::string_view, std::string_view>{"radius", "rho"};
  }
  static Grid grid(const RobustSvmSettings& settings) {
    Grid axes;
    // The printed algorithms are compared as [CY] 6 does it: C = 1.
    if (settings.solver == RobustSolver::kNewton) axes.push_back(decades("cost", -3, 3));
    if (!settings.radius) axes.push_back(decades("rho", -3, 3, Simpler::kLarger));
    return axes;
  }
};

}  // namespace kith
