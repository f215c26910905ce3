// SPDX-License-Identifier: Apache-2.0
// How every reader gets its bytes: plain, gzip or zstd, told apart by content.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/error.hpp"

namespace kith::detail {

enum class Compression { kNone, kGzip, kZstd };

/// The bytes of a file after decompression, from front to back. Every error names the file: a
/// missing or unreadable file and a directory (kIo), a truncated or damaged archive (kBadInput).
class ByteSource {
 public:
  /// Files with several gzip members or zstd frames are read to their end.
  [[nodiscard]] static ByteSource open(const std::string& path);
  /// The same over bytes that outlive the source; `name` stands for the file in messages.
  [[nodiscard]] static ByteSource from_memory(std::string_view bytes, std::string name);

  ByteSource(ByteSource&&) noexcept;
  ByteSource& operator=(ByteSource&&) noexcept;
  ~ByteSource();

  /// Fills `buffer` as far as the bytes reach: fewer than its size only at the end, then 0.
  [[nodiscard]] std::size_t read(std::span<char> buffer);
  /// The first bytes (at most 64 KiB), to recognise the format by; they are still to be read.
  [[nodiscard]] std::string_view head();

  /// The path as the user gave it.
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] Compression compression() const;
  /// True for an uncompressed regular file, which may be memory-mapped by `name()`.
  [[nodiscard]] bool is_plain_file() const;
  /// Bytes to be read in all, where nothing is compressed and the size is known (no pipe). A size
  /// that the content claims must be checked against it before memory is allocated.
  [[nodiscard]] std::optional<std::int64_t> plain_size() const;
  /// Tells how many of the stored (compressed) bytes have been read. Throws where the run is
  /// interrupted.
  void report(std::string_view stage, const RunContext& ctx) const;

 private:
  struct Impl;
  explicit ByteSource(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// The lines of a text file without their ends (\n or \r\n) and without a byte-order mark. A view
/// stays valid until the next call. Lines are bounded by `longest_line`, far above any real one.
class LineReader {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{1} << 30;

  explicit LineReader(ByteSource& source, std::size_t longest_line = kLongestLine);

  /// The next line; false at the end. An end-of-line at the very end starts no further line.
  [[nodiscard]] bool next(std::string_view& line);
  /// Appends the line that follows to `line`, with its end between them (for quoted line ends).
  [[nodiscard]] bool extend(std::string_view& line);
  /// The number of the current line, counted from 1; of an extended line, its first.
  [[nodiscard]] long line_number() const { return first_line_; }
  [[nodiscard]] const std::string& name() const { return source_->name(); }
  /// A place in the current line for messages.
  [[nodiscard]] FilePlace place(long column = 0) const { return {name(), first_line_, column}; }
  /// The place of a part of the current line, a view into what next() gave.
  [[nodiscard]] FilePlace place_of(std::string_view part) const {
    return place(part.data() - (buffer_.data() + begin_) + 1);
  }

 private:
  [[nodiscard]] bool find_end(std::size_t from);
  void refill();
  void skip_byte_order_mark();
  [[nodiscard]] std::string_view current() const;

  ByteSource* source_;
  std::size_t longest_line_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of the current line in buffer_
  std::size_t end_ = 0;    // behind its last byte, at its \n or at the end of the file
  std::size_t next_ = 0;   // where the following line begins
  std::size_t filled_ = 0;
  bool at_end_ = false;
  bool started_ = false;
  long first_line_ = 0;
  long last_line_ = 0;
};

}  // namespace kith::detail
