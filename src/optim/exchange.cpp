// SPDX-License-Identifier: Apache-2.0
// [CY] Algorithm 1 for the robust machine
//
//   max over a, t of t   s.t.  t <= S(a, K) for all K >= 0,   0 <= a <= cost,  y'a = 0,       (6)
//
// a linear objective under infinitely many quadratic constraints, of which a localization set grows
// by the most violated one in every iteration:
//
//   K_i = (S + u u' / (4 rho))_+ at a_{i-1}                                                   (9)
//   (t_i, a_i) solves (6) with the kernels of the set alone                                   (7)
//
// where (7) is solved as the regularised multiple kernel learning (27). Bounds: l_i = max over
// j <= i of S(a_{j-1}, K_j) (11), u_i = t_i (13).
//
// Deviations. u_i is the bound that the solution of (7) proves from above, not its value, and the
// least so far: the same but for the 1e-10 to which (7) is solved, and so never below the optimum.
// "Active" (19) is read as: slack no larger than its multiplier (both relative), which for two
// numbers with product 0 in exact arithmetic tells which of them is the zero.
//
// Cost of an iteration with p kernels: one decomposition, and 10 to 25 times p n^2 + n^3 / 3.
#include "kith/optim/exchange.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "kith/optim/regularised_mkl.hpp"
#include "kith/optim/smo.hpp"
#include "optim/robust_point.hpp"

namespace kith {
namespace {

using detail::RobustPoint;
using detail::SplitMatrix;

struct LocalizationSet {
  std::vector<Matrix> kernels;
  std::vector<double> penalties;

  void add(RobustPoint point) {
    kernels.push_back(std::move(point.K));
    penalties.push_back(point.penalty);
  }
};

/// (19), (20).
void prune(LocalizationSet& set, const RegularisedMklSolution& master) {
  constexpr double kEqual = 1e-12;
  const double scale = std::abs(master.lower);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < set.kernels.size(); ++i) {
    const auto at = static_cast<Index>(i);
    const double slack = master.values[at] - master.lower;
    if (slack > scale * std::max(kEqual, master.theta[at])) continue;
    if (kept != i) {
      std::swap(set.kernels[kept], set.kernels[i]);
      set.penalties[kept] = set.penalties[i];
    }
    ++kept;
  }
  set.kernels.resize(kept);
  set.penalties.resize(kept);
}

RegularisedMklSolution solve_master(const RobustProblem& problem, const LocalizationSet& set,
                                    const RunContext& ctx) {
  const RegularisedMkl master{
      set.kernels,
      Eigen::Map<const Vector>(set.penalties.data(), static_cast<Index>(set.penalties.size())),
      problem.y, problem.cost};
  return regularised_mkl(master, {}, ctx);
}

/// The best feasible point so far and the bounds around the optimum.
struct Bracket {
  Vector alpha;
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();

  [[nodiscard]] bool closed(double gap) const {
    return upper - lower <= gap * std::min(1.0, std::abs(lower));
  }
};

}  // namespace

ExchangeSolution exchange(const RobustProblem& problem, const ExchangeSettings& settings,
                          const RunContext& ctx) {
  validate(problem);
  const auto began = std::chrono::steady_clock::now();
  const SplitMatrix split(problem);
  const SmoSolution first = smo(detail::machine_on(problem, split.positive),
                                {.tolerance = 1e-9, .gap_tolerance = 1e-10}, ctx);
  Vector alpha = first.alpha;
  double t = first.info.objective;
  LocalizationSet set;
  Bracket bracket;
  std::vector<BoundsStep> trace;
  std::vector<double> masters;
  SolveStatus status = SolveStatus::kIterationLimit;
  RegularisedMklSolution master;
  for (long i = 1; i <= settings.max_iterations; ++i) {
    ctx.check_stop();
    ctx.progress("exchange", static_cast<double>(i), static_cast<double>(settings.max_iterations));
    RobustPoint point = detail::robust_point(problem, split, alpha);  // step 1, (9)
    if (point.value > bracket.lower) {
      bracket.lower = point.value;
      bracket.alpha = alpha;
    }
    if (point.value >= t) {  // no constraint is violated
      bracket.upper = std::min(bracket.upper, t);
      status = SolveStatus::kSolved;
      break;
    }
    if (settings.prune && i > 1) prune(set, master);
    set.add(std::move(point));
    master = solve_master(problem, set, ctx);  // step 2, (7)
    alpha = master.alpha;
    t = master.lower;
    bracket.upper = std::min(bracket.upper, master.upper);
    masters.push_back(t);
    trace.push_back({bracket.lower, bracket.upper, bracket.upper - bracket.lower,
                     static_cast<Index>(set.kernels.size())});
    if (bracket.closed(settings.gap)) {
      status = SolveStatus::kSolved;
      break;
    }
  }
  RobustSolution solution =
      detail::finish_robust(problem, split, bracket.alpha, bracket.upper, ctx);
  solution.info.status = status;
  solution.info.iterations = static_cast<long>(trace.size());
  solution.info.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  solution.trace = std::move(trace);
  return {std::move(solution), std::move(masters)};
}

}  // namespace kith
