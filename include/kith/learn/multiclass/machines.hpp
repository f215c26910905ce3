// SPDX-License-Identifier: Apache-2.0
// Machines that are linear in what they are given, one for each binary task, side by side.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kith/learn/multiclass/binary_tasks.hpp"
#include "kith/learn/multiclass/fit_tasks.hpp"
#include "kith/learn/multiclass/sparse_columns.hpp"

namespace kith {

/// A sample with row r has decision values r' coefficients + intercepts.
struct Machines {
  TaskTable tasks;
  SparseColumns coefficients;  ///< one column per task
  Vector intercepts;           ///< one per task
  Matrix sigmoids;             ///< 2 x tasks (slope, offset); empty: no probabilities
};
/// Throws Error(kBadInput) where the loaded parts are not all of the same number of tasks.
template <class A>
void archive(Archived<A, Machines>& machines, A& archiver);

/// rows * coefficients + intercepts.
[[nodiscard]] Matrix decision_values(const Machines& machines,
                                     const Eigen::Ref<const RowMatrix>& rows);
/// The same decided, some rows at a time: with many tasks their decision values need much memory.
[[nodiscard]] Prediction predict(const Machines& machines, const Eigen::Ref<const RowMatrix>& rows);

/// A machine of one task.
struct LinearMachine : BinaryMachine {
  std::vector<Index> at;  ///< what the coefficients belong to; none: the samples of the task
  Vector c;
  double b = 0;

  /// Keeps the coefficients that are not 0.
  void make_sparse();
};

/// The machines of all tasks, over `rows` training samples or other things.
template <std::derived_from<LinearMachine> Machine>
[[nodiscard]] Fitted<Machines> put_together(FittedTasks<Machine>&& fitted, Tasks tasks,
                                            const Labels& labels, Index rows) {
  Fitted<Machines> all{.model = {.tasks = task_table(tasks, labels),
                                 .coefficients = {},
                                 .intercepts = Vector(std::ssize(tasks)),
                                 .sigmoids = std::move(fitted.sigmoids)},
                       .info = std::move(fitted.info)};
  SparseColumnsBuilder coefficients(rows);
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const LinearMachine& machine = fitted.machines[t];
    const bool by_sample = machine.at.empty() && machine.c.size() > 0;
    coefficients.add(by_sample ? tasks[t].samples : machine.at, machine.c);
    all.model.intercepts(static_cast<Index>(t)) = machine.b;
  }
  all.model.coefficients = coefficients.done();
  return all;
}

/// Coefficients over rows that a linear map makes of others: s becomes map's s, and
/// s' (map coefficients) are the decision values.
struct MappedColumns {
  std::vector<Index> columns;  ///< entries of s that have a part
  Matrix map;                  ///< columns x rows of `coefficients`; empty: none, s(columns) itself
  SparseColumns coefficients;
};

/// `times_map` multiplies a matrix over what `coefficients` are over by the map; null: there is no
/// map. It is multiplied into the coefficients unless there are so many of them that the map itself
/// takes less room. One column at least is kept: a query has to have something.
[[nodiscard]] MappedColumns map_columns(const SparseColumns& coefficients,
                                        const std::function<Matrix(const MatrixRef&)>& times_map);

}  // namespace kith
