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

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "numerics/lapack.hpp"

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
    const int by_rows = data.gram.size() == 0 ? 1 : 0;
    if (by_rows == 0) {
      L_ = data.gram;
      L_.diagonal() += E_;
    } else {
      const Matrix scaled = data.S * E_.cwiseInverse().cwiseSqrt().asDiagonal();
      L_ = Matrix::Identity(data.S.rows(), data.S.rows());
      L_.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
    }
    const int size = static_cast<int>(L_.rows());
    int info = 0;
    dpotrf_("L", &size, L_.data(), &size, &info);
    ok_ = info == 0;
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] Vector solve(const Vector& e) const {
    Vector x = e;
    if (data_.gram.size() > 0) {
      back(x);
      return x;
    }
    x.array() /= E_.array();
    Vector inner = data_.S * x;
    back(inner);
    x.array() -= (data_.S.transpose() * inner).array() / E_.array();
    return x;
  }

 private:
  void back(Vector& x) const {
    L_.triangularView<Eigen::Lower>().solveInPlace(x);
    L_.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
  }
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

/// The longest t <= 1 that keeps x + t dx at or above 0.
double longest(const Vector& x, const Vector& dx) {
  double t = 1;
  for (Index j = 0; j < x.size(); ++j) {
    if (dx(j) < 0) t = std::min(t, -x(j) / dx(j));
  }
  return t;
}
double longest(const Side& side, const Side& step) {
  return std::min(std::min(longest(side.x, step.x), longest(side.room, step.room)),
                  std::min(longest(side.lower, step.lower), longest(side.upper, step.upper)));
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

}  // namespace

double interior_step_cost(const LassoData& data) {
  const auto m = static_cast<double>(data.S.rows());
  const auto n = static_cast<double>(data.S.cols());
  const double factor = data.gram.size() > 0 ? n * n * n / 3 : m * m * n + m * m * m / 3;
  return factor + 12 * m * n;
}

Vector lasso_interior(const LassoData& data, const ColumnTerms& terms, long& steps,
                      const RunContext& ctx) {
  Iterate at = first_iterate(data, terms);
  double last_violation = std::numeric_limits<double>::infinity();
  const double count = 4 * static_cast<double>(data.S.cols());
  for (int k = 0; k < kMostSteps; ++k) {
    ctx.check_stop();
    const Residuals r = residuals(data, terms, at);
    const double gap = r.products / objective(data, terms, at.p.x - at.q.x);
    const double violation = dual_violation(terms, r);
    if (gap <= kGap || (gap <= kSmallGap && violation > kRounding * last_violation)) break;
    last_violation = violation;
    const Vector Dp = diagonal(at.p);
    const Vector Dq = diagonal(at.q);
    const System system(data, Dp.cwiseProduct(Dq).cwiseQuotient(Dp + Dq));
    if (!system.ok()) break;
    ++steps;
    const double mu = r.products / count;
    const Step affine = newton_step(data, system, at, r, 0, nullptr);
    Iterate ahead = at;
    advance(ahead, affine, std::min(longest(at.p, affine.p), longest(at.q, affine.q)));
    const double left = std::max(0.0, sum_of_products(ahead) / count);
    const Step step = newton_step(data, system, at, r, mu * std::pow(left / mu, 3), &affine);
    const double t = kToBoundary * std::min(longest(at.p, step.p), longest(at.q, step.q));
    if (!(t > kShortest)) break;
    advance(at, step, t);
  }
  return at.p.x - at.q.x;
}

}  // namespace kith::linear
