// SPDX-License-Identifier: Apache-2.0
// Notation: S the sparse table, s the shift, X = S - 1 s'. Products with X are products with S and
// a correction of rank one.
//
// A feature that is far from 0 beside its deviation would leave few digits to that correction. Such
// a feature is there in most samples (where a share p is 0, the mean is at most sqrt((1 - p) / p)
// deviations), so that it costs little to subtract its mean where it stands, zeros included.
#include "kith/vectors/scaled_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kith/core/parallel.hpp"
#include "kith/numerics/symmetric_eigen.hpp"
#include "numerics/distances.hpp"

namespace kith {
namespace {

constexpr double kFarFromZero = 2;            // deviations
constexpr double kSmallestVariance = 1e-12;   // of the largest, that a Gram matrix holds
constexpr double kExactVariance = 1e-8;       // of the largest, that it holds to eight digits
constexpr double kWhole = 1e-10;              // of a feature's length: less is rounding
constexpr double kRounding = 1e-15;           // of its mean: what centring may leave of it
constexpr Index kDenseNumbers = 250'000'000;  // two gigabytes
constexpr Index kAtOnce = 32;  // directions whose products with all features are held

/// A table whose row i is (x_i - offset) factor + shift, where `shift` is 0 at features that are
/// `far`.
SparseBlock shifted(const SparseBlock& table, const Vector& offset, const Vector& factor,
                    const std::vector<Index>& far) {
  SparseBlock out;
  out.cols = table.cols;
  out.absent = Absent::kZero;
  for (Index i = 0; i < table.rows(); ++i) {
    const SparseRow row = table.row(i);
    std::size_t next = 0;  // of the features that are far and not yet written
    const auto write_far = [&](Index until) {
      for (; next < far.size() && far[next] < until; ++next) {
        out.add(far[next], -offset(far[next]) * factor(far[next]));
      }
    };
    for (std::size_t e = 0; e < row.size(); ++e) {
      const Index j = row.columns[e];
      write_far(j);
      const bool is_far = next < far.size() && far[next] == j;
      if (is_far) ++next;
      const double value = (row.values[e] - (is_far ? offset(j) : 0)) * factor(j);
      if (value != 0) out.add(j, value);
    }
    write_far(table.cols);
    out.end_row();
  }
  return out;
}

/// S B.
Matrix product(const SparseBlock& S, const MatrixRef& B) {
  Matrix P = Matrix::Zero(S.rows(), B.cols());
  for (Index k = 0; k < B.cols(); ++k) {
    for (Index i = 0; i < S.rows(); ++i) {
      const SparseRow row = S.row(i);
      for (std::size_t e = 0; e < row.size(); ++e) P(i, k) += row.values[e] * B(row.columns[e], k);
    }
  }
  return P;
}

/// S'C.
Matrix transposed_product(const SparseBlock& S, const MatrixRef& C) {
  Matrix P = Matrix::Zero(S.cols, C.cols());
  for (Index k = 0; k < C.cols(); ++k) {
    for (Index i = 0; i < S.rows(); ++i) {
      const SparseRow row = S.row(i);
      for (std::size_t e = 0; e < row.size(); ++e) P(row.columns[e], k) += row.values[e] * C(i, k);
    }
  }
  return P;
}

/// S S': each entry of a row meets the samples that have its feature.
Matrix gram(const SparseBlock& S, int threads) {
  const SparseBlock by_feature = transposed(S);
  Matrix G = Matrix::Zero(S.rows(), S.rows());
  parallel_for(static_cast<std::size_t>(S.rows()), threads, [&](std::size_t column) {
    const auto j = static_cast<Index>(column);
    const SparseRow row = S.row(j);
    for (std::size_t e = 0; e < row.size(); ++e) {
      const SparseRow samples = by_feature.row(row.columns[e]);
      for (std::size_t t = 0; t < samples.size(); ++t) {
        G(samples.columns[t], j) += row.values[e] * samples.values[t];
      }
    }
  });
  return G;
}

/// (S - 1 s')(S - 1 s')' from S S'.
Matrix corrected(Matrix G, const SparseBlock& S, const Vector& s) {
  const Vector Ss = product(S, s);
  const double ss = s.squaredNorm();
  for (Index j = 0; j < G.cols(); ++j) {
    for (Index i = 0; i < G.rows(); ++i) G(i, j) += ss - (Ss(i) + Ss(j));
  }
  return G;
}

/// No feature of the centred S - 1 s' has a part in the directions W beside rounding.
bool are_null(const MatrixRef& W, const SparseBlock& S, const Vector& s) {
  Vector squares = static_cast<double>(S.rows()) * s.cwiseAbs2();
  for (std::size_t e = 0; e < S.values.size(); ++e) {
    const Index j = S.columns[e];
    squares(j) += S.values[e] * (S.values[e] - 2 * s(j));
  }
  Vector parts = Vector::Zero(S.cols);
  for (Index begin = 0; begin < W.cols(); begin += kAtOnce) {
    const auto some = W.middleCols(begin, std::min(kAtOnce, W.cols() - begin));
    Matrix P = transposed_product(S, some);
    P.noalias() -= s * some.colwise().sum();
    parts += P.rowwise().squaredNorm();
  }
  return (parts.array() <= kWhole * kWhole * squares.array()).all();
}

/// Each feature of X is what the axes say, beside rounding.
bool are_whole(const Matrix& X, const PrincipalAxes& axes) {
  Matrix rest = X.rowwise() - axes.mean.transpose();
  const Vector lengths = rest.colwise().norm();
  rest.noalias() -= axes.Z * axes.Q.transpose();
  const Vector left = rest.colwise().norm();
  const Vector rounding =
      kRounding * std::sqrt(static_cast<double>(X.rows())) * axes.mean.cwiseAbs();
  return (left.array() <= kWhole * lengths.array() || lengths.array() <= rounding.array()).all();
}

Matrix squared_distances(const SparseBlock& S, int threads) {
  Matrix D = gram(S, threads);
  const Vector squares = D.diagonal();
  make_squared_distances(D, squares, squares, threads, [&](Index i, Index j) {
    double sum = 0;
    merge_rows(S.row(i), S.row(j), 0, [&](Index, double x, double z) { sum += (x - z) * (x - z); });
    return sum;
  });
  return D;
}

}  // namespace

ScaledVectors::ScaledVectors(const FeatureScale& scale, const Block& vectors)
    : width_(scale.width) {
  if (!is_sparse(vectors)) {
    rows_ = scaled(scale, vectors);
    return;
  }
  const auto table = std::get<SparseBlock>(kept_features(scale, vectors));
  shift_ = scale.offset.cwiseProduct(scale.factor);
  std::vector<Index> far;
  for (Index j = 0; j < shift_.size(); ++j) {
    if (std::abs(shift_(j)) > kFarFromZero) far.push_back(j);
  }
  rows_ = shifted(table, scale.offset, scale.factor, far);
  for (const Index j : far) shift_(j) = 0;
}

Index ScaledVectors::rows() const {
  return std::visit([](const auto& held) { return held.rows(); }, rows_);
}

Index ScaledVectors::cols() const {
  return sparse() != nullptr ? sparse()->cols : std::get<Matrix>(rows_).cols();
}

Matrix ScaledVectors::dense() const {
  if (sparse() == nullptr) return std::get<Matrix>(rows_);
  Matrix X = to_dense(*sparse()).values();
  X.rowwise() -= shift_.transpose();
  return X;
}

Matrix ScaledVectors::times(const MatrixRef& B) const {
  if (sparse() == nullptr) return std::get<Matrix>(rows_) * B;
  Matrix P = product(*sparse(), B);
  P.rowwise() -= Eigen::RowVectorXd(shift_.transpose() * B);
  return P;
}

Matrix ScaledVectors::transposed_times(const MatrixRef& C) const {
  if (sparse() == nullptr) return std::get<Matrix>(rows_).transpose() * C;
  Matrix P = transposed_product(*sparse(), C);
  P.noalias() -= shift_ * C.colwise().sum();
  return P;
}

Matrix kernel_table(VectorKernel kernel, const ScaledVectors& X, int threads) {
  if (X.sparse() == nullptr) {
    const Matrix rows = X.dense();
    return kernel_table(kernel, rows, rows, threads);
  }
  if (kernel == VectorKernel::kRbf) return squared_distances(*X.sparse(), threads);
  return corrected(gram(*X.sparse(), threads), *X.sparse(), X.shift());
}

VectorSpan::VectorSpan(const ScaledVectors& X, int threads, SpanDirections directions) {
  const bool wide = X.width() > X.rows();
  if (X.sparse() != nullptr && wide) {
    factorise(X, directions, threads);
  } else {
    const Matrix dense = X.dense();
    axes_ = principal_axes(dense);
    whole_ = axes_.Z.cols() >= X.rows() - 1 || are_whole(dense, axes_);
  }
  if (directions == SpanDirections::kAll && !whole_ && X.rows() * X.cols() <= kDenseNumbers) {
    const Matrix dense = X.dense();
    SpanCoordinates span = span_coordinates(dense);
    factor_.reset();
    axes_ = {
        .mean = std::move(span.mean), .Q = std::move(span.Q), .Z = std::move(span.Z), .spread = {}};
    axes_.spread = axes_.Z.colwise().squaredNorm().transpose();
    whole_ = are_whole(dense, axes_);
  }
  if (axes_.Z.cols() == 0) {  // the vectors are all alike: one coordinate that says so
    factor_.reset();
    axes_.Z = Matrix::Zero(X.rows(), 1);
    axes_.Q = Matrix::Zero(X.cols(), 1);
    axes_.spread = Vector::Zero(1);
  }
  if (!wide) return;
  for (Index k = 0; k < axes_.Z.cols(); ++k) {  // one sign, whichever way they were found
    Index largest = 0;
    axes_.Z.col(k).cwiseAbs().maxCoeff(&largest);
    if (axes_.Z(largest, k) >= 0) continue;
    axes_.Z.col(k) *= -1;
    (factor_ ? factor_->weights : axes_.Q).col(k) *= -1;
  }
}

void VectorSpan::factorise(const ScaledVectors& X, SpanDirections directions, int threads) {
  const SparseBlock& S = *X.sparse();
  const FeatureScale own = learn_full_scale(S, FeatureScaling::kStandard);
  std::vector<Index> far;
  for (Index j = 0; j < own.offset.size(); ++j) {
    const bool constant = !(own.factor(j) > 0);
    if (constant ? own.offset(j) != 0 : std::abs(own.offset(j)) * own.factor(j) > kFarFromZero) {
      far.push_back(j);
    }
  }
  Factor& factor = factor_.emplace();
  factor.table = shifted(S, own.offset, Vector::Ones(S.cols), far);
  factor.shift = own.offset;
  for (const Index j : far) factor.shift(j) = 0;
  axes_.mean = own.offset - X.shift();

  const SymmetricEigen eigen =
      symmetric_eigen(corrected(gram(factor.table, threads), factor.table, factor.shift));
  const Index n = eigen.lambda.size();
  const double least = directions == SpanDirections::kAll ? kExactVariance : kSmallestVariance;
  Index kept = 0;
  for (const double variance : eigen.lambda) kept += variance > least * eigen.lambda(n - 1);
  whole_ = kept >= n - 1 || are_null(eigen.U.leftCols(n - kept), factor.table, factor.shift);
  axes_.spread = eigen.lambda.tail(kept).reverse();
  const Matrix U = eigen.U.rightCols(kept).rowwise().reverse();
  const Vector lengths = axes_.spread.cwiseSqrt();
  axes_.Z = U * lengths.asDiagonal();
  factor.weights = U * lengths.cwiseInverse().asDiagonal();
}

Matrix VectorSpan::over_features(const MatrixRef& L) const {
  if (!factor_) return L * axes_.Q.transpose();
  const Matrix C = factor_->weights * L.transpose();
  Matrix P = transposed_product(factor_->table, C);
  P.noalias() -= factor_->shift * C.colwise().sum();
  return P.transpose();
}

}  // namespace kith
