// SPDX-License-Identifier: Apache-2.0
// ||a - b||^2 = |a|^2 + |b|^2 - 2 a'b with one matrix product. The mean training row is subtracted
// first, which changes no distance and makes |a|, and with it the cancellation, smaller. Pairs that
// are close for the size of their norms are summed again directly: their kernel value would
// otherwise carry the rounding of |a|^2.
#include "condition/rows_rbf.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "condition/table.hpp"

namespace kith::detail {
namespace {

/// Bound on the rounding of |a|^2 + |b|^2 - 2 a'b, relative to |a|^2 + |b|^2.
constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();
/// Absolute error of a kernel value that is accepted; the largest value is 1.
constexpr double kAccepted = 1e-12;

double squared_norm(std::span<const double> row) {
  double sums[4] = {0, 0, 0, 0};
  std::size_t i = 0;
  for (; i + 4 <= row.size(); i += 4) {
    for (std::size_t k = 0; k < 4; ++k) sums[k] += row[i + k] * row[i + k];
  }
  for (std::size_t k = 0; i + k < row.size(); ++k) sums[k] += row[i + k] * row[i + k];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double squared_distance(const double* a, const double* b, Index width) {
  double sums[4] = {0, 0, 0, 0};
  Index j = 0;
  for (; j + 4 <= width; j += 4) {
    for (Index k = 0; k < 4; ++k) sums[k] += (a[j + k] - b[j + k]) * (a[j + k] - b[j + k]);
  }
  for (Index k = 0; j + k < width; ++k) sums[k] += (a[j + k] - b[j + k]) * (a[j + k] - b[j + k]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

Vector squared_norms(const Eigen::Ref<const RowMatrix>& rows) {
  Vector norms(rows.rows());
  const auto width = static_cast<std::size_t>(rows.cols());
  for (Index i = 0; i < rows.rows(); ++i) {
    norms[i] = squared_norm({rows.data() + i * rows.cols(), width});
  }
  return norms;
}

/// exp(-||a - b||^2) from the norms and the product a'b.
double kernel_value(double norms, double product, const double* a, const double* b, Index width) {
  const double square = norms - 2 * product;
  const double error = kRounding * norms;
  // False also where the norms overflowed.
  const bool is_accurate = error * std::exp(error - square) <= kAccepted;
  return std::exp(-(is_accurate ? std::max(0.0, square) : squared_distance(a, b, width)));
}

}  // namespace

RowMatrix fit_rows_rbf(RowMatrix values, InputRule& rule, int threads) {
  const Index n = values.rows();
  rule.centre = Vector::Zero(n);
  for (Index i = 0; i < n; ++i) rule.centre += values.row(i).transpose();
  rule.centre /= static_cast<double>(n);
  values.rowwise() -= rule.centre.transpose();

  const Vector norms = squared_norms(values);
  RowMatrix kernel = RowMatrix::Zero(n, n);
  kernel.selfadjointView<Eigen::Lower>().rankUpdate(values);
  parallel_chunks(
      static_cast<std::size_t>(n), row_grain(n), threads, [&](std::size_t begin, std::size_t end) {
        for (auto i = static_cast<Index>(begin); i < static_cast<Index>(end); ++i) {
          for (Index j = 0; j < i; ++j) {
            kernel(i, j) = kernel_value(norms[i] + norms[j], kernel(i, j), values.data() + i * n,
                                        values.data() + j * n, n);
          }
          kernel(i, i) = 1;
        }
      });
  kernel.triangularView<Eigen::StrictlyUpper>() = kernel.transpose();
  rule.rows = DenseBlock(std::move(values));
  return kernel;
}

RowMatrix rows_rbf(const InputRule& rule, RowMatrix queries, int threads) {
  const Index n = rule.samples;
  queries.rowwise() -= rule.centre.transpose();
  const Eigen::Map<const RowMatrix> rows = rule.rows.values();
  const Vector norms = squared_norms(queries);
  const Vector row_norms = squared_norms(rows);
  RowMatrix kernel(queries.rows(), n);
  kernel.noalias() = queries * rows.transpose();
  parallel_chunks(static_cast<std::size_t>(kernel.rows()), row_grain(n), threads,
                  [&](std::size_t begin, std::size_t end) {
                    for (auto q = static_cast<Index>(begin); q < static_cast<Index>(end); ++q) {
                      for (Index j = 0; j < n; ++j) {
                        kernel(q, j) = kernel_value(norms[q] + row_norms[j], kernel(q, j),
                                                    queries.data() + q * n, rows.data() + j * n, n);
                      }
                    }
                  });
  return kernel;
}

}  // namespace kith::detail
