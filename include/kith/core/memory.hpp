// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kith {

/// Bytes that can be had without swapping. The system's own estimate counts page cache that it
/// would give back; without it, all physical memory.
[[nodiscard]] double available_memory();

inline constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

}  // namespace kith
