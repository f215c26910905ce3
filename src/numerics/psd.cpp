// SPDX-License-Identifier: Apache-2.0
#include "kith/numerics/psd.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/errors.hpp"

namespace kith {
namespace {

/// Columns gathered for one BLAS call: wide enough for its full speed, a small part of n^2.
constexpr Index kBlock = 256;

void check_sizes(Index columns, Index values) {
  if (columns == values) return;
  throw invalid("{} eigenvectors with {} multipliers; there must be one for each", columns, values);
}

std::vector<Index> positions(const Vector& values, bool (*wanted)(double)) {
  std::vector<Index> result;
  for (Index i = 0; i < values.size(); ++i) {
    if (wanted(values[i])) result.push_back(i);
  }
  return result;
}

void copy_lower_to_upper(Matrix& K) {
  // In tiles, so that the strided side stays in the cache.
  constexpr Index kTile = 64;
  const Index n = K.rows();
  for (Index j0 = 0; j0 < n; j0 += kTile) {
    for (Index i0 = j0; i0 < n; i0 += kTile) {
      const Index j1 = std::min(j0 + kTile, n);
      const Index i1 = std::min(i0 + kTile, n);
      for (Index j = j0; j < j1; ++j) {
        for (Index i = std::max(i0, j + 1); i < i1; ++i) K(j, i) = K(i, j);
      }
    }
  }
}

/// Adds sign * sum_i |values_i| u_i u_i' over `chosen` to the lower triangle of K.
void add_scaled(Matrix& K, const MatrixRef& U, const Vector& values, std::span<const Index> chosen,
                double sign) {
  Matrix block;
  for (std::size_t begin = 0; begin < chosen.size(); begin += kBlock) {
    const auto part = chosen.subspan(begin, std::min<std::size_t>(kBlock, chosen.size() - begin));
    block.resize(U.rows(), static_cast<Index>(part.size()));
    for (Index k = 0; k < block.cols(); ++k) {
      const Index i = part[static_cast<std::size_t>(k)];
      block.col(k) = std::sqrt(std::abs(values[i])) * U.col(i);
    }
    K.selfadjointView<Eigen::Lower>().rankUpdate(block, sign);
  }
}

/// Terms that rounding hides in the sum anyway cost as much as the others: leave them out.
Vector without_negligible(const Vector& values, double threshold) {
  return values.unaryExpr([threshold](double v) { return std::abs(v) <= threshold ? 0.0 : v; });
}

Index count_nonzero(const Vector& values) { return (values.array() != 0).count(); }

/// Adds U diag(values) U' * source to target, skipping zeros.
void add_product(Eigen::Ref<Matrix> target, const MatrixRef& U, const Vector& values,
                 const MatrixRef& source) {
  const std::vector<Index> chosen = positions(values, [](double v) { return v != 0; });
  const std::span<const Index> all(chosen);
  Matrix block;
  Matrix coordinates;
  for (std::size_t begin = 0; begin < all.size(); begin += kBlock) {
    const auto part = all.subspan(begin, std::min<std::size_t>(kBlock, all.size() - begin));
    const Index width = static_cast<Index>(part.size());
    block.resize(U.rows(), width);
    for (Index k = 0; k < width; ++k) block.col(k) = U.col(part[static_cast<std::size_t>(k)]);
    coordinates.noalias() = block.transpose() * source;
    for (Index k = 0; k < width; ++k) {
      coordinates.row(k) *= values[part[static_cast<std::size_t>(k)]];
    }
    target.noalias() += block * coordinates;
  }
}

/// What multiplies beside the identity: g itself, or g - 1 with the identity added, whichever has
/// fewer nonzeros.
struct Split {
  bool keep_identity;
  Vector values;
};

Split cheaper_split(const Vector& g) {
  Vector rest = g.array() - 1;
  if (count_nonzero(rest) < count_nonzero(g)) return {true, std::move(rest)};
  return {false, g};
}

}  // namespace

void add_spectrum(Matrix& K, const MatrixRef& U, const Vector& values) {
  add_scaled(K, U, values, positions(values, [](double v) { return v > 0; }), 1);
  add_scaled(K, U, values, positions(values, [](double v) { return v < 0; }), -1);
  copy_lower_to_upper(K);
}

Matrix reconstruct(const MatrixRef& U, const VectorRef& values) {
  check_sizes(U.cols(), values.size());
  Matrix K = Matrix::Zero(U.rows(), U.rows());
  add_spectrum(K, U, values);
  return K;
}

void modify_spectrum(Matrix& S, const SymmetricEigen& eigen, const VectorRef& g) {
  check_sizes(eigen.lambda.size(), g.size());
  assert(S.rows() == eigen.U.rows() && S.cols() == S.rows() && "the decomposition is that of S");
  Vector rebuilt = g.cwiseProduct(eigen.lambda);
  rebuilt = without_negligible(rebuilt, zero_threshold(rebuilt));
  Vector correction = (g.array() - 1) * eigen.lambda.array();
  correction = without_negligible(correction, zero_threshold(eigen.lambda));
  if (count_nonzero(correction) < count_nonzero(rebuilt)) {
    add_spectrum(S, eigen.U, correction);
  } else {
    S.setZero();
    add_spectrum(S, eigen.U, rebuilt);
  }
}

void apply_spectral_to_columns(const MatrixRef& U, const VectorRef& g, Eigen::Ref<Matrix> columns) {
  check_sizes(U.cols(), g.size());
  assert(columns.rows() == U.rows() && "one row per sample");
  const Split split = cheaper_split(g);
  // A block of columns at a time: its copy is all the memory that is needed.
  for (Index begin = 0; begin < columns.cols(); begin += kBlock) {
    Eigen::Ref<Matrix> part = columns.middleCols(begin, std::min(kBlock, columns.cols() - begin));
    const Matrix source = part;
    if (!split.keep_identity) part.setZero();
    add_product(part, U, split.values, source);
  }
}

Vector clip_multipliers(const VectorRef& lambda) {
  const double zero = zero_threshold(lambda);
  return lambda.unaryExpr([zero](double v) { return v > zero ? 1.0 : 0.0; });
}

Vector flip_multipliers(const VectorRef& lambda) {
  const double zero = zero_threshold(lambda);
  return lambda.unaryExpr([zero](double v) { return v > zero ? 1.0 : (v < -zero ? -1.0 : 0.0); });
}

Matrix positive_part(Matrix S) {
  const SymmetricEigen eigen = symmetric_eigen(S);
  modify_spectrum(S, eigen, clip_multipliers(eigen.lambda));
  return S;
}

}  // namespace kith
