// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/linear/simplex_qp.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kith/core/rng.hpp"

namespace kith::simplex_qp_test {
namespace {

struct Problem {
  Matrix H;
  Vector s;
};

Problem random_problem(Index n, double ridge, std::uint64_t seed) {
  Rng rng(seed);
  Matrix A(n, n);
  for (Index i = 0; i < A.size(); ++i) A.data()[i] = rng.normal();
  Problem problem{A * A.transpose(), Vector(n)};
  problem.H.diagonal().array() += ridge;
  for (double& value : problem.s) value = 3 * rng.normal();
  return problem;
}

double value(const Problem& problem, const Vector& w) {
  return 0.5 * w.dot(problem.H * w) - problem.s.dot(w);
}

TEST(SimplexQp, MeetsItsOptimalityConditions) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Problem problem =
        random_problem(1 + static_cast<Index>(seed), seed % 2 == 0 ? 1e-6 : 10, seed);
    const linear::SimplexQpSolution solution = linear::simplex_qp(problem.H, problem.s);
    EXPECT_EQ(solution.info.status, SolveStatus::kSolved);
    EXPECT_LE(linear::simplex_residual(problem.H, problem.s, solution.w), 1e-9);
    EXPECT_NEAR(solution.w.sum(), 1, 1e-12);
    EXPECT_GE(solution.w.minCoeff(), 0);
  }
}

TEST(SimplexQp, IsNotBeatenByAnyNearbyPoint) {
  const Problem problem = random_problem(12, 0.1, 7);
  const Vector w = linear::simplex_qp(problem.H, problem.s).w;
  Rng rng(8);
  for (int trial = 0; trial < 500; ++trial) {
    Vector other = w;
    for (double& x : other) x = std::max(0.0, x + 0.05 * rng.normal());
    other /= other.sum();
    EXPECT_GE(value(problem, other), value(problem, w) - 1e-12);
  }
}

TEST(SimplexQp, FindsTheSameMinimumFromAnyStart) {
  const Problem problem = random_problem(15, 0.5, 9);
  const Vector cold = linear::simplex_qp(problem.H, problem.s).w;
  for (Index i = 0; i < 15; ++i) {
    EXPECT_LT((linear::simplex_qp(problem.H, problem.s, Vector::Unit(15, i)).w - cold).norm(),
              1e-9);
  }
}

TEST(ConvexSimplexQp, AgreesWithTheActiveSetFromAnySupport) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Index n = 1 + static_cast<Index>(seed);
    const Problem problem = random_problem(n, seed % 3 == 0 ? 1e-6 : 5, seed);
    const Vector expected = linear::simplex_qp(problem.H, problem.s).w;
    Rng rng(seed);
    Vector near(n);
    for (double& x : near) x = rng.normal();
    for (const Vector& start : {Vector(), near, Vector(Vector::Constant(n, -1.0))}) {
      const linear::SimplexQpSolution solution =
          linear::convex_simplex_qp(problem.H, problem.s, start);
      EXPECT_EQ(solution.info.status, SolveStatus::kSolved);
      EXPECT_LE(linear::simplex_residual(problem.H, problem.s, solution.w), 1e-9);
      EXPECT_LT((solution.w - expected).norm(), 1e-7) << n;
    }
  }
}

TEST(SimplexQp, SaysThatAnIndefiniteProblemEndedAtAStationaryPoint) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Problem problem = random_problem(10, 0, seed);
    problem.H -= 8 * Matrix::Identity(10, 10);
    const linear::SimplexQpSolution solution =
        linear::simplex_qp(problem.H, problem.s, Vector::Constant(10, 0.1));
    EXPECT_EQ(solution.info.status, SolveStatus::kStationary);
    EXPECT_LE(linear::simplex_residual(problem.H, problem.s, solution.w), 1e-9);
  }
}

TEST(SimplexResidual, NoticesASpoiledSolution) {
  const Problem problem = random_problem(8, 1, 3);
  Vector w = linear::simplex_qp(problem.H, problem.s).w;
  Index used = 0;
  w.maxCoeff(&used);
  const Index other = used == 0 ? 1 : 0;
  w(used) -= 1e-4;
  w(other) += 1e-4;
  EXPECT_GT(linear::simplex_residual(problem.H, problem.s, w), 1e-6);
}

TEST(SimplexEntropy, MeetsItsOptimalityConditionsInTheInterior) {
  for (const double weight : {1e-6, 1e-2, 1.0, 1e6}) {
    const Problem problem = random_problem(9, 0, 4);
    const linear::SimplexQpSolution solution =
        linear::simplex_entropy(problem.H, problem.s, weight);
    EXPECT_LE(solution.info.kkt_residual, 1e-8 * std::max(1.0, weight)) << weight;
    EXPECT_NEAR(solution.w.sum(), 1, 1e-12);
    EXPECT_GT(solution.w.minCoeff(), 0);
  }
}

TEST(SimplexEntropy, BecomesUniformForALargeWeight) {
  const Problem problem = random_problem(6, 0, 5);
  const Vector w = linear::simplex_entropy(problem.H, problem.s, 1e9).w;
  EXPECT_LT((w.array() - 1.0 / 6).abs().maxCoeff(), 1e-6);
}

}  // namespace
}  // namespace kith::simplex_qp_test
