// SPDX-License-Identifier: Apache-2.0
// Tensor files made by hand, for tests of what a reader must refuse.
#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "kith/core/xxh64.hpp"
#include "support/files.hpp"

namespace kith {

/// Length, header and data with the right checksum in the place of the zeros.
inline std::string sealed(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  file += header + data;
  Xxh64 hash;
  hash.update(file);
  const std::size_t at = file.find("0000000000000000");
  if (at != std::string::npos) file.replace(at, 16, hex_digits(hash.digest()));
  return file;
}

/// The message of the Error that `action` throws.
inline std::string message_of(const std::function<void()>& action,
                              ErrorCode code = ErrorCode::kBadInput) {
  return error_of(code, action);
}

}  // namespace kith
