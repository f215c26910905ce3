// SPDX-License-Identifier: Apache-2.0
// Scaled vectors as methods see them. Sparse ones stay sparse: a feature is divided by its
// deviation where it stands, and its mean, which would fill every zero, is kept beside the table.
#pragma once

#include <optional>
#include <variant>

#include "kith/data/block.hpp"
#include "kith/learn/feature_scale.hpp"
#include "kith/numerics/principal_axes.hpp"

namespace kith {

/// X = rows - 1 shift', dense with no shift or sparse. Tables under the same scale have the same
/// shift, so that differences of their rows need none.
class ScaledVectors {
 public:
  /// Throws Error(kInvalidArgument) naming both numbers where the width is not that of the scale.
  ScaledVectors(const FeatureScale& scale, const Block& vectors);

  [[nodiscard]] Index rows() const;
  /// Features that the scale keeps, and all that the vectors have.
  [[nodiscard]] Index cols() const;
  [[nodiscard]] Index width() const { return width_; }
  /// None: they are dense.
  [[nodiscard]] const SparseBlock* sparse() const { return std::get_if<SparseBlock>(&rows_); }
  [[nodiscard]] const Vector& shift() const { return shift_; }
  /// All numbers. Throws Error(kInvalidArgument) where they do not fit into memory.
  [[nodiscard]] Matrix dense() const;
  /// X B.
  [[nodiscard]] Matrix times(const MatrixRef& B) const;
  /// X'C.
  [[nodiscard]] Matrix transposed_times(const MatrixRef& C) const;

 private:
  std::variant<Matrix, SparseBlock> rows_;
  Vector shift_;
  Index width_ = 0;
};

/// Throws Error(kInvalidArgument) where the squares of the numbers leave the range of doubles.
void refuse_overflow(const ScaledVectors& X);

/// `kernel_table` of all pairs.
[[nodiscard]] Matrix kernel_table(VectorKernel kernel, const ScaledVectors& X, int threads);

/// The vectors in the coordinates of their principal directions, X = 1 mean' + Z Q', as
/// `principal_axes` has them. Of sparse vectors with more features than samples Q is never formed:
/// Z comes from the matrix of inner products, which holds directions whose deviation is at least
/// 1e-6 of the largest.
class VectorSpan {
 public:
  VectorSpan(const ScaledVectors& X, int threads);

  [[nodiscard]] const Vector& mean() const { return axes_.mean; }
  [[nodiscard]] const Matrix& Z() const { return axes_.Z; }
  [[nodiscard]] const Vector& spread() const { return axes_.spread; }
  /// L Q': what a map of coordinates is as a map of features.
  [[nodiscard]] Matrix over_features(const MatrixRef& L) const;

 private:
  /// Q = (table - 1 shift')' weights.
  struct Factor {
    SparseBlock table;
    Vector shift;
    Matrix weights;
  };
  void factorise(const ScaledVectors& X, int threads);

  PrincipalAxes axes_;  // without Q where there is a factor
  std::optional<Factor> factor_;
};

}  // namespace kith
