// SPDX-License-Identifier: Apache-2.0
// Partitions of the samples as they were given, some of which an experiment has dropped.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/errors.hpp"
#include "kith/core/text.hpp"
#include "kith/evaluate/experiment.hpp"

namespace kith {
namespace {

Partition among_kept(const Partition& given, std::span<const Index> kept) {
  Partition left;
  for (std::size_t i = 0; i < given.train.size(); ++i) {
    const auto at = std::ranges::lower_bound(kept, given.train[i]);
    if (at == kept.end() || *at != given.train[i]) continue;
    left.train.push_back(at - kept.begin());
    left.fold_of.push_back(given.fold_of[i]);
  }
  for (const Index sample : given.test) {
    const auto at = std::ranges::lower_bound(kept, sample);
    if (at != kept.end() && *at == sample) left.test.push_back(at - kept.begin());
  }
  return left;
}

Partition among_given(Partition left, std::span<const Index> kept) {
  for (std::vector<Index>* part : {&left.train, &left.test}) {
    for (Index& sample : *part) sample = kept[static_cast<std::size_t>(sample)];
  }
  return left;
}

/// Folds of the training samples that were kept; those that were dropped stand in none, and any
/// number will do.
std::vector<int> folds_of_kept(std::span<const Index> train, std::size_t partition,
                               const ExperimentData& data, const PartitionSettings& settings,
                               const RngStreams& rng) {
  std::vector<Index> left_ones;
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < train.size(); ++i) {
    Index at = train[i];
    if (data.given) {
      const std::vector<Index>& left = data.given->kept;
      const auto found = std::ranges::lower_bound(left, at);
      if (found == left.end() || *found != at) continue;
      at = found - left.begin();
    }
    left_ones.push_back(at);
    kept.push_back(i);
  }
  const std::vector<int> drawn =
      draw_folds(select(data.labels, left_ones), settings.folds, settings.stratify, rng, partition);
  std::vector<int> fold_of(train.size(), 0);
  for (std::size_t i = 0; i < kept.size(); ++i) fold_of[kept[i]] = drawn[i];
  return fold_of;
}

}  // namespace

std::vector<Partition> without_dropped(std::vector<Partition> partitions,
                                       const ExperimentData& data) {
  check_partitions(partitions, data.given ? data.given->samples : data.samples());
  if (!data.given) return partitions;
  for (Partition& one : partitions) one = among_kept(one, data.given->kept);
  try {
    check_partitions(partitions, data.samples());
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("without the samples that were dropped, {}", error.what()));
  }
  return partitions;
}

void draw_missing_folds(std::vector<Partition>& partitions, const ExperimentData& data,
                        const PartitionSettings& settings, const RngStreams& rng) {
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    if (!partitions[p].fold_of.empty()) continue;
    partitions[p].fold_of = folds_of_kept(partitions[p].train, p, data, settings, rng);
  }
}

std::vector<Partition> read_partitions(const std::string& path, const ExperimentData& data,
                                       const PartitionSettings& settings, const RngStreams& rng) {
  const FoldsOf folds_of = [&](std::span<const Index> train, std::size_t partition) {
    return folds_of_kept(train, partition, data, settings, rng);
  };
  const std::vector<SimilaritySet>& sets = data.matrices.sets;
  const std::string_view unordered =
      sets.empty() || sets.front().ordered ? std::string_view() : sets.front().source;
  std::vector<Partition> partitions =
      read_partitions(path, data.given ? data.given->ids : data.matrices.ids,
                      data.given ? data.given->samples : data.samples(), folds_of, unordered);
  try {
    if (data.given) partitions = without_dropped(std::move(partitions), data);
    check_groups(partitions, data);
  } catch (const Error& error) {
    throw broken("{}: {}", path, error.what());
  }
  return partitions;
}

void check_groups(std::span<const Partition> partitions, const ExperimentData& data) {
  const std::vector<std::string>& ids = data.given ? data.given->ids : data.matrices.ids;
  check_groups(partitions, data.labels.groups, [&](Index sample) {
    const Index at = data.given ? data.given->kept[static_cast<std::size_t>(sample)] : sample;
    return ids.empty() ? std::to_string(at + 1) : in_quotes(ids[static_cast<std::size_t>(at)]);
  });
}

void write_partitions(const std::string& path, std::span<const Partition> partitions,
                      const ExperimentData& data) {
  if (!data.given) {
    write_partitions(path, partitions, data.matrices.ids, data.samples());
    return;
  }
  std::vector<Partition> given;
  for (const Partition& one : partitions) given.push_back(among_given(one, data.given->kept));
  write_partitions(path, given, data.given->ids, data.given->samples);
}

}  // namespace kith
