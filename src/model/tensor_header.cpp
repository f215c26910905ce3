// SPDX-License-Identifier: Apache-2.0
#include "model/tensor_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "kith/core/text.hpp"
#include "model/strict_json.hpp"

namespace kith::detail {
namespace {

constexpr const char* kMetadata = "__metadata__";
constexpr const char* kHeaderSubject = "the header";
constexpr std::size_t kMostDimensions = 8;
// Also for arrays without elements, over which somebody may still loop.
constexpr std::int64_t kLargestDimension = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void refuse(const std::string& file, std::string_view tensor,
                         const std::string& rule) {
  throw bad_input({file}, "array {}: {}", in_quotes(tensor), rule);
}

TensorType type_of(const nlohmann::json& stored, const std::string& file, std::string_view name) {
  const std::string text = stored.is_string() ? stored.get<std::string>() : "";
  if (const std::optional<TensorType> type = find_enum<TensorType>(text)) return *type;
  refuse(
      file, name,
      fmt::format("dtype {} is unknown; kith has F64, I64, I32 and U8", in_quotes(stored.dump())));
}

Index count_of(const nlohmann::json& stored, const std::string& file, std::string_view name) {
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 62U;
  if (!stored.is_number_unsigned() || stored.get<std::uint64_t>() > kLargest) {
    refuse(file, name, "a shape or an offset is no count");
  }
  return stored.get<Index>();
}

TensorEntry entry_of(const nlohmann::json& stored, const std::string& file, std::string_view name) {
  const bool has_parts = stored.is_object() && stored.size() == 3 && stored.contains("dtype") &&
                         stored.contains("shape") && stored.contains("data_offsets") &&
                         stored.at("shape").is_array() && stored.at("data_offsets").is_array() &&
                         stored.at("data_offsets").size() == 2;
  if (!has_parts) refuse(file, name, "needs a dtype, a shape and two data_offsets, no more");
  TensorEntry entry;
  entry.type = type_of(stored.at("dtype"), file, name);
  for (const auto& size : stored.at("shape")) entry.shape.push_back(count_of(size, file, name));
  entry.begin = count_of(stored.at("data_offsets")[0], file, name);
  entry.end = count_of(stored.at("data_offsets")[1], file, name);
  const Index bytes = bytes_of(entry.type, entry.shape);
  if (bytes < 0) refuse(file, name, "its shape is too large");
  if (entry.end - entry.begin != bytes) {
    refuse(file, name,
           fmt::format("offsets {} to {}, but its shape takes {} bytes", entry.begin, entry.end,
                       bytes));
  }
  if (entry.begin % element_size(entry.type) != 0) {
    refuse(file, name, fmt::format("offset {} is not aligned to its elements", entry.begin));
  }
  return entry;
}

/// Sets data_bytes, or throws: in the order of their offsets, each block begins where the one
/// before it ends.
void check_blocks(TensorHeader& header, const std::string& file) {
  std::vector<const std::pair<const std::string, TensorEntry>*> order;
  for (const auto& item : header.tensors) order.push_back(&item);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  for (const auto* item : order) {
    if (item->second.begin != header.data_bytes) {
      refuse(file, item->first,
             fmt::format("begins at offset {}; {} was expected (blocks lie side by side)",
                         item->second.begin, header.data_bytes));
    }
    header.data_bytes = item->second.end;
  }
}

}  // namespace

Index bytes_of(TensorType type, const std::vector<Index>& shape) {
  if (shape.size() > kMostDimensions) return -1;
  std::int64_t bytes = element_size(type);
  bool is_empty = false;
  for (const Index size : shape) {
    if (size < 0 || size > kLargestDimension) return -1;
    if (size == 0) is_empty = true;
    if (__builtin_mul_overflow(bytes, std::max<std::int64_t>(size, 1), &bytes)) return -1;
  }
  return is_empty ? 0 : bytes;
}

std::vector<std::string> block_order(const TensorFile& file) {
  std::vector<std::string> names;
  for (const auto& item : file.tensors) names.push_back(item.first);
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return element_size(file.tensors.at(a).type) > element_size(file.tensors.at(b).type);
  });
  return names;
}

std::string header_text(const TensorFile& file,
                        const std::map<std::string, std::string>& metadata) {
  nlohmann::json header = nlohmann::json::object();
  header[kMetadata] = metadata;
  Index offset = 0;
  for (const std::string& name : block_order(file)) {
    const Tensor& tensor = file.tensors.at(name);
    const Index bytes = bytes_of(tensor.type, tensor.shape);
    if (name == kMetadata || bytes != static_cast<Index>(tensor.bytes.size())) {
      throw Error(ErrorCode::kInternal,
                  fmt::format("array {} ({}) cannot be stored", in_quotes(name), tensor.text()));
    }
    header[name] = {{"dtype", enum_name(tensor.type)},
                    {"shape", tensor.shape},
                    {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = strict_text(header, kHeaderSubject);
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > kLargestHeader) {
    throw invalid("the names and texts of a model take {} bytes; at most {} can be stored",
                  text.size(), kLargestHeader);
  }
  return text;
}

TensorHeader parse_header(std::string_view text, const std::string& file) {
  nlohmann::json stored;
  try {
    stored = parse_strict<nlohmann::json>(text, kHeaderSubject);
  } catch (const Error& error) {
    throw bad_input({file}, error.what());
  }
  if (!stored.is_object()) throw bad_input({file}, "the header is no JSON object");
  TensorHeader header;
  for (const auto& [name, value] : stored.items()) {
    if (name != kMetadata) {
      header.tensors.emplace(name, entry_of(value, file, name));
      continue;
    }
    if (!value.is_object()) throw bad_input({file}, "__metadata__ is no JSON object");
    for (const auto& [key, content] : value.items()) {
      if (!content.is_string()) throw bad_input({file}, "metadata {} is no text", in_quotes(key));
      header.metadata.emplace(key, content.get<std::string>());
    }
  }
  check_blocks(header, file);
  return header;
}

}  // namespace kith::detail
