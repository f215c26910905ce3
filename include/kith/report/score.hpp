// SPDX-License-Identifier: Apache-2.0
// How good a model is on labelled samples, for a terminal. Draws; computes no statistic.
#pragma once

#include <string>

#include "kith/evaluate/score.hpp"
#include "kith/report/inspection.hpp"

namespace kith {

/// The error with its interval, what stands beside it, the classes and who is taken for whom. Notes
/// are not part of it. It mentions [[json]].
[[nodiscard]] std::string score_text(const Score& score, const TextStyle& style);

}  // namespace kith
