// SPDX-License-Identifier: Apache-2.0
// The way a user's file goes: recognised by content, unpacked, mapped where it can be, MATLAB files
// included (single formats have fuzzers of their own). Any bytes end in a matrix or in an Error.
// The first byte chooses the format: '1' csv, '2' tsv, ... in the order of `Format`; anything else
// means "by content".
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "kith/core/error.hpp"
#include "kith/data/formats.hpp"
#include "memory_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  kith::ReadSettings settings;
  const int choice = data[0] - '1';
  constexpr int kFormats = static_cast<int>(kith::kEnumNames<kith::Format>.size());
  if (choice >= 0 && choice < kFormats) settings.format = static_cast<kith::Format>(choice);

  const kith::fuzz::MemoryFile file(data + 1, size - 1);
  const kith::RunContext ctx;
  try {
    const kith::SimilaritySet set = kith::read_similarity(file.path(), settings, ctx);
    if (set.rows() < 0 || set.cols() < 0) std::abort();
  } catch (const kith::Error& error) {
    // Refused, as bad input should be; a refusal without a reason would be a bug.
    if (std::string(error.what()).empty() || error.code() == kith::ErrorCode::kInternal) {
      std::abort();
    }
  }
  return 0;
}
