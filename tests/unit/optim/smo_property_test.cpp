// SPDX-License-Identifier: Apache-2.0
// Whatever the matrix: the solver ends, and what it says of its answer is true.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "dual_problems.hpp"

namespace kith::smo_property_test {
namespace {

using testing_support::gram;
using testing_support::make_problem;
using testing_support::normal_matrix;
using testing_support::OwnedProblem;
using testing_support::random_labels;
using testing_support::random_symmetric;

constexpr long kLimit = 50'000;  // a hang would show as a test that takes minutes

void expect_honest(const OwnedProblem& problem, const std::string& what, bool convex,
                   long limit = kLimit) {
  const dual::SmoSolution s = dual::smo(problem.dual, {.max_iterations = limit});
  const dual::SvmCertificate c = dual::certify(problem.dual, s.alpha, s.b);
  EXPECT_LE(c.feasibility, 1e-9) << what;
  switch (s.info.status) {
    case SolveStatus::kSolved:
      EXPECT_TRUE(c.within(dual::kSvmTolerance))
          << what << ": gap " << c.gap << " kkt " << c.kkt_residual;
      break;
    case SolveStatus::kStationary:
      EXPECT_FALSE(convex) << what;
      EXPECT_LE(c.kkt_residual, dual::kSvmTolerance) << what;
      EXPECT_TRUE(std::isnan(s.info.gap)) << what;
      break;
    default:
      EXPECT_FALSE(convex) << what << ": " << enum_name(s.info.status) << " gap " << c.gap
                           << " kkt " << c.kkt_residual << " steps " << s.info.iterations;
  }
}

void over_seeds(const std::string& family, bool convex,
                const std::function<Matrix(Rng&, Index)>& make, double cost_unit = 1) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(1000 + seed);
    const Index n = 2 + static_cast<Index>(rng.below(seed < 35 ? 40 : 200));
    const double cost = std::pow(10.0, static_cast<double>(rng.below(9)) - 3.0) * cost_unit;
    const Vector y = random_labels(rng, n);
    const OwnedProblem problem = make_problem(make(rng, n), y, cost);
    expect_honest(problem,
                  family + ", seed " + std::to_string(seed) + ", n " + std::to_string(n) +
                      ", cost " + std::to_string(cost),
                  convex);
  }
}

TEST(SmoProperty, LowRankMatrices) {
  over_seeds("low rank", true, [](Rng& rng, Index n) -> Matrix {
    return gram(normal_matrix(rng, n, 1 + static_cast<Index>(rng.below(4))));
  });
}

TEST(SmoProperty, FullRankMatrices) {
  over_seeds("full rank", true,
             [](Rng& rng, Index n) -> Matrix { return gram(normal_matrix(rng, n, n + 5)); });
}

TEST(SmoProperty, ZeroMatrices) {
  over_seeds("zero", true, [](Rng&, Index n) -> Matrix { return Matrix::Zero(n, n); });
}

TEST(SmoProperty, ConstantMatrices) {
  over_seeds("constant", true, [](Rng& rng, Index n) -> Matrix {
    return Matrix::Constant(n, n, std::pow(10.0, 6 * rng.uniform() - 3));
  });
}

TEST(SmoProperty, DuplicateRows) {
  over_seeds("duplicates", true, [](Rng& rng, Index n) -> Matrix {
    Matrix X = normal_matrix(rng, n, 6);
    for (Index i = 0; i < n; ++i) X.row(i) = X.row(static_cast<Index>(rng.below(1 + n / 3)));
    return gram(X);
  });
}

TEST(SmoProperty, HugeMatrices) {
  for (const double scale : {1e150, 1e290}) {
    over_seeds(
        "huge", true,
        [&](Rng& rng, Index n) -> Matrix { return scale * gram(normal_matrix(rng, n, 4)); },
        1 / scale);
  }
}

// A cost 1e150 times too large: the gap multiplies the rounding of every margin by it, and where
// classes overlap the margins themselves are sums of terms of 1e150. It must end, and say so.
TEST(SmoProperty, HugeMatricesAtHopelessCosts) {
  over_seeds("separable", false,
             [](Rng& rng, Index n) -> Matrix { return 1e150 * gram(normal_matrix(rng, n, n)); });
  over_seeds("overlapping", false,
             [](Rng& rng, Index n) -> Matrix { return 1e150 * gram(normal_matrix(rng, n, 4)); });
}

TEST(SmoProperty, TinyMatrices) {
  for (const double scale : {1e-8, 1e-20, 1e-150, 1e-300}) {
    over_seeds("tiny", true,
               [&](Rng& rng, Index n) -> Matrix { return scale * gram(normal_matrix(rng, n, 3)); });
  }
}

TEST(SmoProperty, IndefiniteMatrices) {
  over_seeds("indefinite", false, random_symmetric);
  over_seeds("negative", false,
             [](Rng& rng, Index n) -> Matrix { return -gram(normal_matrix(rng, n, 3)); });
  over_seeds("hollow", false, [](Rng& rng, Index n) -> Matrix {
    Matrix S = random_symmetric(rng, n);
    S.diagonal().setZero();
    return S;
  });
  over_seeds("huge indefinite", false,
             [](Rng& rng, Index n) -> Matrix { return 1e150 * random_symmetric(rng, n); });
  over_seeds("huge hollow", false, [](Rng& rng, Index n) -> Matrix {
    Matrix S = 1e200 * random_symmetric(rng, n);
    S.diagonal().setZero();
    return S;
  });
}

// Beyond some size the way begins in float: what the matrix makes of that must not show.
TEST(SmoProperty, LargeMatrices) {
  const Index n = 1200;
  const auto check = [&](const char* what, bool convex, double cost, const auto& make) {
    Rng rng(7);
    const Vector y = random_labels(rng, n);
    expect_honest(make_problem(make(rng), y, cost), std::string("large, ") + what, convex,
                  10 * kLimit);
  };
  check("low rank", true, 1, [&](Rng& rng) -> Matrix { return gram(normal_matrix(rng, n, 5)); });
  check("full rank", true, 10,
        [&](Rng& rng) -> Matrix { return gram(normal_matrix(rng, n, n + 5)); });
  check("zero", true, 1, [&](Rng&) -> Matrix { return Matrix::Zero(n, n); });
  check("constant", true, 1, [&](Rng&) -> Matrix { return Matrix::Constant(n, n, 3.0); });
  check("duplicates", true, 1, [&](Rng& rng) -> Matrix {
    Matrix X = normal_matrix(rng, n, 20);
    for (Index i = 0; i < n; ++i) X.row(i) = X.row(i % 300);
    return gram(X);
  });
  check("nearly equal rows", true, 1, [&](Rng& rng) -> Matrix {  // curvature below a float's digits
    return gram(Matrix::Ones(n, 8) + 1e-5 * normal_matrix(rng, n, 8));
  });
  check("huge", true, 1e-30,
        [&](Rng& rng) -> Matrix { return 1e30 * gram(normal_matrix(rng, n, 50)); });
  check("tiny", true, 1e60,
        [&](Rng& rng) -> Matrix { return 1e-60 * gram(normal_matrix(rng, n, 50)); });
  check("indefinite", false, 1, [&](Rng& rng) -> Matrix { return random_symmetric(rng, n); });
  check("far entries", false, 1, [&](Rng& rng) -> Matrix {
    Matrix S = Matrix::Identity(n, n);
    S(3, 900) = S(900, 3) = 1e200 * (1 + rng.uniform());
    return S;
  });
}

TEST(SmoProperty, NeverEndsBelowItsStart) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed);
    const Index n = 20;
    const Vector y = random_labels(rng, n);
    const OwnedProblem problem = make_problem(random_symmetric(rng, n), y, 1);
    Vector start = Vector::Zero(n);
    start[0] = start[n - 1] = rng.uniform();
    const double before = dual::certify(problem.dual, start, 0).dual;
    EXPECT_GE(dual::smo(problem.dual, {}, {}, start).info.objective, before - 1e-12);
  }
}

}  // namespace
}  // namespace kith::smo_property_test
