// SPDX-License-Identifier: Apache-2.0
// (D) of spectrum/program.hpp for clip and flip, where p = G is optimal:
//
//   max_alpha  1'alpha - t_0'G(alpha)   s.t.  0 <= alpha <= u,  y'alpha = 0,  C(alpha) + q = 1,  q
//   >= 0
//
// with C = (|G| / gamma)^(1/2), a norm of alpha (the fourth powers of w under a root): of all
// powers of |G| the one for which Newton's method needs fewest steps. Notation: s = u - alpha, z
// and zs the multipliers of the two bounds, V that of the norm, h = |lambda| / (2 eta), d = h .* w,
// g = G / |G|. The learned multipliers are t = t_0 + v g, v = V / (2 gamma) where C = 1. With k = C
// / (2 |G|), c = Y U (g .* d) and the Hessian of the Lagrangian
//
//   H = Y U diag(t_0 h + V k (g h + d^2 / |G|)) U'Y - (3/2) V k / |G| c c',
//
// each step of Mehrotra's predictor and corrector solves
//
//   (H + z/alpha + zs/s) dalpha + b y + dV k c = ...,   k c'dalpha - q/V dV = ...,
//
// one product of n x n matrices and one Cholesky factor. dV is not eliminated: V/q k^2 c c' grows
// without bound and would swallow H. Which bounds are met is nearly known long before the last
// digits are: Newton steps on the samples between them, which may change sides after each, finish.
// These few stand alone: they end where a step moves nothing, before a certificate is worth its
// cost.
#include "optim/spectrum/solvers.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kith/optim/dual/certificate.hpp"
#include "numerics/cholesky.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/interior.hpp"
#include "optim/spectrum/terms.hpp"

namespace kith::spectrum {
namespace {

constexpr long kMostSteps = 40;
constexpr double kStepFraction = 0.99;
constexpr double kFinishGap = 3e-2;  // from here on the bounds that are met are worth a try
constexpr double kKeepGap = 1e-5;    // from here on the interior's own point is worth a certificate
constexpr int kFinishSteps = 10;
constexpr double kRounding = 1e-12;  // a step this small is the last
constexpr double kLost = 100;        // a step of so many boxes, too: the guess is no good
constexpr double kStartNorm = 0.8;   // of the largest admissible |G|

struct Place {
  Vector alpha;
  Vector d, g;   // over the eigenvalues
  double N = 0;  // |G|
  Vector base;   // 1 - Y U (t_0 d), the slope of the objective
  Vector c;      // of |G|
};

/// Beside the box q, the room under the norm, and its multiplier V.
struct Iterate : engine::BoxAndPartners<double> {
  Place at;
  double b = 0;
};
struct Step : engine::BoxAndPartnersStep<double> {
  double b = 0;  // the new one
};

/// A point whose samples are on one of their bounds or free.
struct Guess {
  Place at;
  std::vector<Index> free;
  std::vector<int> side;  // of each sample: -1 at 0, 1 at u, 0 free
  double b = 0, v = 0;
  double moved = 0;  // by the last step
};

class NormInterior : public engine::PointProblem<Iterate, Step> {
 public:
  /// Improves on `best`; `start` need not have a size. usable() is false where no start is.
  NormInterior(const Program& program, const Vector& start, Solution& best)
      : program_(program),
        terms_(terms_of(program)),
        YU_(program.y.asDiagonal() * program.eigen->U(Eigen::all, terms_.active)),
        h_(terms_.magnitude / (2 * program.eta)),
        t0_(terms_.centres.col(0)),
        best_(best),
        usable_(begin(start)) {}
  [[nodiscard]] bool usable() const { return usable_; }

  /// The gap of the certificate, once the products are small enough to be worth one.
  double merit() {
    const double gap = x_.mean_product() * x_.count() / x_.at.alpha.sum();
    if (gap <= kFinishGap) {
      if (gap <= kKeepGap) keep(x_.at, multiplier());
      finish();
    }
    return best_.certificate.gap;
  }
  void keep() {}  // merit() has kept the better of its candidates

  bool factor() {
    const Place& at = x_.at;
    const double k = slope_of_norm(at);
    Matrix A = engine::BoxEquations(x_.box).diagonal().asDiagonal();
    const Vector curved =
        t0_.cwiseProduct(h_) + x_.own.z * k * (at.g.cwiseProduct(h_) + at.d.cwiseAbs2() / at.N);
    Matrix scaled(YU_.rows(), YU_.cols());
    scaled.noalias() = YU_ * curved.cwiseSqrt().asDiagonal();
    A.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
    A.selfadjointView<Eigen::Lower>().rankUpdate(at.c, -1.5 * x_.own.z * k / at.N);
    Matrix border(YU_.rows(), 2);
    border << program_.y, k * at.c;
    return kkt_.factor(std::move(A), std::move(border),
                       Vector{{0, x_.own.x / x_.own.z}}.asDiagonal(), Ridge::kOfEach);
  }

  [[nodiscard]] Step direction(double target, const Step* before) const {
    const Place& at = x_.at;
    const engine::BoxEquations box(x_.box);
    const auto products = box.right_side(target, before != nullptr ? &before->box : nullptr);
    const double k = slope_of_norm(at);
    const double missed = 1 - x_.own.x - root_norm(at);
    const double second = before != nullptr ? before->own.x * before->own.z : 0;
    const double own = missed + x_.own.x - (target - second) / x_.own.z;
    const Vector slope = at.base - x_.own.z * k * at.c;
    engine::BorderedSystem::Answer found = kkt_.solve(slope + products.pull(), Vector{{0, own}});
    Step d;
    d.b = found.m(0);
    d.box.a = std::move(found.d);
    const double off = program_.y.dot(d.box.a) + program_.y.dot(at.alpha);  // rounding
    d.box.a -= off / static_cast<double>(at.alpha.size()) * program_.y;
    d.own.x = missed - k * at.c.dot(d.box.a);
    d.own.z = found.m(1);
    box.complete(products, d.box);
    return d;
  }

  bool advance(const Step& d, double length) {
    if (!(length > 0) || !d.box.a.allFinite()) return false;
    x_.advance(d, length);
    x_.b += length * (d.b - x_.b);
    x_.at = place(x_.box.a);
    return x_.at.N > 0 && x_.box.a.minCoeff() > 0 && x_.box.room.minCoeff() > 0 &&
           x_.box.z_low.allFinite() && x_.box.z_high.allFinite();
  }

 private:
  [[nodiscard]] Place place(Vector alpha) const {
    Place at;
    at.alpha = std::move(alpha);
    const Vector w = YU_.transpose() * at.alpha;
    at.d = h_.cwiseProduct(w);
    at.g = 0.5 * at.d.cwiseProduct(w);
    at.N = at.g.norm();
    at.g /= at.N;
    Matrix inside(w.size(), 2);
    inside.col(0) = t0_.cwiseProduct(at.d);
    inside.col(1) = at.g.cwiseProduct(at.d);
    Matrix outside(at.alpha.size(), 2);
    outside.noalias() = YU_ * inside;
    at.base = 1 - outside.col(0).array();
    at.c = outside.col(1);
    return at;
  }

  [[nodiscard]] double root_norm(const Place& at) const { return std::sqrt(at.N / program_.gamma); }
  /// v of the learned t.
  [[nodiscard]] double multiplier() const { return x_.own.z / (2 * program_.gamma); }

  bool begin(const Vector& given) {
    const Vector alpha = engine::box_start(program_.upper, program_.y, given);
    x_.at = place(alpha);
    if (!(x_.at.N > 0) || !std::isfinite(x_.at.N)) return false;
    const double excess = x_.at.N / (kStartNorm * program_.gamma);
    if (excess > 1) x_.at = place(alpha / std::sqrt(excess));
    const Vector& a = x_.at.alpha;
    x_.own.x = 1 - root_norm(x_.at);
    x_.own.z = std::max(a.dot(x_.at.base), 1e-6 * a.sum());
    const Vector slope = x_.at.base - x_.own.z * slope_of_norm(x_.at) * x_.at.c;
    x_.box = engine::BoxPoint(program_.upper, a, engine::start_product(a, slope));
    x_.box.balance(slope);
    return true;
  }

  /// k = dC / d|G|.
  [[nodiscard]] double slope_of_norm(const Place& at) const { return 0.5 * root_norm(at) / at.N; }

  /// Newton's method on the free samples, with the norm and the balance as equations.
  void finish() {
    Guess guess = sides();
    for (int step = 0; step < kFinishSteps; ++step) {
      if (!improve(guess)) return;
      if (change_sides(guess)) continue;
      keep(guess.at, guess.v);
      if (guess.moved <= kRounding * guess.at.alpha.maxCoeff()) return;
    }
  }

  /// Each sample where its product with the bound's multiplier says it will be.
  [[nodiscard]] Guess sides() const {
    const engine::BoxPoint& box = x_.box;
    Vector alpha = box.a;
    Guess guess;
    guess.b = x_.b;
    guess.v = multiplier();
    for (Index i = 0; i < alpha.size(); ++i) {
      int side = 0;
      if (alpha(i) < box.room(i) && alpha(i) < box.z_low(i) * program_.upper(i)) {
        alpha(i) = 0;
        side = -1;
      } else if (box.room(i) <= alpha(i) && box.room(i) < box.z_high(i) * program_.upper(i)) {
        alpha(i) = program_.upper(i);
        side = 1;
      } else {
        guess.free.push_back(i);
      }
      guess.side.push_back(side);
    }
    guess.at = place(std::move(alpha));
    return guess;
  }

  /// Equal samples make A singular: then each step stays close to its start, and leaves alone what
  /// has no curvature. More steps of that kind end in the same point.
  static bool factor_free(Matrix& A) {
    constexpr double kSingular = 1e-12;
    constexpr double kClose = 1e-10;
    const Vector diagonal = A.diagonal();
    const Matrix before = A;
    if (cholesky(A) && A.diagonal().cwiseAbs2().cwiseQuotient(diagonal).minCoeff() > kSingular) {
      return true;
    }
    A = before;
    return cholesky_with_ridge(A, diagonal, kClose, kClose);
  }

  /// One step, cut off at the box.
  bool improve(Guess& guess) const {
    const Place& at = guess.at;
    const Vector t = t0_ + guess.v * at.g;
    const Vector curved = t.cwiseProduct(h_) + guess.v / at.N * at.d.cwiseAbs2();
    if (guess.free.size() < 2 || !(curved.minCoeff() >= 0)) return false;
    const Vector y = program_.y(guess.free);
    const Vector c = at.c(guess.free);
    const Vector upper = program_.upper(guess.free);
    const Matrix scaled = YU_(guess.free, Eigen::all) * curved.cwiseSqrt().asDiagonal();
    Matrix L = Matrix::Zero(c.size(), c.size());
    L.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
    // -v/N c c' is left out: with c'dalpha given by the norm's equation it only changes dv.
    if (!factor_free(L)) return false;
    const Vector Ar = back_solve(L, Vector(slope(guess)(guess.free)));
    const Vector Ay = back_solve(L, y);
    const Vector Ac = back_solve(L, c);
    Eigen::Matrix2d small;
    small << y.dot(Ay), y.dot(Ac), c.dot(Ay), c.dot(Ac);
    const double short_of = program_.gamma - at.N;
    const Eigen::Vector2d right(y.dot(Ar) + program_.y.dot(at.alpha), c.dot(Ar) - short_of);
    const Eigen::Vector2d change = small.inverse() * right;
    if (!change.allFinite()) return false;
    const Vector moved = Ar - change(0) * Ay - change(1) * Ac;
    guess.b += change(0);
    guess.v += change(1) + guess.v / at.N * short_of;
    guess.moved = moved.lpNorm<Eigen::Infinity>();
    if (!(guess.moved <= kLost * program_.upper.maxCoeff())) return false;
    Vector alpha = at.alpha;
    alpha(guess.free) = (alpha(guess.free) + moved).cwiseMax(0.0).cwiseMin(upper);
    guess.at = place(std::move(alpha));
    return true;
  }

  /// Of the Lagrangian.
  [[nodiscard]] Vector slope(const Guess& guess) const {
    return guess.at.base - guess.v * guess.at.c - guess.b * program_.y;
  }

  /// Free samples that met a bound stay there; those that the slope draws off it are free. Whether
  /// there were any.
  bool change_sides(Guess& guess) const {
    const Vector pull = slope(guess);
    bool changed = false;
    guess.free.clear();
    for (Index i = 0; i < pull.size(); ++i) {
      int& side = guess.side[static_cast<std::size_t>(i)];
      const int before = side;
      if (side != 0) {
        side = side * pull(i) < 0 ? 0 : side;
      } else if (guess.at.alpha(i) <= 0) {
        side = -1;
      } else if (guess.at.alpha(i) >= program_.upper(i)) {
        side = 1;
      }
      changed = changed || side != before;
      if (side == 0) guess.free.push_back(i);
    }
    return changed;
  }

  /// The point of alpha and v, if it is better than the best.
  void keep(const Place& at, double v) {
    const Vector t = (t0_ + v * at.g).cwiseMax(0.0);
    const Vector z = t.cwiseProduct(at.d);
    const Vector f = program_.y.cwiseProduct(YU_ * z);
    Point point = point_of(program_, terms_, at.alpha, t, z,
                           dual::least_loss_intercept(f, program_.y, program_.upper));
    const Certificate certificate = certify(program_, point);
    if (!(certificate.gap < best_.certificate.gap)) return;
    best_.point = std::move(point);
    best_.certificate = certificate;
  }

  const Program& program_;
  const Terms terms_;
  const Matrix YU_;
  const Vector h_, t0_;
  Solution& best_;
  engine::BorderedSystem kkt_;
  bool usable_;
};

}  // namespace

bool solve_norm(const Program& program, const Vector& start, const Settings& settings,
                const RunContext& ctx, Solution& best) {
  best.certificate.gap = std::numeric_limits<double>::infinity();
  NormInterior interior(program, start, best);
  if (!interior.usable()) return false;
  const engine::BestSoFar end = engine::run_interior(
      interior, {.tolerance = settings.tolerance, .iterations = kMostSteps, .patience = kMostSteps},
      kStepFraction, ctx);
  best.info.iterations = end.iterations();
  return end.status() == SolveStatus::kSolved;
}

}  // namespace kith::spectrum
