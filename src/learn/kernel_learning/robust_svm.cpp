// SPDX-License-Identifier: Apache-2.0
// `robust-svm`: for each pair of classes [CY] (6), which is [LA] and [CGR] (2),
//
//   max_a min_{K psd}  1'a - 1/2 a' Y K Y a + rho |K - S|_F^2   s.t.  0 <= a <= C,  y'a = 0,
//
// or with the hard constraint |K - S|_F <= radius ([TR] 2.1.2). The inner minimum is
// K = (S + Y a a' Y / (4 rho))_+, which leaves a smooth concave maximisation over a: solved by the
// interior point method of optim/robust/newton (default), or by the algorithms of [CY] and [LA] as
// printed. New samples: kernel_learning/learned_kernel.
//
// Cost: one decomposition of each pair's block for all costs and all rho, then for each of them 5
// to 30 iterations of four products of n x n matrices.
#include "kith/learn/kernel_learning/robust_svm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/errors.hpp"
#include "kith/learn/kernel_learning/costs_in_reach.hpp"
#include "kith/learn/path_groups.hpp"
#include "kith/optim/papers/exchange.hpp"
#include "kith/optim/papers/projected_gradient.hpp"
#include "learn/kernel_learning/robust_proof.hpp"

namespace kith {
namespace {

robust::Problem problem_of(const LearnedBlock& block, const RobustSvmSettings& settings) {
  return {.S = block.S,
          .y = block.y,
          .cost = settings.cost * block.weights,
          .rho = settings.rho,
          .eigen = block.eigen.get()};
}

/// The settings of the same problem over S / unit: its objective is unit times as large.
RobustSvmSettings in_unit(RobustSvmSettings settings, double unit) {
  settings.cost *= unit;
  check_range("cost times the similarities", settings.cost, unit);
  if (settings.radius) {
    constexpr double kMost = 1e20;
    if (!(*settings.radius / unit <= kMost)) {
      throw invalid(
          "robust-svm: radius is {:.0e}, and the similarities are near {:.0e}; "
          "of what is {:.0e} times smaller nothing is left in a kernel",
          *settings.radius, unit, kMost);
    }
    *settings.radius /= unit;
    return settings;
  }
  settings.rho *= unit * unit * unit;
  check_range("rho times the cube of the similarities", settings.rho, unit);
  return settings;
}

robust::Solution solve(const robust::Problem& problem, const RobustSvmSettings& settings,
                       double tolerance, std::span<const Vector> starts, const RunContext& ctx) {
  switch (settings.solver) {
    case RobustSolver::kNewton: {
      robust::NewtonSettings newton = detail::newton_settings(tolerance);
      newton.max_iterations = settings.iterations.value_or(newton.max_iterations);
      if (settings.radius) {
        return robust::ball(problem, *settings.radius, newton, ctx,
                            starts.empty() ? Vector() : starts.front());
      }
      return robust::newton(problem, newton, ctx, starts);
    }
    case RobustSolver::kExchange:
    case RobustSolver::kExchangePruned: {
      papers::ExchangeSettings printed{.prune = settings.solver == RobustSolver::kExchangePruned};
      if (printed.prune) printed.max_iterations = 10000;  // the set stays small
      printed.gap = std::max(tolerance, printed.gap);
      printed.max_iterations = settings.iterations.value_or(printed.max_iterations);
      return papers::exchange(problem, printed, ctx).solution;
    }
    case RobustSolver::kProjectedGradient: {
      papers::ProjectedGradientSettings printed;
      printed.tolerance = std::max(tolerance, printed.tolerance);
      printed.max_iterations = settings.iterations.value_or(printed.max_iterations);
      return papers::projected_gradient(problem, printed, ctx);
    }
  }
  throw Error(ErrorCode::kInternal, "a robust solver without a function");
}

/// The order in which a solution is near the next: for each rho, from the largest, ascending costs.
auto robust_order(const RobustSvmSettings& s) {
  return std::tuple(s.solver, s.radius, -s.rho, s.cost);
}

/// What is known of near problems: the same rho with the next smaller cost, as it is (where it is
/// at no bound it is the answer) and with what was at its bound at the new one; and the same cost
/// with the last other rho.
std::vector<Vector> starts_of(Path<RobustSvmSettings> ordered, const LearnedTask& task) {
  const RobustSvmSettings& own = ordered[task.step];
  const Vector* same_rho = nullptr;
  const Vector* same_cost = nullptr;
  double cost = 0;
  for (std::size_t k = 0; k < task.known.size(); ++k) {
    const RobustSvmSettings& other = ordered[k];
    if (task.known[k].size() == 0 || other.radius != own.radius) continue;
    if (other.rho == own.rho) {
      same_rho = &task.known[k];
      cost = other.cost;
    } else if (other.cost == own.cost) {
      same_cost = &task.known[k];
    }
  }
  std::vector<Vector> starts;
  if (same_rho != nullptr) {
    starts.push_back(*same_rho);
    starts.emplace_back(*same_rho * (own.cost / cost));
  }
  if (same_cost != nullptr) starts.push_back(*same_cost);
  return starts;
}

/// By a fresh decomposition and machines solved anew: nothing the solver kept is used but a
/// kernel that may prove more than that of alpha.
double proved_gap(const robust::Problem& problem, std::optional<double> radius,
                  const robust::Solution& found, const RunContext& ctx) {
  if (!radius) return robust::certify(problem, found.alpha, ctx, found.witness).gap;
  if (!std::isfinite(found.rho)) return found.info.gap;  // of the machine on the only kernel
  return robust::certify_ball(problem, *radius, found.alpha, ctx).gap;
}

/// Relative gap of a solved problem.
double accepted_gap(RobustSolver solver, double tolerance) {
  constexpr double kHair = 1 + 1e-6;  // an algorithm that stops at its gap is at it
  switch (solver) {
    case RobustSolver::kNewton:
      return tolerance;
    case RobustSolver::kExchange:
    case RobustSolver::kExchangePruned:
      return kHair * std::max(tolerance, papers::ExchangeSettings{}.gap);
    case RobustSolver::kProjectedGradient:
      return kHair * std::max(tolerance, papers::ProjectedGradientSettings{}.tolerance);
  }
  throw Error(ErrorCode::kInternal, "a robust solver without a gap");
}

robust::Solution learn_block(const LearnedTask& task, Path<RobustSvmSettings> ordered,
                             const RunContext& ctx) {
  const double unit = task.block.unit;
  const RobustSvmSettings settings = in_unit(ordered[task.step], unit);
  robust::Problem problem = problem_of(task.block, settings);
  const std::vector<Vector> starts = starts_of(ordered, task);
  // The machines behind the sigmoids need 1e-3 alone, for which an exchange would take minutes.
  RobustSvmSettings own = settings;
  if (task.for_sigmoid && own.solver != RobustSolver::kNewton) {
    own.solver = RobustSolver::kProjectedGradient;
  }
  const auto solver = [&] { return solve(problem, own, task.tolerance, starts, ctx); };
  const double size = problem.eigen->lambda.cwiseAbs().maxCoeff();
  robust::Solution found = with_costs_in_reach(problem.cost, size, solver);
  if (!task.for_sigmoid) {
    found.info.gap = proved_gap(problem, settings.radius, found, ctx);
    const bool proved = std::abs(found.info.gap) <= accepted_gap(settings.solver, task.tolerance);
    const bool newton = settings.solver == RobustSolver::kNewton;
    if (newton || !proved) {
      found.info.status = detail::proved_status(found.info, proved, task.tolerance);
    }
  }
  found.info.objective /= unit;
  found.offset /= unit;
  for (BoundsStep& bounds : found.trace) {
    bounds.lower /= unit;
    bounds.upper /= unit;
    bounds.gap /= unit;
  }
  return found;
}

/// Above it the exchange algorithm keeps too many too large matrices.
constexpr Index kExchangeSamples = 300;

void add_notes(const RobustSvmSettings& settings, Fitted<LearnedPairsModel>& fitted) {
  const bool exchanged = settings.solver == RobustSolver::kExchange ||
                         settings.solver == RobustSolver::kExchangePruned;
  if (!exchanged) return;
  Index most = 0;
  for (const std::vector<Index>& members : fitted.model.members) {
    most = std::max(most, Index{std::ssize(members)});
  }
  if (most <= kExchangeSamples) return;
  fitted.info.notes.push_back(
      fmt::format("solver {} is meant for at most {} samples of a pair of classes, here {}; newton "
                  "solves the same problem",
                  enum_name(settings.solver), kExchangeSamples, most));
}

}  // namespace

void describe(RobustSvmSettings& settings, FieldVisitor& field) {
  field.as(FieldRole::kCost)("cost", settings.cost, above(0.0), kCostHelp);
  field.as(FieldRole::kKernelCost)(
      "rho", settings.rho, above(0.0),
      "penalty on the squared distance between the kernel and the matrix");
  field("radius", settings.radius, above(0.0), "none",
        "in place of rho: the largest distance between the kernel and the matrix");
  field("solver", settings.solver,
        "interior point, [CY]'s exchange algorithm without and with pruning (gap 1e-5), or [LA]'s "
        "projected gradient (1e-6)");
  field("iterations", settings.iterations, at_least(1), "auto",
        "most iterations of the solver; auto: 200 for newton, 3000 for exchange, 10000 with "
        "pruning, 2000 for projected-gradient");
  describe_treatment(settings.test_treatment, field);
  describe_tasks(
      settings, field,
      "relative duality gap accepted; not below what a printed algorithm stops at, 1e-5 for "
      "exchange and exchange-pruned, 1e-6 for projected-gradient");
}

FittedPath<RobustSvmModel> fit_path(SharedWork& work, Path<RobustSvmSettings> path,
                                    RunContext& ctx) {
  for (const RobustSvmSettings& settings : path) {
    if (settings.radius && settings.solver != RobustSolver::kNewton) {
      throw invalid("robust-svm: radius is a constraint that solver newton alone takes");
    }
  }
  const auto fit_ordered = [&](Tasks tasks, Path<RobustSvmSettings> own) {
    const auto learn = [&](const LearnedTask& task) { return learn_block(task, own, ctx); };
    FittedPath<LearnedPairsModel> solved = fit_learned(work, tasks, learned_steps(own), learn, ctx);
    for (std::size_t k = 0; k < own.size(); ++k) add_notes(own[k], solved[k]);
    return as_models<RobustSvmModel>(std::move(solved));
  };
  return fit_with_tasks(work.train().labels, path, as_given, robust_order, fit_ordered);
}

}  // namespace kith
