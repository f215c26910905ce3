// SPDX-License-Identifier: Apache-2.0
// The map and machine of one pair of classes.
#pragma once

#include <span>
#include <vector>

#include "kith/learn/metric/metric_pairs.hpp"
#include "kith/numerics/principal_axes.hpp"

namespace kith::detail {

/// Rows of two classes.
struct MetricPart {
  PrincipalAxes axes;  ///< what descents run in
  Matrix features;     ///< centred; empty: kernel values whose features are not known
  bool kernel = false;
  Matrix rows;        ///< of a linear kernel, as they are
  bool whole = true;  ///< the features have every direction of the data
  Vector y;
  Vector weights;  ///< empty: all 1
};
/// `source` says what the rows are; `features` are there where they are values of a linear kernel.
[[nodiscard]] MetricPart metric_part(const MetricRows& source, const Matrix& rows,
                                     const Matrix& features, std::span<const int> signs,
                                     Vector weights);

/// The map, the direction and the intercept over the columns of the rows.
struct MetricMachine {
  Matrix L;
  Vector v;
  double b = 0;
  SolveInfo info;
  std::vector<BoundsStep> trace;

  [[nodiscard]] Vector decisions(const Matrix& rows) const { return (rows * v).array() + b; }
};
[[nodiscard]] MetricMachine solve_metric(const MetricPart& part, const MetricSettings& settings,
                                         const DimensionRule& dimensions, const Rng& rng,
                                         const RunContext& ctx);

}  // namespace kith::detail
