// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kith/learn/registry.hpp"

namespace kith {

/// Whether predictions need the self-similarity of each new sample: the treatment of its row asks
/// for it, and the training samples have no constant one to take it from.
[[nodiscard]] bool needs_self_similarities(const AnyModel& model);

}  // namespace kith
