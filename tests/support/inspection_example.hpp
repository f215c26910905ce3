// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "kith/inspect/inspect.hpp"

namespace kith::test {

/// Three samples of two classes, with a name that a page must not obey.
inline Inspection inspection_example() {
  Inspection inspection;
  MatrixSummary matrix;
  matrix.name = "scores";
  matrix.source = "scores.csv";
  matrix.format = "csv";
  matrix.n = 3;
  matrix.min = -1;
  matrix.max = 2;
  matrix.spectrum =
      SpectrumSummary{.lambda = Vector{{-1, 0.5, 2}}, .negative = 1, .negative_fraction = 0.25};
  matrix.triangles = TriangleSummary{.checked = 1, .violations = 1};
  matrix.neighbours = NeighbourSummary{.error = 0.5, .tied = 1};
  matrix.classes = {{"</script>", 2, 0.5, 0.25}, {"b", 1, std::nan(""), 0.25}};
  inspection.labels = make_labels(std::vector<std::string>{"</script>", "</script>", "b"});
  inspection.matrices = {matrix};
  inspection.advice = {{"try this", "because of that"}};
  return inspection;
}

}  // namespace kith::test
