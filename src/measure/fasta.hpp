// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kith/measure/raw_data.hpp"

namespace kith::detail {

/// Reads FASTA: `>id description`, then lines of letters and asterisks. Lower case becomes upper
/// case. Refuses empty and repeated ids, empty sequences, gaps and whatever is no letter.
[[nodiscard]] SequenceData read_fasta(const std::string& path, const RunContext& ctx);

}  // namespace kith::detail
