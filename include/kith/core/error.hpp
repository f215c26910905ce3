// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace kith {

enum class ErrorCode {
  kInvalidArgument,  ///< a setting, a flag or a shape that breaks a stated rule
  kBadInput,         ///< a file whose content breaks its format's rule
  kIo,               ///< the operating system refused to open, read, write or rename
  kInterrupted,      ///< the run's stop token was raised
  kInternal,         ///< a promise of ours did not hold
};

/// Everything the library throws. The message names the thing, its value and the rule it broke.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

/// A place in a text file; line and column count from 1, and 0 means "not known".
struct FilePlace {
  std::string file;
  long line = 0;
  long column = 0;
};

/// `file:line:column: message` as an Error of kind kBadInput.
[[nodiscard]] Error bad_input(const FilePlace& place, const std::string& message);

/// `message: what errno says` as an Error of kind kIo. Call it straight after the failing call.
[[nodiscard]] Error io_error(const std::string& message);

}  // namespace kith
