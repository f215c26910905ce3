// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "kith/optim/trace/kernel.hpp"
#include "optim/trace/newton.hpp"

namespace kith::trace {

/// The trace-constrained problem with sum_i c_i |K - S_i|^2 in place of its loss, for many c. For
/// the one shared kernel that is sum(c) |K - V|^2 and a constant, V the mean of the S_i weighted by
/// c.
class WeightedProblem {
 public:
  /// Keeps references to the problem and to `S`: those of the problem, or targets in their place,
  /// in kSpectral n x 1 in place of the eigenvalues.
  WeightedProblem(const Problem& problem, std::span<const Matrix> S);

  [[nodiscard]] DualSolution solve(const Vector& c, double tolerance, const RunContext& ctx,
                                   const DualSolution* near = nullptr);
  /// The kernels that are least where a is 0, those nearest to the S_i.
  [[nodiscard]] DualSolution nearest(const Vector& c);
  /// The same (a, gamma) with the kernels that are least for it at other weights; the bounds of
  /// `at` are those of before.
  [[nodiscard]] DualSolution at_weights(DualSolution at, const Vector& c) const;
  [[nodiscard]] std::vector<SymmetricEigen> kernels(const DualSolution& at) const;
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

/// The best bounds so far, which may come from different points.
struct Best {
  Solution solution;
  double upper = std::numeric_limits<double>::infinity();
  double lower = -std::numeric_limits<double>::infinity();

  [[nodiscard]] double gap() const { return (upper - lower) / upper; }
  void keep_solution(double bound, Solution found) {
    if (!(bound < upper)) return;
    upper = bound;
    found.proof = std::move(solution.proof);
    solution = std::move(found);
  }
  void keep_proof(double bound, Proof proof) {
    if (!(bound > lower)) return;
    lower = bound;
    solution.proof = std::move(proof);
  }
};

/// Everything of a solution but its proof and evidence, from a DualSolution or a MixedSolution.
template <class Machine>
[[nodiscard]] Solution start_solution(const Machine& at, std::vector<SymmetricEigen> kernels) {
  Solution solution;
  solution.alpha = at.alpha;
  solution.b = at.b;
  solution.gamma = at.gamma;
  solution.kernels = std::move(kernels);
  return solution;
}

/// Takes the machine on one kernel to the last digits that margins can have; false where there are
/// several kernels, or no more digits.
[[nodiscard]] bool finish_machine(const Problem& problem, Solution& solution,
                                  const RunContext& ctx);

}  // namespace kith::trace
