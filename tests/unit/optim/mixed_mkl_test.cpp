// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/mkl/mixed.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "dual_problems.hpp"
#include "kith/core/error.hpp"
#include "kith/numerics/symmetric_eigen.hpp"

namespace kith::mixed_mkl_test {
namespace {

using testing_support::gaussian_kernel;
using testing_support::gram;
using testing_support::machine_optimum;
using testing_support::normal_matrix;
using testing_support::OwnedKernels;
using testing_support::random_labels;
using testing_support::spoiled;

mkl::MixedProblem problem_of(const OwnedKernels& owned) {
  return {owned.kernels, owned.y, owned.cost};
}

/// Kernels of the given ranks; 0 stands for a Gaussian kernel, which has them all.
OwnedKernels make_problem(Index n, const std::vector<Index>& ranks, double cost,
                          std::uint64_t seed) {
  Rng rng(seed);
  OwnedKernels owned{{}, random_labels(rng, n), Vector::Constant(n, cost)};
  for (const Index rank : ranks) {
    owned.kernels.push_back(rank == 0 ? gaussian_kernel(rng, owned.y)
                                      : gram(normal_matrix(rng, n, rank)));
  }
  return owned;
}

/// sum_i sqrt(a' Y K_i Y a) from eigenvalues, those of the size of rounding left out.
double norm_of(const OwnedKernels& owned, const Vector& alpha) {
  const Vector u = owned.y.cwiseProduct(alpha);
  double norm = 0;
  for (const Matrix& K : owned.kernels) {
    const SymmetricEigen eigen = symmetric_eigen(K);
    const double least = 100 * zero_threshold(eigen.lambda);
    const Vector values = (eigen.lambda.array() > least).select(eigen.lambda, 0.0);
    norm += values.cwiseSqrt().cwiseProduct(eigen.U.transpose() * u).norm();
  }
  return norm;
}

/// Dual and primal from the definitions: nothing of the solver is used.
struct Proof {
  double lower = 0;
  double upper = 0;
  [[nodiscard]] double gap() const { return (upper - lower) / std::abs(upper); }
};
Proof prove(const OwnedKernels& owned, const Vector& alpha, double b, const Matrix& c) {
  const double norm = norm_of(owned, alpha);
  Vector f = Vector::Constant(alpha.size(), b);
  double largest = 0;
  for (std::size_t i = 0; i < owned.kernels.size(); ++i) {
    const Vector part = owned.kernels[i] * c.col(static_cast<Index>(i));
    largest = std::max(largest, c.col(static_cast<Index>(i)).dot(part));
    f += part;
  }
  const Vector slack = (1 - (owned.y.cwiseProduct(f)).array()).max(0.0);
  return {alpha.sum() - 0.5 * norm * norm, 0.5 * largest + owned.cost.dot(slack)};
}

const std::vector<std::vector<Index>> kRanks = {{0},       {0, 0}, {0, 3},
                                                {0, 1, 5}, {2, 3}, {12, 20, 9}};

TEST(MixedMkl, BoundsItsOptimumFromBothSides) {
  for (const double cost : {1e-3, 1.0, 1e3, 1e5}) {
    for (const std::vector<Index>& ranks : kRanks) {
      SCOPED_TRACE(testing::PrintToString(ranks) + " " + std::to_string(cost));
      const OwnedKernels owned = make_problem(30, ranks, cost, 5);
      const mkl::MixedSolution found = mkl::solve_mixed(problem_of(owned));
      EXPECT_EQ(found.info.status, SolveStatus::kSolved);
      EXPECT_LE(found.info.gap, 1e-10);
      EXPECT_LE(found.info.iterations, 80);
      EXPECT_NEAR(found.gamma.sum(), 1, 1e-9);
      EXPECT_GT(found.gamma.minCoeff(), 0);
      EXPECT_GE(found.alpha.minCoeff(), 0);
      EXPECT_LE(found.alpha.maxCoeff(), cost);
      EXPECT_LE(std::abs(owned.y.dot(found.alpha)), 1e-12 * found.alpha.sum());
    }
  }
}

TEST(MixedMkl, IsProvedFromTheDefinitionsAlone) {
  for (const double cost : {1e-3, 1.0, 10.0}) {
    for (const std::vector<Index>& ranks : kRanks) {
      SCOPED_TRACE(testing::PrintToString(ranks) + " " + std::to_string(cost));
      const OwnedKernels owned = make_problem(30, ranks, cost, 6);
      const mkl::MixedSolution found = mkl::solve_mixed(problem_of(owned));
      const Proof proof = prove(owned, found.alpha, found.b, found.c);
      EXPECT_LE(proof.gap(), 1e-8);
      EXPECT_NEAR(proof.lower, found.lower, 1e-9 * found.lower);
      // off by 1e-4
      EXPECT_GT(prove(owned, found.alpha, found.b, 1.0001 * found.c).gap(), 1e-8);
      EXPECT_GT(prove(owned, found.alpha, found.b + 1e-4, found.c).gap(), 1e-8);
    }
  }
}

TEST(MixedBounds, NoticeASpoiledSolution) {
  const OwnedKernels owned = make_problem(30, {0, 4, 0}, 1.0, 3);
  const mkl::MixedProblem problem = problem_of(owned);
  const mkl::MixedSolution found = mkl::solve_mixed(problem);
  const auto gap = [&](const Vector& alpha, double b, const Matrix& c) {
    const mkl::MixedBounds bounds = mkl::mixed_bounds(problem, alpha, b, c);
    return std::max((bounds.upper - bounds.lower) / bounds.upper, bounds.feasibility);
  };
  EXPECT_LE(gap(found.alpha, found.b, found.c), 1e-9);
  EXPECT_GT(gap(found.alpha, found.b + 1e-4, found.c), 1e-8);
  EXPECT_GT(gap(found.alpha, found.b, 1.0001 * found.c), 1e-8);
  Vector alpha = found.alpha;
  alpha[0] += 1e-4;
  EXPECT_GT(gap(alpha, found.b, found.c), 1e-8);
}

TEST(MixedMkl, IsTheMachineItselfForOneKernel) {
  for (const double cost : {1e-2, 1.0, 100.0}) {
    const OwnedKernels owned = make_problem(40, {0}, cost, 5);
    const double value = machine_optimum(owned.kernels[0], owned.y, owned.cost);
    EXPECT_NEAR(mkl::solve_mixed(problem_of(owned)).info.objective, value, 1e-9 * value);
  }
}

TEST(MixedMkl, IsTheMachineOnMTimesTheKernelForMEqualOnes) {
  // sqrt(q) m times is sqrt(m^2 q): K m^2, since every gamma is 1 / m.
  OwnedKernels owned = make_problem(30, {0}, 1.0, 9);
  const Matrix K = owned.kernels[0];
  owned.kernels = {K, K, K};
  const mkl::MixedSolution found = mkl::solve_mixed(problem_of(owned));
  const double value = machine_optimum(9 * K, owned.y, owned.cost);
  EXPECT_NEAR(found.info.objective, value, 1e-9 * value);
}

TEST(MixedMkl, GivesTheWeightsOfItsNorms) {
  const OwnedKernels owned = make_problem(40, {0, 0, 25}, 1.0, 4);
  const mkl::MixedSolution found = mkl::solve_mixed(problem_of(owned));
  const Vector u = owned.y.cwiseProduct(found.alpha);
  Vector roots(3);
  for (Index i = 0; i < 3; ++i) {
    roots[i] = std::sqrt(u.dot(owned.kernels[static_cast<std::size_t>(i)] * u));
  }
  for (Index i = 0; i < 3; ++i) EXPECT_NEAR(found.gamma[i], roots[i] / roots.sum(), 1e-6);
}

TEST(MixedMkl, TreatsAKernelItCanSatisfyAsFeaturesWithoutAPenalty) {
  // One feature, which cannot tell the classes apart: its part of the machine is shorter than the
  // other's, and u has no part along it.
  const OwnedKernels owned = make_problem(40, {0, 1}, 1e3, 11);
  const mkl::MixedSolution found = mkl::solve_mixed(problem_of(owned));
  ASSERT_EQ(found.info.status, SolveStatus::kSolved);
  const auto length = [&](Index i) {
    return std::sqrt(
        found.c.col(i).dot(owned.kernels[static_cast<std::size_t>(i)] * found.c.col(i)));
  };
  EXPECT_LT(length(1), 0.999 * length(0));
  EXPECT_GT(length(1), 0);
  EXPECT_LT(found.gamma[1], 1e-6);
  const Vector u = owned.y.cwiseProduct(found.alpha);
  EXPECT_LE(std::sqrt(std::abs(u.dot(owned.kernels[1] * u))), 1e-6 * u.norm());
}

TEST(MixedMkl, DoesNotDependOnTheOrderOfKernels) {
  OwnedKernels owned = make_problem(30, {0, 5, 0, 2}, 1.0, 6);
  const double before = mkl::solve_mixed(problem_of(owned)).lower;
  std::swap(owned.kernels[0], owned.kernels[3]);
  EXPECT_NEAR(mkl::solve_mixed(problem_of(owned)).lower, before, 1e-9 * before);
}

TEST(MixedMkl, BearsKernelsThatSayNothing) {
  for (const double value : {0.0, 1.0}) {
    OwnedKernels owned = make_problem(20, {0}, 1.0, 2);
    const double alone = mkl::solve_mixed(problem_of(owned)).lower;
    owned.kernels.emplace_back(Matrix::Constant(20, 20, value));
    const mkl::MixedSolution found = mkl::solve_mixed(problem_of(owned));
    EXPECT_EQ(found.info.status, SolveStatus::kSolved) << value;
    EXPECT_NEAR(found.lower, alone, 1e-8 * alone);
    owned.kernels.erase(owned.kernels.begin());
    EXPECT_EQ(mkl::solve_mixed(problem_of(owned)).info.status, SolveStatus::kSolved) << value;
  }
}

TEST(MixedMkl, RefusesWhatItCannotSolve) {
  for (const OwnedKernels& bad : spoiled(make_problem(10, {0, 0}, 1.0, 1))) {
    EXPECT_THROW(static_cast<void>(mkl::solve_mixed(problem_of(bad))), Error);
  }
}

}  // namespace
}  // namespace kith::mixed_mkl_test
