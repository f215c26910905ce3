// SPDX-License-Identifier: Apache-2.0
#include "optim/robust/active.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "optim/engine/box.hpp"
#include "optim/engine/line_search.hpp"

namespace kith::robust {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// One end of a bracket.
struct End {
  double at = 0;
  DualPoint point;
  double value = 0;
};

}  // namespace

double machine_residual(const Problem& problem, const VectorRef& alpha, double b,
                        const DualPoint& point) {
  const Vector diagonal = problem.S.diagonal() + alpha.cwiseAbs2() / (4 * point.rho);
  const double unit = dual::kkt_unit(problem.cost.cwiseProduct(diagonal).maxCoeff());
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

DualPoint BallFunction::at(const Vector& alpha) const {
  const double square = alpha.squaredNorm();
  if (!(square > 0)) return dual_.at(alpha, 1);
  // With t = |u|^2 / (4 rho) and e = u / |u|: K - S = t e e' + M_- is at least t, and at most t
  // further away than S_+ is.
  const auto at = [&](double t) {
    End end{t, dual_.at(alpha, square / (4 * t))};
    end.value = end.point.distance - radius_;
    return end;
  };
  End inner = at(radius_ - dual_.negative_part());
  inner.value = std::min(0.0, inner.value);
  End outer = at(radius_);
  if (!(outer.value > 0)) inner = outer;  // where M_- has no part along u
  engine::close_in(
      inner, outer, {.inside = 0},
      [&](double share) {
        const double t = inner.at + share * (outer.at - inner.at);
        // The secant may round to an end.
        return at(t > inner.at && t < outer.at ? t : 0.5 * (inner.at + outer.at));
      },
      [&] {
        return !(outer.value > 0 && inner.value < -kEps * radius_) ||
               outer.at - inner.at <= 2 * kEps * outer.at;
      });
  DualPoint inside = std::move(inner.point);
  inside.unused = inside.rho * (radius_ - inside.distance) * (radius_ + inside.distance);
  inside.rounding =
      4 * kEps * inside.rho * radius_ * radius_;  // of the distance, as rho charges it
  inside.value = alpha.sum() - 0.5 * inside.uKu - inside.unused;
  return inside;
}

Matrix BallFunction::curvature(const DualPoint& point, const std::vector<Index>& rows) const {
  Matrix H = dual_.curvature_kernel(point, rows);
  const RhoCurvature in_rho = dual_.rho_curvature(point);
  const double unit = 2 * point.rho * in_rho.bend;
  if (!(unit > 0)) return H;
  const Vector turned = in_rho.turned(rows) / std::sqrt(unit);
  if (turned.allFinite()) H.noalias() -= turned * turned.transpose();
  return H;
}

ActiveFunction in_ball(const Problem& problem, const BallFunction& ball,
                       const NewtonSettings& settings) {
  return {.problem = problem,
          .settings = settings,
          .point_at = [&](const Vector& alpha) { return ball.at(alpha); },
          .curvature = [&](const DualPoint& point,
                           const std::vector<Index>& rows) { return ball.curvature(point, rows); }};
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
