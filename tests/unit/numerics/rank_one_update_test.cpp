// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/rank_one_update.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kith/core/error.hpp"
#include "kith/core/rng.hpp"

namespace kith::rank_one_update_test {
namespace {

Vector random_vector(Index n, Rng& rng) {
  return Vector::NullaryExpr(n, [&](Index) { return rng.normal(); });
}

/// The definition: W orthogonal, W diag(value) W' = diag(lambda) + z z', W'z as promised.
void expect_decomposes(const Vector& lambda, const Vector& z) {
  const Index n = lambda.size();
  const RankOneUpdater updater(lambda);
  const RankOneDecomposition found = updater.update(z);
  const double eps = static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  const double scale = lambda.cwiseAbs().maxCoeff() + z.squaredNorm();
  EXPECT_LT((found.W.transpose() * found.W - Matrix::Identity(n, n)).norm(), 20 * eps);
  const Matrix M = Matrix(lambda.asDiagonal()) + z * z.transpose();
  const Matrix again = found.W * found.value.asDiagonal() * found.W.transpose();
  EXPECT_LT((again - M).norm(), 40 * eps * scale);
  EXPECT_LT((found.product - found.W.transpose() * z).norm(), 40 * eps * z.norm());
  EXPECT_GE(found.rise.minCoeff(), 0);
  EXPECT_LT((updater.lambda() + found.rise - found.value).norm(), eps * scale);
  // The trace grows by |z|^2, however small that is beside lambda.
  EXPECT_NEAR(found.rise.sum(), z.squaredNorm(), 100 * eps * z.squaredNorm());
}

TEST(RankOneUpdate, DecomposesRandomMatrices) {
  Rng rng(3);
  for (int trial = 0; trial < 60; ++trial) {
    const Index n = 1 + static_cast<Index>(rng.below(40));
    Vector lambda = random_vector(n, rng);
    std::sort(lambda.begin(), lambda.end());
    expect_decomposes(lambda, std::pow(10.0, 4 * rng.uniform() - 2) * random_vector(n, rng));
  }
}

TEST(RankOneUpdate, KeepsTheTraceOfAnUpdateFarBelowTheRoundingOfLambda) {
  Rng rng(4);
  Vector lambda = random_vector(30, rng);
  std::sort(lambda.begin(), lambda.end());
  for (const double size : {1e-4, 1e-8, 1e-12})
    expect_decomposes(lambda, size * random_vector(30, rng));
}

TEST(RankOneUpdate, TakesEqualValuesZerosAndGradedVectors) {
  expect_decomposes(Vector{{-1, -1, 0, 0, 0, 2, 2}}, Vector{{1, 2, 0, 0.5, 1, 0, 3}});
  expect_decomposes(Vector::Zero(5), Vector{{1, -1, 1, 2, 0}});
  expect_decomposes(Vector{{1, 2}}, Vector{{0.5, -3}});
  expect_decomposes(Vector{{1, 1 + 1e-9}}, Vector{{1e-3, 1e-3}});
  expect_decomposes(Vector{{-1, 0, 1e-13, 1}}, Vector{{1e-9, 1e-12, 0.5, 1}});
  expect_decomposes(Vector{{-1, 0, 1, 2, 3}}, Vector{{1, 1e-5, 1e-10, 1e-5, 1}});
}

TEST(RankOneUpdate, LeavesEverythingForAZeroVector) {
  const Vector lambda{{-1, 0, 3}};
  const RankOneDecomposition found = RankOneUpdater(lambda).update(Vector::Zero(3));
  EXPECT_EQ(found.value, lambda);
  EXPECT_TRUE(found.W.isIdentity(0));
}

TEST(RankOneUpdate, RefusesAnotherSizeAndNan) {
  const RankOneUpdater updater(Vector{{1, 2}});
  EXPECT_THROW((void)updater.update(Vector::Zero(3)), Error);
  EXPECT_THROW((void)updater.update(Vector{{1, std::nan("")}}), Error);
}

}  // namespace
}  // namespace kith::rank_one_update_test
