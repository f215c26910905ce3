// SPDX-License-Identifier: Apache-2.0
// The machine and the weights of several kernels learned together: `mkl`.
#pragma once

#include "kith/learn/kernel_learning/kernel_sum.hpp"
#include "kith/learn/method.hpp"

namespace kith {

enum class MklKind {
  kSimple,  ///< a combination with weights >= 0 under a trace constraint, [KTBB] (5), [CY] (25)
  kMixed,   ///< [KTBB] (10): every kernel takes part
};
constexpr auto enum_names(MklKind /*of*/) { return named("simple", "mixed"); }

struct MklSettings {
  MklKind kind = MklKind::kSimple;
  double cost = 1;
  std::optional<double> trace;
  Spectrum spectrum = Spectrum::kClip;
  Multiclass multiclass = Multiclass::kOneVsOne;
  bool probability = true;
  double tolerance = 1e-8;
};
void describe(MklSettings& settings, FieldVisitor& field);

struct MklModel : KernelSumModel {};

/// One decomposition of each matrix serves every cost, kind and pair; a solution serves every cost
/// above its largest coefficient.
[[nodiscard]] FittedPath<MklModel> fit_path(SharedWork& work, Path<MklSettings> path,
                                            RunContext& ctx);
/// Whose trace the setting of that name gives, if it gives one: that of the kernel of a pair of
/// classes, or that of each of its samples, the mean of the kernel's diagonal.
enum class TraceOf { kPair, kSample };
[[nodiscard]] FittedPath<KernelSumModel> fit_sums(SharedWork& work, Path<MklSettings> path,
                                                  TraceOf whose, const RunContext& ctx);

template <>
struct MethodTraits<MklSettings> : MethodDefaults<MklModel> {
  static constexpr std::string_view name = "mkl";
  static constexpr std::string_view title = "MKL";
  static constexpr std::string_view paper = "[KTBB] (5), (10), [CY] (25)";
  static constexpr std::string_view summary =
      "support vector machine on the best combination of several kernels";
  static constexpr bool several_matrices = true;
  static bool one_direction(const MklSettings& settings) {
    return settings.spectrum == Spectrum::kSquare;  // S S' is of the rows as they are
  }
  static Grid grid(const auto&) { return {decades("cost", -3, 3)}; }
};

}  // namespace kith
