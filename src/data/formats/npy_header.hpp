// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kith/core/types.hpp"

namespace kith::detail {

enum class NpyKind { kFloat, kSigned, kUnsigned, kBool };

/// What the header of a .npy file of two dimensions says, checked.
struct NpyHeader {
  NpyKind kind = NpyKind::kFloat;
  std::size_t item_size = 8;  ///< bytes per number: 1, 2, 4 or 8
  bool swapped = false;       ///< the byte order is not this machine's
  bool fortran_order = false;
  Index rows = 0;
  Index cols = 0;

  [[nodiscard]] std::uint64_t data_bytes() const {
    return static_cast<std::uint64_t>(rows) * static_cast<std::uint64_t>(cols) * item_size;
  }
};

/// Bytes before the text of the header: magic word, version, length (of 2 or 4 bytes).
inline constexpr std::size_t kNpyShortPrefix = 10;
inline constexpr std::size_t kNpyLongPrefix = 12;
/// Headers longer than this are refused; NumPy itself stops at 10,000.
inline constexpr std::size_t kNpyLongestHeader = 1U << 16;

/// The bytes in front of the numbers, told from the first kNpyLongPrefix bytes of the file (fewer
/// where the file is shorter). Throws Error(kBadInput) for what is no .npy file of version 1 to 3.
[[nodiscard]] std::size_t npy_data_offset(std::string_view start, const std::string& file);

/// Reads the Python dictionary of a header. Throws Error(kBadInput) naming what is wrong: an
/// unknown type, a shape that is not two-dimensional, or one whose bytes do not fit into 63 bits.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view text, const std::string& file);

}  // namespace kith::detail
