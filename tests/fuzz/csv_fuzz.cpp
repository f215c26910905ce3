// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <variant>

#include "data/formats/readers.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

/// Any bytes give a table of consistent shape or an error of kind kBadInput, nothing else.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    kith::detail::ByteSource source = kith::detail::ByteSource::from_memory(bytes, "fuzz");
    const kith::SimilaritySet set = kith::detail::read_csv(source, {}, {});
    const auto& block = std::get<kith::DenseBlock>(set.block);
    require(block.rows() > 0 && block.cols() > 0);
    require(set.row_ids.empty() || static_cast<kith::Index>(set.row_ids.size()) == block.rows());
    require(set.column_ids.empty() ||
            static_cast<kith::Index>(set.column_ids.size()) == block.cols());
    require(!block.values().array().isInf().any());
  } catch (const kith::Error& error) {
    require(error.code() == kith::ErrorCode::kBadInput);
  }
  return 0;
}
