// SPDX-License-Identifier: Apache-2.0
// Functions of the inner product of vectors:
//   linear      x'z
//   polynomial  (gamma x'z + coef0)^degree
//   sigmoid     tanh(gamma x'z + coef0), as a rule indefinite
//   cosine      x'z / (|x| |z|)
#pragma once

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"
#include "kith/data/block.hpp"

namespace kith {

enum class InnerProduct { kLinear, kPolynomial, kSigmoid, kCosine };

struct InnerProductSettings {
  InnerProduct of = InnerProduct::kLinear;
  double gamma = 1;  ///< of polynomial and sigmoid
  double coef0 = 1;  ///< of polynomial and sigmoid
  Index degree = 3;  ///< of polynomial
};

/// All pairs of the rows of X (n x n, exactly symmetric). Products are summed in one order, so that
/// the numbers are the same for any number of threads. A row of zeros has no direction: cosine
/// throws Error(kInvalidArgument) naming it.
[[nodiscard]] RowMatrix inner_product_matrix(const Eigen::Ref<const RowMatrix>& X,
                                             const InnerProductSettings& settings,
                                             const RunContext& ctx);

/// Each row of `queries` against each row of `training`, which have equally many columns.
[[nodiscard]] RowMatrix inner_product_matrix(const Eigen::Ref<const RowMatrix>& queries,
                                             const Eigen::Ref<const RowMatrix>& training,
                                             const InnerProductSettings& settings,
                                             const RunContext& ctx);

/// The same of sparse rows, whose absent numbers are 0.
[[nodiscard]] RowMatrix inner_product_matrix(const SparseBlock& X,
                                             const InnerProductSettings& settings,
                                             const RunContext& ctx);
[[nodiscard]] RowMatrix inner_product_matrix(const SparseBlock& queries,
                                             const SparseBlock& training,
                                             const InnerProductSettings& settings,
                                             const RunContext& ctx);

}  // namespace kith
