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
// lambda do not bear.
#include "kith/optim/metric_problem.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "optim/interior.hpp"

namespace kith {
namespace {

constexpr double kProjectionTolerance = 1e-10;  // of complementarity and stationarity
constexpr int kMostNewtonSteps = 100;
constexpr double kOutside = 1e-9;    // of |A x_i|^2: closer to the ball is rounding
constexpr Index kFirstSamples = 16;  // beside one per coordinate: what one round adds at most
constexpr double kCentring = 0.1;
constexpr double kStepFraction = 0.99;

/// A, the images of the samples and the slope of the dual at lambda.
struct DualPoint {
  Matrix A;
  Matrix XK;      // n x r
  Matrix images;  // X A', n x d
  Vector slope;
};

DualPoint dual_point(const MatrixRef& X, const MatrixRef& L, const Vector& lambda) {
  Matrix H = Matrix::Identity(X.cols(), X.cols());
  const Matrix scaled = lambda.cwiseSqrt().asDiagonal() * X;
  H.selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose());
  const Eigen::LLT<Matrix> factor(H);
  DualPoint point;
  point.A = factor.solve(L.transpose()).transpose();
  point.XK = factor.solve(X.transpose()).transpose();
  point.images.noalias() = X * point.A.transpose();
  point.slope = 0.5 * (1 - point.images.rowwise().squaredNorm().array());
  return point;
}

struct Multipliers {
  Vector lambda, z;
};

/// How far the conditions are from holding for the target mu.
double residual(const DualPoint& point, const Multipliers& x, double mu) {
  const Vector products = x.lambda.cwiseProduct(x.z).array() - mu;
  return std::hypot((point.slope - x.z).norm(), products.norm());
}

/// One step towards mu; false where rounding leaves none.
bool interior_step(const MatrixRef& X, const MatrixRef& L, DualPoint& point, Multipliers& x,
                   double mu) {
  Matrix H = point.XK * X.transpose();
  H.array() *= (point.images * point.images.transpose()).array();
  H.diagonal() += x.z.cwiseQuotient(x.lambda);
  if (!detail::factor_with_ridge(H)) return false;
  Vector step = mu * x.lambda.cwiseInverse() - point.slope;
  H.triangularView<Eigen::Lower>().solveInPlace(step);
  H.triangularView<Eigen::Lower>().transpose().solveInPlace(step);
  const Vector dz = (mu - x.z.array() * step.array()) / x.lambda.array() - x.z.array();
  double length = std::min(1.0, kStepFraction * std::min(detail::largest_step(x.lambda, step),
                                                         detail::largest_step(x.z, dz)));
  const double before = residual(point, x, mu);
  for (int halving = 0; halving < 30; ++halving, length /= 2) {
    Multipliers trial{.lambda = x.lambda + length * step, .z = x.z + length * dz};
    DualPoint next = dual_point(X, L, trial.lambda);
    if (!(residual(next, trial, mu) <= (1 - 0.01 * length) * before)) continue;
    x = std::move(trial);
    point = std::move(next);
    return true;
  }
  return false;
}

/// The projection for the constraints of these samples alone.
ExactProjection projection_onto(const MatrixRef& X, const MatrixRef& L) {
  const Index n = X.rows();
  Multipliers x{.lambda = Vector::Ones(n), .z = Vector::Ones(n)};
  DualPoint point = dual_point(X, L, x.lambda);
  for (int step = 0; step < kMostNewtonSteps; ++step) {
    const double products = x.lambda.dot(x.z);
    const bool stationary = (point.slope - x.z).cwiseAbs().maxCoeff() <= kProjectionTolerance;
    if (stationary && products <= kProjectionTolerance * (1 + x.lambda.sum())) break;
    if (!interior_step(X, L, point, x, kCentring * products / static_cast<double>(n))) break;
  }
  return {.A = std::move(point.A), .lambda = std::move(x.lambda)};
}

}  // namespace

double metric_objective(const SignedSamples& samples, const MetricPoint& point) {
  const Vector v = point.L.transpose() * point.w;
  const Vector f = (samples.X * v).array() + point.b;
  return 0.5 * point.w.squaredNorm() + squared_hinge_loss(samples, f);
}

MetricPoint metric_gradient(const SignedSamples& samples, const MetricPoint& point) {
  const Vector v = point.L.transpose() * point.w;
  const Vector f = (samples.X * v).array() + point.b;
  const Vector slack = (1 - samples.y.array() * f.array()).max(0);
  const Vector pull = 2 * samples.cost.cwiseProduct(samples.y).cwiseProduct(slack);
  const Vector q = samples.X.transpose() * pull;
  return {.L = -point.w * q.transpose(), .w = point.w - point.L * q, .b = -pull.sum()};
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

ExactProjection exact_projection(const MatrixRef& X, const MatrixRef& L) {
  ExactProjection found{.A = L, .lambda = Vector::Zero(X.rows())};
  // Few samples matter: those that are farthest outside, then those that the next answer leaves so.
  std::vector<Index> working;
  std::vector<bool> chosen(static_cast<std::size_t>(X.rows()), false);
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
    ExactProjection part = projection_onto(X(working, Eigen::all), L);
    found.A = std::move(part.A);
    found.lambda(working) = part.lambda;
  }
  const double R = radius(X, found.A);
  if (R > 1) found.A /= R;
  return found;
}

MetricPoint metric_start(const SignedSamples& samples, Index dimensions, MapStart map,
                         MachineStart machine, Rng rng, const RunContext& ctx) {
  const Index r = samples.X.cols();
  MetricPoint start{.L = Matrix::Identity(dimensions, r), .w = Vector(dimensions), .b = 0};
  if (map == MapStart::kRandom) {
    for (Index j = 0; j < r; ++j) {
      for (Index i = 0; i < dimensions; ++i) start.L(i, j) = rng.normal();
    }
  }
  start.L = scaled_projection(samples.X, std::move(start.L));
  if (machine == MachineStart::kRandom) {
    for (Index i = 0; i < dimensions; ++i) start.w(i) = rng.normal();
    start.b = rng.normal();
    return start;
  }
  const SignedSamples mapped{
      .X = samples.X * start.L.transpose(), .y = samples.y, .cost = samples.cost};
  SquaredHingeSolution solution = squared_hinge_svm(mapped, ctx);
  start.w = std::move(solution.w);
  start.b = solution.b;
  return start;
}

}  // namespace kith
