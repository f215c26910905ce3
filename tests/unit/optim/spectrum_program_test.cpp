// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/spectrum/program.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "dual_problems.hpp"
#include "kith/core/error.hpp"
#include "kith/numerics/psd.hpp"
#include "optim/spectrum/inner.hpp"

namespace kith::spectrum_program_test {
namespace {

using testing_support::normal_matrix;
using testing_support::random_labels;
using testing_support::random_symmetric;

constexpr std::array<spectrum::Centre, 4> kCentres = {
    spectrum::Centre::kClip, spectrum::Centre::kFlip, spectrum::Centre::kBoth,
    spectrum::Centre::kSimilarity};

struct Owned {
  SymmetricEigen eigen;
  Vector y;

  [[nodiscard]] spectrum::Program program(double eta, double gamma, spectrum::Centre centre) const {
    const auto n = static_cast<double>(y.size());
    return {.eigen = &eigen,
            .y = y,
            .upper = Vector::Constant(y.size(), 1 / n),
            .eta = eta,
            .gamma = gamma,
            .centre = centre};
  }
};

Owned indefinite(Index n, std::uint64_t seed) {
  Rng rng(seed);
  Vector y = random_labels(rng, n);
  Matrix X = normal_matrix(rng, n, 5);
  X.col(0) += y;
  return {symmetric_eigen(0.2 * X * X.transpose() + 0.3 * random_symmetric(rng, n)), y};
}

/// [CGR] (10) at a point, written down once more and without shortcuts.
double printed(const spectrum::Program& program, const spectrum::Point& point) {
  const Vector& lambda = program.eigen->lambda;
  const Matrix& U = program.eigen->U;
  const Vector inverse = (lambda.array() * point.a.array()).inverse();
  const Vector c = U * inverse.cwiseProduct(point.z);
  const Matrix K = U * lambda.cwiseProduct(point.a).asDiagonal() * U.transpose();
  const Vector f = (K * c).array() + point.b;
  const double loss = program.upper.dot((1 - program.y.array() * f.array()).max(0.0).matrix());
  const Vector clip = (lambda.array() > 0).cast<double>();
  const Vector flip = lambda.cwiseSign();
  double h = 0;
  switch (program.centre) {
    case spectrum::Centre::kClip:
      h = (point.a - clip).norm();
      break;
    case spectrum::Centre::kFlip:
      h = (point.a - flip).norm();
      break;
    case spectrum::Centre::kBoth:
      h = (point.a - clip).norm() + (point.a - flip).norm();
      break;
    case spectrum::Centre::kSimilarity:
      h = lambda.cwiseProduct(point.a - Vector::Ones(lambda.size())).norm();
      break;
  }
  return loss + program.eta * c.dot(K * c) + program.gamma * h;
}

TEST(SpectrumProgram, ClosesTheGapOfThePrintedProblem) {
  for (const Index n : {2, 12, 50}) {
    const Owned owned = indefinite(n, static_cast<std::uint64_t>(n));
    for (const spectrum::Centre centre : kCentres) {
      for (const double eta : {1e-3, 1e-2, 1.0}) {
        for (const double gamma : {1e-3, 1e-2, 1e-1}) {
          const spectrum::Program program = owned.program(eta, gamma, centre);
          const spectrum::Solution solution = spectrum::solve(program);
          SCOPED_TRACE(testing::Message()
                       << enum_name(centre) << " n " << n << " eta " << eta << " gamma " << gamma);
          EXPECT_EQ(solution.info.status, SolveStatus::kSolved);
          EXPECT_LE(solution.certificate.gap, 1e-8);
          EXPECT_LE(solution.info.iterations, 50);
          const Vector kernel = owned.eigen.lambda.cwiseProduct(solution.point.a);
          EXPECT_GE(kernel.minCoeff(), 0);
          const double value = printed(program, solution.point);
          EXPECT_NEAR(value, solution.info.objective, 1e-7 * value);
        }
      }
    }
  }
}

/// The samples of indefinite(n, seed), each of them `copies` times.
Owned repeated(Index n, Index copies, std::uint64_t seed) {
  const Owned once = indefinite(n, seed);
  const Matrix S = once.eigen.U * once.eigen.lambda.asDiagonal() * once.eigen.U.transpose();
  return {symmetric_eigen(S.replicate(copies, copies)), once.y.replicate(copies, 1)};
}

TEST(SpectrumProgram, ClosesTheGapNextToEqualSamples) {
  // The free samples' equations are singular there, and the answer's alpha is one of many.
  for (const spectrum::Centre centre : {spectrum::Centre::kClip, spectrum::Centre::kFlip}) {
    for (const double eta : {1e-2, 1e-1}) {
      for (const double gamma : {1e-4, 1e-3, 1e-2}) {
        SCOPED_TRACE(testing::Message()
                     << enum_name(centre) << " eta " << eta << " gamma " << gamma);
        for (const std::uint64_t seed : {3, 4, 5}) {
          const Owned owned = repeated(20, 4, seed);
          const spectrum::Program program = owned.program(eta, gamma, centre);
          const spectrum::Solution solution = spectrum::solve(program, {.tolerance = 1e-12});
          EXPECT_EQ(solution.info.status, SolveStatus::kSolved);
          EXPECT_LE(certify(program, solution.point).gap, 1e-12);
          EXPECT_LE(solution.info.iterations, 40);
        }
      }
    }
  }
}

TEST(SpectrumProgram, ComesToTheSameFromAnyStart) {
  const Owned owned = indefinite(30, 9);
  const double plus = owned.y.cwiseMax(0.0).sum();
  const double minus = 30 - plus;
  const Vector balanced =
      (owned.y.array() > 0).select(Vector::Constant(30, 1 / plus), Vector::Constant(30, 1 / minus));
  for (const spectrum::Centre centre : {spectrum::Centre::kClip, spectrum::Centre::kFlip}) {
    const spectrum::Program program = owned.program(1e-2, 1e-3, centre);
    const spectrum::Solution cold = spectrum::solve(program);
    for (const double part : {0.0, 0.01, 0.3}) {
      const spectrum::Solution warm = spectrum::solve(program, {}, {}, part * balanced);
      EXPECT_EQ(warm.info.status, SolveStatus::kSolved);
      EXPECT_NEAR(warm.info.objective, cold.info.objective, 2e-8 * cold.info.objective);
      EXPECT_TRUE(warm.point.a.isApprox(cold.point.a, 1e-6));
    }
  }
}

TEST(SpectrumProgram, KeepsItsDigitsUnderALargeGamma) {
  // gamma h is up to 10^6 times the rest here, and some eigenvalues are next to nothing.
  Owned owned = indefinite(40, 11);
  owned.eigen.lambda.segment(12, 6).setZero();
  owned.eigen.lambda.segment(8, 4) *= 1e-6;
  for (const spectrum::Centre centre : {spectrum::Centre::kBoth, spectrum::Centre::kSimilarity}) {
    for (const double eta : {1e-4, 1e-2, 1.0}) {
      for (const double gamma : {1.0, 10.0, 100.0, 1000.0}) {
        SCOPED_TRACE(testing::Message()
                     << enum_name(centre) << " eta " << eta << " gamma " << gamma);
        const spectrum::Program program = owned.program(eta, gamma, centre);
        const spectrum::Solution solution = spectrum::solve(program);
        EXPECT_EQ(solution.info.status, SolveStatus::kSolved);
        EXPECT_LE(certify(program, solution.point).gap, 1e-8);
      }
    }
  }
}

TEST(SpectrumProgram, KnowsTheBestMultipliersForAGivenMachine) {
  // Psi(G) = min_{t >= 0} gamma h(t) - t'G: attained at its slope, and nowhere undercut.
  const Owned owned = indefinite(20, 12);
  Rng rng(13);
  for (const spectrum::Centre centre : {spectrum::Centre::kBoth, spectrum::Centre::kSimilarity}) {
    for (const double fraction : {0.9, 0.3, 0.01}) {
      spectrum::Program program = owned.program(1, 1, centre);
      const spectrum::Terms terms = spectrum::terms_of(program);
      Vector G(20);
      for (Index i = 0; i < 20; ++i) G(i) = std::abs(rng.normal());
      // G small at the negative eigenvalues: flip is not the answer at once.
      G = (terms.sign.array() < 0).select(0.01 * G, G);
      G *= fraction / spectrum::inner_size(program, terms, G);
      const double value = spectrum::inner_value(program, terms, G);
      const spectrum::InnerSlope slope = spectrum::inner_slope(program, terms, G);
      const double scale = std::abs(value) + program.gamma;
      EXPECT_NEAR(spectrum::penalty(program, terms, slope.t) - slope.t.dot(G), value,
                  1e-11 * scale);
      for (int trial = 0; trial < 200; ++trial) {
        Vector t = slope.t;
        for (Index i = 0; i < 20; ++i) t(i) = std::max(0.0, t(i) + 0.1 * rng.normal());
        EXPECT_GE(spectrum::penalty(program, terms, t) - t.dot(G), value - 1e-11 * scale);
      }
      const Matrix change =
          Matrix(slope.diagonal.asDiagonal()) + slope.V * slope.C * slope.V.transpose();
      for (Index i = 0; i < 20; ++i) {
        const double step = std::min(1e-5 * G.norm(), 0.5 * G(i));
        Vector above = G;
        Vector below = G;
        above(i) += step;
        below(i) -= step;
        const double fall = spectrum::inner_value(program, terms, below) -
                            spectrum::inner_value(program, terms, above);
        EXPECT_NEAR(fall / (2 * step), slope.t(i), 1e-4 * (1 + slope.t.maxCoeff()));
        const Vector moved = (spectrum::inner_slope(program, terms, above).t -
                              spectrum::inner_slope(program, terms, below).t) /
                             (2 * step);
        EXPECT_LE((moved - change.col(i)).norm(), 1e-4 * change.norm());
      }
    }
  }
}

TEST(SpectrumProgram, KeepsItsMultipliersOnTheRayOfTheReduction) {
  // a = a_0 + v g / |g| with v >= 0 and |g| = gamma, for clip and flip.
  const Owned owned = indefinite(40, 5);
  for (const spectrum::Centre centre : {spectrum::Centre::kClip, spectrum::Centre::kFlip}) {
    const spectrum::Program program = owned.program(1e-2, 5e-3, centre);
    const spectrum::Point point = spectrum::solve(program, {.tolerance = 1e-10}).point;
    const Vector w = owned.eigen.U.transpose() * owned.y.cwiseProduct(point.alpha);
    const Vector g = owned.eigen.lambda.cwiseProduct(w.cwiseAbs2()) / (4 * program.eta);
    EXPECT_NEAR(g.norm(), program.gamma, 1e-6 * program.gamma);
    const Vector moved = point.a - spectrum::plain_multipliers(centre, owned.eigen.lambda);
    EXPECT_GT(moved.norm(), 0.01);
    EXPECT_LE((moved / moved.norm() - g / g.norm()).norm(), 1e-4);
  }
}

TEST(SpectrumProgram, RefusesToCertifyASpoiledPoint) {
  const Owned owned = indefinite(30, 6);
  for (const spectrum::Centre centre : kCentres) {
    const spectrum::Program program = owned.program(1e-2, 1e-2, centre);
    const spectrum::Point good = spectrum::solve(program).point;
    EXPECT_LE(certify(program, good).gap, 1e-8);
    spectrum::Point alpha = good;
    alpha.alpha *= 1 - 1e-4;  // a longer one is shrunk back
    spectrum::Point a = good;
    a.a(owned.eigen.lambda.size() - 1) *= 1 + 1e-2;  // second order: a is at its minimum
    spectrum::Point z = good;
    z.z *= 1 - 1e-4;
    spectrum::Point b = good;
    b.b += 1e-3;
    for (const spectrum::Point& spoiled : {alpha, a, z, b}) {
      EXPECT_GT(certify(program, spoiled).gap, 1e-8) << enum_name(centre);
    }
  }
}

/// The machine on the plain multipliers, in the units of the program.
struct PlainMachine {
  Vector alpha;
  double b = 0;
};
PlainMachine plain_machine(const Owned& owned, const spectrum::Program& program,
                           spectrum::Centre centre) {
  const Vector plain = spectrum::plain_multipliers(centre, owned.eigen.lambda);
  const Matrix K = reconstruct(owned.eigen.U, owned.eigen.lambda.cwiseProduct(plain));
  const dual::SvmDual dual{.K = dual::SymmetricView::dense(K),
                           .y = owned.y,
                           .cost = program.upper / (2 * program.eta),
                           .linear = {}};
  const dual::SmoSolution machine = dual::smo(dual, {.tolerance = 1e-10, .gap_tolerance = 1e-10});
  return {.alpha = 2 * program.eta * machine.alpha, .b = machine.b};
}

TEST(SpectrumProgram, IsThePlainMachineFromItsThresholdOn) {
  const Owned owned = indefinite(30, 7);
  for (const spectrum::Centre centre :
       {spectrum::Centre::kClip, spectrum::Centre::kFlip, spectrum::Centre::kBoth}) {
    spectrum::Program program = owned.program(1e-2, 1, centre);
    const PlainMachine machine = plain_machine(owned, program, centre);
    const double threshold = spectrum::plain_threshold(program, machine.alpha);
    program.gamma = threshold * (1 + 1e-6);
    EXPECT_LE(certify(program, spectrum::plain_point(program, machine.alpha, machine.b)).gap, 1e-8);
    program.gamma = 0.9 * threshold;
    EXPECT_GT(certify(program, spectrum::plain_point(program, machine.alpha, machine.b)).gap, 1e-8);
    // The value has no jump there.
    const double below = spectrum::solve(program).certificate.primal;
    program.gamma = threshold;
    const double at =
        certify(program, spectrum::plain_point(program, machine.alpha, machine.b)).primal;
    EXPECT_LE(below, at * (1 + 1e-8));
    EXPECT_GE(below, 0.8 * at);
  }
}

TEST(SpectrumProgram, ProvesThePlainMachineUnderAnyGammaAboveItsThreshold) {
  // gamma multiplies what rounding leaves of h less its least value, which is 0 there.
  for (const Index n : {11, 16, 23, 30, 37, 48}) {
    const Owned owned = indefinite(n, 7);
    spectrum::Program program = owned.program(1e-4, 1, spectrum::Centre::kBoth);
    const PlainMachine machine = plain_machine(owned, program, spectrum::Centre::kBoth);
    const spectrum::Point point = spectrum::plain_point(program, machine.alpha, machine.b);
    const double threshold = spectrum::plain_threshold(program, machine.alpha);
    for (const double more : {1.001, 1e3, 1e6, 1e12, 1e30, 1e100}) {
      program.gamma = more * threshold;
      EXPECT_LE(certify(program, point).gap, 1e-9) << n << " " << more;
    }
    const spectrum::Terms terms = spectrum::terms_of(program);
    EXPECT_EQ(spectrum::penalty(program, terms, terms.centres.col(0)), 0);
    EXPECT_EQ(spectrum::penalty(program, terms, terms.centres.col(1)), 0);
    const Vector middle = 0.5 * (terms.centres.col(0) + terms.centres.col(1));
    EXPECT_EQ(spectrum::penalty(program, terms, middle), 0);
  }
}

TEST(SpectrumProgram, TakesBothCentresOfADefiniteMatrixForOne) {
  Rng rng(8);
  const Vector y = random_labels(rng, 20);
  const Owned owned{symmetric_eigen(testing_support::gaussian_kernel(rng, y)), y};
  const spectrum::Program both = owned.program(1e-2, 1e-3, spectrum::Centre::kBoth);
  const spectrum::Program flip = owned.program(1e-2, 2e-3, spectrum::Centre::kFlip);
  const spectrum::Solution one = spectrum::solve(both);
  EXPECT_LE(certify(both, one.point).gap, 1e-8);
  const double other = spectrum::solve(flip).info.objective;
  EXPECT_NEAR(one.info.objective, other, 1e-8 * other);
}

TEST(SpectrumProgram, ScalesWithTheSimilarities) {
  // S -> q S with eta -> q eta leaves every machine as it is.
  Owned owned = indefinite(25, 9);
  for (const spectrum::Centre centre : {spectrum::Centre::kClip, spectrum::Centre::kBoth}) {
    const double one = spectrum::solve(owned.program(1e-2, 1e-2, centre)).info.objective;
    Owned scaled = owned;
    scaled.eigen.lambda *= 1000;
    const double other = spectrum::solve(scaled.program(10, 1e-2, centre)).info.objective;
    EXPECT_NEAR(one, other, 3e-8 * one);
  }
}

TEST(SpectrumProgram, StopsWhenAsked) {
  StopSource source;
  source.request_stop();
  RunContext ctx;
  ctx.stop = StopToken(source);
  const Owned owned = indefinite(10, 10);
  EXPECT_THROW((void)spectrum::solve(owned.program(1e-2, 1e-2, spectrum::Centre::kClip), {}, ctx),
               Error);
}

}  // namespace
}  // namespace kith::spectrum_program_test
