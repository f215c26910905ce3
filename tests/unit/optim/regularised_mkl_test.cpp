// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/mkl/regularised.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dual_problems.hpp"
#include "kith/core/error.hpp"

namespace kith::regularised_mkl_test {
namespace {

using testing_support::gaussian_kernel;
using testing_support::gram;
using testing_support::machine_optimum;
using testing_support::normal_matrix;
using testing_support::OwnedKernels;
using testing_support::random_labels;
using testing_support::spoiled;

struct Owned {
  OwnedKernels machine;
  Vector penalty;
  [[nodiscard]] mkl::RegularisedProblem problem() const {
    return {machine.kernels, penalty, machine.y, machine.cost};
  }
};

Owned random_problem(Index n, Index p, double cost, std::uint64_t seed) {
  Rng rng(seed);
  Owned owned{{{}, random_labels(rng, n), Vector::Constant(n, cost)}, Vector(p)};
  for (Index i = 0; i < p; ++i) {
    owned.machine.kernels.push_back(i % 3 == 2 ? gram(normal_matrix(rng, n, 3))
                                               : gaussian_kernel(rng, owned.machine.y, 2 + i));
    owned.penalty[i] = cost * rng.uniform();
  }
  return owned;
}

/// The machine on a fixed combination.
double machine_value(const Owned& owned, const Vector& theta) {
  Matrix K = Matrix::Zero(owned.machine.y.size(), owned.machine.y.size());
  for (std::size_t i = 0; i < owned.machine.kernels.size(); ++i) {
    K += theta[static_cast<Index>(i)] * owned.machine.kernels[i];
  }
  return machine_optimum(K, owned.machine.y, owned.machine.cost) + theta.dot(owned.penalty);
}

TEST(RegularisedMkl, BoundsItsOptimumFromBothSides) {
  for (const double cost : {1e-3, 1.0, 1e3, 1e5}) {
    for (const Index p : {1, 2, 7, 25}) {
      const Owned owned = random_problem(30, p, cost, static_cast<std::uint64_t>(p));
      const mkl::RegularisedProblem problem = owned.problem();
      const mkl::RegularisedSolution found = mkl::solve_regularised(problem);
      EXPECT_EQ(found.info.status, SolveStatus::kSolved) << cost << " " << p;
      EXPECT_LE(found.info.iterations, 40) << cost << " " << p;
      EXPECT_LE(found.info.gap, 1e-10);
      EXPECT_NEAR(found.theta.sum(), 1, 1e-12);
      EXPECT_GE(found.theta.minCoeff(), 0);
      EXPECT_GE(found.alpha.minCoeff(), 0);
      EXPECT_LE(found.alpha.maxCoeff(), cost);
      EXPECT_LE(std::abs(owned.machine.y.dot(found.alpha)), 1e-12 * found.alpha.sum());
      const mkl::RegularisedBounds again =
          mkl::regularised_bounds(problem, found.alpha, found.b, found.theta);
      EXPECT_NEAR(again.upper, again.lower, 1e-9 * again.upper);
      EXPECT_EQ(again.lower, again.values.minCoeff());
    }
  }
}

TEST(RegularisedMkl, IsTheMachineItselfForOneKernel) {
  for (const double cost : {1e-2, 1.0, 100.0}) {
    const Owned owned = random_problem(40, 1, cost, 5);
    const double value = machine_value(owned, Vector::Ones(1));
    EXPECT_NEAR(mkl::solve_regularised(owned.problem()).info.objective, value, 1e-9 * value);
  }
}

TEST(RegularisedMkl, FindsTheBestOfAllCombinationsOfTwoKernels) {
  const Owned owned = random_problem(25, 2, 1.0, 8);
  const mkl::RegularisedSolution found = mkl::solve_regularised(owned.problem());
  double least = 1e300;
  for (int k = 0; k <= 200; ++k) {
    const double part = k / 200.0;
    least = std::min(least, machine_value(owned, Vector{{part, 1 - part}}));
  }
  EXPECT_LE(found.lower, least * (1 + 1e-9));
  EXPECT_NEAR(found.upper, least, 1e-3 * least);  // the grid's own distance from the minimum
  EXPECT_NEAR(machine_value(owned, found.theta), found.upper, 1e-8 * least);
}

TEST(RegularisedMkl, LeavesOutAKernelThatCostsTooMuch) {
  Owned owned = random_problem(30, 3, 1.0, 4);
  owned.penalty << 0, 0, 1e4;
  const mkl::RegularisedSolution found = mkl::solve_regularised(owned.problem());
  EXPECT_LE(found.theta[2], 1e-9);
  owned.machine.kernels.pop_back();
  owned.penalty.conservativeResize(2);
  const double without = mkl::solve_regularised(owned.problem()).lower;
  EXPECT_NEAR(found.lower, without, 1e-8 * without);
}

TEST(RegularisedMkl, DoesNotDependOnTheOrderOfKernels) {
  Owned owned = random_problem(30, 4, 1.0, 6);
  const double before = mkl::solve_regularised(owned.problem()).lower;
  std::swap(owned.machine.kernels[0], owned.machine.kernels[3]);
  std::swap(owned.penalty[0], owned.penalty[3]);
  EXPECT_NEAR(mkl::solve_regularised(owned.problem()).lower, before, 1e-9 * before);
}

TEST(RegularisedMkl, EndsWhereOnlyRoundingIsLeft) {
  const Owned owned = random_problem(100, 3, 10, 6);
  const mkl::RegularisedSolution found =
      mkl::solve_regularised(owned.problem(), {.tolerance = 1e-18});
  EXPECT_LE(found.info.iterations, 40);
  EXPECT_LE(found.info.gap, 1e-10);
}

TEST(MklBounds, NoticeASpoiledSolution) {
  const Owned owned = random_problem(30, 5, 1.0, 3);
  const mkl::RegularisedProblem problem = owned.problem();
  const mkl::RegularisedSolution found = mkl::solve_regularised(problem);
  const auto gap = [&](const Vector& alpha, double b, const Vector& theta) {
    const mkl::RegularisedBounds bounds = mkl::regularised_bounds(problem, alpha, b, theta);
    return std::max((bounds.upper - bounds.lower) / bounds.upper, bounds.feasibility);
  };
  constexpr double kSpoil = 1e-4;
  EXPECT_LE(gap(found.alpha, found.b, found.theta), 1e-9);
  EXPECT_GT(gap((1 - kSpoil) * found.alpha, found.b, found.theta), 1e-8);
  EXPECT_GT(gap((1 + kSpoil) * found.alpha, found.b, found.theta), 1e-8);
  EXPECT_GT(gap(found.alpha, found.b + kSpoil, found.theta), 1e-8);
  EXPECT_GT(gap(found.alpha, found.b - kSpoil, found.theta), 1e-8);
  for (Index i = 0; i < 5; ++i) {
    Vector theta = found.theta;
    theta[i] += kSpoil;
    EXPECT_GT(gap(found.alpha, found.b, theta / theta.sum()), 1e-8) << i;
  }
}

TEST(RegularisedMkl, RefusesWhatItCannotSolve) {
  const auto refuses = [](const Owned& owned) {
    EXPECT_THROW(static_cast<void>(mkl::solve_regularised(owned.problem())), Error);
  };
  Owned owned = random_problem(10, 2, 1.0, 1);
  for (const OwnedKernels& bad : spoiled(owned.machine)) refuses({bad, owned.penalty});
  owned.penalty.conservativeResize(1);
  refuses(owned);
}

}  // namespace
}  // namespace kith::regularised_mkl_test
