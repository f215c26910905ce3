// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/dual/smo.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "dual_problems.hpp"
#include "kith/core/error.hpp"

namespace kith::smo_test {
namespace {

using testing_support::gaussian_kernel;
using testing_support::gram;
using testing_support::make_problem;
using testing_support::normal_matrix;
using testing_support::OwnedProblem;
using testing_support::random_labels;

OwnedProblem gaussian_problem(std::uint64_t seed, Index n, double cost) {
  Rng rng(seed);
  const Vector y = random_labels(rng, n);
  return make_problem(gaussian_kernel(rng, y), y, cost);
}

/// The maximum over every assignment of the variables to {0, free, cost}: 3^n linear systems.
double best_by_enumeration(const OwnedProblem& problem) {
  const Index n = problem.K().rows();
  const Vector& y = problem.dual.y;
  const double cost = problem.dual.cost[0];
  const Matrix Q = y.asDiagonal() * problem.K() * y.asDiagonal();
  double best = -std::numeric_limits<double>::infinity();
  long combinations = 1;
  for (Index i = 0; i < n; ++i) combinations *= 3;
  for (long code = 0; code < combinations; ++code) {
    std::vector<Index> free;
    Vector a = Vector::Zero(n);
    long rest = code;
    for (Index i = 0; i < n; ++i, rest /= 3) {
      if (rest % 3 == 1) a[i] = cost;
      if (rest % 3 == 2) free.push_back(i);
    }
    const auto f = static_cast<Index>(free.size());
    if (f > 0) {
      Matrix system = Matrix::Zero(f + 1, f + 1);
      Vector rhs(f + 1);
      const Vector fixed = Q * a;
      for (Index r = 0; r < f; ++r) {
        for (Index c = 0; c < f; ++c) system(r, c) = Q(free[std::size_t(r)], free[std::size_t(c)]);
        system(r, f) = system(f, r) = y[free[std::size_t(r)]];
        rhs[r] = 1 - fixed[free[std::size_t(r)]];
      }
      rhs[f] = -y.dot(a);
      const Vector x = system.fullPivLu().solve(rhs);
      if (!(system * x).isApprox(rhs, 1e-8) && (system * x - rhs).norm() > 1e-8) continue;
      for (Index r = 0; r < f; ++r) a[free[std::size_t(r)]] = x[r];
    }
    const double slack = 1e-9 * cost;
    if (std::abs(y.dot(a)) > slack || a.minCoeff() < -slack || a.maxCoeff() > cost + slack)
      continue;
    best = std::max(best, a.sum() - 0.5 * a.dot(Q * a));
  }
  return best;
}

TEST(Smo, MatchesTheEnumerationOfActiveSets) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed);
    const Index n = 2 + static_cast<Index>(rng.below(5));
    const Vector y = random_labels(rng, n);
    const Index rank = 1 + static_cast<Index>(rng.below(6));
    const double cost = std::pow(10.0, 3 * rng.uniform() - 1.5);
    const OwnedProblem problem = make_problem(gram(normal_matrix(rng, n, rank)), y, cost);
    const dual::SmoSolution s = dual::smo(problem.dual);
    ASSERT_EQ(s.info.status, SolveStatus::kSolved) << "seed " << seed;
    const double best = best_by_enumeration(problem);
    EXPECT_NEAR(s.info.objective, best, 1e-6 * std::max(1.0, std::abs(best))) << "seed " << seed;
  }
}

TEST(Smo, SolvesTwoPointsByHand) {
  // Points 0 and 2 on a line: the margin is 1 on either side, w = 1, alpha = 1/2, b = -1.
  Matrix K(2, 2);
  K << 0, 0, 0, 4;
  const OwnedProblem problem = make_problem(K, Vector{{-1, 1}}, 10);
  const dual::SmoSolution s = dual::smo(problem.dual);
  EXPECT_NEAR(s.alpha[0], 0.5, 1e-9);
  EXPECT_NEAR(s.alpha[1], 0.5, 1e-9);
  EXPECT_NEAR(s.b, -1, 1e-9);
  EXPECT_NEAR(s.info.objective, 0.5, 1e-9);
  EXPECT_NEAR(s.largest_alpha, 0.5, 1e-9);
}

TEST(Smo, MeetsItsCertificateOverTheCostGrid) {
  for (const Index n : {30, 200, 1500}) {
    for (const double cost : {1e-3, 1.0, 1e5}) {
      const OwnedProblem problem = gaussian_problem(static_cast<std::uint64_t>(n), n, cost);
      const dual::SmoSolution s = dual::smo(problem.dual);
      ASSERT_EQ(s.info.status, SolveStatus::kSolved) << n << " " << cost;
      const dual::SvmCertificate c = dual::certify(problem.dual, s.alpha, s.b);
      EXPECT_TRUE(c.within(dual::kSvmTolerance))
          << n << " " << cost << " gap " << c.gap << " kkt " << c.kkt_residual << " feasibility "
          << c.feasibility;
      EXPECT_EQ(c.gap, s.info.gap);
      EXPECT_EQ(c.kkt_residual, s.info.kkt_residual);
      const Vector Ku = problem.K() * problem.dual.y.cwiseProduct(s.alpha);
      const Vector gradient = problem.dual.y.cwiseProduct(Ku).array() - 1.0;
      EXPECT_LE((gradient - s.gradient).cwiseAbs().maxCoeff(),
                1e-9 * (1 + gradient.cwiseAbs().maxCoeff()));
    }
  }
}

TEST(Smo, TakesFewStepsAtALargeCost) {
  const OwnedProblem problem = gaussian_problem(5, 400, 1e5);
  const dual::SmoSolution s = dual::smo(problem.dual);
  EXPECT_EQ(s.info.status, SolveStatus::kSolved);
  EXPECT_LT(s.info.iterations, 20000);
}

TEST(Smo, GivesTheSameSolutionForReorderedSamples) {
  const OwnedProblem problem = gaussian_problem(6, 150, 3);
  Rng rng(1);
  const std::vector<Index> order = rng.permutation(150);
  Matrix K(150, 150);
  Vector y(150);
  for (Index i = 0; i < 150; ++i) {
    y[i] = problem.dual.y[order[std::size_t(i)]];
    for (Index j = 0; j < 150; ++j)
      K(i, j) = problem.K()(order[std::size_t(i)], order[std::size_t(j)]);
  }
  const dual::SmoSolution a = dual::smo(problem.dual);
  const dual::SmoSolution b = dual::smo(make_problem(K, y, 3).dual);
  EXPECT_NEAR(a.info.objective, b.info.objective, 1e-9 * a.info.objective);
  EXPECT_NEAR(a.b, b.b, 1e-5);
  for (Index i = 0; i < 150; ++i) EXPECT_NEAR(a.alpha[order[std::size_t(i)]], b.alpha[i], 1e-4);
}

TEST(Smo, ScalesWithTheKernel) {
  const OwnedProblem problem = gaussian_problem(7, 120, 5);
  const dual::SmoSolution a = dual::smo(problem.dual);
  for (const double t : {1e-3, 64.0, 1e5}) {
    const dual::SmoSolution b =
        dual::smo(make_problem(problem.K() * t, problem.dual.y, 5 / t).dual);
    ASSERT_EQ(b.info.status, SolveStatus::kSolved);
    EXPECT_LE((a.alpha - t * b.alpha).cwiseAbs().maxCoeff(), 1e-4 * a.largest_alpha) << t;
    EXPECT_NEAR(a.b, b.b, 1e-5);
    EXPECT_NEAR(a.info.objective, t * b.info.objective, 1e-6 * a.info.objective);
  }
}

TEST(Smo, FlipsTheOffsetWhenTheLabelsFlip) {
  const OwnedProblem problem = gaussian_problem(8, 90, 2);
  const dual::SmoSolution a = dual::smo(problem.dual);
  const dual::SmoSolution b = dual::smo(make_problem(problem.K(), -problem.dual.y, 2).dual);
  EXPECT_NEAR(a.b, -b.b, 1e-5);
  EXPECT_NEAR(a.info.objective, b.info.objective, 1e-8 * a.info.objective);
}

TEST(Smo, ServesEveryLargerCostOnceNoAlphaIsAtItsBound) {
  Rng rng(9);
  const Vector y = random_labels(rng, 60);
  const Matrix K = gram(normal_matrix(rng, 60, 80));  // separable: more dimensions than points
  const dual::SmoSolution a = dual::smo(make_problem(K, y, 1e3).dual);
  ASSERT_LT(a.largest_alpha, 1e3);
  EXPECT_TRUE(dual::certify(make_problem(K, y, 1e5).dual, a.alpha, a.b).kkt_residual <=
              dual::kSvmTolerance);
  const dual::SmoSolution b = dual::smo(make_problem(K, y, 1e5).dual);
  EXPECT_NEAR(a.info.objective, b.info.objective, 1e-6 * a.info.objective);
}

TEST(Smo, AcceptsCostsAndLinearTermsPerSample) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    OwnedProblem problem = gaussian_problem(seed, 80, 1);
    problem.dual.linear.resize(80);
    for (Index i = 0; i < 80; ++i) {
      problem.dual.cost[i] = i % 5 == 0 ? 0.0 : rng.uniform() * 10;
      problem.dual.linear[i] = rng.normal();
    }
    const dual::SmoSolution s = dual::smo(problem.dual);
    ASSERT_EQ(s.info.status, SolveStatus::kSolved) << seed;
    EXPECT_TRUE(dual::certify(problem.dual, s.alpha, s.b).within(dual::kSvmTolerance));
    for (Index i = 0; i < 80; i += 5) EXPECT_EQ(s.alpha[i], 0);
  }
}

TEST(Smo, WarmStartReachesTheSameObjectiveInFewerSteps) {
  const OwnedProblem small = gaussian_problem(10, 300, 1);
  const OwnedProblem large = gaussian_problem(10, 300, 1.2);
  const dual::SmoSettings pairs{.newton =
                                    false};  // steps of one kind, so that they can be compared
  const dual::SmoSolution before = dual::smo(small.dual, pairs);
  const dual::SmoSolution cold = dual::smo(large.dual, pairs);
  const dual::SmoSolution warm = dual::smo(large.dual, pairs, {}, 1.2 * before.alpha);
  EXPECT_NEAR(cold.info.objective, warm.info.objective, 1e-6 * cold.info.objective);
  EXPECT_LT(warm.info.iterations, cold.info.iterations);
  const dual::SmoSolution again = dual::smo(large.dual, {}, {}, warm.alpha);
  EXPECT_LE(again.info.iterations, 5);
}

TEST(Smo, AcceptsAnyFiniteStart) {
  const OwnedProblem problem = gaussian_problem(11, 70, 2);
  const double best = dual::smo(problem.dual).info.objective;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng(seed);
    Vector start(70);
    for (Index i = 0; i < 70; ++i) start[i] = rng.normal() * std::pow(10.0, 4 * rng.uniform() - 2);
    const dual::SmoSolution s = dual::smo(problem.dual, {}, {}, start);
    ASSERT_EQ(s.info.status, SolveStatus::kSolved);
    EXPECT_NEAR(s.info.objective, best, 1e-6 * best);
  }
}

TEST(Smo, ReadsFloatsColumnsAndShiftsAlike) {
  const OwnedProblem problem = gaussian_problem(12, 110, 4);
  const dual::FloatMatrix narrow = problem.K().cast<float>();
  const Matrix rounded = narrow.cast<double>();
  Matrix shifted = rounded;
  shifted.diagonal().array() += 0.25;
  const double expected = dual::smo(make_problem(shifted, problem.dual.y, 4).dual).info.objective;

  dual::SvmDual dual = problem.dual;
  dual.K = dual::SymmetricView::dense(narrow, 0.25);
  EXPECT_NEAR(dual::smo(dual).info.objective, expected, 1e-6 * expected);
  dual.K = dual::SymmetricView::dense(rounded, 0.25);
  EXPECT_NEAR(dual::smo(dual).info.objective, expected, 1e-6 * expected);
  dual.K = dual::SymmetricView::columns(
      rounded.diagonal(),
      [&](Index j, std::span<double> out) {
        for (Index i = 0; i < 110; ++i) out[std::size_t(i)] = rounded(i, j);
      },
      0.25);
  EXPECT_NEAR(dual::smo(dual).info.objective, expected, 1e-6 * expected);
}

TEST(Smo, LeavesOneClassAtZeroWithAnAdmissibleOffset) {
  for (const double label : {1.0, -1.0}) {
    const OwnedProblem problem =
        make_problem(Matrix::Identity(5, 5), Vector::Constant(5, label), 2);
    const dual::SmoSolution s = dual::smo(problem.dual);
    EXPECT_EQ(s.info.status, SolveStatus::kSolved);
    EXPECT_EQ(s.alpha, Vector::Zero(5));
    EXPECT_EQ(s.b, label);
    EXPECT_EQ(s.info.gap, 0);
  }
  const dual::SmoSolution one =
      dual::smo(make_problem(Matrix::Ones(1, 1), Vector::Ones(1), 1).dual);
  EXPECT_EQ(one.info.status, SolveStatus::kSolved);
  EXPECT_EQ(one.alpha[0], 0);
}

TEST(Smo, SolvesProblemsWithAFewSamplesOfOneClass) {
  // At the start all samples violate alike; what is solved first has to have some of both classes.
  for (const double label : {1.0, -1.0}) {
    Rng rng(31);
    Vector y = Vector::Constant(2500, -label);
    for (const Index i : {3, 1200, 2400}) y[i] = label;
    const dual::SmoSolution s =
        dual::smo(make_problem(gaussian_kernel(rng, y), y, 1).dual, {.gap_tolerance = 1e-6});
    EXPECT_EQ(s.info.status, SolveStatus::kSolved);
    EXPECT_LE(s.info.gap, 1e-6);
    EXPECT_GT(s.info.objective, 0);
  }
}

TEST(Smo, ACostOfZeroLeavesASampleOut) {
  constexpr Index kKept = 1500;
  const OwnedProblem all = gaussian_problem(32, 2100, 10);
  dual::SvmDual without = all.dual;
  without.cost.tail(2100 - kKept).setZero();
  const Matrix K = all.K().topLeftCorner(kKept, kKept);
  const dual::SvmDual part{
      dual::SymmetricView::dense(K), all.dual.y.head(kKept), Vector::Constant(kKept, 10), {}};
  const dual::SmoSettings tight{.tolerance = 1e-8, .gap_tolerance = 1e-10};
  const dual::SmoSolution a = dual::smo(without, tight);
  const dual::SmoSolution b = dual::smo(part, tight);
  EXPECT_EQ(a.alpha.tail(2100 - kKept), Vector::Zero(2100 - kKept));
  EXPECT_NEAR(a.info.objective, b.info.objective, 1e-9 * b.info.objective);
  EXPECT_NEAR(a.b, b.b, 1e-6);
}

TEST(Smo, TakesTheMiddleOfTheIntervalWhereNothingIsFree) {
  // A zero matrix: all alphas of the smaller class are at the bound, and every b in [-1, 1] does.
  const OwnedProblem problem = make_problem(Matrix::Zero(4, 4), Vector{{1, 1, -1, -1}}, 3);
  const dual::SmoSolution s = dual::smo(problem.dual);
  EXPECT_EQ(s.info.status, SolveStatus::kSolved);
  EXPECT_EQ(s.alpha, Vector::Constant(4, 3));
  EXPECT_EQ(s.b, 0);
}

TEST(Smo, SaysWhenTheIterationLimitIsReached) {
  const OwnedProblem problem = gaussian_problem(13, 200, 100);
  const dual::SmoSolution s = dual::smo(problem.dual, {.max_iterations = 10});
  EXPECT_EQ(s.info.status, SolveStatus::kIterationLimit);
  EXPECT_EQ(s.info.iterations, 10);
  EXPECT_LE(dual::certify(problem.dual, s.alpha, s.b).feasibility, 1e-12);
}

TEST(Smo, SaysThatAnIndefiniteProblemHasAStationaryPoint) {
  // Two points of opposite labels whose only pair has curvature 1 + 1 - 2 * 3 = -4.
  Matrix K(2, 2);
  K << 1, 3, 3, 1;
  const dual::SmoSolution s = dual::smo(make_problem(K, Vector{{1, -1}}, 2).dual);
  EXPECT_EQ(s.info.status, SolveStatus::kStationary);
  EXPECT_EQ(s.alpha, Vector::Constant(2, 2));  // the end of the box that raises the objective
  EXPECT_DOUBLE_EQ(s.info.objective, 4 + 8);   // 2a + 2a^2 at a = 2
  EXPECT_TRUE(std::isnan(s.info.gap));
  const OwnedProblem convex = gaussian_problem(14, 40, 1);
  EXPECT_EQ(dual::smo(convex.dual, {.convexity = dual::Convexity::kRefuted}).info.status,
            SolveStatus::kStationary);
}

TEST(Smo, StopsWhenTheRunIsStopped) {
  const OwnedProblem problem = gaussian_problem(15, 100, 1);
  StopSource source;
  source.request_stop();
  RunContext ctx;
  ctx.stop = StopToken(source);
  try {
    (void)dual::smo(problem.dual, {}, ctx);
    FAIL() << "the run went on";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInterrupted);
  }
}

TEST(Smo, RefusesMalformedProblemsByName) {
  const auto message = [](const dual::SvmDual& dual) -> std::string {
    try {
      (void)dual::smo(dual);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
      return e.what();
    }
    return "accepted";
  };
  const OwnedProblem good = gaussian_problem(16, 6, 1);
  dual::SvmDual dual = good.dual;
  dual.y[3] = 2;
  EXPECT_NE(message(dual).find("y[3] = 2"), std::string::npos) << message(dual);
  dual = good.dual;
  dual.cost[2] = -1;
  EXPECT_NE(message(dual).find("cost[2] = -1"), std::string::npos);
  dual = good.dual;
  dual.cost[2] = std::numeric_limits<double>::infinity();
  EXPECT_NE(message(dual).find("cost[2]"), std::string::npos);
  dual = good.dual;
  dual.cost.resize(5);
  EXPECT_NE(message(dual).find("cost has 5"), std::string::npos);
  EXPECT_THROW((void)dual::SymmetricView::dense(Matrix(Matrix::Zero(2, 3))), Error);
  EXPECT_THROW((void)dual::smo(good.dual, {}, {}, Vector::Zero(2)), Error);
}

TEST(Smo, SolvesSeparableProblemsWhateverTheScale) {
  Rng rng(21);
  const Index n = 60;
  const Vector y = random_labels(rng, n);
  const Matrix K = gram(normal_matrix(rng, n, 8)) + Matrix::Identity(n, n);
  for (const double scale : {1e-310, 1e-20, 1.0, 1e20, 1e150, 1e300}) {
    const dual::SmoSolution s = dual::smo(make_problem(scale * K, y, 1).dual);
    EXPECT_EQ(s.info.status, SolveStatus::kSolved) << scale;
    EXPECT_LE(s.info.gap, 1e-6) << scale;
    EXPECT_LE(s.info.iterations, 5000) << scale;
  }
}

TEST(Smo, GivesUpSoonWhereTheCostLeavesNoDigits) {
  Rng rng(22);
  const Index n = 60;
  const Vector y = random_labels(rng, n);
  const OwnedProblem problem = make_problem(1e20 * gram(normal_matrix(rng, n, 4)), y, 1);
  const dual::SmoSolution s = dual::smo(problem.dual);
  EXPECT_NE(s.info.status, SolveStatus::kSolved);
  EXPECT_LE(s.info.iterations, 200'000);
}

}  // namespace
}  // namespace kith::smo_test
