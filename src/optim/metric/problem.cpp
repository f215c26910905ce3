// SPDX-License-Identifier: Apache-2.0
// The exact projection (9) through its dual: with K(lambda) = (I + X' diag(lambda) X)^-1 and
// A = L K,
//
//   min_{lambda >= 0}  phi = 1/2 sum_i lambda_i - 1/2 (|L|^2 - <L K, L>)
//   dphi/dlambda_i  = 1/2 (1 - |A x_i|^2)
//   d2phi           = (X K X') o (X A'A X')   entrywise,
//
// by a primal-dual interior point method: dphi = z >= 0, lambda_i z_i = mu. The second derivative
// is singular wherever there are more samples than entries of L'L, which active-set methods on
// lambda do not bear. The loop is its own: each step is searched along, by the residual of the
// conditions, since phi is far from quadratic where lambda is large. The rounds around it stand
// alone: each adds samples, so that they end where no sample is outside.
//
// Few samples have a lambda, so that all of it is said in products of the k samples at hand: with
// G = X X', T = X L'L X' and E = (I + G diag(lambda))^-1, X K X' = E G and X A'A X' = E T E'.
#include "kith/optim/metric/problem.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kith/optim/metric/ball.hpp"
#include "numerics/cholesky.hpp"
#include "optim/engine/box.hpp"
#include "optim/engine/line_search.hpp"
#include "optim/engine/progress.hpp"

namespace kith::metric {
namespace {

constexpr double kProjectionTolerance = 1e-10;  // of complementarity and stationarity
constexpr int kMostNewtonSteps = 100;
constexpr double kOutside = 1e-9;    // of |A x_i|^2: closer to the ball is rounding
constexpr Index kFirstSamples = 16;  // beside one per coordinate: what one round adds at most
constexpr double kCentring = 0.1;
constexpr double kStepFraction = 0.99;
constexpr int kMostTrials = 30;
constexpr int kMostDoublings = 100;
constexpr double kLeastSlack = 0.01;  // at the start

/// Samples and the map to project, in products alone.
struct Products {
  Matrix G;  // X X'
  Matrix T;  // X L'L X'
};

/// The dual at lambda.
struct MultiplierPoint {
  Matrix N;        // diag(lambda) E: A = L - L X'N X
  Matrix between;  // X K X'
  Matrix images;   // X A'A X'
  Vector slope;
};

MultiplierPoint dual_point(const Products& products, const Vector& lambda) {
  const Index k = lambda.size();
  const Vector root = lambda.cwiseSqrt();
  Matrix M = root.asDiagonal() * products.G * root.asDiagonal();
  M.diagonal().array() += 1;
  MultiplierPoint point;
  (void)cholesky_with_ridge(M);  // the identity and more: a factor fails for infinite lambda alone
  point.N = root.asDiagonal() * back_solve(M, Matrix(root.asDiagonal()));
  const Matrix E = Matrix::Identity(k, k) - products.G * point.N;
  point.between.noalias() = E * products.G;
  point.images.noalias() = E * products.T * E.transpose();
  point.slope = 0.5 * (1 - point.images.diagonal().array());
  return point;
}

struct Multipliers {
  Vector lambda, z;
};

/// How far the conditions are from holding for the target mu.
double residual(const MultiplierPoint& point, const Multipliers& x, double mu) {
  const Vector products = x.lambda.cwiseProduct(x.z).array() - mu;
  return std::hypot((point.slope - x.z).norm(), products.norm());
}

/// One step towards mu; false where rounding leaves none.
bool interior_step(const Products& products, MultiplierPoint& point, Multipliers& x, double mu) {
  Matrix H = point.between.cwiseProduct(point.images);
  H.diagonal() += x.z.cwiseQuotient(x.lambda);
  if (!cholesky_with_ridge(H)) return false;
  const Vector step = back_solve(H, Vector(mu * x.lambda.cwiseInverse() - point.slope));
  const Vector dz = (mu - x.z.array() * step.array()) / x.lambda.array() - x.z.array();
  const double longest =
      std::min(1.0, kStepFraction * std::min(engine::largest_step(x.lambda, step),
                                             engine::largest_step(x.z, dz)));
  const double before = residual(point, x, mu);
  const auto accept = [&](double length) {
    Multipliers trial{.lambda = x.lambda + length * step, .z = x.z + length * dz};
    MultiplierPoint next = dual_point(products, trial.lambda);
    if (!(residual(next, trial, mu) <= (1 - 0.01 * length) * before)) return false;
    x = std::move(trial);
    point = std::move(next);
    return true;
  };
  return engine::backtrack(longest, kMostTrials, accept) > 0;
}

/// The projection for the constraints of these samples alone.
struct PartProjection {
  Matrix N;
  Vector lambda;
};
PartProjection projection_onto(const Products& products, const RunContext& ctx) {
  const Index n = products.G.rows();
  Multipliers x{.lambda = Vector::Ones(n), .z = {}};
  MultiplierPoint point = dual_point(products, x.lambda);
  for (int m = 0; m < kMostDoublings && !(point.slope.minCoeff() > 0); ++m) {
    x.lambda *= 4;  // until all images are inside
    point = dual_point(products, x.lambda);
  }
  x.z = point.slope.cwiseMax(kLeastSlack);
  engine::BestSoFar progress({.tolerance = kProjectionTolerance, .iterations = kMostNewtonSteps},
                             ctx);
  while (true) {
    const double sum = x.lambda.dot(x.z);
    (void)progress.offer(
        std::max((point.slope - x.z).cwiseAbs().maxCoeff(), sum / (1 + x.lambda.sum())));
    if (!progress.goes_on()) break;
    if (!interior_step(products, point, x, kCentring * sum / static_cast<double>(n))) break;
    progress.stepped();
  }
  return {.N = std::move(point.N), .lambda = std::move(x.lambda)};
}

}  // namespace

double objective(const linear::SignedSamples& samples, const Point& point) {
  const Vector v = point.L.transpose() * point.w;
  const Vector f = (samples.X * v).array() + point.b;
  return 0.5 * point.w.squaredNorm() + linear::squared_hinge_loss(samples, f);
}

Slope slope(const linear::SignedSamples& samples, const Point& point) {
  const Vector v = point.L.transpose() * point.w;
  const Vector f = (samples.X * v).array() + point.b;
  const Vector slack = (1 - samples.y.array() * f.array()).max(0);
  const Vector pull = 2 * samples.cost.cwiseProduct(samples.y).cwiseProduct(slack);
  Slope g{.q = samples.X.transpose() * pull, .w = {}, .b = -pull.sum()};
  g.w = point.w - point.L * g.q;
  return g;
}

Point gradient(const linear::SignedSamples& samples, const Point& point) {
  const Slope g = slope(samples, point);
  return {.L = -point.w * g.q.transpose(), .w = g.w, .b = g.b};
}

double radius(const MatrixRef& X, const MatrixRef& L) {
  if (X.rows() == 0 || L.size() == 0) return 0;
  const Matrix images = X * L.transpose();
  return images.rowwise().norm().maxCoeff();
}

Matrix scaled_projection(const MatrixRef& X, Matrix L) {
  const double R = radius(X, L);
  if (R > 0) L /= R;
  return L;
}

ExactProjection exact_projection(const MatrixRef& X, const MatrixRef& L, const RunContext& ctx,
                                 std::span<const Index> near) {
  ExactProjection found{.A = L, .lambda = Vector::Zero(X.rows())};
  const double unit = X.rows() > 0 ? X.rowwise().squaredNorm().maxCoeff() : 0;
  // Few samples matter: those that are farthest outside, then those that the next answer leaves so.
  std::vector<Index> working(near.begin(), near.end());
  std::vector<bool> chosen(static_cast<std::size_t>(X.rows()), false);
  for (const Index i : working) chosen[static_cast<std::size_t>(i)] = true;
  const auto most = static_cast<std::size_t>(kFirstSamples + X.cols());
  while (true) {
    const Vector squares = (X * found.A.transpose()).rowwise().squaredNorm();
    std::vector<Index> outside;
    for (Index i = 0; i < X.rows(); ++i) {
      if (squares(i) > 1 + kOutside && !chosen[static_cast<std::size_t>(i)]) outside.push_back(i);
    }
    if (outside.empty()) break;
    std::stable_sort(outside.begin(), outside.end(),
                     [&](Index a, Index b) { return squares(a) > squares(b); });
    if (outside.size() > most) outside.resize(most);
    for (const Index i : outside) {
      chosen[static_cast<std::size_t>(i)] = true;
      working.push_back(i);
    }
    const Matrix rows = X(working, Eigen::all);
    const Matrix images = rows * L.transpose();
    // In units of the largest sample, which makes lambda a number without unit.
    const Products products{.G = rows * rows.transpose() / unit, .T = images * images.transpose()};
    const PartProjection part = projection_onto(products, ctx);
    const Matrix shares = part.N * rows / unit;
    found.A = L - images.transpose() * shares;
    found.lambda(working) = part.lambda / unit;
  }
  const double R = radius(X, found.A);
  if (R > 1) found.A /= R;
  return found;
}

Point start_point(const linear::SignedSamples& samples, Index dimensions, MapStart map,
                  MachineStart machine, Rng rng, const RunContext& ctx, RadiusRule radius) {
  const Index r = samples.X.cols();
  Point start{.L = Matrix::Identity(dimensions, r), .w = Vector(dimensions), .b = 0};
  if (map == MapStart::kRandom) {
    for (Index j = 0; j < r; ++j) {
      for (Index i = 0; i < dimensions; ++i) start.L(i, j) = rng.normal();
    }
  }
  start.L = scaled_projection(samples.X, std::move(start.L));
  if (radius == RadiusRule::kBall) {
    const double own = smallest_ball(samples.X * start.L.transpose()).radius;
    if (own > 0) start.L /= own;
  }
  if (machine == MachineStart::kRandom) {
    for (Index i = 0; i < dimensions; ++i) start.w(i) = rng.normal();
    start.b = rng.normal();
    return start;
  }
  const linear::SignedSamples mapped{
      .X = samples.X * start.L.transpose(), .y = samples.y, .cost = samples.cost};
  linear::SquaredHingeSolution solution = linear::squared_hinge_svm(mapped, ctx);
  start.w = std::move(solution.w);
  start.b = solution.b;
  return start;
}

}  // namespace kith::metric
