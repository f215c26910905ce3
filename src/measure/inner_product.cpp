// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/inner_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "kith/core/error.hpp"
#include "measure/lane_sum.hpp"
#include "measure/pairs.hpp"

namespace kith {
namespace {

using VectorRows = Eigen::Ref<const RowMatrix>;

double product_of(const double* x, const double* z, Index d) {
  return detail::lane_sum(x, z, d, [](double a, double b) { return a * b; });
}

/// Whole powers by squaring: exact for small whole numbers, and the same on every machine.
double power(double base, Index exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) result *= base;
  }
  return result;
}

/// Rows in a unit of their own, a power of two: no square vanishes or overflows, and no digit of a
/// cosine changes.
RowMatrix in_own_units(const VectorRows& X) {
  RowMatrix rows = X;
  for (Index i = 0; i < X.rows(); ++i) {
    double most = 0;
    for (Index k = 0; k < X.cols(); ++k) most = std::max(most, std::abs(X(i, k)));
    if (most == 0) continue;
    const int exponent = -std::ilogb(most);
    for (Index k = 0; k < X.cols(); ++k) rows(i, k) = std::ldexp(X(i, k), exponent);
  }
  return rows;
}

/// Norms of the rows; where they are divided by, none may be 0.
std::vector<double> row_norms(const VectorRows& X, const InnerProductSettings& settings) {
  std::vector<double> norms;
  if (settings.of != InnerProduct::kCosine) return norms;
  for (Index i = 0; i < X.rows(); ++i) {
    const double* x = X.data() + i * X.outerStride();
    norms.push_back(std::sqrt(product_of(x, x, X.cols())));
    if (norms.back() > 0) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("sample {} is all zeros; cosine needs a direction", i + 1));
  }
  return norms;
}

double map_product(double product, double norms, const InnerProductSettings& settings) {
  switch (settings.of) {
    case InnerProduct::kLinear:
      return product;
    case InnerProduct::kPolynomial:
      return power(settings.gamma * product + settings.coef0, settings.degree);
    case InnerProduct::kSigmoid:
      return std::tanh(settings.gamma * product + settings.coef0);
    case InnerProduct::kCosine:
      return product / norms;
  }
  assert(false && "every InnerProduct is computed");
  return 0;
}

/// Row i of X against the rows of Z.
auto product_row(const VectorRows& X, Index i, const std::vector<double>& x_norms,
                 const VectorRows& Z, const std::vector<double>& z_norms,
                 const InnerProductSettings& settings) {
  return [&, x = X.data() + i * X.outerStride(),
          norm = x_norms.empty() ? 0.0 : x_norms[static_cast<std::size_t>(i)]](Index j) {
    const double product = product_of(x, Z.data() + j * Z.outerStride(), X.cols());
    return map_product(product, z_norms.empty() ? 1.0 : norm * z_norms[static_cast<std::size_t>(j)],
                       settings);
  };
}

RowMatrix all_products(const VectorRows& X, const InnerProductSettings& settings,
                       const RunContext& ctx) {
  const std::vector<double> norms = row_norms(X, settings);
  return detail::symmetric_pairs(X.rows(), "inner products", ctx, [&](Index i) {
    return product_row(X, i, norms, X, norms, settings);
  });
}

RowMatrix all_products(const VectorRows& queries, const VectorRows& training,
                       const InnerProductSettings& settings, const RunContext& ctx) {
  const std::vector<double> row_norm = row_norms(queries, settings);
  const std::vector<double> column_norm = row_norms(training, settings);
  return detail::every_pair(queries.rows(), training.rows(), "inner products", ctx, [&](Index i) {
    return product_row(queries, i, row_norm, training, column_norm, settings);
  });
}

}  // namespace

RowMatrix inner_product_matrix(const Eigen::Ref<const RowMatrix>& X,
                               const InnerProductSettings& settings, const RunContext& ctx) {
  if (settings.of != InnerProduct::kCosine) return all_products(X, settings, ctx);
  return all_products(in_own_units(X), settings, ctx);
}

RowMatrix inner_product_matrix(const Eigen::Ref<const RowMatrix>& queries,
                               const Eigen::Ref<const RowMatrix>& training,
                               const InnerProductSettings& settings, const RunContext& ctx) {
  assert(queries.cols() == training.cols() && "the caller has matched the dimensions");
  if (settings.of != InnerProduct::kCosine) return all_products(queries, training, settings, ctx);
  return all_products(in_own_units(queries), in_own_units(training), settings, ctx);
}

}  // namespace kith
