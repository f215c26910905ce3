// SPDX-License-Identifier: Apache-2.0
// A loss of one's own, known by its value and gradient: with X_i = K_(i) - S_i, K_(i) the kernel
// that S_i is compared with (in kSpectral mu_i and lambda_i in their place), accelerated proximal
// gradient steps on
//
//   min Omega(K) + rho sum_i L(X_i).
//
// From the points Y_i, with Z_i = rho L'(Y_i - S_i) and a curvature c, one step is
//
//   K     minimises Omega(K) + sum_i <Z_i, K_(i)> + c |K_(i) - Y_i|^2      (optim/trace/weighted)
//   Y_i   = K_(i) + momentum (K_(i) - K_(i) of the step before),
//
// c the least tried for which the quadratic lies above the loss at K, so that the objective falls
// as if c were known; momentum begins anew where it points uphill. For a loss without a bounded
// curvature, one with kinks, c grows without end and the steps shrink: such a loss is for
// mirror_descent.
//
// The proof is that of the header: the subgradient at K - S, with the a and gamma of the step. A
// value that lies below the tangent of another point is refused: the loss is not convex, or the
// gradient not its own.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "optim/engine/box.hpp"
#include "optim/engine/progress.hpp"
#include "optim/trace/point.hpp"
#include "optim/trace/weighted.hpp"

namespace kith::trace {
namespace {

/// The loss of points and its gradient there, both times rho.
struct Tangent {
  double value = 0;
  std::vector<Matrix> Z;
};

double product(std::span<const Matrix> A, std::span<const Matrix> B) {
  double sum = 0;
  for (std::size_t i = 0; i < A.size(); ++i) sum += A[i].cwiseProduct(B[i]).sum();
  return sum;
}

std::vector<Matrix> difference(std::span<const Matrix> A, std::span<const Matrix> B) {
  std::vector<Matrix> found;
  for (std::size_t i = 0; i < A.size(); ++i) found.emplace_back(A[i] - B[i]);
  return found;
}

class Losses {
 public:
  Losses(const Problem& problem, std::vector<Matrix> S)
      : problem_(problem), loss_(loss_of(problem)), S_(std::move(S)) {}

  [[nodiscard]] const std::vector<Matrix>& S() const { return S_; }
  [[nodiscard]] double value(std::span<const Matrix> points) const {
    double sum = 0;
    for (std::size_t i = 0; i < S_.size(); ++i) sum += loss_.value(points[i] - S_[i]);
    return problem_.rho * sum;
  }
  [[nodiscard]] Tangent tangent(std::span<const Matrix> points) const {
    Tangent found{.value = value(points), .Z = {}};
    for (std::size_t i = 0; i < S_.size(); ++i) {
      found.Z.push_back(checked_subgradient(problem_, loss_, points[i] - S_[i]));
    }
    return found;
  }
  /// Of the quadratic between two points, at least.
  [[nodiscard]] double curvature(std::span<const Matrix> at, const Tangent& tangent) const {
    constexpr double kStep = 1e-3;
    std::vector<Matrix> ahead;
    double length = 0;
    double turned = 0;
    for (std::size_t i = 0; i < S_.size(); ++i) {
      const Matrix apart = S_[i] - at[i];
      const Matrix step = kStep * (apart.norm() > kStep * S_[i].norm() ? apart : Matrix(at[i]));
      ahead.emplace_back(at[i] + step);
      length += step.squaredNorm();
    }
    const Tangent there = this->tangent(ahead);
    for (const Matrix& D : difference(there.Z, tangent.Z)) turned += D.squaredNorm();
    const double found = 0.5 * std::sqrt(turned / length);
    double size = 0;
    for (const Matrix& Z : tangent.Z) size += Z.squaredNorm();
    const double least = 1e-6 * std::sqrt(size / length) * kStep;
    return std::isfinite(found) && found > least ? found : std::max(least, 1e-12);
  }

 private:
  const Problem& problem_;
  ConvexLoss loss_;
  std::vector<Matrix> S_;
};

/// What one step arrives at.
struct Arrival {
  DualSolution at;
  std::vector<SymmetricEigen> kernels;
  std::vector<Matrix> points;
  double loss = std::numeric_limits<double>::infinity();
};

Arrival step_from(const Problem& problem, const Losses& losses, const std::vector<Matrix>& Y,
                  const Tangent& tangent, double c, double tolerance, const DualSolution* near,
                  const RunContext& ctx) {
  std::vector<Matrix> targets;
  for (std::size_t i = 0; i < Y.size(); ++i) {
    targets.emplace_back(Y[i] - tangent.Z[i] / (2 * c));
  }
  WeightedProblem weighted(problem, targets);
  Arrival arrival;
  arrival.at = weighted.solve(Vector::Constant(std::ssize(Y), c), tolerance, ctx, near);
  arrival.kernels = weighted.kernels(arrival.at);
  arrival.points = compared_with(problem, arrival.kernels, matrices_of(arrival.kernels));
  arrival.loss = losses.value(arrival.points);
  return arrival;
}

/// Throws where the loss is below what a tangent predicts.
void check_convex(double loss, double predicted, double rounding) {
  if (!std::isfinite(loss)) engine::refuse("the loss has a value that is not finite");
  if (loss >= predicted - rounding) return;
  engine::refuse(
      "the loss is below one of its tangents: it is not convex, or the gradient is not that of the "
      "value");
}

/// Looks both ways along two directions: a gradient that is not that of the value has the loss
/// below its tangent on one side.
void check_gradient(const Losses& losses, const std::vector<Matrix>& at) {
  constexpr double kStep = 1e-2;
  constexpr double kRounding = 1e-9;
  const Tangent tangent = losses.tangent(at);
  const std::vector<Matrix> apart = difference(at, losses.S());
  constexpr double kNothing = 1e-9;  // of the matrices: kernels that are they but for rounding
  const double size = product(losses.S(), losses.S());
  for (const std::vector<Matrix>& direction : {apart, losses.S()}) {
    if (!(product(direction, direction) > kNothing * kNothing * size)) continue;
    const double slope = product(tangent.Z, direction);
    for (const double step : {kStep, -kStep}) {
      std::vector<Matrix> points;
      for (std::size_t i = 0; i < at.size(); ++i) points.emplace_back(at[i] + step * direction[i]);
      const double rounding = kRounding * (std::abs(tangent.value) + std::abs(step * slope));
      check_convex(losses.value(points), tangent.value + step * slope, rounding);
    }
  }
}

}  // namespace

Solution proximal_steps(const Problem& given, double tolerance, long max_iterations,
                        const RunContext& ctx) {
  constexpr double kReserve = 0.9;
  constexpr double kInner = 0.02;  // of the tolerance, for the step in K
  constexpr double kEase = 0.7;    // of the curvature from one step to the next
  constexpr int kMostTrials = 60;
  constexpr long kPatience = 100;
  Problem problem = given;
  std::vector<SymmetricEigen> eigen;  // of spectra, once for all steps
  if (problem.shape == KernelShape::kSpectral && problem.eigen.empty()) {
    eigen = decompose(problem);
    problem.eigen = eigen;
  }
  const Losses losses(problem, originals(problem));
  std::vector<SymmetricEigen> kernels = nearest_kernels(problem);
  std::vector<Matrix> now = compared_with(problem, kernels, matrices_of(kernels));
  std::vector<Matrix> Y = now;
  check_gradient(losses, now);
  double c = losses.curvature(Y, losses.tangent(Y));
  double momentum = 1;
  DualSolution at;
  Best best;
  engine::BestSoFar progress(
      {.tolerance = kReserve * tolerance, .iterations = max_iterations, .patience = kPatience},
      ctx);
  while (progress.goes_on()) {
    const Tangent tangent = losses.tangent(Y);
    Arrival next;
    for (int trial = 0; trial < kMostTrials; ++trial) {
      next = step_from(problem, losses, Y, tangent, c, kInner * tolerance,
                       progress.iterations() > 0 || trial > 0 ? &at : nullptr, ctx);
      const std::vector<Matrix> moved = difference(next.points, Y);
      const double linear = tangent.value + product(tangent.Z, moved);
      const double scale = std::abs(tangent.value) + std::abs(next.at.machine);
      check_convex(next.loss, linear, 1e-7 * scale);
      at = next.at;
      if (next.loss <= linear + c * product(moved, moved) + 1e-10 * scale) break;
      c *= 2;
    }
    progress.stepped();
    best.keep_solution(next.at.machine + next.at.difference + next.loss,
                       start_solution(next.at, next.kernels));
    Proof proof{next.at.alpha, next.at.gamma, difference(next.points, losses.S())};
    const double bound = lower_bound(problem, problem.eigen, proof);
    best.keep_proof(bound, std::move(proof));
    (void)progress.offer(best.gap());
    const std::vector<Matrix> forward = difference(next.points, now);
    if (product(difference(Y, next.points), forward) > 0) momentum = 1;  // uphill
    const double later = 0.5 * (1 + std::sqrt(1 + 4 * momentum * momentum));
    for (std::size_t i = 0; i < Y.size(); ++i) {
      Y[i] = next.points[i] + ((momentum - 1) / later) * forward[i];
    }
    momentum = later;
    now = std::move(next.points);
    c *= kEase;
  }
  (void)finish_machine(problem, best.solution, ctx);
  progress.report(best.solution.info);
  return best.solution;
}

}  // namespace kith::trace
