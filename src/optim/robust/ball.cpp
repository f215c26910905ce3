// SPDX-License-Identifier: Apache-2.0
#include "optim/robust/ball.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

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

}  // namespace kith::robust
