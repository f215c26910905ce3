// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/extreme_eigen.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kith/core/error.hpp"
#include "kith/numerics/symmetric_eigen.hpp"
#include "matrices.hpp"
#include "numerics/lanczos.hpp"

namespace kith::extreme_eigen_test {
namespace {

using test::rounding;
using test::troubled_matrices;

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// The returned pairs against the full spectrum, and their own claims against S.
void expect_extreme(const Matrix& S, const Vector& all, const ExtremePairs& pairs,
                    SpectrumEnd end) {
  const Index count = pairs.lambda.size();
  ASSERT_EQ(pairs.U.cols(), count);
  ASSERT_EQ(pairs.residual.size(), count);
  const double norm = test::row_sum_norm(S);
  for (Index i = 0; i < count; ++i) {
    const double truth = end == SpectrumEnd::kSmallest ? all[i] : all[all.size() - 1 - i];
    EXPECT_NEAR(pairs.lambda[i], truth, 1e-9 * std::abs(truth) + 4 * rounding(S)) << i;
    const Vector r = S * pairs.U.col(i) - pairs.lambda[i] * pairs.U.col(i);
    EXPECT_NEAR(r.stableNorm(), pairs.residual[i], 4 * rounding(S)) << i;
    EXPECT_LE(r.stableNorm(), 1e-9 * norm + 4 * rounding(S)) << i;
    EXPECT_EQ(pairs.U.col(i).maxCoeff(), pairs.U.col(i).cwiseAbs().maxCoeff()) << i;
  }
  const Matrix gram = pairs.U.transpose() * pairs.U - Matrix::Identity(count, count);
  if (count > 0) {
    EXPECT_LE(gram.cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST(ExtremeEigenpairs, AgreeWithTheFullSpectrumOnTroubledMatrices) {
  const RunContext ctx;
  for (const Index n : {2, 30, 260}) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      for (const auto& [name, S] : troubled_matrices(n, seed)) {
        const Vector all = symmetric_eigenvalues(S);
        for (const SpectrumEnd end : {SpectrumEnd::kSmallest, SpectrumEnd::kLargest}) {
          for (const Index count : {Index{1}, std::min<Index>(n, 6)}) {
            SCOPED_TRACE(name + " n=" + std::to_string(n) + " count=" + std::to_string(count));
            expect_extreme(S, all, extreme_eigenpairs(S, count, end, ctx), end);
          }
        }
      }
    }
  }
}

TEST(ExtremeEigenpairs, FindEveryCopyOfARepeatedEigenvalue) {
  // A Krylov space holds one vector for each distinct eigenvalue: only the verification finds more.
  const RunContext ctx;
  Vector lambda = Vector::Constant(300, 2);
  lambda.head(5).setConstant(-3);
  lambda[5] = -2;
  for (const Matrix& S : {Matrix(lambda.asDiagonal()), test::with_spectrum(lambda, 4)}) {
    const ExtremePairs pairs = extreme_eigenpairs(S, 7, SpectrumEnd::kSmallest, ctx);
    expect_extreme(S, symmetric_eigenvalues(S), pairs, SpectrumEnd::kSmallest);
    EXPECT_NEAR(pairs.lambda[4], -3, 1e-8);
    EXPECT_NEAR(pairs.lambda[5], -2, 1e-8);
    EXPECT_NEAR(pairs.lambda[6], 2, 1e-8);
  }
}

TEST(ExtremeEigenpairs, AcceptNoneAndAllAndRefuseMore) {
  const RunContext ctx;
  const Matrix S = test::random_symmetric(12, 3);
  EXPECT_EQ(extreme_eigenpairs(S, 0, SpectrumEnd::kSmallest, ctx).lambda.size(), 0);
  EXPECT_EQ(extreme_eigenpairs(Matrix(0, 0), 0, SpectrumEnd::kLargest, ctx).lambda.size(), 0);
  const ExtremePairs all = extreme_eigenpairs(S, 12, SpectrumEnd::kLargest, ctx);
  EXPECT_LE((all.lambda.reverse() - symmetric_eigenvalues(S)).cwiseAbs().maxCoeff(), rounding(S));
  EXPECT_THROW(static_cast<void>(extreme_eigenpairs(S, 13, SpectrumEnd::kLargest, ctx)), Error);
  EXPECT_THROW(static_cast<void>(extreme_eigenpairs(S, -1, SpectrumEnd::kLargest, ctx)), Error);
}

TEST(ExtremeEigenpairs, ReadTheLowerTriangleOfABlockOfALargerMatrix) {
  const RunContext ctx;
  const Matrix S = test::tanh_matrix(300, 1, 5);
  Matrix larger = Matrix::Constant(310, 310, std::numeric_limits<double>::quiet_NaN());
  larger.topLeftCorner(300, 300).triangularView<Eigen::Lower>() = S;
  const EigenvalueBracket whole = smallest_eigenvalue(S, ctx);
  const EigenvalueBracket block = smallest_eigenvalue(larger.topLeftCorner(300, 300), ctx);
  EXPECT_NEAR(block.upper, whole.upper, 1e-8);
}

TEST(ExtremeEigenpairs, StopWhenAskedTo) {
  StopSource source;
  source.request_stop();
  RunContext ctx;
  ctx.stop = StopToken(source);
  const Matrix S = test::random_symmetric(300, 1);
  EXPECT_THROW(static_cast<void>(extreme_eigenpairs(S, 1, SpectrumEnd::kSmallest, ctx)), Error);
  EXPECT_THROW(static_cast<void>(smallest_eigenvalue(S, ctx)), Error);
}

TEST(ExtremeEigenpairs, RefuseNanAndRectangles) {
  const RunContext ctx;
  Matrix S = test::random_symmetric(5, 1);
  S(4, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(static_cast<void>(smallest_eigenvalue(S, ctx)), Error);
  EXPECT_THROW(static_cast<void>(shift_to_psd(S, ctx)), Error);
  EXPECT_THROW(static_cast<void>(smallest_eigenvalue(Matrix::Zero(3, 2), ctx)), Error);
}

TEST(SmallestEigenvalue, LiesInItsBracketAndTheBracketIsNarrow) {
  const RunContext ctx;
  for (const Index n : {2, 50, 300, 600}) {
    for (const auto& [name, S] : troubled_matrices(n, 7)) {
      SCOPED_TRACE(name + " n=" + std::to_string(n));
      const double truth = symmetric_eigenvalues(S)[0];
      const EigenvalueBracket bracket = smallest_eigenvalue(S, ctx);
      EXPECT_LE(bracket.lower, truth + rounding(S));
      EXPECT_GE(bracket.upper, truth - rounding(S));
      EXPECT_LE(bracket.upper - bracket.lower, 1e-8 * std::abs(truth) + 4 * rounding(S));
    }
  }
}

TEST(SmallestEigenvalue, IsFoundAtADenseEdge) {
  // The semicircle edge, scaled tanh matrices, and an edge so dense that plain Lanczos stalls.
  const RunContext ctx;
  Vector dense(700);
  for (Index i = 0; i < 700; ++i) dense[i] = -1e-3 * std::cos(1e-3 * static_cast<double>(i));
  dense[699] = 1;
  for (const Matrix& S : {test::random_symmetric(700, 3), test::tanh_matrix(700, 0.3, 3),
                          test::tanh_matrix(700, 0.1, 3), test::noisy_gaussian(700, 0.05, 3),
                          test::with_spectrum(dense, 3)}) {
    const double truth = symmetric_eigenvalues(S)[0];
    const EigenvalueBracket bracket = smallest_eigenvalue(S, ctx);
    EXPECT_NEAR(bracket.upper, truth, 1e-8 * std::abs(truth));
    EXPECT_LE(bracket.lower, truth);
    EXPECT_NEAR(bracket.lower, truth, 1e-8 * std::abs(truth));
  }
}

TEST(SmallestEigenvalue, DoesNotDependOnTheSeedOfTheRun) {
  RunContext one;
  one.rng = RngStreams(1);
  RunContext two;
  two.rng = RngStreams(2);
  const Matrix S = test::tanh_matrix(300, 1, 2);
  EXPECT_EQ(smallest_eigenvalue(S, one).upper, smallest_eigenvalue(S, two).upper);
}

TEST(ShiftToPsd, MakesPositiveSemidefiniteByNoMoreThanItMust) {
  const RunContext ctx;
  for (const Index n : {1, 2, 40, 300}) {
    for (const auto& [name, S] : troubled_matrices(std::max<Index>(n, 2), 2)) {
      SCOPED_TRACE(name + " n=" + std::to_string(n));
      const double t = shift_to_psd(S, ctx);
      const double truth = symmetric_eigenvalues(S)[0];
      EXPECT_GE(t, 0);
      EXPECT_GE(truth + t, -4 * rounding(S));
      EXPECT_LE(t, std::max(-truth, 0.0) * (1 + 1e-8) + 4 * rounding(S));
    }
  }
  EXPECT_EQ(shift_to_psd(Matrix(0, 0), ctx), 0);
  EXPECT_EQ(shift_to_psd(Matrix::Constant(1, 1, 2), ctx), 0);
  EXPECT_NEAR(shift_to_psd(Matrix::Constant(1, 1, -2), ctx), 2, 1e-8);
}

TEST(ShiftToPsd, IsExactlyZeroOnPositiveSemidefiniteMatricesOfAnyRank) {
  const RunContext ctx;
  for (const Index n : {20, 320}) {
    for (const Index rank : {Index{1}, n / 2, 2 * n}) {
      Rng rng(static_cast<std::uint64_t>(n + rank));
      const Matrix X = test::random_matrix(n, rank, rng);
      EXPECT_EQ(shift_to_psd(test::symmetrised(X * X.transpose()), ctx), 0) << n << " " << rank;
    }
    EXPECT_EQ(shift_to_psd(Matrix::Zero(n, n), ctx), 0);
    EXPECT_EQ(shift_to_psd(Matrix::Ones(n, n), ctx), 0);
  }
}

TEST(Lanczos, FindsTheSmallestPairsOutsideTheLockedOnes) {
  const Index n = 120;
  Vector lambda = Vector::LinSpaced(n, -1, 1);
  const Matrix S = test::with_spectrum(lambda, 9);
  const SymmetricEigen full = symmetric_eigen(S);
  const detail::SymmetricOperator A = [&](const VectorRef& x, Eigen::Ref<Vector> y) { y = S * x; };
  Rng rng(1);
  const Vector start = test::random_matrix(n, 1, rng).col(0);
  const detail::LanczosGoal goal{
      .count = 2, .relative = 1e-12, .residual = 1e-8, .norm = 1, .max_basis = n};
  const detail::LanczosResult found = detail::lanczos(A, start, full.U.leftCols(3), goal, {});
  ASSERT_TRUE(found.converged);
  EXPECT_NEAR(found.theta[0], lambda[3], 1e-10);
  EXPECT_NEAR(found.theta[1], lambda[4], 1e-10);
  EXPECT_LE((full.U.leftCols(3).transpose() * found.vectors).cwiseAbs().maxCoeff(), 100 * kEps);
  for (Index i = 0; i < 2; ++i) {
    const Vector r = S * found.vectors.col(i) - found.theta[i] * found.vectors.col(i);
    EXPECT_NEAR(r.norm(), found.residual[i], 1e-12);
  }
}

TEST(Lanczos, SaysSoWhenItsBasisIsTooSmall) {
  const Matrix S = test::with_spectrum(Vector::LinSpaced(100, -1, 1), 2);
  const detail::SymmetricOperator A = [&](const VectorRef& x, Eigen::Ref<Vector> y) { y = S * x; };
  const detail::LanczosGoal goal{
      .count = 1, .relative = 1e-12, .residual = 1e-8, .norm = 1, .max_basis = 10};
  const detail::LanczosResult found =
      detail::lanczos(A, Vector::Ones(100), Matrix(100, 0), goal, {});
  EXPECT_FALSE(found.converged);
  ASSERT_EQ(found.theta.size(), 1);
  EXPECT_GE(found.theta[0], -1);
}

TEST(PositiveSemidefinite, IsWhatTheSmallestEigenvalueSays) {
  const RunContext ctx;
  for (const Index n : {1, 5, 60, 300}) {
    for (const double scale : {1e-300, 1.0, 1e200}) {
      Matrix K = Matrix::Constant(n, n, scale);  // rank one
      EXPECT_TRUE(is_positive_semidefinite(K, ctx)) << n << " " << scale;
      K.diagonal().array() -= 1e-6 * scale * static_cast<double>(n);
      EXPECT_EQ(is_positive_semidefinite(K, ctx), n == 1) << n << " " << scale;
    }
  }
  EXPECT_TRUE(is_positive_semidefinite(Matrix::Zero(4, 4), ctx));
  EXPECT_FALSE(is_positive_semidefinite(-Matrix::Identity(3, 3), ctx));
}

}  // namespace
}  // namespace kith::extreme_eigen_test
