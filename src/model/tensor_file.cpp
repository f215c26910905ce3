// SPDX-License-Identifier: Apache-2.0
// Layout: 8 bytes header length (little-endian), the JSON header, the blocks.
//
// The checksum stands in the header it protects, so it is taken over the whole file with its own 16
// digits read as zeros. The raw bytes `"checksum":"` cannot occur in a second place of a header: a
// quote inside a JSON text has a backslash before it.
#include "kith/model/tensor_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <utility>

#include "core/errors.hpp"
#include "data/formats/stream.hpp"
#include "kith/core/text.hpp"
#include "kith/core/xxh64.hpp"
#include "kith/data/atomic_file.hpp"
#include "model/tensor_header.hpp"

namespace kith {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are stored as they are");

using detail::ByteSource;
using detail::TensorHeader;

constexpr std::string_view kChecksumMark = "\"checksum\":\"";
constexpr std::string_view kNoChecksum = "0000000000000000";
constexpr std::size_t kLengthBytes = 8;

std::string length_bytes(std::uint64_t length) {
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  return bytes;
}

// Writing.

/// Length and header with the checksum in it.
std::string sealed_head(const TensorFile& file, const TensorFormat& format) {
  auto metadata = file.metadata;
  const bool is_free = metadata.emplace("format", format.name).second &&
                       metadata.emplace("format_version", std::to_string(format.version)).second &&
                       metadata.emplace("checksum", kNoChecksum).second;
  if (!is_free) throw Error(ErrorCode::kInternal, "a metadata key of the format itself is taken");
  const std::string header = detail::header_text(file, metadata);
  std::string head = length_bytes(header.size()) + header;
  Xxh64 hash;
  hash.update(head);
  for (const std::string& name : detail::block_order(file))
    hash.update(file.tensors.at(name).bytes);
  head.replace(head.find(kChecksumMark) + kChecksumMark.size(), kNoChecksum.size(),
               hex_digits(hash.digest()));
  return head;
}

void write_to(const std::function<void(std::string_view)>& sink, const TensorFile& file,
              const TensorFormat& format) {
  sink(sealed_head(file, format));
  for (const std::string& name : detail::block_order(file)) sink(file.tensors.at(name).bytes);
}

// Reading.

[[noreturn]] void refuse_foreign(const std::string& name, const TensorFormat& format,
                                 std::string_view why) {
  throw bad_input({name}, "this is no {} file: {}", format.name, why);
}

[[noreturn]] void refuse_truncated(const std::string& name, std::string_view what) {
  throw bad_input({name}, "the file is truncated: it ends inside {}", what);
}

/// `size` bytes, with memory that grows with what has really been read.
std::shared_ptr<std::vector<char>> read_exactly(ByteSource& source, std::size_t size,
                                                std::string_view what) {
  constexpr std::size_t kFirstStep = std::size_t{1} << 20U;
  auto bytes = std::make_shared<std::vector<char>>();
  while (bytes->size() < size) {
    const std::size_t have = bytes->size();
    // The size of an uncompressed file was compared before; otherwise it is only a claim.
    const std::size_t step = source.plain_size() ? size : std::max(kFirstStep, have);
    bytes->resize(std::min(size, have + step));
    const auto room = std::span(*bytes).subspan(have);
    if (source.read(room) < room.size()) refuse_truncated(source.name(), what);
  }
  return bytes;
}

/// The header's length, once it is plausible for a file of this size.
std::size_t read_length(ByteSource& source, const TensorFormat& format) {
  std::array<char, kLengthBytes> bytes{};
  const bool has_object = source.head().substr(0, kLengthBytes + 1).ends_with('{');
  const std::size_t got = source.read(bytes);
  if (got == 0) throw bad_input({source.name()}, "the file is empty");
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), got);
  if (got < kLengthBytes || !has_object || length > detail::kLargestHeader) {
    refuse_foreign(source.name(), format, "it does not begin with a header");
  }
  const auto plain = source.plain_size();
  if (plain && length > static_cast<std::uint64_t>(*plain) - kLengthBytes) {
    refuse_truncated(source.name(), "its header");
  }
  return length;
}

/// Throws unless the file is of this format and version; takes both keys out.
void take_version(TensorHeader& header, const std::string& name, const TensorFormat& format) {
  const auto node = header.metadata.extract("format");
  if (node.empty()) refuse_foreign(name, format, "its metadata names no format");
  if (node.mapped() != format.name) {
    refuse_foreign(name, format, fmt::format("its format is {}", in_quotes(node.mapped())));
  }
  const auto stored = header.metadata.extract("format_version");
  const auto version = stored.empty() ? std::nullopt : parse_integer(stored.mapped());
  if (!version || *version < 1) throw bad_input({name}, "the format version is absent or no count");
  if (*version != format.version) {
    throw bad_input({name},
                    "format version {} was written by another kith (this one "
                    "reads version {}); make it again, or use that kith",
                    *version, format.version);
  }
}

/// Throws unless the digits in the header are those of the file; takes the key out.
void check_seal(TensorHeader& header, std::string head, std::string_view data,
                const std::string& name) {
  const auto node = header.metadata.extract("checksum");
  const std::size_t mark = head.find(kChecksumMark);
  const std::size_t at = mark + kChecksumMark.size();
  if (node.empty() || mark == std::string::npos || node.mapped().size() != kNoChecksum.size() ||
      head.compare(at, kNoChecksum.size(), node.mapped()) != 0) {
    throw bad_input({name}, "the checksum is absent or not in its form");
  }
  head.replace(at, kNoChecksum.size(), kNoChecksum);
  Xxh64 hash;
  hash.update(head);
  hash.update(data);
  if (hex_digits(hash.digest()) != node.mapped()) {
    throw bad_input({name}, "the file is damaged: its content does not match its checksum");
  }
}

std::map<std::string, Tensor> tensors_of(const TensorHeader& header,
                                         const std::shared_ptr<std::vector<char>>& data) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, entry] : header.tensors) {
    const std::string_view all(data->data(), data->size());
    const auto part = all.substr(static_cast<std::size_t>(entry.begin),
                                 static_cast<std::size_t>(entry.end - entry.begin));
    tensors.emplace(name, Tensor{entry.type, entry.shape, part, data});
  }
  return tensors;
}

TensorFile read_from(ByteSource& source, const TensorFormat& format) {
  const std::string& name = source.name();
  const std::size_t length = read_length(source, format);
  const auto text = read_exactly(source, length, "its header");
  TensorHeader header = detail::parse_header({text->data(), text->size()}, name);
  take_version(header, name, format);

  const auto data_bytes = static_cast<std::size_t>(header.data_bytes);
  const auto plain = source.plain_size();
  if (plain && static_cast<std::uint64_t>(*plain) - kLengthBytes - length < data_bytes) {
    refuse_truncated(name, "its arrays");
  }
  const auto data = read_exactly(source, data_bytes, "its arrays");
  std::array<char, 1> more{};
  if (source.read(more) != 0) throw bad_input({name}, "there are bytes behind the last array");

  check_seal(header, length_bytes(length) + std::string(text->begin(), text->end()),
             {data->data(), data->size()}, name);
  std::map<std::string, Tensor> tensors = tensors_of(header, data);
  return {std::move(header.metadata), std::move(tensors)};
}

}  // namespace

Index element_size(TensorType type) {
  switch (type) {
    case TensorType::kF64:
    case TensorType::kI64:
      return 8;
    case TensorType::kI32:
      return 4;
    case TensorType::kU8:
      return 1;
  }
  return 1;
}

std::string Tensor::text() const {
  return fmt::format("{} {}", enum_name(type),
                     shape.empty() ? "number" : fmt::format("{}", fmt::join(shape, " x ")));
}

std::string tensor_file_bytes(const TensorFile& file, const TensorFormat& format) {
  std::string bytes;
  write_to([&](std::string_view part) { bytes += part; }, file, format);
  return bytes;
}

void write_tensor_file(const std::string& path, const TensorFile& file,
                       const TensorFormat& format) {
  AtomicFile out(path);
  write_to([&](std::string_view part) { out.write(part); }, file, format);
  out.commit();
}

TensorFile read_tensor_file(const std::string& path, const TensorFormat& format) {
  ByteSource source = ByteSource::open(path);
  return read_from(source, format);
}

TensorFile read_tensor_bytes(std::string_view bytes, const std::string& name,
                             const TensorFormat& format) {
  ByteSource source = ByteSource::from_memory(bytes, name);
  return read_from(source, format);
}

}  // namespace kith
