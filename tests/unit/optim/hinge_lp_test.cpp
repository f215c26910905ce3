// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/linear/hinge_lp.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kith/core/error.hpp"
#include "kith/core/rng.hpp"
#include "kith/optim/dual/certificate.hpp"
#include "support/files.hpp"

namespace kith::hinge_lp_test {
namespace {

struct Data {
  Matrix F;
  Vector y;

  [[nodiscard]] linear::HingeLp at(double cost) const {
    return {F, y, Vector::Constant(y.size(), cost)};
  }
};

Data random_data(Index n, Index m, std::uint64_t seed) {
  Rng rng(seed);
  Data data{Matrix(n, m), Vector(n)};
  for (Index i = 0; i < n; ++i) data.y(i) = i % 2 == 0 ? 1 : -1;
  for (Index j = 0; j < m; ++j) {
    for (Index i = 0; i < n; ++i) data.F(i, j) = rng.normal() + (j % 3 == 0 ? 0.4 * data.y(i) : 0);
  }
  return data;
}

double printed(const linear::HingeLp& problem, const Vector& w, double b) {
  double value = w.lpNorm<1>();
  for (Index i = 0; i < problem.y.size(); ++i) {
    const double f = problem.F.row(i).dot(w) + b;
    value += problem.cost(i) * std::max(0.0, 1 - problem.y(i) * f);
  }
  return value;
}

TEST(HingeLp, ClosesTheGapOnEveryShapeAndCost) {
  for (const auto& [n, m] : {std::pair<Index, Index>{30, 30}, {60, 12}, {12, 700}, {80, 400}}) {
    const Data data = random_data(n, m, 5);
    for (double cost = 1e-3; cost < 2e5; cost *= 10) {
      const linear::HingeLp problem = data.at(cost);
      const linear::HingeLpSolution solution = linear::solve_hinge_lp(problem);
      EXPECT_EQ(solution.info.status, SolveStatus::kSolved) << n << " x " << m << ", " << cost;
      const linear::HingeLpCertificate found =
          linear::certify(problem, solution.w, solution.b, solution.a);
      EXPECT_LE(found.gap, 1e-8);
      EXPECT_LE(found.kkt_residual, 1e-6);
      EXPECT_NEAR(found.primal, printed(problem, solution.w, solution.b), 1e-12 * found.primal);
      EXPECT_EQ(found.primal, solution.info.objective);
    }
  }
}

/// Answers of few levels, as in a questionnaire: many samples lie on the margin, and dependent rows
/// and columns spoil both reduced forms of the Newton system.
Data questionnaire(Index n, Index questions, std::uint64_t seed) {
  Rng rng(seed);
  constexpr Index kLevels = 3;
  Matrix level(questions, kLevels);
  for (double& value : level.reshaped()) value = rng.uniform();
  Matrix X(n, questions);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < questions; ++j) {
      X(i, j) = level(j, static_cast<Index>(rng.uniform() * kLevels));
    }
  }
  const Vector sum = X.rowwise().sum();
  Data data{Matrix(n, n), Vector(n)};
  for (Index i = 0; i < n; ++i) {
    data.y(i) = sum(i) + 0.3 * rng.normal() > sum.mean() ? 1 : -1;
    for (Index j = 0; j < n; ++j) data.F(i, j) = std::exp(-(X.row(i) - X.row(j)).lpNorm<1>());
  }
  return data;
}

TEST(HingeLp, ClosesTheGapFromWithinWhereManySamplesLieOnTheMargin) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    for (const Index questions : {4, 8}) {
      const Data data = questionnaire(300, questions, seed);
      for (const double cost : {1e3, 1e5}) {
        const linear::HingeLpSolution solution =
            linear::solve_hinge_lp(data.at(cost), {.vertex = false});
        EXPECT_EQ(solution.info.status, SolveStatus::kSolved)
            << questions << " questions, seed " << seed << ", cost " << cost << ": gap "
            << solution.info.gap;
      }
    }
  }
}

TEST(HingeLp, IsNoLargerThanItsNeighbourhood) {
  const Data data = random_data(40, 25, 6);
  const linear::HingeLp own = data.at(0.3);
  const linear::HingeLpSolution solution = linear::solve_hinge_lp(own);
  const double least = printed(own, solution.w, solution.b);
  Rng rng(1);
  for (int trial = 0; trial < 300; ++trial) {
    Vector step(25);
    for (double& x : step) x = rng.normal();
    const double size = std::pow(10.0, -5 * rng.uniform());
    EXPECT_GE(printed(own, solution.w + size * step, solution.b + size * rng.normal()),
              least * (1 - 1e-9));
  }
}

TEST(HingeLp, SolvesTwoSamplesByHand) {
  // f = +-2: w = 1/2 costs 1/2 where C is large; C (1 - 2 w) twice is cheaper below C = 1/4.
  Data data{Matrix(2, 1), Vector(2)};
  data.F << 2, -2;
  data.y << 1, -1;
  EXPECT_NEAR(linear::solve_hinge_lp(data.at(10)).w(0), 0.5, 1e-12);
  EXPECT_NEAR(linear::solve_hinge_lp(data.at(10)).info.objective, 0.5, 1e-12);
  EXPECT_EQ(linear::solve_hinge_lp(data.at(0.2)).w(0), 0);
  EXPECT_NEAR(linear::solve_hinge_lp(data.at(0.2)).info.objective, 0.4, 1e-12);
}

TEST(HingeLp, HasNoMoreColumnsThanSamplesOnTheMargin) {
  const Data data = random_data(50, 200, 7);
  for (const double cost : {0.05, 1.0, 100.0}) {
    const linear::HingeLpSolution solution = linear::solve_hinge_lp(data.at(cost));
    const Vector margins =
        data.y.cwiseProduct(((data.F * solution.w).array() + solution.b).matrix());
    const auto on_margin = ((margins.array() - 1).abs() < 1e-9).count();
    EXPECT_LE((solution.w.array() != 0).count(), on_margin);
  }
}

TEST(HingeLp, ChoosesFewOfManyEqualColumns) {
  const Data single = random_data(40, 10, 8);
  Data copies{Matrix(40, 100), single.y};
  for (Index j = 0; j < 100; ++j) copies.F.col(j) = single.F.col(j % 10);
  const linear::HingeLpSolution one = linear::solve_hinge_lp(single.at(1));
  const linear::HingeLpSolution ten = linear::solve_hinge_lp(copies.at(1));
  EXPECT_NEAR(one.info.objective, ten.info.objective, 1e-8 * one.info.objective);
  EXPECT_LE((ten.w.array() != 0).count(), 10);
}

TEST(HingeLp, CertificateSeesASmallMistake) {
  const Data data = random_data(40, 30, 9);
  const linear::HingeLp problem = data.at(1);
  const linear::HingeLpSolution good = linear::solve_hinge_lp(problem);
  ASSERT_LE(linear::certify(problem, good.w, good.b, good.a).gap, 1e-8);
  Vector uneven = good.a;
  for (Index i = 0; i < uneven.size(); i += 3) uneven(i) *= 1 + 1e-4;
  EXPECT_GT(linear::certify(problem, good.w * (1 + 1e-4), good.b, good.a).gap, 1e-8);
  EXPECT_GT(linear::certify(problem, good.w * (1 - 1e-4), good.b, good.a).gap, 1e-8);
  EXPECT_GT(linear::certify(problem, good.w, good.b + 1e-4, good.a).gap, 1e-8);
  EXPECT_GT(linear::certify(problem, good.w, good.b, good.a * (1 - 1e-4)).gap, 1e-8);
  EXPECT_GT(linear::certify(problem, good.w, good.b, uneven).gap, 1e-8);
}

TEST(HingeLp, CertificateBoundsAnyPointFromBelow) {
  const Data data = random_data(30, 20, 10);
  const linear::HingeLp problem = data.at(0.7);
  const double optimum = linear::solve_hinge_lp(problem).info.objective;
  Rng rng(2);
  for (int trial = 0; trial < 50; ++trial) {
    Vector w(20);
    Vector a(30);
    for (double& x : w) x = rng.normal();
    for (double& x : a) x = 2 * rng.normal();
    const linear::HingeLpCertificate any = linear::certify(problem, w, rng.normal(), a);
    EXPECT_LE(any.dual, optimum * (1 + 1e-9));
    EXPECT_GE(any.primal, optimum * (1 - 1e-9));
  }
}

TEST(HingeLp, ScalesWithItsFeatures) {
  const Data data = random_data(40, 30, 11);
  const linear::HingeLpSolution plain = linear::solve_hinge_lp(data.at(2));
  for (const double t : {1e-6, 3.0, 1e9}) {
    const Data scaled{t * data.F, data.y};
    // |w|_1 / t + (C / t) L: the whole objective is divided by t.
    const linear::HingeLpSolution other = linear::solve_hinge_lp(scaled.at(2 / t));
    EXPECT_NEAR(t * other.info.objective, plain.info.objective, 1e-8 * plain.info.objective);
    EXPECT_LT((t * other.w - plain.w).cwiseAbs().maxCoeff(), 1e-7);
  }
}

TEST(HingeLp, TurnsWithItsLabels) {
  const Data data = random_data(40, 30, 12);
  const linear::HingeLpSolution plain = linear::solve_hinge_lp(data.at(2));
  const linear::HingeLpSolution turned = linear::solve_hinge_lp(Data{data.F, -data.y}.at(2));
  EXPECT_LT((turned.w + plain.w).cwiseAbs().maxCoeff(), 1e-7);
  EXPECT_NEAR(turned.b, -plain.b, 1e-7);
}

TEST(HingeLp, EndsOnDegenerateData) {
  const Data data = random_data(20, 20, 13);
  Matrix repeated(20, 20);
  for (Index i = 0; i < 20; ++i) repeated.row(i) = data.F.row(i % 2);
  Matrix contradicting(20, 20);
  for (Index i = 0; i < 20; ++i) contradicting.row(i) = data.F.row(i / 2);
  for (const Matrix& F :
       {Matrix(Matrix::Zero(20, 20)), Matrix(Matrix::Ones(20, 20)), repeated, contradicting,
        Matrix(1e150 * data.F), Matrix(1e-150 * data.F), Matrix(20, 0)}) {
    for (const double cost : {1e-3, 1.0, 1e5}) {
      const Data degenerate{F, data.y};
      const linear::HingeLp problem = degenerate.at(cost);
      const linear::HingeLpSolution solution = linear::solve_hinge_lp(problem);
      EXPECT_TRUE(solution.w.allFinite());
      EXPECT_EQ(solution.info.status, SolveStatus::kSolved) << solution.info.gap << ' ' << cost;
    }
  }
}

TEST(HingeLp, BearsOneSampleAgainstMany) {
  Data data = random_data(30, 30, 14);
  data.y.setConstant(-1);
  data.y(4) = 1;
  for (const double cost : {1e-3, 1.0, 1e5}) {
    EXPECT_EQ(linear::solve_hinge_lp(data.at(cost)).info.status, SolveStatus::kSolved);
  }
  data.y(4) = -1;  // nobody on the other side
  EXPECT_EQ(linear::solve_hinge_lp(data.at(1)).info.objective, 0);
}

TEST(HingeLp, StartsAnywhere) {
  const Data data = random_data(60, 500, 15);
  const linear::HingeLpSolution cold = linear::solve_hinge_lp(data.at(1));
  const linear::HingeLpSolution warm = linear::solve_hinge_lp(data.at(1), {}, {}, cold.working);
  const linear::HingeLpSolution odd = linear::solve_hinge_lp(data.at(1), {}, {}, {499});
  for (const linear::HingeLpSolution* other : {&warm, &odd}) {
    EXPECT_EQ(other->info.status, SolveStatus::kSolved);
    EXPECT_NEAR(other->info.objective, cold.info.objective, 1e-8 * cold.info.objective);
  }
  EXPECT_LT(warm.info.iterations, cold.info.iterations);
}

TEST(HingeLp, SaysWhenItsStepsAreUsedUp) {
  const Data data = random_data(40, 30, 16);
  const linear::HingeLpSolution cut =
      linear::solve_hinge_lp(data.at(1), {.vertex = false, .max_iterations = 3});
  EXPECT_EQ(cut.info.status, SolveStatus::kIterationLimit);
  EXPECT_GT(cut.info.gap, 1e-8);
}

TEST(HingeLp, TakesTheMiddleOfTheInterceptsThatAreOptimal) {
  Vector f(4);
  f << 3, 2, -2, -4;
  Vector y(4);
  y << 1, 1, -1, -1;
  // Margins hold for 1 - 2 <= b <= -1 + 2.
  EXPECT_DOUBLE_EQ(dual::least_loss_intercept(f, y, Vector::Ones(4)), 0);
  f(1) = 4;
  EXPECT_DOUBLE_EQ(dual::least_loss_intercept(f, y, Vector::Ones(4)), -0.5);
  // Without any similarity the heavier class decides.
  EXPECT_DOUBLE_EQ(dual::least_loss_intercept(Vector::Zero(4), y, Vector::Ones(4)), 0);
  EXPECT_DOUBLE_EQ(dual::least_loss_intercept(Vector::Zero(3), y.head(3), Vector::Ones(3)), 1);
  EXPECT_DOUBLE_EQ(dual::least_loss_intercept(Vector::Zero(3), -y.head(3), Vector::Ones(3)), -1);
}

TEST(HingeLp, RefusesWhatItCannotMean) {
  const Data data = random_data(4, 3, 17);
  linear::HingeLp problem = data.at(1);
  problem.y(2) = 0;
  const auto solve = [&] { (void)linear::solve_hinge_lp(problem); };
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument, solve), testing::HasSubstr("y[2] = 0"));
  const auto free = [&] { (void)linear::solve_hinge_lp({data.F, data.y, Vector::Zero(4)}); };
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument, free), testing::HasSubstr("cost[0] = 0"));
  const Matrix huge = 1e306 * data.F;
  const auto overflow = [&] {
    (void)linear::solve_hinge_lp({huge, data.y, Vector::Constant(4, 1e5)});
  };
  EXPECT_THAT(error_of(ErrorCode::kInvalidArgument, overflow), testing::HasSubstr("overflow"));
}

}  // namespace
}  // namespace kith::hinge_lp_test
