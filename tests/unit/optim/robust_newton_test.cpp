// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/robust/newton.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "dual_problems.hpp"
#include "kith/core/error.hpp"
#include "kith/numerics/psd.hpp"
#include "optim/robust/active.hpp"
#include "optim/robust/dual.hpp"

namespace kith::robust_newton_test {
namespace {

using testing_support::gaussian_kernel;
using testing_support::random_labels;
using testing_support::random_symmetric;

struct Data {
  Matrix S;
  Vector y;
  [[nodiscard]] robust::Problem problem(double cost, double rho) const {
    return {.S = S, .y = y, .cost = Vector::Constant(y.size(), cost), .rho = rho};
  }
};

/// A Gaussian kernel with symmetric noise: [CY] 6.1.
Data noisy(Index n, std::uint64_t seed, double noise = 0.1) {
  Rng rng(seed);
  Data data;
  data.y = random_labels(rng, n);
  data.S = gaussian_kernel(rng, data.y) + noise * random_symmetric(rng, n);
  return data;
}

Matrix kernel_of(const robust::Solution& solution) {
  return reconstruct(solution.kernel.U, solution.kernel.lambda);
}

double machine_value(const Matrix& K, const robust::Problem& problem, const Vector& alpha) {
  const Vector u = problem.y.cwiseProduct(alpha);
  return alpha.sum() - 0.5 * u.dot(K * u);
}

/// max over a of 1'a - 1/2 a'YKYa, from an SVM.
double best_value(const Matrix& K, const robust::Problem& problem) {
  const dual::SvmDual dual{dual::SymmetricView::dense(K), problem.y, problem.cost, {}};
  const dual::SmoSolution best = dual::smo(dual, {.tolerance = 1e-9, .gap_tolerance = 1e-10});
  return certify(dual, best.alpha, best.b).primal;
}

/// A sigmoid of inner products with symmetric noise.
Data sigmoid(Index n, std::uint64_t seed) {
  Rng rng(seed);
  Data data;
  data.y = random_labels(rng, n);
  Matrix X = Matrix::NullaryExpr(n, 6, [&](Index, Index) { return rng.normal(); });
  X.colwise() += 0.6 * data.y;
  data.S = (X * X.transpose() / 6).array().tanh().matrix() + 0.15 * random_symmetric(rng, n);
  return data;
}

TEST(RobustNewton, MeetsItsGapOverTheWholeGridWithinFortyFiveIterations) {
  for (const Data& data : {noisy(20, 7), noisy(60, 7), sigmoid(60, 8)}) {
    for (double cost = 1e-3; cost < 2e3; cost *= 10) {
      for (double rho = 1e-3; rho < 2e3; rho *= 10) {
        const robust::Problem problem = data.problem(cost, rho);
        const robust::Solution found = robust::newton(problem);
        EXPECT_EQ(found.info.status, SolveStatus::kSolved) << "C " << cost << " rho " << rho;
        EXPECT_LE(found.info.iterations, cost == 1 ? 25 : 45);
        const robust::Certificate proof = certify(problem, found.alpha);
        EXPECT_LE(proof.gap, 2e-8) << "C " << cost << " rho " << rho;
        EXPECT_LE(proof.feasibility, 1e-12);
      }
    }
  }
}

TEST(RobustNewton, NeedsNoMoreIterationsOnSimilaritiesFarAboveOne) {
  Rng rng(5);
  Data data;
  data.y = random_labels(rng, 60);
  data.S = random_symmetric(rng, 60);
  data.S *= 3000 / symmetric_eigen(data.S).lambda.maxCoeff();
  for (const double cost : {1.0, 10.0, 100.0, 1000.0}) {
    for (const double rho : {1e-3, 0.1, 1.0, 10.0, 100.0, 1000.0}) {
      const robust::Problem problem = data.problem(cost, rho);
      const robust::Solution solution = robust::newton(problem);
      EXPECT_EQ(solution.info.status, SolveStatus::kSolved) << cost << " " << rho;
      EXPECT_LE(solution.info.iterations, cost == 1 ? 25 : 45) << cost << " " << rho;
      EXPECT_LE(certify(problem, solution.alpha).gap, 1e-8) << cost << " " << rho;
    }
  }
}

TEST(RobustCertificate, KeepsItsDigitsWhereAKernelOfLargeEntriesHasLargeCosts) {
  // Manhattan distances, double-centred: K u is a sum of numbers of 1e7, and its margins of
  // 1.
  constexpr Index n = 60;
  Rng rng(8);
  Data data;
  data.y = random_labels(rng, n);
  Matrix X = 15 * testing_support::normal_matrix(rng, n, 6);
  X.col(0) += 8 * data.y;
  Matrix squares(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      squares(i, j) = std::pow((X.row(i) - X.row(j)).lpNorm<1>(), 2);
    }
  }
  const Matrix centre = Matrix::Identity(n, n) - Matrix::Constant(n, n, 1.0 / n);
  data.S = -0.5 * centre * squares * centre;
  data.S = 0.5 * (data.S + data.S.transpose()).eval();
  for (const double cost : {10.0, 100.0, 1000.0}) {
    for (const double rho : {0.1, 1.0, 10.0, 100.0}) {
      const robust::Problem problem = data.problem(cost, rho);
      const robust::Solution solution = robust::newton(problem);
      // A cost of 1e8 in units of the inverse of S leaves fewer digits, or not, with the rounding.
      const double allowed = cost < 1000 ? 1e-8 : 1e-6;
      EXPECT_LE(std::abs(certify(problem, solution.alpha).gap), allowed) << cost << " " << rho;
    }
  }
}

TEST(RobustNewton, ReturnsTheKernelAndObjectiveOfItsAlpha) {
  const Data data = noisy(30, 8, 0.5);
  const robust::Problem problem = data.problem(2, 0.3);
  const robust::Solution found = robust::newton(problem);
  const Vector u = problem.y.cwiseProduct(found.alpha);
  const Matrix K = positive_part(data.S + u * u.transpose() / (4 * 0.3));
  EXPECT_LT((kernel_of(found) - K).norm(), 1e-12 * K.norm());
  EXPECT_NEAR(found.distance, (K - data.S).norm(), 1e-12 * K.norm());
  const double value = machine_value(K, problem, found.alpha) + 0.3 * (K - data.S).squaredNorm();
  EXPECT_NEAR(found.info.objective, value, 1e-12 * value);
  const double negative = symmetric_eigenvalues(data.S).cwiseMin(0.0).squaredNorm();
  EXPECT_NEAR(found.offset, 0.3 * negative, 1e-10 * found.offset);
}

TEST(RobustNewton, DerivativesAreThoseOfTheFunction) {
  const Data data = noisy(12, 9, 0.5);
  const robust::Problem problem = data.problem(1, 0.4);
  const robust::Dual dual(problem);
  Rng rng(2);
  const Vector a = Vector::NullaryExpr(12, [&](Index) { return rng.uniform(); });
  const Vector step = Vector::NullaryExpr(12, [&](Index) { return 1e-5 * rng.normal(); });
  const robust::DualPoint at = dual.at(a, 0.4);
  const robust::DualCurvature curvature = dual.curvature(at);
  const robust::DualPoint after = dual.at(a + step, 0.4);
  const robust::DualPoint before = dual.at(a - step, 0.4);
  EXPECT_NEAR(after.value - before.value, 2 * at.gradient.dot(step), 1e-12);
  EXPECT_LT((after.gradient - before.gradient + 2 * curvature.H * step).norm(), 1e-7 * step.norm());
  const double h = 1e-5;  // in s = 1 / rho
  const robust::DualPoint more = dual.at(a, 1 / (2.5 + h));
  const robust::DualPoint less = dual.at(a, 1 / (2.5 - h));
  EXPECT_LT(((more.gradient - less.gradient) / (2 * h) - curvature.cross).norm(), 1e-7);
  const auto slope_in_s = [](const robust::DualPoint& p) {
    return -std::pow(p.rho * p.distance, 2);
  };
  EXPECT_NEAR((slope_in_s(more) - slope_in_s(less)) / (2 * h), curvature.in_inverse, 1e-7);
  const double change = std::pow(more.distance, 2) - std::pow(less.distance, 2);
  EXPECT_NEAR(change / (more.rho - less.rho), curvature.in_rho, 1e-5 * std::abs(curvature.in_rho));
}

TEST(RobustNewton, LargeRhoIsTheMachineOnTheNearestKernel) {
  const Data data = noisy(40, 10, 0.4);
  const robust::Problem problem = data.problem(1, 1e9);
  const robust::Solution found = robust::newton(problem);
  const Matrix clipped = positive_part(data.S);
  EXPECT_LT((kernel_of(found) - clipped).norm(), 1e-6 * clipped.norm());
  EXPECT_NEAR(machine_value(clipped, problem, found.alpha), best_value(clipped, problem), 1e-6);
}

TEST(RobustNewton, TakesWeightsAndLopsidedClasses) {
  Data data = noisy(25, 11, 0.3);
  data.y.setConstant(-1);
  data.y(3) = 1;
  robust::Problem problem = data.problem(1, 1);
  for (Index i = 0; i < 25; ++i) problem.cost(i) = 0.1 + static_cast<double>(i % 7);
  const robust::Solution found = robust::newton(problem);
  EXPECT_EQ(found.info.status, SolveStatus::kSolved);
  EXPECT_LE(certify(problem, found.alpha).gap, 2e-8);
}

TEST(RobustNewton, TakesRepeatedAndZeroEigenvalues) {
  Data data = noisy(24, 12);
  data.S = Matrix::Constant(24, 24, 0.5) - 0.25 * Matrix::Identity(24, 24);
  EXPECT_LE(certify(data.problem(1, 1), robust::newton(data.problem(1, 1)).alpha).gap, 2e-8);
  data.S.setZero();
  EXPECT_LE(certify(data.problem(1, 1), robust::newton(data.problem(1, 1)).alpha).gap, 2e-8);
}

TEST(RobustNewton, AWarmStartFindsTheSameOptimum) {
  const Data data = noisy(40, 13, 0.3);
  const robust::Solution near = robust::newton(data.problem(1, 1));
  const robust::Solution cold = robust::newton(data.problem(1, 10));
  const robust::Solution warm = robust::newton(data.problem(1, 10), {}, {}, near.alpha);
  EXPECT_NEAR(warm.info.objective, cold.info.objective, 2e-8 * cold.info.objective);
}

TEST(RobustNewton, ASolutionAtNoBoundIsTheAnswerForEveryLargerCost) {
  const Data data = noisy(40, 19, 0.3);
  const robust::Solution found = robust::newton(data.problem(100, 0.01), {.tolerance = 1e-10});
  ASSERT_LT(found.alpha.maxCoeff(), 99);
  const std::vector<Vector> starts = {10 * found.alpha, found.alpha};
  const robust::Problem larger = data.problem(1000, 0.01);
  const robust::Solution again = robust::newton(larger, {}, {}, starts);
  EXPECT_EQ(again.info.status, SolveStatus::kSolved);
  EXPECT_LE(again.info.iterations, 2);
  EXPECT_LE(certify(larger, again.alpha).gap, 1e-8);
}

TEST(RobustNewton, FromAnyStartEndsAtTheOptimumWithExactBounds) {
  const Data data = noisy(50, 20, 0.3);
  Rng rng(5);
  for (const double rho : {1e-3, 0.1, 10.0, 1e3}) {
    for (const double cost : {1e-3, 1.0, 1e3}) {
      const robust::Problem problem = data.problem(cost, rho);
      const double optimum = robust::newton(problem).info.objective;
      std::vector<Vector> starts = {
          Vector::NullaryExpr(50, [&](Index) { return cost * rng.uniform(); })};
      const robust::Solution found = robust::newton(problem, {}, {}, starts);
      EXPECT_EQ(found.info.status, SolveStatus::kSolved) << cost << " " << rho;
      EXPECT_LE(found.info.kkt_residual, 1e-6) << cost << " " << rho;
      const robust::Certificate proof = certify(problem, found.alpha);
      EXPECT_LE(proof.gap, 1e-8) << cost << " " << rho;
      EXPECT_LE(proof.feasibility, 1e-12);
      EXPECT_NEAR(found.info.objective, optimum, 2e-8 * (optimum - found.offset));
    }
  }
}

TEST(RobustCertificate, HoldsForAnyAlphaAndRho) {
  const Data data = noisy(30, 21, 0.3);
  const robust::Problem problem = data.problem(1, 0.5);
  const double nearest = (positive_part(data.S) - data.S).norm();
  const robust::Solution squared = robust::newton(problem);
  const robust::Solution ball = robust::ball(problem, 1.2 * nearest);
  const robust::Solution norm = robust::norm(problem, 2);
  for (const double length : {0.5, 0.9, 1.0}) {
    const robust::Certificate one = certify(problem, length * squared.alpha);
    EXPECT_LE(one.value, (squared.info.objective - squared.offset) * (1 + 1e-8));
    EXPECT_GE(one.upper, (squared.info.objective - squared.offset) * (1 - 1e-8));
    for (const double factor : {0.3, 1.0, 3.0}) {
      robust::Problem other = problem;
      other.rho = factor * ball.rho;
      const robust::Certificate two =
          robust::certify_ball(other, 1.2 * nearest, length * ball.alpha);
      EXPECT_LE(two.value, ball.info.objective * (1 + 1e-7));
      EXPECT_GE(two.upper, ball.info.objective * (1 - 1e-7));
      other.rho = factor * norm.rho;
      const robust::Certificate three = robust::certify_norm(other, 2, length * norm.alpha);
      EXPECT_LE(three.value + three.offset, norm.info.objective * (1 + 1e-7));
      EXPECT_GE(three.upper + three.offset, norm.info.objective * (1 - 1e-7));
      if (length == 1.0 && factor == 1.0) {
        EXPECT_LE(two.gap, 2e-8);
        EXPECT_LE(three.gap, 2e-8);
      }
    }
  }
}

TEST(RobustNorm, MeetsTheOptimalityConditionsOfTheMachineToo) {
  for (const std::uint64_t seed : {22, 23, 24}) {
    const Data data = noisy(40, seed, 0.2);
    for (const double cost : {1e-2, 1.0}) {
      for (const double weight : {1e-3, 0.1, 10.0}) {
        const robust::Solution found = robust::norm(data.problem(cost, 1), weight);
        EXPECT_EQ(found.info.status, SolveStatus::kSolved) << cost << " " << weight;
        EXPECT_LE(found.info.kkt_residual, 1e-6) << cost << " " << weight;
      }
    }
  }
}

TEST(RobustBall, StaysInsideAndMatchesTheMultiplierItFinds) {
  const Data data = noisy(30, 14, 0.3);
  const double nearest = (positive_part(data.S) - data.S).norm();
  for (const double more : {1e-3, 0.1, 1.0, 10.0}) {
    const double radius = nearest * (1 + more);
    const robust::Problem problem = data.problem(1, 1);
    const robust::Solution found = robust::ball(problem, radius);
    ASSERT_EQ(found.info.status, SolveStatus::kSolved) << more;
    const Matrix K = kernel_of(found);
    EXPECT_LE((K - data.S).norm(), radius * (1 + 1e-7));
    EXPECT_NEAR(best_value(K, problem), found.info.objective, 1e-7 * found.info.objective);
    // The same kernel is the robust machine's for that rho: a lower bound by duality.
    const robust::Solution same = robust::newton(data.problem(1, found.rho));
    EXPECT_NEAR(same.info.objective - found.rho * radius * radius, found.info.objective,
                1e-7 * same.info.objective);
  }
}

/// The value of a ball, proved.
double ball_value(const Data& data, double cost, double radius) {
  robust::Problem problem = data.problem(cost, 1);
  const robust::Solution found = robust::ball(problem, radius, {.tolerance = 5e-9});
  EXPECT_EQ(found.info.status, SolveStatus::kSolved) << cost << " " << radius;
  EXPECT_LE((kernel_of(found) - data.S).norm(), radius * (1 + 1e-14));
  const robust::Certificate proof = robust::certify_ball(problem, radius, found.alpha);
  EXPECT_LE(std::abs(proof.gap), 1e-8) << cost << " " << radius;
  EXPECT_LE(proof.feasibility, 1e-12);
  EXPECT_NEAR(proof.value, found.info.objective, 1e-7 * found.info.objective);
  return found.info.objective;
}

Vector alternating(Index n) {
  Vector y = Vector::Ones(n);
  for (Index i = 1; i < n; i += 2) y(i) = -1;
  return y;
}

/// max over 0 <= t <= cost of n (t - slope t^2 / 2): n equal alphas.
double equal_alphas(double n, double slope, double cost) {
  const double t = std::min(cost, 1 / slope);
  return n * (t - 0.5 * slope * t * t);
}

TEST(RobustBall, IsSolvedWhereTheKernelStaysAtTheNearestOne) {
  // u is an eigenvector for the value -1. Two samples: K = S + radius u u' / |u|^2.
  const Data two{Matrix{{1.0, 2.0}, {2.0, 1.0}}, alternating(2)};
  for (const double cost : {0.1, 1.0, 100.0, 1e3, 1e6}) {
    for (const double more :
         {1e-12, 1e-9, 1e-6, 1e-5, 1e-4, 1e-3, 0.1, 1.0, 100.0, 1e6, 1e12, 1e20}) {
      const double expected = equal_alphas(2, (1 + more) - 1, cost);
      EXPECT_NEAR(ball_value(two, cost, 1 + more), expected, 1e-7 * expected)
          << cost << " " << more;
    }
  }
  // 20 samples alike: 18 more values of -1 have to be raised to 0, and none needs more.
  const Data alike{Matrix(Matrix::Ones(20, 20) - Matrix::Identity(20, 20)), alternating(20)};
  for (const double cost : {0.1, 1.0, 100.0, 1e4}) {
    for (const double radius : {4.359, 4.36, 4.402, 5.0, 50.0}) {
      const double slope = std::sqrt(radius * radius - 18) - 1;
      const double expected = equal_alphas(20, slope, cost);
      EXPECT_NEAR(ball_value(alike, cost, radius), expected, 1e-7 * expected)
          << cost << " " << radius;
    }
  }
}

TEST(RobustBall, IsSolvedNextToTheLeastRadiusOfStructuredMatrices) {
  // 1 across classes, 0 within: u is an eigenvector for -5, and eight values are 0.
  const Vector y = alternating(10);
  const Data across{Matrix(0.5 * (Matrix::Ones(10, 10) - y * y.transpose())), y};
  // -I: the value of u rises to x, (1 + x)^2 + 1 = radius^2, and that of 1 to 0.
  const Data minus{Matrix(-Matrix::Identity(2, 2)), alternating(2)};
  for (const double cost : {1.0, 100.0, 1e5}) {
    for (const double radius : {5.0001, 5.001, 5.01, 5.05, 5.5}) {
      const double expected = equal_alphas(10, radius - 5, cost);
      EXPECT_NEAR(ball_value(across, cost, radius), expected, 1e-7 * expected);
    }
    for (const double radius : {1.4143, 1.415, 1.42, 2.0}) {
      const double expected = equal_alphas(2, std::sqrt(radius * radius - 1) - 1, cost);
      EXPECT_NEAR(ball_value(minus, cost, radius), expected, 1e-7 * expected);
    }
  }
}

TEST(RobustBall, ADerivativeIsThatOfItsFunction) {
  const Data data = noisy(12, 31, 0.5);
  const robust::Problem problem = data.problem(1, 1);
  const robust::Dual dual(problem);
  const double radius = 1.3 * dual.negative_part();
  const robust::BallFunction ball(dual, radius);
  Rng rng(4);
  const Vector a = Vector::NullaryExpr(12, [&](Index) { return rng.uniform(); });
  const Vector step = Vector::NullaryExpr(12, [&](Index) { return 1e-5 * rng.normal(); });
  const robust::DualPoint at = ball.at(a);
  const robust::DualPoint after = ball.at(a + step);
  const robust::DualPoint before = ball.at(a - step);
  EXPECT_LE(at.distance, radius);
  EXPECT_NEAR(at.distance, radius, 1e-14 * radius);
  EXPECT_NEAR(after.value - before.value, 2 * at.gradient.dot(step), 1e-12);
  std::vector<Index> all(12);
  std::iota(all.begin(), all.end(), Index{0});
  const Vector u = problem.y.cwiseProduct(step);
  const Vector bent = problem.y.cwiseProduct(ball.curvature(at, all) * u);
  EXPECT_LT((after.gradient - before.gradient + 2 * bent).norm(), 1e-6 * step.norm());
}

TEST(RobustBall, IsTheNearestKernelAtTheLeastRadius) {
  for (const Data& data : {noisy(20, 28, 0.5), Data{Matrix{{1.0, 2.0}, {2.0, 1.0}}, alternating(2)},
                           Data{Matrix(-Matrix::Identity(4, 4)), alternating(4)}}) {
    const robust::Problem problem = data.problem(10, 1);
    const Vector lambda = symmetric_eigenvalues(data.S);
    const robust::Solution found = robust::ball(problem, lambda.cwiseMin(0.0).norm());
    const Matrix nearest = positive_part(data.S);
    EXPECT_EQ(found.info.status, SolveStatus::kSolved);
    EXPECT_LE((kernel_of(found) - nearest).norm(), 1e-13 * data.S.norm());
    EXPECT_NEAR(found.info.objective, best_value(nearest, problem), 1e-7 * found.info.objective);
  }
}

TEST(RobustBall, IsSolvedOnANegativeDefiniteMatrix) {
  Data data = noisy(20, 26, 0);
  data.S = -data.S;
  for (const double cost : {1.0, 100.0}) {
    double before = cost * 20;
    for (const double times : {1 + 1e-6, 1 + 1e-4, 1 + 1e-3, 1.1, 2.0, 10.0, 1e6}) {
      const double value = ball_value(data, cost, times * data.S.norm());
      EXPECT_LE(value, before * (1 + 1e-7)) << times;  // a larger ball has worse kernels
      before = value;
    }
  }
}

TEST(RobustBall, RefusesABallWithoutKernels) {
  const Data data = noisy(10, 15, 1);
  EXPECT_THROW((void)robust::ball(data.problem(1, 1), 1e-3), Error);
}

TEST(RobustNorm, IsTheLeastOverRhoOfTheSquaredProblem) {
  const Data data = noisy(30, 16, 0.3);
  for (const double weight : {0.1, 1.0, 10.0, 1000.0}) {
    const robust::Problem problem = data.problem(1, 1);
    const robust::Solution found = robust::norm(problem, weight);
    ASSERT_EQ(found.info.status, SolveStatus::kSolved) << weight;
    const Matrix K = kernel_of(found);
    EXPECT_NEAR(2 * found.rho * (K - data.S).norm(), weight, 1e-4 * weight);
    const double value = best_value(K, problem) + weight * (K - data.S).norm();
    EXPECT_NEAR(value, found.info.objective, 1e-7 * value);
    for (const double factor : {0.5, 0.9, 1.0, 1.1, 2.0}) {
      const double rho = factor * found.rho;
      const double other =
          robust::newton(data.problem(1, rho)).info.objective + weight * weight / (4 * rho);
      EXPECT_GE(other, found.info.objective * (1 - 1e-7));
      if (factor == 1.0) {
        EXPECT_NEAR(other, found.info.objective, 1e-7 * value);
      }
    }
  }
}

TEST(RobustNorm, LeavesAPsdMatrixAloneWhereTheWeightIsLarge) {
  const Data data = noisy(30, 17, 0);
  const robust::Problem problem = data.problem(1, 1);
  const robust::Solution free = robust::norm(problem, 1e3);
  EXPECT_LT((kernel_of(free) - data.S).norm(), 1e-12 * data.S.norm());
  EXPECT_EQ(free.distance, 0);
  EXPECT_NEAR(free.info.objective, best_value(data.S, problem), 1e-7 * free.info.objective);
  // Below |a|^2 / 2 of its machine it moves, along a a' alone.
  const double weight = 0.25 * free.alpha.squaredNorm();
  const robust::Solution moved = robust::norm(problem, weight);
  EXPECT_EQ(moved.info.status, SolveStatus::kSolved);
  EXPECT_NEAR(moved.alpha.squaredNorm(), 2 * weight, 1e-5 * weight);
  const Vector u = problem.y.cwiseProduct(moved.alpha);
  const Matrix K = data.S + u * u.transpose() / (4 * moved.rho);
  EXPECT_LT((kernel_of(moved) - K).norm(), 1e-9 * K.norm());
}

/// gamma and eta of [CGR] (4) on a matrix, as `full-kernel-svm` asks for it: the objective, proved.
double full_kernel_value(const Matrix& S, double eta, double gamma) {
  const Index n = S.rows();
  const Data data{S / (2 * eta), alternating(n)};
  const double weight = 2 * eta * gamma;
  robust::Problem problem = data.problem(1 / static_cast<double>(n), 1);
  const robust::Solution found = robust::norm(problem, weight, {.tolerance = 5e-9});
  EXPECT_EQ(found.info.status, SolveStatus::kSolved) << eta << " " << gamma;
  EXPECT_LE(found.info.kkt_residual, 1e-6) << eta << " " << gamma;
  if (std::isfinite(found.rho)) {
    problem.rho = found.rho;
    const robust::Certificate proof = robust::certify_norm(problem, weight, found.alpha);
    EXPECT_LE(std::abs(proof.gap), 1e-8) << eta << " " << gamma;
    EXPECT_LE(proof.feasibility, 1e-12);
    EXPECT_NEAR(proof.value + proof.offset, found.info.objective, 1e-7 * found.info.objective);
  }
  const Matrix K = kernel_of(found);
  EXPECT_NEAR(best_value(K, problem) + weight * (K - data.S).norm(), found.info.objective,
              1e-7 * found.info.objective);
  return found.info.objective;
}

TEST(RobustNorm, IsTheSemidefiniteProgramOnKernelsOfLowRank) {
  const Matrix ones = Matrix::Ones(8, 8);
  // All of u is in the null space, a = t 1: the ball 8 t^2 <= 4 eta gamma decides.
  EXPECT_NEAR(full_kernel_value(ones, 0.01, 0.1), 8 * std::sqrt(0.004 / 8), 1e-8);
  EXPECT_NEAR(full_kernel_value(ones, 0.01, 1), 8 * std::sqrt(0.04 / 8), 1e-8);
  EXPECT_NEAR(full_kernel_value(ones, 0.01, 10), 1, 1e-8);
  EXPECT_NEAR(full_kernel_value(Matrix::Zero(8, 8), 0.01, 1), 8 * std::sqrt(0.04 / 8), 1e-8);
}

TEST(RobustNorm, IsTheSemidefiniteProgramWhereSeveralKernelsAreBest) {
  // 1 across classes, 0 within: u is an eigenvector for -n/2, and K = S_+ + t u u' for all t of an
  // interval where the box and the ball n a^2 <= 4 eta gamma meet, gamma = 1 / (4 eta n).
  for (const Index n : {6, 12, 20}) {
    const Vector y = alternating(n);
    const Matrix S = 0.5 * (Matrix::Ones(n, n) - y * y.transpose());
    const double meet = 1 / (0.04 * static_cast<double>(n));
    for (const double times : {0.1, 0.43, 0.9, 0.99, 1.0, 1.01, 1.1, 10.0}) {
      const double gamma = times * meet;
      const double expected = std::min(1.0, std::sqrt(0.04 * gamma * static_cast<double>(n))) +
                              gamma * static_cast<double>(n) / 2;
      EXPECT_NEAR(full_kernel_value(S, 0.01, gamma), expected, 1e-7 * expected)
          << n << " " << times;
    }
  }
}

TEST(RobustNorm, IsSolvedWhereTwoSamplesHardlyMoveTheKernel) {
  // u = t (1, -1) has the value -x of S: K = S_+ for t^2 below the weight, and none beyond.
  const double eta = 1e-4;
  const double gamma = 1000;
  const double weight = gamma / (2 * eta);
  const std::vector<Matrix> cases = {Matrix{{1.0, 2.0}, {2.0, 1.0}}, Matrix{{0.0, 1.0}, {1.0, 0.0}},
                                     Matrix{{1.0, 1.5}, {1.5, 1.0}}};
  for (const Matrix& S : cases) {
    const Data data{S, alternating(2)};
    robust::Problem problem = data.problem(1 / (4 * eta), 1);
    const robust::Solution found = robust::norm(problem, weight, {.tolerance = 5e-9});
    EXPECT_EQ(found.info.status, SolveStatus::kSolved);
    EXPECT_LE(found.info.kkt_residual, 1e-6);
    problem.rho = found.rho;
    const robust::Certificate proof = robust::certify_norm(problem, weight, found.alpha);
    EXPECT_LE(std::abs(proof.gap), 1e-8);
    EXPECT_NEAR(proof.value, 2 * std::sqrt(weight), 1e-7 * std::sqrt(weight));
  }
}

TEST(RobustNorm, IsSolvedWhereBoxAndBallMeetAndTheSimilaritiesAreSmall) {
  const Data data = noisy(24, 27, 0.2);
  for (const double size : {1e-2, 1e-3, 1e-4, 1e-6}) {
    const Matrix S = size * data.S;
    for (const double gamma : {0.95, 1.0, 1 / 0.96, 1.1}) {
      // gamma |K - S| differs from gamma |K| by at most gamma |S|.
      const double without = std::min(1.0, std::sqrt(0.96 * gamma));
      EXPECT_NEAR(full_kernel_value(S, 0.01, gamma), without, gamma * S.norm())
          << size << " " << gamma;
    }
  }
}

TEST(RobustNorm, HardlyChangesWhereAKernelOfLowRankIsHardlyMoved) {
  Rng rng(25);
  const Matrix X = Matrix::NullaryExpr(12, 3, [&](Index, Index) { return rng.normal(); });
  const Matrix S = X * X.transpose();
  const Vector last = symmetric_eigen(S).U.col(0);
  for (const double eta : {1e-4, 0.01, 1.0}) {
    double before = 0;
    for (const double gamma : {1e-3, 0.01, 0.1, 1.0, 10.0}) {
      const double value = full_kernel_value(S, eta, gamma);
      EXPECT_GE(value, before * (1 - 1e-7));
      before = value;
      for (const double less : {1e-13, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6}) {
        const double other = full_kernel_value(S - less * last * last.transpose(), eta, gamma);
        EXPECT_NEAR(other, value, 1e-7 * value + 2 * gamma * less);
      }
    }
  }
}

TEST(RobustProblem, RefusesWhatIsMalformed) {
  const Data data = noisy(6, 18);
  robust::Problem one_class = data.problem(1, 1);
  one_class.y.setOnes();
  EXPECT_THROW((void)robust::newton(one_class), Error);
  EXPECT_THROW((void)robust::newton(data.problem(0, 1)), Error);
  EXPECT_THROW((void)robust::newton(data.problem(1, 0)), Error);
  robust::Problem short_cost = data.problem(1, 1);
  short_cost.cost = Vector::Ones(3);
  EXPECT_THROW((void)robust::newton(short_cost), Error);
}

}  // namespace
}  // namespace kith::robust_newton_test
