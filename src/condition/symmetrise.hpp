// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "condition/table.hpp"
#include "kith/condition/input_settings.hpp"

namespace kith::detail {

/// Whether two directions of a pair differ; two missing ones do not.
[[nodiscard]] inline bool differ(double a, double b) {
  return !(a == b || (std::isnan(a) && std::isnan(b)));
}

/// True for the rules that combine the two directions (mean, max, min).
[[nodiscard]] bool combines(Symmetrise how);

/// Replaces (i, j) and (j, i) of a square table by their combination; a pair that is known in one
/// direction only takes that value. Returns whether any two directions differed.
[[nodiscard]] bool symmetrise(Table& table, Symmetrise how, int threads);

/// The combination of two tables of the same shape, pair by pair.
[[nodiscard]] Table combined(Table a, Table b, Symmetrise how, int threads);

}  // namespace kith::detail
