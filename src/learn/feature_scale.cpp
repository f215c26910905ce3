// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/feature_scale.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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

/// Offset and factor of feature j, whose numbers in `n` samples are `values` and else 0.
void set_scale(std::span<const double> values, Index n, FeatureScaling scaling, Index j,
               FeatureScale& scale) {
  if (values.empty()) {
    scale.factor(j) = 0;
    return;
  }
  const Eigen::Map<const Vector> column(values.data(), std::ssize(values));
  const Index zeros = n - column.size();
  double width = 0;
  if (scaling == FeatureScaling::kRange) {
    scale.offset(j) = column.minCoeff();
    double largest = column.maxCoeff();
    if (zeros > 0) {
      scale.offset(j) = std::min(0.0, scale.offset(j));
      largest = std::max(0.0, largest);
    }
    width = largest - scale.offset(j);
  } else {
    const double mean = column.sum() / static_cast<double>(n);
    const double squares =
        (column.array() - mean).square().sum() + static_cast<double>(zeros) * mean * mean;
    scale.offset(j) = mean;
    width = std::sqrt(squares / static_cast<double>(n));
  }
  const bool constant = !(width > kConstant * column.cwiseAbs().maxCoeff());
  scale.factor(j) = constant ? 0 : 1 / width;
}

}  // namespace

FeatureScale learn_scale(const Block& vectors, FeatureScaling scaling) {
  const Index features = cols(vectors);
  check_dense_fits(2, features);
  FeatureScale scale{.offset = Vector::Zero(features), .factor = Vector::Ones(features)};
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
  if (!scale.offset.allFinite() || !scale.factor.allFinite()) {
    throw Error(ErrorCode::kInvalidArgument,
                "the features are so large that their spread overflows; divide them by a constant");
  }
  return scale;
}

void check_width(const FeatureScale& scale, const Block& vectors) {
  if (cols(vectors) == scale.offset.size()) return;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("vectors of {} features; the model was trained on {}", cols(vectors),
                          scale.offset.size()));
}

Matrix scaled(const FeatureScale& scale, const Block& vectors) {
  check_width(scale, vectors);
  Matrix X = to_dense(vectors).values();
  X.rowwise() -= scale.offset.transpose();
  X.array().rowwise() *= scale.factor.transpose().array();
  return X;
}

void archive(FeatureScale& scale, Archive& archiver) {
  archiver("feature_offset", scale.offset);
  archiver("feature_factor", scale.factor);
  if (scale.offset.size() != scale.factor.size()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} offsets and {} factors of features; there must be one of each",
                            scale.offset.size(), scale.factor.size()));
  }
}

std::vector<GridAxis> machine_axes(const KernelRule& rule) {
  std::vector<GridAxis> axes = {
      {.field = "cost", .values = powers_of_ten(-3, 3), .simpler = Simpler::kSmaller}};
  if (rule.kernel == VectorKernel::kRbf) {
    axes.push_back(
        {.field = "gamma", .values = powers_of_ten(-3, 3), .simpler = Simpler::kSmaller});
  }
  return axes;
}

Matrix kernel_table(VectorKernel kernel, const MatrixRef& X, const MatrixRef& Z, int threads) {
  if (kernel == VectorKernel::kRbf) return squared_distances(X, Z, threads);
  return X * Z.transpose();
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
    throw Error(ErrorCode::kInvalidArgument,
                "the features are so large that their kernel overflows; scale them");
  }
  return table;
}

}  // namespace kith
