// SPDX-License-Identifier: Apache-2.0
#include "kith/vectors/feature_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "kith/core/error.hpp"
#include "kith/core/parallel.hpp"

namespace kith {
namespace {

/// A deviation that is this small beside the values is rounding: the feature is constant.
constexpr double kConstant = 1e-13;

/// A squared distance this small beside the squared norms it is the difference of has lost too many
/// digits: it is summed anew from the differences.
constexpr double kCancelled = 1e-6;

Matrix squared_distances(const MatrixRef& X, const MatrixRef& Z, int threads) {
  const Matrix x = X.transpose();  // samples side by side in memory
  const Matrix z = Z.transpose();
  const Vector x_norms = x.colwise().squaredNorm().transpose();
  const Vector z_norms = z.colwise().squaredNorm().transpose();
  Matrix D(x.cols(), z.cols());
  D.noalias() = x.transpose() * z;
  parallel_for(static_cast<std::size_t>(z.cols()), threads, [&](std::size_t column) {
    const auto j = static_cast<Index>(column);
    for (Index i = 0; i < x.cols(); ++i) {
      const double norms = x_norms(i) + z_norms(j);
      const double distance = norms - 2 * D(i, j);
      D(i, j) = distance > kCancelled * norms ? distance : (x.col(i) - z.col(j)).squaredNorm();
    }
  });
  return D;
}

/// The columns that have an entry, ascending: the first where none has, since a scale is of one
/// feature at least.
std::vector<Index> features_of(const SparseBlock& table) {
  std::vector<std::int32_t> columns = table.columns;
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  if (columns.empty() && table.cols > 0) columns.push_back(0);
  return {columns.begin(), columns.end()};
}

/// The columns at `kept`, which ascend.
SparseBlock columns_at(const SparseBlock& table, const std::vector<Index>& kept) {
  SparseBlock chosen;
  chosen.cols = std::ssize(kept);
  chosen.absent = table.absent;
  for (Index i = 0; i < table.rows(); ++i) {
    auto place = kept.begin();
    const auto end = static_cast<std::size_t>(table.starts[static_cast<std::size_t>(i) + 1]);
    for (auto e = static_cast<std::size_t>(table.starts[static_cast<std::size_t>(i)]); e < end;
         ++e) {
      place = std::lower_bound(place, kept.end(), table.columns[e]);
      if (place == kept.end()) break;
      if (*place != table.columns[e]) continue;
      chosen.columns.push_back(static_cast<std::int32_t>(place - kept.begin()));
      chosen.values.push_back(table.values[e]);
    }
    chosen.starts.push_back(chosen.entries());
  }
  return chosen;
}

/// Of each vector, the sum of squares over features that are not kept.
Vector other_squares(const FeatureScale& scale, const Block& vectors) {
  Vector squares = Vector::Zero(rows(vectors));
  const auto add = [&](Index i, Index feature, double value) {
    if (std::binary_search(scale.kept.begin(), scale.kept.end(), feature)) return;
    squares(i) += (value * scale.other_factor) * (value * scale.other_factor);
  };
  for (Index i = 0; i < squares.size(); ++i) {
    if (const auto* dense = std::get_if<DenseBlock>(&vectors)) {
      for (Index j = 0; j < dense->cols(); ++j) {
        if ((*dense)(i, j) != 0) add(i, j, (*dense)(i, j));
      }
      continue;
    }
    const auto& sparse = std::get<SparseBlock>(vectors);
    const auto end = static_cast<std::size_t>(sparse.starts[static_cast<std::size_t>(i) + 1]);
    for (auto e = static_cast<std::size_t>(sparse.starts[static_cast<std::size_t>(i)]); e < end;
         ++e) {
      add(i, sparse.columns[e], sparse.values[e]);
    }
  }
  return squares;
}

/// Offset and factor of feature j, whose numbers in `n` samples are `values` and else 0. They are
/// found in units of the power of two next to the largest number, where no square vanishes or
/// overflows; such a unit rounds nothing.
void set_scale(std::span<const double> values, Index n, FeatureScaling scaling, Index j,
               FeatureScale& scale) {
  if (values.empty()) {
    scale.factor(j) = 0;
    return;
  }
  Vector column = Eigen::Map<const Vector>(values.data(), std::ssize(values));
  int unit = 0;
  (void)std::frexp(column.cwiseAbs().maxCoeff(), &unit);
  for (double& value : column) value = std::ldexp(value, -unit);
  const Index zeros = n - column.size();
  double offset = 0;
  double width = 0;
  if (scaling == FeatureScaling::kRange) {
    offset = column.minCoeff();
    double largest = column.maxCoeff();
    if (zeros > 0) {
      offset = std::min(0.0, offset);
      largest = std::max(0.0, largest);
    }
    width = largest - offset;
  } else {
    offset = column.sum() / static_cast<double>(n);
    const double squares =
        (column.array() - offset).square().sum() + static_cast<double>(zeros) * offset * offset;
    width = std::sqrt(squares / static_cast<double>(n));
  }
  const bool constant = !(width > kConstant * column.cwiseAbs().maxCoeff());
  scale.offset(j) = std::ldexp(offset, unit);
  scale.factor(j) = constant ? 0 : std::ldexp(1 / width, -unit);
  if (constant || std::isnormal(scale.factor(j))) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("the features are so {} that their spread leaves the range of doubles; "
                          "{} them by a constant",
                          unit > 0 ? "large" : "small", unit > 0 ? "divide" : "multiply"));
}

/// Features that keep their unit must have squares.
void refuse_underflow(const Block& vectors) {
  constexpr double kSmallestSize = 1e-146;  // its square is the smallest normal number over 2^-52
  double size = 0;
  if (const auto* sparse = std::get_if<SparseBlock>(&vectors)) {
    for (const double value : sparse->values) size = std::max(size, std::abs(value));
  } else if (const auto& dense = std::get<DenseBlock>(vectors).values(); dense.size() > 0) {
    size = dense.cwiseAbs().maxCoeff();
  }
  if (size == 0 || size >= kSmallestSize) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("the features are so small that their squares vanish: the largest is {}, "
                          "and it must be {} at least; multiply them by a constant, or scale them",
                          size, kSmallestSize));
}

}  // namespace

FeatureScale learn_scale(const Block& vectors, FeatureScaling scaling) {
  const auto* sparse = std::get_if<SparseBlock>(&vectors);
  if (sparse == nullptr) return learn_full_scale(vectors, scaling);
  std::vector<Index> kept = features_of(*sparse);
  if (std::ssize(kept) == sparse->cols) return learn_full_scale(vectors, scaling);
  FeatureScale scale = learn_full_scale(columns_at(*sparse, kept), scaling);
  scale.width = sparse->cols;
  scale.kept = std::move(kept);
  return scale;
}

FeatureScale learn_full_scale(const Block& vectors, FeatureScaling scaling) {
  const Index features = cols(vectors);
  check_dense_fits(2, features);
  FeatureScale scale{.offset = Vector::Zero(features),
                     .factor = Vector::Ones(features),
                     .width = features,
                     .kept = {},
                     .other_factor = scaling == FeatureScaling::kNone ? 1.0 : 0.0};
  if (scaling == FeatureScaling::kNone) refuse_underflow(vectors);
  if (scaling == FeatureScaling::kNone || rows(vectors) == 0) return scale;
  const Index n = rows(vectors);
  if (const auto* sparse = std::get_if<SparseBlock>(&vectors)) {
    const SparseBlock by_feature = transposed(*sparse);
    for (Index j = 0; j < features; ++j) {
      const auto begin = static_cast<std::size_t>(by_feature.starts[static_cast<std::size_t>(j)]);
      const auto end = static_cast<std::size_t>(by_feature.starts[static_cast<std::size_t>(j) + 1]);
      set_scale(std::span(by_feature.values).subspan(begin, end - begin), n, scaling, j, scale);
    }
  } else {
    for (Index j = 0; j < features; ++j) {
      const Vector column = std::get<DenseBlock>(vectors).values().col(j);
      set_scale(std::span(column.data(), static_cast<std::size_t>(n)), n, scaling, j, scale);
    }
  }
  return scale;
}

Block kept_features(const FeatureScale& scale, const Block& vectors) {
  if (cols(vectors) != scale.width) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("vectors of {} features; the model was trained on {}", cols(vectors),
                            scale.width));
  }
  if (scale.kept.empty()) return vectors;
  if (const auto* sparse = std::get_if<SparseBlock>(&vectors)) {
    return columns_at(*sparse, scale.kept);
  }
  return DenseBlock(RowMatrix(std::get<DenseBlock>(vectors).values()(Eigen::all, scale.kept)));
}

Matrix scaled(const FeatureScale& scale, const Block& vectors) {
  Matrix X = to_dense(kept_features(scale, vectors)).values();
  X.rowwise() -= scale.offset.transpose();
  X.array().rowwise() *= scale.factor.transpose().array();
  return X;
}

template <class A>
void archive(Archived<A, FeatureScale>& scale, A& archiver) {
  archiver("feature_offset", scale.offset);
  archiver("feature_factor", scale.factor);
  archiver("feature_width", scale.width);
  archiver("features_kept", scale.kept);
  archiver("feature_other_factor", scale.other_factor);
  if (scale.offset.size() != scale.factor.size()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} offsets and {} factors of features; there must be one of each",
                            scale.offset.size(), scale.factor.size()));
  }
  const bool ascending =
      std::ranges::adjacent_find(scale.kept, std::ranges::greater_equal{}) == scale.kept.end();
  const bool inside = scale.kept.empty()
                          ? scale.width == scale.size()
                          : std::ssize(scale.kept) == scale.size() && ascending &&
                                scale.kept.front() >= 0 && scale.kept.back() < scale.width;
  if (inside) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("{} of {} features are kept, and {} are scaled; those that are kept "
                          "ascend, one for each scale",
                          scale.kept.size(), scale.width, scale.size()));
}
template void archive(const FeatureScale&, SavingArchive&);
template void archive(FeatureScale&, LoadingArchive&);

Matrix kernel_table(VectorKernel kernel, const MatrixRef& X, const MatrixRef& Z, int threads) {
  if (kernel == VectorKernel::kRbf) return squared_distances(X, Z, threads);
  return X * Z.transpose();
}

Matrix kernel_table(VectorKernel kernel, const FeatureScale& scale, const Block& vectors,
                    const MatrixRef& Z, int threads) {
  Matrix table = kernel_table(kernel, scaled(scale, vectors), Z, threads);
  if (kernel == VectorKernel::kRbf && !scale.kept.empty() && scale.other_factor != 0) {
    table.colwise() += other_squares(scale, vectors);
  }
  return table;
}

Matrix kernel_of_table(const KernelRule& rule, Matrix table) {
  switch (rule.kernel) {
    case VectorKernel::kLinear:
      break;
    case VectorKernel::kRbf:
      table = (-rule.gamma * table.array()).exp();
      break;
    case VectorKernel::kPolynomial:
      table = (1 + table.array()).pow(static_cast<double>(rule.degree));
      break;
  }
  if (!table.allFinite()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        rule.kernel == VectorKernel::kPolynomial
            ? "the features are so large that their kernel overflows; scale them, or take a "
              "smaller degree where it can be chosen"
            : "the features are so large that their kernel overflows; scale them");
  }
  return table;
}

}  // namespace kith
