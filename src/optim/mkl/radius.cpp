// SPDX-License-Identifier: Apache-2.0
// By the envelope theorem, with q_m = a'Y K_m Y a and r_m = beta'diag(K_m) - beta'K_m beta at the
// maximising a and beta (q, R^2 their sums weighted by theta),
//
//   dG/dtheta_m = (q r_m / R^2 - q_m) / (2 R^2).
//
// Each trial of a step is one machine and one ball, both started from those of the last point.
#include "kith/optim/mkl/radius.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "kith/optim/dual/certificate.hpp"
#include "kith/optim/dual/smo.hpp"
#include "kith/optim/linear/simplex_qp.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/line_search.hpp"
#include "optim/engine/progress.hpp"
#include "optim/engine/simplex.hpp"

namespace kith::mkl {
namespace {

constexpr double kBallRidge =
    1e-10;  // of the mean of the diagonal: makes the ball's program definite
constexpr int kMostTrials = 30;

Matrix weighted_sum(const RadiusProblem& problem, const VectorRef& theta) {
  Matrix K = Matrix::Zero(problem.y.size(), problem.y.size());
  for (std::size_t m = 0; m < problem.kernels.size(); ++m) {
    const double weight = theta(static_cast<Index>(m));
    if (weight != 0) K += weight * problem.kernels[m];
  }
  return K;
}

double residual_of(const Vector& theta, const RadiusPoint& point) {
  double worst = 0;
  for (Index m = 0; m < theta.size(); ++m) {
    worst = std::max({worst, -point.gradient(m), theta(m) * std::abs(point.gradient(m))});
  }
  return point.value > 0 ? worst / point.value : worst;
}

/// What each kernel says of a machine and a ball.
struct KernelTerms {
  Vector q;  // a'Y K_m Y a
  Vector r;  // beta'diag(K_m) - beta'K_m beta
};

KernelTerms terms_of(const RadiusProblem& problem, const VectorRef& alpha, const VectorRef& beta) {
  const Vector u = problem.y.cwiseProduct(alpha);
  const auto count = static_cast<Index>(problem.kernels.size());
  KernelTerms terms{.q = Vector(count), .r = Vector(count)};
  for (Index m = 0; m < count; ++m) {
    const Matrix& K = problem.kernels[static_cast<std::size_t>(m)];
    terms.q(m) = u.dot(K * u);
    terms.r(m) = beta.dot(K.diagonal()) - beta.dot(K * beta);
  }
  return terms;
}

double lower_bound(const VectorRef& alpha, const KernelTerms& terms) {
  // For theta with R^2 <= 1: G >= 1'a - 1/2 sum theta_m q_m, and sum theta_m r_m <= R^2 <= 1.
  double worst = 0;
  for (Index m = 0; m < terms.q.size(); ++m) {
    const double q = terms.q(m);
    const double r = terms.r(m);
    if (q > 0) worst = std::max(worst, r > 0 ? q / r : std::numeric_limits<double>::infinity());
  }
  // s a is as good an a for 0 <= s <= 1, and s 1'a - s^2 worst / 2 is largest at 1'a / worst.
  const double s = worst > 0 ? std::min(1.0, alpha.sum() / worst) : 1;
  return s > 0 ? std::max(0.0, s * alpha.sum() - 0.5 * s * s * worst) : 0;
}

}  // namespace

EnclosingBall enclosing_ball(const MatrixRef& K, const Vector& near) {
  const Index n = K.rows();
  EnclosingBall ball{.beta = Vector::Constant(n, n > 0 ? 1.0 / static_cast<double>(n) : 0)};
  const Vector diagonal = K.diagonal();
  const double size = n > 0 ? diagonal.mean() : 0;
  if (size > 0) {
    Matrix H = 2 * K;
    H.diagonal().array() += kBallRidge * size;
    ball.beta = linear::convex_simplex_qp(H, diagonal, near).w;
  }
  ball.squared = std::max(0.0, ball.beta.dot(diagonal) - ball.beta.dot(K * ball.beta));
  return ball;
}

RadiusPoint radius_point(const RadiusProblem& problem, const VectorRef& theta, double tolerance,
                         const RunContext& ctx, const RadiusPoint* near) {
  Matrix K = weighted_sum(problem, theta);
  RadiusPoint point;
  point.ball = enclosing_ball(K, near != nullptr ? near->ball.beta : Vector());
  const double R2 = point.ball.squared;
  if (R2 > 0) K /= R2;
  const dual::SvmDual dual{
      .K = dual::SymmetricView::dense(K), .y = problem.y, .cost = problem.cost, .linear = {}};
  dual::SmoSolution machine =
      dual::smo(dual, {.tolerance = tolerance, .gap_tolerance = tolerance}, ctx,
                near != nullptr ? std::optional(near->alpha) : std::nullopt);
  point.value = machine.info.objective;
  point.gap = machine.info.gap;
  point.alpha = std::move(machine.alpha);
  point.b = machine.b;
  const KernelTerms terms = terms_of(problem, point.alpha, point.ball.beta);
  point.bound = lower_bound(point.alpha, terms);
  point.gradient = Vector::Zero(theta.size());
  if (!(R2 > 0)) return point;
  point.gradient = (theta.dot(terms.q) / theta.dot(terms.r) * terms.r - terms.q) / (2 * R2);
  return point;
}

RadiusSolution solve_radius(const RadiusProblem& problem, const RadiusSettings& settings,
                            const RunContext& ctx) {
  engine::check_machine(problem.kernels, problem.y, problem.cost);
  const auto count = static_cast<Index>(problem.kernels.size());
  RadiusSolution found;
  found.theta = Vector::Constant(count, 1.0 / static_cast<double>(count));
  found.point = radius_point(problem, found.theta, settings.tolerance, ctx);
  found.objectives.push_back(found.point.value);
  found.bound = found.point.bound;
  engine::BestSoFar progress({.iterations = settings.max_iterations}, ctx);
  double step = 0;  // of the last iteration
  while (progress.goes_on()) {
    const Vector g = found.point.gradient;
    const double steepest = g.cwiseAbs().maxCoeff();
    const double enough = settings.tolerance * std::abs(found.point.value);
    double decrease = 0;
    const auto accept = [&](double length) {
      Vector theta = engine::project_to_simplex(found.theta - length * g).k;
      const double promised = g.dot(found.theta - theta);
      if (!(promised > 0)) return false;
      RadiusPoint trial = radius_point(problem, theta, settings.tolerance, ctx, &found.point);
      found.bound = std::max(found.bound, trial.bound);
      if (!engine::passes_armijo(found.point.value, trial.value, promised)) return false;
      decrease = found.point.value - trial.value;
      found.theta = std::move(theta);
      found.point = std::move(trial);
      return true;
    };
    const double first = step > 0 ? 2 * step : 1 / steepest;
    step = steepest > enough ? engine::backtrack(first, kMostTrials, accept) : 0;
    if (step > 0) {
      found.objectives.push_back(found.point.value);
      progress.stepped();
    }
    if (decrease <= settings.tolerance * std::abs(found.point.value)) {
      progress.end(SolveStatus::kStopped);
    }
  }
  progress.report(found.info);
  found.info.objective = found.point.value;
  found.info.kkt_residual = residual_of(found.theta, found.point);
  const double most = found.point.value / (1 - std::min(1.0, found.point.gap));
  const double gap = dual::relative_gap(found.bound, most);
  const bool proved = std::abs(gap) <= settings.tolerance;
  found.info.gap = proved ? std::max(0.0, gap) : gap;
  found.info.status = measured_status(found.info.status, proved);
  return found;
}

}  // namespace kith::mkl
