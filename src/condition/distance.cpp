// SPDX-License-Identifier: Apache-2.0
#include "condition/distance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace kith::detail {
namespace {

/// Calls use(f) with the rule's function of one distance. Not for double-centre.
template <class Use>
void with_pairwise(const InputRule& rule, const Use& use) {
  switch (rule.settings.from_distance) {
    case FromDistance::kMaxMinus:
      return use([most = rule.largest_distance](double d) { return most - d; });
    case FromDistance::kNegative:
      return use([](double d) { return 0.0 - d; });  // 0 stays +0
    case FromDistance::kNegativeSquare:
      return use([](double d) { return 0.0 - d * d; });
    case FromDistance::kExp:
      return use([gamma = rule.gamma](double d) { return std::exp(-gamma * d); });
    case FromDistance::kAuto:
    case FromDistance::kDoubleCentre:
      break;
  }
}

void square_values(Table& table, int threads) {
  map_values(table, threads, [](double d) { return d * d; });
}

/// The mean of every row, summed in the order of the columns.
Vector row_means(const RowMatrix& values, int threads) {
  Vector means(values.rows());
  const auto width = static_cast<std::size_t>(values.cols());
  parallel_chunks(static_cast<std::size_t>(values.rows()), row_grain(values.cols()), threads,
                  [&](std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; ++i) {
                      means[static_cast<Index>(i)] =
                          ordered_sum({values.data() + i * width, width}) /
                          static_cast<double>(width);
                    }
                  });
  return means;
}

/// The mean of every column, summed like a row of the transposed: a symmetric matrix has the same
/// bits in both.
Vector column_means(const RowMatrix& values, int threads) {
  constexpr std::size_t kStripe = 256;
  Vector means(values.cols());
  parallel_chunks(static_cast<std::size_t>(values.cols()), kStripe, threads,
                  [&](std::size_t begin, std::size_t end) {
                    const auto first = static_cast<Index>(begin);
                    const auto width = static_cast<Index>(end - begin);
                    std::array<Vector, 4> sums;
                    sums.fill(Vector::Zero(width));
                    for (Index i = 0; i < values.rows(); ++i) {
                      sums[static_cast<std::size_t>(i % 4)] +=
                          values.row(i).segment(first, width).transpose();
                    }
                    means.segment(first, width) = ((sums[0] + sums[1]) + (sums[2] + sums[3])) /
                                                  static_cast<double>(values.rows());
                  });
  return means;
}

double centred(double square, double row_mean, double column_mean, double grand_mean) {
  return -0.5 * ((square - (row_mean + column_mean)) + grand_mean);
}

/// table(i, j) = -1/2 (table(i, j) - row_mean[i] - column_mean[j] + g).
void centre_table(Table& table, const Vector& row_mean, const Vector& column_mean,
                  double grand_mean, int threads) {
  edit_rows(table, threads, [&](Index i, std::span<double> values, const std::int32_t*) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      values[j] = centred(values[j], row_mean[i], column_mean[static_cast<Index>(j)], grand_mean);
    }
  });
}

/// The median of the known distances between different samples; 1 where it is 0 or there is none.
double median_distance(const Table& table) {
  std::vector<double> known;
  const auto* sparse = std::get_if<SparseBlock>(&table);
  const bool leaves_out_zeros = sparse != nullptr && sparse->absent == Absent::kZero;
  auto zeros = static_cast<std::ptrdiff_t>(leaves_out_zeros ? absent_pairs(table) : 0);
  for (Index i = 0; i < rows(table); ++i) {
    const std::optional<double> self = diagonal_value(table, i);
    bool skipped = !self.has_value();
    for (const double d : row_values(table, i)) {
      if (std::isnan(d)) continue;
      if (!skipped && d == *self) {  // one of them is the distance to itself
        skipped = true;
      } else {
        known.push_back(d);
      }
    }
    if (!skipped && leaves_out_zeros) --zeros;
  }
  const std::ptrdiff_t count = std::ssize(known) + zeros;
  if (count == 0) return 1;
  const std::ptrdiff_t below =
      std::count_if(known.begin(), known.end(), [](double d) { return d < 0; });
  std::ptrdiff_t middle = count / 2;
  if (middle >= below) {
    if (middle < below + zeros) return 1;
    middle -= zeros;
  }
  const auto at = known.begin() + middle;
  std::nth_element(known.begin(), at, known.end());
  return *at > 0 ? *at : 1;
}

void fit_double_centre(Table& table, InputRule& rule, int threads) {
  square_values(table, threads);
  const RowMatrix& squares = make_dense(table);
  rule.row_mean = row_means(squares, threads);
  rule.column_mean = column_means(squares, threads);
  rule.grand_mean = ordered_sum({rule.row_mean.data(), static_cast<std::size_t>(squares.rows())}) /
                    static_cast<double>(squares.rows());
  centre_table(table, rule.row_mean, rule.column_mean, rule.grand_mean, threads);
}

void double_centre(const InputRule& rule, Table& to, Table* from, Vector& self, int threads) {
  square_values(to, threads);
  const Vector to_mean = row_means(make_dense(to), threads);
  Vector from_mean = to_mean;
  if (from != nullptr) {
    square_values(*from, threads);
    from_mean = row_means(make_dense(*from), threads);
    centre_table(*from, from_mean, rule.row_mean, rule.grand_mean, threads);
  }
  centre_table(to, to_mean, rule.column_mean, rule.grand_mean, threads);
  for (Index q = 0; q < self.size(); ++q) {
    self[q] = centred(self[q] * self[q], to_mean[q], from_mean[q], rule.grand_mean);
  }
}

}  // namespace

void fit_distances(Table& table, InputRule& rule, int threads) {
  if (rule.settings.from_distance == FromDistance::kDoubleCentre) {
    return fit_double_centre(table, rule, threads);
  }
  if (rule.settings.from_distance == FromDistance::kMaxMinus) {
    const std::optional<ValueRange> range = known_range(table, threads);
    rule.largest_distance = range ? range->high : 0.0;
  }
  if (rule.settings.from_distance == FromDistance::kExp) {
    rule.gamma = rule.settings.gamma.value_or(1 / median_distance(table));
  }
  with_pairwise(rule, [&](const auto& f) { map_values(table, threads, f); });
}

void convert_distances(const InputRule& rule, Table& to, Table* from, Vector& self, int threads) {
  if (rule.settings.from_distance == FromDistance::kDoubleCentre) {
    return double_centre(rule, to, from, self, threads);
  }
  with_pairwise(rule, [&](const auto& f) {
    map_values(to, threads, f);
    if (from != nullptr) map_values(*from, threads, f);
    self = self.unaryExpr(f);
  });
}

}  // namespace kith::detail
