// SPDX-License-Identifier: Apache-2.0
// Machines whose decision value is a sum over several matrices: f(x) = sum_i s_i'c_i + b, s_i the
// similarities of x to the training samples under matrix i. What the methods share that learn from
// several matrices with a linear treatment of new samples.
#pragma once

#include <span>
#include <vector>

#include "kith/condition/spectrum.hpp"
#include "kith/learn/learner.hpp"
#include "kith/learn/multiclass/machines.hpp"

namespace kith {

struct KernelSumModel {
  Index samples = 0;           ///< of the training set
  std::vector<Index> columns;  ///< training samples whose similarities a prediction needs
  TaskTable tasks;
  std::vector<SparseColumns> coefficients;  ///< per matrix: over its map, or the columns
  std::vector<Matrix>
      maps;           ///< per matrix: columns x what its coefficients are over; empty: columns
  Vector intercepts;  ///< one per task
  Matrix sigmoids;    ///< 2 x tasks (slope, offset); empty: no probabilities
  Matrix weights;     ///< matrices x tasks: of each matrix in a task's kernel
  Spectrum spectrum = Spectrum::kClip;
};

/// What a method learned of one task: a column of coefficients for each matrix that has a part.
struct SumMachine : BinaryMachine {
  Matrix c;                   ///< samples of the task x matrices with a part
  std::vector<Index> matrix;  ///< of each column
  double b = 0;
  Vector weights;  ///< of every matrix
};

/// sum_i K_i c_i + b at `rows` of the kernels, over the columns `trained_on`.
[[nodiscard]] Vector sum_decisions(std::span<const Matrix> kernels, const Matrix& c, double b,
                                   std::span<const Index> rows, std::span<const Index> trained_on);

/// The machines of all tasks; `transforms`, one for each matrix, turn new rows into those of its
/// kernel, and are part of the model.
[[nodiscard]] Fitted<KernelSumModel> kernel_sum(FittedTasks<SumMachine>&& fitted, Tasks tasks,
                                                const TrainingSet& train,
                                                std::span<const TestTransform> transforms);

/// Decision values, queries x tasks.
[[nodiscard]] Matrix decision_values(const KernelSumModel& model, const QueryBlock& queries,
                                     const RunContext& ctx);
[[nodiscard]] Prediction predict(const KernelSumModel& model, const QueryBlock& queries,
                                 const RunContext& ctx);
[[nodiscard]] std::vector<Index> needed_columns(const KernelSumModel& model);
template <class A>
void archive(Archived<A, KernelSumModel>& model, A& archiver);

/// Throws Error unless there are queries for `matrices` matrices.
void check_query_matrices(const QueryBlock& queries, Index matrices);

}  // namespace kith
