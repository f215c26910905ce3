// SPDX-License-Identifier: Apache-2.0
// Regularised least squares on a kernel K = U diag(kernel) U', several columns of targets Y at a
// time, each with an intercept that has no penalty:
//
//   (K + r I) a + b 1 = y,    1'a = 0.
//
// In the coordinates of U the matrix is diagonal: one decomposition serves every spectrum rule,
// every ridge value and every column.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kith/condition/spectrum.hpp"

namespace kith {

/// What a spectrum rule makes of S = U diag(lambda) U', S symmetric.
struct RuledSpectrum {
  Vector kernel;     ///< K = U diag(kernel) U'
  Vector map;        ///< a new row s becomes U diag(map) U' s
  double shift = 0;  ///< of rule shift: what is added to the diagonal
};
[[nodiscard]] RuledSpectrum ruled_spectrum(Spectrum spectrum, const VectorRef& lambda,
                                           const std::optional<double>& beta = std::nullopt);

/// The unit of ridge values: the mean magnitude of the eigenvalues of a kernel, which is the mean
/// of its diagonal where it is positive semidefinite. 1 where all are 0.
[[nodiscard]] double ridge_unit(const VectorRef& kernel);

/// Targets and the constant in the coordinates of U.
struct RotatedTargets {
  Matrix Y;     ///< U'Y
  Vector ones;  ///< U'1
};
[[nodiscard]] RotatedTargets rotated_targets(const MatrixRef& U, const MatrixRef& Y);

/// The solution in the coordinates of U, one column per column of targets.
struct RotatedSolution {
  Matrix a;                   ///< U'a
  Vector b;                   ///< intercepts
  Vector inverse;             ///< 1 / (kernel + r); 0 where that is zero to rounding
  double constant_share = 0;  ///< 1' (K + r I)^-1 1
};
[[nodiscard]] RotatedSolution solve_ridge(const VectorRef& kernel, double r,
                                          const RotatedTargets& targets);

/// The value of each sample under the solution of all others, rows as in Y: y_i - a_i / B_ii with B
/// the inverse of the bordered matrix of the two equations. Exact where leaving a sample out leaves
/// the kernel of the others as it is. O(n^2) a column. Values that rounding leaves open are NaN.
[[nodiscard]] Matrix leave_one_out(const MatrixRef& U, const RotatedSolution& solution,
                                   const MatrixRef& Y);
/// The same of several solutions at a time, with U read once for all of them.
[[nodiscard]] std::vector<Matrix> leave_one_out(const MatrixRef& U,
                                                std::span<const RotatedSolution> solutions,
                                                const MatrixRef& Y, int threads = 1);

/// How far each column is from solving both equations, in the unit of the targets: the largest
/// |K a + r a + b - y| and r |mean a|. `Ka` has to come from the data and not from the solver.
[[nodiscard]] Vector ridge_residuals(const MatrixRef& Ka, const MatrixRef& a, const VectorRef& b,
                                     double r, const MatrixRef& Y);

}  // namespace kith
