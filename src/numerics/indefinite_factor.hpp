// SPDX-License-Identifier: Apache-2.0
// P'AP = L D L' of a symmetric indefinite A, by LAPACK's bounded Bunch-Kaufman pivoting: L is unit
// lower triangular, D has blocks of 1 x 1 and 2 x 2. A third of the time of a product of matrices.
#pragma once

#include <vector>

#include "kith/core/types.hpp"

namespace kith {

class IndefiniteFactor {
 public:
  /// Only the lower triangle of A is read; its memory becomes that of L.
  explicit IndefiniteFactor(Matrix A);

  [[nodiscard]] Index size() const { return L_.rows(); }
  /// Eigenvalues of A below 0, by Sylvester's law as many as D has.
  [[nodiscard]] Index negative_count() const { return negative_; }
  /// X becomes A^-1 X. Zeros of D count as the least number that rounding leaves.
  void solve(Eigen::Ref<Matrix> X) const;
  /// X becomes |A|_D^-1 X with |A|_D = P L |D| L' P', which is positive definite and has the
  /// inverse of A on its eigenvectors as nearly as L is orthogonal. Zeros of D count as in
  /// solve().
  void solve_absolute(Eigen::Ref<Matrix> X) const;
  /// n x negative_count: a basis of a space on which x'Ax < 0.
  [[nodiscard]] Matrix negative_directions() const;

 private:
  /// Row order that P' gives: row i of P'X is row order_[i] of X.
  void permute(Eigen::Ref<Matrix> X) const;
  void permute_back(Eigen::Ref<Matrix> X) const;
  /// The same as solve() with `divisor` of each eigenvalue of D in its place.
  void solve_by(Eigen::Ref<Matrix>& X, double (*divisor)(double value, double least)) const;

  /// A block of D with its eigenvalues and, where it is 2 x 2, the rotation (c, s) to them.
  struct Pivot {
    Index at;
    bool pair;
    double low;
    double high;
    double c;
    double s;
  };

  Matrix L_;  ///< below the diagonal
  std::vector<Pivot> pivots_;
  std::vector<Index> order_;
  Index negative_ = 0;
  double least_ = 0;  ///< |eigenvalues of D| below count as this
};

}  // namespace kith
