// SPDX-License-Identifier: Apache-2.0
// A linear map learned together with a machine for each pair of classes: what `linear-msvm` and
// `nonlinear-msvm` share.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/learn/learner.hpp"
#include "kith/learn/multiclass/binary_tasks.hpp"
#include "kith/optim/metric/descent.hpp"
#include "kith/vectors/scaled_vectors.hpp"

namespace kith {

enum class MetricSolver { kProjection, kConvex };
constexpr auto enum_names(MetricSolver /*of*/) { return named("projection", "convex"); }

/// Beyond it rounding leaves nothing of the margin beside the loss, nor a bound that proves
/// anything.
inline constexpr NumberRange kCostRange = between(1e-20, 1e20);

/// The settings that both methods have.
struct MetricSettings {
  double cost = 1;
  std::string dimensions = "all";  ///< all, a number, or energy:SHARE
  metric::MapStart start = metric::MapStart::kIdentity;
  metric::MachineStart start_machine = metric::MachineStart::kSvm;
  MetricSolver solver = MetricSolver::kProjection;
  metric::BallProjection projection = metric::BallProjection::kScaled;
  metric::RadiusRule radius = metric::RadiusRule::kMean;
  double tolerance = 1e-6;
  Multiclass multiclass = Multiclass::kOneVsOne;
  bool probability = true;
  bool certificate = true;
};
void describe(MetricSettings& settings, FieldVisitor& field);

/// What `dimensions` says.
struct DimensionRule {
  std::optional<Index> count;    ///< a number
  std::optional<double> energy;  ///< a share of it
};
/// Throws Error(kInvalidArgument) naming the method, the text and the forms there are.
[[nodiscard]] DimensionRule parse_dimensions(std::string_view method, std::string_view text);

/// Machines and maps of all pairs, over rows of `columns` numbers (features, or kernel values of
/// training samples).
struct MetricPairs {
  TaskTable tasks;
  Matrix directions;  ///< columns x tasks: v = L'w, so that a row has decision values r'v + b
  Vector intercepts;
  Matrix sigmoids;  ///< 2 x tasks (slope, offset); empty: no probabilities
  /// Rows of the L of all pairs, one below the other, x columns, or x rows of `basis`.
  Matrix maps;
  Matrix basis;                 ///< what `maps` are over, x columns; empty: the columns
  Matrix centres;               ///< tasks x columns: what a row is taken relative to before its L
  std::vector<Index> map_ends;  ///< one per pair: where its rows of `maps` end
};
template <class A>
void archive(Archived<A, MetricPairs>& pairs, A& archiver);
/// Throws Error(kBadInput) unless it is for rows of `columns` numbers.
void check_columns(const MetricPairs& pairs, Index columns);

/// Where the rows come from: `rows` are samples x columns. `columns_are_samples`: column j belongs
/// to sample j, and a pair of classes sees the columns of its own samples alone.
struct MetricRows {
  const Matrix* rows = nullptr;
  bool columns_are_samples = false;
  /// Of a linear kernel, samples x features: a kernel matrix holds the square of a direction's
  /// length, and so fewer of them.
  const Matrix* features = nullptr;
  /// Every direction of the data is in the rows. Else nothing is proved of an optimum.
  bool whole = true;
};

/// One fit for each of `path`, which share the principal axes of each pair. Not convex, so none
/// starts from another.
[[nodiscard]] FittedPath<MetricPairs> train_metric(const MetricRows& rows, const TrainingSet& train,
                                                   Path<MetricSettings> path,
                                                   const RunContext& ctx);

/// What was learned on the coordinates of `span`, over features.
void express(MetricPairs& pairs, const VectorSpan& span);

/// X B of rows X.
using RowProduct = std::function<Matrix(const MatrixRef& B)>;
[[nodiscard]] Prediction predict_metric(const MetricPairs& pairs, const RowProduct& times);

/// S_L(x, z) = (L x)'(L z), the mean over the pairs of classes, of all pairs of rows.
[[nodiscard]] Matrix metric_similarity(const MetricPairs& pairs, const RowProduct& times);

}  // namespace kith
