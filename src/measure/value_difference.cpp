// SPDX-License-Identifier: Apache-2.0
// The differences of every two values of a column are computed once, and a pair of samples adds up
// one entry per column. Columns with more than a few hundred different values have no such table,
// whose size is the square of their number: there each pair compares the distributions.
#include "kith/measure/value_difference.hpp"

#include <cmath>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/errors.hpp"
#include "measure/pairs.hpp"

namespace kith {
namespace {

constexpr Index kMostTabulated = 512;

/// One column: its values numbered, and their differences. The last number stands for every value
/// that no training sample has.
class ValueColumn {
 public:
  ValueColumn(const CategoryData& training, std::size_t column, double exponent)
      : exponent_(exponent) {
    for (const auto& row : training.values) {
      numbers_.emplace(row[column], static_cast<Index>(numbers_.size()));
    }
    P_ = Matrix::Zero(training.labels->class_count(), unseen() + 1);
    for (std::size_t i = 0; i < training.values.size(); ++i) {
      P_(training.labels->ids[i], numbers_.at(training.values[i][column])) += 1;
    }
    for (Index v = 0; v < unseen(); ++v) P_.col(v) /= P_.col(v).sum();
    if (P_.cols() > kMostTabulated) return;
    table_.resize(P_.cols(), P_.cols());
    for (Index v = 0; v < P_.cols(); ++v) {
      for (Index u = 0; u < P_.cols(); ++u) table_(u, v) = compared(u, v);
    }
  }

  [[nodiscard]] Index number_of(const std::string& value) const {
    const auto found = numbers_.find(value);
    return found == numbers_.end() ? unseen() : found->second;
  }
  [[nodiscard]] double difference(Index u, Index v) const {
    return table_.size() > 0 ? table_(u, v) : compared(u, v);
  }

 private:
  [[nodiscard]] Index unseen() const { return static_cast<Index>(numbers_.size()); }

  [[nodiscard]] double compared(Index u, Index v) const {
    double sum = 0;
    for (Index c = 0; c < P_.rows(); ++c) {
      const double gap = std::abs(P_(c, u) - P_(c, v));
      sum += exponent_ == 2 ? gap * gap : std::pow(gap, exponent_);
    }
    return sum;
  }

  double exponent_;
  std::unordered_map<std::string, Index> numbers_;
  Matrix P_;      // of classes (rows) given values (columns)
  Matrix table_;  // differences of values; empty where there are too many
};

/// What is learned from the training samples.
class ValueDifferences {
 public:
  ValueDifferences(const CategoryData& training, const ValueDifferenceSettings& settings) {
    if (!training.labels) {
      throw invalid(
          "{}: value-difference needs the labels of the samples, by which values "
          "are compared",
          training.source);
    }
    for (std::size_t a = 0; a < training.values.front().size(); ++a) {
      columns_.emplace_back(training, a, settings.exponent);
    }
  }

  [[nodiscard]] std::vector<std::vector<Index>> numbers_of(const CategoryData& data) const {
    std::vector<std::vector<Index>> rows;
    rows.reserve(data.values.size());
    for (const auto& values : data.values) {
      if (values.size() != columns_.size()) {
        throw invalid("{} has {} columns, and the training samples have {}; they must agree",
                      data.source, values.size(), columns_.size());
      }
      std::vector<Index>& row = rows.emplace_back();
      for (std::size_t a = 0; a < values.size(); ++a)
        row.push_back(columns_[a].number_of(values[a]));
    }
    return rows;
  }
  [[nodiscard]] double distance(const std::vector<Index>& x, const std::vector<Index>& z) const {
    double sum = 0;
    for (std::size_t a = 0; a < columns_.size(); ++a) sum += columns_[a].difference(x[a], z[a]);
    return sum;
  }

 private:
  std::vector<ValueColumn> columns_;
};

}  // namespace

RowMatrix value_difference_matrix(const CategoryData& rows, const ValueDifferenceSettings& settings,
                                  const RunContext& ctx, const CategoryData* columns) {
  using Numbers = std::vector<std::vector<Index>>;
  const ValueDifferences metric(columns != nullptr ? *columns : rows, settings);
  const Numbers of_rows = metric.numbers_of(rows);
  const Numbers of_columns = columns != nullptr ? metric.numbers_of(*columns) : Numbers();
  const Numbers& others = columns != nullptr ? of_columns : of_rows;
  const auto row_of = [&](Index i) {
    return [&, i](Index j) {
      return metric.distance(of_rows[static_cast<std::size_t>(i)],
                             others[static_cast<std::size_t>(j)]);
    };
  };
  return detail::all_pairs(std::ssize(of_rows), std::ssize(others), columns == nullptr,
                           "value differences", ctx, row_of);
}

}  // namespace kith
