// SPDX-License-Identifier: Apache-2.0
// Newton's method in two variables stands alone: it is over in microseconds, and a sigmoid has no
// status.
#include "kith/learn/calibration.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "optim/engine/line_search.hpp"

namespace kith {
namespace {

/// log(1 + exp(z)) without overflow.
double softplus(double z) { return z > 0 ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z)); }

double logistic(double z) {
  return z >= 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z));
}

/// Negative log-likelihood of the targets t: sum of t z + log(1 + exp(-z)) with z = slope f +
/// offset.
double loss(const VectorRef& f, const Vector& targets, const Sigmoid& sigmoid) {
  double sum = 0;
  for (Index i = 0; i < f.size(); ++i) {
    const double z = sigmoid.slope * f(i) + sigmoid.offset;
    sum += targets(i) * z + softplus(-z);
  }
  return sum;
}

struct NewtonStep {
  double gradient_slope = 0, gradient_offset = 0;
  double slope = 0, offset = 0;
};

NewtonStep newton_step(const VectorRef& f, const Vector& targets, const Sigmoid& sigmoid) {
  constexpr double kRidge = 1e-12;  // keeps the 2 x 2 Hessian invertible
  NewtonStep step;
  double h11 = kRidge;
  double h22 = kRidge;
  double h12 = 0;
  for (Index i = 0; i < f.size(); ++i) {
    const double q = logistic(sigmoid.slope * f(i) + sigmoid.offset);  // 1 - p
    const double curvature = q * (1 - q);
    h11 += f(i) * f(i) * curvature;
    h22 += curvature;
    h12 += f(i) * curvature;
    const double residual = targets(i) - (1 - q);
    step.gradient_slope += f(i) * residual;
    step.gradient_offset += residual;
  }
  const double determinant = h11 * h22 - h12 * h12;
  step.slope = -(h22 * step.gradient_slope - h12 * step.gradient_offset) / determinant;
  step.offset = -(h11 * step.gradient_offset - h12 * step.gradient_slope) / determinant;
  return step;
}

}  // namespace

double Sigmoid::operator()(double decision) const { return logistic(-(slope * decision + offset)); }

Sigmoid fit_sigmoid(const VectorRef& decisions, std::span<const int> signs) {
  const auto positives = static_cast<double>(std::count(signs.begin(), signs.end(), 1));
  const double negatives = static_cast<double>(signs.size()) - positives;
  Vector targets(decisions.size());
  for (Index i = 0; i < targets.size(); ++i) {
    targets(i) = signs[static_cast<std::size_t>(i)] > 0 ? (positives + 1) / (positives + 2)
                                                        : 1 / (negatives + 2);
  }
  // Scaled decision values: the answer then does not depend on the units of the similarities.
  const double scale = decisions.size() > 0 ? decisions.cwiseAbs().maxCoeff() : 0;
  const Sigmoid base_rate{.slope = 0, .offset = std::log((negatives + 1) / (positives + 1))};
  if (!(scale > 0)) return base_rate;
  const Vector f = decisions / scale;
  Sigmoid sigmoid = base_rate;
  double value = loss(f, targets, sigmoid);
  constexpr int kMostSteps = 100;
  constexpr int kMostTrials = 34;  // to a length of 1e-10
  for (int iteration = 0; iteration < kMostSteps; ++iteration) {
    const NewtonStep step = newton_step(f, targets, sigmoid);
    const double tolerance = 1e-10 * static_cast<double>(f.size());
    if (std::max(std::abs(step.gradient_slope), std::abs(step.gradient_offset)) < tolerance) break;
    const double descent = step.gradient_slope * step.slope + step.gradient_offset * step.offset;
    const auto accept = [&](double length) {
      const Sigmoid trial{.slope = sigmoid.slope + length * step.slope,
                          .offset = sigmoid.offset + length * step.offset};
      const double trial_value = loss(f, targets, trial);
      if (!(trial_value < value + engine::kArmijo * length * descent)) return false;
      sigmoid = trial;
      value = trial_value;
      return true;
    };
    if (engine::backtrack(1, kMostTrials, accept) == 0) break;
  }
  if (!(sigmoid.slope < 0)) return base_rate;
  return {.slope = sigmoid.slope / scale, .offset = sigmoid.offset};
}

std::vector<FoldSplit> calibration_folds(std::span<const int> signs, std::span<const int> groups,
                                         Rng rng) {
  constexpr int kFolds = 5;
  return two_class_folds(signs, groups, kFolds, rng);
}

Vector couple_pairs(const MatrixRef& r) {
  const Index classes = r.rows();
  if (classes == 2) return Vector{{r(0, 1), r(1, 0)}};
  constexpr double kFloor = 1e-7;  // a pair that is certain must not make the system singular
  const auto pair = [&](Index i, Index j) { return std::clamp(r(i, j), kFloor, 1 - kFloor); };
  Matrix system = Matrix::Zero(classes + 1, classes + 1);
  for (Index i = 0; i < classes; ++i) {
    for (Index j = 0; j < classes; ++j) {
      if (i == j) continue;
      system(i, i) += pair(j, i) * pair(j, i);
      system(i, j) = -pair(j, i) * pair(i, j);
    }
    system(i, classes) = system(classes, i) = 1;
  }
  Vector right = Vector::Zero(classes + 1);
  right(classes) = 1;
  Vector p = system.partialPivLu().solve(right).head(classes).cwiseMax(0.0);
  return p / p.sum();
}

}  // namespace kith
