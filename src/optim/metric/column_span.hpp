// SPDX-License-Identifier: Apache-2.0
// The span of the columns of a matrix, each in its own unit: a column counts however short it is
// beside the others, and is left out only where the others give it to kRankTolerance of its length.
#pragma once

#include <Eigen/QR>
#include <algorithm>
#include <vector>

#include "kith/core/types.hpp"

namespace kith::metric {

class ColumnSpan {
 public:
  explicit ColumnSpan(const Matrix& X) : width_(X.cols()) {
    Vector norms(width_);
    for (Index j = 0; j < width_; ++j) norms(j) = X.col(j).stableNorm();
    for (Index j = 0; j < width_; ++j) {
      if (norms(j) > 0) kept_.push_back(j);
    }
    // Longest first: a QR factorisation of rows so sorted keeps the digits of short ones.
    std::stable_sort(kept_.begin(), kept_.end(),
                     [&](Index i, Index j) { return norms(i) > norms(j); });
    norms_ = norms(kept_);
    const auto count = static_cast<Index>(kept_.size());
    U_ = Matrix(X.rows(), 0);
    if (count == 0) return;
    columns_ = X(Eigen::all, kept_);
    const Matrix unit = columns_ * norms_.cwiseInverse().asDiagonal();
    if (count <= X.rows()) {  // columns that are far from dependent need no pivots
      const Eigen::HouseholderQR<Matrix> qr(unit);
      R_ = qr.matrixQR().topRows(count).triangularView<Eigen::Upper>();
      plain_ = R_.diagonal().cwiseAbs().minCoeff() > kIndependent;
      if (plain_) {
        U_ = qr.householderQ() * Matrix::Identity(X.rows(), count);
        return;
      }
    }
    pivoted_.setThreshold(kRankTolerance);
    pivoted_.compute(unit);
    U_ = pivoted_.householderQ() * Matrix::Identity(X.rows(), pivoted_.rank());
  }

  /// An orthonormal basis.
  [[nodiscard]] const Matrix& U() const { return U_; }

  /// v with X v = U c; the shortest where there are several.
  [[nodiscard]] Vector coefficients(Vector c) const {
    Vector v = Vector::Zero(width_);
    const Index rank = U_.cols();
    if (rank == 0) return v;
    if (plain_) {
      c = R_.triangularView<Eigen::Upper>().solve(c);
      v(kept_) = c.cwiseQuotient(norms_);
    } else if (rank == norms_.size()) {
      c = pivoted_.matrixQR().topLeftCorner(rank, rank).triangularView<Eigen::Upper>().solve(c);
      v(kept_) = Vector(pivoted_.colsPermutation() * c).cwiseQuotient(norms_);
    } else {
      v(kept_) = shortest(c);
    }
    return v;
  }

 private:
  /// The shortest v with W v = c, W = U'X, by a factorisation of W'.
  [[nodiscard]] Vector shortest(const Vector& c) const {
    const Index rank = c.size();
    const Matrix across = columns_.transpose() * U_;
    const Eigen::ColPivHouseholderQR<Matrix> qr(across);
    const auto R = qr.matrixQR().topRows(rank).triangularView<Eigen::Upper>();
    Vector v = Vector::Zero(across.rows());
    for (int pass = 0; pass < kRefinements; ++pass) {
      Vector t = Vector::Zero(across.rows());
      t.head(rank) = qr.colsPermutation().transpose() * Vector(c - across.transpose() * v);
      Vector head = t.head(rank);
      R.transpose().solveInPlace(head);
      t.head(rank) = head;
      v += qr.householderQ() * t;
    }
    return v;
  }

  static constexpr double kRankTolerance = 1e-10;  // of a column's length: what the others leave
  static constexpr double kIndependent = 1e-3;     // the same, where no pivots are needed
  static constexpr int kRefinements = 3;

  Index width_;
  std::vector<Index> kept_;
  Vector norms_;
  Matrix columns_, U_, R_;
  bool plain_ = false;
  Eigen::ColPivHouseholderQR<Matrix> pivoted_;  // where the columns depend on each other
};

}  // namespace kith::metric
