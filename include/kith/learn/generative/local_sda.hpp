// SPDX-License-Identifier: Apache-2.0
// `local-sda` ([TR] 5.1): similarity discriminant analysis over the neighbours of each query.
#pragma once

#include "kith/learn/generative/sda.hpp"
#include "kith/learn/neighbours/local_kernel.hpp"

namespace kith {

/// The k nearest of all, or the k nearest of each class; [TR] says both.
enum class Neighbourhood { kOverall, kPerClass };
constexpr auto enum_names(Neighbourhood /*of*/) { return named("overall", "per-class"); }

struct LocalSdaSettings {
  Index neighbours = 16;
  SdaStatistics statistics = SdaStatistics::kCentroids;
  SupportRule support = SupportRule::kAuto;
  Neighbourhood neighbourhood = Neighbourhood::kOverall;
  TieRule ties = TieRule::kRandom;
};
void describe(LocalSdaSettings& settings, FieldVisitor& field);

struct LocalSdaModel {
  Voters voters;
  TrainingPairs pairs;  ///< dense
  Support support;
  LocalSdaSettings settings;
};

[[nodiscard]] FittedPath<LocalSdaModel> fit_path(SharedWork& work, Path<LocalSdaSettings> path,
                                                 RunContext& ctx);
/// One search per query serves every model with the same ties.
[[nodiscard]] std::vector<Prediction> predict_path(std::span<const LocalSdaModel> models,
                                                   const QueryBlock& queries, RunContext& ctx);
template <class A>
void archive(Archived<A, LocalSdaModel>& model, A& archiver) {
  archive(model.voters, archiver);
  archive(model.pairs, archiver);
  archive(model.support, archiver);
  archiver("neighbours", model.settings.neighbours);
  archiver("statistics", model.settings.statistics);
  archiver("support", model.settings.support);
  archiver("neighbourhood", model.settings.neighbourhood);
  archiver("ties", model.settings.ties);
}

template <>
struct MethodTraits<LocalSdaSettings> : MethodDefaults<LocalSdaModel> {
  static constexpr std::string_view name = "local-sda";
  static constexpr std::string_view title = "local-SDA";
  static constexpr std::string_view paper = "[TR] 5.1";
  static constexpr std::string_view summary =
      "similarity discriminant analysis over the nearest neighbours of each sample";
  static Grid grid(const auto&) { return {neighbour_grid()}; }
};

}  // namespace kith
