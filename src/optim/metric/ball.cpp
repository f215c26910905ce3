// SPDX-License-Identifier: Apache-2.0
// The centre walks, as Fischer, Gaertner and Kutz (2003) have it: T are points on the sphere, in no
// affine subspace of fewer dimensions than they span. The centre moves towards its projection onto
// that of T, where the sphere through T is smallest, until another point stops it and joins T. At
// the projection a point of negative weight leaves T; where there is none, the ball is the
// smallest: the dual of (4) over weights beta of the simplex, max sum_i beta_i |p_i|^2 - |sum_i
// beta_i p_i|^2, has its value.
//
// The walk stands alone: each sphere is smaller than the one before, so that it ends, and what it
// ends with is measured.
#include "kith/optim/metric/ball.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

namespace kith::metric {
namespace {

Vector distances_from(const MatrixRef& points, const Vector& centre) {
  return (points.rowwise() - centre.transpose()).rowwise().norm();
}

/// The point of the affine hull of some points that is nearest to another, and its weights.
struct Projection {
  Vector weights;
  Vector towards;  // from the other point
};
Projection projection_on_hull(const Matrix& own, const Vector& from) {
  const Index k = own.rows();
  const Vector apart = from - own.row(0).transpose();
  Projection found{.weights = Vector::Ones(1), .towards = -apart};
  if (k == 1) return found;
  const Matrix edges = (own.bottomRows(k - 1).rowwise() - own.row(0)).transpose();
  const Vector t = edges.colPivHouseholderQr().solve(apart);
  found.weights.resize(k);
  found.weights << 1 - t.sum(), t;
  found.towards = edges * t - apart;
  return found;
}

class Walk {
 public:
  Walk(const MatrixRef& points, const Vector& start) : points_(points), centre_(start) {
    Index farthest = 0;
    distances_from(points_, centre_).maxCoeff(&farthest);
    on_.push_back(farthest);
  }

  /// False at the end.
  bool step() {
    constexpr double kArrived = 1e-14;  // of the radius
    constexpr double kNegative = 1e-12;
    const Matrix own = points_(on_, Eigen::all);
    const Projection to = projection_on_hull(own, centre_);
    weights_ = to.weights;
    const double radius = (own.row(0).transpose() - centre_).norm();
    if (to.towards.norm() <= kArrived * radius ||
        on_.size() > static_cast<std::size_t>(centre_.size())) {
      Index least = 0;
      if (!(weights_.minCoeff(&least) < -kNegative) || on_.size() == 1) return false;
      on_.erase(on_.begin() + least);
      return true;
    }
    walk(own.row(0).transpose(), to.towards);
    return true;
  }

  [[nodiscard]] SmallestBall ball() const {
    SmallestBall found{.centre = centre_, .radius = distances_from(points_, centre_).maxCoeff()};
    found.supports = on_;
    found.weights = weights_.cwiseMax(0.0);
    found.weights /= found.weights.sum();
    return found;
  }

 private:
  /// Along `towards`, or as far as the first point that would be left outside.
  void walk(const Vector& anchor, const Vector& towards) {
    constexpr double kRounding = 1e-11;
    const double square = (anchor - centre_).squaredNorm();
    double length = 1;
    Index stop = -1;
    for (Index i = 0; i < points_.rows(); ++i) {
      if (std::ranges::find(on_, i) != on_.end()) continue;
      const Vector point = points_.row(i);
      const Vector apart = point - anchor;
      const double away = -towards.dot(apart);
      if (!(away > kRounding * towards.norm() * apart.norm())) continue;  // of the subspace of T
      const double own = std::max(0.0, square - (point - centre_).squaredNorm()) / (2 * away);
      if (own < length) {
        length = own;
        stop = i;
      }
    }
    centre_ += length * towards;
    if (stop >= 0) on_.push_back(stop);
  }

  MatrixRef points_;
  Vector centre_;
  std::vector<Index> on_;  // T
  Vector weights_;
};

}  // namespace

SmallestBall smallest_ball(const MatrixRef& points, const Vector& near) {
  constexpr int kMostSteps = 10000;
  const Vector mean = points.colwise().mean();  // keeps the digits of points far from 0
  const Matrix own = points.rowwise() - mean.transpose();
  Walk walk(own, near.size() > 0 ? Vector(near - mean) : Vector(Vector::Zero(mean.size())));
  for (int step = 0; step < kMostSteps && walk.step(); ++step) {
  }
  SmallestBall ball = walk.ball();
  ball.centre += mean;
  return ball;
}

BallCertificate certify(const MatrixRef& points, const SmallestBall& ball) {
  BallCertificate found;
  found.radius = distances_from(points, ball.centre).maxCoeff();
  const Matrix own = points(ball.supports, Eigen::all);
  const bool feasible =
      ball.weights.size() == own.rows() && ball.weights.size() > 0 && ball.weights.minCoeff() >= 0;
  if (!feasible) return found;
  const Vector weights = ball.weights / ball.weights.sum();
  const Vector centre = own.transpose() * weights;
  // sum beta |p - centre|^2 = sum beta |p|^2 - |centre|^2
  const Vector squares = (own.rowwise() - centre.transpose()).rowwise().squaredNorm();
  found.lower = std::sqrt(weights.dot(squares));
  found.gap = found.radius > 0 ? (found.radius - found.lower) / found.radius : 0;
  return found;
}

namespace {

/// The last feature of every sample.
double constant_of(const linear::SignedSamples& samples) {
  const double longest = samples.X.rows() > 0 ? samples.X.rowwise().norm().maxCoeff() : 0;
  return longest > 0 ? longest : 1;
}

}  // namespace

linear::SignedSamples with_constant(const linear::SignedSamples& samples) {
  linear::SignedSamples longer{.X = {}, .y = samples.y, .cost = samples.cost};
  longer.X.resize(samples.X.rows(), samples.X.cols() + 1);
  longer.X << samples.X, Vector::Constant(samples.X.rows(), constant_of(samples));
  return longer;
}

Point around_centre(const linear::SignedSamples& samples, const Point& point) {
  const Vector centre = smallest_ball(samples.X * point.L.transpose()).centre;
  Point longer{.L = Matrix(point.L.rows(), point.L.cols() + 1),
               .w = point.w,
               .b = point.b + point.w.dot(centre)};
  longer.L << point.L, -centre / constant_of(samples);
  return longer;
}

Point without_constant(const linear::SignedSamples& samples, const Point& point) {
  const Index r = samples.X.cols();
  const Vector centre = -constant_of(samples) * point.L.col(r);
  return {.L = point.L.leftCols(r), .w = point.w, .b = point.b - point.w.dot(centre)};
}

}  // namespace kith::metric
