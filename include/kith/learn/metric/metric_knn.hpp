// SPDX-License-Identifier: Apache-2.0
// `nca-knn` and `lmnn-knn`: nearest neighbours under a learned linear map of the features.
#pragma once

#include "kith/learn/method.hpp"
#include "kith/learn/neighbours/knn.hpp"
#include "kith/optim/metric/problem.hpp"
#include "kith/vectors/feature_scale.hpp"

namespace kith {

struct NcaKnnSettings {
  Index neighbours = 3;
  metric::MapStart start = metric::MapStart::kIdentity;
  std::string dimensions = "all";
  FeatureScaling scaling = FeatureScaling::kStandard;
  TieRule ties = TieRule::kRandom;
  Index iterations = 200;
};
void describe(NcaKnnSettings& settings, FieldVisitor& field);

enum class LmnnSolver { kDescent, kConvex };
constexpr auto enum_names(LmnnSolver /*of*/) { return named("descent", "convex"); }

struct LmnnKnnSettings {
  Index neighbours = 3;
  Index targets = 3;
  double push = 0.5;
  FeatureScaling scaling = FeatureScaling::kStandard;
  TieRule ties = TieRule::kRandom;
  LmnnSolver solver = LmnnSolver::kDescent;
  Index iterations = 200;
  double tolerance = 1e-3;
  bool certificate = true;
};
void describe(LmnnKnnSettings& settings, FieldVisitor& field);

/// A map, the images of the training samples, and who votes among them.
struct MappedNeighbours {
  FeatureScale scale;
  Matrix map;     ///< d x features
  Matrix images;  ///< training samples x d
  KnnModel knn;
};
struct NcaKnnModel : MappedNeighbours {};
struct LmnnKnnModel : MappedNeighbours {};

/// One map serves every number of neighbours.
[[nodiscard]] FittedPath<NcaKnnModel> fit_path(SharedWork& work, Path<NcaKnnSettings> path,
                                               RunContext& ctx);
[[nodiscard]] FittedPath<LmnnKnnModel> fit_path(SharedWork& work, Path<LmnnKnnSettings> path,
                                                RunContext& ctx);
[[nodiscard]] Prediction predict(const MappedNeighbours& model, const QueryBlock& queries,
                                 RunContext& ctx);
/// The inner products of images.
[[nodiscard]] Matrix learned_similarity(const MappedNeighbours& model, const Block& vectors,
                                        const RunContext& ctx);
template <class A>
void archive(Archived<A, MappedNeighbours>& model, A& archiver);

template <>
struct MethodTraits<NcaKnnSettings> : MethodDefaults<NcaKnnModel> {
  static constexpr std::string_view name = "nca-knn";
  static constexpr std::string_view title = "NCA-KNN";
  static constexpr std::string_view paper = "[ZGZZ] baseline";
  static constexpr std::string_view summary =
      "nearest neighbours under the map of neighbourhood components analysis";
  static constexpr bool learns_from_vectors = true;
  static Grid grid(const NcaKnnSettings& settings);
};
template <>
struct MethodTraits<LmnnKnnSettings> : MethodDefaults<LmnnKnnModel> {
  static constexpr std::string_view name = "lmnn-knn";
  static constexpr std::string_view title = "LMNN-KNN";
  static constexpr std::string_view paper = "[ZGZZ] baseline";
  static constexpr std::string_view summary =
      "nearest neighbours under the large-margin nearest neighbour metric";
  static constexpr bool learns_from_vectors = true;
  static Grid grid(const LmnnKnnSettings& settings);
};

}  // namespace kith
