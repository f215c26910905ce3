// SPDX-License-Identifier: Apache-2.0
#include "kith/learn/svm/prototypes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kith/core/rng.hpp"
#include "kith/core/text.hpp"
#include "kith/learn/learner.hpp"

namespace kith {

std::vector<Index> choose_prototypes(std::optional<Index> count, Index samples,
                                     const RunContext& ctx) {
  if (!count || *count >= samples) return all_positions(samples);
  Rng rng = ctx.rng.stream("prototypes");
  std::vector<Index> chosen = rng.permutation(samples);
  chosen.resize(static_cast<std::size_t>(*count));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

TrainedOn trained_on(Tasks tasks, TrainOn rule, std::span<const Index> prototypes,
                     const Labels& labels) {
  TrainedOn trained{.tasks = {tasks.begin(), tasks.end()}, .kept = {}};
  if (rule == TrainOn::kAll) return trained;
  const auto is_other = [&](Index sample) {
    return !std::ranges::binary_search(prototypes, sample);
  };
  for (BinaryTask& task : trained.tasks) {
    bool positive = false;  // whether the side has others
    bool negative = false;
    for (std::size_t i = 0; i < task.samples.size(); ++i) {
      if (is_other(task.samples[i])) (task.signs[i] > 0 ? positive : negative) = true;
    }
    if (!positive || !negative) trained.kept.push_back(task_name(task, labels));
    BinaryTask own{.first = task.first, .second = task.second, .samples = {}, .signs = {}};
    for (std::size_t i = 0; i < task.samples.size(); ++i) {
      const bool has_others = task.signs[i] > 0 ? positive : negative;
      if (has_others && !is_other(task.samples[i])) continue;
      own.samples.push_back(task.samples[i]);
      own.signs.push_back(task.signs[i]);
    }
    task = std::move(own);
  }
  return trained;
}

void note_kept(const TrainedOn& trained, FitInfo& info) {
  if (trained.kept.empty()) return;
  info.notes.push_back(fmt::format(
      "the prototypes are among the samples that were trained on for {}: a side has no others. "
      "[[set=train-on=others]] wants fewer prototypes",
      list_some(trained.kept)));
}

DenseBlock columns_of(const DenseBlock& block, std::span<const Index> columns) {
  return std::get<DenseBlock>(select(block, all_positions(block.rows()), columns));
}

}  // namespace kith
