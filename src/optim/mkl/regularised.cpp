// SPDX-License-Identifier: Apache-2.0
// A primal-dual interior point on [CY] (7), in the variables (a, t) with one multiplier theta_i and
// one slack s_i per kernel:
//
//   max t   s.t.  t - S_i(a) + s_i = 0,  s >= 0,   0 <= a <= cost,  y'a = 0.
//
// Notation: Q_i = Y K_i Y, w_i = Q_i a - 1 the gradient of -S_i, W = [w_1 ... w_p], E = diag(theta
// / s), e its diagonal, wbar = W e / sum(e). Eliminating slacks, theta, the box and t leaves n
// equations and the one of y,
//
//   [ sum_i theta_i Q_i + D + sum_i e_i (w_i - wbar)(w_i - wbar)' ] da + y db = r,   y'da = -y'a,
//
// with D from the box. Subtracting the mean wbar, not W e e'W' / sum(e), matters: the active e_i
// grow without bound and would cancel. For the same reason the last steps are refined by the
// residuals of the equations before theta is eliminated: none of their numbers is large.
//
// Cost per iteration: two passes over the p n^2 numbers of the kernels, p n^2 + n^3 / 3 flops.
#include "kith/optim/mkl/regularised.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "kith/optim/dual/certificate.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/interior.hpp"

namespace kith::mkl {
namespace {

using Eigen::ArrayXd;

void validate(const RegularisedProblem& problem) {
  engine::check_machine(problem.kernels, problem.y, problem.cost);
  const auto p = std::ssize(problem.kernels);
  if (problem.penalty.size() != p) {
    engine::refuse(fmt::format("{} penalties for {} kernels", problem.penalty.size(), p));
  }
  if (!problem.penalty.allFinite()) {
    engine::refuse("a penalty of a kernel is not finite");
  }
}

/// Beside the box the slacks s with their multipliers theta. A point, or a step.
template <class Box>
struct Variables : Box {
  double t = 0, b = 0;
  [[nodiscard]] const Vector& s() const { return this->own.x; }
  [[nodiscard]] const Vector& theta() const { return this->own.z; }
};
using Iterate = Variables<engine::BoxAndPartners<Vector>>;
using Step = Variables<engine::BoxAndPartnersStep<Vector>>;

/// What the kernels say at one a.
struct Products {
  Matrix KU;      // n x p, column i is K_i u
  Vector values;  // S_i(a)
};

Products products(const RegularisedProblem& problem, const VectorRef& alpha) {
  const auto p = static_cast<Index>(problem.kernels.size());
  const Vector u = problem.y.cwiseProduct(alpha);
  Products found{Matrix(alpha.size(), p), Vector(p)};
  for (Index i = 0; i < p; ++i) {
    found.KU.col(i).noalias() = problem.kernels[static_cast<std::size_t>(i)] * u;
    found.values[i] = alpha.sum() - 0.5 * u.dot(found.KU.col(i)) + problem.penalty[i];
  }
  return found;
}

RegularisedBounds bounds(const RegularisedProblem& problem, const Products& at,
                         const VectorRef& alpha, double b, const VectorRef& theta) {
  const Vector weights = theta / theta.sum();
  const Vector f = at.KU * weights;
  const Vector u = problem.y.cwiseProduct(alpha);
  const Vector margins = problem.y.array() * (f.array() + b);
  RegularisedBounds found;
  found.lower = at.values.minCoeff();
  found.upper = engine::best_primal(problem.cost, u.dot(f), margins) + weights.dot(problem.penalty);
  found.values = at.values;
  found.feasibility = engine::infeasibility(problem.y, problem.cost, alpha);
  return found;
}

double relative(const RegularisedBounds& found) {
  return dual::relative_gap(found.lower, found.upper);
}

/// Balanced over the classes, inside the box, and no further out than where the worst S_i along
/// that direction has its maximum; slacks and multipliers on the central path of the rest.
Iterate start(const RegularisedProblem& problem) {
  const Vector weight = engine::balanced(problem.y, problem.cost);
  const Products at = products(problem, weight);
  const ArrayXd curvature =
      2 * (weight.sum() + problem.penalty.array() - at.values.array());  // d'Q_i d
  const double largest = curvature.maxCoeff();
  constexpr double kInside = 0.5;
  const double step = largest > 0 ? std::min(kInside, weight.sum() / largest) : kInside;

  Iterate x;
  const Vector values = products(problem, step * weight).values;
  // A penalty can be so large that values of this size are lost in its rounding.
  constexpr double kVisible = 1e-6;
  const double scale = std::max({step * weight.sum(), values.maxCoeff() - values.minCoeff(),
                                 kVisible * values.cwiseAbs().maxCoeff()});
  x.t = values.minCoeff() - 0.1 * scale;
  x.own.x = values.array() - x.t;
  x.own.z = x.s().cwiseInverse();
  x.own.z /= x.theta().sum();
  const double mu = x.s().dot(x.theta()) / static_cast<double>(values.size());
  x.box = engine::BoxPoint(problem.cost, step * weight, mu);
  return x;
}

void keep(RegularisedSolution& best, const Vector& a, double b, const Vector& theta,
          const RegularisedBounds& found) {
  best.alpha = a;
  best.b = b;
  best.theta = theta / theta.sum();
  best.values = found.values;
  best.lower = found.lower;
  best.upper = found.upper;
  best.info.objective = found.lower;
  best.info.gap = relative(found);
}

/// Moves what is next to a bound there, kernels without weight to 0 included, where that proves the
/// tolerance as well.
void settle(const RegularisedProblem& problem, RegularisedSolution& best, double tolerance) {
  constexpr double kNothing = 1e-9;
  const Vector a = engine::at_bounds(problem.y, problem.cost, best.alpha);
  const Vector theta = (best.theta.array() < kNothing).select(0.0, best.theta);
  const RegularisedBounds found = bounds(problem, products(problem, a), a, best.b, theta);
  if (relative(found) <= tolerance) keep(best, a, best.b, theta, found);
}

class Interior : public engine::PointProblem<Iterate, Step> {
 public:
  explicit Interior(const RegularisedProblem& problem)
      : PointProblem(start(problem)), problem_(problem), at_(products(problem, x_.box.a)) {}

  double merit() {
    found_ = bounds(problem_, at_, x_.box.a, x_.b, x_.theta());
    return relative(found_);
  }
  void keep() { mkl::keep(best_, x_.box.a, x_.b, x_.theta(), found_); }
  [[nodiscard]] RegularisedSolution& best() { return best_; }

  /// The products are far below the gap: what is left of it is rounding.
  [[nodiscard]] bool exhausted() const {
    constexpr double kFar = 1e-6;
    return complementarity() * x_.count() < kFar * (found_.upper - found_.lower);
  }

  bool factor() {
    W_ = problem_.y.asDiagonal() * at_.KU;
    W_.array() -= 1;
    e_ = x_.theta().array() / x_.s().array();
    r_alpha_ = W_ * x_.theta() + x_.b * problem_.y;
    r_theta_ = x_.theta().sum() - 1;
    r_s_ = x_.t + x_.s().array() - at_.values.array();
    wbar_ = W_ * (e_ / e_.sum());
    W_.colwise() -= wbar_;  // from here on W holds the differences from the mean
    const Index n = x_.box.a.size();
    Matrix K = Matrix::Zero(n, n);
    for (std::size_t i = 0; i < problem_.kernels.size(); ++i) {
      K += x_.theta()[static_cast<Index>(i)] * problem_.kernels[i];
    }
    Matrix N = problem_.y.asDiagonal() * K * problem_.y.asDiagonal();
    N.diagonal() += engine::BoxEquations(x_.box).diagonal();
    if (refines()) Q_ = N;
    const Matrix scaled = W_ * e_.cwiseSqrt().asDiagonal();
    N.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
    return kkt_.factor(std::move(N), problem_.y, {}, Ridge::kOfEach);
  }

  [[nodiscard]] Step direction(double target, const Step* before) const {
    ArrayXd tau_s = ArrayXd::Constant(x_.s().size(), target);
    if (before != nullptr) tau_s -= before->s().array() * before->theta().array();
    const engine::BoxEquations box(x_.box);
    const auto bounds = box.right_side(target, before != nullptr ? &before->box : nullptr);
    const Equations right{.a = -r_alpha_ + r_theta_ * wbar_ + bounds.pull(),
                          .s = tau_s / x_.theta().array() - x_.s().array() + r_s_.array(),
                          .theta = -r_theta_,
                          .y = -problem_.y.dot(x_.box.a)};
    Unknowns found = solve(right);
    if (before != nullptr && refines()) refine(right, found);
    Step d;
    d.b = found.b;
    d.box.a = std::move(found.a);
    d.t = found.t - wbar_.dot(d.box.a);
    const Vector slope = (W_.transpose() * d.box.a).array() + found.t;  // w_i'da + dt
    d.own.x = -r_s_ - slope;
    d.own.z = std::move(found.theta);
    box.complete(bounds, d.box);
    return d;
  }

  bool advance(const Step& d, double length) {
    x_.advance(d, length);
    x_.t += length * d.t;
    x_.b += length * d.b;
    at_ = products(problem_, x_.box.a);
    return at_.values.allFinite();
  }

 private:
  // With W and t less the mean, where Q has the diagonal of the box,
  //
  //   Q da + W dtheta + y db = right.a,  dtheta / e - W'da - dt = right.s,
  //   sum dtheta = right.theta,          y'da = right.y.
  struct Equations {
    Vector a, s;
    double theta = 0, y = 0;
  };
  struct Unknowns {
    Vector a, theta;
    double t = 0, b = 0;
  };

  [[nodiscard]] Unknowns solve(const Equations& right) const {
    const Vector own = e_.cwiseProduct(right.s);
    engine::BorderedSystem::Answer found = kkt_.solve(right.a - W_ * own, Vector{{right.y}});
    Unknowns x;
    x.a = std::move(found.d);
    x.b = found.m(0);
    x.t = (right.theta - own.sum()) / e_.sum();
    x.theta = own + e_.cwiseProduct(Vector((W_.transpose() * x.a).array() + x.t));
    return x;
  }

  /// Before that the accuracy of a step hardly matters.
  [[nodiscard]] bool refines() const {
    constexpr double kClose = 1e-6;
    return relative(found_) <= kClose;
  }

  void refine(const Equations& right, Unknowns& x) const {
    const Vector slope = (W_.transpose() * x.a).array() + x.t;
    const Unknowns more = solve({.a = right.a - Q_ * x.a - W_ * x.theta - x.b * problem_.y,
                                 .s = right.s - x.theta.cwiseQuotient(e_) + slope,
                                 .theta = right.theta - x.theta.sum(),
                                 .y = right.y - problem_.y.dot(x.a)});
    x.a += more.a;
    x.theta += more.theta;
    x.t += more.t;
    x.b += more.b;
  }

  const RegularisedProblem& problem_;
  Products at_;
  RegularisedBounds found_;
  RegularisedSolution best_;
  // Of the Newton system, in the notation above.
  Matrix Q_, W_;
  engine::BorderedSystem kkt_;
  Vector e_, wbar_, r_alpha_, r_s_;
  double r_theta_ = 0;
};

}  // namespace

RegularisedBounds regularised_bounds(const RegularisedProblem& problem, const VectorRef& alpha,
                                     double b, const VectorRef& theta) {
  validate(problem);
  return bounds(problem, products(problem, alpha), alpha, b, theta);
}

RegularisedSolution solve_regularised(const RegularisedProblem& problem,
                                      const RegularisedSettings& settings, const RunContext& ctx) {
  validate(problem);
  constexpr double kStepFraction = 0.99;
  Interior interior(problem);
  const engine::BestSoFar end = engine::run_interior(
      interior,
      {.tolerance = settings.tolerance, .iterations = settings.max_iterations, .patience = 12},
      kStepFraction, ctx);
  RegularisedSolution best = std::move(interior.best());
  if (end.status() == SolveStatus::kSolved) settle(problem, best, settings.tolerance);
  end.report(best.info);
  return best;
}

}  // namespace kith::mkl
