// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/portraits.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "kith/core/error.hpp"
#include "kith/inspect/inspect_json.hpp"

namespace kith {
namespace {

// What an evaluation may spend on a picture of its data: seconds, of hours.
constexpr Index kMostPortrayed = 100000;
constexpr Index kMostCompared = 10000;
constexpr Index kMostDecomposed = 4000;

struct Drawn {
  Json portraits = Json::array();
  std::vector<MatrixSummary> summaries;
};

Drawn drawn(const ExperimentData& data, std::span<const ConditionedInput> whole,
            const RunContext& ctx) {
  RunContext silent = ctx;
  silent.sink = nullptr;
  PortraitSettings settings;
  settings.most_compared = kMostCompared;
  settings.most_mapped = kMostDecomposed;
  settings.summary.spectrum_up_to = kMostDecomposed;
  settings.most_pixels /= whole.size() > 1 ? 2 : 1;
  Drawn result;
  for (std::size_t m = 0; m < whole.size(); ++m) {
    // Pairs that stay missing are described as they were given.
    const bool complete = !whole[m].rule.keeps_missing;
    Portrait portrait = portray(data.matrices.sets[m], complete ? &whole[m].matrix : nullptr,
                                &data.labels, settings, silent);
    if (complete) portrait.summary.applied = whole[m].applied;
    result.portraits.push_back(portrait_json(portrait));
    result.summaries.push_back(std::move(portrait.summary));
  }
  return result;
}

}  // namespace

bool wants_portraits(const ExperimentData& data, const Store& store, const std::string& name) {
  const std::vector<std::int64_t> there = store.experiments();
  return !data.matrices.sets.empty() &&
         std::none_of(there.begin(), there.end(),
                      [&](std::int64_t number) { return store.experiment(number).name == name; });
}

void add_portraits(Json& about, const ExperimentData& data, std::span<const ConditionedInput> whole,
                   const RunContext& ctx) {
  if (data.samples() > kMostPortrayed) {
    about["no_portraits_because"] = "there are more than 100,000 samples";
    return;
  }
  try {
    Drawn result = drawn(data, whole, ctx);
    about["portraits"] = std::move(result.portraits);
    about["advice"] = advice_json(advise(result.summaries, &data.labels));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInterrupted) throw;
    about["no_portraits_because"] = error.what();
  }
}

}  // namespace kith
