// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <filesystem>
#include <utility>

#include "kith/core/error.hpp"
#include "kith/core/text.hpp"
#include "kith/measure/edit.hpp"
#include "kith/measure/gaussian.hpp"

namespace kith {
namespace {

void check_kind(const RawData& data, Measure measure) {
  if (kind_of(data) == data_kind(measure)) return;
  throw Error(
      ErrorCode::kInvalidArgument,
      fmt::format("measure {} takes {}, and {} holds {}", enum_name(measure),
                  enum_name(data_kind(measure)), source_of(data), enum_name(kind_of(data))));
}

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

/// A setting that would have no effect is a mistake.
void check_settings(const MeasureSettings& settings) {
  if (settings.gamma && settings.measure != Measure::kGaussian) {
    refuse(fmt::format("gamma is a setting of gaussian, not of {}", enum_name(settings.measure)));
  }
  if (settings.perturb == Perturb::kCy && !settings.xi) {
    refuse("perturb cy needs xi, the size of the noise");
  }
  if (settings.perturb == Perturb::kNone && settings.xi) {
    refuse("xi is the size of noise; give perturb cy with it");
  }
  if (settings.perturb == Perturb::kCy && pair_kind(settings.measure) == PairKind::kDistance) {
    refuse(fmt::format("perturb cy adds noise to similarities, and {} is a distance",
                       enum_name(settings.measure)));
  }
}

double gamma_of(const MeasureSettings& settings, Index features) {
  return settings.gamma.value_or(1.0 / static_cast<double>(std::max<Index>(features, 1)));
}

RowMatrix widened(const RowMatrix& values, Index columns) {
  RowMatrix wide = RowMatrix::Zero(values.rows(), columns);
  wide.leftCols(values.cols()) = values;
  return wide;
}

RowMatrix gaussian_rows(const VectorData& queries, const VectorData& training,
                        const MeasureSettings& settings, const RunContext& ctx) {
  const Index wide = queries.values.cols();
  const Index columns = training.values.cols();
  // The default gamma is the training samples' own: the rows of new samples must not change it.
  const double gamma = gamma_of(settings, columns);
  if (wide == columns) return gaussian_matrix(queries.values, training.values, gamma, ctx);
  if (!queries.absent_is_zero || !training.absent_is_zero) {
    refuse(fmt::format("{} has {} features and {} has {}; they must agree", queries.source, wide,
                       training.source, columns));
  }
  const Index both = std::max(wide, columns);
  return gaussian_matrix(widened(queries.values, both), widened(training.values, both), gamma, ctx);
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
  if (settings.perturb == Perturb::kCy) {
    set.applied.push_back(fmt::format("perturb cy, xi {}", format_double(*settings.xi)));
  }
  return set;
}

RowMatrix all_pairs(const RawData& data, const MeasureSettings& settings, const RunContext& ctx) {
  switch (settings.measure) {
    case Measure::kEdit:
    case Measure::kEditDistance:
      return edit_matrix(std::get<StringData>(data).values, edit_value(settings.measure), ctx);
    case Measure::kGaussian: {
      const RowMatrix& X = std::get<VectorData>(data).values;
      return gaussian_matrix(X, gamma_of(settings, X.cols()), ctx);
    }
  }
  assert(false && "every Measure is computed");
  return {};
}

RowMatrix rows_against(const RawData& queries, const RawData& training,
                       const MeasureSettings& settings, const RunContext& ctx) {
  switch (settings.measure) {
    case Measure::kEdit:
    case Measure::kEditDistance:
      return edit_matrix(std::get<StringData>(queries).values,
                         std::get<StringData>(training).values, edit_value(settings.measure), ctx);
    case Measure::kGaussian:
      return gaussian_rows(std::get<VectorData>(queries), std::get<VectorData>(training), settings,
                           ctx);
  }
  assert(false && "every Measure is computed");
  return {};
}

}  // namespace

RawKind data_kind(Measure measure) {
  switch (measure) {
    case Measure::kEdit:
    case Measure::kEditDistance:
      return RawKind::kStrings;
    case Measure::kGaussian:
      return RawKind::kVectors;
  }
  assert(false && "every Measure takes a kind of data");
  return {};
}

PairKind pair_kind(Measure measure) {
  switch (measure) {
    case Measure::kEdit:
    case Measure::kGaussian:
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
    case Measure::kGaussian:
      return "Gaussian kernel of vectors: exp(-gamma * squared distance)";
  }
  assert(false && "every Measure is explained");
  return {};
}

SimilaritySet measure(const RawData& data, const MeasureSettings& settings, const RunContext& ctx) {
  check_kind(data, settings.measure);
  check_settings(settings);
  RowMatrix values = all_pairs(data, settings, ctx);
  if (settings.perturb == Perturb::kCy) perturb_cy(values, *settings.xi, ctx.rng.stream("perturb"));
  return table(std::move(values), data, data, settings);
}

SimilaritySet measure(const RawData& queries, const RawData& training,
                      const MeasureSettings& settings, const RunContext& ctx) {
  check_kind(queries, settings.measure);
  check_kind(training, settings.measure);
  check_settings(settings);
  if (settings.perturb != Perturb::kNone) {
    refuse("perturb is for all pairs of one set of samples, not for rows of new ones");
  }
  return table(rows_against(queries, training, settings, ctx), queries, training, settings);
}

}  // namespace kith
