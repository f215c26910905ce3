// SPDX-License-Identifier: Apache-2.0
// Machines that are linear in the similarities to some training samples, one for each binary task:
// what the models of `lp-machine`, `p-svm` and `embed-svm` are, and those of `svm` and
// `features-svm` where the rows of new samples are treated linearly.
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <vector>

#include "kith/learn/learner.hpp"
#include "kith/learn/multiclass/machines.hpp"

namespace kith {

/// A query with similarities s to `columns` has the decision values of the machines for the row s,
/// or map's.
struct ColumnMachines : Machines {
  Index samples = 0;           ///< of the training set
  std::vector<Index> columns;  ///< training samples with a part in some task; one at least
  Matrix map;                  ///< columns x what the coefficients are over; empty: columns
};

/// The machines of all tasks over the training samples `prototypes`, or over what `times_map` (see
/// map_columns) makes of their similarities.
[[nodiscard]] ColumnMachines column_machines(
    Machines machines, Index samples, std::span<const Index> prototypes,
    const std::function<Matrix(const MatrixRef&)>& times_map = nullptr);

/// One model for each step of `path` from machines over the training samples `prototypes`.
template <class Model, BinaryLearner L, class Step>
[[nodiscard]] FittedPath<Model> fit_columns(const L& learner, Path<Step> path, Tasks tasks,
                                            const TrainingSet& train,
                                            std::span<const Index> prototypes,
                                            const RunContext& ctx) {
  return fit_tasks(tasks, train.labels, path, learner, ctx, [&](auto solved) -> Fitted<Model> {
    Fitted<Machines> all =
        put_together(std::move(solved), tasks, train.labels, std::ssize(prototypes));
    return {{column_machines(std::move(all.model), train.size(), prototypes)}, std::move(all.info)};
  });
}

/// The decision values of rows over the columns of the model, before and after they are decided.
/// Throws Error for other rows.
[[nodiscard]] Matrix decision_values(const ColumnMachines& model, const DenseBlock& rows);
[[nodiscard]] Prediction predict(const ColumnMachines& model, const DenseBlock& rows);

/// The rows of queries that such a model takes: similarities to training samples as they are. A
/// model that takes others has an overload of its own.
[[nodiscard]] DenseBlock machine_rows(const ColumnMachines& model, const QueryBlock& queries,
                                      const RunContext& ctx);
/// Decision values, queries x tasks, positive for the first class of the task.
template <std::derived_from<ColumnMachines> Model>
[[nodiscard]] Matrix decision_values(const Model& model, const QueryBlock& queries,
                                     RunContext& ctx) {
  return decision_values(model, machine_rows(model, queries, ctx));
}
template <std::derived_from<ColumnMachines> Model>
[[nodiscard]] Prediction predict(const Model& model, const QueryBlock& queries, RunContext& ctx) {
  return predict(model, machine_rows(model, queries, ctx));
}
/// What each column contributes to the decision values in favour of the labels.
[[nodiscard]] std::vector<Explanation> explain(const ColumnMachines& model, const DenseBlock& rows,
                                               std::span<const int> labels);
template <std::derived_from<ColumnMachines> Model>
[[nodiscard]] std::vector<Explanation> explain(const Model& model, const QueryBlock& queries,
                                               std::span<const int> labels, RunContext& ctx) {
  const ColumnMachines& machines = model;
  return explain(machines, machine_rows(model, queries, ctx), labels);
}

[[nodiscard]] std::vector<Index> needed_columns(const ColumnMachines& model);
template <class A>
void archive(Archived<A, ColumnMachines>& model, A& archiver);
/// The part of a model with an archive of its own that is its machines.
template <class A>
void archive_machines(Archived<A, ColumnMachines>& model, A& archiver) {
  archive(model, archiver);
}

}  // namespace kith
