// SPDX-License-Identifier: Apache-2.0
#include "optim/spectrum/cones.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith::spectrum {
namespace {

using Eigen::ArrayXd;

ArrayXd tail_norm(const Arms& x) { return (x.row(1).square() + x.row(2).square()).sqrt(); }

/// x'Jx as a product, which loses fewer digits near the boundary.
double determinant(double head, double tail) { return (head - tail) * (head + tail); }
ArrayXd determinants(const Arms& x) {
  const ArrayXd tail = tail_norm(x);
  const ArrayXd head = x.row(0);
  return (head - tail) * (head + tail);
}

ArrayXd inner(const Arms& x, const Arms& y) { return (x * y).colwise().sum(); }

}  // namespace

ConeVector ConeVector::zero(Index samples, Index eigenvalues, Index terms) {
  return {.lower = Vector::Zero(samples),
          .upper = Vector::Zero(samples),
          .head = Vector::Zero(terms),
          .ball = Matrix::Zero(eigenvalues, terms),
          .arm = Arms::Zero(3, eigenvalues)};
}

ConeVector ConeVector::unit(Index samples, Index eigenvalues, Index terms) {
  ConeVector e = zero(samples, eigenvalues, terms);
  e.lower.setOnes();
  e.upper.setOnes();
  e.head.setOnes();
  e.arm.row(0).setOnes();
  return e;
}

double ConeVector::dot(const ConeVector& other) const {
  return lower.dot(other.lower) + upper.dot(other.upper) + head.dot(other.head) +
         ball.cwiseProduct(other.ball).sum() + (arm * other.arm).sum();
}

void ConeVector::add(double factor, const ConeVector& other) {
  lower += factor * other.lower;
  upper += factor * other.upper;
  head += factor * other.head;
  ball += factor * other.ball;
  arm += factor * other.arm;
}

bool ConeVector::all_finite() const {
  return lower.allFinite() && upper.allFinite() && head.allFinite() && ball.allFinite() &&
         arm.allFinite();
}

double ConeVector::degree() const {
  return static_cast<double>(lower.size() + upper.size() + head.size() + arm.cols());
}

ConeVector product(const ConeVector& u, const ConeVector& v) {
  ConeVector out = u;
  out.lower = u.lower.cwiseProduct(v.lower);
  out.upper = u.upper.cwiseProduct(v.upper);
  for (Index k = 0; k < u.head.size(); ++k) {
    out.head(k) = u.head(k) * v.head(k) + u.ball.col(k).dot(v.ball.col(k));
    out.ball.col(k) = u.head(k) * v.ball.col(k) + v.head(k) * u.ball.col(k);
  }
  out.arm.row(0) = inner(u.arm, v.arm);
  for (Index i = 1; i < 3; ++i) {
    out.arm.row(i) = u.arm.row(0) * v.arm.row(i) + v.arm.row(0) * u.arm.row(i);
  }
  return out;
}

ConeVector divide(const ConeVector& lambda, const ConeVector& r) {
  ConeVector out = r;
  out.lower = r.lower.cwiseQuotient(lambda.lower);
  out.upper = r.upper.cwiseQuotient(lambda.upper);
  for (Index k = 0; k < r.head.size(); ++k) {
    out.head(k) = (lambda.head(k) * r.head(k) - lambda.ball.col(k).dot(r.ball.col(k))) /
                  determinant(lambda.head(k), lambda.ball.col(k).norm());
    out.ball.col(k) = (r.ball.col(k) - out.head(k) * lambda.ball.col(k)) / lambda.head(k);
  }
  const ArrayXd det = determinants(lambda.arm);
  out.arm.row(0) = (lambda.arm.row(0) * r.arm.row(0) - lambda.arm.row(1) * r.arm.row(1) -
                    lambda.arm.row(2) * r.arm.row(2)) /
                   det.transpose();
  for (Index i = 1; i < 3; ++i) {
    out.arm.row(i) = (r.arm.row(i) - out.arm.row(0) * lambda.arm.row(i)) / lambda.arm.row(0);
  }
  return out;
}

double longest_step(const ConeVector& lambda, const ConeVector& d) {
  // In the frame in which lambda is a multiple of the unit, d has the head r_0 and the tail r_1:
  // the step ends where r_0 f + 1 = |r_1| f.
  double inverse = 0;
  inverse = std::max(inverse, (-d.lower.array() / lambda.lower.array()).maxCoeff());
  inverse = std::max(inverse, (-d.upper.array() / lambda.upper.array()).maxCoeff());
  for (Index k = 0; k < d.head.size(); ++k) {
    const double norm = std::sqrt(determinant(lambda.head(k), lambda.ball.col(k).norm()));
    const double l0 = lambda.head(k) / norm;
    const Vector l1 = lambda.ball.col(k) / norm;
    const double r0 = l0 * d.head(k) - l1.dot(d.ball.col(k));
    const Vector r1 = d.ball.col(k) - (r0 + d.head(k)) / (l0 + 1) * l1;
    inverse = std::max(inverse, (r1.norm() - r0) / norm);
  }
  if (d.arm.cols() > 0) {
    const ArrayXd norm = determinants(lambda.arm).sqrt();
    const Arms l = lambda.arm.rowwise() / norm.transpose();
    const ArrayXd r0 =
        (l.row(0) * d.arm.row(0) - l.row(1) * d.arm.row(1) - l.row(2) * d.arm.row(2)).transpose();
    const ArrayXd pull = (r0 + d.arm.row(0).transpose()) / (l.row(0).transpose() + 1);
    const ArrayXd first = d.arm.row(1).transpose() - pull * l.row(1).transpose();
    const ArrayXd second = d.arm.row(2).transpose() - pull * l.row(2).transpose();
    inverse =
        std::max(inverse, (((first.square() + second.square()).sqrt() - r0) / norm).maxCoeff());
  }
  return inverse > 0 ? 1 / inverse : std::numeric_limits<double>::infinity();
}

double distance_inside(const ConeVector& x) {
  double missing = std::max((-x.lower).maxCoeff(), (-x.upper).maxCoeff());
  for (Index k = 0; k < x.head.size(); ++k) {
    missing = std::max(missing, x.ball.col(k).norm() - x.head(k));
  }
  if (x.arm.cols() > 0) {
    missing = std::max(missing, (tail_norm(x.arm) - x.arm.row(0).transpose()).maxCoeff());
  }
  return missing;
}

Scaling Scaling::identity(Index samples, Index eigenvalues, Index terms) {
  Scaling W{.lower = Vector::Ones(samples),
            .upper = Vector::Ones(samples),
            .beta = Vector::Ones(terms),
            .head = Vector::Ones(terms),
            .ball = Matrix::Zero(eigenvalues, terms),
            .arm_beta = ArrayXd::Ones(eigenvalues),
            .arm = Arms::Zero(3, eigenvalues)};
  W.arm.row(0).setOnes();
  return W;
}

Scaling Scaling::of(const ConeVector& s, const ConeVector& z) {
  Scaling W = identity(s.lower.size(), s.arm.cols(), s.head.size());
  W.lower = (s.lower.array() / z.lower.array()).sqrt();
  W.upper = (s.upper.array() / z.upper.array()).sqrt();
  for (Index k = 0; k < s.head.size(); ++k) {
    const double a = std::sqrt(determinant(s.head(k), s.ball.col(k).norm()));
    const double c = std::sqrt(determinant(z.head(k), z.ball.col(k).norm()));
    const Vector s1 = s.ball.col(k) / a;
    const Vector z1 = z.ball.col(k) / c;
    const double s0 = s.head(k) / a;
    const double z0 = z.head(k) / c;
    const double g = std::sqrt((1 + s0 * z0 + s1.dot(z1)) / 2);
    const double w0 = (s0 + z0) / (2 * g);
    const double unit = std::sqrt(2 * (w0 + 1));
    W.beta(k) = std::sqrt(a / c);
    W.ball.col(k) = (s1 - z1) / (2 * g * unit);
    W.head(k) = std::sqrt(1 + W.ball.col(k).squaredNorm());
  }
  const ArrayXd a = determinants(s.arm).sqrt();
  const ArrayXd c = determinants(z.arm).sqrt();
  const Arms sn = s.arm.rowwise() / a.transpose();
  const Arms zn = z.arm.rowwise() / c.transpose();
  const ArrayXd g = ((1 + inner(sn, zn)) / 2).sqrt();
  const ArrayXd w0 = (sn.row(0) + zn.row(0)).transpose() / (2 * g);
  const ArrayXd unit = (2 * (w0 + 1)).sqrt();
  W.arm_beta = (a / c).sqrt();
  for (Index i = 1; i < 3; ++i) {
    W.arm.row(i) = (sn.row(i) - zn.row(i)) / (2 * g * unit).transpose();
  }
  W.arm.row(0) = (1 + W.arm.row(1).square() + W.arm.row(2).square()).sqrt();
  return W;
}

ConeVector Scaling::times(const ConeVector& x) const {
  ConeVector out = x;
  out.lower = lower.cwiseProduct(x.lower);
  out.upper = upper.cwiseProduct(x.upper);
  for (Index k = 0; k < x.head.size(); ++k) {
    const double twice = 2 * (head(k) * x.head(k) + ball.col(k).dot(x.ball.col(k)));
    out.head(k) = beta(k) * (twice * head(k) - x.head(k));
    out.ball.col(k) = beta(k) * (twice * ball.col(k) + x.ball.col(k));
  }
  const ArrayXd twice = 2 * inner(arm, x.arm);
  out.arm.row(0) = arm_beta.transpose() * (twice.transpose() * arm.row(0) - x.arm.row(0));
  for (Index i = 1; i < 3; ++i) {
    out.arm.row(i) = arm_beta.transpose() * (twice.transpose() * arm.row(i) + x.arm.row(i));
  }
  return out;
}

ConeVector Scaling::inverse(const ConeVector& x) const {
  ConeVector out = x;
  out.lower = x.lower.cwiseQuotient(lower);
  out.upper = x.upper.cwiseQuotient(upper);
  for (Index k = 0; k < x.head.size(); ++k) {
    const double twice = 2 * (head(k) * x.head(k) - ball.col(k).dot(x.ball.col(k)));
    out.head(k) = (twice * head(k) - x.head(k)) / beta(k);
    out.ball.col(k) = (x.ball.col(k) - twice * ball.col(k)) / beta(k);
  }
  const ArrayXd twice =
      2 * (arm.row(0) * x.arm.row(0) - arm.row(1) * x.arm.row(1) - arm.row(2) * x.arm.row(2));
  out.arm.row(0) = (twice.transpose() * arm.row(0) - x.arm.row(0)) / arm_beta.transpose();
  for (Index i = 1; i < 3; ++i) {
    out.arm.row(i) = (x.arm.row(i) - twice.transpose() * arm.row(i)) / arm_beta.transpose();
  }
  return out;
}

}  // namespace kith::spectrum
