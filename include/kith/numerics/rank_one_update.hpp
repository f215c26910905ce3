// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kith/core/types.hpp"

namespace kith {

/// An eigendecomposition of diag(lambda) + z z'. Pair i belongs to lambda_i: values stand in the
/// order of lambda, which need not be their own order where z has zeros.
struct RankOneDecomposition {
  Vector value;    ///< new eigenvalues
  Vector rise;     ///< value_i - lambda_i >= 0, to nearly full *relative* accuracy
  Matrix W;        ///< orthogonal, eigenvectors in columns
  Vector product;  ///< W' z
};

/// diag(lambda) + z z' for one lambda and many z: eigenvalues from the secular equation in O(n^2)
/// each time, eigenvectors as a Cauchy matrix whose z is recomputed from the roots (Gu and
/// Eisenstat 1994, by Loewner's formula), so that they are orthogonal to working accuracy however
/// close the roots are.
///
/// Nothing is deflated at the level of eps |lambda|, as a plain eigensolver would: the small
/// differences between old and new eigenvalues are often what is wanted. Only eigenvalues within a
/// few eps of max|lambda| of each other are made equal, once, for old and new matrix alike.
class RankOneUpdater {
 public:
  /// lambda ascending.
  explicit RankOneUpdater(Vector lambda);

  /// With close values made equal.
  [[nodiscard]] const Vector& lambda() const { return lambda_; }
  /// Throws Error(kInvalidArgument) if z has another size or is not finite.
  [[nodiscard]] RankOneDecomposition update(const VectorRef& z) const;

 private:
  Vector lambda_;
  std::vector<Index> cluster_begin_;  // first index of each set of equal values, and n at the end
};

}  // namespace kith
