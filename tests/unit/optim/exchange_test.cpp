// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/papers/exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dual_problems.hpp"
#include "kith/core/error.hpp"
#include "kith/numerics/psd.hpp"
#include "kith/optim/dual/smo.hpp"
#include "kith/optim/papers/projected_gradient.hpp"
#include "kith/optim/robust/newton.hpp"

namespace kith::exchange_test {
namespace {

using testing_support::gaussian_kernel;
using testing_support::random_labels;
using testing_support::random_symmetric;

struct Owned {
  Matrix S;
  Vector y;
  double cost = 1;
  double rho = 1;
  [[nodiscard]] robust::Problem problem() const {
    return {S, y, Vector::Constant(y.size(), cost), rho};
  }
};

/// [CY] 6.1: a Gaussian kernel with symmetric noise.
Owned perturbed(Index n, double noise, std::uint64_t seed) {
  Rng rng(seed);
  Vector y = random_labels(rng, n);
  Matrix S = gaussian_kernel(rng, y) + noise * random_symmetric(rng, n);
  return {std::move(S), std::move(y)};
}

double value(const robust::Solution& solution) { return solution.info.objective - solution.offset; }

class Exchange : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] static papers::ExchangeSettings settings() { return {.prune = GetParam()}; }
};

TEST_P(Exchange, ClosesTheGapBetweenMonotoneBounds) {
  const Owned owned = perturbed(24, 0.2, 3);
  const papers::ExchangeSolution found = papers::exchange(owned.problem(), settings());
  ASSERT_EQ(found.solution.info.status, SolveStatus::kSolved);
  const std::vector<BoundsStep>& trace = found.solution.trace;
  ASSERT_GT(trace.size(), 10U);
  ASSERT_EQ(found.masters.size(), trace.size());
  EXPECT_EQ(found.solution.info.iterations, static_cast<long>(trace.size()));
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const BoundsStep& step = trace[i];
    EXPECT_LE(step.lower, step.upper);
    EXPECT_EQ(step.gap, step.upper - step.lower);
    EXPECT_NEAR(found.masters[i], step.upper, 1e-8 * std::abs(step.upper));
    if (i == 0) continue;
    const BoundsStep& before = trace[i - 1];
    EXPECT_GE(step.lower, before.lower);
    EXPECT_LE(step.upper, before.upper);
    EXPECT_LE(found.masters[i], found.masters[i - 1] * (1 + 1e-8)) << "iteration " << i + 1;
    EXPECT_LE(step.set_size, before.set_size + 1);
  }
  EXPECT_LE(trace.back().upper - trace.back().lower, settings().gap);
  const robust::Certificate c = certify(owned.problem(), found.solution.alpha);
  EXPECT_NEAR(c.value, trace.back().lower, 1e-10);
  EXPECT_LE(c.value, trace.back().upper);
  EXPECT_LE(c.feasibility, 1e-12);
}

TEST_P(Exchange, MeetsTheNewtonSolverWithinItsGap) {
  for (const double rho : {0.3, 1.0, 30.0}) {
    for (const double cost : {0.01, 1.0, 100.0}) {
      Owned owned = perturbed(20, 0.2, 7);
      owned.rho = rho;
      owned.cost = cost;
      const papers::ExchangeSolution found = papers::exchange(owned.problem(), settings());
      const robust::Solution other = robust::newton(owned.problem());
      ASSERT_EQ(found.solution.info.status, SolveStatus::kSolved) << rho << " " << cost;
      ASSERT_EQ(other.info.status, SolveStatus::kSolved) << rho << " " << cost;
      const double gap = settings().gap * std::min(1.0, value(other));
      EXPECT_NEAR(value(found.solution), value(other), 1.01 * gap) << rho << " " << cost;
      EXPECT_LE(found.solution.trace.back().lower, value(other) * (1 + 1e-7));
      EXPECT_GE(found.solution.trace.back().upper, value(other) * (1 - 1e-9));
      EXPECT_NEAR(found.solution.offset, other.offset, 1e-12 * other.offset);
      EXPECT_NEAR(found.solution.distance, other.distance, 0.02 * other.distance);
    }
  }
}

TEST_P(Exchange, SaysThatItWasStopped) {
  const Owned owned = perturbed(20, 0.2, 5);
  papers::ExchangeSettings few = settings();
  few.max_iterations = 4;
  const papers::ExchangeSolution found = papers::exchange(owned.problem(), few);
  EXPECT_EQ(found.solution.info.status, SolveStatus::kIterationLimit);
  EXPECT_EQ(found.solution.trace.size(), 4U);
  EXPECT_GT(found.solution.info.gap, 1e-5);
  // The bounds hold all the same.
  const double optimum = value(papers::projected_gradient(owned.problem(), {.tolerance = 1e-8}));
  EXPECT_LE(found.solution.trace.back().lower, optimum);
  EXPECT_GE(found.solution.trace.back().upper, optimum);
}

INSTANTIATE_TEST_SUITE_P(All, Exchange, testing::Bool(),
                         [](const auto& kind) { return kind.param ? "Pruned" : "Full"; });

TEST(ExchangeSet, AddsOneKernelPerIterationUnlessItPrunes) {
  const Owned owned = perturbed(24, 0.2, 9);
  const papers::ExchangeSolution full = papers::exchange(owned.problem(), {.prune = false});
  const papers::ExchangeSolution pruned = papers::exchange(owned.problem(), {.prune = true});
  for (std::size_t i = 0; i < full.solution.trace.size(); ++i) {
    EXPECT_EQ(full.solution.trace[i].set_size, static_cast<Index>(i) + 1);
    if (i < pruned.solution.trace.size()) {
      EXPECT_LE(pruned.solution.trace[i].set_size, full.solution.trace[i].set_size);
    }
  }
  EXPECT_LT(pruned.solution.trace.back().set_size, full.solution.trace.back().set_size / 2);
  EXPECT_NEAR(value(full.solution), value(pruned.solution), 1e-5);
}

TEST(RobustMachine, IsTheMachineOnTheClippedMatrixForALargeRho) {
  Owned owned = perturbed(24, 0.2, 2);
  owned.rho = 1e6;
  const Matrix clipped = positive_part(owned.S);
  const dual::SvmDual dual{dual::SymmetricView::dense(clipped), owned.y, Vector::Ones(24), {}};
  const double machine = dual::smo(dual).info.objective;
  EXPECT_NEAR(value(papers::exchange(owned.problem()).solution), machine, 1e-4 * machine);
  EXPECT_NEAR(value(papers::projected_gradient(owned.problem())), machine, 1e-4 * machine);
}

TEST(RobustMachine, DoesNotDependOnTheOrderOfSamplesOrTheNamesOfClasses) {
  const Owned owned = perturbed(20, 0.2, 4);
  Rng rng(5);
  const std::vector<Index> order = rng.permutation(20);
  const Owned other{owned.S(order, order), -owned.y(order)};
  EXPECT_NEAR(value(papers::exchange(owned.problem(), {.prune = true}).solution),
              value(papers::exchange(other.problem(), {.prune = true}).solution), 1e-5);
  EXPECT_NEAR(value(papers::projected_gradient(owned.problem())),
              value(papers::projected_gradient(other.problem())), 1e-5);
}

TEST(RobustCertificate, IsTheDefinitionRecomputed) {
  const Owned owned = perturbed(15, 0.3, 6);
  const robust::Solution found = papers::projected_gradient(owned.problem());
  const robust::Certificate c = certify(owned.problem(), found.alpha);
  const Vector u = owned.y.cwiseProduct(found.alpha);
  const Matrix K = positive_part(owned.S + u * u.transpose() / (4 * owned.rho));
  const double objective =
      found.alpha.sum() - 0.5 * u.dot(K * u) + owned.rho * (K - owned.S).squaredNorm();
  EXPECT_NEAR(c.value + c.offset, objective, 1e-11);
  EXPECT_NEAR(c.offset, owned.rho * (positive_part(owned.S) - owned.S).squaredNorm(), 1e-11);
  EXPECT_LT((reconstruct(found.kernel.U, found.kernel.lambda) - K).norm(), 1e-11);
  EXPECT_LE(c.gap, 1e-6);
}

TEST(RobustCertificate, NoticesASpoiledSolution) {
  const Owned owned = perturbed(20, 0.2, 8);
  const robust::Solution found = robust::newton(owned.problem(), {.tolerance = 1e-9});
  const auto passes = [&](const Vector& alpha) {
    const robust::Certificate c = certify(owned.problem(), alpha);
    return c.gap <= 1e-8 && c.kkt_residual <= 1e-5 && c.feasibility <= 1e-9;
  };
  const robust::Certificate good = certify(owned.problem(), found.alpha);
  EXPECT_TRUE(passes(found.alpha))
      << good.gap << " " << good.kkt_residual << " " << good.feasibility;
  EXPECT_FALSE(passes((1 - 1e-4) * found.alpha));
  EXPECT_FALSE(passes((1 + 1e-4) * found.alpha));
  Vector unbalanced = found.alpha;
  unbalanced[0] += 1e-4;
  EXPECT_FALSE(passes(unbalanced));
}

TEST(RobustCertificate, IsNotDeceivedByAWitness) {
  const Owned owned = perturbed(20, 0.2, 8);
  const Index n = owned.S.rows();
  const double optimum = value(robust::newton(owned.problem()));
  const Vector alpha = papers::exchange(owned.problem(), {.max_iterations = 3}).solution.alpha;
  Rng rng(2);
  for (const Matrix& witness :
       {Matrix(Matrix::Zero(n, n)), owned.S, Matrix(-owned.S), positive_part(owned.S),
        Matrix(100 * Matrix::Identity(n, n)), Matrix(random_symmetric(rng, n))}) {
    const robust::Certificate c = certify(owned.problem(), alpha, {}, witness);
    EXPECT_LE(c.value, optimum * (1 + 1e-9));
    EXPECT_GE(c.upper, optimum * (1 - 1e-9));
    EXPECT_LE(c.gap, certify(owned.problem(), alpha).gap);
  }
  EXPECT_THROW((void)certify(owned.problem(), alpha, {}, Matrix::Zero(n, n + 1)), Error);
}

/// Next to no kernel at all: K = u u' / (4 rho) is far from any before it, and master problems are
/// of low rank.
TEST_P(Exchange, TellsTheTruthWhereMasterProblemsAreHard) {
  std::vector<Owned> all = {{-Matrix::Identity(2, 2), Vector{{1.0, -1.0}}}};
  for (const std::uint64_t seed : {1, 2}) {
    Rng rng(seed);
    const Vector y = random_labels(rng, 12);
    all.push_back({-gaussian_kernel(rng, y), y});
    const Matrix X = testing_support::normal_matrix(rng, 12, 2);
    const Matrix Z = testing_support::normal_matrix(rng, 12, 3);
    all.push_back({X * X.transpose() - Z * Z.transpose(), y});
  }
  for (Owned& owned : all) {
    for (const double cost : {1.0, 100.0, 1e4}) {
      for (const double rho : {1e-3, 1.0}) {
        owned.cost = cost;
        owned.rho = rho;
        papers::ExchangeSettings few = settings();
        few.max_iterations = 60;
        const robust::Solution found = papers::exchange(owned.problem(), few).solution;
        const double optimum = value(robust::newton(owned.problem()));
        const auto what = [&] {
          return ::testing::Message()
                 << "n " << owned.y.size() << " cost " << cost << " rho " << rho << " value "
                 << value(found) << " optimum " << optimum << " gap " << found.info.gap;
        };
        EXPECT_LE(value(found), optimum * (1 + 1e-7)) << what();
        const robust::Certificate c = certify(owned.problem(), found.alpha, {}, found.witness);
        EXPECT_EQ(c.gap, found.info.gap) << what();
        EXPECT_GE(c.gap, 0) << what();
        EXPECT_GE(c.upper, optimum * (1 - 1e-7)) << what();
        if (found.info.status == SolveStatus::kSolved) {
          EXPECT_LE(found.info.gap, 1.01e-5) << what();
        }
      }
    }
  }
}

TEST(ProjectedGradient, SaysThatItWasStoppedAndHowFarItIs) {
  const Owned owned = perturbed(30, 0.2, 5);
  const robust::Solution found =
      papers::projected_gradient(owned.problem(), {.tolerance = 1e-8, .max_iterations = 3});
  EXPECT_EQ(found.info.status, SolveStatus::kIterationLimit);
  EXPECT_EQ(found.info.iterations, 3);
  EXPECT_GT(found.info.gap, 1e-8);
  const double optimum = value(papers::projected_gradient(owned.problem(), {.tolerance = 1e-9}));
  EXPECT_LE(value(found), optimum);
  EXPECT_GE(value(found) + found.info.gap * (value(found) / (1 - found.info.gap)), optimum);
}

TEST(ProjectedGradient, MeetsTheNewtonSolver) {
  for (const double rho : {0.1, 1.0, 100.0}) {
    Owned owned = perturbed(40, 0.2, 12);
    owned.rho = rho;
    const robust::Solution found = papers::projected_gradient(owned.problem(), {.tolerance = 1e-8});
    const double optimum = value(robust::newton(owned.problem()));
    EXPECT_EQ(found.info.status, SolveStatus::kSolved);
    EXPECT_NEAR(value(found), optimum, 2e-8 * optimum);
    EXPECT_EQ(found.rho, rho);
  }
}

TEST(RobustMachine, IsFoundAndProvedWhereTheOffsetHasAllTheDigits) {
  Owned owned = perturbed(40, 0.3, 12);
  owned.S *= 1e7;
  const robust::Problem problem = owned.problem();
  const Matrix clipped = positive_part(owned.S);
  const dual::SvmDual machine{dual::SymmetricView::dense(clipped), problem.y, problem.cost, {}};
  const Vector expected = clipped * problem.y.cwiseProduct(dual::smo(machine).alpha);
  const robust::Solution both[] = {papers::projected_gradient(problem),
                                   papers::exchange(problem).solution};
  for (const robust::Solution& found : both) {
    EXPECT_EQ(found.info.status, SolveStatus::kSolved);
    EXPECT_LE(std::abs(found.info.gap), 1e-5);
    EXPECT_LE(found.info.kkt_residual, 1e-2);
    // As rho to infinity: the machine on the nearest kernel.
    const Vector decisions = clipped * problem.y.cwiseProduct(found.alpha);
    EXPECT_LT((decisions - expected).cwiseAbs().maxCoeff(), 1e-2);
  }
}

TEST(ProjectedGradient, IsNotSolvedBecauseItsGapIsRounding) {
  Owned owned = perturbed(40, 0.3, 12);
  owned.S *= 1e7;
  const robust::Solution found = papers::projected_gradient(owned.problem(), {.max_iterations = 1});
  EXPECT_NE(found.info.status, SolveStatus::kSolved);
  EXPECT_GT(found.info.gap, 1e-3);
}

TEST(DualProjection, IsTheNearestFeasiblePoint) {
  Rng rng(11);
  for (int trial = 0; trial < 50; ++trial) {
    const Index n = 2 + trial;
    const Vector y = random_labels(rng, n);
    Vector v(n);
    Vector cost(n);
    for (Index i = 0; i < n; ++i) {
      v[i] = 3 * rng.normal();
      cost[i] = 0.1 + rng.uniform();
    }
    const Vector a = papers::project_to_dual(v, y, cost);
    EXPECT_GE(a.minCoeff(), 0);
    EXPECT_LE((a - cost).maxCoeff(), 0);
    EXPECT_NEAR(y.dot(a), 0, 1e-12 * static_cast<double>(n));
    // (v - a)'(z - a) <= 0 for every feasible z
    for (int k = 0; k < 20; ++k) {
      Vector z(n);
      for (double& x : z) x = rng.normal();
      z = papers::project_to_dual(z, y, cost);
      EXPECT_LE((v - a).dot(z - a), 1e-11 * static_cast<double>(n));
    }
    EXPECT_LT((papers::project_to_dual(a, y, cost) - a).norm(), 1e-12);
  }
}

TEST(RobustMachine, RefusesWhatItCannotSolve) {
  const auto refuses = [](const Owned& owned) {
    EXPECT_THROW(static_cast<void>(papers::exchange(owned.problem())), Error);
    EXPECT_THROW(static_cast<void>(papers::projected_gradient(owned.problem())), Error);
  };
  Owned owned = perturbed(10, 0.1, 1);
  owned.rho = 0;
  refuses(owned);
  owned = perturbed(10, 0.1, 1);
  owned.cost = -1;
  refuses(owned);
  owned = perturbed(10, 0.1, 1);
  owned.y.setOnes();
  refuses(owned);
  owned = perturbed(10, 0.1, 1);
  owned.S.conservativeResize(10, 9);
  refuses(owned);
}

}  // namespace
}  // namespace kith::exchange_test
