// SPDX-License-Identifier: Apache-2.0
// New rows through a fitted rule, in the order of the steps of the training block.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "condition/distance.hpp"
#include "condition/missing.hpp"
#include "condition/rows_rbf.hpp"
#include "condition/scale.hpp"
#include "condition/symmetrise.hpp"
#include "condition/table.hpp"
#include "core/errors.hpp"
#include "kith/condition/pipeline.hpp"
#include "kith/core/positions.hpp"
#include "kith/core/text.hpp"

namespace kith {
namespace {

// Two dozen names, all that the steps of this layer share, would say no more one by one.
// NOLINTNEXTLINE(google-build-using-namespace)
using namespace detail;

struct Work {
  const InputRule& rule;
  Table to;
  std::optional<Table> from;
  std::optional<Vector> self;
  const QueryNames& names;
  int threads = 1;

  [[nodiscard]] Index size() const { return rows(to); }
  [[nodiscard]] std::string query_name(Index q) const {
    const auto at = static_cast<std::size_t>(q);
    return at < names.queries.size() ? "query " + in_quotes(names.queries[at])
                                     : fmt::format("query {}", q + 1);
  }
  [[nodiscard]] std::string sample_name(Index j) const {
    const auto at = static_cast<std::size_t>(j);
    if (at < names.samples.size()) return "training sample " + in_quotes(names.samples[at]);
    return fmt::format("training sample {}",
                       (at < names.positions.size() ? names.positions[at] : j) + 1);
  }
  [[nodiscard]] PairNames pair_names(std::string_view source) const {
    return {.row = [this](Index q) { return query_name(q); },
            .column = [this](Index j) { return sample_name(j); },
            .source = std::string(source)};
  }
  [[nodiscard]] PairNames to_names() const { return pair_names(names.source); }
  [[nodiscard]] PairNames from_names() const {
    PairNames names_from = pair_names(names.from_source);
    names_from.from_column = true;
    return names_from;
  }
};

/// The columns of the samples that were kept, where the block has one for every given sample.
Block training_columns(const InputRule& rule, Block block, const char* what) {
  if (cols(block) == rule.samples) return block;
  if (cols(block) != rule.given_samples) {
    throw invalid("{} have {} columns; the training block has {} samples", what, cols(block),
                  rule.samples);
  }
  return select(block, all_positions(rows(block)), rule.kept);
}

void check_shapes(const QueryMatrix& raw) {
  const Index count = rows(raw.to_training);
  if (raw.from_training && rows(*raw.from_training) != count) {
    throw invalid("there are {} rows of similarities to the training samples and {} from them",
                  count, rows(*raw.from_training));
  }
  if (!raw.self) return;
  if (raw.self->size() != count) {
    throw invalid("there are {} queries and {} self-similarities", count, raw.self->size());
  }
  for (Index q = 0; q < count; ++q) {
    if (!(std::abs((*raw.self)[q]) <= kLargestNumber)) {
      throw invalid(
          "the self-similarity of query {} is {}; it must be a number of size {} at "
          "most",
          q + 1, format_short((*raw.self)[q]), format_short(kLargestNumber));
    }
  }
}

/// True when complete rows pass through unchanged.
bool changes_nothing(const InputRule& rule) {
  const InputSettings& settings = rule.settings;
  return rule.kind == PairKind::kSimilarity && !combines(settings.symmetrise) &&
         settings.diagonal == DiagonalRule::kGiven && settings.scale == ScaleRule::kNone &&
         settings.rescale == Rescale::kNone && settings.transform == InputTransform::kNone;
}

void symmetrise_step(Work& work) {
  const Symmetrise how = work.rule.settings.symmetrise;
  if (!combines(how) || !work.from) return;
  work.to = combined(std::move(work.to), std::move(*work.from), how, work.threads);
  work.from.reset();
}

/// Queries of which no pair is known, for a refusal; empty: there are none.
std::string without_any_pair(const Table& table, const PairNames& names) {
  std::vector<std::string> queries;
  for (Index q = 0; q < rows(table); ++q) {
    const std::span<const double> values = row_values(table, q);
    const bool known =
        std::any_of(values.begin(), values.end(), [](double s) { return !std::isnan(s); });
    if (!known) queries.push_back(names.row(q));
  }
  if (queries.empty()) return {};
  return fmt::format(
      ". {} no pair at all: {}",
      queries.size() == 1 ? "One query has" : fmt::format("{} queries have", queries.size()),
      list_some(queries));
}

/// Refuses missing pairs that no rule fills.
void check_missing(const Work& work, const Table& table, const PairNames& names) {
  if (missing_pairs(table) == 0) return;
  if (work.rule.keeps_missing && std::holds_alternative<SparseBlock>(table)) return;
  const bool is_filled = work.rule.settings.missing == MissingRule::kZero ||
                         work.rule.settings.missing == MissingRule::kMin;
  const bool needs_distance =
      is_double_centred(work.rule) && work.rule.settings.missing == MissingRule::kZero;
  if (is_filled && !needs_distance) return;
  refuse_missing(
      table, names,
      fmt::format("the model was trained with [[missing={}]], which fills no pair of a new "
                  "row; {} does{}",
                  enum_name(work.rule.settings.missing),
                  needs_distance ? "[[missing=min]]" : "[[missing=zero]] or [[missing=min]]",
                  without_any_pair(table, names)));
}

void fill(Work& work) {
  if (work.rule.keeps_missing) return;
  fill_missing(work.to, work.rule.fill, work.threads);
  if (work.from) fill_missing(*work.from, work.rule.fill, work.threads);
}

void missing_and_distance_step(Work& work) {
  check_missing(work, work.to, work.to_names());
  if (work.from) check_missing(work, *work.from, work.from_names());
  if (work.rule.kind == PairKind::kDistance) {
    if (!work.self) work.self = Vector::Zero(work.size());
    // Double centring is filled with a distance, the other rules with a similarity.
    if (work.rule.settings.from_distance == FromDistance::kDoubleCentre) fill(work);
    convert_distances(work.rule, work.to, work.from ? &*work.from : nullptr, *work.self,
                      work.threads);
  }
  fill(work);
}

void diagonal_step(Work& work) {
  switch (work.rule.settings.diagonal) {
    case DiagonalRule::kGiven:
      return;
    case DiagonalRule::kOne:
      work.self = Vector::Ones(work.size());
      return;
    case DiagonalRule::kMaxRow: {
      Vector most(work.size());
      for (Index q = 0; q < work.size(); ++q) {
        const std::optional<double> of_row = row_maximum(work.to, q);
        if (!of_row && !work.self) {
          throw invalid("{} has no similarity at all, so [[diagonal=max-row]] has no value for it",
                        work.query_name(q));
        }
        most[q] = of_row.value_or((*work.self)[q]);
        if (work.self) most[q] = std::max(most[q], (*work.self)[q]);
      }
      work.self = std::move(most);
      return;
    }
  }
}

void cosine(Work& work) {
  if (!work.self) {
    throw invalid(
        "[[scale=cosine]] divides by self-similarities: new rows need theirs ([[self]]), or a "
        "model "
        "trained with [[diagonal=one]] or [[diagonal=max-row]]");
  }
  Vector root(work.size());
  for (Index q = 0; q < work.size(); ++q) {
    if (!((*work.self)[q] > 0)) {
      throw invalid("the self-similarity of {} is {}; [[scale=cosine]] needs positive ones",
                    work.query_name(q), format_short((*work.self)[q]));
    }
    root[q] = std::sqrt((*work.self)[q]);
  }
  apply_cosine(work.rule, work.to, root, work.threads);
  if (work.from) apply_cosine(work.rule, *work.from, root, work.threads);
  work.self = Vector::Ones(work.size());
}

void scale_step(Work& work) {
  switch (work.rule.settings.scale) {
    case ScaleRule::kNone:
      return;
    case ScaleRule::kUnit:
      apply_unit(work.rule, work.to, work.threads);
      if (work.from) apply_unit(work.rule, *work.from, work.threads);
      if (work.self) {
        work.self = work.self->unaryExpr([&](double s) { return unit_value(work.rule, s); });
      }
      return;
    case ScaleRule::kCosine:
      return cosine(work);
  }
}

void rescale_step(Work& work) {
  if (work.rule.settings.rescale == Rescale::kNone) return;
  apply_spread(work.rule, work.to, work.threads);
  if (work.from) apply_spread(work.rule, *work.from, work.threads);
  if (work.self) *work.self /= work.rule.spread;
}

void transform_step(Work& work) {
  if (work.rule.settings.transform != InputTransform::kRowsRbf) return;
  check_values(work.to, work.to_names());
  work.to = rows_rbf(work.rule, make_dense(work.to), work.threads);
  work.from.reset();
  work.self = Vector::Ones(work.size());
}

QueryMatrix result_of(Work work) {
  check_values(work.to, work.to_names());
  if (work.from) check_values(*work.from, work.from_names());
  if (work.self && !(work.self->array().abs() <= kLargestNumber).all()) {
    throw invalid(
        "a self-similarity is too large once the input is conditioned; divide all given values by "
        "a constant");
  }
  QueryMatrix result;
  result.to_training = finished(std::move(work.to));
  if (work.from) result.from_training = finished(std::move(*work.from));
  result.self = std::move(work.self);
  return result;
}

}  // namespace

QueryMatrix condition_query(const InputRule& rule, QueryMatrix raw, const RunContext& ctx,
                            const QueryNames& names) {
  check_shapes(raw);
  raw.to_training =
      training_columns(rule, std::move(raw.to_training), "similarities to the training samples");
  if (raw.from_training) {
    raw.from_training = training_columns(rule, std::move(*raw.from_training),
                                         "similarities from the training samples");
  }
  if (changes_nothing(rule) && detail::is_complete(raw.to_training) &&
      (!raw.from_training || detail::is_complete(*raw.from_training))) {
    return raw;
  }
  Work work{.rule = rule,
            .to = editable(std::move(raw.to_training)),
            .from = std::nullopt,
            .self = std::move(raw.self),
            .names = names,
            .threads = ctx.threads};
  if (raw.from_training) work.from = editable(std::move(*raw.from_training));
  symmetrise_step(work);
  missing_and_distance_step(work);
  diagonal_step(work);
  scale_step(work);
  rescale_step(work);
  transform_step(work);
  return result_of(std::move(work));
}

}  // namespace kith
