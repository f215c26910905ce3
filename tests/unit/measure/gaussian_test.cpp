// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "kith/numerics/symmetric_eigen.hpp"
#include "measure/vector_measure.hpp"

namespace kith::gaussian_test {
namespace {

RowMatrix random_rows(Index n, Index d, std::uint64_t seed) {
  Rng rng(seed);
  RowMatrix X(n, d);
  for (Index i = 0; i < X.size(); ++i) X.data()[i] = rng.normal();
  return X;
}

RowMatrix gaussian_matrix(const RowMatrix& X, double gamma, const RunContext& ctx) {
  return detail::vector_pairs(DenseBlock(X), nullptr,
                              {.measure = Measure::kGaussian, .gamma = gamma}, ctx);
}

RowMatrix gaussian_matrix(const RowMatrix& queries, const RowMatrix& training, double gamma,
                          const RunContext& ctx) {
  const Block columns = DenseBlock(training);
  return detail::vector_pairs(DenseBlock(queries), &columns,
                              {.measure = Measure::kGaussian, .gamma = gamma}, ctx);
}

TEST(GaussianMatrix, IsTheDefinitionAndPositiveSemidefinite) {
  const RowMatrix X = random_rows(50, 4, 1);
  const RowMatrix K = gaussian_matrix(X, 0.3, RunContext{});
  for (Index i = 0; i < 50; ++i) {
    for (Index j = 0; j < 50; ++j) {
      EXPECT_NEAR(K(i, j), std::exp(-0.3 * (X.row(i) - X.row(j)).squaredNorm()), 1e-14);
    }
  }
  EXPECT_EQ(K, RowMatrix(K.transpose()));
  EXPECT_EQ(K.diagonal(), Vector::Ones(50));
  EXPECT_GT(symmetric_eigenvalues(K).minCoeff(), -1e-12);
}

TEST(GaussianMatrix, IsTheSameForAnyNumberOfThreadsAndForRowsOfTheSameSamples) {
  const RowMatrix X = random_rows(61, 5, 2);
  const RowMatrix one = gaussian_matrix(X, 0.2, RunContext{.threads = 1});
  EXPECT_EQ(gaussian_matrix(X, 0.2, RunContext{.threads = 3}), one);
  EXPECT_EQ(gaussian_matrix(X, X, 0.2, RunContext{.threads = 2}), one);
  EXPECT_EQ(gaussian_matrix(X.topRows(9), X, 0.2, RunContext{}), one.topRows(9));
}

TEST(GaussianMatrix, DoesNotMoveWithTheOrigin) {
  const RowMatrix X = random_rows(20, 3, 3);
  const RowMatrix moved = X.array() + 1e6;
  EXPECT_LT((gaussian_matrix(moved, 1, RunContext{}) - gaussian_matrix(X, 1, RunContext{})).norm(),
            1e-7);
}

TEST(PerturbCy, AddsSymmetricNoiseInProportionToXi) {
  const RowMatrix K = gaussian_matrix(random_rows(80, 3, 4), 0.5, RunContext{});
  RowMatrix once = K;
  RowMatrix thrice = K;
  detail::perturb_cy(once, 0.1, Rng(7));
  detail::perturb_cy(thrice, 0.3, Rng(7));
  EXPECT_EQ(once, RowMatrix(once.transpose()));
  EXPECT_LT((3 * (once - K) - (thrice - K)).norm(), 1e-13);
  // Wigner's law: the noise alone, of variance 1/2 off the diagonal, reaches xi sqrt(2 n).
  const Vector lambda = symmetric_eigenvalues(Matrix(once - K));
  EXPECT_NEAR(lambda.maxCoeff(), 0.1 * std::sqrt(160.0), 0.2);
  EXPECT_NEAR(lambda.minCoeff(), -0.1 * std::sqrt(160.0), 0.2);
}

}  // namespace
}  // namespace kith::gaussian_test
