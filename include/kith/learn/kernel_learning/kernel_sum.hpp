// SPDX-License-Identifier: Apache-2.0
// Machines whose decision value is a sum over several matrices: f(x) = sum_i s_i'c_i + b, s_i the
// similarities of x to the training samples under matrix i. What the methods share that learn from
// several matrices with a linear treatment of new samples.
#pragma once

#include <span>
#include <vector>

#include "kith/condition/spectrum.hpp"
#include "kith/learn/learner.hpp"
#include "kith/learn/multiclass/one_vs_one.hpp"

namespace kith {

struct KernelSumModel {
  Index samples = 0;           ///< of the training set
  std::vector<Index> columns;  ///< training samples whose similarities a prediction needs
  PairTable pairs;
  std::vector<Matrix> coefficients;  ///< per matrix: columns x pairs, for raw rows
  Vector intercepts;                 ///< one per pair
  Matrix sigmoids;                   ///< 2 x pairs (slope, offset); empty: no probabilities
  Matrix weights;                    ///< matrices x pairs: of each matrix in a pair's kernel
  Spectrum spectrum = Spectrum::kClip;
};

/// Keeps the samples that some matrix has coefficients for; `coefficients` are samples x pairs.
void keep_columns(KernelSumModel& model, std::span<const Matrix> coefficients);

/// Decision values, queries x pairs.
[[nodiscard]] Matrix decision_values(const KernelSumModel& model, const QueryBlock& queries,
                                     const RunContext& ctx);
[[nodiscard]] Prediction predict(const KernelSumModel& model, const QueryBlock& queries,
                                 const RunContext& ctx);
template <class A>
void archive(Archived<A, KernelSumModel>& model, A& archiver);

/// Throws Error unless there are queries for `matrices` matrices.
void check_query_matrices(const QueryBlock& queries, Index matrices);

}  // namespace kith
