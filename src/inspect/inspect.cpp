// SPDX-License-Identifier: Apache-2.0
#include "kith/inspect/inspect.hpp"

#include "core/errors.hpp"
#include "kith/condition/pipeline.hpp"
#include "kith/core/positions.hpp"
#include "kith/core/stopwatch.hpp"
#include "kith/measure/measure_rule.hpp"

namespace kith {
namespace {

struct ConditionedMatrix {
  std::optional<ConditionedInput> input;  // none: pairs are missing and `missing` is error
  std::optional<Labels> labels;           // of the samples that were kept
};

ConditionedMatrix condition(const SimilaritySet& set, const std::optional<JoinedLabels>& joined,
                            const InputSettings& settings, const RunContext& ctx) {
  ConditionedMatrix result;
  if (joined) result.labels = joined->labels;
  if (settings.missing == MissingRule::kError && missing_pairs(set.block) > 0) return result;
  result.input = condition_training(set, settings, ctx);
  if (joined) result.labels = select(joined->labels, result.input->kept);
  return result;
}

/// Names samples as the user knows them: by id, or by position among those that were given.
void name_duplicates(MatrixSummary& summary, const std::vector<std::string>& ids,
                     const std::vector<Index>& kept) {
  if (!summary.duplicates) return;
  const auto name = [&](Index position) {
    const Index given = kept[static_cast<std::size_t>(position)];
    return ids.empty() ? std::to_string(given + 1) : ids[static_cast<std::size_t>(given)];
  };
  for (DuplicatePair& pair : summary.duplicates->pairs) {
    pair.names = {name(pair.first), name(pair.second)};
  }
}

}  // namespace

MatchedSets measure_all(std::span<const RawMatrix> matrices, const Labels* labels,
                        const RunContext& ctx) {
  std::vector<SimilaritySet> sets;
  for (const RawMatrix& matrix : matrices) {
    if (labels == nullptr && learns_from_labels(matrix.measure.measure)) {
      throw invalid("{} compares samples by their classes: give [[labels]]",
                    enum_name(matrix.measure.measure));
    }
    sets.push_back(learn_measure(matrix, labels != nullptr ? *labels : Labels{}, ctx).pairs);
  }
  return match(std::move(sets));
}

Inspected inspect(const MatchedSets& matrices, const std::optional<JoinedLabels>& joined,
                  const InputSettings& settings, Portraits portraits, const RunContext& ctx) {
  const Stopwatch clock;
  Inspected result;
  Inspection& inspection = result.inspection;
  std::vector<TrainingMatrix> complete;
  for (const SimilaritySet& set : matrices.sets) {
    const ConditionedMatrix conditioned = condition(set, joined, settings, ctx);
    const Labels* labels = conditioned.labels ? &*conditioned.labels : nullptr;
    const TrainingMatrix* matrix = conditioned.input ? &conditioned.input->matrix : nullptr;
    Portrait portrait;
    if (portraits == Portraits::kNone) {
      portrait.summary = summarise(set, matrix, labels, {}, ctx);
    } else {
      portrait = portray(set, matrix, labels, {}, ctx);
    }
    if (conditioned.input) {
      portrait.summary.applied = conditioned.input->applied;
      name_duplicates(portrait.summary, matrices.ids, conditioned.input->kept);
    }
    inspection.matrices.push_back(portrait.summary);
    if (portraits == Portraits::kDrawn) {
      result.portraits.push_back(
          {std::move(portrait), conditioned.labels,
           matrix == nullptr ? matrices.ids : values_at(matrices.ids, conditioned.input->kept)});
    }
    if (matrix != nullptr && matrices.sets.size() > 1) complete.push_back(*matrix);
  }
  if (complete.size() == matrices.sets.size() && complete.size() > 1) {
    inspection.agreement = agreement(complete);
  }
  if (joined) {
    inspection.labels = joined->labels;
    inspection.unmatched_labels = joined->unmatched;
  }
  inspection.advice = advise(inspection.matrices, joined ? &joined->labels : nullptr);
  inspection.blas_threads = ctx.blas_threads;
  inspection.seconds = clock.seconds();
  return result;
}

}  // namespace kith
