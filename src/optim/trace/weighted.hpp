// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kith/optim/trace/kernel.hpp"
#include "optim/trace/newton.hpp"

namespace kith::trace {

/// The trace-constrained problem with sum_i c_i |K - S_i|^2 in place of its loss, for many c. For
/// the one shared kernel that is sum(c) |K - V|^2 and a constant, V the mean of the S_i weighted by
/// c.
class WeightedProblem {
 public:
  /// Keeps references to the problem and to `S` (those of the problem, or targets in their place).
  WeightedProblem(const Problem& problem, std::span<const Matrix> S);

  [[nodiscard]] DualSolution solve(const Vector& c, double tolerance, const RunContext& ctx,
                                   const DualSolution* near = nullptr);
  /// The kernels that are least where a is 0, those nearest to the S_i.
  [[nodiscard]] DualSolution nearest(const Vector& c);
  /// The same (a, gamma) with the kernels that are least for it at other weights; the bounds of
  /// `at` are those of before.
  [[nodiscard]] DualSolution at_weights(DualSolution at, const Vector& c) const;
  [[nodiscard]] std::vector<SymmetricEigen> kernels(const DualSolution& at) const;
  /// K - S_i for every i, in kSpectral mu_i - lambda_i.
  [[nodiscard]] std::vector<Matrix> differences(const std::vector<SymmetricEigen>& kernels) const;
  /// Of the S_i; empty where no block has one of its own.
  [[nodiscard]] const std::vector<SymmetricEigen>& eigen() const { return eigen_; }

 private:
  [[nodiscard]] bool of_problem() const { return S_.data() == problem_.S.data(); }
  void make_blocks(const Vector& c);

  const Problem& problem_;
  std::span<const Matrix> S_;
  std::vector<SymmetricEigen> eigen_;
  std::vector<Block> blocks_;
  Vector mean_weights_;  // of the V that the shared block was made from
};

/// Everything of a solution but its proof and evidence.
[[nodiscard]] Solution start_solution(const DualSolution& at, std::vector<SymmetricEigen> kernels);

/// Takes the machine on one kernel to the last digits that margins can have; false where there are
/// several kernels, or no more digits.
[[nodiscard]] bool finish_machine(const Problem& problem, Solution& solution,
                                  const RunContext& ctx);

}  // namespace kith::trace
