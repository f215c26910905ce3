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
// grow without bound and would cancel.
//
// Cost per iteration: two passes over the p n^2 numbers of the kernels, p n^2 + n^3 / 3 flops.
#include "kith/optim/mkl/regularised.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "kith/core/error.hpp"
#include "kith/optim/dual/certificate.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/interior.hpp"
#include "optim/mkl/check.hpp"

namespace kith::mkl {
namespace {

using Eigen::ArrayXd;

void validate(const RegularisedProblem& problem) {
  check_machine(problem.kernels, problem.y, problem.cost);
  const auto p = std::ssize(problem.kernels);
  if (problem.penalty.size() != p) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} penalties for {} kernels", problem.penalty.size(), p));
  }
  if (!problem.penalty.allFinite()) {
    throw Error(ErrorCode::kInvalidArgument, "a penalty of a kernel is not finite");
  }
}

struct Iterate {
  engine::BoxPoint box;
  double t = 0;
  double b = 0;
  Vector theta;
  Vector s;
  [[nodiscard]] engine::WeightPairs pairs() const { return {theta, s}; }
};

using Step = Iterate;  // the same variables, as changes

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
  const Vector weight = 2 * engine::box_centre(problem.cost, problem.y);
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
  x.s = values.array() - x.t;
  x.theta = x.s.cwiseInverse();
  x.theta /= x.theta.sum();
  const double mu = x.s.dot(x.theta) / static_cast<double>(values.size());
  x.box = engine::centred_box(problem.cost, step * weight, mu);
  return x;
}

/// The Newton system at one iterate, factored.
class Newton {
 public:
  Newton(const RegularisedProblem& problem, const Iterate& x, const Products& at)
      : problem_(problem), x_(x), box_(x.box, problem.cost) {
    W_ = problem.y.asDiagonal() * at.KU;
    W_.array() -= 1;
    e_ = x.theta.array() / x.s.array();
    r_alpha_ = W_ * x.theta + x.b * problem.y - x.box.z_low + x.box.z_high;
    r_theta_ = x.theta.sum() - 1;
    r_s_ = x.t + x.s.array() - at.values.array();
    wbar_ = W_ * (e_ / e_.sum());
    W_.colwise() -= wbar_;  // from here on W holds the differences from the mean
    factor();
  }

  /// The step towards the complementarity products `target`, less the second-order terms of
  /// `before` where one is given.
  [[nodiscard]] Step solve(double target, const Step* before) const {
    ArrayXd tau_s = ArrayXd::Constant(x_.s.size(), target);
    if (before != nullptr) tau_s -= before->s.array() * before->theta.array();
    const Vector a = tau_s / x_.s.array() - x_.theta.array() + e_.array() * r_s_.array();
    const engine::BoxNewton::Right bounds =
        box_.right_side(target, before != nullptr ? &before->box : nullptr);
    const Vector right = -r_alpha_ - W_ * a + r_theta_ * wbar_ + bounds.low - bounds.high;

    Step d;
    const Vector v = cholesky_.solve(right);
    d.b = (problem_.y.dot(v) + problem_.y.dot(x_.box.alpha)) / problem_.y.dot(Ny_);
    d.box.alpha = v - d.b * Ny_;
    const double t0 = -(r_theta_ + a.sum()) / e_.sum();
    d.t = t0 - wbar_.dot(d.box.alpha);
    const Vector slope = (W_.transpose() * d.box.alpha).array() + t0;  // w_i'da + dt
    d.s = -r_s_ - slope;
    d.theta = a + e_.cwiseProduct(slope);
    box_.complete(bounds, d.box);
    return d;
  }

 private:
  void factor() {
    const Index n = x_.box.alpha.size();
    Matrix K = Matrix::Zero(n, n);
    for (std::size_t i = 0; i < problem_.kernels.size(); ++i) {
      K += x_.theta[static_cast<Index>(i)] * problem_.kernels[i];
    }
    Matrix N = problem_.y.asDiagonal() * K * problem_.y.asDiagonal();
    const Matrix scaled = W_ * e_.cwiseSqrt().asDiagonal();
    N.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
    N.diagonal() += box_.diagonal();
    engine::factor(N, cholesky_);
    Ny_ = cholesky_.solve(problem_.y);
  }

  const RegularisedProblem& problem_;
  const Iterate& x_;
  engine::BoxNewton box_;
  Matrix W_;
  Vector e_;
  Vector wbar_;
  Vector r_alpha_;
  double r_theta_ = 0;
  Vector r_s_;
  Eigen::LLT<Matrix> cholesky_;
  Vector Ny_;
};

void advance(Iterate& x, const Step& d, double length) {
  engine::advance(x.box, d.box, length);
  x.t += length * d.t;
  x.b += length * d.b;
  x.theta += length * d.theta;
  x.s += length * d.s;
}

void keep(RegularisedSolution& best, const Iterate& x, const RegularisedBounds& found) {
  best.alpha = x.box.alpha;
  best.b = x.b;
  best.theta = x.theta / x.theta.sum();
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
  Iterate x;
  x.box.alpha = engine::at_bounds(problem.y, problem.cost, best.alpha);
  x.b = best.b;
  x.theta = (best.theta.array() < kNothing).select(0.0, best.theta);
  const RegularisedBounds found =
      bounds(problem, products(problem, x.box.alpha), x.box.alpha, x.b, x.theta);
  if (relative(found) <= tolerance) keep(best, x, found);
}

}  // namespace

RegularisedBounds regularised_bounds(const RegularisedProblem& problem, const VectorRef& alpha,
                                     double b, const VectorRef& theta) {
  validate(problem);
  return bounds(problem, products(problem, alpha), alpha, b, theta);
}

RegularisedSolution solve_regularised(const RegularisedProblem& problem,
                                      const RegularisedSettings& settings, const RunContext& ctx) {
  validate(problem);
  const auto began = std::chrono::steady_clock::now();
  constexpr long kPatience = 12;  // iterations without a better gap: rounding rules
  RegularisedSolution best;
  best.info.gap = std::numeric_limits<double>::infinity();
  best.info.status = SolveStatus::kIterationLimit;
  Iterate x = start(problem);
  long improved = 0;
  long iteration = 0;
  for (; iteration <= settings.max_iterations; ++iteration) {
    ctx.check_stop();
    const Products at = products(problem, x.box.alpha);
    const RegularisedBounds found = bounds(problem, at, x.box.alpha, x.b, x.theta);
    // A solution has its sizes at least.
    if (iteration == 0 || relative(found) < best.info.gap) {
      keep(best, x, found);
      improved = iteration;
    }
    if (!std::isfinite(found.upper - found.lower)) {
      best.info.status = SolveStatus::kNumericalFailure;
      break;
    }
    if (best.info.gap <= settings.tolerance) {
      best.info.status = SolveStatus::kSolved;
      break;
    }
    if (iteration - improved >= kPatience) {
      best.info.status = SolveStatus::kReducedAccuracy;
      break;
    }
    if (iteration < settings.max_iterations) {
      engine::predict_and_correct(problem.cost, Newton(problem, x, at), x);
    }
  }
  best.info.iterations = std::min(iteration, settings.max_iterations);
  if (best.info.status == SolveStatus::kSolved) settle(problem, best, settings.tolerance);
  best.info.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return best;
}

}  // namespace kith::mkl
