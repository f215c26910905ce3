// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/dual/convexity.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kith/core/rng.hpp"
#include "kith/optim/dual/smo.hpp"

namespace kith::convexity_test {
namespace {

Matrix points(Index n, Index features, std::uint64_t seed) {
  Rng rng = RngStreams(seed).stream("points", 0);
  return Matrix::NullaryExpr(n, features, [&](Index, Index) { return rng.normal(); });
}

/// A matrix with one negative eigenvalue, of the vector of all ones.
Matrix with_one_negative(Index n, double size) {
  const Matrix X = points(n, 10, 3);
  const Matrix B = X * X.transpose();
  return B - Matrix::Constant(n, n, size);
}

TEST(Convexity, OfAKernelIsNeverRefuted) {
  for (const Index n : {5, 80, 700}) {
    const Matrix X = points(n, 4, 1);
    Matrix K = X * X.transpose();  // of rank 4: rounding leaves tiny eigenvalues of both signs
    const auto view = dual::SymmetricView::dense(K);
    EXPECT_FALSE(dual::sample_refutes(view)) << n;
    EXPECT_FALSE(dual::supports_refute(view, Vector::Ones(n), 1e9, {})) << n;
  }
  const Matrix zero = Matrix::Zero(30, 30);
  EXPECT_FALSE(dual::sample_refutes(dual::SymmetricView::dense(zero)));
  EXPECT_FALSE(dual::supports_refute(dual::SymmetricView::dense(zero), Vector::Ones(30), 1e9, {}));
}

TEST(Convexity, IsRefutedByASampleOrByTheSupports) {
  const Matrix K = with_one_negative(300, 1);
  EXPECT_TRUE(dual::sample_refutes(dual::SymmetricView::dense(K)));
  EXPECT_TRUE(dual::supports_refute(dual::SymmetricView::dense(K), Vector::Ones(300), 1e9, {}));
  Matrix negative = Matrix::Identity(3, 3);
  negative(1, 1) = -1;
  EXPECT_TRUE(dual::sample_refutes(dual::SymmetricView::dense(negative)));
}

TEST(Convexity, OfNoOtherSamplesThanTheSupportsIsLookedAt) {
  // Negative curvature is in the first 100 samples alone.
  Matrix K = Matrix::Identity(200, 200);
  K.topLeftCorner(100, 100) = with_one_negative(100, 1);
  Vector last = Vector::Zero(200);
  last.tail(100).setOnes();
  EXPECT_FALSE(dual::supports_refute(dual::SymmetricView::dense(K), last, 1e9, {}));
  Vector first = Vector::Ones(200) - last;
  EXPECT_TRUE(dual::supports_refute(dual::SymmetricView::dense(K), first, 1e9, {}));
  EXPECT_FALSE(dual::supports_refute(dual::SymmetricView::dense(K), first, 100, {}))
      << "with no work allowed there is no look";
}

TEST(Convexity, DecidesTheStatusOfASolution) {
  const Matrix X = points(400, 3, 5);
  Vector y(400);
  for (Index i = 0; i < 400; ++i) y[i] = X(i, 0) + 0.3 * X(i, 1) > 0 ? 1 : -1;
  const Matrix K = X * X.transpose();
  const dual::SvmDual kernel{dual::SymmetricView::dense(K), y, Vector::Ones(400), {}};
  EXPECT_EQ(dual::smo(kernel).info.status, SolveStatus::kSolved);
  const dual::SmoSettings unknown{.convexity = dual::Convexity::kUnknown};
  const dual::SmoSolution found = dual::smo(kernel, unknown);
  EXPECT_EQ(found.info.status, SolveStatus::kUnchecked);
  EXPECT_LE(dual::certify(kernel, found.alpha, found.b).kkt_residual, unknown.tolerance);
  const Matrix S = (0.5 * K.array() - 0.5).tanh();
  const dual::SvmDual indefinite{dual::SymmetricView::dense(S), y, Vector::Ones(400), {}};
  const dual::SmoSolution stationary = dual::smo(indefinite, unknown);
  EXPECT_EQ(stationary.info.status, SolveStatus::kStationary);
  EXPECT_TRUE(std::isnan(stationary.info.gap));
}

}  // namespace
}  // namespace kith::convexity_test
