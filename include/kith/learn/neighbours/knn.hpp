// SPDX-License-Identifier: Apache-2.0
// `knn` and `affinity-knn` ([TR] 4.1, 4.2): the k nearest training samples vote, each with weight 1
// or with its similarity to the query.
#pragma once

#include "kith/learn/method.hpp"
#include "kith/learn/neighbours/voters.hpp"

namespace kith {

struct KnnSettings {
  Index neighbours = 5;
  TieRule ties = TieRule::kRandom;
};
struct AffinityKnnSettings {
  Index neighbours = 5;
  TieRule ties = TieRule::kRandom;
};
void describe(KnnSettings& settings, FieldVisitor& field);
void describe(AffinityKnnSettings& settings, FieldVisitor& field);

struct NearestVoters {
  Voters voters;
  Index neighbours = 1;
};
template <class A>
void archive(Archived<A, NearestVoters>& model, A& archiver) {
  archive(model.voters, archiver);
  archiver("neighbours", model.neighbours);
}
struct KnnModel : NearestVoters {};
struct AffinityKnnModel : NearestVoters {};

[[nodiscard]] FittedPath<KnnModel> fit_path(SharedWork& work, Path<KnnSettings> path,
                                            RunContext& ctx);
[[nodiscard]] FittedPath<AffinityKnnModel> fit_path(SharedWork& work,
                                                    Path<AffinityKnnSettings> path,
                                                    RunContext& ctx);
/// Models that differ in the number of neighbours alone share one search per query.
[[nodiscard]] std::vector<Prediction> predict_path(std::span<const KnnModel> models,
                                                   const QueryBlock& queries, RunContext& ctx);
[[nodiscard]] std::vector<Prediction> predict_path(std::span<const AffinityKnnModel> models,
                                                   const QueryBlock& queries, RunContext& ctx);

[[nodiscard]] std::vector<Explanation> explain(const KnnModel& model, const QueryBlock& queries,
                                               std::span<const int> labels, RunContext& ctx);
[[nodiscard]] std::vector<Explanation> explain(const AffinityKnnModel& model,
                                               const QueryBlock& queries,
                                               std::span<const int> labels, RunContext& ctx);

template <>
struct MethodTraits<KnnSettings> : MethodDefaults<KnnModel> {
  static constexpr std::string_view name = "knn";
  static constexpr std::string_view title = "KNN";
  static constexpr std::string_view paper = "[TR] 4";
  static constexpr std::string_view summary =
      "the most frequent class among the nearest neighbours";
  static constexpr bool takes_missing_pairs = true;
  static Grid grid(const auto&) { return {neighbour_grid()}; }
};
template <>
struct MethodTraits<AffinityKnnSettings> : MethodDefaults<AffinityKnnModel> {
  static constexpr std::string_view name = "affinity-knn";
  static constexpr std::string_view title = "affinity-KNN";
  static constexpr std::string_view paper = "[TR] 4";
  static constexpr std::string_view summary =
      "nearest neighbours that vote with their similarity to the sample";
  static constexpr bool takes_missing_pairs = true;
  static Grid grid(const auto&) { return {neighbour_grid()}; }
};

}  // namespace kith
