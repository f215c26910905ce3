// SPDX-License-Identifier: Apache-2.0
// Newton's method for the shift of a border stands alone: its steps rise to the last digit, and it
// is run for each new sample.
#include "kith/learn/kernel_learning/learned_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kith/core/error.hpp"
#include "kith/numerics/arrowhead.hpp"

namespace kith {
namespace {

/// Eigenvalues of S that are inverted by treatment map: those above this share of the largest.
/// Without the cut the smallest ones decide everything (46 % errors in place of 36 %).
constexpr double kMapCut = 1e-3;

/// S^+ X.
Matrix cut_inverse(const SymmetricEigen& S, const MatrixRef& X) {
  const double cut = S.lambda.size() > 0 ? kMapCut * S.lambda.cwiseAbs().maxCoeff() : 0;
  Vector inverse(S.lambda.size());
  for (Index i = 0; i < inverse.size(); ++i) {
    inverse(i) = std::abs(S.lambda(i)) > cut ? 1 / S.lambda(i) : 0;
  }
  const Matrix rotated = inverse.asDiagonal() * (S.U.transpose() * X);
  return S.U * rotated;
}

Vector times_kernel(const SymmetricEigen& kernel, const VectorRef& x) {
  return kernel.U * kernel.lambda.cwiseProduct(kernel.U.transpose() * x);
}

/// The row of a new sample in the basis of the machine.
Vector border_of(Treatment treatment, const VectorRef& values, const VectorRef& s_hat, double psi) {
  if (treatment == Treatment::kSample) return nearest_border(values, s_hat, psi);
  return arrowhead_column(values, s_hat, psi, [](double x) { return std::max(x, 0.0); });
}

}  // namespace

Vector nearest_border(const VectorRef& d, const VectorRef& s_hat, double psi) {
  if (s_hat.cwiseAbs2().cwiseQuotient(d).sum() <= psi) return s_hat;
  // phi(t) = sum s^2 d / (d + t)^2 - psi - t is convex and falls: Newton's steps from the left
  // never pass the root.
  double t = std::max(0.0, -psi);
  constexpr int kMostSteps = 200;
  for (int step = 0; step < kMostSteps; ++step) {
    double value = -psi - t;
    double slope = -1;
    for (Index i = 0; i < d.size(); ++i) {
      const double term = s_hat(i) * s_hat(i) * d(i) / ((d(i) + t) * (d(i) + t));
      value += term;
      slope -= 2 * term / (d(i) + t);
    }
    const double next = t - value / slope;
    if (!(next > t)) break;
    t = next;
  }
  return s_hat.array() * d.array() / (d.array() + t);
}

LearnedMachine learned_machine(Treatment treatment, const SymmetricEigen& kernel,
                               const SymmetricEigen& similarities, const VectorRef& c, double b) {
  LearnedMachine machine;
  machine.treatment = treatment;
  machine.b = b;
  switch (treatment) {
    case Treatment::kSample:
    case Treatment::kAugmented:
      machine.values = kernel.lambda;
      machine.vectors = kernel.U;
      machine.rotated = kernel.U.transpose() * c;
      break;
    case Treatment::kProject:
      machine.coefficients = kernel.U * (kernel.U.transpose() * c);
      break;
    case Treatment::kMap:
      machine.coefficients = cut_inverse(similarities, times_kernel(kernel, c));
      break;
    case Treatment::kNone:
      machine.coefficients = c;
      break;
    case Treatment::kLinear:
      throw Error(ErrorCode::kInternal, "no linear map makes a learned kernel of its matrix");
  }
  return machine;
}

Vector decisions(const LearnedMachine& machine, const MatrixRef& rows, const VectorRef& self) {
  if (rows.rows() == 0) return Vector(0);
  if (!needs_self(machine.treatment)) {
    return (rows * machine.coefficients).array() + machine.b;
  }
  Vector result(rows.rows());
  const Matrix rotated = (rows * machine.vectors).transpose();
  for (Index i = 0; i < rows.rows(); ++i) {
    result(i) =
        border_of(machine.treatment, machine.values, rotated.col(i), self(i)).dot(machine.rotated);
  }
  return result.array() + machine.b;
}

double consistency(Treatment treatment, const SymmetricEigen& kernel,
                   const SymmetricEigen& similarities, const MatrixRef& S, Index most_rows) {
  const std::vector<Index> chosen = spread_positions(S.rows(), most_rows);
  const bool map = treatment == Treatment::kMap;
  Matrix rows = S(Eigen::all, chosen);
  if (map) rows = cut_inverse(similarities, rows);
  // Lengths are those of coordinates in the basis of K, which all treatments but none stay in.
  const Matrix rotated = kernel.U.transpose() * rows;
  double worst = 0;
  for (Index k = 0; k < rows.cols(); ++k) {
    const Index i = chosen[static_cast<std::size_t>(k)];
    const Vector row = kernel.lambda.cwiseMax(0.0).cwiseProduct(kernel.U.row(i).transpose());
    const double size = row.norm();
    if (!(size > 0)) continue;
    Vector again = rotated.col(k);
    double outside = 0;
    if (needs_self(treatment)) {
      again = border_of(treatment, kernel.lambda, rotated.col(k), S(i, i));
    } else if (map) {
      again = kernel.lambda.cwiseProduct(rotated.col(k));
    } else if (treatment == Treatment::kNone) {
      outside = std::max(0.0, rows.col(k).squaredNorm() - again.squaredNorm());
    }
    worst = std::max(worst, std::sqrt((again - row).squaredNorm() + outside) / size);
  }
  return worst;
}

}  // namespace kith
