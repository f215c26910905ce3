// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/mkl/radius.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kith/core/error.hpp"
#include "kith/core/rng.hpp"
#include "optim/engine/simplex.hpp"

namespace kith::radius_mkl_test {
namespace {

Matrix gram(const Matrix& X, double gamma) {
  Matrix K(X.rows(), X.rows());
  for (Index i = 0; i < X.rows(); ++i) {
    for (Index j = 0; j < X.rows(); ++j) {
      K(i, j) = std::exp(-gamma * (X.row(i) - X.row(j)).squaredNorm());
    }
  }
  return K;
}

/// Two clouds under four kernels, the last of which knows nothing of the classes.
mkl::RadiusProblem radius_problem(Index n, double cost, std::uint64_t seed) {
  Rng rng(seed);
  Matrix X(n, 3);
  mkl::RadiusProblem problem{.kernels = {}, .y = Vector(n), .cost = Vector::Constant(n, cost)};
  for (Index i = 0; i < n; ++i) {
    problem.y(i) = i % 2 == 0 ? 1 : -1;
    for (Index j = 0; j < 3; ++j) X(i, j) = rng.normal() + (j == 0 ? problem.y(i) : 0);
  }
  problem.kernels = {gram(X, 0.1), gram(X, 1), X * X.transpose() + Matrix::Ones(n, n),
                     gram(X.rightCols(1), 1)};
  return problem;
}

TEST(EnclosingBall, HoldsEverySampleAndTouchesThoseWithWeight) {
  Rng rng(1);
  Matrix X(30, 4);
  for (double& x : X.reshaped()) x = rng.normal();
  const mkl::EnclosingBall ball = mkl::enclosing_ball(X * X.transpose());
  EXPECT_NEAR(ball.beta.sum(), 1, 1e-9);
  EXPECT_GE(ball.beta.minCoeff(), 0);
  const Vector centre = X.transpose() * ball.beta;
  for (Index i = 0; i < 30; ++i) {
    const double squared = (X.row(i).transpose() - centre).squaredNorm();
    EXPECT_LE(squared, ball.squared * (1 + 1e-6));
    if (ball.beta(i) <= 1e-6) continue;
    EXPECT_NEAR(squared, ball.squared, 1e-5 * ball.squared);
  }
}

TEST(EnclosingBall, OfTwoSamplesIsHalfTheirDistance) {
  Matrix K(2, 2);
  K << 1, -1, -1, 4;  // at distance sqrt(7)
  EXPECT_NEAR(mkl::enclosing_ball(K).squared, 7.0 / 4, 1e-8);
}

TEST(ProjectToSimplex, IsTheNearestPoint) {
  EXPECT_TRUE(engine::project_to_simplex(Vector{{0.2, 0.8}}).k.isApprox(Vector{{0.2, 0.8}}));
  EXPECT_TRUE(engine::project_to_simplex(Vector{{2.0, 0.0}}).k.isApprox(Vector{{1.0, 0.0}}));
  EXPECT_TRUE(
      engine::project_to_simplex(Vector{{0.5, 0.5, 0.3}}).k.isApprox(Vector{{0.4, 0.4, 0.2}}));
}

TEST(RadiusMkl, HasTheGradientOfItsValue) {
  const mkl::RadiusProblem problem = radius_problem(24, 2, 2);
  const Vector theta{{0.4, 0.1, 0.3, 0.2}};
  RunContext ctx;
  const mkl::RadiusPoint point = mkl::radius_point(problem, theta, 1e-11, ctx);
  EXPECT_NEAR(point.gradient.dot(theta), 0, 1e-9);
  constexpr double kH = 1e-4;
  for (Index m = 0; m < 4; ++m) {
    Vector plus = theta;
    Vector minus = theta;
    plus(m) += kH;
    minus(m) -= kH;
    const double slope = (mkl::radius_point(problem, plus, 1e-11, ctx).value -
                          mkl::radius_point(problem, minus, 1e-11, ctx).value) /
                         (2 * kH);
    EXPECT_NEAR(point.gradient(m), slope, 1e-3 * point.gradient.cwiseAbs().maxCoeff());
  }
}

TEST(RadiusMkl, DoesNotChangeWithTheScaleOfAllKernels) {
  mkl::RadiusProblem problem = radius_problem(24, 2, 3);
  const mkl::RadiusSolution one = mkl::solve_radius(problem, {});
  for (Matrix& K : problem.kernels) K *= 7;
  const mkl::RadiusSolution two = mkl::solve_radius(problem, {});
  EXPECT_NEAR(one.info.objective, two.info.objective, 1e-4 * one.info.objective);
}

TEST(RadiusMkl, NeverRisesAndIsNoWorseThanAnyKernelNearIt) {
  for (const double cost : {0.1, 1.0, 10.0}) {
    const mkl::RadiusProblem problem = radius_problem(30, cost, 4);
    const mkl::RadiusSolution found = mkl::solve_radius(problem, {});
    EXPECT_TRUE(ended_as_asked(found.info.status));
    EXPECT_EQ(found.info.status == SolveStatus::kSolved, found.info.gap <= 1e-6);
    EXPECT_NEAR(found.theta.sum(), 1, 1e-9);
    EXPECT_GE(found.theta.minCoeff(), 0);
    for (std::size_t t = 1; t < found.objectives.size(); ++t) {
      EXPECT_LE(found.objectives[t], found.objectives[t - 1]);
    }
    RunContext ctx;
    for (Index m = 0; m < 4; ++m) {
      const Vector aside = 0.95 * found.theta + 0.05 * Vector::Unit(4, m);
      EXPECT_GE(mkl::radius_point(problem, aside, 1e-9, ctx).value,
                found.info.objective * (1 - 1e-3));
    }
    EXPECT_LT(found.info.kkt_residual, 0.05);
  }
}

/// The definition of RadiusPoint::bound, for any machine and any ball: a parabola in s.
double lower_bound(const mkl::RadiusProblem& problem, const Vector& alpha, const Vector& beta) {
  const Vector u = problem.y.cwiseProduct(alpha);
  double worst = 0;
  for (const Matrix& K : problem.kernels) {
    worst = std::max(worst, u.dot(K * u) / (beta.dot(K.diagonal()) - beta.dot(K * beta)));
  }
  const double sum = alpha.sum();
  return sum <= worst ? sum * sum / (2 * worst) : sum - worst / 2;
}

TEST(RadiusMkl, IsSolvedWhereItsBoundProvesIt) {
  mkl::RadiusProblem problem = radius_problem(24, 1, 5);
  for (Matrix& K : problem.kernels) K = problem.kernels.front();  // weights do not matter
  const mkl::RadiusSolution found = mkl::solve_radius(problem, {});
  EXPECT_LE(found.info.gap, 1e-6);
  EXPECT_EQ(found.info.status, SolveStatus::kSolved);
}

TEST(RadiusMkl, ClosesTheGapToABoundThatNoWeightsPass) {
  for (const double cost : {0.1, 1.0, 10.0}) {
    const mkl::RadiusProblem problem = radius_problem(30, cost, 6);
    const mkl::RadiusSolution found = mkl::solve_radius(problem, {.tolerance = 1e-9});
    EXPECT_GE(found.info.gap, -1e-8);
    EXPECT_LT(found.info.gap, 5e-3);
    const double bound = lower_bound(problem, found.point.alpha, found.point.ball.beta);
    RunContext ctx;
    Rng rng(7);
    for (int trial = 0; trial < 20; ++trial) {
      Vector theta(4);
      for (double& weight : theta) weight = rng.uniform() * rng.uniform();
      const mkl::RadiusPoint other = mkl::radius_point(problem, theta / theta.sum(), 1e-9, ctx);
      EXPECT_GE(other.value, bound * (1 - 1e-8));
      // A bound from anywhere is one, and the worse the farther away it is taken.
      EXPECT_LE(lower_bound(problem, other.alpha, other.ball.beta),
                found.info.objective * (1 + 1e-8));
    }
  }
}

TEST(RadiusMkl, KeepsTheBestBoundOfItsPoints) {
  RunContext ctx;
  for (const double cost : {0.1, 1.0, 10.0}) {
    const mkl::RadiusProblem problem = radius_problem(30, cost, 8);
    double last = 0;  // of the looser tolerance
    for (const double tolerance : {1e-3, 1e-5, 1e-7}) {
      const mkl::RadiusSolution found = mkl::solve_radius(problem, {.tolerance = tolerance});
      EXPECT_GE(found.bound,
                (1 - 1e-9) * lower_bound(problem, found.point.alpha, found.point.ball.beta));
      const Vector equal = Vector::Constant(4, 0.25);
      EXPECT_GE(found.bound, mkl::radius_point(problem, equal, tolerance, ctx).bound);
      EXPECT_LE(found.bound, found.info.objective * (1 + tolerance));
      // Its points are those of the looser one and more, with machines that are nearer.
      EXPECT_GE(found.bound, last - 2 * tolerance * found.info.objective) << cost;
      last = found.bound;
    }
  }
}

TEST(RadiusMkl, BoundsByTheBestMultipleOfAMachine) {
  const mkl::RadiusProblem problem = radius_problem(24, 1, 9);
  RunContext ctx;
  const mkl::RadiusPoint point = mkl::radius_point(problem, Vector::Constant(4, 0.25), 1e-9, ctx);
  const double bound = lower_bound(problem, point.alpha, point.ball.beta);
  for (const double s : {0.25, 0.5, 0.9}) {
    EXPECT_LE(lower_bound(problem, s * point.alpha, point.ball.beta), bound * (1 + 1e-12));
  }
  EXPECT_NEAR(point.bound, bound, 1e-9 * bound);
}

TEST(RadiusMkl, RefusesKernelsOfOtherSizes) {
  mkl::RadiusProblem problem = radius_problem(10, 1, 5);
  problem.kernels[1] = Matrix::Identity(9, 9);
  EXPECT_THROW((void)mkl::solve_radius(problem, {}), Error);
}

}  // namespace
}  // namespace kith::radius_mkl_test
