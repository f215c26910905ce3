// SPDX-License-Identifier: Apache-2.0
// Samples before any similarity is computed. Each kind of raw data is a plain struct with `source`
// and `ids`; a new kind is a new member of RawData and of RawKind.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kith/core/context.hpp"
#include "kith/core/settings.hpp"
#include "kith/core/types.hpp"

namespace kith {

/// One UTF-8 string per sample.
struct StringData {
  std::string source;            ///< the file, for messages and records
  std::vector<std::string> ids;  ///< empty: samples are known by position
  std::vector<std::string> values;
};

/// One vector per sample, the rows of a matrix.
struct VectorData {
  std::string source;
  std::vector<std::string> ids;
  RowMatrix values;
  /// Read from a format that leaves out zeros, where the width is only that of the last position
  /// that occurs: two such files may differ in it.
  bool absent_is_zero = false;
};

using RawData = std::variant<StringData, VectorData>;

/// The members of RawData, in their order.
enum class RawKind { kStrings, kVectors };
template <>
struct EnumNames<RawKind> {
  static constexpr std::array<std::string_view, 2> names = {"strings", "vectors"};
};
static_assert(EnumNames<RawKind>::names.size() == std::variant_size_v<RawData>);

[[nodiscard]] RawKind kind_of(const RawData& data);
[[nodiscard]] Index size_of(const RawData& data);
[[nodiscard]] const std::string& source_of(const RawData& data);
[[nodiscard]] std::span<const std::string> ids_of(const RawData& data);

/// Reads raw data (plain, gzip or zstd). Strings: `id<TAB>string` on every line, or one string per
/// line. Vectors: a csv, tsv, npy, MatrixMarket or MATLAB table with a sample per row, or LIBSVM
/// text `label index:value ...`. Errors name file, line, column, value and rule.
[[nodiscard]] RawData read_raw(const std::string& path, RawKind kind, const RunContext& ctx);

}  // namespace kith
