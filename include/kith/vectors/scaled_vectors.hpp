// SPDX-License-Identifier: Apache-2.0
// Scaled vectors as methods see them. Sparse ones stay sparse: a feature is divided by its
// deviation where it stands, and its mean, which would fill every zero, is kept beside the table.
#pragma once

#include <optional>
#include <variant>

#include "kith/data/block.hpp"
#include "kith/numerics/principal_axes.hpp"
#include "kith/vectors/feature_scale.hpp"

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

/// `kernel_table` of all pairs.
[[nodiscard]] Matrix kernel_table(VectorKernel kernel, const ScaledVectors& X, int threads);

/// Which directions of the data a span must have.
enum class SpanDirections {
  kLarge,  ///< those that distances feel
  kAll,    ///< every one of each feature, however small beside the others
};

/// The vectors in orthonormal coordinates, X = 1 mean' + Z Q'. They are those of the principal
/// directions, as `principal_axes` has them; of sparse vectors with more features than samples Q is
/// never formed: Z comes from the matrix of inner products, which holds directions whose deviation
/// is at least 1e-6 of the largest. Where that is not all of the directions that were asked for,
/// the coordinates are those of `span_coordinates`, of dense vectors.
class VectorSpan {
 public:
  VectorSpan(const ScaledVectors& X, int threads,
             SpanDirections directions = SpanDirections::kLarge);

  [[nodiscard]] const Vector& mean() const { return axes_.mean; }
  [[nodiscard]] const Matrix& Z() const { return axes_.Z; }
  [[nodiscard]] const Vector& spread() const { return axes_.spread; }
  /// Every feature of the vectors is 1 mean' + Z Q' to 1e-10 of its length.
  [[nodiscard]] bool whole() const { return whole_; }
  /// L Q': what a map of coordinates is as a map of features.
  [[nodiscard]] Matrix over_features(const MatrixRef& L) const;

 private:
  /// Q = (table - 1 shift')' weights.
  struct Factor {
    SparseBlock table;
    Vector shift;
    Matrix weights;
  };
  void factorise(const ScaledVectors& X, SpanDirections directions, int threads);

  PrincipalAxes axes_;  // without Q where there is a factor
  std::optional<Factor> factor_;
  bool whole_ = true;
};

}  // namespace kith
