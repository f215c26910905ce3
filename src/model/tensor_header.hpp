// SPDX-License-Identifier: Apache-2.0
// The JSON header of a tensor file: where each block lies, and the texts of the file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kith/model/tensor_file.hpp"

namespace kith::detail {

/// The largest header that safetensors' own readers take.
inline constexpr std::uint64_t kLargestHeader = 100'000'000;

/// Where a tensor lies: bytes [begin, end) counted from the end of the header.
struct TensorEntry {
  TensorType type = TensorType::kU8;
  std::vector<Index> shape;
  Index begin = 0;
  Index end = 0;
};

struct TensorHeader {
  std::map<std::string, std::string> metadata;
  std::map<std::string, TensorEntry> tensors;
  Index data_bytes = 0;
};

/// The names in the order of their blocks: large elements first, so that each block is aligned to
/// its elements and no gap is needed.
[[nodiscard]] std::vector<std::string> block_order(const TensorFile& file);

/// The header for those blocks, with spaces at its end so that the blocks begin at a multiple of 8
/// bytes in the file.
[[nodiscard]] std::string header_text(const TensorFile& file,
                                      const std::map<std::string, std::string>& metadata);

/// Throws Error(kBadInput) naming the file unless the blocks fill [0, data_bytes) without gap or
/// overlap and each is as long as its shape says.
[[nodiscard]] TensorHeader parse_header(std::string_view text, const std::string& file);

/// Bytes of that many elements, or -1 where a dimension or the product is out of range.
[[nodiscard]] Index bytes_of(TensorType type, const std::vector<Index>& shape);

}  // namespace kith::detail
