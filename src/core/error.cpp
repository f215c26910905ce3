// SPDX-License-Identifier: Apache-2.0
#include "kith/core/error.hpp"

#include <cerrno>
#include <system_error>

namespace kith {

Error bad_input(const FilePlace& place, const std::string& message) {
  std::string where = place.file;
  if (place.line > 0) where += ":" + std::to_string(place.line);
  if (place.line > 0 && place.column > 0) where += ":" + std::to_string(place.column);
  return Error(ErrorCode::kBadInput, where + ": " + message);
}

Error io_error(const std::string& message) {
  const int code = errno;
  return Error(ErrorCode::kIo, message + ": " + std::generic_category().message(code));
}

}  // namespace kith
