// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy. Row-major little-endian doubles of a plain file are used where they lie, in the
// mapped file; everything else is converted. A compressed file is read into memory first, no
// further than its header says.
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "core/errors.hpp"
#include "data/formats/checks.hpp"
#include "data/formats/mapped_file.hpp"
#include "data/formats/npy_header.hpp"
#include "data/formats/readers.hpp"

namespace kith::detail {
namespace {

/// The numbers of a file as bytes, kept alive by `owner`.
struct NpyContent {
  NpyHeader header;
  const std::byte* data = nullptr;
  std::shared_ptr<const void> owner;
};

Error wrong_size(const NpyHeader& header, const std::string& has, const std::string& file) {
  return bad_input(
      {file}, "the npy header claims {} x {} numbers of {} bytes ({} bytes), but the file has {}",
      header.rows, header.cols, header.item_size, header.data_bytes(), has);
}

NpyContent map_content(const std::string& path) {
  const auto mapped = std::make_shared<const MappedFile>(path);
  const std::span<const std::byte> bytes = mapped->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t offset = npy_data_offset(text.substr(0, kNpyLongPrefix), path);
  if (offset > bytes.size()) throw bad_input({path}, "the npy header is cut short");
  const std::size_t prefix = text[6] == 1 ? kNpyShortPrefix : kNpyLongPrefix;
  NpyContent content;
  content.header = parse_npy_header(text.substr(prefix, offset - prefix), path);
  if (content.header.data_bytes() != bytes.size() - offset) {
    throw wrong_size(content.header, std::to_string(bytes.size() - offset), path);
  }
  content.data = bytes.data() + offset;
  content.owner = mapped;
  return content;
}

/// Reads `wanted` bytes, allocating only as far as bytes have come.
std::vector<char> read_bytes(ByteSource& source, std::uint64_t wanted, const RunContext& ctx) {
  constexpr std::uint64_t kFirstStep = std::uint64_t{1} << 20U;
  std::vector<char> bytes;
  while (bytes.size() < wanted) {
    ctx.check_stop();
    const std::size_t had = bytes.size();
    const auto step =
        std::min<std::uint64_t>(wanted - had, std::max<std::uint64_t>(kFirstStep, had));
    bytes.reserve(had + step);
    bytes.resize(had + step);
    const std::size_t got = source.read(std::span(bytes).subspan(had));
    if (got < step) {
      bytes.resize(had + got);
      break;
    }
  }
  return bytes;
}

NpyContent read_content(ByteSource& source, const RunContext& ctx) {
  std::string start(kNpyLongPrefix, '\0');
  start.resize(source.read(std::span(start.data(), start.size())));
  const std::size_t offset = npy_data_offset(start, source.name());
  const std::size_t prefix = start[6] == 1 ? kNpyShortPrefix : kNpyLongPrefix;
  if (offset < start.size()) throw bad_input({source.name()}, "the npy header is cut short");
  const std::vector<char> rest = read_bytes(source, offset - start.size(), ctx);
  start.append(rest.begin(), rest.end());
  if (start.size() < offset) throw bad_input({source.name()}, "the npy header is cut short");

  NpyContent content;
  content.header = parse_npy_header(std::string_view(start).substr(prefix), source.name());
  const auto bytes = std::make_shared<const std::vector<char>>(
      read_bytes(source, content.header.data_bytes(), ctx));
  if (bytes->size() < content.header.data_bytes()) {
    throw wrong_size(content.header, std::to_string(bytes->size()), source.name());
  }
  char extra = 0;
  if (source.read(std::span(&extra, 1)) != 0) {
    throw wrong_size(content.header, "more", source.name());
  }
  content.data = reinterpret_cast<const std::byte*>(bytes->data());
  content.owner = bytes;
  return content;
}

template <class Number>
double number_at(const std::byte* data, std::size_t position, bool swapped) {
  std::array<std::byte, sizeof(Number)> bytes;
  std::memcpy(bytes.data(), data + position * sizeof(Number), sizeof(Number));
  if (swapped) std::reverse(bytes.begin(), bytes.end());
  return static_cast<double>(std::bit_cast<Number>(bytes));
}

template <class Number>
RowMatrix converted(const NpyContent& content, const RunContext& ctx) {
  const NpyHeader& header = content.header;
  RowMatrix values(header.rows, header.cols);
  const Index row_step = header.fortran_order ? 1 : header.cols;
  const Index column_step = header.fortran_order ? header.rows : 1;
  // Tiles, so that the strided side of a column-major array stays in the cache.
  constexpr Index kTile = 64;
  for (Index i0 = 0; i0 < header.rows; i0 += kTile) {
    ctx.check_stop();
    const Index i1 = std::min(i0 + kTile, header.rows);
    for (Index j0 = 0; j0 < header.cols; j0 += kTile) {
      const Index j1 = std::min(j0 + kTile, header.cols);
      for (Index i = i0; i < i1; ++i) {
        for (Index j = j0; j < j1; ++j) {
          const auto position = static_cast<std::size_t>(i * row_step + j * column_step);
          values(i, j) = number_at<Number>(content.data, position, header.swapped);
        }
      }
    }
  }
  return values;
}

RowMatrix converted_numbers(const NpyContent& content, const RunContext& ctx) {
  const std::size_t size = content.header.item_size;
  switch (content.header.kind) {
    case NpyKind::kFloat:
      return size == 4 ? converted<float>(content, ctx) : converted<double>(content, ctx);
    case NpyKind::kSigned:
      if (size == 1) return converted<std::int8_t>(content, ctx);
      if (size == 2) return converted<std::int16_t>(content, ctx);
      if (size == 4) return converted<std::int32_t>(content, ctx);
      return converted<std::int64_t>(content, ctx);
    case NpyKind::kUnsigned:
    case NpyKind::kBool:
      break;
  }
  if (size == 1) return converted<std::uint8_t>(content, ctx);
  if (size == 2) return converted<std::uint16_t>(content, ctx);
  if (size == 4) return converted<std::uint32_t>(content, ctx);
  return converted<std::uint64_t>(content, ctx);
}

bool usable_in_place(const NpyContent& content) {
  const NpyHeader& header = content.header;
  return header.kind == NpyKind::kFloat && header.item_size == sizeof(double) && !header.swapped &&
         !header.fortran_order &&
         reinterpret_cast<std::uintptr_t>(content.data) % alignof(double) == 0;
}

}  // namespace

bool looks_like_npy(std::string_view head) { return head.starts_with("\x93NUMPY"); }

SimilaritySet read_npy(ByteSource& source, const ReadSettings& /*settings*/,
                       const RunContext& ctx) {
  NpyContent content =
      source.is_plain_file() ? map_content(source.name()) : read_content(source, ctx);
  SimilaritySet set;
  DenseBlock block;
  if (usable_in_place(content)) {
    block = DenseBlock(reinterpret_cast<const double*>(content.data), content.header.rows,
                       content.header.cols, std::move(content.owner));
  } else {
    block = DenseBlock(converted_numbers(content, ctx));
  }
  refuse_infinite(block, source.name());
  set.block = std::move(block);
  return set;
}

void write_npy(AtomicFile& file, const SimilaritySet& set, const RunContext& ctx) {
  static_assert(std::endian::native == std::endian::little, "doubles are written as they lie");
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" +
                       std::to_string(set.rows()) + ", " + std::to_string(set.cols()) + "), }";
  // Padded with blanks and a line end so that the numbers begin at a multiple of 64 bytes.
  constexpr std::size_t kAlignment = 64;
  const std::size_t used = kNpyShortPrefix + header.size() + 1;
  header.append((kAlignment - used % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string start = "\x93NUMPY";
  start += {'\1', '\0', static_cast<char>(header.size() & 0xffU),
            static_cast<char>(header.size() >> 8U)};
  file.write(start + header);

  std::vector<double> row(static_cast<std::size_t>(set.cols()));
  for (Index i = 0; i < set.rows(); ++i) {
    ctx.check_stop();
    copy_row(set.block, i, row);
    file.write({reinterpret_cast<const char*>(row.data()), row.size() * sizeof(double)});
  }
}

}  // namespace kith::detail
