// SPDX-License-Identifier: Apache-2.0
// Support vector machines on one kernel, one for each pair of classes and each cost: what every
// method that makes a kernel of its own shares.
#pragma once

#include <span>
#include <vector>

#include "kith/learn/learner.hpp"
#include "kith/learn/multiclass/one_vs_one.hpp"

namespace kith {

/// What may differ between machines on the same kernel.
struct MachineSettings {
  double cost = 1;
  bool probability = true;
  double tolerance = 1e-6;
};

/// The machines of all pairs: a sample with kernel row k has decision values k' coefficients +
/// intercepts.
struct MachineTable {
  Matrix coefficients;  ///< samples x pairs, over the kernel
  Vector intercepts;
  Matrix sigmoids;  ///< 2 x pairs (slope, offset); empty: no probabilities
  FitInfo info;     ///< one subproblem per pair, its objective the dual's
};

/// K is the symmetric kernel of all training samples. `ascending` in cost: where the kernel is
/// convex each solution starts the next, and serves every cost above its largest coefficient.
/// Sigmoids are fitted to decision values of samples held out inside the fit.
[[nodiscard]] std::vector<MachineTable> train_pairs(const Matrix& K, const TrainingSet& train,
                                                    std::span<const ClassPair> pairs,
                                                    std::span<const MachineSettings> ascending,
                                                    bool convex, const RunContext& ctx);

/// Makes the objective of each pair that of its primal problem, 1/2 |w|^2 + cost times the losses,
/// from the decision values (samples x pairs) without intercept: [TR] (3).
void state_primal(MachineTable& table, std::span<const ClassPair> pairs, const TrainingSet& train,
                  const Matrix& decisions, double cost);

/// The columns of `sigmoids` as values.
[[nodiscard]] std::vector<Sigmoid> sigmoids_of(const MatrixRef& sigmoids);

}  // namespace kith
