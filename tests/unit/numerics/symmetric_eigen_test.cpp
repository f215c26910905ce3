// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/symmetric_eigen.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "kith/core/error.hpp"
#include "kith/numerics/blas.hpp"
#include "matrices.hpp"
#include "numerics/eigen_steps.hpp"

namespace kith::symmetric_eigen_test {
namespace {

using test::rounding;
using test::troubled_matrices;

constexpr double kEps = std::numeric_limits<double>::epsilon();

void expect_decomposes(const Matrix& S, const SymmetricEigen& e) {
  const Index n = S.rows();
  ASSERT_EQ(e.lambda.size(), n);
  ASSERT_EQ(e.U.rows(), n);
  ASSERT_EQ(e.U.cols(), n);
  const Matrix residual = S * e.U - e.U * e.lambda.asDiagonal();
  EXPECT_LE(residual.cwiseAbs().maxCoeff(), 4 * rounding(S));
  const Matrix gram = e.U.transpose() * e.U - Matrix::Identity(n, n);
  EXPECT_LE(gram.cwiseAbs().maxCoeff(), 4 * kEps * static_cast<double>(n + 10));
  for (Index i = 1; i < n; ++i) EXPECT_LE(e.lambda[i - 1], e.lambda[i]);
}

TEST(SymmetricEigen, MeetsItsDefinitionOnTroubledMatrices) {
  for (const Index n : {2, 3, 7, 40, 130}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      for (const auto& [name, S] : troubled_matrices(n, seed)) {
        SCOPED_TRACE(name + " n=" + std::to_string(n) + " seed=" + std::to_string(seed));
        expect_decomposes(S, symmetric_eigen(S));
      }
    }
  }
}

TEST(SymmetricEigen, KeepsTraceAndFrobeniusNorm) {
  const Matrix S = test::random_symmetric(150, 11);
  const SymmetricEigen e = symmetric_eigen(S);
  EXPECT_NEAR(e.lambda.sum(), S.trace(), rounding(S));
  EXPECT_NEAR(e.lambda.norm(), S.norm(), rounding(S));
}

TEST(SymmetricEigen, WorksOnNoneOneAndTwoSamples) {
  EXPECT_EQ(symmetric_eigen(Matrix(0, 0)).lambda.size(), 0);
  EXPECT_EQ(symmetric_eigenvalues(Matrix(0, 0)).size(), 0);
  const SymmetricEigen one = symmetric_eigen(Matrix::Constant(1, 1, -3));
  EXPECT_EQ(one.lambda[0], -3);
  EXPECT_EQ(one.U(0, 0), 1);
  Matrix exchange(2, 2);
  exchange << 0, 1, 1, 0;
  const SymmetricEigen two = symmetric_eigen(exchange);
  EXPECT_NEAR(two.lambda[0], -1, 4 * kEps);
  EXPECT_NEAR(two.lambda[1], 1, 4 * kEps);
}

TEST(SymmetricEigen, ReadsTheLowerTriangleAlone) {
  const Matrix S = test::random_symmetric(30, 5);
  Matrix spoiled = S;
  spoiled.triangularView<Eigen::StrictlyUpper>().setConstant(
      std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(symmetric_eigen(spoiled).lambda, symmetric_eigen(S).lambda);
  EXPECT_EQ(symmetric_eigenvalues(spoiled), symmetric_eigenvalues(S));
}

TEST(SymmetricEigen, MakesTheLargestComponentPositive) {
  for (const auto& [name, S] : troubled_matrices(25, 4)) {
    SCOPED_TRACE(name);
    const SymmetricEigen e = symmetric_eigen(S);
    for (Index j = 0; j < e.U.cols(); ++j) {
      EXPECT_EQ(e.U.col(j).maxCoeff(), e.U.col(j).cwiseAbs().maxCoeff());
    }
  }
}

TEST(FixSigns, LetsTheFirstOfTiedComponentsDecide) {
  Matrix U(3, 2);
  U << -1, 2, 1, -2, 0.5, 1;
  const Matrix before = U;
  fix_signs(U);
  EXPECT_EQ(U.col(0), -before.col(0));
  EXPECT_EQ(U.col(1), before.col(1));
}

TEST(EigenSteps, AgreeWithALargeAndASmallWorkspace) {
  for (const Index n : {1, 2, 60, 200}) {
    const Matrix S = test::random_symmetric(n, static_cast<std::uint64_t>(n));
    const SymmetricEigen large = decompose_in_steps(S, EigenWorkspace::kLarge, {});
    const SymmetricEigen small = decompose_in_steps(S, EigenWorkspace::kSmall, {});
    const double scale = 1e-12 * static_cast<double>(n) * S.norm();
    EXPECT_LE((large.lambda - small.lambda).norm(), scale) << n;
    for (const SymmetricEigen& one : {large, small}) {
      EXPECT_LE((one.U.transpose() * one.U - Matrix::Identity(n, n)).norm(), 1e-11) << n;
      EXPECT_LE((S * one.U - one.U * one.lambda.asDiagonal()).norm(), scale) << n;
    }
  }
}

TEST(EigenSteps, RotateColumnsAsTheVectorsDo) {
  for (const Index n : {1, 2, 20, 60, 200}) {
    for (const Index columns : {0, 1, 7, 300}) {
      const Matrix S = test::random_symmetric(n, static_cast<std::uint64_t>(n));
      const Matrix X = Matrix::NullaryExpr(
          n, columns, [](Index i, Index j) { return std::cos(1.0 + 7.0 * double(i) + double(j)); });
      const RotatedColumns rotated = rotate_by_eigenvectors(S, X);
      const SymmetricEigen eigen = symmetric_eigen(S);
      const double scale = 1e-11 * static_cast<double>(n) * (1 + X.norm());
      EXPECT_LE((rotated.lambda - eigen.lambda).norm(), 1e-12 * static_cast<double>(n) * S.norm());
      // Signs are free.
      EXPECT_LE((rotated.X.cwiseAbs() - (eigen.U.transpose() * X).cwiseAbs()).norm(), scale) << n;
      EXPECT_LE(
          (rotated.X.transpose() * rotated.lambda.asDiagonal() * rotated.X - X.transpose() * S * X)
              .norm(),
          scale * S.norm() * (1 + X.norm()))
          << n;
    }
  }
}

TEST(EigenSteps, EndWhenTheRunIsStopped) {
  StopSource source;
  source.request_stop();
  RunContext ctx;
  ctx.stop = StopToken(source);
  EXPECT_THROW((void)symmetric_eigen(test::random_symmetric(50, 1), ctx), Error);
}

TEST(EigenSteps, SayWhatDoesNotFit) {
  EXPECT_NO_THROW(check_decomposition_fits(10));
  EXPECT_THAT([] { check_decomposition_fits(40000); },
              testing::ThrowsMessage<Error>(testing::AllOf(testing::HasSubstr("32766 samples"),
                                                           testing::HasSubstr("spectrum=shift"))));
}

TEST(SymmetricEigenvalues, AgreeWithTheFullDecomposition) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for (const auto& [name, S] : troubled_matrices(90, seed)) {
      SCOPED_TRACE(name);
      const Vector difference = symmetric_eigenvalues(S) - symmetric_eigen(S).lambda;
      EXPECT_LE(difference.cwiseAbs().maxCoeff(), rounding(S));
    }
  }
}

TEST(SymmetricEigenvalues, AreRightWhereTheTwoStageReductionTakesOver) {
  // H diag(d) H with the reflection H = I - 2 v v' has the eigenvalues d, and costs n^2 to build.
  const BlasThreads one(1);
  const Index n = 3000;
  Rng rng(2);
  const Vector v = test::random_matrix(n, 1, rng).col(0).normalized();
  const Vector d = Vector::LinSpaced(n, -1, 3);
  const Vector dv = d.cwiseProduct(v);
  Matrix S = 4 * v.dot(dv) * v * v.transpose() - 2 * dv * v.transpose() - 2 * v * dv.transpose();
  S.diagonal() += d;
  EXPECT_LE((symmetric_eigenvalues(std::move(S)) - d).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(SymmetricEigen, RefusesNanInfinityAndRectangles) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Matrix S = test::random_symmetric(4, 1);
    S(3, 1) = bad;
    try {
      static_cast<void>(symmetric_eigen(S));
      FAIL() << "accepted " << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(e.what()).find("(4, 2)"), std::string::npos) << e.what();
    }
    EXPECT_THROW(static_cast<void>(symmetric_eigenvalues(S)), Error);
  }
  EXPECT_THROW(static_cast<void>(symmetric_eigen(Matrix::Zero(3, 4))), Error);
}

TEST(SpectrumThresholds, FollowTheLargestMagnitude) {
  Vector lambda(3);
  lambda << -4, 1, 2;
  EXPECT_DOUBLE_EQ(negative_threshold(lambda), -4e-9);
  EXPECT_DOUBLE_EQ(zero_threshold(lambda), 3 * kEps * 4);
  EXPECT_EQ(zero_threshold(Vector(0)), 0);
  EXPECT_EQ(negative_threshold(Vector(0)), 0);
}

}  // namespace
}  // namespace kith::symmetric_eigen_test
