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
// numbers with product 0 in exact arithmetic tells which of them is the zero. Constraints are
// dropped only after t has fallen: at equal t the same ones could be dropped and found for ever.
//
// (7) is solved with the constraints active last, those it violates added until there is none: of
// hundreds of kernels some twenty are active. These rounds stand alone: each adds a constraint.
//
// Cost of an iteration with p kernels, q of them active: one decomposition, 10 to 25 times
// q n^2 + n^3 / 3, and p n^2.
#include "kith/optim/papers/exchange.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "kith/optim/dual/smo.hpp"
#include "kith/optim/mkl/regularised.hpp"
#include "optim/engine/progress.hpp"
#include "optim/robust/point.hpp"

namespace kith::papers {
namespace {

constexpr double kEqual = 1e-12;  // relative: bounds and values as near as this are equal

/// The kernels that the master problem is solved with stand first. Without pruning the others wait
/// behind them and are looked at again after every solution.
struct LocalizationSet {
  std::vector<Matrix> kernels;
  std::vector<double> penalties;
  std::size_t working = 0;

  [[nodiscard]] std::size_t size() const { return kernels.size(); }
  void exchange_places(std::size_t i, std::size_t j) {
    if (i == j) return;
    kernels[i].swap(kernels[j]);
    std::swap(penalties[i], penalties[j]);
  }
  void add(robust::Point point) {
    kernels.push_back(std::move(point.K));
    penalties.push_back(point.penalty);
    exchange_places(working++, size() - 1);
  }
};

/// (19), (20): brings the active ones to the front, where they alone go on working.
void keep_active(LocalizationSet& set, const mkl::RegularisedSolution& master) {
  const double scale = std::abs(master.lower);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < set.working; ++i) {
    const auto at = static_cast<Index>(i);
    const double slack = master.values[at] - master.lower;
    if (slack > scale * std::max(kEqual, master.theta[at])) continue;
    set.exchange_places(kept++, i);
  }
  set.working = kept;
}

/// Puts to work what waits and is violated; false where nothing is.
bool recall_violated(const robust::Problem& problem, LocalizationSet& set,
                     const mkl::RegularisedSolution& master) {
  const Vector u = problem.y.cwiseProduct(master.alpha);
  const double sum = master.alpha.sum();
  const double allowed =
      master.lower - mkl::RegularisedSettings{}.tolerance * std::abs(master.lower);
  const std::size_t before = set.working;
  for (std::size_t i = before; i < set.size(); ++i) {
    const double quadratic = u.dot(set.kernels[i].selfadjointView<Eigen::Lower>() * u);
    if (sum - 0.5 * quadratic + set.penalties[i] < allowed) set.exchange_places(set.working++, i);
  }
  return set.working > before;
}

/// (7). A solution with some of the constraints that violates none of the others is the solution
/// with all of them.
mkl::RegularisedSolution solve_master(const robust::Problem& problem, LocalizationSet& set,
                                      const RunContext& ctx) {
  while (true) {
    const mkl::RegularisedProblem working{
        std::span(set.kernels.data(), set.working),
        Eigen::Map<const Vector>(set.penalties.data(), static_cast<Index>(set.working)), problem.y,
        problem.cost};
    mkl::RegularisedSolution master = mkl::solve_regularised(working, {}, ctx);
    if (!recall_violated(problem, set, master)) return master;
  }
}

/// sum_i theta_i K_i, the kernel that the solution of (7) proves its bound with.
Matrix mixed_kernel(const LocalizationSet& set, const mkl::RegularisedSolution& master) {
  Matrix K = Matrix::Zero(set.kernels.front().rows(), set.kernels.front().cols());
  for (Index i = 0; i < master.theta.size(); ++i) {
    if (master.theta[i] > 0) K += master.theta[i] * set.kernels[static_cast<std::size_t>(i)];
  }
  return K;
}

/// The best feasible point so far and the bounds around the optimum.
struct Bracket {
  Vector alpha;
  Matrix witness;  // of the upper bound
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();

  void raise(const Vector& a, double value) {
    if (!(value > lower)) return;
    lower = value;
    alpha = a;
  }
  void reduce(const LocalizationSet& set, const mkl::RegularisedSolution& master) {
    if (!(master.upper < upper)) return;
    upper = master.upper;
    witness = mixed_kernel(set, master);
  }
  [[nodiscard]] double gap() const { return (upper - lower) / std::min(1.0, std::abs(lower)); }
};

}  // namespace

ExchangeSolution exchange(const robust::Problem& problem, const ExchangeSettings& settings,
                          const RunContext& ctx) {
  validate(problem);
  const robust::SplitMatrix split(problem);
  const dual::SmoSolution first = dual::smo(robust::machine_on(problem, split.positive),
                                            {.tolerance = 1e-9, .gap_tolerance = 1e-10}, ctx);
  Vector alpha = first.alpha;
  double t = first.info.objective;
  double pruned_at = std::numeric_limits<double>::infinity();
  LocalizationSet set;
  Bracket bracket{.alpha = alpha, .witness = split.positive};
  std::vector<BoundsStep> trace;
  std::vector<double> masters;
  mkl::RegularisedSolution master;
  constexpr long kPatience = 50;  // master problems in a row that rounding left unsolved
  engine::BestSoFar progress(
      {.tolerance = settings.gap, .iterations = settings.max_iterations, .patience = kPatience},
      ctx);
  while (progress.goes_on()) {
    const bool first_step = trace.empty();
    ctx.progress("exchange", static_cast<double>(trace.size() + 1),
                 static_cast<double>(settings.max_iterations));
    robust::Point point = robust::point_at(problem, split, alpha);  // step 1, (9)
    bracket.raise(alpha, point.value);
    const bool accurate = first_step || met_tolerance(master.info.status);
    if (point.value >= t && accurate) {  // no constraint is violated
      progress.end(SolveStatus::kSolved);
      break;
    }
    if (accurate) progress.progress();
    if (!first_step) keep_active(set, master);
    if (settings.prune && t < pruned_at - kEqual * std::abs(t)) {
      pruned_at = t;
      set.kernels.resize(set.working);
      set.penalties.resize(set.working);
    }
    set.add(std::move(point));
    master = solve_master(problem, set, ctx);  // step 2, (7)
    alpha = master.alpha;
    t = master.lower;
    bracket.reduce(set, master);
    masters.push_back(t);
    trace.push_back({bracket.lower, bracket.upper, bracket.upper - bracket.lower,
                     static_cast<Index>(set.size())});
    progress.stepped();
    (void)progress.offer(bracket.gap());
  }
  robust::Solution solution =
      robust::finish(problem, split, bracket.alpha, std::move(bracket.witness), ctx);
  progress.report(solution.info);
  solution.info.status = robust::proved_status(solution.info, settings.gap, progress.status());
  solution.trace = std::move(trace);
  return {std::move(solution), std::move(masters)};
}

}  // namespace kith::papers
