// SPDX-License-Identifier: Apache-2.0
// Who trains and who tests, decided once and stored: the same for every method.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/core/rng.hpp"
#include "kith/core/settings.hpp"
#include "kith/data/labels.hpp"

namespace kith {

/// Whether training parts and folds keep the shares of the classes. `auto` draws at random and
/// stratifies only a partition (or its folds) from whose training part a class would vanish.
/// `equal` gives every class as many samples as the smallest has, drawn anew for each partition;
/// the others stand in neither part ([KTBB] 4). Where groups tie samples, `auto` is `yes`: shares
/// are kept as closely as whole groups allow; `equal`, which parts groups, is refused.
enum class Stratify { kAuto, kYes, kNo, kEqual };
constexpr auto enum_names(Stratify /*of*/) { return named("auto", "yes", "no", "equal"); }

struct PartitionSettings {
  Index repeats = 20;
  Index folds = 10;
  /// The test part has round(fraction * n) samples, or as nearly as many as whole groups allow;
  /// with equal classes of m samples, m times the fraction of each, rounded up.
  double test_fraction = 0.2;
  Stratify stratify = Stratify::kAuto;
};
void describe(PartitionSettings& settings, FieldVisitor& field);

/// One division of the samples. Samples may stand in neither part.
struct Partition {
  std::vector<Index> train;  ///< ascending
  std::vector<Index> test;   ///< ascending
  std::vector<int> fold_of;  ///< inner fold 0 .. of each training sample, in the order of `train`

  [[nodiscard]] int folds() const;  ///< 1 + the largest of fold_of; 0 without training samples
  friend bool operator==(const Partition&, const Partition&) = default;
};

/// Partition r comes from the stream ("partition", r), its folds from ("folds", r): more repeats
/// leave the first ones as they were. No group stands in both parts or in two folds. Throws Error
/// when a part would be empty, a training part has fewer samples or groups than folds, and, with
/// groups, where a class in too few of them leaves one class alone outside a fold.
[[nodiscard]] std::vector<Partition> draw_partitions(const Labels& labels,
                                                     const PartitionSettings& settings,
                                                     const RngStreams& rng);

/// The folds of one training part with these labels, drawn by the same rule, groups whole.
[[nodiscard]] std::vector<int> draw_folds(const Labels& labels, Index folds, Stratify stratify,
                                          const RngStreams& rng, std::uint64_t index);

/// Throws Error naming the partition and the sample unless every partition is over 0 .. samples-1,
/// its parts are disjoint and not empty, it has at least two folds, none empty.
void check_partitions(std::span<const Partition> partitions, Index samples);

/// Throws Error naming the first partition, group and samples where a group stands in the training
/// and in the test part, or in two folds. `name` is what messages call a sample.
void check_groups(std::span<const Partition> partitions, const Groups& groups,
                  const std::function<std::string(Index)>& name);

/// Inner folds of the training samples of a partition.
using FoldsOf =
    std::function<std::vector<int>(std::span<const Index> train, std::size_t partition)>;
/// The text format of docs/formats.md "Partitions": a line per sample (its id, or its position
/// counted from 1), a cell per partition: `test`, the fold counted from 1, `train` or `-`. Samples
/// are matched by id where there are ids (in any order), else by position. Or one such cell per
/// line for each sample in order, which is refused where the samples have none: `unordered` is then
/// the name of their table. `folds_of` says the folds of a partition whose training samples are all
/// `train`; without it that is refused.
[[nodiscard]] std::vector<Partition> read_partitions(const std::string& path,
                                                     std::span<const std::string> ids,
                                                     Index samples, const FoldsOf& folds_of = {},
                                                     std::string_view unordered = {});
void write_partitions(const std::string& path, std::span<const Partition> partitions,
                      std::span<const std::string> ids, Index samples);

}  // namespace kith
