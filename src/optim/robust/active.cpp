// SPDX-License-Identifier: Apache-2.0
#include "optim/robust/active.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "optim/engine/box.hpp"

namespace kith::robust {

double machine_residual(const Problem& problem, const VectorRef& alpha, double b,
                        const DualPoint& point) {
  const Vector diagonal = problem.S.diagonal() + alpha.cwiseAbs2() / (4 * point.rho);
  const double unit = std::clamp(problem.cost.cwiseProduct(diagonal).maxCoeff(), 1e-6, 1.0);
  return dual::kkt_violation(alpha, problem.cost, b * problem.y - point.gradient, unit);
}

MachineView machine_view(const Problem& problem, const VectorRef& alpha, const DualPoint& point,
                         const NewtonSettings& settings) {
  MachineView view;
  view.b = dual::least_loss_intercept(point.Ku, problem.y, problem.cost);
  const Vector margins = 1 - (point.gradient - view.b * problem.y).array();
  const double upper = engine::best_primal(problem.cost, point.uKu, margins);
  const double difference = upper - (alpha.sum() - 0.5 * point.uKu) + point.unused;
  const bool known = point.value > 0 && std::isfinite(difference);
  view.gap = known ? difference / point.value : std::numeric_limits<double>::infinity();
  view.kkt_residual = machine_residual(problem, alpha, view.b, point);
  view.merit = std::max(view.gap / settings.tolerance, view.kkt_residual / settings.kkt_tolerance);
  return view;
}

ActiveFunction::Place ActiveFunction::at(Vector alpha) const {
  Place place{point_at(alpha), {}};
  place.a = std::move(alpha);
  place.noise = std::max(1e-14 * std::abs(place.value), place.rounding);
  return place;
}

ActiveFunction fixed_rho(const Problem& problem, const Dual& dual, const NewtonSettings& settings) {
  return {.problem = problem,
          .settings = settings,
          .point_at = [&](const Vector& alpha) { return dual.at(alpha, problem.rho); },
          .curvature =
              [&](const DualPoint& point, const std::vector<Index>& rows) {
                return dual.curvature_kernel(point, rows);
              }};
}

ActiveAnswer climb(const ActiveFunction& function, std::span<const Vector> starts, long most,
                   const RunContext& ctx) {
  const Problem& problem = function.problem;
  ActiveFunction::Place best;
  for (const Vector& start : starts) {
    ActiveFunction::Place one = function.at(engine::into_box(problem.y, problem.cost, start));
    if (best.a.size() == 0 || one.value > best.value) best = std::move(one);
  }
  return dual::climb(function, problem.y, problem.cost, std::move(best), most, ctx);
}

}  // namespace kith::robust
