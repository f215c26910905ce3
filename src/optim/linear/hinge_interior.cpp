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
//
// Near a vertex D_s vanishes on the margin and D_w in it grows: `rows` loses digits where columns
// are dependent, `columns` where rows on the margin are. Where either is stuck the iteration goes
// on with `margin`, in which the k + 1 rows M of least D_s are not eliminated:
//
//   [ columns without M   -[G y]_M' ]
//   [ -[G y]_M            -D_s,M    ]                in (dp, db, da_M).
#include "optim/linear/hinge_interior.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "numerics/cholesky.hpp"
#include "numerics/indefinite_factor.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/interior.hpp"

namespace kith::linear {
namespace {

constexpr double kStepFraction = 0.995;  // of the way to the nearest bound
constexpr double kShortestStep = 1e-7;   // shorter ones are rounding
constexpr double kNearlyThere = 10;      // times the tolerance: the vertex does the rest
constexpr double kNothingLeft = 1e-13;   // of the objective: only rounding makes a gap
constexpr int kRefinements = 2;

struct Direction {
  Vector da, dp;
  double db = 0;
  Vector dg;  // (dp - r2) / D_w, which is G'da
};

enum class Form { kRows, kColumns, kMargin };

/// The system (1)-(3), factored once per iterate.
class NewtonSystem {
 public:
  NewtonSystem(const HingeBlock& block, const HingeIterate& x, Form form)
      : block_(block), form_(form) {
    Ds_ = x.xi().cwiseQuotient(x.q()) + x.s().cwiseQuotient(x.a());
    Dw_ = x.u().cwiseQuotient(x.zu()) + x.v().cwiseQuotient(x.zv());
    good_ = Ds_.allFinite() && Dw_.allFinite() && factor();
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
    if (form_ == Form::kRows) return d;
    // An error of G'da would be multiplied by D_w, which is large for columns that stay in the
    // model: they take what the system was solved for.
    for (Index j = 0; j < d.dg.size(); ++j) {
      if (Dw_(j) > 1) d.dg(j) = (d.dp(j) - r2(j)) / Dw_(j);
    }
    return d;
  }

 private:
  bool factor() {
    switch (form_) {
      case Form::kRows:
        return factor_rows();
      case Form::kColumns:
        return factor_columns();
      case Form::kMargin:
        return factor_margin();
    }
    return false;
  }

  bool factor_rows() {
    const Matrix scaled = block_.G * Dw_.cwiseSqrt().asDiagonal();
    H_ = Ds_.asDiagonal();
    H_.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
    if (!cholesky_with_ridge(H_)) return false;
    y_solved_ = back_solve(H_, block_.y);
    return true;
  }

  bool factor_columns() {
    eliminated_ = Ds_.cwiseInverse();
    H_ = column_matrix();
    return cholesky_with_ridge(H_);
  }

  /// [G y]' E [G y] + diag(1/D_w, 0) with E = diag(eliminated_), below and on the diagonal.
  [[nodiscard]] Matrix column_matrix() const {
    const Index k = block_.G.cols();
    const Vector root = eliminated_.cwiseSqrt();
    Matrix scaled(block_.G.rows(), k + 1);
    scaled.leftCols(k) = root.asDiagonal() * block_.G;
    scaled.col(k) = root.cwiseProduct(block_.y);
    Matrix H = Matrix::Zero(k + 1, k + 1);
    H.diagonal().head(k) = Dw_.cwiseInverse();
    H.selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose());
    return H;
  }

  bool factor_margin() {
    const Index k = block_.G.cols();
    const Index kept = std::min(block_.G.rows(), k + 1);
    margin_.resize(static_cast<std::size_t>(block_.G.rows()));
    std::iota(margin_.begin(), margin_.end(), Index{0});
    std::stable_sort(margin_.begin(), margin_.end(),
                     [&](Index i, Index j) { return Ds_(i) < Ds_(j); });
    margin_.resize(static_cast<std::size_t>(kept));
    eliminated_ = Ds_.cwiseInverse();
    eliminated_(margin_).setZero();
    Matrix H = Matrix::Zero(k + 1 + kept, k + 1 + kept);
    H.topLeftCorner(k + 1, k + 1) = column_matrix();
    H.bottomLeftCorner(kept, k) = -block_.G(margin_, Eigen::all);
    H.col(k).tail(kept) = -block_.y(margin_);
    H.diagonal().tail(kept) = -Ds_(margin_);
    unit_ = H.diagonal().head(k + 1).cwiseMax(1).cwiseSqrt().cwiseInverse();
    H.leftCols(k + 1) *= unit_.asDiagonal();
    H.topRows(k + 1).applyOnTheLeft(unit_.asDiagonal());
    if (!H.allFinite()) return false;
    factor_.emplace(std::move(H));
    return true;
  }

  [[nodiscard]] Direction solve_once(const Vector& r1, const Vector& r2, double r3) const {
    if (form_ == Form::kRows) return solve_rows(r1, r2, r3);
    const Index k = block_.G.cols();
    const Vector weighted = r1.cwiseProduct(eliminated_);
    Vector x(k + 1);
    x.head(k) = r2.cwiseQuotient(Dw_) + block_.G.transpose() * weighted;
    x(k) = block_.y.dot(weighted) - r3;
    Vector on_margin;
    if (form_ == Form::kColumns) {
      x = back_solve(H_, x);
    } else {
      Vector all(factor_->size());
      all << unit_.cwiseProduct(x), -r1(margin_);
      factor_->solve(all);
      x = unit_.cwiseProduct(all.head(k + 1));
      on_margin = all.tail(all.size() - k - 1);
    }
    Direction d;
    d.dp = x.head(k);
    d.db = x(k);
    d.da = (r1 - block_.G * d.dp - block_.y * d.db).cwiseProduct(eliminated_);
    if (form_ == Form::kMargin) d.da(margin_) = on_margin;
    return d;
  }

  [[nodiscard]] Direction solve_rows(const Vector& r1, const Vector& r2, double r3) const {
    Direction d;
    d.da = back_solve(H_, Vector(r1 - block_.G * r2));
    d.db = (block_.y.dot(d.da) - r3) / block_.y.dot(y_solved_);
    d.da -= d.db * y_solved_;
    d.dp = r2 + Dw_.cwiseProduct(block_.G.transpose() * d.da);
    return d;
  }

  const HingeBlock& block_;
  Form form_;
  Vector Ds_, Dw_;
  Matrix H_;                                // a factor of `rows` or `columns`
  Vector y_solved_;                         // of `rows`
  Vector eliminated_;                       // 1/D_s; 0 on M
  std::vector<Index> margin_;               // M
  Vector unit_;                             // of (dp, db) in `margin`
  std::optional<IndefiniteFactor> factor_;  // of `margin`
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
  const Vector p = x.u() - x.v();
  const Vector margins = block.G * p + block.y * x.b;
  const Vector g = block.G.transpose() * x.a();
  Residuals r;
  r.rp = (1 - margins.array()).matrix() - x.xi() + x.s();
  r.ru = (1 - g.array()).matrix() - x.zu();
  r.rv = (1 + g.array()).matrix() - x.zv();
  r.rq = block.c - x.a() - x.q();
  r.rb = -block.y.dot(x.a());
  r.mu = x.own.mean_product();
  const double primal = p.lpNorm<1>() + block.c.dot((1 - margins.array()).max(0).matrix());
  const double steepest = g.size() > 0 ? std::max(1.0, g.cwiseAbs().maxCoeff()) : 1.0;
  // What balancing a takes away is at most |rb|; it is 0 up to rounding after a full step.
  const double dual = (x.a().sum() - 2 * std::abs(r.rb)) / steepest;
  const double size = std::max({primal, dual, std::numeric_limits<double>::min()});
  r.gap = (primal - dual) / size;
  r.left = x.own.count() * r.mu / size;
  return r;
}

using Step = HingeIterate;

/// `missing` is what each product of partners is to change by.
Step newton_step(const HingeIterate& x, const Residuals& r, const std::array<Vector, 4>& missing,
                 const NewtonSystem& system) {
  const auto reduced = [&](std::size_t k, const Vector& off) -> Vector {
    return (missing[k] - x.own[k].x.cwiseProduct(off)).cwiseQuotient(x.own[k].z);
  };
  const Vector from_s = missing[2].cwiseQuotient(x.a());
  const Direction d =
      system.solve(r.rp - reduced(3, r.rq) + from_s, reduced(0, r.ru) - reduced(1, r.rv), r.rb);
  Step step;
  step.b = d.db;
  step.own[0].z = r.ru - d.dg;
  step.own[1].z = r.rv + d.dg;
  step.own[2].z = d.da;
  step.own[3].z = r.rq - d.da;
  for (std::size_t k = 0; k < 4; ++k) step.own[k].x = reduced(k, step.own[k].z);
  return step;
}

/// The middle of the box for a; every product of partners equals the same number, large enough that
/// the iterates keep away from bounds while they become feasible.
HingeIterate start(const HingeBlock& block) {
  constexpr double kAmple = 10;
  HingeIterate x;
  x.own[2].z = engine::box_centre(block.c, block.y);
  x.own[3].z = block.c - x.a();
  const Vector g = block.G.transpose() * x.a();
  const double steepest = g.size() > 0 ? g.cwiseAbs().maxCoeff() : 0.0;
  const double mu = kAmple * x.a().mean();
  x.own[0].z = x.own[1].z = Vector::Constant(g.size(), std::max(1.0, steepest / kAmple));
  for (engine::Partners<Vector>& one : x.own) one.x = mu * one.z.cwiseInverse();
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
        form_(block.G.rows() < block.G.cols() + 1 ? Form::kRows : Form::kColumns) {}

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
  [[nodiscard]] double complementarity(const Step& d, const engine::Lengths& t) const {
    return x_.own.mean_product(d.own, t);
  }
  bool factor() {
    // What is left of the gap is rounding.
    if (!std::isfinite(r_.mu) || !std::isfinite(r_.gap) || (worse_ && r_.left < kNothingLeft)) {
      return false;
    }
    system_.emplace(block_, x_, form_);
    return system_->good();
  }
  [[nodiscard]] Step direction(double target, const Step* before) const {
    return newton_step(x_, r_, x_.own.missing(target, before != nullptr ? &before->own : nullptr),
                       *system_);
  }
  [[nodiscard]] engine::Lengths reach(const Step& d, double fraction) const {
    const engine::Lengths longest = x_.own.largest_steps(d.own);
    return {std::min(1.0, fraction * longest.x), std::min(1.0, fraction * longest.z)};
  }
  bool advance(const Step& d, const engine::Lengths& t) {
    if (!(std::max(t.x, t.z) > kShortestStep)) return false;
    x_.own.advance(d.own, t);
    x_.b += t.x * d.b;
    r_ = residuals(block_, x_);
    return true;
  }
  bool restart() {
    if (form_ == Form::kMargin || result_.gap <= kNearlyThere * tolerance_) return false;
    form_ = Form::kMargin;
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
  Form form_;
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
