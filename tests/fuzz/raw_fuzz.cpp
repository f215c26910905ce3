// SPDX-License-Identifier: Apache-2.0
// Raw samples, the way a user's file goes: the same bytes are read as each kind of data.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <variant>
#include <vector>

#include "kith/core/error.hpp"
#include "kith/measure/raw_data.hpp"
#include "memory_file.hpp"

namespace kith::raw_fuzz {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check_values(const StringData&) {}

void check_values(const VectorData& data) {
  const auto all_finite = [](const double* begin, const double* end) {
    return std::all_of(begin, end, [](double value) { return std::isfinite(value); });
  };
  if (const auto* sparse = std::get_if<SparseBlock>(&data.values)) {
    require(all_finite(sparse->values.data(), sparse->values.data() + sparse->values.size()));
    for (const std::int32_t column : sparse->columns) require(column >= 0 && column < sparse->cols);
    return;
  }
  const auto& dense = std::get<DenseBlock>(data.values);
  for (Index i = 0; i < dense.rows(); ++i) {
    require(all_finite(dense.row(i).data(), dense.row(i).data() + dense.cols()));
  }
}

void check_values(const SeriesData& data) {
  for (const std::vector<double>& series : data.values) {
    require(!series.empty());
    for (const double value : series) require(std::isfinite(value));
  }
}

void check_values(const SequenceData& data) {
  for (const std::string& sequence : data.values) {
    require(!sequence.empty());
    for (const char c : sequence) require((c >= 'A' && c <= 'Z') || c == '*');
  }
}

void check_values(const SetData& data) {
  for (const std::vector<std::string>& words : data.values) {
    const std::unordered_set<std::string> distinct(words.begin(), words.end());
    require(distinct.size() == words.size());
    require(!distinct.contains(""));
  }
}

void check_values(const CategoryData& data) {
  for (const auto& row : data.values) require(row.size() == data.values.front().size());
}

/// Samples as raw_data.hpp describes them, or an error that gives its reason.
void try_to_read(const std::string& path, RawKind kind) {
  try {
    const RawData data = read_raw(path, kind, RunContext{});
    require(kind_of(data) == kind && size_of(data) > 0);
    const auto ids = ids_of(data);
    require(ids.empty() || static_cast<Index>(ids.size()) == size_of(data));
    require(std::unordered_set<std::string>(ids.begin(), ids.end()).size() == ids.size());
    std::visit([](const auto& values) { check_values(values); }, data);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kBadInput || error.code() == ErrorCode::kInvalidArgument);
    require(!std::string(error.what()).empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(data, size);
  for (std::size_t kind = 0; kind < kEnumNames<RawKind>.size(); ++kind) {
    try_to_read(file.path(), static_cast<RawKind>(kind));
  }
  return 0;
}

}  // namespace kith::raw_fuzz
