// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/selection.hpp"

#include <atomic>
#include <nlohmann/json.hpp>

#include "evaluate/unit.hpp"
#include "kith/core/parallel.hpp"
#include "kith/data/folds.hpp"

namespace kith {

Selection select_method(const ExperimentData& data, std::span<const Candidate> candidates,
                        Index folds, Stratify stratify, RunContext& ctx) {
  check_input(data, candidates, Transforms::kLeftOut, ctx);
  const std::vector<int> fold_of = draw_folds(data.labels.ids, folds, stratify, ctx.rng, 0);
  const Index smallest = detail::smallest_training_part(fold_of);
  const MissingPairs missing = detail::missing_pairs_for(candidates);
  std::vector<GridPoints> grids;
  for (const Candidate& candidate : candidates) grids.push_back(grid_points(candidate, smallest));
  // losses[fold][candidate][point]: every fold writes to its own slot.
  std::vector<std::vector<std::vector<double>>> losses(static_cast<std::size_t>(folds));
  std::atomic<long> done = 0;
  parallel_for(losses.size(), ctx.threads, [&](std::size_t f) {
    const FoldSplit split = split_fold(fold_of, static_cast<int>(f));
    RunContext own = ctx;
    own.sink = nullptr;
    own.rng = ctx.rng.child("fold", f);
    const detail::FoldPart part(data, split.outside, split.inside, missing, own);
    SharedWork work(part.training.set);
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      ctx.check_stop();
      losses[f].push_back(detail::grid_losses(part, work, candidates[c], grids[c], own));
      ctx.progress("choosing a method", static_cast<double>(++done),
                   static_cast<double>(losses.size() * candidates.size()), candidates[c].name);
    }
  });
  Selection selection;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    std::vector<double> sums(grids[c].settings.size(), 0);
    for (const auto& fold : losses) {
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += fold[c][i];
    }
    const std::size_t best = best_point(grids[c], sums);
    selection.entries.push_back({.name = candidates[c].name,
                                 .settings = grids[c].settings[best],
                                 .loss = sums[best] / static_cast<double>(data.samples())});
    if (selection.entries.back().loss < selection.entries[selection.best].loss) {
      selection.best = c;
    }
  }
  return selection;
}

Json selection_json(const Selection& selection) {
  Json json = {{"chosen", selection.entries[selection.best].name}, {"candidates", Json::array()}};
  for (const SelectionEntry& entry : selection.entries) {
    json["candidates"].push_back({{"method", entry.name},
                                  {"settings", settings_json(entry.settings)},
                                  {"inner_error", entry.loss}});
  }
  return json;
}

}  // namespace kith
