// SPDX-License-Identifier: Apache-2.0
// The samples of one binary task of `eskl`, `emkl` and `rekl`: their matrices, the problem that a
// setting makes of them in a unit of its own, and its solution.
#pragma once

#include <vector>

#include "kith/learn/kernel_learning/learned_kernel.hpp"
#include "kith/learn/kernel_learning/trace_pairs.hpp"
#include "kith/learn/multiclass/binary_tasks.hpp"
#include "kith/optim/trace/kernel.hpp"

namespace kith::detail {

/// Whether mirror descent solves it.
[[nodiscard]] bool descends(const TraceSettings& settings);
[[nodiscard]] double tolerance_of(const TraceSettings& settings, trace::KernelShape shape);

/// All samples of a task, or a part of them.
struct TraceBlock {
  std::vector<Matrix> S;     ///< symmetric
  std::vector<Matrix> mean;  ///< of S, where new rows are averaged: one, else none
  Vector y;
  Vector weights;                            ///< per sample
  std::vector<SymmetricEigen> eigen;         ///< of what is seen, once something needs it
  double unit = 1;                           ///< what solvers see is divided by it
  std::vector<Matrix> scaled;                ///< S, where the unit is not 1
  std::vector<SymmetricEigen> scaled_eigen;  ///< of what is seen, once a solver needs it

  /// What the rows of new samples are rows of.
  [[nodiscard]] const std::vector<Matrix>& seen() const { return mean.empty() ? S : mean; }
  void set_unit(double wanted) {
    if (wanted == unit) return;
    unit = wanted;
    scaled.clear();
    scaled_eigen.clear();
  }
  [[nodiscard]] const std::vector<Matrix>& in_unit() {
    if (unit == 1) return S;
    for (std::size_t i = scaled.size(); i < S.size(); ++i) scaled.emplace_back(S[i] / unit);
    return scaled;
  }
  [[nodiscard]] const std::vector<SymmetricEigen>& eigen_in_unit() {
    for (std::size_t i = scaled_eigen.size(); i < seen().size(); ++i) {
      scaled_eigen.push_back(symmetric_eigen(seen()[i] / unit));
    }
    return scaled_eigen;
  }
  void decompose() {
    if (!eigen.empty()) return;
    eigen = eigen_in_unit();
    for (SymmetricEigen& one : eigen) one.lambda *= unit;
  }
};

[[nodiscard]] TraceBlock trace_block(SharedWork& work, const BinaryTask& task,
                                     trace::KernelShape shape);
[[nodiscard]] TraceBlock part_of(const TraceBlock& block, std::span<const Index> at);

/// That of the mean of the matrices; where it is not positive, of what is positive of the mean; for
/// matrices without that, of the identity.
[[nodiscard]] double own_trace(const TraceBlock& block);

/// The size of kernels, a power of two: a solver sees kernels whose diagonal is 1 to 2 on average,
/// and the same numbers, to the last bit, for similarities that are a power of two times as large.
/// 1 for a loss of one's own, which sees the numbers as they are.
[[nodiscard]] double unit_of(const TraceSettings& settings, double trace, Index samples);
/// What kernels of size 1 make of the settings: with S and the trace divided by the unit the same
/// problem has an objective that is unit times as large.
[[nodiscard]] trace::Problem problem_of(TraceBlock& block, trace::KernelShape shape,
                                        const TraceSettings& settings, double trace, double unit);
/// `problem` keeps the costs that its answer is for.
[[nodiscard]] trace::Solution solve(trace::Problem& problem, const TraceSettings& settings,
                                    const RunContext& ctx);
/// The answer for S itself. The proof stays where it is.
[[nodiscard]] trace::Solution in_data_unit(trace::Solution solution, double unit);

/// 1 / gamma_i; bounded, for it has no limit where a kernel takes no part.
[[nodiscard]] Vector weights_of(const trace::Solution& solution);
/// One machine per kernel; the decision value is their sum.
[[nodiscard]] std::vector<LearnedMachine> machines_of(TraceBlock& block,
                                                      const trace::Solution& solution,
                                                      Treatment treatment);
[[nodiscard]] double worst_consistency(const TraceBlock& block, const trace::Solution& solution,
                                       Treatment treatment);

}  // namespace kith::detail
