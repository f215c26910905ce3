// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/kernel_learning/learned_kernel.hpp"

#include <algorithm>
#include <cmath>

namespace kith {
namespace {

/// Eigenvalues of S that are inverted by treatment map: those above this share of the largest.
/// Without the cut the smallest ones decide everything (46 % errors in place of 36 %).
constexpr double kMapCut = 1e-3;

/// S^+ x.
Vector cut_inverse(const SymmetricEigen& S, const VectorRef& x) {
  const double cut = S.lambda.size() > 0 ? kMapCut * S.lambda.cwiseAbs().maxCoeff() : 0;
  Vector rotated = S.U.transpose() * x;
  for (Index i = 0; i < rotated.size(); ++i) {
    rotated(i) = std::abs(S.lambda(i)) > cut ? rotated(i) / S.lambda(i) : 0;
  }
  return S.U * rotated;
}

Vector times_kernel(const SymmetricEigen& kernel, const VectorRef& x) {
  return kernel.U * kernel.lambda.cwiseProduct(kernel.U.transpose() * x);
}

/// The row of a new sample with similarities s and self-similarity psi.
Vector treated(LearnedTreatment treatment, const SymmetricEigen& kernel,
               const SymmetricEigen& similarities, const VectorRef& s, double psi) {
  switch (treatment) {
    case LearnedTreatment::kSample:
      return kernel.U * nearest_border(kernel.lambda, kernel.U.transpose() * s, psi);
    case LearnedTreatment::kProject:
      return kernel.U * (kernel.U.transpose() * s);
    case LearnedTreatment::kMap:
      return times_kernel(kernel, cut_inverse(similarities, s));
    case LearnedTreatment::kNone:
      break;
  }
  return s;
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

LearnedMachine learned_machine(LearnedTreatment treatment, const SymmetricEigen& kernel,
                               const SymmetricEigen& similarities, const VectorRef& c, double b) {
  LearnedMachine machine;
  machine.treatment = treatment;
  machine.b = b;
  switch (treatment) {
    case LearnedTreatment::kSample:
      machine.values = kernel.lambda;
      machine.vectors = kernel.U;
      machine.rotated = kernel.U.transpose() * c;
      break;
    case LearnedTreatment::kProject:
      machine.coefficients = kernel.U * (kernel.U.transpose() * c);
      break;
    case LearnedTreatment::kMap:
      machine.coefficients = cut_inverse(similarities, times_kernel(kernel, c));
      break;
    case LearnedTreatment::kNone:
      machine.coefficients = c;
      break;
  }
  return machine;
}

Vector decisions(const LearnedMachine& machine, const MatrixRef& rows, const VectorRef& self) {
  if (rows.rows() == 0) return Vector(0);
  if (machine.treatment != LearnedTreatment::kSample) {
    return (rows * machine.coefficients).array() + machine.b;
  }
  Vector result(rows.rows());
  const Matrix rotated = (rows * machine.vectors).transpose();
  for (Index i = 0; i < rows.rows(); ++i) {
    result(i) = nearest_border(machine.values, rotated.col(i), self(i)).dot(machine.rotated);
  }
  return result.array() + machine.b;
}

double consistency(LearnedTreatment treatment, const SymmetricEigen& kernel,
                   const SymmetricEigen& similarities, const MatrixRef& S, Index most_rows) {
  const Index n = S.rows();
  const Index count = std::min(n, most_rows);
  double worst = 0;
  for (Index k = 0; k < count; ++k) {
    const Index i = k * n / count;
    const Vector row = times_kernel(kernel, Vector::Unit(n, i));
    const double size = row.norm();
    if (!(size > 0)) continue;
    const Vector again = treated(treatment, kernel, similarities, S.col(i), S(i, i));
    worst = std::max(worst, (again - row).norm() / size);
  }
  return worst;
}

}  // namespace kith
