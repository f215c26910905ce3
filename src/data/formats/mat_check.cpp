// SPDX-License-Identifier: Apache-2.0
// A version 5 file is a header of 128 bytes and a sequence of elements, each a tag (type, bytes) of
// two 32-bit words and its bytes. matio fills what a cut file lacks with zeros, so the sizes are
// checked here first.
#include "data/formats/mat_check.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "kith/core/error.hpp"

namespace kith::detail {
namespace {

constexpr std::size_t kHeaderBytes = 128;
constexpr std::size_t kTagBytes = 8;
constexpr std::uint32_t kMatrixType = 14;
constexpr std::uint32_t kCompressedType = 15;
// zlib cannot shrink by more than about 1030; HDF5's deflate filter is the same code.
constexpr std::uint64_t kLargestRatio = 1032;

std::uint32_t word_at(std::span<const std::byte> bytes, std::size_t at, bool swapped) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return swapped ? __builtin_bswap32(value) : value;
}

Error broken(const std::string& file, const std::string& what) {
  return bad_input({file}, "the MATLAB file is corrupt or cut short: " + what);
}

struct Inflater {
  z_stream stream{};
  Inflater() {
    if (::inflateInit(&stream) != Z_OK) {
      throw Error(ErrorCode::kInternal, "zlib cannot be initialised");
    }
  }
  ~Inflater() { ::inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

/// Inflates a compressed element without keeping it; gives back its size.
std::uint64_t inflated_size(std::span<const std::byte> element, std::size_t offset, bool swapped,
                            const std::string& file) {
  const std::string where = "the compressed variable at byte " + std::to_string(offset);
  Inflater inflater;
  z_stream& z = inflater.stream;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(element.data()));
  z.avail_in = static_cast<uInt>(element.size());
  std::array<std::byte, 1U << 16> out;
  std::array<std::byte, kTagBytes> tag{};
  std::uint64_t total = 0;
  int code = Z_OK;
  while (code == Z_OK) {
    z.next_out = reinterpret_cast<Bytef*>(out.data());
    z.avail_out = static_cast<uInt>(out.size());
    code = ::inflate(&z, Z_NO_FLUSH);
    const std::size_t made = out.size() - z.avail_out;
    if (total == 0 && made >= kTagBytes) std::copy_n(out.begin(), kTagBytes, tag.begin());
    total += made;
  }
  if (code != Z_STREAM_END) throw broken(file, where + " does not inflate");
  if (total < kTagBytes || word_at(tag, 0, swapped) != kMatrixType ||
      word_at(tag, 4, swapped) + std::uint64_t{kTagBytes} > total) {
    throw broken(file, where + " does not hold the matrix its tag claims");
  }
  return total;
}

std::uint64_t check_elements(std::span<const std::byte> bytes, bool swapped,
                             const std::string& file) {
  std::uint64_t largest = 0;
  std::size_t at = kHeaderBytes;
  while (at < bytes.size()) {
    if (bytes.size() - at < kTagBytes) throw broken(file, "it ends inside a tag");
    const std::uint32_t type = word_at(bytes, at, swapped);
    const std::size_t size = word_at(bytes, at + 4, swapped);
    at += kTagBytes;
    if (size > bytes.size() - at) {
      throw broken(file, "the element at byte " + std::to_string(at - kTagBytes) + " claims " +
                             std::to_string(size) + " bytes where " +
                             std::to_string(bytes.size() - at) + " are left");
    }
    if (type == kCompressedType) {
      largest = std::max(largest, inflated_size(bytes.subspan(at, size), at, swapped, file));
    } else if (type == kMatrixType) {
      largest = std::max<std::uint64_t>(largest, size);
    } else {
      throw broken(file, "the element at byte " + std::to_string(at - kTagBytes) +
                             " is of the unknown type " + std::to_string(type));
    }
    at += size;
  }
  if (largest == 0) throw broken(file, "it holds no variable");
  return largest;
}

}  // namespace

MatOutline check_mat_outline(std::span<const std::byte> bytes, const std::string& file) {
  if (bytes.empty()) throw bad_input({file}, "the file is empty");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string_view mark = text.substr(std::min<std::size_t>(text.size(), 124), 4);
  const bool version5 =
      mark == std::string_view("\0\1IM", 4) || mark == std::string_view("\1\0MI", 4);
  const bool version73 = mark == std::string_view("\0\2IM", 4);
  if (version73) return {.hdf5 = true, .largest_variable = bytes.size() * kLargestRatio};
  if (!version5) {
    throw bad_input({file},
                    "not a MATLAB file of version 5, 7 or 7.3 (its header has no version and byte "
                    "order at byte 124); save older ones again with -v7");
  }
  const bool swapped = mark[2] == 'M';
  return {.hdf5 = false, .largest_variable = check_elements(bytes, swapped, file)};
}

}  // namespace kith::detail
