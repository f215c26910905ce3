// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/ridge/least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kith/core/parallel.hpp"

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
  return std::move(leave_one_out(U, std::span(&solution, 1), Y).front());
}

std::vector<Matrix> leave_one_out(const MatrixRef& U, std::span<const RotatedSolution> solutions,
                                  const MatrixRef& Y, int threads) {
  constexpr Index kRows = 256;  // of U at a time: their squares are a copy
  const Index tasks = Y.cols();
  const Index width = tasks + 1;  // of a solution: a, and (K + r I)^-1 1
  const Vector ones = U.colwise().sum().transpose();
  Matrix inverse(U.cols(), std::ssize(solutions));
  Matrix linear(U.cols(), std::ssize(solutions) * width);
  for (Index k = 0; k < inverse.cols(); ++k) {
    const RotatedSolution& solution = solutions[static_cast<std::size_t>(k)];
    inverse.col(k) = solution.inverse;
    linear.middleCols(k * width, tasks) = solution.a;
    linear.col(k * width + tasks) = solution.inverse.cwiseProduct(ones);
  }
  std::vector<Matrix> values(solutions.size(), Matrix(Y.rows(), tasks));
  parallel_for(static_cast<std::size_t>((Y.rows() + kRows - 1) / kRows), threads,
               [&](std::size_t block) {
                 const Index begin = static_cast<Index>(block) * kRows;
                 const auto rows = U.middleRows(begin, std::min(kRows, U.rows() - begin));
                 const Matrix B = Matrix(rows.cwiseAbs2()) * inverse;
                 const Matrix L = rows * linear;
                 for (Index k = 0; k < inverse.cols(); ++k) {
                   const double share = solutions[static_cast<std::size_t>(k)].constant_share;
                   for (Index i = 0; i < rows.rows(); ++i) {
                     const double ones_of_i = L(i, k * width + tasks);
                     const double b = B(i, k) - (share != 0 ? ones_of_i * ones_of_i / share : 0);
                     const double scale = b != 0 ? 1 / b : std::numeric_limits<double>::quiet_NaN();
                     values[static_cast<std::size_t>(k)].row(begin + i) =
                         Y.row(begin + i) - scale * L.row(i).segment(k * width, tasks);
                   }
                 }
               });
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
