// SPDX-License-Identifier: Apache-2.0
// What was found out about matrices, as JSON: for `--json`, for stores and for pages.
#pragma once

#include "kith/core/json.hpp"
#include "kith/inspect/inspect.hpp"

namespace kith {

/// One matrix of an inspection.
[[nodiscard]] Json summary_json(const MatrixSummary& matrix);
[[nodiscard]] Json advice_json(const std::vector<Advice>& advice);
[[nodiscard]] Json inspection_json(const Inspection& inspection);

/// What pages show of a matrix; `evaluate` keeps it in its store, so that a page needs nothing
/// else. Numbers that are only drawn are rounded to what can be seen.
[[nodiscard]] Json portrait_json(const Portrait& portrait);

/// `value` with as many digits as can be seen; null where it is not finite.
[[nodiscard]] Json seen(double value, int digits);

}  // namespace kith
