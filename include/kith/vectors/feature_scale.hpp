// SPDX-License-Identifier: Apache-2.0
// What methods on vectors do to features before they learn, measured on the training part alone.
#pragma once

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "kith/core/archive.hpp"
#include "kith/core/settings.hpp"
#include "kith/data/block.hpp"

namespace kith {

enum class FeatureScaling { kStandard, kRange, kNone };
constexpr auto enum_names(FeatureScaling /*of*/) { return named("standard", "range", "none"); }
/// What every method on vectors says of its setting `scaling`.
inline constexpr std::string_view kScalingHelp =
    "of each feature, over the training part: standard (mean 0, deviation 1), range (0 to 1), none";

/// x -> (x - offset) factor, feature by feature. Of sparse training samples only features that one
/// of them has are kept: a model is as large as its samples, however far out an index is.
struct FeatureScale {
  Vector offset;    ///< of the features kept, as `factor` is
  Vector factor;    ///< 0 for a feature that is the same in all training samples, unless none
  Index width = 0;  ///< features of the vectors
  std::vector<Index> kept{};  ///< ascending; empty: all of them
  double other_factor = 0;    ///< of features that are not kept, whose offset is 0

  /// How many features scaled vectors have.
  [[nodiscard]] Index size() const { return offset.size(); }
};
[[nodiscard]] FeatureScale learn_scale(const Block& vectors, FeatureScaling scaling);
/// The same with every feature kept.
[[nodiscard]] FeatureScale learn_full_scale(const Block& vectors, FeatureScaling scaling);
/// The features that the scale keeps, as they are. Throws Error(kInvalidArgument) naming both
/// numbers where the width is not that of the scale.
[[nodiscard]] Block kept_features(const FeatureScale& scale, const Block& vectors);
/// All that is kept as dense numbers; throws as kept_features does, and where they do not fit into
/// memory.
[[nodiscard]] Matrix scaled(const FeatureScale& scale, const Block& vectors);
template <class A>
void archive(Archived<A, FeatureScale>& scale, A& archiver);

/// How two vectors are compared.
enum class VectorKernel { kLinear, kRbf, kPolynomial };
constexpr auto enum_names(VectorKernel /*of*/) { return named("linear", "rbf", "polynomial"); }
struct KernelRule {
  VectorKernel kernel = VectorKernel::kRbf;
  double gamma = 1;  ///< of rbf: exp(-gamma |x - z|^2)
  Index degree = 2;  ///< of polynomial: (1 + x'z)^degree
};
template <class A>
void archive(Archived<A, KernelRule>& rule, A& archiver) {
  archiver("kernel", rule.kernel);
  archiver("gamma", rule.gamma);
  archiver("degree", rule.degree);
}
/// The numbers that the kernel depends on, gamma and degree; 0 for one that has no part in it.
[[nodiscard]] std::pair<double, Index> kernel_numbers(const KernelRule& rule);
void describe_kernel(VectorKernel& kernel, FieldVisitor& field);
void describe_kernel_numbers(KernelRule& rule, FieldVisitor& field);
/// What a kernel is computed from: x'z, or |x - z|^2 for rbf. One table serves every gamma and
/// degree.
[[nodiscard]] Matrix kernel_table(VectorKernel kernel, const MatrixRef& X, const MatrixRef& Z,
                                  int threads);
/// The same of vectors yet to be scaled (rows) and of samples Z under the scale, with what features
/// that no sample of Z has add to a distance.
[[nodiscard]] Matrix kernel_table(VectorKernel kernel, const FeatureScale& scale,
                                  const Block& vectors, const MatrixRef& Z, int threads);
/// The kernel of a table. Throws Error(kInvalidArgument) where squares of its values overflow.
[[nodiscard]] Matrix kernel_of_table(const KernelRule& rule, Matrix table);

}  // namespace kith
