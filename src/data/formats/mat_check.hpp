// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kith::detail {

/// What a MATLAB file can hold at most, told from its bytes alone.
struct MatOutline {
  bool hdf5 = false;                   ///< version 7.3
  std::uint64_t largest_variable = 0;  ///< upper bound on the stored bytes of one variable
};

/// Checks the outline of a MATLAB file before any library is let near it: the version, and for
/// version 5 that every element lies inside the file and every compressed one inflates with the
/// right checksum. Throws Error(kBadInput) otherwise.
[[nodiscard]] MatOutline check_mat_outline(std::span<const std::byte> bytes,
                                           const std::string& file);

}  // namespace kith::detail
