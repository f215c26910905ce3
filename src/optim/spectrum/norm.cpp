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
// each step of Mehrotra's predictor and corrector solves (H + z/alpha + zs/s + V/q k^2 c c') dalpha
// + b y = ...: one product of n x n matrices and one Cholesky factor. Which bounds are met is
// nearly known long before the last digits are: Newton steps on the samples between them, which may
// change sides after each, finish.
#include "optim/spectrum/norm.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "numerics/lapack.hpp"
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
constexpr double kStartNorm = 0.8;   // of the largest admissible |G|

struct Place {
  Vector alpha;
  Vector d, g;   // over the eigenvalues
  double N = 0;  // |G|
  Vector base;   // 1 - Y U (t_0 d), the slope of the objective
  Vector c;      // of |G|
};

struct Interior {
  Place at;
  Vector s, z, zs;
  double q = 1, V = 0, b = 0;
  [[nodiscard]] double complementarity() const { return at.alpha.dot(z) + s.dot(zs) + q * V; }
};

/// A point whose samples are on one of their bounds or free.
struct Guess {
  Place at;
  std::vector<Index> free;
  std::vector<int> side;  // of each sample: -1 at 0, 1 at u, 0 free
  double b = 0, v = 0;
  double moved = 0;  // by the last step
};

struct Step {
  Vector alpha, z, zs;
  double q = 0, V = 0;
  double b = 0;  // the new one
};

bool cholesky(Matrix& A) {
  const auto n = static_cast<int>(A.rows());
  int info = 0;
  if (n > 0) dpotrf_("L", &n, A.data(), &n, &info);
  return info == 0 && A.diagonal().allFinite();
}

Vector solved(const Matrix& L, Vector x) {
  L.triangularView<Eigen::Lower>().solveInPlace(x);
  L.triangularView<Eigen::Lower>().transpose().solveInPlace(x);
  return x;
}

double longest(double x, double dx) {
  return dx < 0 ? -x / dx : std::numeric_limits<double>::infinity();
}

double longest(const Interior& x, const Step& d) {
  return std::min({engine::largest_step(x.at.alpha, d.alpha), engine::largest_step(x.s, -d.alpha),
                   engine::largest_step(x.z, d.z), engine::largest_step(x.zs, d.zs),
                   longest(x.q, d.q), longest(x.V, d.V)});
}

class NormSolver {
 public:
  explicit NormSolver(const Program& program)
      : program_(program),
        terms_(terms_of(program)),
        YU_(program.y.asDiagonal() * program.eigen->U(Eigen::all, terms_.active)),
        h_(terms_.magnitude / (2 * program.eta)),
        t0_(terms_.centres.col(0)) {}

  bool run(const Vector& given, const Settings& settings, const RunContext& ctx,
           Solution& best) const {
    std::optional<Interior> x = start(given);
    if (!x) return false;
    for (long step = 0; step < kMostSteps; ++step) {
      ctx.check_stop();
      const double gap = x->complementarity() / x->at.alpha.sum();
      if (gap <= kFinishGap) {
        if (gap <= kKeepGap) keep(x->at, multiplier(*x), best);
        finish(*x, best);
        if (best.certificate.gap <= settings.tolerance) return true;
      }
      if (!advance(*x)) return false;
      ++best.info.iterations;
    }
    return false;
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
  [[nodiscard]] double multiplier(const Interior& x) const { return x.V / (2 * program_.gamma); }

  [[nodiscard]] std::optional<Interior> start(const Vector& given) const {
    Vector alpha = engine::box_centre(program_.upper, program_.y);
    if (given.size() == alpha.size()) alpha = 0.9 * given + 0.1 * alpha;
    Interior x;
    x.at = place(alpha);
    if (!(x.at.N > 0) || !std::isfinite(x.at.N)) return std::nullopt;
    const double excess = x.at.N / (kStartNorm * program_.gamma);
    if (excess > 1) x.at = place(alpha / std::sqrt(excess));
    const Vector& a = x.at.alpha;
    const auto n = static_cast<double>(a.size());
    x.s = program_.upper - a;
    x.q = 1 - root_norm(x.at);
    x.V = std::max(a.dot(x.at.base), 1e-6 * a.sum());
    const Vector slope = x.at.base - x.V * slope_of_norm(x.at) * x.at.c;
    const double mu = std::max(a.dot(slope.cwiseAbs()) / n, 1e-8 * a.mean());
    x.z = (-slope).cwiseMax(0.0).array() + mu / a.array();
    x.zs = slope.cwiseMax(0.0).array() + mu / x.s.array();
    return x;
  }

  /// k = dC / d|G|.
  [[nodiscard]] double slope_of_norm(const Place& at) const { return 0.5 * root_norm(at) / at.N; }

  bool advance(Interior& x) const {
    const Place& at = x.at;
    const double k = slope_of_norm(at);
    const Vector slope = at.base - x.V * k * at.c;
    Matrix L = (x.z.cwiseQuotient(at.alpha) + x.zs.cwiseQuotient(x.s)).asDiagonal();
    const Vector curved =
        t0_.cwiseProduct(h_) + x.V * k * (at.g.cwiseProduct(h_) + at.d.cwiseAbs2() / at.N);
    Matrix scaled(YU_.rows(), YU_.cols());
    scaled.noalias() = YU_ * curved.cwiseSqrt().asDiagonal();
    L.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
    L.selfadjointView<Eigen::Lower>().rankUpdate(at.c, x.V * k * (k / x.q - 1.5 / at.N));
    if (!cholesky(L)) return false;
    const Vector Ay = solved(L, program_.y);
    const double yAy = program_.y.dot(Ay);
    const double missed = 1 - x.q - root_norm(at);
    const double count = static_cast<double>(2 * at.alpha.size() + 1);
    const double mu = x.complementarity() / count;
    const auto direction = [&](double tau, const Vector& q1, const Vector& q2, double q3) {
      const Vector t1 = (tau - q1.array()) / at.alpha.array();
      const Vector t2 = (tau - q2.array()) / x.s.array();
      const double t3 = (tau - q3) / x.q - x.V - x.V / x.q * missed;
      const Vector Ar = solved(L, slope + t1 - t2 - t3 * k * at.c);
      Step d;
      d.b = program_.y.dot(Ar) / yAy;
      d.alpha = Ar - d.b * Ay;
      const double off = program_.y.dot(d.alpha) + program_.y.dot(at.alpha);  // rounding
      d.alpha -= off / static_cast<double>(at.alpha.size()) * program_.y;
      const double along = k * at.c.dot(d.alpha);
      d.q = missed - along;
      d.V = t3 + x.V / x.q * along;
      d.z = t1 - x.z - x.z.cwiseQuotient(at.alpha).cwiseProduct(d.alpha);
      d.zs = t2 - x.zs + x.zs.cwiseQuotient(x.s).cwiseProduct(d.alpha);
      return d;
    };
    const Vector none = Vector::Zero(at.alpha.size());
    const Step affine = direction(0, none, none, 0);
    const double reach = std::min(1.0, longest(x, affine));
    const double ahead = (at.alpha + reach * affine.alpha).dot(x.z + reach * affine.z) +
                         (x.s - reach * affine.alpha).dot(x.zs + reach * affine.zs) +
                         (x.q + reach * affine.q) * (x.V + reach * affine.V);
    const double sigma = std::pow(ahead / (count * mu), 3);
    const Step d = direction(sigma * mu, affine.alpha.cwiseProduct(affine.z),
                             -affine.alpha.cwiseProduct(affine.zs), affine.q * affine.V);
    const double length = std::min(1.0, kStepFraction * longest(x, d));
    if (!(length > 0) || !d.alpha.allFinite() || !d.z.allFinite() || !d.zs.allFinite())
      return false;
    x.z += length * d.z;
    x.zs += length * d.zs;
    x.q += length * d.q;
    x.V += length * d.V;
    x.b += length * (d.b - x.b);
    x.at = place(x.at.alpha + length * d.alpha);
    x.s = program_.upper - x.at.alpha;
    return x.at.N > 0 && x.at.alpha.minCoeff() > 0 && x.s.minCoeff() > 0;
  }

  /// Newton's method on the free samples, with the norm and the balance as equations.
  void finish(const Interior& x, Solution& best) const {
    Guess guess = sides(x);
    for (int step = 0; step < kFinishSteps; ++step) {
      if (!improve(guess)) return;
      if (change_sides(guess)) continue;
      keep(guess.at, guess.v, best);
      if (guess.moved <= kRounding * guess.at.alpha.maxCoeff()) return;
    }
  }

  /// Each sample where its product with the bound's multiplier says it will be.
  [[nodiscard]] Guess sides(const Interior& x) const {
    Vector alpha = x.at.alpha;
    Guess guess;
    guess.b = x.b;
    guess.v = multiplier(x);
    for (Index i = 0; i < alpha.size(); ++i) {
      int side = 0;
      if (alpha(i) < x.s(i) && alpha(i) < x.z(i) * program_.upper(i)) {
        alpha(i) = 0;
        side = -1;
      } else if (x.s(i) <= alpha(i) && x.s(i) < x.zs(i) * program_.upper(i)) {
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
    if (!cholesky(L)) return false;
    const Vector Ar = solved(L, slope(guess)(guess.free));
    const Vector Ay = solved(L, y);
    const Vector Ac = solved(L, c);
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
  void keep(const Place& at, double v, Solution& best) const {
    const Vector t = (t0_ + v * at.g).cwiseMax(0.0);
    const Index n = program_.eigen->lambda.size();
    Point point{.alpha = at.alpha, .a = Vector::Zero(n), .z = Vector::Zero(n), .b = 0};
    const Vector z = t.cwiseProduct(at.d);
    point.a(terms_.active) = terms_.sign.cwiseProduct(t);
    point.z(terms_.active) = z;
    const Vector f = program_.y.cwiseProduct(YU_ * z);
    point.b = best_intercept(f, program_.y, program_.upper);
    const Certificate certificate = certify(program_, point);
    if (!(certificate.gap < best.certificate.gap)) return;
    best.point = std::move(point);
    best.certificate = certificate;
  }

  const Program& program_;
  const Terms terms_;
  const Matrix YU_;
  const Vector h_, t0_;
};

}  // namespace

bool solve_norm(const Program& program, const Vector& start, const Settings& settings,
                const RunContext& ctx, Solution& best) {
  best.certificate.gap = std::numeric_limits<double>::infinity();
  return NormSolver(program).run(start, settings, ctx, best);
}

}  // namespace kith::spectrum
