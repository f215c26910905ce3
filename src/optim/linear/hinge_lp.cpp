// SPDX-License-Identifier: Apache-2.0
// Column generation: the program on a few working columns is solved by an interior point method,
// its dual point prices all columns, and those it violates (|F'(y.*a)|_j > 1) join the few. Dual
// points from the middle of the optimal face make this converge in a handful of rounds.
//
// Inside, F is divided by its largest entry t: with w' = t w and cost' = t cost the program keeps
// its form, and its value is multiplied by t.
//
// The rounds stand alone: they end where no column is missing, which no merit tells. The limit of
// iterations counts the steps of the interior point inside.
//
// Cost: O(n m) per round and O(n k^2) per interior-point step on k working columns.
#include "kith/optim/linear/hinge_lp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "kith/optim/dual/certificate.hpp"
#include "optim/engine/box.hpp"
#include "optim/linear/hinge_interior.hpp"

namespace kith::linear {

using engine::refuse;

namespace {

constexpr Index kFewestColumns = 300;      // to begin with: fewer are not faster
constexpr double kNearColumn = 0.97;       // a price at which a column joins, once one is missing
constexpr double kFlatColumn = 0.7;        // a price at which it is sent away again,
constexpr int kDroppingRounds = 8;         // but not forever
constexpr double kHardlySteep = 1.05;      // the columns are nearly the right ones
constexpr double kWideBox = 1e6;           // a scaled cost that is large beside most answers
constexpr double kFirstTolerance = 1e-3;   // of a round whose columns are not yet the right ones
constexpr double kInsideTolerance = 1e-2;  // of a round's tolerance, for the last rounds

/// A feasible point of the dual: clipped to the box, the heavier class scaled down to balance, all
/// scaled down until every column allows it. `g` becomes F'(y.*a) of it.
Vector feasible_dual(const HingeLp& problem, const VectorRef& a, Vector& g) {
  Vector fair = engine::into_box(problem.y, problem.cost, a);
  g = problem.F.transpose() * problem.y.cwiseProduct(fair);
  const double steepest = g.size() > 0 ? g.cwiseAbs().maxCoeff() : 0.0;
  if (steepest > 1) {
    fair /= steepest;
    g /= steepest;
  }
  return fair;
}

/// A violation of a complementarity condition: the condition, or the distance to the bound that
/// would excuse it.
double violation(double condition, double distance, double unit) {
  return std::min(condition, unit > 0 ? distance / unit : 0.0);
}

/// What stays the same from round to round.
struct Work {
  const HingeLp& problem;
  const HingeLpSettings& settings;
  const RunContext& ctx;
  double scale = 1;  // t
  std::vector<Index> columns;
  bool warm = false;  // the columns are likely the right ones
  long iterations = 0;
};

HingeBlock restricted(const Work& work) {
  HingeBlock block;
  const HingeLp& problem = work.problem;
  block.y = problem.y;
  block.c = work.scale * problem.cost;
  block.G = (problem.y / work.scale).asDiagonal() * problem.F(Eigen::all, work.columns);
  return block;
}

/// A factor hardly above 1 that lifts margins which rounding left below 1: it costs as little of
/// the norm, while a large cost would make the rounding count. `reach` bounds the terms that a
/// margin is the sum of.
double lift(const Vector& margins, double reach) {
  constexpr double kRounding = 1e-9;
  double below = 0;
  for (const double margin : margins) {
    if (margin < 1 && margin > 1 - kRounding) below = std::max(below, 1 - margin);
  }
  return 1 + 2 * below + 4 * std::numeric_limits<double>::epsilon() * (1 + reach);
}

double objective(const HingeLp& problem, double norm, const Vector& margins) {
  return norm + problem.cost.dot((1 - margins.array()).max(0).matrix());
}

HingeLpSolution assemble(const Work& work, const Vector& p, const Vector& a) {
  const HingeLp& problem = work.problem;
  HingeLpSolution solution;
  solution.w = Vector::Zero(problem.F.cols());
  solution.a = a / work.scale;
  for (std::size_t k = 0; k < work.columns.size(); ++k) {
    solution.w(work.columns[k]) = p(static_cast<Index>(k)) / work.scale;
  }
  const Vector f = problem.F * solution.w;
  solution.b = dual::least_loss_intercept(f, problem.y, problem.cost);
  const Vector margins = problem.y.cwiseProduct((f.array() + solution.b).matrix());
  const double norm = solution.w.lpNorm<1>();
  const double factor = lift(margins, work.scale * norm);
  if (objective(problem, factor * norm, factor * margins) < objective(problem, norm, margins)) {
    solution.w *= factor;
    solution.b *= factor;
  }
  const HingeLpCertificate certificate = certify(problem, solution.w, solution.b, solution.a);
  solution.info.objective = certificate.primal;
  solution.info.gap = certificate.gap;
  solution.info.kkt_residual = certificate.kkt_residual;
  return solution;
}

/// |F'(y.*a)| of every column for a in the units of the scaled program.
Vector prices(const Work& work, const Vector& a) {
  const Vector signed_a = work.problem.y.cwiseProduct(a) / work.scale;
  return (work.problem.F.transpose() * signed_a).cwiseAbs();
}

/// Adds the steepest columns above `level`, at most `most`.
void add_columns(std::vector<Index>& columns, const Vector& price, double level, Index most) {
  std::vector<bool> known(static_cast<std::size_t>(price.size()), false);
  for (const Index j : columns) known[static_cast<std::size_t>(j)] = true;
  std::vector<Index> steep;
  for (Index j = 0; j < price.size(); ++j) {
    if (!known[static_cast<std::size_t>(j)] && price(j) > level) steep.push_back(j);
  }
  std::stable_sort(steep.begin(), steep.end(),
                   [&](Index i, Index j) { return price(i) > price(j); });
  if (std::ssize(steep) > most) steep.resize(static_cast<std::size_t>(most));
  columns.insert(columns.end(), steep.begin(), steep.end());
  std::sort(columns.begin(), columns.end());
}

/// The steepest column that is not at work.
double steepest_outside(const std::vector<Index>& columns, Vector price) {
  for (const Index j : columns) price(j) = 0;
  return price.maxCoeff();
}

/// To begin with: the steepest columns, and others from everywhere, lest all be alike.
void first_columns(std::vector<Index>& columns, const Vector& price) {
  const Index all = price.size();
  if (all <= kFewestColumns) {
    add_columns(columns, price, -1, all);
    return;
  }
  Vector chosen = Vector::Zero(all);
  for (Index k = 0; k < kFewestColumns / 2; ++k) chosen(k * all / (kFewestColumns / 2)) = 1;
  add_columns(columns, chosen, 0, kFewestColumns / 2);
  add_columns(columns, price, 0, kFewestColumns / 2);
}

/// The better of the interior point and the vertex, by certificate.
HingeLpSolution best_point(const Work& work, const HingeBlock& block, const HingeIterate& inside) {
  HingeLpSolution centre = assemble(work, inside.u() - inside.v(), inside.a());
  if (!work.settings.vertex) return centre;
  const HingePoint point = hinge_vertex(block, inside, work.ctx);
  if (!point.p.allFinite() || !point.a.allFinite()) return centre;
  HingeLpSolution vertex = assemble(work, point.p, point.a);
  return vertex.info.gap <= std::max(centre.info.gap, work.settings.tolerance) ? vertex : centre;
}

SolveStatus status_of(const Work& work, const SolveInfo& info) {
  if (!std::isfinite(info.objective) || !std::isfinite(info.gap)) {
    return SolveStatus::kNumericalFailure;
  }
  const bool limit = work.iterations >= work.settings.max_iterations;
  return measured_status(limit ? SolveStatus::kIterationLimit : SolveStatus::kReducedAccuracy,
                         info.gap <= work.settings.tolerance);
}

HingeLpSolution finish(const Work& work, HingeLpSolution solution) {
  solution.working = work.columns;
  solution.info.iterations = work.iterations;
  solution.info.status = status_of(work, solution.info);
  return solution;
}

/// Solves the program with `part` of its costs; the solution is one of the program itself as far
/// as its certificate says.
HingeLpSolution generate_columns(Work& work, double part) {
  const double target = kInsideTolerance * work.settings.tolerance;
  double tolerance = work.warm ? target : kFirstTolerance;
  for (int round = 0;; ++round) {
    HingeBlock block = restricted(work);
    block.c *= part;
    const InteriorResult inner = hinge_interior_point(
        block, tolerance, work.settings.max_iterations - work.iterations, work.ctx);
    work.iterations += inner.iterations;
    const Vector price = prices(work, inner.best.a());
    const double outside = steepest_outside(work.columns, price);
    const bool last = work.iterations >= work.settings.max_iterations;
    // A column that costs less than a hundredth of what is asked for can wait.
    const bool missing =
        outside > 1 + 0.01 * std::max(work.settings.tolerance, std::min(inner.gap, 0.1));
    if (last || (!missing && (inner.stalled || tolerance <= target))) {
      return best_point(work, block, inner.best);
    }
    if (!missing || outside < kHardlySteep) tolerance = target;
    if (!missing) continue;
    if (round < kDroppingRounds) {
      std::erase_if(work.columns, [&](Index j) { return price(j) < kFlatColumn; });
    }
    add_columns(work.columns, price, kNearColumn,
                std::max<Index>(kFewestColumns, std::ssize(work.columns)));
  }
}

}  // namespace

void validate(const HingeLp& problem) {
  if (problem.F.rows() == 0) refuse("a hinge program needs at least one sample");
  engine::check_signs(problem.y, problem.cost, problem.F.rows(), engine::SignRule::kAny);
  const double largest = problem.F.size() > 0 ? problem.F.cwiseAbs().maxCoeff() : 0.0;
  if (!problem.F.allFinite()) refuse("the features are not all finite");
  if (!std::isfinite(largest * problem.cost.sum())) {
    refuse("the features times the costs overflow; divide the features by a constant");
  }
}

HingeLpCertificate certify(const HingeLp& problem, const VectorRef& w, double b,
                           const VectorRef& a) {
  Vector g;
  const Vector fair = feasible_dual(problem, a, g);
  const Vector f = (problem.F * w).array() + b;
  const double largest_w = w.size() > 0 ? w.cwiseAbs().maxCoeff() : 0.0;
  const double largest_a = fair.maxCoeff();
  HingeLpCertificate c;
  for (Index j = 0; j < w.size(); ++j) {
    if (w(j) == 0) continue;
    const double condition = w(j) > 0 ? 1 - g(j) : 1 + g(j);
    c.kkt_residual = std::max(c.kkt_residual, violation(condition, std::abs(w(j)), largest_w));
  }
  double loss = 0;
  for (Index i = 0; i < f.size(); ++i) {
    const double r = problem.y(i) * f(i) - 1;
    loss += problem.cost(i) * std::max(0.0, -r);
    const double distance = r < 0 ? problem.cost(i) - fair(i) : fair(i);
    c.kkt_residual = std::max(c.kkt_residual, violation(std::abs(r), distance, largest_a));
  }
  c.primal = w.lpNorm<1>() + loss;
  c.dual = fair.sum();
  c.gap = dual::relative_gap(c.dual, c.primal);
  return c;
}

HingeLpSolution solve_hinge_lp(const HingeLp& problem, const HingeLpSettings& settings,
                               const RunContext& ctx, const std::vector<Index>& start) {
  validate(problem);
  const double largest = problem.F.size() > 0 ? problem.F.cwiseAbs().maxCoeff() : 0.0;
  Work work{problem, settings, ctx, largest > 0 ? largest : 1.0, start, !start.empty(), 0};
  // The dual point that is optimal for w = 0: the lighter class at its costs.
  const Vector cheapest = work.scale * engine::balanced(problem.y, problem.cost);
  const Vector price = prices(work, cheapest);
  if (price.size() == 0 || !(price.maxCoeff() > 1)) {
    work.columns.clear();
    return finish(work, assemble(work, Vector(0), cheapest));
  }
  if (start.empty()) first_columns(work.columns, price);
  // Where the samples can be separated the answer is the same for every large cost, and an interior
  // point loses its digits in a box that is much larger than the answer.
  const double cost = work.scale * problem.cost.maxCoeff();
  for (double part = 1 / std::max(1.0, cost / kWideBox); part < 1;
       part = std::min(1.0, part * 1e4)) {
    HingeLpSolution solution = generate_columns(work, part);
    if (solution.info.gap <= settings.tolerance) return finish(work, std::move(solution));
  }
  return finish(work, generate_columns(work, 1));
}

}  // namespace kith::linear
