// SPDX-License-Identifier: Apache-2.0
#include "measure/vector_measure.hpp"

#include <array>
#include <cassert>
#include <cmath>
#include <span>

#include "measure/pairs.hpp"
#include "numerics/power.hpp"

namespace kith::detail {
namespace {

/// The sum of term(x_k, z_k) in eight interleaved parts: the processor works on them side by side,
/// and the order of the additions is fixed.
template <class Term>
double row_sum(std::span<const double> x, std::span<const double> z, const Term& term) {
  constexpr std::size_t kLanes = 8;
  std::array<double, kLanes> sums{};
  std::size_t k = 0;
  for (; k + kLanes <= x.size(); k += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      sums[lane] += term(x[k + lane], z[k + lane]);
    }
  }
  for (std::size_t lane = 0; k < x.size(); ++k, ++lane) sums[lane] += term(x[k], z[k]);
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

/// The same of sparse rows, whose absent numbers are 0. term(0, 0) must be 0.
template <class Term>
double row_sum(const SparseRow& x, const SparseRow& z, const Term& term) {
  double sum = 0;
  merge_rows(x, z, 0, [&](Index, double a, double b) { sum += term(a, b); });
  return sum;
}

template <class Row>
double product(const Row& x, const Row& z) {
  return row_sum(x, z, [](double a, double b) { return a * b; });
}

template <class Row>
double squared_distance(const Row& x, const Row& z) {
  return row_sum(x, z, [](double a, double b) { return (a - b) * (a - b); });
}

template <class Row>
double absolute_distance(const Row& x, const Row& z) {
  return row_sum(x, z, [](double a, double b) { return std::abs(a - b); });
}

/// Dense or sparse tables: all pairs of X, or where there is a Z, X against Z.
template <class Table>
struct Tables {
  const Table& X;
  const Table* Z;
  const RunContext& ctx;

  /// value(x_i, z_j) for all of them.
  template <class Value>
  [[nodiscard]] RowMatrix pairs(const Value& value) const {
    const Table& others = Z == nullptr ? X : *Z;
    const auto row_of = [&](Index i) {
      return [&, x = X.row(i)](Index j) { return value(x, others.row(j)); };
    };
    constexpr std::string_view kStage = "pairs of vectors";
    return all_pairs(X.rows(), others.rows(), Z == nullptr, kStage, ctx, row_of);
  }

  [[nodiscard]] RowMatrix cosines() const {
    const auto norms = [](const Table& table) {
      Vector all(table.rows());
      for (Index i = 0; i < all.size(); ++i) {
        all(i) = std::sqrt(product(table.row(i), table.row(i)));
      }
      return all;
    };
    RowMatrix values = pairs([](const auto& x, const auto& z) { return product(x, z); });
    const Vector x = norms(X);
    const Vector z = Z == nullptr ? x : norms(*Z);
    for (Index i = 0; i < values.rows(); ++i) {
      for (Index j = 0; j < values.cols(); ++j) values(i, j) /= x(i) * z(j);
    }
    return values;
  }
};

template <class Table>
RowMatrix measured(const Tables<Table>& of, const MeasureSettings& s) {
  const double gamma = s.gamma.value_or(1);  // of measures that take it
  switch (s.measure) {
    case Measure::kLinear:
      return of.pairs([](const auto& x, const auto& z) { return product(x, z); });
    case Measure::kPolynomial:
      return of.pairs([&](const auto& x, const auto& z) {
        return polynomial(product(x, z), gamma, s.coef0, s.degree);
      });
    case Measure::kSigmoid:
      return of.pairs(
          [&](const auto& x, const auto& z) { return std::tanh(gamma * product(x, z) + s.coef0); });
    case Measure::kCosine:
      return of.cosines();
    case Measure::kGaussian:
      return of.pairs(
          [&](const auto& x, const auto& z) { return std::exp(-gamma * squared_distance(x, z)); });
    case Measure::kEuclidean:
      return of.pairs(
          [](const auto& x, const auto& z) { return std::sqrt(squared_distance(x, z)); });
    case Measure::kLaplacian:
      return of.pairs(
          [&](const auto& x, const auto& z) { return std::exp(-gamma * absolute_distance(x, z)); });
    case Measure::kManhattan:
      return of.pairs([](const auto& x, const auto& z) { return absolute_distance(x, z); });
    case Measure::kEdit:
    case Measure::kEditDistance:
    case Measure::kCompressionDistance:
    case Measure::kSpectrum:
    case Measure::kDtw:
    case Measure::kSmithWaterman:
    case Measure::kNeedlemanWunsch:
    case Measure::kJaccard:
    case Measure::kTverskyRatio:
    case Measure::kTverskyContrast:
    case Measure::kValueDifference:
      break;
  }
  assert(false && "a measure of other data than vectors");
  return {};
}

}  // namespace

// Sparse where all of it is.
RowMatrix vector_pairs(const Block& rows, const Block* columns, const MeasureSettings& settings,
                       const RunContext& ctx) {
  if (is_sparse(rows) && (columns == nullptr || is_sparse(*columns))) {
    return measured<SparseBlock>(
        {std::get<SparseBlock>(rows), columns ? &std::get<SparseBlock>(*columns) : nullptr, ctx},
        settings);
  }
  const DenseBlock dense = to_dense(rows);
  const DenseBlock others = columns ? to_dense(*columns) : DenseBlock();
  return measured<DenseBlock>({dense, columns ? &others : nullptr, ctx}, settings);
}

void perturb_cy(RowMatrix& K, double xi, Rng rng) {
  assert(K.rows() == K.cols() && "only all pairs of one set are perturbed");
  RowMatrix E(K.rows(), K.cols());
  for (double& entry : E.reshaped<Eigen::RowMajor>()) entry = rng.normal();
  for (Index i = 0; i < K.rows(); ++i) {
    for (Index j = 0; j < K.cols(); ++j) K(i, j) += xi * (0.5 * (E(i, j) + E(j, i)));
  }
}

}  // namespace kith::detail
