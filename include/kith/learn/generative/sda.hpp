// SPDX-License-Identifier: Apache-2.0
// `sda` ([TR] 5): classes are told apart by how their samples' similarities to the class centroids
// are distributed.
#pragma once

#include "kith/learn/generative/max_entropy.hpp"
#include "kith/learn/method.hpp"

namespace kith {

/// Which similarities describe a sample: those to the class centroids, [TR] (14), or to every
/// training sample.
enum class SdaStatistics { kCentroids, kSamples };
constexpr auto enum_names(SdaStatistics /*of*/) { return named("centroids", "samples"); }

struct SdaSettings {
  SdaStatistics statistics = SdaStatistics::kCentroids;
  SupportRule support = SupportRule::kAuto;
};
void describe(SdaSettings& settings, FieldVisitor& field);

struct SdaModel {
  std::vector<Index> counts;      ///< training samples of each class
  std::vector<Index> columns;     ///< the training samples that are compared with, ascending
  std::vector<Index> represents;  ///< the class each of them is of
  Support support;
  Matrix lambda;  ///< columns x classes, in units of the support
  Matrix log_z;   ///< the same shape
};

/// The centroids, the class means and each support are found once.
[[nodiscard]] FittedPath<SdaModel> fit_path(SharedWork& work, Path<SdaSettings> path,
                                            RunContext& ctx);
[[nodiscard]] Prediction predict(const SdaModel& model, const QueryBlock& queries, RunContext& ctx);
[[nodiscard]] std::vector<Index> needed_columns(const SdaModel& model);
template <class A>
void archive(Archived<A, SdaModel>& model, A& archiver) {
  archiver("counts", model.counts);
  archiver("columns", model.columns);
  archiver("represents", model.represents);
  archive(model.support, archiver);
  archiver("lambda", model.lambda);
  archiver("log_z", model.log_z);
}

template <>
struct MethodTraits<SdaSettings> : MethodDefaults<SdaModel> {
  static constexpr std::string_view name = "sda";
  static constexpr std::string_view title = "SDA";
  static constexpr std::string_view paper = "[TR] 5";
  static constexpr std::string_view summary =
      "similarity discriminant analysis: maximum-entropy densities of the similarities to class "
      "centroids";
};

}  // namespace kith
