// SPDX-License-Identifier: Apache-2.0
// Learned kernels and the machine on them for each pair of classes: what the methods that learn
// whole kernel matrices share.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kith/learn/kernel_learning/learned_kernel.hpp"
#include "kith/learn/learner.hpp"
#include "kith/learn/multiclass/fit_tasks.hpp"
#include "kith/optim/robust/problem.hpp"

namespace kith {

struct LearnedPairsModel {
  Index samples = 0;   ///< of the training set
  Index matrices = 1;  ///< likewise
  TaskTable tasks;
  std::vector<std::vector<Index>> members;  ///< samples of each task
  /// Of each task one machine on the mean of the rows, or one on the rows of each matrix: the
  /// decision value is their sum.
  std::vector<std::vector<LearnedMachine>> machines;
  Matrix sigmoids;  ///< 2 x tasks (slope, offset); empty: no probabilities
  /// For each machine of a task: the self-similarity of every training sample in what it sees where
  /// they agree, else NaN.
  std::vector<double> self;
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
/// That of a task; that of all training samples shares their decomposition.
[[nodiscard]] LearnedBlock learned_block(SharedWork& work, const BinaryTask& task);
/// The same in a unit of its own; nothing where that is 1.
[[nodiscard]] std::optional<LearnedBlock> in_own_unit(const LearnedBlock& block);

/// What may differ between steps of a path beside the problem itself.
struct LearnedStep {
  Treatment treatment = Treatment::kSample;
  bool probability = true;
  double tolerance = 1e-8;
};

/// Those of settings with fields of these names.
template <class Settings>
[[nodiscard]] std::vector<LearnedStep> learned_steps(Path<Settings> path) {
  std::vector<LearnedStep> steps;
  for (const Settings& s : path) steps.push_back({s.test_treatment, s.probability, s.tolerance});
  return steps;
}

/// The treatments that such machines have; the last by the rule of M = S + u u' / (4 rho).
void describe_treatment(Treatment& treatment, FieldVisitor& field);

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
[[nodiscard]] FittedPath<LearnedPairsModel> fit_learned(SharedWork& work, Tasks tasks,
                                                        std::span<const LearnedStep> steps,
                                                        const KernelProblem& learn,
                                                        const RunContext& ctx);
/// Decision values, queries x tasks. Throws Error where a treatment needs self-similarities that
/// neither the queries nor a constant diagonal of the training matrix give.
[[nodiscard]] Matrix decision_values(const LearnedPairsModel& model, const QueryBlock& queries,
                                     const RunContext& ctx);
[[nodiscard]] Prediction predict(const LearnedPairsModel& model, const QueryBlock& queries,
                                 const RunContext& ctx);
template <class A>
void archive(Archived<A, LearnedPairsModel>& model, A& archiver);

/// What all values are, up to rounding, else NaN.
[[nodiscard]] double constant_of(const VectorRef& values);

}  // namespace kith
