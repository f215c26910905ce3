// SPDX-License-Identifier: Apache-2.0
// A learning curve as text and as csv.
#pragma once

#include <string>
#include <vector>

#include "kith/evaluate/learning_curve.hpp"
#include "kith/report/results_table.hpp"

namespace kith {

/// The learning curve of a data set.
struct NamedCurve {
  std::string data_set;
  LearningCurve curve;
};

/// For each data set that has one: errors by method and number of training samples, the method that
/// ends best as a picture, and whether more samples would help. Empty: none has one.
[[nodiscard]] std::string curve_text(const std::vector<NamedCurve>& curves,
                                     const TableStyle& style);

/// The curves of a store.
[[nodiscard]] std::vector<NamedCurve> curves_of(const Store& store,
                                                const std::vector<ExperimentResult>& results);

/// The table of the results as text, and below it the curves where there are some.
[[nodiscard]] std::string table_and_curves(const Store& store,
                                           const std::vector<ExperimentResult>& results,
                                           const TableStyle& style);

/// A line per data set, method and size, with full precision.
[[nodiscard]] std::string curve_csv(const std::vector<NamedCurve>& curves);

}  // namespace kith
