// SPDX-License-Identifier: Apache-2.0
// Machines that are linear in the similarities themselves, one for each pair of classes: what the
// models of `lp-machine` and `p-svm` are, and that of `svm` where a treatment is linear.
#pragma once

#include <span>
#include <vector>

#include "kith/learn/learner.hpp"
#include "kith/learn/multiclass/one_vs_one.hpp"

namespace kith {

/// A query with similarities s to `columns` has the decision values s' coefficients + intercepts.
struct ColumnMachines {
  Index samples = 0;           ///< of the training set
  std::vector<Index> columns;  ///< training samples with a coefficient in some pair; one at least
  PairTable pairs;
  Matrix coefficients;  ///< columns x pairs
  Vector intercepts;    ///< one per pair
  Matrix sigmoids;      ///< 2 x pairs (slope, offset); empty: no probabilities
};

/// One machine of a pair, over the prototypes.
struct ColumnMachine {
  Vector coefficients;
  double intercept = 0;
  SolveInfo info;
};

/// The machines of all pairs: `machines[p]` is over the training samples `prototypes`, and what no
/// pair uses of them is left out. Without `sigmoids` the model has no probabilities.
[[nodiscard]] ColumnMachines column_machines(const TrainingSet& train,
                                             std::span<const ClassPair> pairs,
                                             std::span<const Index> prototypes,
                                             std::span<const ColumnMachine> machines,
                                             std::span<const Sigmoid> sigmoids);

/// Sets `columns` and `coefficients` from those over the training samples `prototypes`, without the
/// ones that no pair uses; the first stays where there is none: a query has to have something.
void keep_used_columns(ColumnMachines& model, const Matrix& coefficients,
                       std::span<const Index> prototypes);

[[nodiscard]] Prediction predict(const ColumnMachines& model, const QueryBlock& queries,
                                 RunContext& ctx);
[[nodiscard]] std::vector<Index> needed_columns(const ColumnMachines& model);
template <class A>
void archive(Archived<A, ColumnMachines>& model, A& archiver);

}  // namespace kith
