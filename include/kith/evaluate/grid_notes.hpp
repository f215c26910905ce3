// SPDX-License-Identifier: Apache-2.0
// What a user should know of a search: a value that was chosen at the end of its grid, and a
// setting whose values all gave the same error.
#pragma once

#include <string>
#include <vector>

#include "kith/evaluate/selection.hpp"

namespace kith {

/// One sentence for each, with the flag that mends it; none: nothing to say.
[[nodiscard]] std::vector<std::string> selection_notes(const Selection& selection);

/// The same of an evaluation that is finished, over all of its partitions.
[[nodiscard]] std::vector<std::string> evaluation_notes(const Store& store,
                                                        std::int64_t experiment);

}  // namespace kith
