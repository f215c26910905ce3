// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/dual/certificate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dual_problems.hpp"

namespace kith::certificate_test {
namespace {

using testing_support::gaussian_kernel;
using testing_support::gram;
using testing_support::make_problem;
using testing_support::normal_matrix;
using testing_support::OwnedProblem;
using testing_support::random_labels;

TEST(SvmCertificate, AgreesWithTheObjectivesByHand) {
  Matrix K(2, 2);
  K << 0, 0, 0, 4;
  const OwnedProblem problem = make_problem(K, Vector{{-1, 1}}, 10);
  const dual::SvmCertificate best = dual::certify(problem.dual, Vector::Constant(2, 0.5), -1);
  EXPECT_DOUBLE_EQ(best.dual, 0.5);
  EXPECT_DOUBLE_EQ(best.primal, 0.5);
  EXPECT_EQ(best.kkt_residual, 0);
  EXPECT_EQ(best.feasibility, 0);
  // alpha = 0, b = 0: both samples miss the margin by 1.
  const dual::SvmCertificate zero = dual::certify(problem.dual, Vector::Zero(2), 0);
  EXPECT_DOUBLE_EQ(zero.dual, 0);
  EXPECT_DOUBLE_EQ(zero.primal, 20);
  EXPECT_DOUBLE_EQ(zero.gap, 1);
  EXPECT_DOUBLE_EQ(zero.kkt_residual, 1);
}

TEST(SvmCertificate, SeesWhatIsOutsideTheConstraints) {
  const OwnedProblem problem = make_problem(Matrix::Identity(3, 3), Vector{{1, -1, 1}}, 2);
  EXPECT_DOUBLE_EQ(dual::certify(problem.dual, Vector{{1, 0, 0}}, 0).feasibility, 0.5);
  EXPECT_DOUBLE_EQ(dual::certify(problem.dual, Vector{{3, 3, 0}}, 0).feasibility, 0.5);
  EXPECT_DOUBLE_EQ(dual::certify(problem.dual, Vector{{-1, -1, 0}}, 0).feasibility, 0.5);
}

// A pair moved by 1e-4 of the cost along y'a = 0, or a single alpha, over the whole cost grid.
TEST(SvmCertificate, RejectsASolutionSpoiledByATenThousandth) {
  for (const double cost : {1e-3, 1.0, 1e2, 1e5}) {
    Rng rng(17);
    const Vector y = random_labels(rng, 120);
    const OwnedProblem problem = make_problem(gaussian_kernel(rng, y), y, cost);
    const dual::SmoSolution s = dual::smo(problem.dual);
    ASSERT_TRUE(dual::certify(problem.dual, s.alpha, s.b).within(dual::kSvmTolerance)) << cost;
    const double by = 1e-4 * cost;
    int pairs = 0;
    for (int trial = 0; trial < 300; ++trial) {
      Vector alpha = s.alpha;
      const auto i = static_cast<Index>(rng.below(120));
      const auto j = static_cast<Index>(rng.below(120));
      if (i == j) continue;
      const double sign = alpha[i] + by <= cost ? 1 : -1;
      alpha[i] += sign * by;
      EXPECT_FALSE(dual::certify(problem.dual, alpha, s.b).within(dual::kSvmTolerance))
          << cost << " one " << i;
      alpha[j] -= sign * y[i] * y[j] * by;
      if (alpha[j] < 0 || alpha[j] > cost) continue;
      ++pairs;
      EXPECT_FALSE(dual::certify(problem.dual, alpha, s.b).within(dual::kSvmTolerance))
          << cost << " pair " << i << " " << j;
    }
    EXPECT_GT(pairs, 50);
    EXPECT_FALSE(dual::certify(problem.dual, s.alpha, s.b + 1e-4).within(dual::kSvmTolerance))
        << cost;
  }
}

TEST(SvmCertificate, BoundsTheOptimumFromBothSides) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Rng rng(seed);
    const Vector y = random_labels(rng, 40);
    const OwnedProblem problem = make_problem(gaussian_kernel(rng, y), y, 2);
    const double best = dual::smo(problem.dual).info.objective;
    // A random feasible point: weights balanced between the classes.
    Vector alpha(40);
    for (Index i = 0; i < 40; ++i) alpha[i] = rng.uniform();
    double positive = 0, negative = 0;
    for (Index i = 0; i < 40; ++i) (y[i] > 0 ? positive : negative) += alpha[i];
    for (Index i = 0; i < 40; ++i) {
      if (y[i] > 0) alpha[i] *= std::min(1.0, negative / positive);
      if (y[i] < 0) alpha[i] *= std::min(1.0, positive / negative);
    }
    const dual::SvmCertificate c = dual::certify(problem.dual, alpha, rng.normal());
    EXPECT_LE(c.feasibility, 1e-12);
    EXPECT_LE(c.dual, best + 1e-6 * best);
    EXPECT_GE(c.primal, best - 1e-6 * best);
  }
}

TEST(SvmCertificate, ShowsAnIndefiniteMatrixByItsQuadraticForm) {
  Matrix K(2, 2);
  K << 1, 3, 3, 1;
  const OwnedProblem problem = make_problem(K, Vector{{1, -1}}, 2);
  EXPECT_LT(dual::certify(problem.dual, Vector::Constant(2, 2), 0).quadratic, 0);
}

// At a huge cost the rounding of margins is no loss, but missing them by more still is.
TEST(SvmCertificate, TellsRoundingFromLossAtAHugeCost) {
  Rng rng(9);
  const Index n = 30;
  const Vector y = random_labels(rng, n);
  const OwnedProblem problem =
      make_problem(gram(normal_matrix(rng, n, 6)) + Matrix::Identity(n, n), y, 1e20);
  const dual::SmoSolution s = dual::smo(problem.dual);
  const dual::SvmCertificate exact = dual::certify(problem.dual, s.alpha, s.b);
  EXPECT_LE(exact.gap, 1e-6);
  EXPECT_GE(exact.primal, exact.dual * (1 - 1e-12));
  EXPECT_GT(dual::certify(problem.dual, (1 - 1e-4) * s.alpha, s.b).gap, 0.9);
  EXPECT_GT(dual::certify(problem.dual, s.alpha, s.b + 1e-6).gap, 0.9);
}

TEST(RelativeGap, IsNoNumberWhereABoundIsNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(dual::relative_gap(nan, nan)));
  EXPECT_TRUE(std::isnan(dual::relative_gap(1, std::numeric_limits<double>::infinity())));
  EXPECT_EQ(dual::relative_gap(0, 0), 0);
  EXPECT_EQ(dual::relative_gap(1 + 1e-15, 1), 0);
  EXPECT_LT(dual::relative_gap(1 + 1e-9, 1), 0);
  EXPECT_DOUBLE_EQ(dual::relative_gap(3, 4), 0.25);
}

TEST(KktViolation, DoesNotTakeNanForAConditionThatHolds) {
  const Vector alpha = Vector::Constant(2, std::numeric_limits<double>::quiet_NaN());
  EXPECT_FALSE(dual::kkt_violation(alpha, Vector::Ones(2), Vector::Zero(2), 1) <= 1);
}

}  // namespace
}  // namespace kith::certificate_test
