// SPDX-License-Identifier: Apache-2.0
// Notation as in the header; p = u - v. With D_s = xi/q + s/a and D_w = u/zu + v/zv a Newton step
// (da, dp, db) solves
//
//   (1)  D_s da + G dp + y db = r1
//   (2)  dp - D_w G'da        = r2
//   (3)  y'da                 = r3
//
// through whichever is smaller of
//
//   rows:     (D_s + G D_w G') da + y db = r1 - G r2,   y'da = r3
//   columns:  [G y]' D_s^-1 [G y] + diag(1/D_w, 0)   in (dp, db).
#include "optim/linear/hinge_interior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "numerics/cholesky.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/interior.hpp"

namespace kith::linear {
namespace {

constexpr double kStepFraction = 0.995;  // of the way to the nearest bound
constexpr double kShortestStep = 1e-7;   // shorter ones are rounding
constexpr double kNearlyThere = 1e3;     // times the tolerance: the vertex does the rest
constexpr double kNothingLeft = 1e-13;   // of the objective: only rounding makes a gap
constexpr int kRefinements = 2;

struct Direction {
  Vector da, dp;
  double db = 0;
  Vector dg;  // (dp - r2) / D_w, which is G'da
};

/// The system (1)-(3), factored once per iterate.
class NewtonSystem {
 public:
  NewtonSystem(const HingeBlock& block, const HingeIterate& x, bool by_rows)
      : block_(block), by_rows_(by_rows) {
    Ds_ = x.xi.cwiseQuotient(x.q) + x.s.cwiseQuotient(x.a);
    Dw_ = x.u.cwiseQuotient(x.zu) + x.v.cwiseQuotient(x.zv);
    good_ = Ds_.allFinite() && Dw_.allFinite() && (by_rows_ ? factor_rows() : factor_columns());
  }

  [[nodiscard]] bool good() const { return good_; }

  [[nodiscard]] Direction solve(const Vector& r1, const Vector& r2, double r3) const {
    Direction d = solve_once(r1, r2, r3);
    for (int i = 0; i < kRefinements; ++i) {
      const Vector e1 = r1 - Ds_.cwiseProduct(d.da) - block_.G * d.dp - block_.y * d.db;
      const Vector e2 = r2 - d.dp + Dw_.cwiseProduct(block_.G.transpose() * d.da);
      const Direction more = solve_once(e1, e2, r3 - block_.y.dot(d.da));
      d.da += more.da;
      d.dp += more.dp;
      d.db += more.db;
    }
    d.dg = block_.G.transpose() * d.da;
    if (by_rows_) return d;
    // An error of G'da would be multiplied by D_w, which is large for columns that stay in the
    // model: they take what the system was solved for.
    for (Index j = 0; j < d.dg.size(); ++j) {
      if (Dw_(j) > 1) d.dg(j) = (d.dp(j) - r2(j)) / Dw_(j);
    }
    return d;
  }

 private:
  bool factor_rows() {
    const Matrix scaled = block_.G * Dw_.cwiseSqrt().asDiagonal();
    H_ = Ds_.asDiagonal();
    H_.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
    if (!cholesky_with_ridge(H_)) return false;
    y_solved_ = back_solve(H_, block_.y);
    return true;
  }

  bool factor_columns() {
    const Index k = block_.G.cols();
    const Vector root = Ds_.cwiseInverse().cwiseSqrt();
    Matrix scaled(block_.G.rows(), k + 1);
    scaled.leftCols(k) = root.asDiagonal() * block_.G;
    scaled.col(k) = root.cwiseProduct(block_.y);
    H_ = Matrix::Zero(k + 1, k + 1);
    H_.diagonal().head(k) = Dw_.cwiseInverse();
    H_.selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose());
    return cholesky_with_ridge(H_);
  }

  [[nodiscard]] Direction solve_once(const Vector& r1, const Vector& r2, double r3) const {
    return by_rows_ ? solve_rows(r1, r2, r3) : solve_columns(r1, r2, r3);
  }

  [[nodiscard]] Direction solve_rows(const Vector& r1, const Vector& r2, double r3) const {
    Direction d;
    d.da = back_solve(H_, Vector(r1 - block_.G * r2));
    d.db = (block_.y.dot(d.da) - r3) / block_.y.dot(y_solved_);
    d.da -= d.db * y_solved_;
    d.dp = r2 + Dw_.cwiseProduct(block_.G.transpose() * d.da);
    return d;
  }

  [[nodiscard]] Direction solve_columns(const Vector& r1, const Vector& r2, double r3) const {
    const Index k = block_.G.cols();
    const Vector weighted = r1.cwiseQuotient(Ds_);
    Vector x(k + 1);
    x.head(k) = r2.cwiseQuotient(Dw_) + block_.G.transpose() * weighted;
    x(k) = block_.y.dot(weighted) - r3;
    x = back_solve(H_, x);
    Direction d;
    d.dp = x.head(k);
    d.db = x(k);
    d.da = (r1 - block_.G * d.dp - block_.y * d.db).cwiseQuotient(Ds_);
    return d;
  }

  const HingeBlock& block_;
  Vector Ds_, Dw_;
  Matrix H_;
  Vector y_solved_;
  bool by_rows_ = false;
  bool good_ = false;
};

struct Residuals {
  Vector rp, ru, rv, rq;
  double rb = 0;
  double mu = 0;
  double gap = 0;
  double left = 0;  // what the products of partners add to the gap, relative like it
};

Residuals residuals(const HingeBlock& block, const HingeIterate& x) {
  const Vector p = x.u - x.v;
  const Vector margins = block.G * p + block.y * x.b;
  const Vector g = block.G.transpose() * x.a;
  Residuals r;
  r.rp = (1 - margins.array()).matrix() - x.xi + x.s;
  r.ru = (1 - g.array()).matrix() - x.zu;
  r.rv = (1 + g.array()).matrix() - x.zv;
  r.rq = block.c - x.a - x.q;
  r.rb = -block.y.dot(x.a);
  const auto pairs = static_cast<double>(2 * (p.size() + x.a.size()));
  r.mu = (x.u.dot(x.zu) + x.v.dot(x.zv) + x.a.dot(x.s) + x.q.dot(x.xi)) / pairs;
  const double primal = p.lpNorm<1>() + block.c.dot((1 - margins.array()).max(0).matrix());
  const double steepest = g.size() > 0 ? std::max(1.0, g.cwiseAbs().maxCoeff()) : 1.0;
  // What balancing a takes away is at most |rb|; it is 0 up to rounding after a full step.
  const double dual = (x.a.sum() - 2 * std::abs(r.rb)) / steepest;
  const double size = std::max({primal, dual, std::numeric_limits<double>::min()});
  r.gap = (primal - dual) / size;
  r.left = pairs * r.mu / size;
  return r;
}

/// Right-hand sides of the complementarity conditions.
struct Targets {
  Vector u, v, s, xi;
};

struct Step {
  Vector du, dv, dxi, ds;
  double db = 0;
  Vector da, dq, dzu, dzv;
};

Step newton_step(const HingeIterate& x, const Residuals& r, const Targets& k,
                 const NewtonSystem& system) {
  const Vector from_u = (k.u - x.u.cwiseProduct(r.ru)).cwiseQuotient(x.zu);
  const Vector from_v = (k.v - x.v.cwiseProduct(r.rv)).cwiseQuotient(x.zv);
  const Vector from_xi = (k.xi - x.xi.cwiseProduct(r.rq)).cwiseQuotient(x.q);
  const Vector from_s = k.s.cwiseQuotient(x.a);
  const Direction d = system.solve(r.rp - from_xi + from_s, from_u - from_v, r.rb);
  const Vector& dg = d.dg;
  Step step;
  step.da = d.da;
  step.db = d.db;
  step.dzu = r.ru - dg;
  step.dzv = r.rv + dg;
  step.dq = r.rq - d.da;
  step.du = from_u + x.u.cwiseQuotient(x.zu).cwiseProduct(dg);
  step.dv = from_v - x.v.cwiseQuotient(x.zv).cwiseProduct(dg);
  step.ds = from_s - x.s.cwiseQuotient(x.a).cwiseProduct(d.da);
  step.dxi = from_xi + x.xi.cwiseQuotient(x.q).cwiseProduct(d.da);
  return step;
}

struct Lengths {
  double primal = 1;
  double dual = 1;
};

/// `fraction` of the way to the nearest bound, at most a full step.
Lengths lengths(const HingeIterate& x, const Step& d, double fraction) {
  const double primal =
      std::min({engine::largest_step(x.u, d.du), engine::largest_step(x.v, d.dv),
                engine::largest_step(x.xi, d.dxi), engine::largest_step(x.s, d.ds)});
  const double dual =
      std::min({engine::largest_step(x.a, d.da), engine::largest_step(x.q, d.dq),
                engine::largest_step(x.zu, d.dzu), engine::largest_step(x.zv, d.dzv)});
  return {std::min(1.0, fraction * primal), std::min(1.0, fraction * dual)};
}

void move(HingeIterate& x, const Step& d, const Lengths& t) {
  x.u += t.primal * d.du;
  x.v += t.primal * d.dv;
  x.xi += t.primal * d.dxi;
  x.s += t.primal * d.ds;
  x.b += t.primal * d.db;
  x.a += t.dual * d.da;
  x.q += t.dual * d.dq;
  x.zu += t.dual * d.dzu;
  x.zv += t.dual * d.dzv;
}

double complementarity_after(const HingeIterate& x, const Step& d, const Lengths& t) {
  const auto product = [&](const Vector& p, const Vector& dp, const Vector& z, const Vector& dz) {
    return (p + t.primal * dp).dot(z + t.dual * dz);
  };
  const double sum = product(x.u, d.du, x.zu, d.dzu) + product(x.v, d.dv, x.zv, d.dzv) +
                     product(x.s, d.ds, x.a, d.da) + product(x.xi, d.dxi, x.q, d.dq);
  return sum / static_cast<double>(2 * (x.u.size() + x.a.size()));
}

Targets predictor(const HingeIterate& x) {
  return {-x.u.cwiseProduct(x.zu), -x.v.cwiseProduct(x.zv), -x.s.cwiseProduct(x.a),
          -x.xi.cwiseProduct(x.q)};
}

Targets corrector(const HingeIterate& x, const Step& affine, double target) {
  Targets k = predictor(x);
  k.u.array() += target - affine.du.array() * affine.dzu.array();
  k.v.array() += target - affine.dv.array() * affine.dzv.array();
  k.s.array() += target - affine.ds.array() * affine.da.array();
  k.xi.array() += target - affine.dxi.array() * affine.dq.array();
  return k;
}

/// The middle of the box for a; every product of partners equals the same number, large enough that
/// the iterates keep away from bounds while they become feasible.
HingeIterate start(const HingeBlock& block) {
  constexpr double kAmple = 10;
  HingeIterate x;
  x.a = engine::box_centre(block.c, block.y);
  x.q = block.c - x.a;
  const Vector g = block.G.transpose() * x.a;
  const double steepest = g.size() > 0 ? g.cwiseAbs().maxCoeff() : 0.0;
  const double mu = kAmple * x.a.mean();
  x.zu = Vector::Constant(g.size(), std::max(1.0, steepest / kAmple));
  x.zv = x.zu;
  x.u = mu * x.zu.cwiseInverse();
  x.v = x.u;
  x.s = mu * x.a.cwiseInverse();
  x.xi = mu * x.q.cwiseInverse();
  return x;
}

class Interior {
 public:
  using Step = linear::Step;

  Interior(const HingeBlock& block, double tolerance, InteriorResult& result)
      : block_(block),
        tolerance_(tolerance),
        result_(result),
        x_(start(block)),
        r_(residuals(block, x_)),
        by_rows_(block.G.rows() < block.G.cols() + 1) {}

  double merit() {
    if (!(r_.gap < result_.gap)) worse_ = true;
    return r_.gap;
  }
  void keep() {
    result_.best = x_;
    result_.gap = r_.gap;
    worse_ = false;
  }
  [[nodiscard]] double complementarity() const { return r_.mu; }
  [[nodiscard]] double complementarity(const Step& d, const Lengths& t) const {
    return complementarity_after(x_, d, t);
  }
  bool factor() {
    // What is left of the gap is rounding.
    if (!std::isfinite(r_.mu) || !std::isfinite(r_.gap) || (worse_ && r_.left < kNothingLeft)) {
      return false;
    }
    system_.emplace(block_, x_, by_rows_);
    return system_->good();
  }
  [[nodiscard]] Step direction(double target, const Step* before) const {
    const Targets k = before != nullptr ? corrector(x_, *before, target) : predictor(x_);
    return newton_step(x_, r_, k, *system_);
  }
  [[nodiscard]] Lengths reach(const Step& d, double fraction) const {
    return lengths(x_, d, fraction);
  }
  bool advance(const Step& d, const Lengths& t) {
    if (!(std::max(t.primal, t.dual) > kShortestStep)) return false;
    move(x_, d, t);
    r_ = residuals(block_, x_);
    return true;
  }
  /// Dependent columns spoil one form of the system, dependent rows the other.
  bool restart() {
    if (switched_ || result_.gap <= kNearlyThere * tolerance_) return false;
    switched_ = true;
    by_rows_ = !by_rows_;
    x_ = result_.best;
    r_ = residuals(block_, x_);
    worse_ = false;
    return true;
  }

 private:
  const HingeBlock& block_;
  double tolerance_;
  InteriorResult& result_;
  HingeIterate x_;
  Residuals r_;
  bool by_rows_;
  bool switched_ = false;
  bool worse_ = false;  // than the best
  std::optional<NewtonSystem> system_;
};

}  // namespace

InteriorResult hinge_interior_point(const HingeBlock& block, double tolerance, long max_iterations,
                                    const RunContext& ctx) {
  InteriorResult result;
  result.gap = std::numeric_limits<double>::infinity();
  Interior interior(block, tolerance, result);
  const engine::BestSoFar end = engine::run_interior(
      interior, {.tolerance = tolerance, .iterations = max_iterations, .patience = 12},
      kStepFraction, ctx);
  result.iterations = end.iterations();
  result.stalled =
      end.status() != SolveStatus::kSolved && end.status() != SolveStatus::kIterationLimit;
  return result;
}

}  // namespace kith::linear
