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

/// One of p and q with its multipliers; also a step in them.
struct Side {
  Vector x;      ///< p or q
  Vector room;   ///< bound - x, kept by itself: the difference has no digits near the bound
  Vector lower;  ///< z
  Vector upper;  ///< w
};

/// Everything at one iterate that both right sides need.
struct Residuals {
  Vector dual_p, dual_q;  ///< (1)
  double products = 0;    ///< the sum of all in (2): the duality gap where (1) holds
};

struct Iterate {
  Side p, q;
};
using Step = Iterate;

double sum_of_products(const Side& side) {
  return side.x.dot(side.lower) + side.room.dot(side.upper);
}
double sum_of_products(const Iterate& at) { return sum_of_products(at.p) + sum_of_products(at.q); }

/// z or w anew from the other and (1), where that moves it a little: Newton's dz and dw lose their
/// digits as p or bound - p becomes small. `v` is epsilon -+ g.
void restore_dual(Side& side, const Vector& v) {
  for (Index j = 0; j < v.size(); ++j) {
    double& larger = side.lower(j) > side.upper(j) ? side.lower(j) : side.upper(j);
    const double anew = side.lower(j) > side.upper(j) ? v(j) + side.upper(j) : side.lower(j) - v(j);
    if (anew > 0.5 * larger && anew < 2 * larger) larger = anew;
  }
}

/// Restores what it can of (1) first.
Residuals residuals(const LassoData& data, const ColumnTerms& terms, Iterate& at) {
  const Vector r = data.y - data.S * (at.p.x - at.q.x);
  const Vector g = data.S.transpose() * r;
  restore_dual(at.p, terms.epsilon - g);
  restore_dual(at.q, terms.epsilon + g);
  return {.dual_p = terms.epsilon - g - at.p.lower + at.p.upper,
          .dual_q = terms.epsilon + g - at.q.lower + at.q.upper,
          .products = sum_of_products(at)};
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

/// D = z / x + w / (bound - x): what elimination adds to the diagonal on one side.
Vector diagonal(const Side& side) {
  return side.lower.cwiseQuotient(side.x) + side.upper.cwiseQuotient(side.room);
}

/// What (2) asks for on one side: mu minus the products, and minus those of the predictor's step.
struct Targets {
  Vector lower, upper;
};
Targets targets(const Side& side, double mu, const Side* predictor) {
  Targets t{.lower = mu - side.x.array() * side.lower.array(),
            .upper = mu - side.room.array() * side.upper.array()};
  if (predictor != nullptr) {
    t.lower -= predictor->x.cwiseProduct(predictor->lower);
    t.upper -= predictor->room.cwiseProduct(predictor->upper);
  }
  return t;
}

/// The right side of one half of (1) after its multipliers are eliminated.
Vector reduced(const Vector& dual, const Side& side, const Targets& t) {
  return t.lower.cwiseQuotient(side.x) - t.upper.cwiseQuotient(side.room) - dual;
}

Side side_step(const Side& side, const Targets& t, Vector dx) {
  Side step;
  step.lower = (t.lower - side.lower.cwiseProduct(dx)).cwiseQuotient(side.x);
  step.upper = (t.upper + side.upper.cwiseProduct(dx)).cwiseQuotient(side.room);
  step.room = -dx;
  step.x = std::move(dx);
  return step;
}

Step newton_step(const LassoData& data, const System& system, const Iterate& at, const Residuals& r,
                 double mu, const Step* predictor) {
  const Targets tp = targets(at.p, mu, predictor != nullptr ? &predictor->p : nullptr);
  const Targets tq = targets(at.q, mu, predictor != nullptr ? &predictor->q : nullptr);
  const Vector Dp = diagonal(at.p);
  const Vector Dq = diagonal(at.q);
  const Vector bp = reduced(r.dual_p, at.p, tp);
  const Vector bq = reduced(r.dual_q, at.q, tq);
  const Vector e = (bp.cwiseProduct(Dq) - bq.cwiseProduct(Dp)).cwiseQuotient(Dp + Dq);
  const Vector da = system.solve(e);
  const Vector Gda = data.S.transpose() * (data.S * da);
  return {.p = side_step(at.p, tp, (bp - Gda).cwiseQuotient(Dp)),
          .q = side_step(at.q, tq, (bq + Gda).cwiseQuotient(Dq))};
}

/// The longest t that keeps everything at or above 0.
double longest(const Side& side, const Side& step) {
  return std::min({engine::largest_step(side.x, step.x), engine::largest_step(side.room, step.room),
                   engine::largest_step(side.lower, step.lower),
                   engine::largest_step(side.upper, step.upper)});
}

void advance(Iterate& at, const Step& step, double t) {
  for (auto [side, move] : {std::pair(&at.p, &step.p), std::pair(&at.q, &step.q)}) {
    side->x += t * move->x;
    side->room += t * move->room;
    side->lower += t * move->lower;
    side->upper += t * move->upper;
  }
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
  for (Side* side : {&at.p, &at.q}) {
    const double sign = side == &at.p ? 1 : -1;
    side->x = (0.5 * bound).cwiseMin(1.0);
    side->room = bound - side->x;
    side->lower = (terms.epsilon - sign * g).cwiseMax(0.0).array() + level;
    side->upper = level * side->x.cwiseQuotient(side->room);
  }
  return at;
}

/// The largest violation of (1), relative to epsilon.
double dual_violation(const ColumnTerms& terms, const Residuals& r) {
  return std::max(r.dual_p.cwiseQuotient(terms.epsilon).lpNorm<Eigen::Infinity>(),
                  r.dual_q.cwiseQuotient(terms.epsilon).lpNorm<Eigen::Infinity>());
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
    r_ = residuals(data_, terms_, at_);
    const double gap = r_.products / objective(data_, terms_, a());
    const double violation = dual_violation(terms_, r_);
    const bool rounding = gap <= kSmallGap && violation > kRounding * last_violation_;
    last_violation_ = violation;
    return rounding ? 0 : gap;
  }
  void keep() {}  // the last point is the answer
  [[nodiscard]] Vector a() const { return at_.p.x - at_.q.x; }

  [[nodiscard]] double complementarity() const { return sum_of_products(at_) / count(); }
  [[nodiscard]] double complementarity(const Step& d, double length) const {
    Iterate ahead = at_;
    linear::advance(ahead, d, length);
    return sum_of_products(ahead) / count();
  }
  bool factor() {
    const Vector Dp = diagonal(at_.p);
    const Vector Dq = diagonal(at_.q);
    system_.emplace(data_, Dp.cwiseProduct(Dq).cwiseQuotient(Dp + Dq));
    return system_->ok();
  }
  [[nodiscard]] Step direction(double target, const Step* before) const {
    return newton_step(data_, *system_, at_, r_, target, before);
  }
  [[nodiscard]] double reach(const Step& d, double fraction) const {
    return fraction * std::min({1.0, longest(at_.p, d.p), longest(at_.q, d.q)});
  }
  bool advance(const Step& d, double length) {
    if (!(length > kShortest)) return false;
    linear::advance(at_, d, length);
    return true;
  }

 private:
  [[nodiscard]] double count() const { return 4 * static_cast<double>(data_.S.cols()); }

  const LassoData& data_;
  const ColumnTerms& terms_;
  Iterate at_;
  Residuals r_;
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
