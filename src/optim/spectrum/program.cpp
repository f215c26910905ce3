// SPDX-License-Identifier: Apache-2.0
#include "kith/optim/spectrum/program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kith/numerics/psd.hpp"
#include "optim/engine/box.hpp"
#include "optim/spectrum/inner.hpp"

namespace kith::spectrum {

Terms terms_of(const Program& program) {
  const Vector& lambda = program.eigen->lambda;
  const double zero = zero_threshold(lambda);
  Terms terms;
  for (Index i = 0; i < lambda.size(); ++i) {
    if (std::abs(lambda(i)) > zero) terms.active.push_back(i);
  }
  const Vector active = lambda(terms.active);
  const Index r = active.size();
  terms.magnitude = active.cwiseAbs();
  terms.sign = active.cwiseSign();
  const Vector clip = terms.sign.cwiseMax(0.0);
  terms.weight = Vector::Ones(r);
  switch (program.centre) {
    case Centre::kClip:
      terms.centres = clip;
      break;
    case Centre::kFlip:
      terms.centres = Matrix::Ones(r, 1);
      break;
    case Centre::kBoth:
      terms.centres.resize(r, 2);
      terms.centres << clip, Vector::Ones(r);
      terms.offset = program.gamma * (Vector::Ones(r) - clip).norm();
      break;
    case Centre::kSimilarity:
      terms.centres = terms.sign;
      terms.weight = terms.magnitude;
      terms.offset = program.gamma * terms.magnitude.cwiseProduct(clip - terms.sign).norm();
      break;
  }
  return terms;
}

Vector rotated(const Program& program, const Terms& terms, const VectorRef& alpha) {
  const Vector w = program.eigen->U.transpose() * program.y.cwiseProduct(alpha);
  return w(terms.active);
}

Point point_of(const Program& program, const Terms& terms, const Vector& alpha, const Vector& t,
               const Vector& z, double b) {
  const Index n = program.eigen->lambda.size();
  Point point{.alpha = alpha, .a = Vector::Zero(n), .z = Vector::Zero(n), .b = b};
  point.a(terms.active) = terms.sign.cwiseProduct(t);
  point.z(terms.active) = z;
  return point;
}

Vector curvature(const Program& program, const Terms& terms, const Vector& w) {
  return (terms.magnitude.array() * w.array().square() / (4 * program.eta)).matrix();
}

namespace {

/// c'K_a c = sum_i z_i^2 / (lambda_i a_i); infinite where z leaves the range of K_a.
double norm_in_space(const Terms& terms, const Point& point, const Vector& t) {
  double sum = 0;
  Vector rest = point.z;
  for (std::size_t k = 0; k < terms.active.size(); ++k) {
    const Index i = terms.active[k];
    const auto at = static_cast<Index>(k);
    if (point.z(i) != 0) sum += point.z(i) * point.z(i) / (t(at) * terms.magnitude(at));
    rest(i) = 0;
  }
  return rest.isZero(0.0) ? sum : std::numeric_limits<double>::infinity();
}

/// The value of (D) after shrinking: alpha -> alpha / r takes G to G / r^2.
double dual_value(const Program& program, const Terms& terms, const Point& point) {
  const Vector alpha = engine::into_box(program.y, program.upper, point.alpha);
  if (terms.active.empty()) return alpha.sum();
  const Vector G = curvature(program, terms, rotated(program, terms, alpha));
  const double size = std::max(1.0, inner_size(program, terms, G));
  return alpha.sum() / std::sqrt(size) + inner_value(program, terms, G / size);
}

}  // namespace

Certificate certify(const Program& program, const Point& point) {
  const Terms terms = terms_of(program);
  Certificate certificate;
  certificate.offset = terms.offset;
  certificate.dual = dual_value(program, terms, point);
  const Vector t = terms.sign.cwiseProduct(point.a(terms.active)).cwiseMax(0.0);
  const Vector f = (program.eigen->U * point.z).array() + point.b;
  const Vector excess = program.y.cwiseProduct(f).array() - 1;
  const Vector reached = excess.array() + 1;
  const double norm = program.eta * norm_in_space(terms, point, t);
  const auto value = [&](double longer) {
    return program.upper.dot((1 - longer * reached.array()).max(0.0).matrix()) +
           longer * longer * norm;
  };
  // Where eta is small, margins missed by rounding alone would make all of the loss.
  const double longer = 1 + engine::stretch(reached, Vector::Ones(reached.size()));
  if (value(longer) < value(1)) certificate.stretch = longer;
  certificate.primal = value(certificate.stretch) + penalty(program, terms, t);
  const Eigen::ArrayXd x = point.alpha.cwiseQuotient(program.upper).array();
  certificate.kkt_residual = (x - (x - excess.array()).max(0.0).min(1.0)).abs().maxCoeff();
  const double size = std::max(std::abs(certificate.primal), std::abs(certificate.dual));
  const double gap = size > 0 ? (certificate.primal - certificate.dual) / size : 0;
  // Bounds in the wrong order prove no more than the digits they have; far in the wrong order, or
  // none at all, nothing.
  constexpr double kRounding = 1e-13;
  constexpr double kLost = 1e-6;
  certificate.gap = gap < 0 && gap >= -kRounding ? 0.0 : std::abs(gap);
  if (!(gap >= -kLost)) certificate.gap = std::numeric_limits<double>::infinity();
  return certificate;
}

Vector plain_multipliers(Centre centre, const VectorRef& lambda) {
  const bool flip = centre == Centre::kFlip || centre == Centre::kBoth;
  return flip ? flip_multipliers(lambda) : clip_multipliers(lambda);
}

double plain_threshold(const Program& program, const VectorRef& alpha) {
  // G / gamma has to be a subgradient of h at the plain t.
  const Terms terms = terms_of(program);
  const Vector G = curvature(program, terms, rotated(program, terms, alpha));
  const Vector negative = (-terms.sign).cwiseMax(0.0);
  const double negatives = negative.sum();
  const bool definite = negatives == 0;
  if (G.size() == 0 || G.isZero(0.0)) return 0;
  switch (program.centre) {
    case Centre::kClip:
    case Centre::kFlip:
      return G.norm();
    case Centre::kBoth:
      // |G / gamma - negative / sqrt(negatives)| <= 1: the unit vector is the slope of |t - t_clip|
      // at t = 1, the ball that of |t - 1|. Without negatives both terms are the same ball.
      if (definite) return G.norm() / 2;
      return G.squaredNorm() * std::sqrt(negatives) / (2 * G.dot(negative));
    case Centre::kSimilarity:
      if (definite) return G.cwiseQuotient(terms.weight).norm();
      return std::numeric_limits<double>::infinity();
  }
  return std::numeric_limits<double>::infinity();
}

Point plain_point(const Program& program, const VectorRef& alpha, double b) {
  const Terms terms = terms_of(program);
  const Index n = program.eigen->lambda.size();
  Point point{.alpha = alpha,
              .a = plain_multipliers(program.centre, program.eigen->lambda),
              .z = Vector::Zero(n),
              .b = b};
  const Vector w = rotated(program, terms, alpha);
  for (std::size_t k = 0; k < terms.active.size(); ++k) {
    const auto at = static_cast<Index>(k);
    const Index i = terms.active[k];
    point.z(i) = program.eigen->lambda(i) * point.a(i) * w(at) / (2 * program.eta);
  }
  return point;
}

}  // namespace kith::spectrum
