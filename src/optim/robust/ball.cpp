// SPDX-License-Identifier: Apache-2.0
#include "optim/robust/ball.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "optim/engine/illinois.hpp"

namespace kith::robust {

DualPoint BallFunction::at(const Vector& alpha) const {
  constexpr int kMost = 100;
  constexpr double kEps = std::numeric_limits<double>::epsilon();
  const double square = alpha.squaredNorm();
  if (!(square > 0)) return dual_.at(alpha, 1);
  // With t = |u|^2 / (4 rho) and e = u / |u|: K - S = t e e' + M_- is at least t, and at most t
  // further away than S_+ is.
  const auto at = [&](double t) { return dual_.at(alpha, square / (4 * t)); };
  double inner = radius_ - dual_.negative_part();
  double outer = radius_;
  DualPoint inside = at(inner);
  double below = std::min(0.0, inside.distance - radius_);
  double above = at(outer).distance - radius_;
  if (!(above > 0)) inside = at(outer);  // where M_- has no part along u
  engine::IllinoisRule rule;             // of the inner end and the outer
  for (int i = 0; i < kMost && above > 0 && below < -kEps * radius_; ++i) {
    if (outer - inner <= 2 * kEps * outer) break;
    const double share = i % 3 == 2 ? 0.5 : std::clamp(rule.share(below, above), 0.0, 1.0);
    double t = inner + share * (outer - inner);
    if (!(t > inner && t < outer)) t = 0.5 * (inner + outer);  // the secant rounds to an end
    DualPoint middle = at(t);
    const double side = middle.distance - radius_;
    if (side > 0) {
      outer = t;
      above = side;
      rule.second_moved();
    } else {
      inner = t;
      below = side;
      inside = std::move(middle);
      rule.first_moved();
    }
  }
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

ActiveAnswer climb_ball(const Problem& problem, const Dual& dual, double radius,
                        std::span<const Vector> starts, long most, const NewtonSettings& settings,
                        const RunContext& ctx) {
  const BallFunction ball(dual, radius);
  const ActiveFunction function{
      .at = [&](const Vector& alpha) { return ball.at(alpha); },
      .curvature = [&](const DualPoint& point,
                       const std::vector<Index>& rows) { return ball.curvature(point, rows); }};
  return climb(problem, function, starts, most, settings, ctx);
}

}  // namespace kith::robust
