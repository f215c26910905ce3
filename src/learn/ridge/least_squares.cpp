// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/ridge/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kith {

RuledSpectrum ruled_spectrum(Spectrum spectrum, const VectorRef& lambda,
                             const std::optional<double>& beta) {
  const double strength = diffusion_beta(beta, lambda);
  RuledSpectrum rule{.kernel = lambda, .map = test_multipliers(spectrum, lambda, strength)};
  if (spectrum == Spectrum::kShift) {
    rule.shift = lambda.size() > 0 ? std::max(0.0, -lambda.minCoeff()) : 0;
    rule.kernel.array() += rule.shift;
  } else if (spectrum == Spectrum::kDiffusion) {
    rule.kernel = (strength * lambda.array()).exp();
  } else {
    rule.kernel = lambda.cwiseProduct(rule.map);
  }
  return rule;
}

double ridge_unit(const VectorRef& kernel) {
  const double mean = kernel.size() > 0 ? kernel.cwiseAbs().mean() : 0;
  return mean > 0 ? mean : 1;
}

RotatedTargets rotated_targets(const MatrixRef& U, const MatrixRef& Y) {
  RotatedTargets targets{.Y = Matrix(U.cols(), Y.cols()), .ones = U.colwise().sum().transpose()};
  targets.Y.noalias() = U.transpose() * Y;
  return targets;
}

RotatedSolution solve_ridge(const VectorRef& kernel, double r, const RotatedTargets& targets) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
  const Vector shifted = kernel.array() + r;
  const double zero =
      static_cast<double>(shifted.size()) * kEpsilon * shifted.lpNorm<Eigen::Infinity>();
  RotatedSolution solution;
  solution.inverse =
      shifted.unaryExpr([&](double value) { return std::abs(value) > zero ? 1 / value : 0.0; });
  const Vector ones = solution.inverse.cwiseProduct(targets.ones);
  solution.constant_share = ones.dot(targets.ones);
  // Terms of both signs may cancel where the kernel is indefinite: there is no intercept then.
  const double terms = ones.cwiseProduct(targets.ones).lpNorm<1>();
  if (!(std::abs(solution.constant_share) > kEpsilon * terms)) solution.constant_share = 0;
  solution.b = Vector::Zero(targets.Y.cols());
  if (solution.constant_share != 0) {
    solution.b = targets.Y.transpose() * ones / solution.constant_share;
  }
  solution.a = solution.inverse.asDiagonal() * targets.Y;
  solution.a.noalias() -= ones * solution.b.transpose();
  return solution;
}

Matrix leave_one_out(const MatrixRef& U, const RotatedSolution& solution, const MatrixRef& Y) {
  const Vector ones = U.transpose().rowwise().sum();
  Vector B = U.cwiseAbs2() * solution.inverse;
  if (solution.constant_share != 0) {
    const Vector weighted = U * solution.inverse.cwiseProduct(ones);
    B -= weighted.cwiseAbs2() / solution.constant_share;
  }
  Matrix values = U * solution.a;
  for (Index i = 0; i < values.rows(); ++i) {
    const double scale = B(i) != 0 ? 1 / B(i) : std::numeric_limits<double>::quiet_NaN();
    values.row(i) = Y.row(i) - scale * values.row(i);
  }
  return values;
}

Vector ridge_residuals(const MatrixRef& Ka, const MatrixRef& a, const VectorRef& b, double r,
                       const MatrixRef& Y) {
  Vector residuals(a.cols());
  for (Index t = 0; t < a.cols(); ++t) {
    const Vector off = Ka.col(t) + r * a.col(t) - Y.col(t) + Vector::Constant(a.rows(), b(t));
    const double mean = r * std::abs(a.col(t).mean());
    residuals(t) = off.allFinite() && std::isfinite(mean)
                       ? std::max(off.lpNorm<Eigen::Infinity>(), mean)
                       : std::numeric_limits<double>::infinity();
  }
  return residuals;
}

}  // namespace kith
