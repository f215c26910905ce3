// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/inner_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <span>
#include <vector>

#include "kith/core/error.hpp"
#include "measure/pairs.hpp"
#include "measure/table_row.hpp"

namespace kith {
namespace {

using detail::table_row;

template <class Row>
double product_of(const Row& x, const Row& z) {
  return detail::row_sum(x, z, [](double a, double b) { return a * b; });
}

/// Whole powers by squaring: exact for small whole numbers, and the same on every machine.
double power(double base, Index exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 == 1) result *= base;
  }
  return result;
}

/// In a unit of their own, a power of two: no square vanishes or overflows, and no digit of a
/// cosine changes.
void to_own_unit(std::span<double> row) {
  double most = 0;
  for (const double x : row) most = std::max(most, std::abs(x));
  if (most == 0) return;
  const int exponent = -std::ilogb(most);
  for (double& x : row) x = std::ldexp(x, exponent);
}

RowMatrix in_own_units(const detail::DenseRows& X) {
  RowMatrix rows = X;
  for (Index i = 0; i < rows.rows(); ++i) {
    to_own_unit({rows.data() + i * rows.cols(), static_cast<std::size_t>(rows.cols())});
  }
  return rows;
}

SparseBlock in_own_units(const SparseBlock& X) {
  SparseBlock rows = X;
  for (std::size_t i = 0; i + 1 < rows.starts.size(); ++i) {
    const auto begin = static_cast<std::size_t>(rows.starts[i]);
    const auto end = static_cast<std::size_t>(rows.starts[i + 1]);
    to_own_unit(std::span(rows.values).subspan(begin, end - begin));
  }
  return rows;
}

/// Norms of the rows; where they are divided by, none may be 0.
template <class Table>
std::vector<double> row_norms(const Table& X, const InnerProductSettings& settings) {
  std::vector<double> norms;
  if (settings.of != InnerProduct::kCosine) return norms;
  for (Index i = 0; i < X.rows(); ++i) {
    norms.push_back(std::sqrt(product_of(table_row(X, i), table_row(X, i))));
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
template <class Table>
auto product_row(const Table& X, Index i, const std::vector<double>& x_norms, const Table& Z,
                 const std::vector<double>& z_norms, const InnerProductSettings& settings) {
  return [&, x = table_row(X, i),
          norm = x_norms.empty() ? 0.0 : x_norms[static_cast<std::size_t>(i)]](Index j) {
    const double product = product_of(x, table_row(Z, j));
    return map_product(product, z_norms.empty() ? 1.0 : norm * z_norms[static_cast<std::size_t>(j)],
                       settings);
  };
}

template <class Table>
RowMatrix products_of_all(const Table& X, const InnerProductSettings& settings,
                          const RunContext& ctx) {
  const std::vector<double> norms = row_norms(X, settings);
  return detail::symmetric_pairs(X.rows(), "inner products", ctx, [&](Index i) {
    return product_row(X, i, norms, X, norms, settings);
  });
}

template <class Table>
RowMatrix products_of_queries(const Table& queries, const Table& training,
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
  if (settings.of == InnerProduct::kCosine) {
    return products_of_all(in_own_units(X), settings, ctx);
  }
  return products_of_all(X, settings, ctx);
}

RowMatrix inner_product_matrix(const Eigen::Ref<const RowMatrix>& queries,
                               const Eigen::Ref<const RowMatrix>& training,
                               const InnerProductSettings& settings, const RunContext& ctx) {
  assert(queries.cols() == training.cols() && "the caller has matched the dimensions");
  if (settings.of == InnerProduct::kCosine) {
    return products_of_queries(in_own_units(queries), in_own_units(training), settings, ctx);
  }
  return products_of_queries(queries, training, settings, ctx);
}

RowMatrix inner_product_matrix(const SparseBlock& X, const InnerProductSettings& settings,
                               const RunContext& ctx) {
  if (settings.of == InnerProduct::kCosine) {
    return products_of_all(in_own_units(X), settings, ctx);
  }
  return products_of_all(X, settings, ctx);
}

RowMatrix inner_product_matrix(const SparseBlock& queries, const SparseBlock& training,
                               const InnerProductSettings& settings, const RunContext& ctx) {
  if (settings.of == InnerProduct::kCosine) {
    return products_of_queries(in_own_units(queries), in_own_units(training), settings, ctx);
  }
  return products_of_queries(queries, training, settings, ctx);
}

}  // namespace kith
