// SPDX-License-Identifier: Apache-2.0
// One learned kernel and its machine for each pair of classes: what the methods that learn a whole
// kernel matrix share.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "kith/learn/kernel_learning/learned_kernel.hpp"
#include "kith/learn/learner.hpp"
#include "kith/learn/multiclass/fit_tasks.hpp"
#include "kith/optim/robust/problem.hpp"

namespace kith {

struct LearnedPairsModel {
  Index samples = 0;  ///< of the training set
  TaskTable tasks;
  std::vector<std::vector<Index>> members;  ///< samples of each task
  std::vector<LearnedMachine> machines;     ///< one per task
  Matrix sigmoids;                          ///< 2 x tasks (slope, offset); empty: no probabilities
  /// The self-similarity of every training sample where they agree, else NaN.
  double self = std::numeric_limits<double>::quiet_NaN();
};

/// Whether new rows need the self-similarities of their samples: the treatment of a row asks for
/// it, and the training samples have no constant one to take it from.
[[nodiscard]] bool needs_self(const LearnedPairsModel& model);

/// The samples of one task, or a part of them, as a problem of its own.
struct LearnedBlock {
  Matrix S;  ///< symmetric
  Vector y;
  Vector weights;  ///< per sample, all 1 where none were given
  std::shared_ptr<const SymmetricEigen> eigen;
  /// S and its eigenvalues are those of the data divided by this, a power of two; 1 unless they are
  /// so large or small that a solver would lose digits.
  double unit = 1;
};

/// What may differ between steps of a path beside the problem itself.
struct LearnedStep {
  Treatment treatment = Treatment::kSample;
  bool probability = true;
  double tolerance = 1e-8;
};

/// One problem of a path.
struct LearnedTask {
  const LearnedBlock& block;
  std::size_t step = 0;
  double tolerance = 1e-8;
  bool for_sigmoid = false;       ///< a few digits of the decision values are enough
  std::span<const Vector> known;  ///< alpha of each step before, on the same block
};

/// The answer's alpha is over its kernel: f = K Y alpha + b. Kernel, alpha, distance and rho are
/// in the block's unit, the objective, the offset and the trace in that of the data.
using KernelProblem = std::function<robust::Solution(const LearnedTask& task)>;

/// Throws Error(kInvalidArgument) where what a setting amounts to for similarities of size `unit`
/// leaves no room for its squares among the numbers. Pass 1 where the similarities have no part.
void check_range(std::string_view what, double value, double unit);

/// One model per step. Sigmoids are fitted to decision values of samples held out inside the fit.
[[nodiscard]] std::vector<Fitted<LearnedPairsModel>> fit_learned(SharedWork& work,
                                                                 std::span<const LearnedStep> steps,
                                                                 const KernelProblem& learn,
                                                                 const RunContext& ctx);
/// Throws Error where treatment sample needs self-similarities that neither the queries nor a
/// constant diagonal of the training matrix give.
[[nodiscard]] Prediction predict(const LearnedPairsModel& model, const QueryBlock& queries,
                                 const RunContext& ctx);
template <class A>
void archive(Archived<A, LearnedPairsModel>& model, A& archiver);

/// What all values are, up to rounding, else NaN.
[[nodiscard]] double constant_of(const VectorRef& values);
/// The mean of both directions, where both are known. Throws Error unless there are `samples`
/// columns.
[[nodiscard]] DenseBlock learned_rows(const QueryMatrix& query, Index samples);
/// Those of the `count` queries, else `constant`. Throws Error where that is NaN and the treatment
/// needs them.
[[nodiscard]] Vector self_similarities(const QueryMatrix& query, Treatment treatment,
                                       double constant, Index count);
/// The parts of one machine, each named with `suffix`.
template <class A>
void archive(Archived<A, LearnedMachine>& machine, std::string_view suffix, A& archiver);
/// What a prediction of pair `pair` relies on, whoever wrote the file: throws Error unless its
/// members are positions below `samples`, and its machine is of their number.
void check_loaded(const LearnedMachine& machine, std::span<const Index> members, Index samples,
                  std::size_t pair);

}  // namespace kith
