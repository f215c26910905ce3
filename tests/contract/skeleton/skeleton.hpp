// SPDX-License-Identifier: Apache-2.0
// A method to copy. `skeleton`: the class to whose samples a sample is most similar on average.
// CONTRIBUTING.md says where a copy goes; the contract tests run over this one too.
#pragma once

#include "kith/learn/method.hpp"

namespace kith {

/// Defaults of every setting. `describe` names each once; flags, JSON, Python and the tables of the
/// documentation follow from it.
struct SkeletonSettings {
  double spread = 1;
};
void describe(SkeletonSettings& settings, FieldVisitor& field);

/// Plain data: all that a prediction needs. `archive` names each part once, for saving and loading.
struct SkeletonModel {
  Matrix members;  ///< samples x classes: 1 / |C| for each member of class C, else 0
  Vector offsets;  ///< one per class
};

/// Several settings on the same samples: here is the place to share work between them. The fit of
/// one setting is derived.
[[nodiscard]] FittedPath<SkeletonModel> fit_path(SharedWork& work, Path<SkeletonSettings> path,
                                                 RunContext& ctx);
[[nodiscard]] Prediction predict(const SkeletonModel& model, const QueryBlock& queries,
                                 RunContext& ctx);
template <class A>
void archive(Archived<A, SkeletonModel>& model, A& archiver) {
  archiver("members", model.members);
  archiver("offsets", model.offsets);
}

template <>
struct MethodTraits<SkeletonSettings> : MethodDefaults<SkeletonModel> {
  static constexpr std::string_view name = "skeleton";
  static constexpr std::string_view title = "skeleton";
  static constexpr std::string_view paper = "[TR] 2.1";
  static constexpr std::string_view summary = "the class that is most similar on average";
  static constexpr bool probabilities = false;
  static Grid grid(const SkeletonSettings& /*settings*/) {
    return {{.field = "spread", .values = {"0", "0.5", "1"}, .simpler = Simpler::kSmaller}};
  }
};

}  // namespace kith
