// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/raw_data.hpp"

#include <cassert>

#include "measure/strings.hpp"
#include "measure/vectors.hpp"

namespace kith {
namespace {

Index count(const std::vector<std::string>& values) { return static_cast<Index>(values.size()); }
Index count(const RowMatrix& values) { return values.rows(); }

}  // namespace

RawKind kind_of(const RawData& data) { return static_cast<RawKind>(data.index()); }

Index size_of(const RawData& data) {
  return std::visit([](const auto& kind) { return count(kind.values); }, data);
}

const std::string& source_of(const RawData& data) {
  return std::visit([](const auto& kind) -> const std::string& { return kind.source; }, data);
}

std::span<const std::string> ids_of(const RawData& data) {
  return std::visit([](const auto& kind) { return std::span<const std::string>(kind.ids); }, data);
}

RawData read_raw(const std::string& path, RawKind kind, const RunContext& ctx) {
  switch (kind) {
    case RawKind::kStrings:
      return detail::read_strings(path, ctx);
    case RawKind::kVectors:
      return detail::read_vectors(path, ctx);
  }
  assert(false && "every RawKind has a reader");
  return {};
}

}  // namespace kith
