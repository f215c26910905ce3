// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/portraits.hpp"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "kith/condition/pipeline.hpp"
#include "kith/core/error.hpp"
#include "kith/inspect/inspect_json.hpp"

namespace kith {
namespace {

// What an evaluation may spend on a picture of its data: seconds, of hours.
constexpr Index kMostPortrayed = 100000;
constexpr Index kMostCompared = 10000;
constexpr Index kMostDecomposed = 4000;

Portrait portrait_of(const ExperimentData& data, const SimilaritySet& set,
                     const PortraitSettings& settings, const RunContext& ctx) {
  std::optional<ConditionedInput> conditioned;
  if (data.input.missing != MissingRule::kError || missing_pairs(set.block) == 0) {
    conditioned = condition_training(set, data.input, ctx);
  }
  const TrainingMatrix* matrix = conditioned ? &conditioned->matrix : nullptr;
  Portrait portrait = portray(set, matrix, &data.labels, settings, ctx);
  if (conditioned) portrait.summary.applied = conditioned->applied;
  return portrait;
}

Json portraits_json(const ExperimentData& data, const RunContext& ctx) {
  RunContext silent = ctx;
  silent.sink = nullptr;
  PortraitSettings settings;
  settings.most_compared = kMostCompared;
  settings.most_mapped = kMostDecomposed;
  settings.summary.spectrum_up_to = kMostDecomposed;
  settings.most_pixels /= data.matrices.sets.size() > 1 ? 2 : 1;
  Json portraits = Json::array();
  for (const SimilaritySet& set : data.matrices.sets) {
    portraits.push_back(portrait_json(portrait_of(data, set, settings, silent)));
  }
  return portraits;
}

}  // namespace

void add_portraits(Json& about, const ExperimentData& data, const Store& store,
                   const std::string& name, const RunContext& ctx) {
  if (data.matrices.sets.empty()) return;
  for (const std::int64_t number : store.experiments()) {
    if (store.experiment(number).name == name) return;
  }
  if (data.samples() > kMostPortrayed) {
    about["no_portraits_because"] = "there are more than 100,000 samples";
    return;
  }
  try {
    about["portraits"] = portraits_json(data, ctx);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInterrupted) throw;
    about["no_portraits_because"] = error.what();
  }
}

}  // namespace kith
