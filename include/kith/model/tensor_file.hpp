// SPDX-License-Identifier: Apache-2.0
// Named arrays and named texts in one file of the safetensors layout, with a checksum over every
// byte. docs/formats.md describes the bytes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kith/core/settings.hpp"
#include "kith/core/types.hpp"

namespace kith {

enum class TensorType { kF64, kI64, kI32, kU8 };
constexpr auto enum_names(TensorType /*of*/) { return named("F64", "I64", "I32", "U8"); }
[[nodiscard]] Index element_size(TensorType type);

/// Numbers in row-major order, little-endian, in memory that `owner` keeps alive.
struct Tensor {
  TensorType type = TensorType::kU8;
  std::vector<Index> shape;  ///< empty: a single number
  std::string_view bytes;
  std::shared_ptr<const void> owner;

  /// "F64 3 x 4", for messages.
  [[nodiscard]] std::string text() const;
};

struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::map<std::string, Tensor> tensors;
};

/// What a file says of itself. Only this version is read and written.
struct TensorFormat {
  std::string_view name;  ///< under the metadata key `format`
  int version = 1;        ///< under `format_version`, counted from 1
};

/// The keys `format`, `format_version` and `checksum` are added to the metadata. The same content
/// gives the same bytes. Throws Error(kInternal) for content that the format cannot hold, naming
/// it, and Error(kInvalidArgument) for text that is not UTF-8.
[[nodiscard]] std::string tensor_file_bytes(const TensorFile& file, const TensorFormat& format);
/// The same through AtomicFile, without a copy of the tensors in memory.
void write_tensor_file(const std::string& path, const TensorFile& file, const TensorFormat& format);

/// The content of a file, without the three keys above.
/// Every size that the file claims is checked before memory is allocated for it, and every byte is
/// under the checksum. Throws Error naming the file and the rule: kIo where the system refuses,
/// kBadInput for an empty, truncated, damaged or different file and one of another version.
[[nodiscard]] TensorFile read_tensor_file(const std::string& path, const TensorFormat& format);
/// The same over bytes in memory; `name` stands for the file in messages.
[[nodiscard]] TensorFile read_tensor_bytes(std::string_view bytes, const std::string& name,
                                           const TensorFormat& format);

}  // namespace kith
