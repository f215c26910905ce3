// SPDX-License-Identifier: Apache-2.0
// What an experiment is about: tables, labels, groups, vectors.
#include <nlohmann/json.hpp>

#include "core/errors.hpp"
#include "evaluate/unit.hpp"
#include "kith/condition/symmetric.hpp"
#include "kith/core/stopwatch.hpp"
#include "kith/core/xxh64.hpp"
#include "kith/data/classes_note.hpp"
#include "kith/evaluate/experiment.hpp"
#include "kith/measure/measure_rule.hpp"
#include "kith/model/fingerprint.hpp"

namespace kith {

ExperimentData make_experiment_data(MatchedSets matrices, const Labels& labels,
                                    const InputSettings& input, RunContext& ctx) {
  ExperimentData data{
      .matrices = std::move(matrices), .labels = labels, .input = input, .symmetric = {}};
  if (input.missing == MissingRule::kDropSample) {
    const PreparedTraining dropped =
        prepare_training(data.matrices, labels, {.missing = MissingRule::kDropSample}, ctx);
    data.labels = dropped.set.labels;
    if (data.samples() < labels.size()) {
      data.given = {.ids = data.matrices.ids, .samples = labels.size(), .kept = dropped.kept};
    }
    data.matrices = select_samples(data.matrices, dropped.kept);
    data.input.missing = MissingRule::kError;
  }
  check_two_classes(data.labels, "samples");
  for (const SimilaritySet& set : data.matrices.sets) {
    data.symmetric.push_back(exactly_symmetric(set.block));
    const auto* dense = std::get_if<DenseBlock>(&set.block);
    const bool plain = dense != nullptr && data.symmetric.back() && missing_pairs(set.block) == 0;
    data.whole.push_back(plain ? std::make_shared<WholeMatrix>(*dense) : nullptr);
  }
  return data;
}

ExperimentData make_experiment_data(std::span<const RawMatrix> matrices, const Labels& labels,
                                    const InputSettings& input, RunContext& ctx) {
  const Stopwatch clock;
  std::vector<SimilaritySet> sets;
  std::vector<std::optional<RawMatrix>> by_part;
  for (const RawMatrix& matrix : matrices) {
    sets.push_back(learn_measure(matrix, labels, ctx).pairs);
    by_part.emplace_back();
    if (!learns_from_labels(matrix.measure.measure)) continue;
    by_part.back() = matrix;
    by_part.back()->name = sets.back().name;
  }
  const double seconds = clock.seconds();
  ExperimentData data = make_experiment_data(match(std::move(sets)), labels, input, ctx);
  data.by_part = std::move(by_part);
  data.measuring = seconds;
  return data;
}

ExperimentData make_experiment_data(const VectorData& samples, const Labels& labels) {
  PreparedTraining prepared = prepare_training(samples, labels);  // throws where nothing can learn
  ExperimentData data{
      .matrices = {.sets = {}, .ids = samples.ids}, .labels = labels, .input = {}, .symmetric = {}};
  data.vectors = std::move(prepared.set.vectors);
  return data;
}

std::uint64_t fingerprint(const ExperimentData& data) {
  TrainingSet set;
  for (const SimilaritySet& one : data.matrices.sets) {
    set.matrices.push_back({one.name, one.block});
  }
  set.labels = data.labels;
  set.ids = data.matrices.ids;
  set.vectors = data.vectors;
  const std::uint64_t of_tables = fingerprint(set);
  // Different samples can have the same pairs as a whole and other ones on a part.
  Xxh64 hash;
  hash.update(hex_digits(of_tables));
  bool measured = false;
  for (std::size_t m = 0; m < data.matrices.sets.size(); ++m) {
    const RawMatrix* matrix = data.measured_by_part(m);
    if (matrix == nullptr) continue;
    measured = true;
    hash.update(std::to_string(m));
    hash.update(hex_digits(fingerprint(matrix->samples)));
    hash.update(relevant_settings(matrix->measure).dump());
  }
  return measured ? hash.digest() : of_tables;
}

std::vector<ConditionedInput> check_input(const ExperimentData& data,
                                          std::span<const Candidate> candidates,
                                          Transforms transforms, RunContext& ctx) {
  if (candidates.empty()) throw invalid("there is no method to evaluate");
  for (const Candidate& candidate : candidates) {
    for (const Candidate& part : parts_of(candidate)) {
      for (const InputVariant& variant : detail::inputs_of(part, data)) {
        check_input_kind(part.choice, tables_used(variant, data.matrices.sets.size()).size(),
                         cols(data.vectors) > 0);
      }
    }
    (void)make_decision_rule(candidate.choice.decision, data.labels);
  }
  InputSettings input = data.input;
  if (transforms == Transforms::kLeftOut) input.transform = InputTransform::kNone;
  return condition_all(data.matrices.sets, input, ctx, detail::missing_pairs_for(candidates));
}

Json matrices_json(const ExperimentData& data, std::span<const RawMatrix> samples) {
  Json matrices = Json::array();
  for (std::size_t m = 0; m < data.matrices.sets.size(); ++m) {
    const SimilaritySet& set = data.matrices.sets[m];
    matrices.push_back({{"name", set.name},
                        {"source", set.source},
                        {"kind", set.kind == PairKind::kDistance ? "distances" : "similarities"}});
    if (samples.empty()) continue;
    matrices.back()["measure"] =
        relevant_settings(with_defaults(samples[m].measure, samples[m].samples));
  }
  return matrices;
}

}  // namespace kith
