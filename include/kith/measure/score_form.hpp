// SPDX-License-Identifier: Apache-2.0
// The forms a score S(x, y) that grows with the size of its samples is given in.
#pragma once

#include <array>
#include <string_view>

#include "kith/core/settings.hpp"

namespace kith {

enum class ScoreForm {
  kRaw,         ///< S(x, y)
  kNormalised,  ///< S(x, y) / sqrt(S(x, x) S(y, y))
  kPValue,      ///< 1 - P, the probability that unrelated sequences score less
};
constexpr auto enum_names(ScoreForm /*of*/) { return named("raw", "normalised", "p-value"); }

}  // namespace kith
