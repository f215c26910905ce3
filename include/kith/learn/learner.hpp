// SPDX-License-Identifier: Apache-2.0
// What every method is made of: settings with a description, a model that is plain data, `fit`,
// `predict`, and one `archive` function that both saves and loads the model.
#pragma once

#include <concepts>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kith/condition/spectrum.hpp"
#include "kith/core/archive.hpp"
#include "kith/core/context.hpp"
#include "kith/core/json.hpp"
#include "kith/core/positions.hpp"
#include "kith/core/settings.hpp"
#include "kith/core/status.hpp"
#include "kith/data/views.hpp"
#include "kith/learn/explanation.hpp"
#include "kith/learn/shared_work.hpp"

namespace kith {

/// How much of a matrix is in a learned kernel.
struct KernelWeight {
  std::string matrix;
  double weight = 0;
};

/// The evidence of one optimisation inside a fit, such as one pair of classes.
struct Subproblem {
  std::string name;
  SolveInfo info;
  std::vector<BoundsStep> trace{};  ///< of solvers that record their bounds, as the objective is
  std::vector<KernelWeight> kernel_weights{};  ///< one per matrix, where they are learned
  /// The part of the objective that no machine changes; `gap` is relative to the rest. NaN where
  /// the notion does not apply.
  double objective_offset = std::numeric_limits<double>::quiet_NaN();
};

/// What a fit can say for itself. Methods without an optimiser leave `subproblems` empty.
struct FitInfo {
  std::vector<Subproblem> subproblems;
  /// Largest relative distance between a training row treated as new and its row of the kernel; NaN
  /// where the notion does not apply.
  double consistency = std::numeric_limits<double>::quiet_NaN();
  std::optional<KernelOrigin> kernel;  ///< how the only kernel of a fit was made
  std::string kernel_words;            ///< the same in words; empty: nothing to tell
  std::vector<std::string> notes;      ///< for the user, in words
  Json learned;  ///< what beside a classifier was learned, for `train --json`; null: nothing

  /// Positions of the subproblems that a record lists: all up to 1,000, else the 1,000 worst, by
  /// status and then by gap. In order.
  [[nodiscard]] std::vector<std::size_t> listed() const;
  [[nodiscard]] SolveStatus status() const;  ///< the worst of the subproblems
  [[nodiscard]] double gap() const;          ///< the largest, NaN when none has one
  [[nodiscard]] double kkt_residual() const;
  [[nodiscard]] long iterations() const;  ///< the sum
  /// Of the only subproblem; NaN with several.
  [[nodiscard]] double objective() const;
  [[nodiscard]] double objective_offset() const;
};

template <class Model>
struct Fitted {
  Model model;
  FitInfo info;
};

/// Settings of one method that are fitted together, and the result for each of them.
template <class Settings>
using Path = std::span<const Settings>;
template <class Model>
using FittedPath = std::vector<Fitted<Model>>;

/// The same with what `make` makes of each model.
template <class Base, class Make>
[[nodiscard]] auto map_models(FittedPath<Base> fitted, const Make& make) {
  FittedPath<std::invoke_result_t<Make, Base>> models;
  for (Fitted<Base>& one : fitted) {
    models.push_back({make(std::move(one.model)), std::move(one.info)});
  }
  return models;
}
/// Models that are what their base is and nothing else.
template <class Model, class Base>
[[nodiscard]] FittedPath<Model> as_models(FittedPath<Base> fitted) {
  return map_models(std::move(fitted), [](Base base) { return Model{std::move(base)}; });
}

/// One row per query. `scores` order the classes; they are no probabilities.
struct Prediction {
  std::vector<int> labels;
  Matrix scores;         ///< queries x classes, or empty
  Matrix probabilities;  ///< queries x classes, rows sum to 1, or empty
};

/// Room for as many answers, all 0.
[[nodiscard]] Prediction blank_prediction(Index queries, int classes, bool probabilities);

/// The queries over these training samples alone, in that order, out of all training samples.
/// Nothing is copied where these are all.
[[nodiscard]] QueryBlock over_columns(const QueryBlock& queries, std::span<const Index> columns);

/// Throws Error(kInvalidArgument) unless the rows have that many columns.
void check_columns(Index given, Index needed);
void check_columns(const QueryMatrix& query, Index needed);

/// The mean of both directions where both are known ([TR] 6.2), else the one that is.
[[nodiscard]] DenseBlock mean_rows(const QueryMatrix& query);

/// The prediction of one model, where several share work: that of a path of one.
template <class M>
[[nodiscard]] Prediction predict(const M& model, const QueryBlock& queries,
                                 RunContext& ctx) requires requires(std::span<const M> models) {
  predict_path(models, queries, ctx);
}
{ return std::move(predict_path(std::span<const M>(&model, 1), queries, ctx).front()); }

/// A method: its settings type S fits to a model type M. A model that does not need the
/// similarities to every training sample also has
///
///   std::vector<Index> needed_columns(const M& model);
///
/// Queries have these columns, in that order, and no others.
/// Models that share work along a path have, in place of `predict`,
///
///   std::vector<Prediction> predict_path(std::span<const M> models, const QueryBlock& queries,
///                                        RunContext& ctx);
template <class S, class M>
concept Learner = Described<S> && std::default_initializable<S> && std::default_initializable<M> &&
    requires(const S& settings, M& model, const M& fitted, SharedWork& work, RunContext& ctx,
             const QueryBlock& queries, Path<S> path, SavingArchive& saving,
             LoadingArchive& loading) {
  { fit_path(work, path, ctx) } -> std::same_as<FittedPath<M>>;
  { predict(fitted, queries, ctx) } -> std::same_as<Prediction>;
  archive(fitted, saving);
  archive(model, loading);
};

/// Queries over all training samples, as predictions of the model take them.
template <class M>
[[nodiscard]] QueryBlock over_needed(const M& model, const QueryBlock& queries) {
  if constexpr (requires { needed_columns(model); }) {
    return over_columns(queries, needed_columns(model));
  } else {
    return queries;
  }
}

}  // namespace kith
