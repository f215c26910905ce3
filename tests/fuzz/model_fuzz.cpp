// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kith/core/error.hpp"
#include "kith/core/xxh64.hpp"
#include "kith/model/model_file.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// The file with the checksum that belongs to it: chance would never find it.
std::string sealed(std::string bytes) {
  constexpr std::string_view kMark = "\"checksum\":\"";
  constexpr std::string_view kZeros = "0000000000000000";
  const std::size_t mark = bytes.find(kMark);
  if (mark == std::string::npos || bytes.size() < mark + kMark.size() + kZeros.size()) return bytes;
  bytes.replace(mark + kMark.size(), kZeros.size(), kZeros);
  kith::Xxh64 hash;
  hash.update(bytes);
  return bytes.replace(mark + kMark.size(), kZeros.size(), kith::hex_digits(hash.digest()));
}

void try_to_load(std::string_view bytes) {
  try {
    const kith::LoadedModel loaded = kith::load_model_bytes(bytes, "fuzz");
    require(!loaded.record.method.empty());
    require(loaded.record.positions.size() <= bytes.size());
    for (const kith::ModelMatrix& matrix : loaded.record.matrices) {
      require(matrix.rule.samples == static_cast<kith::Index>(loaded.record.positions.size()));
    }
  } catch (const kith::Error& error) {
    require(error.code() == kith::ErrorCode::kBadInput);
  }
}

}  // namespace

/// Any bytes, as they are and with their checksum put right, give a consistent record or an error
/// of kind kBadInput, nothing else.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try_to_load(bytes);
  try_to_load(sealed(std::string(bytes)));
  return 0;
}
