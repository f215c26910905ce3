// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/raw_data.hpp"

#include <fmt/format.h>

#include <cassert>
#include <filesystem>
#include <type_traits>
#include <utility>

#include "kith/core/positions.hpp"
#include "kith/core/text.hpp"
#include "measure/readers.hpp"

namespace kith {
namespace {

template <class Value>
Index count(const std::vector<Value>& values) {
  return static_cast<Index>(values.size());
}
Index count(const Block& values) { return rows(values); }

std::filesystem::path without_compression(std::filesystem::path path) {
  if (path.extension() == ".gz" || path.extension() == ".zst") path.replace_extension();
  return path;
}

/// A line of text could begin with '>' too, so that the name decides.
bool is_named_fasta(const std::string& name) {
  const std::filesystem::path path = without_compression(name);
  for (const char* ending : {".fasta", ".fa", ".faa", ".fna"}) {
    if (path.extension() == ending) return true;
  }
  return false;
}

template <class Value>
std::vector<Value> chosen(const std::vector<Value>& values, std::span<const Index> positions) {
  return values_at(values, positions);
}
Block chosen(const Block& values, std::span<const Index> positions) {
  return select_rows(values, positions);
}

StringData strings_of(SequenceData data) {
  return {std::move(data.source), std::move(data.ids), std::move(data.values)};
}

}  // namespace

RawKind kind_of(const RawData& data) { return static_cast<RawKind>(data.index()); }

Index size_of(const RawData& data) {
  return std::visit([](const auto& kind) { return count(kind.values); }, data);
}

const std::string& source_of(const RawData& data) {
  return std::visit([](const auto& kind) -> const std::string& { return kind.source; }, data);
}

std::string name_of(const RawData& data) {
  return without_compression(source_of(data)).stem().string();
}

std::span<const std::string> ids_of(const RawData& data) {
  return std::visit([](const auto& kind) { return std::span<const std::string>(kind.ids); }, data);
}

RawData select(const RawData& data, std::span<const Index> positions) {
  return std::visit(
      [&](const auto& kind) -> RawData {
        using Kind = std::decay_t<decltype(kind)>;
        Kind part{};
        part.source = kind.source;
        part.ids = chosen(kind.ids, positions);
        part.values = chosen(kind.values, positions);
        if constexpr (std::is_same_v<Kind, VectorData>) {
          part.absent_is_zero = kind.absent_is_zero;
          part.columns = kind.columns;
        }
        if constexpr (std::is_same_v<Kind, SequenceData>) {
          part.lines = chosen(kind.lines, positions);
        }
        if constexpr (std::is_same_v<Kind, CategoryData>) {
          part.columns = kind.columns;
          if (kind.labels) part.labels = select(*kind.labels, positions);
        }
        return part;
      },
      data);
}

std::string sample_name(std::span<const std::string> ids, Index position) {
  if (ids.empty()) return fmt::format("sample {}", position + 1);
  return in_quotes(ids[static_cast<std::size_t>(position)]);
}

RawData read_raw(const std::string& path, RawKind kind, const RunContext& ctx) {
  switch (kind) {
    case RawKind::kStrings:
      if (is_named_fasta(path)) return strings_of(detail::read_fasta(path, ctx));
      return detail::read_strings(path, ctx);
    case RawKind::kVectors:
      return detail::read_vectors(path, ctx);
    case RawKind::kSeries:
      return detail::read_series(path, ctx);
    case RawKind::kSequences:
      return detail::read_fasta(path, ctx);
    case RawKind::kSets:
      return detail::read_sets(path, ctx);
    case RawKind::kCategories:
      return detail::read_categories(path, ctx);
  }
  assert(false && "every RawKind has a reader");
  return {};
}

}  // namespace kith
