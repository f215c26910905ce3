// SPDX-License-Identifier: Apache-2.0
// From decision values to probabilities.
#pragma once

#include <span>
#include <vector>

#include "kith/core/rng.hpp"
#include "kith/core/types.hpp"
#include "kith/data/folds.hpp"

namespace kith {

/// P(positive | f) = 1 / (1 + exp(slope f + offset)); slope is negative where larger f means
/// positive.
struct Sigmoid {
  double slope = -1;
  double offset = 0;
  [[nodiscard]] double operator()(double decision) const;
};

/// Platt's sigmoid by maximum likelihood with his smoothed targets; Newton with backtracking in the
/// overflow-free form of Lin, Lin and Weng (2007). `signs` are +1 or -1. A fit whose slope would
/// not be negative (decision values that say nothing) gets slope 0: the base rate.
[[nodiscard]] Sigmoid fit_sigmoid(const VectorRef& decisions, std::span<const int> signs);

/// The few stratified folds that calibration holds out one after the other, groups whole; none
/// where a class cannot be left out in parts (two_class_folds).
[[nodiscard]] std::vector<FoldSplit> calibration_folds(std::span<const int> signs,
                                                       std::span<const int> groups, Rng rng);

/// Sigmoids need no more than a few digits of decision values: a tolerance for the machines that
/// give those of held-out samples.
inline constexpr double kCalibrationTolerance = 1e-3;

/// Class probabilities from those of each pair: r(i, j) = P(i | i or j), r(j, i) = 1 - r(i, j). The
/// minimiser of sum_ij (r(j,i) p_i - r(i,j) p_j)^2 over the simplex (Wu, Lin and Weng 2004, their
/// second method), by one linear system.
[[nodiscard]] Vector couple_pairs(const MatrixRef& r);

}  // namespace kith
