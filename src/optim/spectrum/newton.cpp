// SPDX-License-Identifier: Apache-2.0
// With d_i = |lambda_i| w_i / (2 eta) and t, T = dt/dG of spectrum/inner.hpp, the value
// F(alpha) = 1'alpha + Psi(G(alpha)) has
//
//   gradient   1 - Y U (t .* d),   Hessian   -Y U [diag(t |lambda|) / (2 eta) + diag(d) T diag(d)]
//   U'Y.
//
// Unlike the p of the interior point nothing here is of the size of gamma h. It is no method of
// its own: where gamma is small G is next to its bound, and Newton's steps are too short there.
#include "optim/spectrum/solvers.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "optim/dual/ascent.hpp"
#include "optim/engine/box.hpp"
#include "optim/spectrum/inner.hpp"

namespace kith::spectrum {
namespace {

constexpr double kInside = 1 - 1e-9;  // of the largest admissible G

class CurvedDual {
 public:
  struct Place {
    Vector a;
    double value = -std::numeric_limits<double>::infinity();
    Vector gradient;  // empty where a is not admissible
    double noise = 0;
    Vector w, G;
    InnerSlope slope;
  };
  struct Measure {
    double b = 0, gap = 0, merit = 0;
    Point point;
    Certificate certificate;
  };

  CurvedDual(const Program& program, const Terms& terms, double tolerance)
      : program_(program),
        terms_(terms),
        tolerance_(tolerance),
        YU_(program.y.asDiagonal() * program.eigen->U(Eigen::all, terms.active)) {}

  [[nodiscard]] Place at(Vector alpha) const {
    Place at;
    at.a = std::move(alpha);
    at.w = YU_.transpose() * at.a;
    at.G = spectrum::curvature(program_, terms_, at.w);
    if (!(inner_size(program_, terms_, at.G) <= kInside)) return at;
    at.value = at.a.sum() + inner_value(program_, terms_, at.G);
    at.noise = 1e-14 * std::abs(at.value);
    at.slope = inner_slope(program_, terms_, at.G);
    at.gradient = 1 - (YU_ * at.slope.t.cwiseProduct(tilt(at))).array();
    return at;
  }

  /// At alpha, drawn into the box and shortened until it is admissible.
  [[nodiscard]] Place start(const Vector& alpha) const {
    Place given = at(engine::into_box(program_.y, program_.upper, alpha));
    const double size = inner_size(program_, terms_, given.G) / kInside;
    return size <= 1 ? given : at(given.a / std::sqrt(1.01 * size));
  }

  /// The point of (P) that belongs to alpha, and what it proves.
  [[nodiscard]] Measure measure(const Place& at) const {
    Measure found;
    const Vector z = at.slope.t.cwiseProduct(tilt(at));
    found.b =
        dual::least_loss_intercept(program_.y.cwiseProduct(YU_ * z), program_.y, program_.upper);
    found.point = point_of(program_, terms_, at.a, at.slope.t, z, found.b);
    found.certificate = certify(program_, found.point);
    found.gap = found.certificate.gap;
    found.merit = found.gap / tolerance_;
    return found;
  }

  [[nodiscard]] Matrix curvature(const Place& at, const std::vector<Index>& rows) const {
    const Vector d = tilt(at);
    const Vector diagonal = at.slope.t.cwiseProduct(terms_.magnitude) / (2 * program_.eta) +
                            at.slope.diagonal.cwiseProduct(d.cwiseAbs2());
    const Matrix U = program_.y(rows).asDiagonal() * YU_(rows, Eigen::all);
    const Matrix scaled = U * diagonal.cwiseSqrt().asDiagonal();
    const Matrix low = U * (d.asDiagonal() * at.slope.V);
    const Matrix K = scaled * scaled.transpose() + low * at.slope.C * low.transpose();
    return 0.5 * (K + K.transpose());
  }

 private:
  [[nodiscard]] Vector tilt(const Place& at) const {
    return terms_.magnitude.cwiseProduct(at.w) / (2 * program_.eta);
  }

  const Program& program_;
  const Terms& terms_;
  double tolerance_;
  const Matrix YU_;
};

}  // namespace

void sharpen(const Program& program, const Settings& settings, const RunContext& ctx,
             const Vector& start, Solution& solution) {
  constexpr long kSteps = 12;
  const Terms terms = terms_of(program);
  if (!inner_is_curved(program, terms) || !solution.point.alpha.allFinite()) return;
  const CurvedDual dual(program, terms, settings.tolerance);
  CurvedDual::Place from = dual.start(solution.point.alpha);
  if (start.size() == from.a.size()) {
    CurvedDual::Place other = dual.start(start);
    if (other.value > from.value) from = std::move(other);
  }
  auto end = dual::climb(dual, program.y, program.upper, std::move(from), kSteps, ctx);
  solution.info.iterations += end.iterations;
  if (!(end.measure.gap < solution.certificate.gap)) return;
  solution.point = std::move(end.measure.point);
  solution.certificate = end.measure.certificate;
}

}  // namespace kith::spectrum
