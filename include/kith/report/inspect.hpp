// SPDX-License-Identifier: Apache-2.0
// What `kith inspect` does, for C++ and Python as well.
#pragma once

#include <optional>
#include <vector>

#include "kith/condition/input_settings.hpp"
#include "kith/core/context.hpp"
#include "kith/data/labels.hpp"
#include "kith/data/similarity_set.hpp"
#include "kith/report/inspection.hpp"
#include "kith/report/page.hpp"

namespace kith {

struct Inspected {
  Inspection inspection;
  std::vector<PortrayedMatrix> portraits;  ///< one per matrix, where they were asked for
};

enum class Portraits { kNone, kDrawn };

/// Every matrix under the input rules; one with missing pairs that no rule resolves is described by
/// the pairs it has.
[[nodiscard]] Inspected inspect(const MatchedSets& matrices,
                                const std::optional<JoinedLabels>& joined,
                                const InputSettings& settings, Portraits portraits,
                                const RunContext& ctx);

}  // namespace kith
