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
#include "kith/optim/regularised_mkl.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "kith/core/error.hpp"
#include "optim/mkl_parts.hpp"

namespace kith {
namespace {

using Eigen::ArrayXd;

void validate(const RegularisedMkl& problem) {
  detail::check_machine(problem.kernels, problem.y, problem.cost);
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
  Vector alpha;
  double t = 0;
  double b = 0;
  Vector theta;
  Vector s;
  Vector z_low;   // of a >= 0
  Vector z_high;  // of a <= cost
};

/// What the kernels say at one a.
struct Products {
  Matrix KU;      // n x p, column i is K_i u
  Vector values;  // S_i(a)
};

Products products(const RegularisedMkl& problem, const VectorRef& alpha) {
  const auto p = static_cast<Index>(problem.kernels.size());
  const Vector u = problem.y.cwiseProduct(alpha);
  Products found{Matrix(alpha.size(), p), Vector(p)};
  for (Index i = 0; i < p; ++i) {
    found.KU.col(i).noalias() = problem.kernels[static_cast<std::size_t>(i)] * u;
    found.values[i] = alpha.sum() - 0.5 * u.dot(found.KU.col(i)) + problem.penalty[i];
  }
  return found;
}

MklBounds bounds(const RegularisedMkl& problem, const Products& at, const VectorRef& alpha,
                 double b, const VectorRef& theta) {
  const Vector weights = theta / theta.sum();
  const Vector f = at.KU * weights;
  const Vector u = problem.y.cwiseProduct(alpha);
  const Vector margins = problem.y.array() * (f.array() + b);
  MklBounds found;
  found.lower = at.values.minCoeff();
  found.upper = detail::best_primal(problem.cost, u.dot(f), margins) + weights.dot(problem.penalty);
  found.values = at.values;
  found.feasibility = detail::infeasibility(problem.y, problem.cost, alpha);
  return found;
}

double relative(const MklBounds& found) { return detail::relative_gap(found.lower, found.upper); }

/// Balanced over the classes, inside the box, and no further out than where the worst S_i along
/// that direction has its maximum; slacks and multipliers on the central path of the rest.
Iterate start(const RegularisedMkl& problem) {
  const Vector weight = detail::balanced_costs(problem.y, problem.cost);
  const Products at = products(problem, weight);
  const ArrayXd curvature =
      2 * (weight.sum() + problem.penalty.array() - at.values.array());  // d'Q_i d
  const double largest = curvature.maxCoeff();
  constexpr double kInside = 0.5;
  const double step = largest > 0 ? std::min(kInside, weight.sum() / largest) : kInside;

  Iterate x;
  x.alpha = step * weight;
  const Vector values = products(problem, x.alpha).values;
  const double scale = std::max(step * weight.sum(), values.maxCoeff() - values.minCoeff());
  x.t = values.minCoeff() - 0.1 * scale;
  x.s = values.array() - x.t;
  x.theta = x.s.cwiseInverse();
  x.theta /= x.theta.sum();
  const double mu = x.s.dot(x.theta) / static_cast<double>(values.size());
  x.z_low = mu * x.alpha.cwiseInverse();
  x.z_high = mu * (problem.cost - x.alpha).cwiseInverse();
  return x;
}

struct Step {
  Vector alpha;
  double t = 0;
  double b = 0;
  Vector theta;
  Vector s;
  Vector z_low;
  Vector z_high;
};

/// The Newton system at one iterate, factored.
class Newton {
 public:
  Newton(const RegularisedMkl& problem, const Iterate& x, const Products& at)
      : problem_(problem), x_(x), room_(problem.cost - x.alpha) {
    W_ = problem.y.asDiagonal() * at.KU;
    W_.array() -= 1;
    e_ = x.theta.array() / x.s.array();
    r_alpha_ = W_ * x.theta + x.b * problem.y - x.z_low + x.z_high;
    r_theta_ = x.theta.sum() - 1;
    r_s_ = x.t + x.s.array() - at.values.array();
    wbar_ = W_ * (e_ / e_.sum());
    W_.colwise() -= wbar_;  // from here on W holds the differences from the mean
    factor();
  }

  [[nodiscard]] double complementarity() const {
    return (x_.s.dot(x_.theta) + x_.z_low.dot(x_.alpha) + x_.z_high.dot(room_)) /
           static_cast<double>(x_.s.size() + 2 * x_.alpha.size());
  }

  /// The step towards the complementarity products `target`, less the second-order terms of
  /// `before` where one is given.
  [[nodiscard]] Step solve(double target, const Step* before) const {
    ArrayXd tau_s = ArrayXd::Constant(x_.s.size(), target);
    ArrayXd tau_low = ArrayXd::Constant(x_.alpha.size(), target);
    ArrayXd tau_high = tau_low;
    if (before != nullptr) {
      tau_s -= before->s.array() * before->theta.array();
      tau_low -= before->alpha.array() * before->z_low.array();
      tau_high += before->alpha.array() * before->z_high.array();
    }
    const Vector a = tau_s / x_.s.array() - x_.theta.array() + e_.array() * r_s_.array();
    const Vector low = tau_low / x_.alpha.array() - x_.z_low.array();
    const Vector high = tau_high / room_.array() - x_.z_high.array();
    const Vector right = -r_alpha_ - W_ * a + r_theta_ * wbar_ + low - high;

    Step d;
    const Vector v = cholesky_.solve(right);
    d.b = (problem_.y.dot(v) + problem_.y.dot(x_.alpha)) / problem_.y.dot(Ny_);
    d.alpha = v - d.b * Ny_;
    const double t0 = -(r_theta_ + a.sum()) / e_.sum();
    d.t = t0 - wbar_.dot(d.alpha);
    const Vector slope = (W_.transpose() * d.alpha).array() + t0;  // w_i'da + dt
    d.s = -r_s_ - slope;
    d.theta = a + e_.cwiseProduct(slope);
    d.z_low = low.array() - x_.z_low.array() / x_.alpha.array() * d.alpha.array();
    d.z_high = high.array() + x_.z_high.array() / room_.array() * d.alpha.array();
    return d;
  }

 private:
  void factor() {
    const Index n = x_.alpha.size();
    Matrix K = Matrix::Zero(n, n);
    for (std::size_t i = 0; i < problem_.kernels.size(); ++i) {
      K += x_.theta[static_cast<Index>(i)] * problem_.kernels[i];
    }
    Matrix N = problem_.y.asDiagonal() * K * problem_.y.asDiagonal();
    const Matrix scaled = W_ * e_.cwiseSqrt().asDiagonal();
    N.selfadjointView<Eigen::Lower>().rankUpdate(scaled);
    N.diagonal().array() += x_.z_low.array() / x_.alpha.array() + x_.z_high.array() / room_.array();
    cholesky_.compute(N);
    // D is positive, so that only rounding can spoil the factor; a little more of it helps.
    for (double ridge = 1e-15; cholesky_.info() != Eigen::Success && ridge < 1; ridge *= 100) {
      N.diagonal() *= 1 + ridge;
      cholesky_.compute(N);
    }
    Ny_ = cholesky_.solve(problem_.y);
  }

  const RegularisedMkl& problem_;
  const Iterate& x_;
  Vector room_;
  Matrix W_;
  Vector e_;
  Vector wbar_;
  Vector r_alpha_;
  double r_theta_ = 0;
  Vector r_s_;
  Eigen::LLT<Matrix> cholesky_;
  Vector Ny_;
};

using detail::reach;

double reach(const RegularisedMkl& problem, const Iterate& x, const Step& d) {
  const Vector room = problem.cost - x.alpha;
  return std::min({reach(x.alpha, d.alpha), reach(room, -d.alpha), reach(x.s, d.s),
                   reach(x.theta, d.theta), reach(x.z_low, d.z_low), reach(x.z_high, d.z_high)});
}

double complementarity_after(const RegularisedMkl& problem, const Iterate& x, const Step& d,
                             double step) {
  const Vector alpha = x.alpha + step * d.alpha;
  const double sum = (x.s + step * d.s).dot(x.theta + step * d.theta) +
                     alpha.dot(x.z_low + step * d.z_low) +
                     (problem.cost - alpha).dot(x.z_high + step * d.z_high);
  return sum / static_cast<double>(x.s.size() + 2 * alpha.size());
}

void advance(Iterate& x, const Step& d, double step) {
  x.alpha += step * d.alpha;
  x.t += step * d.t;
  x.b += step * d.b;
  x.theta += step * d.theta;
  x.s += step * d.s;
  x.z_low += step * d.z_low;
  x.z_high += step * d.z_high;
}

/// Mehrotra's rule for the centring; one length for all variables, since the constraints are not
/// linear.
void predict_and_correct(const RegularisedMkl& problem, const Products& at, Iterate& x) {
  const Newton newton(problem, x, at);
  const double mu = newton.complementarity();
  const Step affine = newton.solve(0, nullptr);
  const double length = reach(problem, x, affine);
  const double ratio = std::clamp(complementarity_after(problem, x, affine, length) / mu, 0.0, 1.0);
  const Step step = newton.solve(ratio * ratio * ratio * mu, &affine);
  constexpr double kFraction = 0.99;  // of the way to the boundary
  advance(x, step, std::min(1.0, kFraction * reach(problem, x, step)));
}

void keep(RegularisedMklSolution& best, const Iterate& x, const MklBounds& found) {
  best.alpha = x.alpha;
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
void settle(const RegularisedMkl& problem, RegularisedMklSolution& best, double tolerance) {
  constexpr double kNothing = 1e-9;
  Iterate x;
  x.alpha = detail::at_bounds(problem.y, problem.cost, best.alpha);
  x.b = best.b;
  x.theta = (best.theta.array() < kNothing).select(0.0, best.theta);
  const MklBounds found = bounds(problem, products(problem, x.alpha), x.alpha, x.b, x.theta);
  if (relative(found) <= tolerance) keep(best, x, found);
}

}  // namespace

MklBounds mkl_bounds(const RegularisedMkl& problem, const VectorRef& alpha, double b,
                     const VectorRef& theta) {
  validate(problem);
  return bounds(problem, products(problem, alpha), alpha, b, theta);
}

RegularisedMklSolution regularised_mkl(const RegularisedMkl& problem,
                                       const RegularisedMklSettings& settings,
                                       const RunContext& ctx) {
  validate(problem);
  const auto began = std::chrono::steady_clock::now();
  constexpr long kPatience = 12;  // iterations without a better gap: rounding rules
  RegularisedMklSolution best;
  best.info.gap = std::numeric_limits<double>::infinity();
  best.info.status = SolveStatus::kIterationLimit;
  Iterate x = start(problem);
  long improved = 0;
  long iteration = 0;
  for (; iteration <= settings.max_iterations; ++iteration) {
    ctx.check_stop();
    const Products at = products(problem, x.alpha);
    const MklBounds found = bounds(problem, at, x.alpha, x.b, x.theta);
    if (!std::isfinite(found.upper - found.lower)) {
      best.info.status = SolveStatus::kNumericalFailure;
      break;
    }
    if (relative(found) < best.info.gap) {
      keep(best, x, found);
      improved = iteration;
    }
    if (best.info.gap <= settings.tolerance) {
      best.info.status = SolveStatus::kSolved;
      break;
    }
    if (iteration - improved >= kPatience) {
      best.info.status = SolveStatus::kReducedAccuracy;
      break;
    }
    if (iteration < settings.max_iterations) predict_and_correct(problem, at, x);
  }
  best.info.iterations = std::min(iteration, settings.max_iterations);
  if (best.info.status == SolveStatus::kSolved) settle(problem, best, settings.tolerance);
  best.info.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return best;
}

}  // namespace kith
