// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/linear/boxed_lasso.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "kith/core/error.hpp"
#include "kith/core/rng.hpp"
#include "kith/numerics/blas.hpp"

namespace kith::boxed_lasso_test {
namespace {

struct Problem {
  Matrix S;
  Vector y;
};

Problem random_problem(Index m, Index n, Index rank, std::uint64_t seed) {
  Rng rng(seed);
  Matrix left(m, rank);
  Matrix right(rank, n);
  for (Index i = 0; i < left.size(); ++i) left.data()[i] = rng.normal();
  for (Index i = 0; i < right.size(); ++i) right.data()[i] = rng.normal();
  Problem problem{left * right / std::sqrt(static_cast<double>(rank)), Vector(m)};
  for (Index i = 0; i < m; ++i) problem.y(i) = i % 3 == 0 ? -1 : 1;
  return problem;
}

linear::LassoSolution solve(const Problem& problem, const linear::LassoTerms& terms,
                            double tolerance = 1e-10) {
  return linear::boxed_lasso(linear::lasso_data(problem.S, problem.y), terms,
                             {.tolerance = tolerance, .gap_tolerance = tolerance});
}

double printed(const Problem& problem, double epsilon, const Vector& a) {
  return 0.5 * (problem.y - problem.S * a).squaredNorm() + epsilon * a.lpNorm<1>();
}

TEST(BoxedLasso, IsSoftThresholdingAndClippingOnTheIdentity) {
  const Problem problem{Matrix::Identity(4, 4), Eigen::Vector4d(3, -2, 0.4, -0.1)};
  const Vector a = solve(problem, {.epsilon = 0.3, .bound = 2}).a;
  EXPECT_EQ(a(0), 2);  // 2.7, clipped
  EXPECT_NEAR(a(1), -1.7, 1e-12);
  EXPECT_NEAR(a(2), 0.1, 1e-12);
  EXPECT_EQ(a(3), 0);
}

TEST(BoxedLasso, SolvesEveryShapeRankAndTermToItsTolerance) {
  struct Shape {
    Index m, n, rank;
  };
  for (const Shape& shape : {Shape{30, 30, 30}, Shape{40, 15, 15}, Shape{12, 50, 12},
                             Shape{30, 45, 4}, Shape{1, 5, 1}, Shape{6, 1, 1}}) {
    const Problem problem = random_problem(shape.m, shape.n, shape.rank, 3);
    for (const double epsilon : {1e-4, 1e-2, 1.0, 10.0}) {
      for (const double bound : {1e-3, 0.1, 1.0, 1e4}) {
        const linear::LassoTerms terms{.epsilon = epsilon, .bound = bound};
        const linear::LassoSolution solution = solve(problem, terms, 1e-8);
        const linear::LassoCertificate c = linear::certify(problem.S, problem.y, terms, solution.a);
        EXPECT_EQ(solution.info.status, SolveStatus::kSolved);
        EXPECT_LE(c.kkt_residual, 1e-8)
            << shape.m << 'x' << shape.n << ' ' << epsilon << ' ' << bound;
        EXPECT_LE(c.gap, 1e-8) << shape.m << 'x' << shape.n << ' ' << epsilon << ' ' << bound;
        EXPECT_EQ(c.feasibility, 0);
        EXPECT_NEAR(solution.info.objective, printed(problem, epsilon, solution.a), 1e-10);
      }
    }
  }
}

TEST(BoxedLasso, IsNotBeatenByAnyNearbyPoint) {
  const Problem problem = random_problem(25, 35, 20, 5);
  const linear::LassoTerms terms{.epsilon = 0.05, .bound = 0.3};
  const Vector a = solve(problem, terms).a;
  const double least = printed(problem, terms.epsilon, a);
  Rng rng(6);
  for (int trial = 0; trial < 500; ++trial) {
    Vector other = a;
    const double size = std::pow(10.0, -6 * rng.uniform());
    for (double& v : other) {
      if (rng.uniform() < 0.3) v = std::clamp(v + size * rng.normal(), -terms.bound, terms.bound);
    }
    EXPECT_GE(printed(problem, terms.epsilon, other), least * (1 - 1e-10));
  }
}

TEST(BoxedLasso, FindsTheSameMinimumFromAnyStart) {
  const Problem problem = random_problem(30, 20, 20, 7);
  const linear::LassoTerms terms{.epsilon = 0.01, .bound = 0.2};
  const linear::LassoData data = linear::lasso_data(problem.S, problem.y);
  const Vector cold =
      linear::boxed_lasso(data, terms, {.tolerance = 1e-12, .gap_tolerance = 1e-10}).a;
  Rng rng(8);
  for (int trial = 0; trial < 5; ++trial) {
    Vector start(20);
    for (double& v : start) v = 10 * rng.normal();
    EXPECT_LT(
        (linear::boxed_lasso(data, terms, {.tolerance = 1e-12, .gap_tolerance = 1e-10}, {}, start)
             .a -
         cold)
            .norm(),
        1e-8);
  }
  const linear::LassoSolution again = linear::boxed_lasso(data, terms, {}, {}, cold);
  EXPECT_EQ(again.info.iterations, 0);
  EXPECT_EQ(again.a, cold);
}

TEST(BoxedLasso, IsAlwaysZeroWhereEpsilonIsTooLargeAndOnlyThere) {
  const Problem problem = random_problem(20, 20, 20, 9);
  const double reach = (problem.S.transpose() * problem.y).lpNorm<Eigen::Infinity>();
  EXPECT_TRUE(solve(problem, {.epsilon = reach * 1.001, .bound = 1}).a.isZero(0));
  EXPECT_EQ((solve(problem, {.epsilon = reach * 0.999, .bound = 1}).a.array() != 0).count(), 1);
}

TEST(BoxedLasso, ObeysTheScaleOfItsMatrixFromTinyToHuge) {
  const Problem problem = random_problem(20, 25, 20, 11);
  const linear::LassoTerms terms{.epsilon = 0.02, .bound = 0.4};
  const linear::LassoSolution plain = solve(problem, terms);
  for (const int exponent : {-400, -7, 13, 600}) {
    const double scale = std::ldexp(1.0, exponent);
    const Problem other{problem.S * scale, problem.y};
    const linear::LassoSolution found =
        solve(other, {.epsilon = terms.epsilon * scale, .bound = terms.bound / scale});
    EXPECT_EQ(found.info.status, SolveStatus::kSolved);
    EXPECT_EQ(found.a * scale, plain.a);
    EXPECT_EQ(found.info.objective, plain.info.objective);
  }
}

TEST(BoxedLasso, CertificateFailsOnceTheSolutionIsSpoiled) {
  const Problem problem = random_problem(30, 40, 30, 13);
  for (const double bound : {0.1, 100.0}) {
    const linear::LassoTerms terms{.epsilon = 0.01, .bound = bound};
    const Vector a = solve(problem, terms).a;
    ASSERT_TRUE(linear::certify(problem.S, problem.y, terms, a).within(1e-10));
    const double spoil = 1e-4 * a.lpNorm<Eigen::Infinity>();
    for (Index j = 0; j < a.size(); ++j) {
      for (const double change : {-spoil, spoil}) {
        Vector spoiled = a;
        spoiled(j) += change;
        EXPECT_FALSE(linear::certify(problem.S, problem.y, terms, spoiled).within(1e-8)) << j;
      }
    }
    EXPECT_FALSE(
        linear::certify(problem.S, problem.y, {.epsilon = 0.01 * (1 + 1e-4), .bound = bound}, a)
            .within(1e-8));
    EXPECT_FALSE(
        linear::certify(problem.S, problem.y, {.epsilon = 0.01, .bound = bound}, 0.9999 * a)
            .within(1e-8));
  }
}

TEST(BoxedLasso, GapIsThatOfThePrintedProblemAndItsDual) {
  const Problem problem = random_problem(10, 14, 10, 15);
  const linear::LassoTerms terms{.epsilon = 0.2, .bound = 0.5};
  Rng rng(16);
  for (int trial = 0; trial < 20; ++trial) {
    Vector a(14);
    for (double& v : a) v = 0.5 * (2 * rng.uniform() - 1);
    const Vector r = problem.y - problem.S * a;
    double dual = problem.y.dot(r) - 0.5 * r.squaredNorm();
    for (const double g : Vector(problem.S.transpose() * r)) {
      dual -= terms.bound * std::max(0.0, std::abs(g) - terms.epsilon);
    }
    const linear::LassoCertificate c = linear::certify(problem.S, problem.y, terms, a);
    EXPECT_NEAR(c.primal, printed(problem, terms.epsilon, a), 1e-12);
    EXPECT_LE(c.gap * c.primal, c.primal - dual + 1e-12);
    const double least = solve(problem, terms).info.objective;
    EXPECT_LE(c.primal * (1 - c.gap), least + 1e-12);
  }
}

TEST(BoxedLasso, EndsOnDegenerateInput) {
  Problem duplicates = random_problem(20, 10, 10, 17);
  duplicates.S.rightCols(5) = duplicates.S.leftCols(5);
  duplicates.S.bottomRows(10) = duplicates.S.topRows(10);
  Problem contrary = duplicates;  // the same row with both labels
  contrary.y.bottomRows(10) = -contrary.y.topRows(10);
  const Problem zero{Matrix::Zero(5, 6), Vector::Ones(5)};
  const Problem constant{Matrix::Ones(8, 8), Vector::LinSpaced(8, -1, 1).array().sign()};
  const Problem lopsided{Matrix::Ones(8, 8), Vector::Ones(8)};
  Problem spread = random_problem(15, 15, 15, 18);
  for (Index j = 0; j < 15; ++j) spread.S.col(j) *= std::pow(10.0, static_cast<double>(j) - 7);
  for (const Problem& problem : {duplicates, contrary, zero, constant, lopsided, spread}) {
    for (const double epsilon : {1e-4, 1.0}) {
      for (const double bound : {1.0, 1e4}) {
        const linear::LassoSolution solution =
            solve(problem, {.epsilon = epsilon, .bound = bound}, 1e-8);
        EXPECT_EQ(solution.info.status, SolveStatus::kSolved) << problem.S.col(0).transpose();
        EXPECT_TRUE(solution.a.allFinite());
      }
    }
  }
}

TEST(BoxedLasso, BearsManyFreeVariablesAndAnIllConditionedMatrix) {
  // A smooth kernel with a little noise: singular values fall from 100 to 1e-4, nearly all
  // variables are free, and Newton steps alone do not get there.
  const BlasThreads one(1);
  for (const Index rows : {200, 70}) {  // by columns and by rows
    Problem problem{Matrix(rows, 200), Vector(rows)};
    Rng rng(23);
    for (Index i = 0; i < rows; ++i) {
      problem.y(i) = rng.uniform() < 0.5 ? -1 : 1;
      for (Index j = 0; j < 200; ++j) {
        const double distance = static_cast<double>(i - j) / 40;
        problem.S(i, j) = std::exp(-distance * distance) + 0.01 * rng.normal();
      }
    }
    const linear::LassoData data = linear::lasso_data(problem.S, problem.y);
    for (const double bound : {10.0, 1e4}) {
      const linear::LassoTerms terms{.epsilon = 1e-4, .bound = bound};
      const linear::LassoSolution solution = linear::boxed_lasso(data, terms);
      EXPECT_EQ(solution.info.status, SolveStatus::kSolved);
      EXPECT_TRUE(linear::certify(problem.S, problem.y, terms, solution.a).within(1e-8, 1e-7));
      EXPECT_LT(solution.info.iterations, 1000);
    }
  }
}

TEST(BoxedLasso, SaysWhenItRanOutOfIterationsOrWasStopped) {
  const Problem problem = random_problem(30, 30, 30, 19);
  const linear::LassoData data = linear::lasso_data(problem.S, problem.y);
  const linear::LassoTerms terms{.epsilon = 1e-4, .bound = 1};
  const linear::LassoSolution early = linear::boxed_lasso(data, terms, {.max_iterations = 1});
  EXPECT_EQ(early.info.status, SolveStatus::kIterationLimit);
  EXPECT_GT(early.info.kkt_residual + early.info.gap, 1e-8);
  StopSource source;
  source.request_stop();
  RunContext ctx;
  ctx.stop = StopToken(source);
  EXPECT_THROW((void)linear::boxed_lasso(data, terms, {}, ctx), Error);
}

TEST(BoxedLasso, RefusesSizesAndTermsThatDoNotFit) {
  EXPECT_THROW((void)linear::lasso_data(Matrix::Ones(3, 2), Vector::Ones(2)), Error);
  const linear::LassoData data = linear::lasso_data(Matrix::Ones(3, 2), Vector::Ones(3));
  EXPECT_THROW((void)linear::boxed_lasso(data, {.epsilon = 0, .bound = 1}), Error);
  EXPECT_THROW((void)linear::boxed_lasso(data, {.epsilon = 1, .bound = -1}), Error);
  EXPECT_THROW((void)linear::boxed_lasso(data, {}, {}, {}, Vector::Ones(3)), Error);
}

/// Rows of the samples of two classes, all columns.
Problem shared_pair(const std::string& name, const std::string& one, const std::string& other) {
  const std::filesystem::path folder = std::filesystem::path(KITH_TEST_SHARED) / "data" / name;
  std::ifstream labels(folder / "labels.txt");
  std::vector<std::string> label;
  for (std::string line; std::getline(labels, line);) label.push_back(line);
  std::ifstream values(folder / "similarity.csv");
  std::vector<double> flat;
  std::vector<double> y;
  for (const std::string& name : label) {
    std::string line;
    std::getline(values, line);
    if (name != one && name != other) continue;
    y.push_back(name == one ? 1 : -1);
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) flat.push_back(std::stod(cell));
  }
  const auto m = static_cast<Index>(y.size());
  return {Eigen::Map<const RowMatrix>(flat.data(), m, static_cast<Index>(flat.size()) / m),
          Eigen::Map<const Vector>(y.data(), m)};
}

void expect_whole_grid(const Problem& problem) {
  const BlasThreads one(1);
  const linear::LassoData data = linear::lasso_data(problem.S, problem.y);
  const linear::LassoSettings tight{.tolerance = 1e-9, .gap_tolerance = 1e-9};
  Vector last;
  for (const double epsilon : {10.0, 1.0, 1e-1, 1e-2, 1e-3, 1e-4}) {
    for (const double bound : {1.0, 1e1, 1e2, 1e3, 1e4}) {
      const linear::LassoTerms terms{.epsilon = epsilon, .bound = bound};
      const linear::LassoSolution warm = linear::boxed_lasso(data, terms, tight, {}, last);
      const bool hard = epsilon < 1e-3 && bound > 1;
      const linear::LassoSolution cold = hard ? linear::boxed_lasso(data, terms, tight) : warm;
      for (const linear::LassoSolution* solution : {&warm, &cold}) {
        const linear::LassoCertificate c =
            linear::certify(problem.S, problem.y, terms, solution->a);
        EXPECT_TRUE(c.within(1e-9))
            << epsilon << ' ' << bound << ' ' << c.kkt_residual << ' ' << c.gap;
      }
      EXPECT_NEAR(warm.info.objective, cold.info.objective, 2e-9 * cold.info.objective);
      last = warm.a;
      EXPECT_FALSE(linear::certify(problem.S, problem.y, terms, (1 - 1e-4) * last).within(1e-8));
    }
  }
}

TEST(BoxedLasso, SolvesTheWholeGridOnAuralSonarProteinAndVoting) {
  if (!std::filesystem::exists(std::string(KITH_TEST_SHARED) + "/data")) {
    GTEST_SKIP() << "the shared data folder is not there";
  }
  expect_whole_grid(shared_pair("aural-sonar", "1", "2"));
  for (const auto& [one, other] :
       {std::pair{"1", "2"}, {"1", "3"}, {"1", "4"}, {"2", "3"}, {"2", "4"}, {"3", "4"}}) {
    expect_whole_grid(shared_pair("protein", one, other));
  }
  expect_whole_grid(shared_pair("voting", "1", "2"));
}

}  // namespace
}  // namespace kith::boxed_lasso_test
