// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/partitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "core/errors.hpp"
#include "evaluate/grouped_parts.hpp"
#include "kith/core/positions.hpp"
#include "kith/core/text.hpp"
#include "kith/data/folds.hpp"

namespace kith {
namespace {

std::vector<bool> present(std::span<const int> class_ids, std::span<const Index> samples,
                          int classes) {
  std::vector<bool> there(static_cast<std::size_t>(classes), false);
  for (const Index i : samples) {
    there[static_cast<std::size_t>(class_ids[static_cast<std::size_t>(i)])] = true;
  }
  return there;
}

int class_count(std::span<const int> class_ids) {
  return class_ids.empty() ? 0 : 1 + *std::max_element(class_ids.begin(), class_ids.end());
}

/// The first `count` of a random order, ascending.
std::vector<Index> random_subset(Index samples, Index count, Rng rng) {
  std::vector<Index> order = rng.permutation(samples);
  order.resize(static_cast<std::size_t>(count));
  std::sort(order.begin(), order.end());
  return order;
}

/// `count` samples with the shares of the classes kept as well as whole numbers can: the classes
/// get the floor of their quota, the largest remainders one more (equals in random order), and a
/// class keeps at least one sample outside.
std::vector<Index> stratified_subset(std::span<const int> class_ids, Index count, Rng rng) {
  const auto samples = static_cast<Index>(class_ids.size());
  const int classes = class_count(class_ids);
  std::vector<std::vector<Index>> members(static_cast<std::size_t>(classes));
  for (const Index i : rng.permutation(samples)) {
    members[static_cast<std::size_t>(class_ids[static_cast<std::size_t>(i)])].push_back(i);
  }
  std::vector<Index> taken(members.size(), 0);
  std::vector<double> wanted(members.size(), 0);
  for (std::size_t c = 0; c < members.size(); ++c) {
    const auto size = static_cast<Index>(members[c].size());
    wanted[c] =
        static_cast<double>(size) * static_cast<double>(count) / static_cast<double>(samples);
    taken[c] = std::min(static_cast<Index>(wanted[c]), std::max<Index>(size - 1, 0));
  }
  const std::vector<Index> order = rng.permutation(static_cast<Index>(members.size()));
  for (Index left = count - std::accumulate(taken.begin(), taken.end(), Index{0}); left > 0;
       --left) {
    std::size_t most = members.size();
    for (const Index candidate : order) {
      const auto c = static_cast<std::size_t>(candidate);
      if (taken[c] + 1 >= static_cast<Index>(members[c].size())) continue;
      if (most == members.size() || wanted[c] - static_cast<double>(taken[c]) >
                                        wanted[most] - static_cast<double>(taken[most])) {
        most = c;
      }
    }
    if (most == members.size()) break;  // every class is down to its last sample
    ++taken[most];
  }
  std::vector<Index> chosen;
  for (std::size_t c = 0; c < members.size(); ++c) {
    chosen.insert(chosen.end(), members[c].begin(), members[c].begin() + taken[c]);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::vector<Index> others(Index samples, std::span<const Index> chosen) {
  std::vector<Index> rest;
  std::size_t next = 0;
  for (Index i = 0; i < samples; ++i) {
    if (next < chosen.size() && chosen[next] == i) {
      ++next;
    } else {
      rest.push_back(i);
    }
  }
  return rest;
}

/// Whether some fold holds every member of a class that has two or more.
bool loses_a_class(std::span<const int> class_ids, std::span<const int> fold_of, Index folds) {
  const int classes = class_count(class_ids);
  std::vector<Index> members(static_cast<std::size_t>(classes), 0);
  std::vector<Index> inside(static_cast<std::size_t>(classes) * static_cast<std::size_t>(folds), 0);
  for (std::size_t i = 0; i < class_ids.size(); ++i) {
    const auto c = static_cast<std::size_t>(class_ids[i]);
    ++members[c];
    ++inside[c * static_cast<std::size_t>(folds) + static_cast<std::size_t>(fold_of[i])];
  }
  for (std::size_t c = 0; c < members.size(); ++c) {
    if (members[c] < 2) continue;
    const auto row = inside.begin() + static_cast<std::ptrdiff_t>(c) * folds;
    if (std::find(row, row + folds, members[c]) != row + folds) return true;
  }
  return false;
}

/// As many samples of every class as the smallest has, and of each of them the fraction, rounded
/// up, for testing. What is not drawn stands in neither part.
Partition equal_classes(const Labels& labels, double test_fraction, Rng rng) {
  std::vector<std::vector<Index>> members = labels.members(rng.permutation(labels.size()));
  std::erase_if(members, [](const std::vector<Index>& one) { return one.empty(); });
  std::size_t size = members.front().size();
  for (const std::vector<Index>& one : members) size = std::min(size, one.size());
  // 0.2 times 145 is 29, whatever the last digit says.
  const auto test =
      static_cast<std::size_t>(std::ceil(test_fraction * static_cast<double>(size) - 1e-9));
  if (test < 1 || test >= size) {
    throw invalid(
        "the smallest class has {} samples, of which {} would test "
        "(test-fraction {}); with equal classes both parts need at least one "
        "of each class",
        size, test, test_fraction);
  }
  Partition partition;
  for (const std::vector<Index>& one : members) {
    const auto middle = one.begin() + static_cast<std::ptrdiff_t>(test);
    partition.test.insert(partition.test.end(), one.begin(), middle);
    partition.train.insert(partition.train.end(), middle,
                           one.begin() + static_cast<std::ptrdiff_t>(size));
  }
  std::sort(partition.test.begin(), partition.test.end());
  std::sort(partition.train.begin(), partition.train.end());
  return partition;
}

void check_sizes(Index samples, const PartitionSettings& settings) {
  const auto test =
      static_cast<Index>(std::llround(settings.test_fraction * static_cast<double>(samples)));
  if (test < 1 || test >= samples) {
    throw invalid(
        "test-fraction {} of {} samples is a test part of {}; both parts need "
        "at least one sample",
        settings.test_fraction, samples, test);
  }
}

void check_folds(const Labels& training, Index folds) {
  const std::vector<int>& groups = training.groups.ids;
  if (ties_samples(groups) && count_groups(groups) < folds) {
    throw invalid(
        "{} folds of a training part of {} groups; a fold needs at least one, so that {} groups "
        "are needed with those for testing, or fewer folds",
        folds, count_groups(groups), folds + 1);
  }
  if (training.size() >= folds) return;
  throw invalid("{} folds of a training part of {} samples; a fold needs at least one", folds,
                training.size());
}

/// Of grouped samples: outside every fold there must be two classes.
void check_classes_left(const Labels& training, std::span<const int> fold_of) {
  const std::optional<int> lost = class_inside_a_fold(training, fold_of);
  if (!lost) return;
  const auto c = static_cast<std::size_t>(*lost);
  throw invalid(
      "the {} training samples of class {} stand in so few groups that a fold holds all of them "
      "out, and the others are of one class; more groups with this class are needed",
      training.counts()[c], in_quotes(training.names[c]));
}

}  // namespace

void describe(PartitionSettings& settings, FieldVisitor& field) {
  field("repeats", settings.repeats, between(1, 100000),
        "random partitions into training and test");
  field("folds", settings.folds, between(2, 1000), "folds of the cross-validation inside each");
  field("test-fraction", settings.test_fraction, {.low = 0, .high = 1},
        "share of the samples in each test part");
  field("stratify", settings.stratify,
        "keep the shares of the classes (auto: only where a class would vanish from a training "
        "part; equal: make them equal by leaving samples out)");
}

int Partition::folds() const {
  return fold_of.empty() ? 0 : 1 + *std::max_element(fold_of.begin(), fold_of.end());
}

std::vector<int> draw_folds(const Labels& labels, Index folds, Stratify stratify,
                            const RngStreams& rng, std::uint64_t index) {
  const int count = static_cast<int>(folds);
  const std::vector<int>& groups = labels.groups.ids;
  const bool tied = ties_samples(groups);
  if (stratify == Stratify::kNo || (stratify == Stratify::kAuto && !tied)) {
    Rng stream = rng.stream("folds", index);
    std::vector<int> fold_of = random_folds(labels.size(), groups, count, stream);
    if (stratify == Stratify::kNo || !loses_a_class(labels.ids, fold_of, folds)) return fold_of;
  }
  Rng stream = rng.stream("stratified folds", index);
  return stratified_folds(labels.ids, groups, count, stream);
}

namespace {

/// By the rule of `stratify`, without folds.
Partition draw_partition(const Labels& labels, const PartitionSettings& settings,
                         const RngStreams& rng, std::uint64_t index) {
  Partition partition;
  if (ties_samples(labels.groups.ids)) {
    partition.test =
        detail::grouped_test_part(labels, settings, rng.stream("grouped partition", index));
    partition.train = others(labels.size(), partition.test);
    return partition;
  }
  if (settings.stratify == Stratify::kEqual) {
    return equal_classes(labels, settings.test_fraction, rng.stream("equal partition", index));
  }
  const Index samples = labels.size();
  const auto test =
      static_cast<Index>(std::llround(settings.test_fraction * static_cast<double>(samples)));
  bool stratified = settings.stratify == Stratify::kYes;
  if (!stratified) {
    partition.test = random_subset(samples, test, rng.stream("partition", index));
    partition.train = others(samples, partition.test);
    stratified = settings.stratify == Stratify::kAuto &&
                 present(labels.ids, partition.train, labels.class_count()) !=
                     present(labels.ids, all_positions(samples), labels.class_count());
  }
  if (!stratified) return partition;
  partition.test = stratified_subset(labels.ids, test, rng.stream("stratified partition", index));
  if (partition.test.empty()) {
    throw invalid(
        "{} samples in {} classes: a class keeps its last sample for "
        "training, so nothing is left to test on; [[stratify=no]] does not "
        "keep them",
        samples, labels.class_count());
  }
  partition.train = others(samples, partition.test);
  return partition;
}

/// What cannot be had with groups.
void check_settings(const Labels& labels, const PartitionSettings& settings) {
  if (settings.stratify == Stratify::kEqual) {
    throw invalid(
        "[[stratify=equal]] leaves single samples out, and groups stay whole: give [[stratify=yes]]"
        ", or no [[groups]]");
  }
  const Index groups = count_groups(labels.groups.ids);
  if (groups > settings.folds) return;
  throw invalid(
      "{} groups of samples; {} folds and a test part need {} or more. Give fewer folds, or more "
      "groups",
      groups, settings.folds, settings.folds + 1);
}

}  // namespace

std::vector<Partition> draw_partitions(const Labels& labels, const PartitionSettings& settings,
                                       const RngStreams& rng) {
  validate(settings, "partitions");
  check_sizes(labels.size(), settings);
  const bool tied = ties_samples(labels.groups.ids);
  if (tied) check_settings(labels, settings);
  std::vector<Partition> partitions;
  for (Index r = 0; r < settings.repeats; ++r) {
    const auto index = static_cast<std::uint64_t>(r);
    Partition partition = draw_partition(labels, settings, rng, index);
    const Labels part = select(labels, partition.train);
    check_folds(part, settings.folds);
    partition.fold_of = draw_folds(part, settings.folds, settings.stratify, rng, index);
    if (tied) check_classes_left(part, partition.fold_of);
    partitions.push_back(std::move(partition));
  }
  return partitions;
}

void check_partitions(std::span<const Partition> partitions, Index samples) {
  const auto refuse = [](std::size_t partition, const std::string& rule) {
    throw invalid("partition {}: {}", partition + 1, rule);
  };
  if (partitions.empty()) throw invalid("there are no partitions");
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    const Partition& partition = partitions[p];
    if (partition.train.empty()) refuse(p, "no sample is for training");
    if (partition.test.empty()) refuse(p, "no sample is for testing");
    if (partition.fold_of.size() != partition.train.size()) {
      refuse(p, fmt::format("{} folds are given for {} training samples", partition.fold_of.size(),
                            partition.train.size()));
    }
    std::vector<bool> seen(static_cast<std::size_t>(samples), false);
    for (const std::vector<Index>* part : {&partition.train, &partition.test}) {
      for (const Index i : *part) {
        if (i < 0 || i >= samples) {
          refuse(p, fmt::format("sample {} is not among the {} samples", i + 1, samples));
        }
        if (seen[static_cast<std::size_t>(i)]) {
          refuse(p, fmt::format("sample {} stands twice", i + 1));
        }
        seen[static_cast<std::size_t>(i)] = true;
      }
    }
    const int folds = partition.folds();
    if (folds < 2) refuse(p, "its training samples are in fewer than two folds");
    for (int f = 0; f < folds; ++f) {
      if (std::find(partition.fold_of.begin(), partition.fold_of.end(), f) ==
          partition.fold_of.end()) {
        refuse(p, fmt::format("fold {} of {} has no sample", f + 1, folds));
      }
    }
  }
}

namespace {

std::string listed(std::span<const Index> samples, const std::function<std::string(Index)>& name) {
  std::vector<std::string> names;
  for (const Index i : samples) names.push_back(name(i));
  return (samples.size() == 1 ? "sample " : "samples ") + list_some(names);
}

/// Of a partition the samples of each group in each place: -1 for testing, else its fold.
using Places = std::map<int, std::map<int, std::vector<Index>>>;

Places places_of(const Partition& partition, const Groups& groups) {
  Places places;
  const auto add = [&](Index sample, int place) {
    places[groups.ids[static_cast<std::size_t>(sample)]][place].push_back(sample);
  };
  for (std::size_t i = 0; i < partition.train.size(); ++i) {
    add(partition.train[i], partition.fold_of[i]);
  }
  for (const Index i : partition.test) add(i, -1);
  return places;
}

}  // namespace

void check_groups(std::span<const Partition> partitions, const Groups& groups,
                  const std::function<std::string(Index)>& name) {
  if (groups.empty()) return;
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    for (const auto& [group, places] : places_of(partitions[p], groups)) {
      if (places.size() < 2) continue;
      const auto& [first, in_first] = *places.begin();
      const auto& [second, in_second] = *std::next(places.begin());
      const std::string& named = groups.names[static_cast<std::size_t>(group)];
      if (first < 0) {
        throw invalid(
            "partition {}: group {} stands on both sides: {} in the test part, {} in the training "
            "part; a group must be on one side",
            p + 1, in_quotes(named), listed(in_first, name), listed(in_second, name));
      }
      throw invalid("partition {}: group {} stands in two folds: {} in fold {}, {} in fold {}",
                    p + 1, in_quotes(named), listed(in_first, name), first + 1,
                    listed(in_second, name), second + 1);
    }
  }
}

}  // namespace kith
