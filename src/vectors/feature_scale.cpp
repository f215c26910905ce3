// SPDX-License-Identifier: Apache-2.0
#include "kith/vectors/feature_scale.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

#include "core/errors.hpp"
#include "numerics/distances.hpp"
#include "numerics/power.hpp"

namespace kith {
namespace {

/// A deviation that is this small beside the values is rounding: the feature is constant.
constexpr double kConstant = 1e-13;

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
  SparseBlock chosen = table.without_rows();
  chosen.cols = std::ssize(kept);
  for (Index i = 0; i < table.rows(); ++i) {
    const SparseRow row = table.row(i);
    auto place = kept.begin();
    for (std::size_t e = 0; e < row.size(); ++e) {
      place = std::lower_bound(place, kept.end(), row.columns[e]);
      if (place == kept.end()) break;
      if (*place == row.columns[e]) chosen.add(place - kept.begin(), row.values[e]);
    }
    chosen.end_row();
  }
  return chosen;
}

/// Of each vector, the sum of squares over features that are not kept.
Vector other_squares(const FeatureScale& scale, const Block& vectors) {
  const SparseBlock sparse = to_sparse(vectors);
  Vector squares = Vector::Zero(sparse.rows());
  for (Index i = 0; i < squares.size(); ++i) {
    const SparseRow row = sparse.row(i);
    for (std::size_t e = 0; e < row.size(); ++e) {
      if (std::ranges::binary_search(scale.kept, Index{row.columns[e]})) continue;
      squares(i) += (row.values[e] * scale.other_factor) * (row.values[e] * scale.other_factor);
    }
  }
  return squares;
}

/// Offset and factor of feature j, whose numbers in `n` samples are `values` and else 0.
void set_scale(std::span<const double> values, Index n, FeatureScaling scaling, Index j,
               FeatureScale& scale) {
  if (values.empty()) {
    scale.factor(j) = 0;
    return;
  }
  const Eigen::Map<const Vector> column(values.data(), std::ssize(values));
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
  scale.offset(j) = offset;
  scale.factor(j) = constant ? 0 : 1 / width;
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
  if (scaling == FeatureScaling::kNone || rows(vectors) == 0) return scale;
  const Index n = rows(vectors);
  if (const auto* sparse = std::get_if<SparseBlock>(&vectors)) {
    const SparseBlock by_feature = transposed(*sparse);
    for (Index j = 0; j < features; ++j) {
      set_scale(by_feature.row(j).values, n, scaling, j, scale);
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
    throw invalid("vectors of {} features; the model was trained on {}", cols(vectors),
                  scale.width);
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
    throw broken("{} offsets and {} factors of features; there must be one of each",
                 scale.offset.size(), scale.factor.size());
  }
  const bool ascending =
      std::ranges::adjacent_find(scale.kept, std::ranges::greater_equal{}) == scale.kept.end();
  const bool inside = scale.kept.empty()
                          ? scale.width == scale.size()
                          : std::ssize(scale.kept) == scale.size() && ascending &&
                                scale.kept.front() >= 0 && scale.kept.back() < scale.width;
  if (inside) return;
  throw broken(
      "{} of {} features are kept, and {} are scaled; those that are kept "
      "ascend, one for each scale",
      scale.kept.size(), scale.width, scale.size());
}
template void archive(const FeatureScale&, SavingArchive&);
template void archive(FeatureScale&, LoadingArchive&);

std::pair<double, Index> kernel_numbers(const KernelRule& rule) {
  return {rule.kernel == VectorKernel::kRbf ? rule.gamma : 0,
          rule.kernel == VectorKernel::kPolynomial ? rule.degree : 0};
}

void describe_kernel(VectorKernel& kernel, FieldVisitor& field) {
  field("kernel", kernel, "how two vectors are compared");
}

void describe_kernel_numbers(KernelRule& rule, FieldVisitor& field) {
  constexpr double kMostDegree = 100;  // with more, products of 1,000 leave the range of doubles
  field("gamma", rule.gamma, above(0.0), "of kernel rbf: exp(-gamma |x - z|^2)");
  field("degree", rule.degree, between(1, kMostDegree), "of kernel polynomial: (1 + x'z)^degree");
}

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
      table = table.unaryExpr([&](double x) { return polynomial(x, 1, 1, rule.degree); });
      break;
  }
  if (!std::isfinite(table.squaredNorm())) {  // its columns are multiplied with each other
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
