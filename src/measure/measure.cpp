// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "core/errors.hpp"
#include "kith/core/text.hpp"
#include "kith/measure/align.hpp"
#include "kith/measure/compression.hpp"
#include "kith/measure/dtw.hpp"
#include "kith/measure/edit.hpp"
#include "kith/measure/set_similarity.hpp"
#include "kith/measure/spectrum.hpp"
#include "kith/measure/value_difference.hpp"
#include "measure/columns.hpp"
#include "measure/vector_measure.hpp"

namespace kith {
namespace {

constexpr PairKind kSimilarity = PairKind::kSimilarity;
constexpr PairKind kDistance = PairKind::kDistance;

constexpr std::array<MeasureInfo, kEnumNames<Measure>.size()> kMeasures = {{
    {Measure::kEdit, RawKind::kStrings, kSimilarity, "1 - edit distance / length of the longer"},
    {Measure::kEditDistance, RawKind::kStrings, kDistance,
     "insertions, deletions and substitutions of code points"},
    {Measure::kCompressionDistance,
     RawKind::kStrings,
     kDistance,
     "normalised compression distance with zstd",
     {"level"}},
    {Measure::kSpectrum,
     RawKind::kStrings,
     kSimilarity,
     "common k-mers, counted",
     {"kmer", "score"}},
    {Measure::kGaussian, RawKind::kVectors, kSimilarity, "exp(-gamma |x - z|^2)", {"gamma"}},
    {Measure::kLaplacian, RawKind::kVectors, kSimilarity, "exp(-gamma |x - z|_1)", {"gamma"}},
    {Measure::kLinear, RawKind::kVectors, kSimilarity, "inner product x'z"},
    {Measure::kPolynomial,
     RawKind::kVectors,
     kSimilarity,
     "(gamma x'z + coef0)^degree",
     {"gamma", "coef0", "degree"}},
    {Measure::kSigmoid,
     RawKind::kVectors,
     kSimilarity,
     "tanh(gamma x'z + coef0)",
     {"gamma", "coef0"}},
    {Measure::kCosine, RawKind::kVectors, kSimilarity, "x'z / (|x| |z|)"},
    {Measure::kEuclidean, RawKind::kVectors, kDistance, "|x - z|"},
    {Measure::kManhattan, RawKind::kVectors, kDistance, "|x - z|_1"},
    {Measure::kDtw, RawKind::kSeries, kDistance, "dynamic time warping", {"band"}},
    {Measure::kSmithWaterman,
     RawKind::kSequences,
     kSimilarity,
     "score of the best local alignment",
     {"matrix", "gap-open", "gap-extend", "score", "lambda", "karlin-k"}},
    {Measure::kNeedlemanWunsch,
     RawKind::kSequences,
     kSimilarity,
     "score of the best global alignment",
     {"matrix", "gap-open", "gap-extend", "score"}},
    {Measure::kJaccard, RawKind::kSets, kSimilarity, "what both have / what either has"},
    {Measure::kTverskyRatio,
     RawKind::kSets,
     kSimilarity,
     "both / (both + alpha only first + beta only second)",
     {"alpha", "beta"}},
    {Measure::kTverskyContrast,
     RawKind::kSets,
     kSimilarity,
     "theta both - alpha only first - beta only second",
     {"alpha", "beta", "theta"}},
    {Measure::kValueDifference,
     RawKind::kCategories,
     kDistance,
     "value difference metric, by the classes of the samples",
     {"exponent"}},
}};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kMeasures.size(); ++i) {
    if (kMeasures[i].measure != static_cast<Measure>(i)) return false;
  }
  return true;
}
static_assert(in_order(), "rows stand in the order of the enumerators");

void check_kind(const RawData& data, Measure measure) {
  const RawKind wanted = measure_info(measure).data;
  if (kind_of(data) == wanted) return;
  throw invalid("measure {} takes {}, and {} holds {}", enum_name(measure), enum_name(wanted),
                source_of(data), enum_name(kind_of(data)));
}

/// Squares of numbers must be numbers. `least` is counted with them: 1 for new samples, which may
/// be as small as they like.
void check_sizes(const RawData& data, double least = 0) {
  double largest = least;
  if (const auto* vectors = std::get_if<VectorData>(&data)) {
    largest = std::max(largest, largest_magnitude(vectors->values));
  } else if (const auto* series = std::get_if<SeriesData>(&data)) {
    for (const Series& one : series->values) {
      for (const double value : one) largest = std::max(largest, std::abs(value));
    }
  }
  check_size(largest, source_of(data) + ": the numbers");
}

/// "gaussian, laplacian": the measures that take a setting.
std::string takers(std::string_view setting) {
  std::vector<std::string_view> names;
  for (const MeasureInfo& info : kMeasures) {
    if (info.takes(setting)) names.push_back(enum_name(info.measure));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// `values` as wide as `wide_one`, and sparse where that is: its width may be far beyond memory.
Block widened(const Block& values, const Block& wide_one) {
  const Index columns = cols(wide_one);
  if (is_sparse(values) || is_sparse(wide_one)) {
    SparseBlock wide = to_sparse(values);
    wide.cols = columns;
    return wide;
  }
  const auto& dense = std::get<DenseBlock>(values);
  check_dense_fits(dense.rows(), columns);
  RowMatrix wide = RowMatrix::Zero(dense.rows(), columns);
  wide.leftCols(dense.cols()) = dense.values();
  return DenseBlock(std::move(wide));
}

/// Here, where the file is known.
void check_directions(const VectorData& data, Measure measure) {
  if (measure != Measure::kCosine) return;
  for (Index i = 0; i < rows(data.values); ++i) {
    const auto* sparse = std::get_if<SparseBlock>(&data.values);
    const std::span<const double> row =
        sparse != nullptr ? sparse->row(i).values : std::get<DenseBlock>(data.values).row(i);
    const Eigen::Map<const Vector> x(row.data(), std::ssize(row));
    if (!x.isZero(0)) continue;
    throw invalid("{}: {} is all zeros; cosine needs a direction", data.source,
                  sample_name(data.ids, i));
  }
}

RowMatrix vector_rows(const VectorData& queries, const VectorData& training,
                      const MeasureSettings& settings, const RunContext& ctx) {
  check_directions(queries, settings.measure);
  check_directions(training, settings.measure);
  const Index wide = cols(queries.values);
  const Index columns = cols(training.values);
  if (wide == columns) return detail::vector_pairs(queries.values, &training.values, settings, ctx);
  const VectorData& narrow = wide < columns ? queries : training;
  if (!narrow.absent_is_zero) {
    throw invalid(
        "{} has {} features and {} has {}; they must agree, unless the narrower is "
        "LIBSVM text, which leaves out zeros",
        queries.source, wide, training.source, columns);
  }
  if (wide < columns) {
    return detail::vector_pairs(widened(queries.values, training.values), &training.values,
                                settings, ctx);
  }
  const Block wide_training = widened(training.values, queries.values);
  return detail::vector_pairs(queries.values, &wide_training, settings, ctx);
}

EditValue edit_value(Measure measure) {
  return measure == Measure::kEditDistance ? EditValue::kDistance : EditValue::kSimilarity;
}

Alignment alignment_of(Measure measure) {
  return measure == Measure::kSmithWaterman ? Alignment::kLocal : Alignment::kGlobal;
}

AlignSettings align_settings(const MeasureSettings& s) {
  return {.matrix = s.matrix,
          .gap_open = s.gap_open,
          .gap_extend = s.gap_extend,
          .score = s.score,
          .lambda = s.lambda,
          .karlin_k = s.karlin_k};
}

SetSettings set_settings(const MeasureSettings& s) {
  const SetSimilarity of = s.measure == Measure::kJaccard        ? SetSimilarity::kJaccard
                           : s.measure == Measure::kTverskyRatio ? SetSimilarity::kRatio
                                                                 : SetSimilarity::kContrast;
  return {.of = of, .alpha = s.alpha, .beta = s.beta, .theta = s.theta};
}

// For each kind of data all pairs of `rows`, or of `rows` and `columns`.

RowMatrix pairs_of(const StringData& rows, const StringData* columns, const MeasureSettings& s,
                   const RunContext& ctx) {
  if (s.measure == Measure::kSpectrum) {
    return spectrum_matrix(rows, {.kmer = s.kmer, .score = s.score}, ctx, columns);
  }
  std::optional<std::span<const std::string>> others;
  if (columns != nullptr) others = columns->values;
  return s.measure == Measure::kCompressionDistance
             ? compression_matrix(rows.values, {.level = s.level}, ctx, others)
             : edit_matrix(rows.values, edit_value(s.measure), ctx, others);
}

RowMatrix pairs_of(const VectorData& rows, const VectorData* columns, const MeasureSettings& s,
                   const RunContext& ctx) {
  if (columns == nullptr) {
    check_directions(rows, s.measure);
    return detail::vector_pairs(rows.values, nullptr, s, ctx);
  }
  const std::optional<VectorData> moved = detail::in_column_order(rows, *columns);
  return vector_rows(moved ? *moved : rows, *columns, s, ctx);
}

RowMatrix pairs_of(const SeriesData& rows, const SeriesData* columns, const MeasureSettings& s,
                   const RunContext& ctx) {
  std::optional<std::span<const Series>> others;
  if (columns != nullptr) others = columns->values;
  return dtw_matrix(rows.values, {.band = s.band}, ctx, others);
}

RowMatrix pairs_of(const SequenceData& rows, const SequenceData* columns, const MeasureSettings& s,
                   const RunContext& ctx) {
  return align_matrix(alignment_of(s.measure), rows, align_settings(s), ctx, columns);
}

RowMatrix pairs_of(const SetData& rows, const SetData* columns, const MeasureSettings& s,
                   const RunContext& ctx) {
  return set_matrix(rows, set_settings(s), ctx, columns);
}

RowMatrix pairs_of(const CategoryData& rows, const CategoryData* columns, const MeasureSettings& s,
                   const RunContext& ctx) {
  const std::optional<CategoryData> moved =
      columns != nullptr ? detail::in_column_order(rows, *columns) : std::nullopt;
  return value_difference_matrix(moved ? *moved : rows, {.exponent = s.exponent}, ctx, columns);
}

RowMatrix pairs_of(const RawData& rows, const RawData* columns, const MeasureSettings& s,
                   const RunContext& ctx) {
  const auto of_kind = [&]<class Data>(const Data& own) {
    return pairs_of(own, std::get_if<Data>(columns), s, ctx);
  };
  return std::visit(of_kind, rows);
}

/// "measure polynomial, gamma 0.5, coef0 1, degree 3".
std::string record_of(const MeasureSettings& settings) {
  std::string record = fmt::format("measure {}", enum_name(settings.measure));
  const Json relevant = relevant_settings(settings);
  for (const auto& [key, value] : relevant.items()) {
    if (is_of_every_measure(key)) continue;
    record +=
        fmt::format(", {} {}", key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return record;
}

void check_finite(const RowMatrix& values, const RawData& rows, const RawData& columns,
                  Measure measure) {
  for (Index i = 0; i < values.rows(); ++i) {
    for (Index j = 0; j < values.cols(); ++j) {
      if (std::isfinite(values(i, j))) continue;
      throw invalid("{} of {} in {} and {} in {} is not finite; the numbers are too large for it",
                    enum_name(measure), sample_name(ids_of(rows), i), source_of(rows),
                    sample_name(ids_of(columns), j), source_of(columns));
    }
  }
}

/// Scores of DNA by a matrix for proteins are numbers like any other, and hardly meant.
void note_dna(const RawData& data, const MeasureSettings& settings, const RunContext& ctx) {
  constexpr std::size_t kEnough = 20;  // residues; so many of a protein are hardly all A, C, G, T
  const auto* sequences = std::get_if<SequenceData>(&data);
  if (sequences == nullptr) return;
  std::string matrix = settings.matrix;
  for (char& c : matrix) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (matrix == "dnafull" || matrix == "nuc44") return;
  std::size_t residues = 0;
  for (const std::string& sequence : sequences->values) {
    if (sequence.find_first_not_of("ACGTN") != std::string::npos) return;
    residues += sequence.size();
  }
  if (residues < kEnough) return;
  ctx.message(
      fmt::format("{}: every residue is A, C, G, T or N as in DNA, and matrix {} is for proteins; "
                  "dnafull and nuc44 are for DNA (with gap-open and gap-extend)",
                  sequences->source, matrix));
}

/// The table around the numbers: what they are, of which samples, computed how.
SimilaritySet table(RowMatrix values, const RawData& rows, const RawData& columns,
                    const MeasureSettings& settings) {
  check_finite(values, rows, columns, settings.measure);
  SimilaritySet set;
  set.name = name_of(rows);
  set.source = source_of(rows);
  set.format = enum_name(kind_of(rows));
  set.kind = measure_info(settings.measure).values;
  set.block = DenseBlock(std::move(values));
  set.row_ids.assign(ids_of(rows).begin(), ids_of(rows).end());
  set.column_ids.assign(ids_of(columns).begin(), ids_of(columns).end());
  set.applied.push_back(record_of(settings));
  if (settings.perturb == Perturb::kCy) {
    set.applied.push_back(fmt::format("perturb cy, xi {}", format_double(*settings.xi)));
  }
  return set;
}

}  // namespace

bool MeasureInfo::takes(std::string_view setting) const {
  return !setting.empty() && std::find(settings.begin(), settings.end(), setting) != settings.end();
}

const MeasureInfo& measure_info(Measure measure) {
  return kMeasures[static_cast<std::size_t>(measure)];
}

bool is_of_every_measure(std::string_view setting) {
  return setting == "measure" || setting == "perturb" || setting == "xi";
}

Json relevant_settings(const MeasureSettings& settings) {
  const MeasureInfo& info = measure_info(settings.measure);
  const Json all = settings_json(settings);
  Json relevant = Json::object();
  for (const auto& [key, value] : all.items()) {
    const bool noise = is_of_every_measure(key) && key != "measure";
    const bool constant = key == "lambda" || key == "karlin-k";
    if (constant && settings.score != ScoreForm::kPValue) continue;
    if (key == "measure" || info.takes(key) || (noise && settings.perturb != Perturb::kNone)) {
      relevant[key] = value;
    }
  }
  return relevant;
}

// A setting that would have no effect is a mistake.
void check_settings(const MeasureSettings& settings) {
  validate(settings, "measure");
  const MeasureInfo& info = measure_info(settings.measure);
  const Json given = settings_json(settings);
  const Json defaults = settings_json(MeasureSettings{});
  for (const auto& [key, value] : given.items()) {
    if (is_of_every_measure(key) || info.takes(key) || value == defaults[key]) continue;
    throw invalid("{} is a setting of {}, not of {}", key, takers(key),
                  enum_name(settings.measure));
  }
  if (settings.score != ScoreForm::kPValue && (settings.lambda || settings.karlin_k)) {
    throw invalid("lambda and karlin-k are constants of score p-value; give it with them");
  }
  if (info.data == RawKind::kSequences) {
    static_cast<void>(with_defaults(alignment_of(settings.measure), align_settings(settings)));
  }
  if (settings.perturb == Perturb::kCy && !settings.xi) {
    throw invalid("perturb cy needs xi, the size of the noise");
  }
  if (settings.perturb == Perturb::kNone && settings.xi) {
    throw invalid("xi is the size of noise; give perturb cy with it");
  }
  if (settings.perturb == Perturb::kCy && info.values == PairKind::kDistance) {
    throw invalid("perturb cy adds noise to similarities, and {} is a distance",
                  enum_name(settings.measure));
  }
}

// The default gamma is the training samples' own: rows of new samples must not change it.
MeasureSettings with_defaults(MeasureSettings settings, const RawData& training) {
  const MeasureInfo& info = measure_info(settings.measure);
  if (info.takes("gamma") && !settings.gamma) {
    const Index features = cols(std::get<VectorData>(training).values);
    settings.gamma = 1.0 / static_cast<double>(std::max<Index>(features, 1));
  }
  if (info.data == RawKind::kSequences) {
    const AlignSettings full =
        with_defaults(alignment_of(settings.measure), align_settings(settings));
    settings.gap_open = full.gap_open;
    settings.gap_extend = full.gap_extend;
    settings.lambda = full.lambda;
    settings.karlin_k = full.karlin_k;
  }
  return settings;
}

SimilaritySet measure(const RawData& data, const MeasureSettings& settings, const RunContext& ctx) {
  check_kind(data, settings.measure);
  check_sizes(data);
  check_settings(settings);
  note_dna(data, settings, ctx);
  const MeasureSettings complete = with_defaults(settings, data);
  RowMatrix values = pairs_of(data, nullptr, complete, ctx);
  if (complete.perturb == Perturb::kCy)
    detail::perturb_cy(values, *complete.xi, ctx.rng.stream("perturb"));
  return table(std::move(values), data, data, complete);
}

SimilaritySet measure(const RawData& queries, const RawData& training,
                      const MeasureSettings& settings, const RunContext& ctx) {
  check_kind(queries, settings.measure);
  check_kind(training, settings.measure);
  check_sizes(queries, 1);
  check_sizes(training);
  check_settings(settings);
  note_dna(training, settings, ctx);
  const MeasureSettings complete = with_defaults(settings, training);
  if (complete.perturb != Perturb::kNone) {
    throw invalid("perturb is for all pairs of one set of samples, not for rows of new ones");
  }
  return table(pairs_of(queries, &training, complete, ctx), queries, training, complete);
}

}  // namespace kith
