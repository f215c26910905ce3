// SPDX-License-Identifier: Apache-2.0
// Mehrotra's predictor and corrector for the boxed lasso in a = p - q,
//
//   min 1/2 |y - S (p - q)|^2 + epsilon'(p + q)   s.t.  0 <= p, q <= bound,
//
// with multipliers z of the lower and w of the upper bounds. With g = S'(y - S a) the conditions
// are
//
//   epsilon - g - z_p + w_p = 0,   epsilon + g - z_q + w_q = 0,                            (1)
//   p z_p = (bound - p) w_p = q z_q = (bound - q) w_q = mu -> 0.                           (2)
//
// A Newton step on (1) and (2) eliminates to (G + E) da = e with G = S'S, E diagonal and positive:
// one Cholesky factor of n x n, or of m x m (Woodbury) where S has few rows. Unlike Newton steps on
// the free variables, their number hardly depends on how ill-conditioned G is.
#include "optim/linear/lasso_interior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "numerics/cholesky.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/interior.hpp"

namespace kith::linear {
namespace {

constexpr int kMostSteps = 80;
constexpr double kGap = 1e-11;      // relative: nothing is left to do
constexpr double kSmallGap = 1e-7;  // enough where rounding makes (1) worse from step to step,
constexpr double kRounding = 3;     // by this factor
constexpr double kToBoundary = 0.995;
constexpr double kShortest = 1e-8;  // a step below it is rounding

/// p and q with their multipliers z and w; also a step in them.
template <class Side>
struct Sides {
  Side p, q;
};
using Iterate = Sides<engine::BoxPoint>;
using Step = Sides<engine::BoxStep>;

/// epsilon - g and epsilon + g of (1).
struct Slopes {
  Vector p, q;
};

/// z or w anew from the other and (1), where that moves it a little: Newton's dz and dw lose their
/// digits as p or bound - p becomes small.
void restore_dual(engine::BoxPoint& side, const Vector& slope) {
  for (Index j = 0; j < slope.size(); ++j) {
    double& low = side.z_low(j);
    double& high = side.z_high(j);
    double& larger = low > high ? low : high;
    const double anew = low > high ? slope(j) + high : low - slope(j);
    if (anew > 0.5 * larger && anew < 2 * larger) larger = anew;
  }
}

Slopes slopes(const LassoData& data, const ColumnTerms& terms, const Iterate& at) {
  const Vector r = data.y - data.S * (at.p.a - at.q.a);
  const Vector g = data.S.transpose() * r;
  return {.p = terms.epsilon - g, .q = terms.epsilon + g};
}

/// G + E factored.
class System {
 public:
  System(const LassoData& data, Vector E) : data_(data), E_(std::move(E)) {
    if (data.gram.size() > 0) {
      L_ = data.gram;
      L_.diagonal() += E_;
    } else {
      const Matrix scaled = data.S * E_.cwiseInverse().cwiseSqrt().asDiagonal();
      L_ = Matrix::Identity(data.S.rows(), data.S.rows());
      L_.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
    }
    ok_ = cholesky(L_);
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] Vector solve(const Vector& e) const {
    if (data_.gram.size() > 0) return back_solve(L_, e);
    Vector x = e.cwiseQuotient(E_);
    const Vector inner = back_solve(L_, Vector(data_.S * x));
    x.array() -= (data_.S.transpose() * inner).array() / E_.array();
    return x;
  }

 private:
  const LassoData& data_;
  Vector E_;
  Matrix L_;
  bool ok_ = false;
};

Step newton_step(const LassoData& data, const System& system, const Iterate& at,
                 const Slopes& slope, double mu, const Step* before) {
  const engine::BoxEquations p(at.p);
  const engine::BoxEquations q(at.q);
  const auto right_p = p.right_side(mu, before != nullptr ? &before->p : nullptr);
  const auto right_q = q.right_side(mu, before != nullptr ? &before->q : nullptr);
  const Vector Dp = p.diagonal();
  const Vector Dq = q.diagonal();
  const Vector bp = right_p.pull() - slope.p;
  const Vector bq = right_q.pull() - slope.q;
  const Vector e = (bp.cwiseProduct(Dq) - bq.cwiseProduct(Dp)).cwiseQuotient(Dp + Dq);
  const Vector da = system.solve(e);
  const Vector Gda = data.S.transpose() * (data.S * da);
  Step step;
  step.p.a = (bp - Gda).cwiseQuotient(Dp);
  step.q.a = (bq + Gda).cwiseQuotient(Dq);
  p.complete(right_p, step.p);
  q.complete(right_q, step.q);
  return step;
}

/// The bounds, cut to what no minimum exceeds: epsilon |a|_1 is at most the value of a = 0.
Vector felt_bounds(const LassoData& data, const ColumnTerms& terms) {
  const double value = data.y.squaredNorm();  // twice that, so that the cut is never active
  return terms.bound.cwiseMin((value / terms.epsilon.array()).matrix());
}

Iterate first_iterate(const LassoData& data, const ColumnTerms& terms) {
  Iterate at;
  const Vector bound = felt_bounds(data, terms);
  const Vector g = data.S.transpose() * data.y;
  const double level = g.lpNorm<Eigen::Infinity>();
  for (engine::BoxPoint* side : {&at.p, &at.q}) {
    const double sign = side == &at.p ? 1 : -1;
    side->a = (0.5 * bound).cwiseMin(1.0);
    side->room = bound - side->a;
    side->z_low = (terms.epsilon - sign * g).cwiseMax(0.0).array() + level;
    side->z_high = level * side->a.cwiseQuotient(side->room);
  }
  return at;
}

/// The largest violation of one half of (1), relative to epsilon.
double violation(const ColumnTerms& terms, const engine::BoxPoint& side, const Vector& slope) {
  const Vector off = slope - side.z_low + side.z_high;
  return off.cwiseQuotient(terms.epsilon).lpNorm<Eigen::Infinity>();
}

double objective(const LassoData& data, const ColumnTerms& terms, const Vector& a) {
  return 0.5 * (data.y - data.S * a).squaredNorm() + terms.epsilon.dot(a.cwiseAbs());
}

class Interior {
 public:
  using Step = linear::Step;

  Interior(const LassoData& data, const ColumnTerms& terms)
      : data_(data), terms_(terms), at_(first_iterate(data, terms)) {}

  /// The gap by the products; 0 where it is small and the rest of the violation is rounding.
  double merit() {
    slope_ = slopes(data_, terms_, at_);
    restore_dual(at_.p, slope_.p);
    restore_dual(at_.q, slope_.q);
    const double gap = products() / objective(data_, terms_, a());
    const double off =
        std::max(violation(terms_, at_.p, slope_.p), violation(terms_, at_.q, slope_.q));
    const bool rounding = gap <= kSmallGap && off > kRounding * last_violation_;
    last_violation_ = off;
    return rounding ? 0 : gap;
  }
  void keep() {}  // the last point is the answer
  [[nodiscard]] Vector a() const { return at_.p.a - at_.q.a; }

  [[nodiscard]] double complementarity() const { return products() / count(); }
  [[nodiscard]] double complementarity(const Step& d, double length) const {
    return (at_.p.products(d.p, length) + at_.q.products(d.q, length)) / count();
  }
  bool factor() {
    const Vector Dp = engine::BoxEquations(at_.p).diagonal();
    const Vector Dq = engine::BoxEquations(at_.q).diagonal();
    system_.emplace(data_, Dp.cwiseProduct(Dq).cwiseQuotient(Dp + Dq));
    return system_->ok();
  }
  [[nodiscard]] Step direction(double target, const Step* before) const {
    return newton_step(data_, *system_, at_, slope_, target, before);
  }
  [[nodiscard]] double reach(const Step& d, double fraction) const {
    return fraction * std::min({1.0, at_.p.largest_step(d.p), at_.q.largest_step(d.q)});
  }
  bool advance(const Step& d, double length) {
    if (!(length > kShortest)) return false;
    at_.p.advance(d.p, length);
    at_.q.advance(d.q, length);
    return true;
  }

 private:
  [[nodiscard]] double products() const { return at_.p.products() + at_.q.products(); }
  [[nodiscard]] double count() const { return at_.p.count() + at_.q.count(); }

  const LassoData& data_;
  const ColumnTerms& terms_;
  Iterate at_;
  Slopes slope_;
  std::optional<System> system_;
  double last_violation_ = std::numeric_limits<double>::infinity();
};

}  // namespace

double interior_step_cost(const LassoData& data) {
  const auto m = static_cast<double>(data.S.rows());
  const auto n = static_cast<double>(data.S.cols());
  const double factor = data.gram.size() > 0 ? n * n * n / 3 : m * m * n + m * m * m / 3;
  return factor + 12 * m * n;
}

Vector lasso_interior(const LassoData& data, const ColumnTerms& terms, long& steps,
                      const RunContext& ctx) {
  Interior interior(data, terms);
  const engine::BestSoFar end = engine::run_interior(
      interior, {.tolerance = kGap, .iterations = kMostSteps, .patience = kMostSteps}, kToBoundary,
      ctx);
  steps += end.iterations();
  return interior.a();
}

}  // namespace kith::linear
