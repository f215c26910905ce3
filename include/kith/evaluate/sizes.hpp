// SPDX-License-Identifier: Apache-2.0
// Whether more samples would help: every partition again with a part of its training samples, on
// the same test part.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/evaluate/partitions.hpp"

namespace kith {

/// How many training samples: a share of those of each partition, or a number.
struct TrainingSize {
  double share = 1;   ///< above 0, at most 1; says nothing where `samples` does
  Index samples = 0;  ///< 0: by share

  friend bool operator==(const TrainingSize&, const TrainingSize&) = default;
};
/// "20%" or "50". Throws Error on anything else.
[[nodiscard]] TrainingSize parse_size(std::string_view text);
/// "20%" or "50".
[[nodiscard]] std::string size_text(const TrainingSize& size);
/// Sizes separated by commas. Throws Error where one stands twice.
[[nodiscard]] std::vector<TrainingSize> parse_sizes(std::string_view list);

/// One size in every partition: the same test parts, with some of the training samples and folds of
/// their own.
struct SizedPartitions {
  std::string size;  ///< as size_text says it
  std::vector<Partition> partitions;
};

/// For each size, without those that are all training samples everywhere: `partitions` are those
/// already.
///
/// The training samples of partition p, or their groups, have one order from the stream ("training
/// order", p): the first of each class, the larger classes first, then the second of each (two are
/// the fewest that cross-validation can divide), then all others so that any number of them from
/// the first on has the shares of the classes. With `stratify` no the order is random. A subset is
/// the beginning of that order that is nearest to its size: a smaller one lies in every larger one,
/// whichever others are drawn. Its folds come from `draw_folds`; all samples keep those they have.
///
/// Throws Error naming size and partition where a subset has fewer samples or groups than folds,
/// where one class is left outside a fold, and where a partition has fewer samples than asked for.
[[nodiscard]] std::vector<SizedPartitions> draw_sizes(std::span<const Partition> partitions,
                                                      const Labels& labels,
                                                      std::span<const TrainingSize> sizes,
                                                      Stratify stratify, const RngStreams& rng);

}  // namespace kith
