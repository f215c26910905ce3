// SPDX-License-Identifier: Apache-2.0
// What every reader of untrusted bytes promises, for the fuzzers of single formats.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <variant>

#include "data/formats/readers.hpp"

namespace kith::fuzz {

inline void require(bool holds) {
  if (!holds) std::abort();
}

inline void check_block(const DenseBlock& block) { require(!block.values().array().isInf().any()); }

inline void check_block(const SparseBlock& block) {
  require(block.starts.front() == 0 && block.starts.back() == block.entries());
  require(block.columns.size() == block.values.size());
  for (std::size_t i = 0; i + 1 < block.starts.size(); ++i) {
    require(block.starts[i] <= block.starts[i + 1]);
    for (std::int64_t k = block.starts[i]; k < block.starts[i + 1]; ++k) {
      const auto entry = static_cast<std::size_t>(k);
      require(block.columns[entry] >= 0 && block.columns[entry] < block.cols);
      require(k == block.starts[i] || block.columns[entry - 1] < block.columns[entry]);
    }
  }
  for (const double value : block.values) require(std::isfinite(value));
}

/// Any bytes give a table of consistent shape or an error of kind kBadInput, nothing else.
template <class Read>
int check_reader(Read&& read, const std::uint8_t* data, std::size_t size,
                 const ReadSettings& settings = {}) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    detail::ByteSource source = detail::ByteSource::from_memory(bytes, "fuzz");
    const SimilaritySet set = read(source, settings, RunContext{});
    require(set.rows() > 0 && set.cols() > 0);
    require(set.row_ids.empty() || static_cast<Index>(set.row_ids.size()) == set.rows());
    require(set.column_ids.empty() || static_cast<Index>(set.column_ids.size()) == set.cols());
    std::visit([](const auto& block) { check_block(block); }, set.block);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kBadInput);
  }
  return 0;
}

}  // namespace kith::fuzz
