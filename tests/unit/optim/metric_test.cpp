// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "kith/core/error.hpp"
#include "kith/core/rng.hpp"
#include "kith/optim/metric/descent.hpp"
#include "kith/optim/metric/margin_radius.hpp"

namespace kith::metric_test {
namespace {

/// Two overlapping clouds with features of different spread, centred.
linear::SignedSamples clouds(Index n, Index features, double cost, std::uint64_t seed) {
  Rng rng(seed);
  linear::SignedSamples samples{Matrix(n, features), Vector(n), Vector::Constant(n, cost)};
  for (Index i = 0; i < n; ++i) {
    samples.y(i) = i % 3 == 0 ? 1 : -1;
    for (Index j = 0; j < features; ++j) {
      samples.X(i, j) = (rng.normal() + (j < 2 ? 0.7 * samples.y(i) : 0)) /
                        std::sqrt(1.0 + static_cast<double>(j));
    }
  }
  samples.X.rowwise() -= Eigen::RowVectorXd(samples.X.colwise().mean());
  return samples;
}

Matrix random_matrix(Index rows, Index cols, std::uint64_t seed) {
  Rng rng(seed);
  Matrix A(rows, cols);
  for (Index i = 0; i < A.size(); ++i) A.data()[i] = rng.normal();
  return A;
}

Matrix random_rotation(Index size, std::uint64_t seed) {
  return Eigen::HouseholderQR<Matrix>(random_matrix(size, size, seed)).householderQ();
}

metric::Point random_point(Index d, Index r, std::uint64_t seed) {
  Rng rng(seed);
  return {
      .L = random_matrix(d, r, seed + 1), .w = random_matrix(d, 1, seed + 2), .b = rng.normal()};
}

double value(const linear::SignedSamples& samples, const Vector& w, double b) {
  return 0.5 * w.squaredNorm() +
         linear::squared_hinge_loss(samples, Vector((samples.X * w).array() + b));
}

double margin_radius_value(const linear::SignedSamples& samples, const Vector& v, double b) {
  const Vector F = samples.X * v;
  return 0.5 * F.cwiseAbs2().maxCoeff() +
         linear::squared_hinge_loss(samples, Vector(F.array() + b));
}

TEST(SquaredHinge, ClosesItsGapAtEveryCost) {
  for (const double cost : {1e-3, 1e-1, 1.0, 1e1, 1e3}) {
    for (const Index features : {1, 5, 40}) {
      const linear::SignedSamples samples = clouds(60, features, cost, 3);
      const linear::SquaredHingeSolution solution = linear::squared_hinge_svm(samples);
      EXPECT_EQ(solution.info.status, SolveStatus::kSolved) << cost << ' ' << features;
      const linear::SquaredHingeCertificate proof =
          linear::certify_squared_hinge(samples, solution.w, solution.b);
      EXPECT_TRUE(proof.within(linear::kSquaredHingeTolerance))
          << proof.gap << ' ' << proof.stationarity;
      EXPECT_GE(proof.gap, -1e-12);
      EXPECT_NEAR(proof.primal, value(samples, solution.w, solution.b), 1e-12 * proof.primal);
    }
  }
}

TEST(SquaredHinge, BearsAnyCost) {
  for (int power = -300; power <= 300; power += 20) {
    const linear::SignedSamples samples = clouds(60, 5, std::pow(10.0, power), 3);
    const linear::SquaredHingeSolution found = linear::squared_hinge_svm(samples);
    if (found.info.status == SolveStatus::kSolved) {
      EXPECT_GE(found.info.gap, 0) << power;
      EXPECT_LE(found.info.gap, linear::kSquaredHingeTolerance) << power;
    }
    // The smaller the cost, the less there is to solve: w is the pull of all samples.
    if (power <= 0 && power >= -140) {
      EXPECT_EQ(found.info.status, SolveStatus::kSolved) << power;
    }
  }
}

TEST(SquaredHinge, CertificateRefusesASpoiledSolution) {
  const linear::SignedSamples samples = clouds(60, 5, 1, 4);
  const linear::SquaredHingeSolution good = linear::squared_hinge_svm(samples);
  const auto within = [&](const Vector& w, double b) {
    return linear::certify_squared_hinge(samples, w, b).within(linear::kSquaredHingeTolerance);
  };
  ASSERT_TRUE(within(good.w, good.b));
  EXPECT_FALSE(within(good.w * (1 + 1e-4), good.b));
  EXPECT_FALSE(within(good.w, good.b + 1e-4));
}

TEST(SquaredHinge, SolvesTwoSamplesAsByHand) {
  // w = 1, x = 1 and -1: min w^2/2 + 2C (1 - w)^2 has w = 4C / (1 + 4C).
  linear::SignedSamples samples{Matrix(2, 1), Vector(2), Vector::Constant(2, 0.5)};
  samples.X << 1, -1;
  samples.y << 1, -1;
  const linear::SquaredHingeSolution solution = linear::squared_hinge_svm(samples);
  EXPECT_NEAR(solution.w(0), 2.0 / 3, 1e-12);
  EXPECT_NEAR(solution.b, 0, 1e-12);
}

TEST(SquaredHinge, SolvesWhatNoVectorSeparates) {
  // Exclusive or: w = 0 is best, and what pulls at it cancels but for rounding.
  Matrix X(4, 2);
  X << -1.0 / 3, -1.0 / 7, -1.0 / 3, 1.0 / 7, 1.0 / 3, -1.0 / 7, 1.0 / 3, 1.0 / 7;
  Vector y(4);
  y << 1, -1, -1, 1;
  for (const double cost : {0.1, 1.0, 1e3}) {
    const linear::SignedSamples samples{X, y, Vector::Constant(4, cost)};
    const linear::SquaredHingeSolution found = linear::squared_hinge_svm(samples);
    EXPECT_EQ(found.info.status, SolveStatus::kSolved) << cost;
    EXPECT_GE(found.info.gap, 0);
    EXPECT_LE(found.info.kkt_residual, 1e-9);
    EXPECT_NEAR(found.info.objective, 4 * cost, 1e-9 * cost);
  }
}

TEST(SquaredHinge, FindsTheInterceptWithoutFeatures) {
  // min C sum: with 1 positive and 2 negatives, b = (1 - 2) / 3.
  linear::SignedSamples samples{Matrix(3, 0), Vector(3), Vector::Ones(3)};
  samples.y << 1, -1, -1;
  EXPECT_NEAR(linear::squared_hinge_svm(samples).b, -1.0 / 3, 1e-12);
  EXPECT_NEAR(metric::margin_radius(samples).b, -1.0 / 3, 1e-4);
}

TEST(SquaredHinge, RefusesBadSamples) {
  linear::SignedSamples samples = clouds(6, 2, 1, 1);
  samples.y(2) = 0.5;
  try {
    (void)linear::squared_hinge_svm(samples);
    FAIL() << "accepted a sign of 0.5";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("y[2] = 0.5"));
  }
}

TEST(MetricProblem, HasTheGradientOfItsObjective) {
  const linear::SignedSamples samples = clouds(25, 4, 0.7, 5);
  const metric::Point point = random_point(3, 4, 6);
  const metric::Point gradient = metric::gradient(samples, point);
  const double h = 1e-6;
  const auto difference = [&](const auto& change) {
    metric::Point plus = point;
    metric::Point minus = point;
    change(plus, h);
    change(minus, -h);
    return (metric::objective(samples, plus) - metric::objective(samples, minus)) / (2 * h);
  };
  const double scale = gradient.L.norm() + gradient.w.norm();
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 4; ++j) {
      EXPECT_NEAR(difference([&](metric::Point& p, double by) { p.L(i, j) += by; }),
                  gradient.L(i, j), 1e-7 * scale);
    }
    EXPECT_NEAR(difference([&](metric::Point& p, double by) { p.w(i) += by; }), gradient.w(i),
                1e-7 * scale);
  }
  EXPECT_NEAR(difference([&](metric::Point& p, double by) { p.b += by; }), gradient.b,
              1e-7 * scale);
}

/// Theorem 1: with |w| R(L) in place of |w|, any rescaling of L and w leaves (3) as it is, and
/// scaling L into the ball turns (3) into (5).
TEST(MetricProblem, KeepsTheRatioOfMarginAndRadiusWhenRescaled) {
  const linear::SignedSamples samples = clouds(30, 4, 1, 7);
  const metric::Point point = random_point(4, 4, 8);
  const auto ratio_objective = [&](const metric::Point& p) {
    const double R = metric::radius(samples.X, p.L);
    return metric::objective(samples, p) + 0.5 * (R * R - 1) * p.w.squaredNorm();
  };
  const double expected = ratio_objective(point);
  for (const double factor : {1e-3, 0.5, 70.0}) {
    metric::Point other = point;
    other.L *= factor;
    other.w /= factor;
    EXPECT_NEAR(ratio_objective(other), expected, 1e-9 * expected);
  }
  const double R = metric::radius(samples.X, point.L);
  metric::Point inside = point;
  inside.L /= R;
  inside.w *= R;
  EXPECT_NEAR(metric::objective(samples, inside), expected, 1e-9 * expected);
  EXPECT_NEAR(metric::radius(samples.X, inside.L), 1, 1e-12);
}

TEST(MetricProblem, DoesNotChangeUnderRotationsOfTheImage) {
  const linear::SignedSamples samples = clouds(30, 4, 1, 9);
  const metric::Point point = random_point(4, 4, 10);
  const Matrix Q = random_rotation(4, 11);
  const metric::Point turned{.L = Q * point.L, .w = Q * point.w, .b = point.b};
  EXPECT_NEAR(metric::objective(samples, turned), metric::objective(samples, point), 1e-9);
  EXPECT_NEAR(metric::radius(samples.X, turned.L), metric::radius(samples.X, point.L), 1e-12);
}

TEST(MetricProblem, WithTheIdentityFixedIsTheMachineOnScaledSamples) {
  const linear::SignedSamples samples = clouds(50, 6, 2, 12);
  const double R = samples.X.rowwise().norm().maxCoeff();
  const linear::SignedSamples scaled{samples.X / R, samples.y, samples.cost};
  const linear::SquaredHingeSolution machine = linear::squared_hinge_svm(scaled);
  const metric::Point start = metric::start_point(samples, 6, metric::MapStart::kIdentity,
                                                  metric::MachineStart::kSvm, Rng(1), {});
  EXPECT_TRUE(start.L.isApprox(Matrix::Identity(6, 6) / R, 1e-14));
  EXPECT_NEAR(metric::objective(samples, start), machine.info.objective,
              1e-9 * machine.info.objective);
  EXPECT_LT((start.w - machine.w).norm(), 1e-7 * machine.w.norm());
}

/// The smallest radius by all balls that rest on two or three points of the plane.
double smallest_radius_in_the_plane(const Matrix& points) {
  double best = std::numeric_limits<double>::infinity();
  const auto offer = [&](const Vector& centre) {
    const Matrix apart = points.rowwise() - centre.transpose();
    best = std::min(best, apart.rowwise().norm().maxCoeff());
  };
  const Index n = points.rows();
  for (Index i = 0; i < n; ++i) {
    for (Index j = i + 1; j < n; ++j) {
      offer(0.5 * (points.row(i) + points.row(j)).transpose());
      for (Index k = j + 1; k < n; ++k) {
        Matrix A(2, 2);
        A.row(0) = points.row(j) - points.row(i);
        A.row(1) = points.row(k) - points.row(i);
        const Vector right = 0.5 * A.rowwise().squaredNorm();
        offer(points.row(i).transpose() + A.colPivHouseholderQr().solve(right));
      }
    }
  }
  return best;
}

TEST(SmallestBall, IsTheSmallestOfThePlane) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Matrix points = random_matrix(12, 2, seed).array() + 3;
    const metric::SmallestBall ball = metric::smallest_ball(points);
    EXPECT_NEAR(ball.radius, smallest_radius_in_the_plane(points), 1e-9 * ball.radius);
  }
}

TEST(SmallestBall, IsProvedAndASpoiledOneIsNot) {
  const Matrix points = 1e3 * random_matrix(200, 6, 3).array() + 1e5;
  const metric::SmallestBall ball = metric::smallest_ball(points);
  const metric::BallCertificate proof = metric::certify(points, ball);
  EXPECT_NEAR(proof.radius, ball.radius, 1e-12 * ball.radius);
  EXPECT_LE(proof.gap, 1e-8);
  EXPECT_GE(proof.gap, -1e-12);
  EXPECT_LE(ball.supports.size(), 12u);
  metric::SmallestBall moved = ball;
  moved.centre(0) += 1e-4 * ball.radius;
  EXPECT_GT(metric::certify(points, moved).gap, 1e-6);
  metric::SmallestBall weighed = ball;
  weighed.weights(0) *= 0.9;
  EXPECT_GT(metric::certify(points, weighed).gap, 1e-6);
}

TEST(SmallestBall, IsProvedForPointsThatAreOnTheSphereTogether) {
  Matrix cube(8, 3);  // all eight corners, twice, and what lies between
  for (Index i = 0; i < 8; ++i)
    cube.row(i) << (i & 1 ? 1. : 0.), (i & 2 ? 1. : 0.), (i & 4 ? 1. : 0.);
  Matrix points(24, 3);
  points << cube, cube, 0.5 * cube;
  const metric::SmallestBall ball = metric::smallest_ball(points);
  EXPECT_NEAR(ball.radius, 0.5 * std::sqrt(3.0), 1e-12);
  EXPECT_LE(metric::certify(points, ball).gap, 1e-12);
  Matrix axes(60, 30);  // every point twice, all of them supports
  axes << Matrix::Identity(30, 30), Matrix::Identity(30, 30);
  EXPECT_NEAR(metric::smallest_ball(axes).radius, std::sqrt(29.0 / 30), 1e-12);
  EXPECT_LE(metric::certify(axes, metric::smallest_ball(axes)).gap, 1e-12);
  const Matrix flat =
      random_matrix(50, 2, 4) * random_matrix(2, 20, 5);  // a plane in 20 dimensions
  EXPECT_LE(metric::certify(flat, metric::smallest_ball(flat)).gap, 1e-9);
}

TEST(SmallestBall, OfNumbersIsHalfTheirRangeAndOfOnePointNothing) {
  const Matrix line{{3.}, {-1.}, {2.}, {9.}};
  const metric::SmallestBall ball = metric::smallest_ball(line);
  EXPECT_NEAR(ball.radius, 5, 1e-9);
  EXPECT_NEAR(ball.centre(0), 4, 1e-9);
  EXPECT_EQ(metric::smallest_ball(Matrix::Ones(5, 3)).radius, 0);
  EXPECT_NEAR(metric::smallest_ball(line, Vector::Constant(1, 100.0)).radius, 5, 1e-9);
}

/// Far more samples on one side of the ball's centre than on the other.
linear::SignedSamples lopsided(std::uint64_t seed) {
  linear::SignedSamples samples = clouds(60, 4, 1, seed);
  samples.X.topRows(5) *= 4;
  samples.X.rowwise() -= Eigen::RowVectorXd(samples.X.colwise().mean());
  return samples;
}

TEST(BallRadius, AConstantFeatureMovesTheCentre) {
  const linear::SignedSamples samples = lopsided(21);
  const metric::Point point = random_point(4, 4, 22);
  const linear::SignedSamples longer = metric::with_constant(samples);
  const metric::Point around = metric::around_centre(samples, point);
  EXPECT_NEAR(metric::objective(longer, around), metric::objective(samples, point), 1e-9);
  const double ball = metric::smallest_ball(samples.X * point.L.transpose()).radius;
  EXPECT_NEAR(metric::radius(longer.X, around.L), ball, 1e-9 * ball);
  EXPECT_LT(ball, 0.95 * metric::radius(samples.X, point.L));
  const metric::Point back = metric::without_constant(samples, around);
  EXPECT_LT((back.L - point.L).norm(), 1e-12);
  EXPECT_NEAR(back.b, point.b, 1e-9);
}

TEST(BallRadius, DescentsStayInTheBallAndFall) {
  const linear::SignedSamples samples = lopsided(23);
  const metric::Point start =
      metric::start_point(samples, 4, metric::MapStart::kIdentity, metric::MachineStart::kSvm,
                          Rng(1), {}, metric::RadiusRule::kBall);
  const double bound = metric::margin_radius(metric::with_constant(samples)).lower_bound;
  const double mean_bound = metric::margin_radius(samples).info.objective;
  EXPECT_LE(bound, mean_bound * (1 + 1e-9));
  for (const auto projection : {metric::BallProjection::kScaled, metric::BallProjection::kExact}) {
    const metric::Descent found = metric::descent(
        samples, start, {.projection = projection, .radius = metric::RadiusRule::kBall});
    const Matrix images = samples.X * found.point.L.transpose();
    EXPECT_LE(metric::smallest_ball(images).radius, 1 + 1e-9);
    EXPECT_GT(metric::radius(samples.X, found.point.L), 1.01);  // more than the mean would allow
    EXPECT_TRUE(std::is_sorted(found.objectives.rbegin(), found.objectives.rend()));
    EXPECT_NEAR(metric::objective(samples, found.point), found.info.objective,
                1e-9 * found.info.objective);
    EXPECT_GE(found.info.objective, bound * (1 - 1e-9));
    EXPECT_LT(metric::projected_gradient_share(samples, found.point, {}, metric::RadiusRule::kBall),
              metric::projected_gradient_share(samples, start, {}, metric::RadiusRule::kBall));
  }
}

TEST(ExactProjection, IsTheNearestPointOfTheBall) {
  const Matrix X = clouds(40, 5, 1, 13).X;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Matrix L = 3 * random_matrix(5, 5, seed);
    const auto [A, lambda] = metric::exact_projection(X, L);
    EXPECT_LE(metric::radius(X, A), 1 + 1e-12);
    EXPECT_GE(lambda.minCoeff(), 0);
    // The conditions of (9): A (I + X' diag(lambda) X) = L and lambda_i (|A x_i| - 1) = 0.
    const Matrix back = A * (Matrix::Identity(5, 5) + X.transpose() * lambda.asDiagonal() * X);
    EXPECT_LT((back - L).norm(), 1e-6 * L.norm());
    const Vector lengths = (X * A.transpose()).rowwise().norm();
    for (Index i = 0; i < 40; ++i) EXPECT_LT(lambda(i) * (1 - lengths(i)), 1e-6 * (1 + lambda(i)));
    EXPECT_LE((A - L).norm(), (metric::scaled_projection(X, L) - L).norm());
  }
}

TEST(ExactProjection, LeavesWhatIsInside) {
  const Matrix X = clouds(20, 3, 1, 14).X;
  const Matrix L = 0.5 * metric::scaled_projection(X, random_matrix(3, 3, 1));
  EXPECT_EQ(metric::exact_projection(X, L).A, L);
}

TEST(ExactProjection, DoesNotDependOnTheUnitsOfTheSamples) {
  const Matrix X = clouds(40, 5, 1, 13).X;
  const Matrix L = 3 * random_matrix(5, 5, 6);
  const Matrix A = metric::exact_projection(X, L).A;
  for (const double unit : {1e-6, 1e-2, 1e3, 1e9}) {
    const Matrix other = metric::exact_projection(unit * X, L / unit).A;
    EXPECT_LT((unit * other - A).norm(), 1e-7 * A.norm()) << unit;
  }
}

TEST(ExactProjection, DoesNotDependOnTheSamplesItIsToldToBeginWith) {
  const Matrix X = clouds(40, 5, 1, 13).X;
  const Matrix L = 3 * random_matrix(5, 5, 7);
  const Matrix A = metric::exact_projection(X, L).A;
  for (const std::vector<Index>& near : {std::vector<Index>{0}, std::vector<Index>{3, 17, 38}}) {
    EXPECT_LT((metric::exact_projection(X, L, {}, near).A - A).norm(), 1e-7 * A.norm());
  }
}

class Descent : public testing::TestWithParam<metric::BallProjection> {};

TEST_P(Descent, NeverRaisesTheObjectiveFromAnyOfTheSixStarts) {
  const linear::SignedSamples samples = clouds(60, 5, 1, 15);
  for (const Index dimensions : {5, 2}) {
    for (const metric::MapStart map :
         {metric::MapStart::kIdentity, metric::MapStart::kPca, metric::MapStart::kRandom}) {
      for (const metric::MachineStart machine :
           {metric::MachineStart::kSvm, metric::MachineStart::kRandom}) {
        const metric::Point start =
            metric::start_point(samples, dimensions, map, machine, Rng(2), {});
        const metric::Descent descent =
            metric::descent(samples, start, {.projection = GetParam(), .max_iterations = 60});
        for (std::size_t t = 1; t < descent.objectives.size(); ++t) {
          ASSERT_LE(descent.objectives[t], descent.objectives[t - 1]);
        }
        EXPECT_LE(metric::radius(samples.X, descent.point.L), 1 + 1e-9);
        EXPECT_NEAR(descent.objectives.back(), metric::objective(samples, descent.point),
                    1e-9 * descent.info.objective);
      }
    }
  }
}

TEST_P(Descent, IsNeverBelowTheConvexEquivalent) {
  for (const double cost : {0.1, 1.0, 10.0}) {
    const linear::SignedSamples samples = clouds(60, 5, cost, 16);
    const metric::MarginRadiusSolution convex = metric::margin_radius(samples);
    const metric::Point start = metric::start_point(samples, 5, metric::MapStart::kIdentity,
                                                    metric::MachineStart::kSvm, Rng(1), {});
    const metric::Descent descent = metric::descent(
        samples, start, {.tolerance = 1e-9, .projection = GetParam(), .max_iterations = 400});
    EXPECT_GE(descent.info.objective, convex.lower_bound);
    // Nor is any point, however it was found: v = L'w is feasible there, and no worse.
    const Vector v = descent.point.L.transpose() * descent.point.w;
    EXPECT_LE(margin_radius_value(samples, v, descent.point.b),
              descent.info.objective * (1 + 1e-9));
  }
}

TEST_P(Descent, DoesNotChangeUnderRotationsOfTheSamples) {
  const linear::SignedSamples samples = clouds(40, 4, 1, 17);
  const Matrix Q = random_rotation(4, 18);
  linear::SignedSamples turned = samples;
  turned.X = samples.X * Q.transpose();
  const auto decisions = [&](const linear::SignedSamples& given) -> Vector {
    const metric::Point start = metric::start_point(given, 4, metric::MapStart::kIdentity,
                                                    metric::MachineStart::kSvm, Rng(1), {});
    const metric::Point point =
        metric::descent(given, start, {.projection = GetParam(), .max_iterations = 50}).point;
    return (given.X * (point.L.transpose() * point.w)).array() + point.b;
  };
  EXPECT_LT((decisions(samples) - decisions(turned)).norm(), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Projections, Descent,
                         testing::Values(metric::BallProjection::kScaled,
                                         metric::BallProjection::kExact),
                         [](const auto& one) {
                           return one.param == metric::BallProjection::kScaled ? "Scaled" : "Exact";
                         });

/// One step of [ZGZZ] Algorithm 1 with the scaled projection, on the matrices themselves.
metric::Point plain_step(const linear::SignedSamples& samples, const metric::Point& x) {
  const metric::Point g = metric::gradient(samples, x);
  const double f = metric::objective(samples, x);
  for (double alpha = 1; alpha > 1e-30; alpha /= 2) {
    const metric::Point next{.L = metric::scaled_projection(samples.X, x.L - alpha * g.L),
                             .w = x.w - alpha * g.w,
                             .b = x.b - alpha * g.b};
    const double promised =
        g.L.cwiseProduct(x.L - next.L).sum() + g.w.dot(x.w - next.w) + g.b * (x.b - next.b);
    if (metric::objective(samples, next) <= f - 1e-4 * std::max(0.0, promised)) return next;
  }
  return x;
}

/// The library keeps L and w back for blocks of steps, and has two ways to see the samples: few and
/// many coordinates beside the number of samples.
TEST(MetricDescent, TakesTheStepsOfThePlainAlgorithm) {
  std::size_t longest = 0;
  for (const Index features : {3, 12, 50}) {
    for (const Index dimensions : {features, Index{2}}) {
      const linear::SignedSamples samples = clouds(60, features, 10, 40);
      metric::Point plain = metric::start_point(samples, dimensions, metric::MapStart::kRandom,
                                                metric::MachineStart::kSvm, Rng(3), {});
      const metric::Descent descent = metric::descent(samples, plain, {.max_iterations = 150});
      for (std::size_t t = 1; t < descent.objectives.size(); ++t) {
        plain = plain_step(samples, plain);
        ASSERT_NEAR(descent.objectives[t], metric::objective(samples, plain),
                    1e-9 * descent.objectives[t])
            << features << ' ' << dimensions << ' ' << t;
      }
      EXPECT_LT((descent.point.L - plain.L).norm(), 1e-7 * plain.L.norm()) << features;
      EXPECT_LT((descent.point.w - plain.w).norm(), 1e-7 * plain.w.norm()) << features;
      EXPECT_NEAR(descent.point.b, plain.b, 1e-7);
      longest = std::max(longest, descent.objectives.size());
    }
  }
  EXPECT_GT(longest, 100U);
}

TEST(MetricDescent, StopsWhenAsked) {
  const linear::SignedSamples samples = clouds(40, 4, 1, 19);
  StopSource source;
  source.request_stop();
  RunContext ctx;
  ctx.stop = StopToken(source);
  EXPECT_THROW((void)metric::descent(samples, random_point(4, 4, 1), {}, ctx), Error);
  EXPECT_THROW((void)metric::exact_projection(samples.X, 9 * random_matrix(4, 4, 1), ctx), Error);
  EXPECT_THROW((void)metric::margin_radius(samples, ctx), Error);
}

TEST(MetricDescent, SaysThatItsRuleEndedIt) {
  const linear::SignedSamples samples = clouds(40, 4, 1, 19);
  for (const double tolerance : {0.5, 1e-6}) {
    EXPECT_EQ(metric::descent(samples, random_point(4, 4, 1), {.tolerance = tolerance}).info.status,
              SolveStatus::kStopped);
  }
}

/// With the samples multiplied by a constant and the map divided by it, all images stay.
TEST(MetricDescent, LeavesAShareOfTheGradientThatHasNoUnits) {
  for (const double cost : {1e-6, 1e-2, 1.0, 1e4}) {
    const linear::SignedSamples samples = clouds(40, 4, cost, 41);
    const metric::Point start = metric::start_point(samples, 4, metric::MapStart::kIdentity,
                                                    metric::MachineStart::kSvm, Rng(1), {});
    const metric::Point point = metric::descent(samples, start, {.tolerance = 1e-3}).point;
    const double share = metric::projected_gradient_share(samples, point);
    EXPECT_GE(share, 0);
    EXPECT_LE(share, 1);
    for (const double unit : {1e-5, 0.1, 300.0, 1e7}) {
      linear::SignedSamples other = samples;
      other.X *= unit;
      const metric::Point same{.L = point.L / unit, .w = point.w, .b = point.b};
      EXPECT_NEAR(metric::projected_gradient_share(other, same), share, 1e-6)
          << cost << ' ' << unit;
    }
  }
}

TEST(MetricDescent, LeavesLittleOfTheGradientWhereItConverged) {
  const linear::SignedSamples samples = clouds(40, 3, 0.05, 20);
  const metric::Point start = metric::start_point(samples, 3, metric::MapStart::kIdentity,
                                                  metric::MachineStart::kSvm, Rng(1), {});
  const metric::Descent descent = metric::descent(
      samples, start, {.tolerance = 1e-14, .projection = metric::BallProjection::kExact});
  EXPECT_LT(metric::projected_gradient_share(samples, descent.point),
            0.01 * metric::projected_gradient_share(samples, random_point(3, 3, 2)));
}

TEST(MarginRadius, ClosesItsGapAtEveryCost) {
  for (const double cost : {1e-3, 1e-1, 1.0, 1e1, 1e3}) {
    for (const Index features : {1, 5, 30, 59}) {
      const linear::SignedSamples samples = clouds(60, features, cost, 21);
      const metric::MarginRadiusSolution solution = metric::margin_radius(samples);
      EXPECT_EQ(solution.info.status, SolveStatus::kSolved) << cost << ' ' << features;
      const metric::MarginRadiusCertificate proof =
          metric::certify_margin_radius(samples, solution.v, solution.b, solution.a, solution.m);
      EXPECT_TRUE(proof.within(metric::kMarginRadiusTolerance))
          << proof.gap << ' ' << proof.feasibility;
      EXPECT_GE(proof.gap, -1e-11);
      EXPECT_NEAR(proof.primal, margin_radius_value(samples, solution.v, solution.b),
                  1e-12 * proof.primal);
    }
  }
}

TEST(MarginRadius, BearsAnyCost) {
  for (int power = -300; power <= 300; power += 20) {
    const double cost = std::pow(10.0, power);
    const linear::SignedSamples samples = clouds(60, 5, cost, 42);
    const metric::MarginRadiusSolution found = metric::margin_radius(samples);
    EXPECT_GE(found.lower_bound, 0) << cost;
    // The best constant decides alike: no bound is above it.
    EXPECT_LE(found.lower_bound, (1 + 1e-9) * cost * 60) << cost;
    if (found.info.status == SolveStatus::kSolved) {
      EXPECT_GE(found.info.gap, 0) << cost;
      EXPECT_LE(found.info.gap, metric::kMarginRadiusTolerance) << cost;
    }
    if (std::abs(power) <= 20) {
      EXPECT_EQ(found.info.status, SolveStatus::kSolved) << cost;
    }
  }
}

TEST(MarginRadius, IsSolvedWhereItsGapIsProved) {
  // Many equal samples on a coarse grid leave multipliers that the values hardly tell apart.
  int flat = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Rng rng(seed);
    linear::SignedSamples samples = clouds(120, 4, 0.1, seed);
    for (Index i = 0; i < samples.X.size(); ++i) {
      const double far = samples.y(i % 120) > 0 ? 10 * rng.uniform() * rng.uniform() : 0;
      samples.X.data()[i] = std::floor(far + 1.2 * rng.uniform());
    }
    samples.X.rowwise() -= Eigen::RowVectorXd(samples.X.colwise().mean());
    const metric::MarginRadiusSolution found = metric::margin_radius(samples);
    const metric::MarginRadiusCertificate proof =
        metric::certify_margin_radius(samples, found.v, found.b, found.a, found.m);
    EXPECT_EQ(found.info.status == SolveStatus::kSolved,
              proof.proves(metric::kMarginRadiusTolerance));
    flat += proof.proves(metric::kMarginRadiusTolerance) &&
            !proof.within(metric::kMarginRadiusTolerance);
  }
  EXPECT_GT(flat, 0);
}

TEST(MarginRadius, CertificateRefusesASpoiledSolution) {
  const linear::SignedSamples samples = clouds(60, 5, 1, 22);
  const metric::MarginRadiusSolution good = metric::margin_radius(samples);
  const auto within = [&](const Vector& v, double b, const Vector& a, const Vector& m) {
    return metric::certify_margin_radius(samples, v, b, a, m)
        .within(metric::kMarginRadiusTolerance);
  };
  ASSERT_TRUE(within(good.v, good.b, good.a, good.m));
  for (std::uint64_t seed = 28; seed < 38; ++seed) {
    const Vector aside = random_matrix(5, 1, seed).normalized() * good.v.norm();
    EXPECT_FALSE(within(good.v + 1e-4 * aside, good.b, good.a, good.m));
  }
  EXPECT_FALSE(within(good.v, good.b + 1e-4, good.a, good.m));
  EXPECT_FALSE(within(good.v, good.b, good.a * (1 + 1e-4), good.m));
  EXPECT_FALSE(within(good.v, good.b, good.a, good.m * (1 - 1e-4)));
  Vector a = good.a;
  a(0) -= 1e-4 * a.maxCoeff();
  EXPECT_FALSE(within(good.v, good.b, a, good.m));
}

TEST(MarginRadius, IsTheValueOfARankOneMap) {
  const linear::SignedSamples samples = clouds(60, 5, 1, 23);
  const metric::MarginRadiusSolution solution = metric::margin_radius(samples);
  const metric::Point point = metric::rank_one_point(samples, solution.v, solution.b);
  EXPECT_EQ(point.L.rows(), 1);
  EXPECT_NEAR(metric::radius(samples.X, point.L), 1, 1e-12);
  EXPECT_NEAR(metric::objective(samples, point), solution.info.objective,
              1e-10 * solution.info.objective);
}

/// [ZGZZ] Theorem 1 and the span: any invertible map of the features changes nothing.
TEST(MarginRadius, DependsOnTheSpanOfTheFeaturesAlone) {
  const linear::SignedSamples samples = clouds(60, 5, 1, 24);
  linear::SignedSamples mixed = samples;
  mixed.X = samples.X * random_matrix(5, 8, 25);  // also with features that are redundant
  const metric::MarginRadiusSolution one = metric::margin_radius(samples);
  const metric::MarginRadiusSolution two = metric::margin_radius(mixed);
  EXPECT_NEAR(one.info.objective, two.info.objective, 1e-7 * one.info.objective);
  EXPECT_LT((samples.X * one.v - mixed.X * two.v).norm(), 1e-4);
}

TEST(MarginRadius, DoesNotDependOnTheUnitOfAnyFeature) {
  for (const Index features : {6, 90}) {  // fewer than samples, and more
    const linear::SignedSamples samples = clouds(60, features, 1, 28);
    linear::SignedSamples other = samples;
    for (Index j = 0; j < features; ++j)
      other.X.col(j) *= std::pow(1e-5, static_cast<double>(j % 4));
    other.X.col(5) = 1e-9 * other.X.col(4);  // what a unit makes small is not redundant; this is
    linear::SignedSamples without = samples;
    without.X.col(5) = samples.X.col(4);
    const metric::MarginRadiusSolution two = metric::margin_radius(other);
    EXPECT_EQ(two.info.status, SolveStatus::kSolved);
    const double expected = metric::margin_radius(without).info.objective;
    EXPECT_NEAR(two.info.objective, expected, 2e-8 * expected);
  }
}

TEST(MarginRadius, GivesTheShortestOfSeveralDirections) {
  linear::SignedSamples samples = clouds(20, 30, 1, 29);
  const Vector v = metric::margin_radius(samples).v;
  const Eigen::CompleteOrthogonalDecomposition<Matrix> rows(samples.X);
  const Vector shortest = rows.solve(Vector(samples.X * v));
  EXPECT_LT((v - shortest).norm(), 1e-9 * v.norm());
}

TEST(MarginRadius, IsNotBeatenByAnyNearbyPoint) {
  const linear::SignedSamples samples = clouds(40, 4, 1, 26);
  const metric::MarginRadiusSolution solution = metric::margin_radius(samples);
  Rng rng(27);
  for (int trial = 0; trial < 500; ++trial) {
    Vector v = solution.v;
    for (double& x : v) x += 0.02 * rng.normal();
    EXPECT_GE(margin_radius_value(samples, v, solution.b + 0.02 * rng.normal()),
              solution.lower_bound);
  }
}

}  // namespace
}  // namespace kith::metric_test
