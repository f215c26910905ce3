// SPDX-License-Identifier: Apache-2.0
// With d_i = |lambda_i| w_i / (2 eta) and t, T = dt/dG of spectrum/inner.hpp, the value
// F(alpha) = 1'alpha + Psi(G(alpha)) has
//
//   gradient   1 - Y U (t .* d),   Hessian   -Y U [diag(t |lambda|) / (2 eta) + diag(d) T diag(d)]
//   U'Y.
//
// Unlike the cones of the interior point nothing here is of the size of gamma h.
#include "optim/spectrum/newton.hpp"

#include <cmath>
#include <limits>

#include "kith/optim/dual/smo.hpp"
#include "optim/spectrum/inner.hpp"

namespace kith::spectrum {
namespace {

constexpr long kSteps = 12;
constexpr int kHalvings = 20;
constexpr double kInside = 1 - 1e-9;       // of the largest admissible G
constexpr double kModelTolerance = 1e-11;  // of the machine of one step

struct Place {
  Vector alpha, w, G;
  double value = 0;
};

class Newton {
 public:
  Newton(const Program& program, const Terms& terms)
      : program_(program),
        terms_(terms),
        YU_(program.y.asDiagonal() * program.eigen->U(Eigen::all, terms.active)) {}

  [[nodiscard]] Place place(Vector alpha) const {
    Place at{.alpha = std::move(alpha), .w = {}, .G = {}, .value = 0};
    at.w = rotated(program_, terms_, at.alpha);
    at.G = curvature(program_, terms_, at.w);
    at.value = inner_size(program_, terms_, at.G) <= kInside
                   ? at.alpha.sum() + inner_value(program_, terms_, at.G)
                   : -std::numeric_limits<double>::infinity();
    return at;
  }

  [[nodiscard]] Place start(const Vector& alpha) const {
    const Place given = place(feasible(program_, alpha));
    const double size = inner_size(program_, terms_, given.G) / kInside;
    return size <= 1 ? given : place(given.alpha / std::sqrt(1.01 * size));
  }

  /// The point of (P) that belongs to alpha.
  [[nodiscard]] Point point(const Place& at, const InnerSlope& slope) const {
    const Index n = program_.eigen->lambda.size();
    Point out{.alpha = at.alpha, .a = Vector::Zero(n), .z = Vector::Zero(n), .b = 0};
    const Vector z = slope.t.cwiseProduct(tilt(at));
    for (std::size_t k = 0; k < terms_.active.size(); ++k) {
      const auto i = static_cast<Index>(k);
      out.a(terms_.active[k]) = terms_.sign(i) * slope.t(i);
      out.z(terms_.active[k]) = z(i);
    }
    const Vector f = program_.eigen->U * out.z;
    out.b = best_intercept(f, program_.y, program_.upper);
    return out;
  }

  /// The best alpha of the quadratic model at a place.
  [[nodiscard]] Vector model_optimum(const Place& at, const InnerSlope& slope,
                                     const RunContext& ctx) const {
    const Vector d = tilt(at);
    const Vector diagonal = slope.t.cwiseProduct(terms_.magnitude) / (2 * program_.eta) +
                            slope.diagonal.cwiseProduct(d.cwiseAbs2());
    const Matrix scaled = YU_ * diagonal.cwiseSqrt().asDiagonal();
    const Matrix low = YU_ * (d.asDiagonal() * slope.V);
    Matrix Q = scaled * scaled.transpose() + low * slope.C * low.transpose();
    Q = 0.5 * (Q + Q.transpose()).eval();
    const Vector gradient = Vector::Ones(at.alpha.size()) - YU_ * slope.t.cwiseProduct(d);
    const Vector linear = -gradient - Q * at.alpha;
    const Matrix K = program_.y.asDiagonal() * Q * program_.y.asDiagonal();
    const dual::SvmDual dual{.K = dual::SymmetricView::dense(K),
                             .y = program_.y,
                             .cost = program_.upper,
                             .linear = linear};
    return dual::smo(dual, {.tolerance = kModelTolerance, .gap_tolerance = kModelTolerance}, ctx,
                     at.alpha)
        .alpha;
  }

 private:
  [[nodiscard]] Vector tilt(const Place& at) const {
    return terms_.magnitude.cwiseProduct(at.w) / (2 * program_.eta);
  }

  const Program& program_;
  const Terms& terms_;
  const Matrix YU_;
};

}  // namespace

void sharpen(const Program& program, const Settings& settings, const RunContext& ctx,
             const Vector& start, Solution& solution) {
  const Terms terms = terms_of(program);
  if (!inner_is_curved(program, terms) || !solution.point.alpha.allFinite()) return;
  const Newton newton(program, terms);
  Place at = newton.start(solution.point.alpha);
  if (start.size() == at.alpha.size()) {
    Place other = newton.start(start);
    if (other.value > at.value) at = std::move(other);
  }
  for (long step = 0; step < kSteps; ++step) {
    ctx.check_stop();
    const InnerSlope slope = inner_slope(program, terms, at.G);
    const Point point = newton.point(at, slope);
    const Certificate certificate = certify(program, point);
    if (certificate.gap < solution.certificate.gap) {
      solution.point = point;
      solution.certificate = certificate;
    }
    if (solution.certificate.gap <= settings.tolerance) return;
    const Vector target = newton.model_optimum(at, slope, ctx);
    if (!target.allFinite()) return;
    ++solution.info.iterations;
    Place next = newton.place(target);
    for (int half = 1; half <= kHalvings && !(next.value > at.value); ++half) {
      next = newton.place(at.alpha + std::ldexp(1.0, -half) * (target - at.alpha));
    }
    if (!(next.value > at.value)) return;
    at = std::move(next);
  }
}

}  // namespace kith::spectrum
