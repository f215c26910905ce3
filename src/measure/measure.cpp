// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/measure.hpp"

#include <fmt/format.h>

#include <cassert>
#include <filesystem>
#include <utility>

#include "kith/core/error.hpp"
#include "kith/measure/edit.hpp"

namespace kith {
namespace {

void check_kind(const RawData& data, Measure measure) {
  if (kind_of(data) == data_kind(measure)) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("measure {} takes {}, and {} holds {}", enum_name(measure),
                  enum_name(data_kind(measure)), source_of(data), enum_name(kind_of(data))));
}

EditValue edit_value(Measure measure) {
  return measure == Measure::kEditDistance ? EditValue::kDistance : EditValue::kSimilarity;
}

/// "dir/words.tsv.gz" -> "words".
std::string stem(std::filesystem::path path) {
  if (path.extension() == ".gz" || path.extension() == ".zst") path = path.stem();
  return path.stem().string();
}

/// The table around the numbers: what they are, of which samples, computed how.
SimilaritySet table(RowMatrix values, const RawData& rows, const RawData& columns,
                    const MeasureSettings& settings) {
  SimilaritySet set;
  set.name = stem(source_of(rows));
  set.source = source_of(rows);
  set.format = enum_name(kind_of(rows));
  set.kind = pair_kind(settings.measure);
  set.block = DenseBlock(std::move(values));
  set.row_ids.assign(ids_of(rows).begin(), ids_of(rows).end());
  set.column_ids.assign(ids_of(columns).begin(), ids_of(columns).end());
  set.applied.push_back(fmt::format("measure {}", enum_name(settings.measure)));
  return set;
}

}  // namespace

RawKind data_kind(Measure measure) {
  switch (measure) {
    case Measure::kEdit:
    case Measure::kEditDistance:
      return RawKind::kStrings;
  }
  assert(false && "every Measure takes a kind of data");
  return {};
}

PairKind pair_kind(Measure measure) {
  switch (measure) {
    case Measure::kEdit:
      return PairKind::kSimilarity;
    case Measure::kEditDistance:
      return PairKind::kDistance;
  }
  assert(false && "every Measure is a similarity or a distance");
  return {};
}

std::string_view explanation(Measure measure) {
  switch (measure) {
    case Measure::kEdit:
      return "normalised edit similarity of strings: 1 - edit distance / longer length";
    case Measure::kEditDistance:
      return "edit distance of strings: insertions, deletions and substitutions of code points";
  }
  assert(false && "every Measure is explained");
  return {};
}

SimilaritySet measure(const RawData& data, const MeasureSettings& settings, const RunContext& ctx) {
  check_kind(data, settings.measure);
  switch (settings.measure) {
    case Measure::kEdit:
    case Measure::kEditDistance:
      return table(
          edit_matrix(std::get<StringData>(data).values, edit_value(settings.measure), ctx), data,
          data, settings);
  }
  assert(false && "every Measure is computed");
  return {};
}

SimilaritySet measure(const RawData& queries, const RawData& training,
                      const MeasureSettings& settings, const RunContext& ctx) {
  check_kind(queries, settings.measure);
  check_kind(training, settings.measure);
  switch (settings.measure) {
    case Measure::kEdit:
    case Measure::kEditDistance:
      return table(
          edit_matrix(std::get<StringData>(queries).values, std::get<StringData>(training).values,
                      edit_value(settings.measure), ctx),
          queries, training, settings);
  }
  assert(false && "every Measure is computed");
  return {};
}

}  // namespace kith
