// SPDX-License-Identifier: Apache-2.0
#include "kith/vectors/feature_scale.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "kith/core/error.hpp"
#include "kith/core/rng.hpp"
#include "support/files.hpp"
#include "support/sparse_tables.hpp"

namespace kith::feature_scale_test {
namespace {

Matrix table(std::uint64_t seed) {
  Rng rng(seed);
  Matrix X(30, 3);
  for (double& x : X.reshaped()) x = 2 + rng.normal();
  return X;
}

TEST(FeatureScale, HasMeanZeroAndDeviationOneInEveryUnit) {
  const Matrix X = table(1);
  Matrix first;
  for (const int unit : {0, -245, -100, -3, 5, 100, 245}) {
    const Matrix in_unit = X.unaryExpr([&](double x) { return std::ldexp(x, unit); });
    const Block vectors = DenseBlock(RowMatrix(in_unit));
    const Matrix Z = scaled(learn_scale(vectors, FeatureScaling::kStandard), vectors);
    for (Index j = 0; j < Z.cols(); ++j) {
      EXPECT_NEAR(Z.col(j).mean(), 0, 1e-14) << unit;
      EXPECT_NEAR(Z.col(j).squaredNorm(), 30, 1e-12) << unit;
    }
    if (first.size() == 0) first = Z;
    EXPECT_EQ(Z, first) << unit;  // powers of two round nothing
    const Block entries = test::sparse_of(in_unit);
    const Matrix same = scaled(learn_scale(entries, FeatureScaling::kStandard), entries);
    EXPECT_LT((same - Z).cwiseAbs().maxCoeff(), 1e-13) << unit;
    const Matrix between = scaled(learn_scale(vectors, FeatureScaling::kRange), vectors);
    EXPECT_NEAR(between.minCoeff(), 0, 1e-15) << unit;
    EXPECT_NEAR(between.maxCoeff(), 1, 1e-15) << unit;
  }
}

TEST(FeatureScale, OfFeaturesOfEveryUnitIsOfEachItsOwn) {
  Matrix X = table(2);
  const Block plain = DenseBlock(RowMatrix(X));
  const Matrix expected = scaled(learn_scale(plain, FeatureScaling::kStandard), plain);
  X.col(0) *= std::ldexp(1.0, 240);
  X.col(2) *= std::ldexp(1.0, -240);
  const Block vectors = DenseBlock(RowMatrix(X));
  EXPECT_EQ(scaled(learn_scale(vectors, FeatureScaling::kStandard), vectors), expected);
}

TEST(FeatureScale, IsOneWhereFeaturesKeepTheirUnit) {
  Matrix X = table(4);
  X.col(0) *= 1e-200;  // nothing beside the others, which is what it is
  EXPECT_EQ(learn_scale(DenseBlock(RowMatrix(X)), FeatureScaling::kNone).factor, Vector::Ones(3));
  EXPECT_NO_THROW(
      (void)learn_scale(DenseBlock(RowMatrix(Matrix::Zero(3, 2))), FeatureScaling::kNone));
}

}  // namespace
}  // namespace kith::feature_scale_test
