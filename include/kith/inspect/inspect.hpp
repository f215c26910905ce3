// SPDX-License-Identifier: Apache-2.0
// What `kith inspect` finds out, for C++ and Python as well.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kith/condition/input_settings.hpp"
#include "kith/core/context.hpp"
#include "kith/data/labels.hpp"
#include "kith/data/similarity_set.hpp"
#include "kith/inspect/portrait.hpp"
#include "kith/inspect/summary.hpp"
#include "kith/measure/raw_matrix.hpp"

namespace kith {

struct Inspection {
  std::vector<MatrixSummary> matrices;
  std::optional<Labels> labels;
  std::vector<std::string> unmatched_labels;  ///< ids of the label file that are no samples
  Matrix agreement;                           ///< between matrices; empty for one
  std::vector<Advice> advice;
  std::vector<std::string> notes;  ///< doubts about the input, where a front end has some
  std::string next;                ///< what to type next, where a front end knows; else empty
  std::vector<std::string> next_because;  ///< why that differs from what was typed
  int blas_threads = 1;
  double seconds = 0;
};

/// A matrix with the labels and ids of the samples it kept; both may be absent.
struct PortrayedMatrix {
  Portrait portrait;
  std::optional<Labels> labels;
  std::vector<std::string> ids;
};

struct Inspected {
  Inspection inspection;
  std::vector<PortrayedMatrix> portraits;  ///< one per matrix, where they were asked for
};

enum class Portraits { kNone, kDrawn };

/// The pairs of raw samples, which are matched. `labels` may be null; throws Error where a measure
/// learns from them.
[[nodiscard]] MatchedSets measure_all(std::span<const RawMatrix> matrices, const Labels* labels,
                                      const RunContext& ctx);

/// Every matrix under the input rules; one with missing pairs that no rule resolves is described by
/// the pairs it has.
[[nodiscard]] Inspected inspect(const MatchedSets& matrices,
                                const std::optional<JoinedLabels>& joined,
                                const InputSettings& settings, Portraits portraits,
                                const RunContext& ctx);

}  // namespace kith
