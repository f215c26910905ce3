// SPDX-License-Identifier: Apache-2.0
// What `kith inspect` found, as a page for a terminal and as JSON. Draws; computes no statistic.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kith/core/json.hpp"
#include "kith/learn/summary.hpp"

namespace kith {

struct Inspection {
  std::vector<MatrixSummary> matrices;
  std::optional<Labels> labels;
  std::vector<std::string> unmatched_labels;  ///< ids of the label file that are no samples
  Matrix agreement;                           ///< between matrices; empty for one
  std::vector<Advice> advice;
  int blas_threads = 1;
  double seconds = 0;
};

struct TextStyle {
  bool unicode = true;
  bool colour = false;
  int width = 80;
};

[[nodiscard]] std::string inspection_text(const Inspection& inspection, const TextStyle& style);
/// One matrix of it.
[[nodiscard]] Json summary_json(const MatrixSummary& matrix);
[[nodiscard]] Json inspection_json(const Inspection& inspection);

}  // namespace kith
