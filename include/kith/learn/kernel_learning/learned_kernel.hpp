// SPDX-License-Identifier: Apache-2.0
// What a new sample is to a machine whose kernel was learned for the training samples alone.
#pragma once

#include "kith/learn/treatment.hpp"
#include "kith/numerics/symmetric_eigen.hpp"

namespace kith {

/// The border of [CGR] (8) in closed form: the minimiser of 2 |k - s|^2 + (r - psi)^2 over those
/// (k, r) for which [K k; k' r] is positive semidefinite. s_hat = V's; the answer is V'k.
///
///   k_i = s_i d_i / (d_i + t), r = psi + t, t = 0 if sum s_i^2 / d_i <= psi, else the one root of
///   sum_i s_i^2 d_i / (d_i + t)^2 = psi + t.
[[nodiscard]] Vector nearest_border(const VectorRef& d, const VectorRef& s_hat, double psi);

/// f(x) = c'k(x) + b over the samples of one pair of classes.
struct LearnedMachine {
  Treatment treatment = Treatment::kSample;
  Vector coefficients;  ///< on raw rows; empty for treatments sample and augmented
  Vector values;        ///< d, for these two alone
  Matrix vectors;       ///< V
  Vector rotated;       ///< V'c
  double b = 0;
};

/// Whether new samples need their self-similarity, and the machine the basis of its kernel.
[[nodiscard]] constexpr bool needs_self(Treatment treatment) {
  return treatment == Treatment::kSample || treatment == Treatment::kAugmented;
}

/// `kernel` holds the positive eigenpairs of K (all those of M for treatment augmented),
/// `similarities` all those of S.
[[nodiscard]] LearnedMachine learned_machine(Treatment treatment, const SymmetricEigen& kernel,
                                             const SymmetricEigen& similarities, const VectorRef& c,
                                             double b);
/// Decision values of rows of similarities; `self` is read where `needs_self`.
[[nodiscard]] Vector decisions(const LearnedMachine& machine, const MatrixRef& rows,
                               const VectorRef& self);

/// With `kernel` as above, max_i |k(s_i) - K_i| / |K_i| over at most `most_rows` rows of S, evenly
/// spread, each treated as if it were new.
[[nodiscard]] double consistency(Treatment treatment, const SymmetricEigen& kernel,
                                 const SymmetricEigen& similarities, const MatrixRef& S,
                                 Index most_rows = 64);

}  // namespace kith
