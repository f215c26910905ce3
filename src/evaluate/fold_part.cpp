// SPDX-License-Identifier: Apache-2.0
#include "evaluate/fold_part.hpp"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "pipeline/matrix_errors.hpp"

namespace kith::detail {
namespace {

Block transposed_block(const Block& block) {
  if (const auto* sparse = std::get_if<SparseBlock>(&block)) return transposed(*sparse);
  return DenseBlock(RowMatrix(std::get<DenseBlock>(block).values().transpose()));
}

/// The diagonal at `samples`, or nothing where one of them is not known.
std::optional<Vector> diagonal(const Block& block, std::span<const Index> samples) {
  Vector values(static_cast<Index>(samples.size()));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double value =
        std::visit([at = samples[i]](const auto& held) { return held(at, at); }, block);
    if (!std::isfinite(value)) return std::nullopt;
    values[static_cast<Index>(i)] = value;
  }
  return values;
}

QueryMatrix raw_queries(const SimilaritySet& set, bool symmetric, std::span<const Index> train,
                        std::span<const Index> held_out) {
  QueryMatrix query;
  query.to_training = select(set.block, held_out, train);
  if (!symmetric) query.from_training = transposed_block(select(set.block, train, held_out));
  query.self = diagonal(set.block, held_out);
  return query;
}

/// A training part of vectors alone.
PreparedTraining vectors_alone(const ExperimentData& data, const Labels& labels,
                               std::span<const Index> train) {
  VectorData part{.source = "", .ids = {}, .values = select_rows(data.vectors, train)};
  for (const Index i : train) {
    if (data.matrices.ids.empty()) break;
    part.ids.push_back(data.matrices.ids[static_cast<std::size_t>(i)]);
  }
  return prepare_training(part, labels);
}

}  // namespace

FoldPart::FoldPart(const ExperimentData& data, const InputVariant& input,
                   std::span<const Index> train, std::span<const Index> held_out,
                   MissingPairs missing, RunContext& ctx)
    : truth(select(data.labels, held_out).ids) {
  const Labels labels = select(data.labels, train);
  if (cols(data.vectors) > 0) queries.vectors = select_rows(data.vectors, held_out);
  if (data.matrices.sets.empty()) {
    training = vectors_alone(data, labels, train);
    return;
  }
  const bool alternative = input.tables > 0;
  const MatchedSets& given =
      alternative ? data.alternatives[input.tables - 1].matrices : data.matrices;
  const std::vector<bool>& symmetric =
      alternative ? data.alternatives[input.tables - 1].symmetric : data.symmetric;
  const std::vector<std::size_t> used = tables_used(input, given.sets.size());
  MatchedSets chosen{.sets = {}, .ids = given.ids};
  for (const std::size_t m : used) chosen.sets.push_back(given.sets[m]);
  MatchedSets tables = select_samples(chosen, train);
  const std::size_t count = used.size();
  std::vector<std::optional<MeasureRule>> rules(count);
  for (std::size_t m = 0; m < count; ++m) {
    const RawMatrix* matrix = alternative ? nullptr : data.measured_by_part(used[m]);
    if (matrix == nullptr) continue;
    LearnedMeasure learned = learn_measure(select(*matrix, train), labels, ctx);
    tables.sets[m] = std::move(learned.pairs);
    rules[m] = std::move(learned.rule);
  }
  training = prepare_training(tables, labels, input.settings, ctx, missing);
  for (std::size_t m = 0; m < count && !alternative && !data.whole.empty(); ++m) {
    if (!rules[m]) training.set.matrices[m].whole = data.whole[used[m]];
  }
  for (std::size_t m = 0; m < count; ++m) {
    QueryMatrix rows =
        rules[m] ? measure_rows(*rules[m], select(data.by_part[used[m]]->samples, held_out), ctx)
                 : raw_queries(chosen.sets[m], symmetric[used[m]], train, held_out);
    queries.matrices.push_back(of_matrix(chosen.sets[m].name, count, [&] {
      return condition_query(training.rules[m], std::move(rows), ctx);
    }));
  }
  if (cols(data.vectors) > 0) training.set.vectors = select_rows(data.vectors, train);
}

}  // namespace kith::detail
