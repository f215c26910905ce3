// SPDX-License-Identifier: Apache-2.0
#include "kith/measure/measure_rule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/errors.hpp"
#include "kith/core/parallel.hpp"
#include "kith/core/positions.hpp"

namespace kith {
namespace {

/// Of each query with itself.
Vector self_values(const MeasureRule& rule, const RawData& queries, const RunContext& ctx) {
  Vector values = Vector::Zero(size_of(queries));
  // The distributions of equal values are equal, of values never seen before as well.
  if (learns_from_labels(rule.settings.measure)) return values;
  RunContext quiet = ctx;
  quiet.sink = nullptr;
  quiet.threads = 1;
  parallel_for(static_cast<std::size_t>(values.size()), ctx.threads, [&](std::size_t i) {
    const Index position = static_cast<Index>(i);
    const RawData one = select(queries, std::span(&position, 1));
    values[position] = to_dense(measure(one, rule.settings, quiet).block)(0, 0);
  });
  return values;
}

/// The columns of the rule out of columns for every training sample that it keeps.
Block wanted_columns(const MeasureRule& rule, Block rows_of_all) {
  if (std::ssize(rule.columns) == size_of(rule.training)) return rows_of_all;
  return select(rows_of_all, all_positions(rows(rows_of_all)), rule.columns);
}

Block transposed_rows(const Block& block) {
  return DenseBlock(RowMatrix(std::get<DenseBlock>(block).values().transpose()));
}

std::string broken_labels(const MeasureRule& rule) {
  const auto* categories = std::get_if<CategoryData>(&rule.training);
  if (categories == nullptr) return {};
  if (!categories->labels) return "the training samples of the measure have no labels";
  const Labels& labels = *categories->labels;
  if (labels.size() != size_of(rule.training)) {
    return fmt::format("{} labels for {} training samples of the measure", labels.size(),
                       size_of(rule.training));
  }
  const bool known = std::all_of(labels.ids.begin(), labels.ids.end(),
                                 [&](int c) { return c >= 0 && c < labels.class_count(); });
  return known ? "" : "a label of the training samples of the measure is of no class";
}

}  // namespace

bool learns_from_labels(Measure measure) {
  return measure_info(measure).data == RawKind::kCategories;
}

bool is_symmetric(const MeasureSettings& settings) {
  const bool tversky =
      settings.measure == Measure::kTverskyRatio || settings.measure == Measure::kTverskyContrast;
  return !tversky || settings.alpha == settings.beta;
}

std::string broken_rule(const MeasureRule& rule) {
  const MeasureInfo& info = measure_info(rule.settings.measure);
  if (kind_of(rule.training) != info.data) {
    return fmt::format("measure {} takes {}, not {}", enum_name(info.measure), enum_name(info.data),
                       enum_name(kind_of(rule.training)));
  }
  if (rule.settings.perturb != Perturb::kNone) return "noise is no part of a rule for new samples";
  if (info.takes("gamma") && !rule.settings.gamma) return "the measure needs a number for gamma";
  Index last = -1;
  for (const Index column : rule.columns) {
    if (column <= last || column >= size_of(rule.training)) {
      return fmt::format("the columns of the measure are not ascending below {}",
                         size_of(rule.training));
    }
    last = column;
  }
  if (!learns_from_labels(info.measure) && std::ssize(rule.columns) != size_of(rule.training)) {
    return fmt::format("{} training samples for {} columns", size_of(rule.training),
                       rule.columns.size());
  }
  return broken_labels(rule);
}

LearnedMeasure learn_measure(RawMatrix matrix, const Labels& labels, const RunContext& ctx) {
  if (matrix.measure.perturb != Perturb::kNone || matrix.measure.xi) {
    throw invalid(
        "perturb is for a matrix of all pairs, and rows of new samples would have no "
        "noise; measure the matrix first, and train on it");
  }
  if (auto* categories = std::get_if<CategoryData>(&matrix.samples)) categories->labels = labels;
  LearnedMeasure learned;
  learned.pairs = measure(matrix.samples, matrix.measure, ctx);
  if (!matrix.name.empty()) learned.pairs.name = std::move(matrix.name);
  // Of all training samples: it must not change with what is kept of them.
  learned.rule.settings = with_defaults(std::move(matrix.measure), matrix.samples);
  learned.rule.columns = all_positions(size_of(matrix.samples));
  learned.rule.training = std::move(matrix.samples);
  learned.rule.file = matrix.file;
  return learned;
}

MeasureRule restricted(const MeasureRule& rule, std::span<const Index> positions) {
  MeasureRule part;
  part.settings = rule.settings;
  part.file = rule.file;
  std::vector<Index> columns = values_at(rule.columns, positions);
  if (learns_from_labels(rule.settings.measure)) {
    part.training = rule.training;
    part.columns = std::move(columns);
  } else {
    part.training = select(rule.training, columns);
    part.columns = all_positions(static_cast<Index>(columns.size()));
  }
  return part;
}

QueryMatrix measure_rows(const MeasureRule& rule, const RawData& queries, const RunContext& ctx) {
  QueryMatrix matrix;
  const bool both = !is_symmetric(rule.settings);
  if (size_of(queries) == 0 || rule.columns.empty()) {
    const RowMatrix nothing(size_of(queries), static_cast<Index>(rule.columns.size()));
    matrix.to_training = DenseBlock(nothing);
    if (both) matrix.from_training = DenseBlock(nothing);
  } else {
    matrix.to_training =
        wanted_columns(rule, measure(queries, rule.training, rule.settings, ctx).block);
    if (both) {
      matrix.from_training = wanted_columns(
          rule, transposed_rows(measure(rule.training, queries, rule.settings, ctx).block));
    }
  }
  matrix.self = self_values(rule, queries, ctx);
  return matrix;
}

}  // namespace kith
