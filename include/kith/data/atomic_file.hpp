// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace kith {

/// Writes a file so that it appears whole or not at all: bytes go to a temporary name beside the
/// target, which commit() renames. Without commit() nothing is left behind and the target stays as
/// it was. A name that ends in `.gz` or `.zst` is compressed (the same bytes give the same file).
/// Devices, pipes and what lies under /dev or /proc are written directly. Every failure, a full
/// disk among them, throws Error(kIo) naming the file.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) noexcept;
  ~AtomicFile();

  void write(std::string_view bytes);
  /// Ends the compressed stream, brings the bytes to the disk and renames. Once, as the last call.
  void commit();
  [[nodiscard]] const std::string& path() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kith
