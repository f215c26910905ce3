// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/raw_data.hpp"

#include <cassert>

#include "measure/strings.hpp"

namespace kith {

RawKind kind_of(const RawData& data) { return static_cast<RawKind>(data.index()); }

Index size_of(const RawData& data) {
  return std::visit([](const auto& kind) { return static_cast<Index>(kind.values.size()); }, data);
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
  }
  assert(false && "every RawKind has a reader");
  return {};
}

}  // namespace kith
