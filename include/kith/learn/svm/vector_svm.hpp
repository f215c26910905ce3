// SPDX-License-Identifier: Apache-2.0
// `vector-svm`: a support vector machine on vectors, the baselines of [ZGZZ].
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "kith/learn/learner.hpp"
#include "kith/learn/method.hpp"
#include "kith/learn/multiclass/one_vs_one.hpp"
#include "kith/vectors/feature_scale.hpp"

namespace kith {

enum class MarginLoss { kHinge, kSquared };
template <>
struct EnumNames<MarginLoss> {
  static constexpr std::array<std::string_view, 2> names = {"hinge", "squared"};
};

struct VectorSvmSettings {
  KernelRule kernel{.kernel = VectorKernel::kLinear};
  MarginLoss loss = MarginLoss::kHinge;
  double cost = 1;
  FeatureScaling scaling = FeatureScaling::kStandard;
  bool probability = true;
  double tolerance = 1e-6;
};
void describe(VectorSvmSettings& settings, FieldVisitor& field);

struct VectorSvmModel {
  FeatureScale scale;
  KernelRule kernel;
  PairTable pairs;
  Matrix supports;      ///< but for linear: scaled support samples, one per row
  Matrix coefficients;  ///< linear: features x pairs; else supports x pairs
  Vector intercepts;    ///< one per pair
  Matrix sigmoids;      ///< 2 x pairs (slope, offset); empty: no probabilities
};

[[nodiscard]] Fitted<VectorSvmModel> fit(SharedWork& work, const VectorSvmSettings& settings,
                                         RunContext& ctx);
/// One table of products or distances serves every cost, loss, gamma and degree.
[[nodiscard]] std::vector<Fitted<VectorSvmModel>> fit_path(SharedWork& work,
                                                           std::span<const VectorSvmSettings> path,
                                                           RunContext& ctx);
[[nodiscard]] Prediction predict(const VectorSvmModel& model, const QueryBlock& queries,
                                 RunContext& ctx);
[[nodiscard]] std::vector<Index> needed_columns(const VectorSvmModel& model);
template <class A>
void archive(Archived<A, VectorSvmModel>& model, A& archiver);

static_assert(Learner<VectorSvmSettings, VectorSvmModel>);

template <>
struct MethodTraits<VectorSvmSettings> {
  using Model = VectorSvmModel;
  static constexpr std::string_view name = "vector-svm";
  static constexpr std::string_view title = "vector-SVM";
  static constexpr std::string_view paper = "[ZGZZ] (1)";
  static constexpr std::string_view summary = "support vector machine on vectors";
  static constexpr bool probabilities = true;
  static constexpr bool learns_from_vectors = true;
  static std::vector<GridAxis> grid(const VectorSvmSettings& settings);
};

}  // namespace kith
