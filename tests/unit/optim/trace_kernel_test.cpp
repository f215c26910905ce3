// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/papers/mirror_descent.hpp"
#include "kith/optim/trace/kernel.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <string>

#include "kith/core/error.hpp"
#include "kith/numerics/psd.hpp"
#include "kith/optim/dual/certificate.hpp"
#include "kith/optim/dual/smo.hpp"
#include "kith/optim/robust/newton.hpp"
#include "optim/trace/block.hpp"
#include "optim/trace/newton.hpp"
#include "trace_kernel_problems.hpp"

namespace kith::trace_kernel_test {
namespace {

using testing_support::gaussian_kernel;
using testing_support::gram;
using testing_support::kShapes;
using testing_support::matrix_of;
using testing_support::noisy_kernels;
using testing_support::normal_matrix;
using testing_support::random_labels;
using testing_support::random_symmetric;
using testing_support::TraceKernelData;

/// The tolerance that the header promises, by a certificate made from the data alone.
trace::Solution expect_solved(const trace::Problem& problem, const std::string& what) {
  const trace::Solution found = trace::learn_kernel(problem);
  const bool spectral = problem.shape == trace::KernelShape::kSpectral;
  const double norm = spectral ? 1e-4 : 1e-6;
  const double tolerance = problem.loss == trace::KernelLoss::kAbsolute ? 1e-3
                           : problem.loss == trace::KernelLoss::kNorm   ? norm
                                                                        : 1e-6;
  EXPECT_EQ(found.info.status, SolveStatus::kSolved) << what << " gap " << found.info.gap;
  const trace::Certificate proof = certify(problem, found);
  EXPECT_LE(proof.gap, tolerance) << what;
  EXPECT_GE(proof.gap, -1e-9) << what;
  EXPECT_LE(proof.feasibility, 1e-9) << what;
  EXPECT_NEAR(found.info.objective, proof.upper, 1e-12 * proof.upper) << what;
  return found;
}

TEST(TraceKernel, ProvesItsOptimumForEveryShapeLossAndWeight) {
  const TraceKernelData data = noisy_kernels(16, 2, 3);
  for (const trace::KernelShape shape : kShapes) {
    for (const trace::KernelLoss loss :
         {trace::KernelLoss::kAbsolute, trace::KernelLoss::kNorm, trace::KernelLoss::kSquared}) {
      if (loss == trace::KernelLoss::kAbsolute && shape == trace::KernelShape::kSpectral) continue;
      for (const double rho : {1e-3, 1.0, 1e3}) {
        for (const double cost : {1e-2, 1.0, 1e2}) {
          expect_solved(data.problem(shape, loss, rho, cost),
                        "shape " + std::to_string(static_cast<int>(shape)) + " loss " +
                            std::to_string(static_cast<int>(loss)) + " rho " + std::to_string(rho) +
                            " cost " + std::to_string(cost));
        }
      }
    }
  }
}

TEST(TraceKernel, SolvesMatricesThatAreKernelsAlready) {
  const TraceKernelData data = noisy_kernels(14, 1, 4, 0);
  for (const trace::KernelShape shape : kShapes) {
    for (const double rho : {1e-2, 1.0, 100.0}) {
      expect_solved(data.problem(shape, trace::KernelLoss::kNorm, rho), std::to_string(rho));
      expect_solved(data.problem(shape, trace::KernelLoss::kSquared, rho), std::to_string(rho));
      if (shape == trace::KernelShape::kSpectral) continue;
      expect_solved(data.problem(shape, trace::KernelLoss::kAbsolute, rho), std::to_string(rho));
      // Costs so small that the distance must be next to nothing.
      expect_solved(data.problem(shape, trace::KernelLoss::kNorm, rho, 1e-3), std::to_string(rho));
      expect_solved(data.problem(shape, trace::KernelLoss::kAbsolute, rho, 1e-3),
                    std::to_string(rho));
    }
  }
  // Far from any gain of the machine, the kernel stays where it is.
  const trace::Solution still =
      trace::learn_kernel(data.problem(trace::KernelShape::kShared, trace::KernelLoss::kNorm, 1e4));
  EXPECT_LT((matrix_of(still.kernels[0]) - data.S[0]).norm(), 1e-6);
}

/// A kernel of three features, and labels that these do not tell: under a heavy loss the kernel is
/// the matrix itself, or next to it in most of its entries, each of which pays rho for what
/// rounding and an early end leave.
TEST(TraceKernel, SolvesKernelsOfLowRankUnderTheAbsoluteLoss) {
  TraceKernelData data;
  Rng rng(21);
  data.y = random_labels(rng, 20);
  data.S.push_back(gram(normal_matrix(rng, 20, 3)));
  for (const std::size_t copies : {1U, 2U}) {
    data.S.resize(copies, Matrix(data.S[0]));
    for (const trace::KernelShape shape :
         {trace::KernelShape::kShared, trace::KernelShape::kSeparate}) {
      for (const double cost : {1e-2, 1.0, 1e3}) {
        for (const double rho : {1e-3, 1e-1, 1e1, 1e3}) {
          const trace::Problem problem =
              data.problem(shape, trace::KernelLoss::kAbsolute, rho, cost);
          const trace::Solution found =
              expect_solved(problem, "copies " + std::to_string(copies) + " shape " +
                                         std::to_string(static_cast<int>(shape)) + " rho " +
                                         std::to_string(rho) + " cost " + std::to_string(cost));
          // No worse than the matrix itself, which has no loss.
          if (shape != trace::KernelShape::kShared) continue;
          const dual::SvmDual machine{
              dual::SymmetricView::dense(data.S[0]), problem.y, problem.cost, {}};
          const dual::SmoSolution itself = dual::smo(machine);
          EXPECT_LE(found.info.objective,
                    certify(machine, itself.alpha, itself.b).primal * (1 + 1e-3));
        }
      }
    }
  }
}

TEST(TraceKernel, OfAMatrixGivenTwiceIsThatOfTwiceTheRho) {
  for (const double noise : {0.0, 0.2}) {
    TraceKernelData data = noisy_kernels(16, 1, 22, noise);
    TraceKernelData twice = data;
    twice.S.push_back(data.S[0]);
    for (const trace::KernelLoss loss :
         {trace::KernelLoss::kNorm, trace::KernelLoss::kSquared, trace::KernelLoss::kAbsolute}) {
      for (const double cost : {1e-3, 1.0, 1e3}) {
        for (const double rho : {1e-3, 1.0, 1e3}) {
          const trace::Problem one = data.problem(trace::KernelShape::kShared, loss, 2 * rho, cost);
          const trace::Problem two = twice.problem(trace::KernelShape::kShared, loss, rho, cost);
          const std::string what = "noise " + std::to_string(noise) + " loss " +
                                   std::to_string(static_cast<int>(loss)) + " cost " +
                                   std::to_string(cost) + " rho " + std::to_string(rho);
          const trace::Solution found = expect_solved(two, what);
          const double value = trace::learn_kernel(one).info.objective;
          const double tolerance = loss == trace::KernelLoss::kAbsolute ? 2e-3 : 2e-6;
          EXPECT_NEAR(found.info.objective, value, tolerance * value) << what;
        }
      }
    }
  }
}

/// The kernel that two of three matrices are: the third pulls at it with rho alone.
TEST(TraceKernel, IsTheMatrixThatMostAre) {
  TraceKernelData data = noisy_kernels(14, 1, 4, 0);
  Rng rng(5);
  data.S.push_back(data.S[0]);
  data.S.push_back(gaussian_kernel(rng, data.y));
  for (const trace::KernelLoss loss : {trace::KernelLoss::kNorm, trace::KernelLoss::kAbsolute}) {
    const trace::Problem problem = data.problem(trace::KernelShape::kShared, loss, 1e4);
    const trace::Solution found = expect_solved(problem, std::to_string(static_cast<int>(loss)));
    EXPECT_LT((matrix_of(found.kernels[0]) - data.S[0]).norm(), 1e-9);
  }
}

/// The second kernel keeps few features, which the machine satisfies without effort: u'K_2 u and
/// gamma_2 all but vanish.
TEST(TraceKernel, SolvesNextToAMatrixOfLowRank) {
  TraceKernelData data = noisy_kernels(24, 1, 12);
  Rng rng(4);
  data.S.emplace_back(5 * gram(normal_matrix(rng, 24, 2)));
  for (const trace::KernelLoss loss : {trace::KernelLoss::kNorm, trace::KernelLoss::kSquared}) {
    for (const double rho : {1.0, 1e3}) {
      for (const double cost : {0.1, 1.0, 10.0}) {
        expect_solved(data.problem(trace::KernelShape::kSeparate, loss, rho, cost),
                      "loss " + std::to_string(static_cast<int>(loss)) + " rho " +
                          std::to_string(rho) + " cost " + std::to_string(cost));
      }
    }
  }
}

/// Answers to eight questions, alike by the share of equal ones and by a power of it: two kernels
/// which the learned ones nearly touch.
TraceKernelData answers() {
  constexpr unsigned kAnswers[] = {0x20, 0xdb, 0xa0, 0x7b, 0x09, 0xb6, 0x8b, 0x1f,
                                   0x22, 0x78, 0x55, 0xff, 0x80, 0x77, 0x10, 0xbf};
  constexpr Index n = 16;
  Matrix equal(n, n);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) equal(i, j) = 1 - std::popcount(kAnswers[i] ^ kAnswers[j]) / 8.0;
  }
  TraceKernelData data;
  data.S = {1 - (1 - equal.array()).pow(0.7), equal};
  data.y = Vector::NullaryExpr(n, [](Index i) { return i % 2 == 0 ? 1.0 : -1.0; });
  return data;
}

TEST(TraceKernel, ProvesUnderTheNormWhatTheSearchAloneDoesNot) {
  const TraceKernelData data = answers();
  for (const trace::KernelShape shape :
       {trace::KernelShape::kShared, trace::KernelShape::kSeparate}) {
    for (const double cost : {0.01, 0.1, 1.0, 10.0, 1000.0}) {
      for (const double rho : {0.01, 0.1, 1.0, 10.0, 1000.0}) {
        const trace::Problem problem = data.problem(shape, trace::KernelLoss::kNorm, rho, cost);
        const trace::Solution found = trace::learn_kernel(problem);
        const trace::Certificate proof = certify(problem, found);
        EXPECT_LE(proof.gap, 1e-3) << "rho " << rho << " cost " << cost;
        EXPECT_GE(proof.gap, -1e-9) << "rho " << rho << " cost " << cost;
        EXPECT_LE(proof.feasibility, 1e-9);
      }
    }
  }
}

/// Raw alignment scores under the default rho: kernels all but stand where they are nearest, with
/// eigenvalues of every size beside zero.
TEST(TraceKernel, ProvesUnderTheNormSpectraOfWhichSomeStayAsTheyAre) {
  const TraceKernelData data = noisy_kernels(20, 3, 12, 0);
  for (const double rho : {1e-2, 0.1, 1.0, 1e3}) {
    for (const double cost : {0.1, 1.0, 1e3}) {
      expect_solved(
          data.problem(trace::KernelShape::kSpectral, trace::KernelLoss::kNorm, rho, cost),
          "rho " + std::to_string(rho) + " cost " + std::to_string(cost));
    }
  }
}

TEST(TraceKernel, SolvesUnderALossOfAnyWeight) {
  TraceKernelData data = noisy_kernels(24, 3, 14, 0.4);
  for (Index j = 0; j < 24; ++j) {
    const double stretch = j % 2 == 0 ? 1 : 1.5;
    for (Matrix& S : data.S) {
      S.col(j) *= stretch;
      S.row(j) *= stretch;
    }
  }
  for (const trace::KernelShape shape : kShapes) {
    double last = 0;
    for (const double rho : {1e2, 1e4, 1e6, 1e8, 1e12, 1e20, 1e28, 1e44}) {
      const trace::Problem problem = data.problem(shape, trace::KernelLoss::kSquared, rho, 500);
      const trace::Solution found = trace::learn_kernel(problem);
      const trace::Certificate proof = certify(problem, found);
      EXPECT_EQ(found.info.status, SolveStatus::kSolved) << rho << " gap " << found.info.gap;
      EXPECT_LE(proof.gap, 1e-6) << rho;
      EXPECT_GE(proof.gap, -1e-9) << rho;
      EXPECT_LE(proof.feasibility, 1e-9) << rho;
      // The heavier the loss, the less of it is spent on the machine.
      EXPECT_GE(found.machine, last * (1 - 1e-5)) << rho;
      last = found.machine;
    }
  }
}

/// Few samples of raw scores: the nearest kernel has too few features to separate the classes, and
/// coefficients at costs of 1e7 leave the margins nine digits.
TEST(TraceKernel, FinishesMachinesUnderCostsFarAboveTheKernel) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    Rng rng(seed);
    TraceKernelData data;
    data.y = random_labels(rng, 10);
    data.S.emplace_back(12 * random_symmetric(rng, 10));
    for (const trace::KernelShape shape : kShapes) {
      trace::Problem problem = data.problem(shape, trace::KernelLoss::kSquared, 1e21, 1e7);
      problem.trace = 15;
      expect_solved(problem, "seed " + std::to_string(seed) + " shape " +
                                 std::to_string(static_cast<int>(shape)));
    }
  }
}

/// A trace of 1e-10 of the matrix's, in its own unit: whatever the kernel, the machine is that of
/// the larger class.
TEST(TraceKernel, SolvesForATraceOfNextToNothing) {
  TraceKernelData data = noisy_kernels(30, 1, 16, 0);
  data.y.setConstant(-1);
  data.y.head(14).setOnes();
  data.S[0] *= 1e10;
  for (const trace::KernelShape shape : kShapes) {
    trace::Problem problem = data.problem(shape, trace::KernelLoss::kSquared, 1e-30, 1e-10);
    problem.trace = 30;
    const trace::Solution found = expect_solved(problem, std::to_string(static_cast<int>(shape)));
    EXPECT_NEAR(found.machine, 2 * 14 * 1e-10, 1e-6 * found.machine);
  }
}

TEST(TraceKernel, TakesDecompositionsThatAreThere) {
  const TraceKernelData data = noisy_kernels(15, 3, 15);
  for (const trace::KernelShape shape : kShapes) {
    trace::Problem problem = data.problem(shape, trace::KernelLoss::kSquared, 0.3);
    const double value = trace::learn_kernel(problem).info.objective;
    std::vector<SymmetricEigen> eigen;
    if (shape == trace::KernelShape::kShared) {
      eigen.push_back(symmetric_eigen((data.S[0] + data.S[1] + data.S[2]) / 3));
    } else {
      for (const Matrix& S : data.S) eigen.push_back(symmetric_eigen(S));
    }
    problem.eigen = eigen;
    EXPECT_NEAR(trace::learn_kernel(problem).info.objective, value, 1e-10 * value);
    eigen.push_back(eigen[0]);
    problem.eigen = eigen;
    EXPECT_THROW((void)trace::learn_kernel(problem), Error);
  }
}

TEST(TraceKernel, HasTheSameOptimumWithAndWithoutABarrierOnTheKernels) {
  const TraceKernelData data = noisy_kernels(20, 2, 7);
  const Vector cost = Vector::Constant(20, 2.0);
  std::vector<trace::Block> blocks;
  for (const Matrix& S : data.S) {
    blocks.emplace_back(symmetric_eigen(S), data.S[0].trace());
  }
  const trace::Dual dual{blocks, Vector{{0.1, 0.4}}, data.y, cost};
  const trace::DualSolution one = trace::newton(dual, 1e-9, {});
  const trace::DualSolution two = trace::barrier(dual, 1e-9, {});
  ASSERT_EQ(one.status, SolveStatus::kSolved);
  ASSERT_EQ(two.status, SolveStatus::kSolved);
  EXPECT_NEAR(one.machine + one.penalty, two.machine + two.penalty, 2e-9 * one.machine);
  EXPECT_LE((one.gamma - two.gamma).norm(), 1e-3);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Matrix K = matrix_of(blocks[i].kernel(one.points[i]));
    EXPECT_LE((K - matrix_of(blocks[i].kernel(two.points[i]))).norm(), 1e-3 * K.norm());
  }
}

/// What a solution loses by 1e-4, each part on its own.
struct Spoil {
  const char* what;
  std::function<void(trace::Solution&)> by;
};

constexpr double kSpoil = 1e-4;

std::vector<Spoil> spoils(const trace::Solution& good) {
  std::vector<Spoil> all = {
      {"alpha", [](trace::Solution& s) { s.alpha *= 1 - kSpoil; }},
      {"larger alpha", [](trace::Solution& s) { s.alpha *= 1 + kSpoil; }},
      {"b", [](trace::Solution& s) { s.b += kSpoil; }},
      {"smaller b", [](trace::Solution& s) { s.b -= kSpoil; }},
      {"alpha of the proof", [](trace::Solution& s) { s.proof.alpha *= 1 - kSpoil; }},
      {"larger alpha of the proof", [](trace::Solution& s) { s.proof.alpha *= 1 + kSpoil; }},
  };
  for (std::size_t i = 0; i < good.proof.Z.size(); ++i) {
    all.push_back({"Z", [i](trace::Solution& s) { s.proof.Z[i] *= 1 - kSpoil; }});
  }
  for (std::size_t k = 0; k < good.kernels.size(); ++k) {
    all.push_back({"kernel", [k](trace::Solution& s) { s.kernels[k].lambda *= 1 + kSpoil; }});
    // Of the same trace.
    all.push_back({"spectrum", [k](trace::Solution& s) {
                     Vector& lambda = s.kernels[k].lambda;
                     const double shift = kSpoil * lambda.sum();
                     Index largest = 0;
                     lambda.maxCoeff(&largest);
                     lambda(largest) -= shift;
                     lambda(largest > 0 ? largest - 1 : 1) += shift;
                   }});
    all.push_back({"eigenvectors", [k](trace::Solution& s) {
                     Matrix& U = s.kernels[k].U;
                     const Eigen::JacobiRotation<double> turn(std::cos(kSpoil), std::sin(kSpoil));
                     U.applyOnTheRight(0, U.cols() - 1, turn);
                   }});
  }
  for (Index k = 1; k < good.gamma.size(); ++k) {
    all.push_back({"gamma", [k](trace::Solution& s) {
                     s.gamma(0) += kSpoil;
                     s.gamma(k) -= kSpoil;
                   }});
    all.push_back({"gamma of the proof", [k](trace::Solution& s) {
                     s.proof.gamma(0) += kSpoil;
                     s.proof.gamma(k) -= kSpoil;
                   }});
  }
  return all;
}

bool passes(const trace::Certificate& c) {
  return std::abs(c.gap) <= 1e-6 && c.feasibility <= 1e-9 && c.kkt_residual <= 1e-5;
}

TEST(TraceKernel, ASpoiledSolutionFailsItsCertificate) {
  const TraceKernelData data = noisy_kernels(16, 2, 5);
  for (const trace::KernelShape shape : kShapes) {
    for (const trace::KernelLoss loss : {trace::KernelLoss::kNorm, trace::KernelLoss::kSquared}) {
      const trace::Problem problem = data.problem(shape, loss, 0.3);
      const trace::Solution good = trace::learn_kernel(problem, {.tolerance = 1e-6});
      EXPECT_TRUE(passes(certify(problem, good)));
      EXPECT_EQ(good.proof.Z.size(), loss == trace::KernelLoss::kSquared ? 0 : data.S.size());
      for (const Spoil& spoil : spoils(good)) {
        trace::Solution spoiled = good;
        spoil.by(spoiled);
        EXPECT_FALSE(passes(certify(problem, spoiled)))
            << spoil.what << ", shape " << static_cast<int>(shape) << ", loss "
            << static_cast<int>(loss);
      }
    }
  }
}

trace::ConvexLoss squares() {
  return {[](const Matrix& X) { return X.squaredNorm(); },
          [](const Matrix& X) -> Matrix { return 2 * X; }};
}

/// sum (sqrt(1 + x^2) - 1): squares near 0, absolute values far from it.
trace::ConvexLoss pseudo_huber() {
  return {[](const Matrix& X) { return ((1 + X.array().square()).sqrt() - 1).sum(); },
          [](const Matrix& X) -> Matrix { return X.array() / (1 + X.array().square()).sqrt(); }};
}

TEST(TraceKernel, OfAGivenFunctionIsThatOfTheLossItIs) {
  const TraceKernelData data = noisy_kernels(16, 2, 5);
  const trace::ConvexLoss own = squares();
  for (const trace::KernelShape shape : kShapes) {
    for (const double rho : {0.01, 0.3, 10.0}) {
      trace::Problem problem = data.problem(shape, trace::KernelLoss::kSquared, rho);
      const double expected = trace::learn_kernel(problem).info.objective;
      problem.loss = trace::KernelLoss::kOwn;
      problem.own = &own;
      const trace::Solution found = trace::learn_kernel(problem);
      EXPECT_EQ(found.info.status, SolveStatus::kSolved) << found.info.gap;
      EXPECT_NEAR(found.info.objective, expected, 2e-4 * expected);
      EXPECT_LE(found.lower, expected * (1 + 1e-9));
    }
  }
}

TEST(TraceKernel, ProvesItsOptimumForAFunctionThatIsGiven) {
  const TraceKernelData data = noisy_kernels(20, 2, 6);
  const trace::ConvexLoss own = pseudo_huber();
  for (const trace::KernelShape shape : kShapes) {
    for (const double rho : {1e-3, 0.1, 10.0}) {
      for (const double cost : {0.1, 100.0}) {
        trace::Problem problem = data.problem(shape, trace::KernelLoss::kOwn, rho, cost);
        problem.own = &own;
        const trace::Solution found = trace::learn_kernel(problem);
        const std::string what = "shape " + std::to_string(static_cast<int>(shape)) + " rho " +
                                 std::to_string(rho) + " cost " + std::to_string(cost);
        EXPECT_EQ(found.info.status, SolveStatus::kSolved) << what << " gap " << found.info.gap;
        const trace::Certificate proof = certify(problem, found);
        EXPECT_LE(proof.gap, 1e-4) << what;
        EXPECT_GE(proof.gap, -1e-9) << what;
        EXPECT_LE(proof.feasibility, 1e-9) << what;
      }
    }
  }
}

TEST(TraceKernel, ASpoiledSolutionForAGivenFunctionFailsItsCertificate) {
  const TraceKernelData data = noisy_kernels(16, 2, 5);
  const trace::ConvexLoss own = pseudo_huber();
  for (const trace::KernelShape shape : kShapes) {
    trace::Problem problem = data.problem(shape, trace::KernelLoss::kOwn, 0.3);
    problem.own = &own;
    const trace::Solution good = trace::learn_kernel(problem, {.tolerance = 1e-7});
    EXPECT_TRUE(passes(certify(problem, good))) << static_cast<int>(shape);
    for (const Spoil& spoil : spoils(good)) {
      trace::Solution spoiled = good;
      spoil.by(spoiled);
      EXPECT_FALSE(passes(certify(problem, spoiled)))
          << spoil.what << ", shape " << static_cast<int>(shape);
    }
  }
}

TEST(TraceKernel, TakesAFunctionForMatricesThatAreKernelsAlready) {
  const TraceKernelData data = noisy_kernels(14, 1, 4, 0);
  const trace::ConvexLoss own = pseudo_huber();
  for (const trace::KernelShape shape : kShapes) {
    trace::Problem problem = data.problem(shape, trace::KernelLoss::kOwn, 1);
    problem.own = &own;
    const trace::Solution found = trace::learn_kernel(problem);
    EXPECT_EQ(found.info.status, SolveStatus::kSolved) << static_cast<int>(shape);
  }
}

TEST(TraceKernel, RefusesAFunctionThatIsNotConvexOrNotThatOfItsGradient) {
  const TraceKernelData data = noisy_kernels(12, 2, 7);
  const auto refused = [&](const trace::ConvexLoss& loss) {
    trace::Problem problem = data.problem(trace::KernelShape::kShared, trace::KernelLoss::kOwn, 1);
    problem.own = &loss;
    EXPECT_THROW((void)trace::learn_kernel(problem), Error);
  };
  refused({});
  refused({[](const Matrix& X) { return -X.squaredNorm(); },
           [](const Matrix& X) -> Matrix { return -2 * X; }});
  refused({squares().value, [](const Matrix& X) -> Matrix { return -2 * X; }});
  refused({squares().value, [](const Matrix& X) -> Matrix { return 3 * X; }});
  refused({squares().value, [](const Matrix& X) -> Matrix { return X; }});
  refused({squares().value, [](const Matrix& X) -> Matrix { return X.topRows(2); }});
  refused({squares().value, [](const Matrix& X) -> Matrix { return X / 0.0; }});
  trace::Problem none = data.problem(trace::KernelShape::kShared, trace::KernelLoss::kOwn, 1);
  EXPECT_THROW(validate(none), Error);
}

TEST(TraceKernel, WithATraceThatDoesNotBindIsTheRobustMachine) {
  const TraceKernelData data = noisy_kernels(20, 1, 6);
  const robust::Problem robust{
      .S = data.S[0], .y = data.y, .cost = Vector::Constant(20, 2), .rho = 0.4};
  const robust::Solution expected = robust::newton(robust);
  trace::Problem problem =
      data.problem(trace::KernelShape::kShared, trace::KernelLoss::kSquared, 0.4, 2);
  problem.trace = expected.kernel.lambda.sum();
  const trace::Solution found = trace::learn_kernel(problem);
  EXPECT_NEAR(found.info.objective, expected.info.objective, 1e-7 * found.info.objective);
  const Matrix K = matrix_of(expected.kernel);
  EXPECT_LT((matrix_of(found.kernels[0]) - K).norm(), 1e-5 * K.norm());

  const robust::Solution norm = robust::norm(robust, 3.0);
  problem.loss = trace::KernelLoss::kNorm;
  problem.rho = 3;
  problem.trace = norm.kernel.lambda.sum();
  EXPECT_NEAR(trace::learn_kernel(problem).info.objective, norm.info.objective,
              2e-6 * norm.info.objective);
}

TEST(TraceKernel, OneMatrixIsTheSameSharedOrSeparate) {
  const TraceKernelData data = noisy_kernels(15, 1, 7);
  for (const trace::KernelLoss loss : {trace::KernelLoss::kNorm, trace::KernelLoss::kSquared}) {
    const double shared =
        trace::learn_kernel(data.problem(trace::KernelShape::kShared, loss, 0.5)).info.objective;
    const double separate =
        trace::learn_kernel(data.problem(trace::KernelShape::kSeparate, loss, 0.5)).info.objective;
    const double spectral =
        trace::learn_kernel(data.problem(trace::KernelShape::kSpectral, loss, 0.5)).info.objective;
    EXPECT_NEAR(shared, separate, 2e-6 * shared);
    EXPECT_GE(spectral, shared * (1 - 1e-6));  // fewer kernels to choose from
  }
}

TEST(TraceKernel, DoesNotDependOnTheOrderOfMatricesOrSamples) {
  TraceKernelData data = noisy_kernels(15, 3, 8);
  for (const trace::KernelShape shape : kShapes) {
    const trace::Problem problem = data.problem(shape, trace::KernelLoss::kNorm, 0.7);
    const trace::Solution found = trace::learn_kernel(problem, {.tolerance = 1e-6});
    TraceKernelData turned = data;
    std::swap(turned.S[0], turned.S[2]);
    for (Matrix& S : turned.S) S = S.reverse().eval();
    turned.y.reverseInPlace();
    trace::Problem other = turned.problem(shape, trace::KernelLoss::kNorm, 0.7);
    other.trace = problem.trace;
    const trace::Solution same = trace::learn_kernel(other, {.tolerance = 1e-6});
    EXPECT_NEAR(found.info.objective, same.info.objective, 2e-6 * found.info.objective);
    if (shape == trace::KernelShape::kShared) continue;
    EXPECT_NEAR(found.gamma(0), same.gamma(2), 1e-3);
    EXPECT_NEAR(found.gamma(1), same.gamma(1), 1e-3);
  }
}

TEST(TraceKernel, AnswersToARescaledProblemByTheScale) {
  // S, trace times t, cost over t and rho of a loss of degree d times t^-(d+1): all values over t.
  const TraceKernelData data = noisy_kernels(15, 2, 9);
  const double t = 8;
  for (const trace::KernelShape shape : kShapes) {
    for (const trace::KernelLoss loss :
         {trace::KernelLoss::kAbsolute, trace::KernelLoss::kNorm, trace::KernelLoss::kSquared}) {
      if (loss == trace::KernelLoss::kAbsolute && shape == trace::KernelShape::kSpectral) continue;
      const trace::Problem problem = data.problem(shape, loss, 0.2);
      std::vector<Matrix> scaled = data.S;
      for (Matrix& S : scaled) S *= t;
      trace::Problem other = problem;
      other.S = scaled;
      other.trace *= t;
      other.cost /= t;
      other.rho /= t * (loss == trace::KernelLoss::kSquared ? t * t : t);
      const double tolerance = loss == trace::KernelLoss::kAbsolute ? 2e-3 : 2e-6;
      const trace::Settings settings{.tolerance = 0.5 * tolerance};
      const double value = trace::learn_kernel(problem, settings).info.objective;
      EXPECT_NEAR(t * trace::learn_kernel(other, settings).info.objective, value,
                  tolerance * value);
    }
  }
}

TEST(TraceKernel, CurvatureIsTheDerivativeOfTheGradient) {
  const TraceKernelData data = noisy_kernels(12, 1, 10, 0.5);
  Rng rng(2);
  const Vector w = Vector::NullaryExpr(12, [&](Index) { return rng.normal(); });
  const Vector step = Vector::NullaryExpr(12, [&](Index) { return 1e-5 * rng.normal(); });
  const trace::Block block(symmetric_eigen(data.S[0]), 3);
  const Matrix H = block.curvature(block.at(w, 0.4));
  const Vector change = block.at(w + step, 0.4).Kw - block.at(w - step, 0.4).Kw;
  EXPECT_LT((change - 2 * H * step).norm(), 1e-7 * step.norm());
  EXPECT_LT((H - H.transpose()).norm(), 1e-12 * H.norm());
}

TEST(TraceKernel, ProjectsOntoTheSimplex) {
  const trace::SimplexPoint inside = trace::project_to_simplex(Vector::Constant(4, 0.25), 1);
  EXPECT_NEAR(inside.theta, 0, 1e-16);
  Vector d(4);
  d << 3, -1, 2.5, 0;
  const trace::SimplexPoint found = trace::project_to_simplex(d, 1);
  EXPECT_NEAR(found.k.sum(), 1, 1e-15);
  EXPECT_NEAR(found.k(0), 0.75, 1e-15);
  EXPECT_NEAR(found.k(2), 0.25, 1e-15);
  EXPECT_EQ(found.k(1), 0);
}

TEST(TraceKernel, RefusesMalformedProblems) {
  const TraceKernelData data = noisy_kernels(8, 2, 11);
  const auto problem = [&] {
    return data.problem(trace::KernelShape::kShared, trace::KernelLoss::kSquared, 1);
  };
  trace::Problem bad = problem();
  bad.trace = 0;
  EXPECT_THROW((void)trace::learn_kernel(bad), Error);
  bad = problem();
  bad.rho = -1;
  EXPECT_THROW((void)papers::mirror_descent(bad), Error);
  bad = problem();
  bad.S = {};
  EXPECT_THROW((void)trace::learn_kernel(bad), Error);
  bad = problem();
  bad.y.setOnes();
  EXPECT_THROW((void)trace::learn_kernel(bad), Error);
  EXPECT_THROW((void)trace::learn_kernel(
                   data.problem(trace::KernelShape::kSpectral, trace::KernelLoss::kAbsolute, 1)),
               Error);
  trace::Solution more = trace::learn_kernel(problem());
  EXPECT_TRUE(more.proof.Z.empty());
  more.proof.Z.emplace_back(Matrix::Zero(8, 8));
  EXPECT_THROW((void)certify(problem(), more), Error);
  bad = problem();
  bad.loss = trace::KernelLoss::kNorm;
  trace::Solution cut = trace::learn_kernel(bad);
  cut.proof.Z.pop_back();
  EXPECT_THROW((void)certify(bad, cut), Error);
}

}  // namespace
}  // namespace kith::trace_kernel_test
