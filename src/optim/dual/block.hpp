// SPDX-License-Identifier: Apache-2.0
// The problem of `smo` in signed variables u = y.*a, in which labels disappear:
//
//   min  1/2 u'Ku + q'u   s.t.  lower <= u <= upper,  sum u = const,      g = K u + q,
//
// and its solution over a subset of the variables, the others held.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/types.hpp"
#include "kith/optim/dual/symmetric_view.hpp"
#include "optim/dual/aligned.hpp"
#include "optim/dual/float_columns.hpp"
#include "optim/dual/free_set.hpp"
#include "optim/dual/vector_kernels.hpp"

namespace kith::dual {

/// Most variables in a block whose pair steps are made in float.
inline constexpr Index kLargestFloatBlock = 4096;

struct BoxProblem {
  SymmetricView K;
  Vector q;
  Vector lower;
  Vector upper;
};

struct BoxIterate {
  Vector u;
  Vector g;
};

/// What a run of the solver remembers beside the iterate.
struct BoxProgress {
  long iterations = 0;
  long limit = 0;
  bool newton = true;       ///< turned off for good once a factor shows indefiniteness or fails
  int newton_failures = 0;  ///< phases that rounding turned uphill, and that were taken back
  bool negative_curvature = false;
  bool narrow = false;   ///< pair steps in float; turned off for good where floats do not suffice
  bool stalled = false;  ///< the last step changed nothing: rounding
  double work = 0;       ///< in rough nanoseconds of one core
};

/// Working memory for blocks, kept from block to block.
struct BlockMemory {
  std::unique_ptr<double[]> columns;
  std::size_t capacity = 0;
  AlignedMemory<float> narrow;
  FreeSet free;
};

/// A subset of the variables with its own copy of their vectors; columns of K restricted to the
/// subset are fetched at first use.
class WorkingBlock {
 public:
  /// `rows` ascending. With `floats`, pair steps are made in float (dual/narrow_pairs.cpp), and g()
  /// is only brought up to date where the work goes on in double.
  WorkingBlock(const BoxProblem& problem, const BoxIterate& iterate, std::span<const Index> rows,
               BlockMemory& memory, FloatColumns* floats = nullptr);

  /// Lowers the violation within the block to `tolerance`, or stops at the limit or when stalled.
  void solve(double tolerance, BoxProgress& progress, const RunContext& ctx);

  [[nodiscard]] const std::vector<double>& u() const { return u_; }
  [[nodiscard]] const std::vector<double>& g() const { return g_; }

 private:
  [[nodiscard]] const double* column(Index k);
  void mark(Index at);
  [[nodiscard]] GradientEnds scan();
  /// Moves i up and j down by what is best along the pair; returns by how much.
  double take_step(Index i, Index j, double slope, double curvature, BoxProgress& progress);
  [[nodiscard]] bool pair_steps(double tolerance, double budget, BoxProgress& progress,
                                const RunContext& ctx);
  [[nodiscard]] const float* narrow_column(Index k);
  [[nodiscard]] bool start_narrow();
  void leave_narrow(const std::vector<double>& before);
  [[nodiscard]] bool narrow_steps(double tolerance, double budget, BoxProgress& progress,
                                  const RunContext& ctx);
  void newton_steps(double tolerance, double budget, BoxProgress& progress, const RunContext& ctx);
  [[nodiscard]] bool settle(FreeSet& free, double tolerance, std::vector<double>& synced,
                            double& budget, BoxProgress& progress);
  [[nodiscard]] bool release(FreeSet& free, double tolerance, BoxProgress& progress);
  void restore_sum(const std::vector<double>& before, const FreeSet& free);
  [[nodiscard]] bool keep_if_lower(const std::vector<double>& before,
                                   const std::vector<double>& gradient_before);
  void update_gradient(const std::vector<double>& before);
  [[nodiscard]] std::vector<Index> free_variables() const;

  /// What the sums in g_ can be trusted to.
  [[nodiscard]] double rounding() const;

  const BoxProblem& problem_;
  const SymmetricView& K_;
  std::span<const Index> rows_;
  Index m_;
  bool whole_;  // every variable, in place: columns need no copy
  BlockMemory& memory_;
  std::vector<Index> slot_;  // of a fetched column in memory_, in order of fetching; else -1
  Index used_ = 0;
  std::vector<double> u_, g_, lower_, upper_, diagonal_;
  std::vector<double> up_, low_;  // 0, or +inf / -inf where the variable cannot go up / down
  double largest_diagonal_;
  double held_ = 0;  // sum of |u| outside the block

  FloatColumns* floats_;  // null: everything in double
  Index stride_ = 0;      // of the float columns; the vectors below are as long
  std::vector<Index> narrow_slot_;
  Index narrow_used_ = 0;
  AlignedVector<float> narrow_g_, narrow_up_, narrow_low_, narrow_diagonal_;
};

/// Work of a pair step in rough nanoseconds of one core.
[[nodiscard]] double pair_work(Index m, bool narrow);

/// What rounding does to g = K u + q, for a sum of |u|.
[[nodiscard]] double gradient_noise(const BoxProblem& problem, double sum_of_u);

/// Most negative curvature that rounding in a positive semidefinite n x n matrix explains.
[[nodiscard]] double curvature_noise(const SymmetricView& K);

}  // namespace kith::dual
