// SPDX-License-Identifier: Apache-2.0
#include "kith/evaluate/sizes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "core/errors.hpp"
#include "data/bundles.hpp"
#include "kith/core/positions.hpp"
#include "kith/core/text.hpp"
#include "kith/data/folds.hpp"

namespace kith {
namespace {

using detail::Bundle;
using detail::Bundles;

/// The fewest samples of a class that cross-validation can divide.
constexpr std::size_t kFirstOnes = 2;

/// The class of which a bundle has the largest share; of equals the first.
std::size_t main_class(const Bundle& bundle, const Bundles& bundles) {
  std::size_t best = 0;
  double most = -1;
  for (const auto& [id, count] : bundle.classes) {
    const auto c = static_cast<std::size_t>(id);
    const double share = static_cast<double>(count) / static_cast<double>(bundles.class_sizes[c]);
    if (share <= most) continue;
    most = share;
    best = c;
  }
  return best;
}

/// Where a bundle comes in the order; the less the sooner.
struct Place {
  std::size_t round;  // 0: the first of its class, 1: the second, 2: any other
  double position;    // among those of the round
  std::size_t shuffled;
  std::size_t bundle;

  [[nodiscard]] auto key() const { return std::tuple(round, position, shuffled); }
};

/// The bundles of one class, in random order, find their places.
void place_class(const std::vector<Place>& own, const Bundles& bundles,
                 std::vector<Place>& places) {
  double all = 0;
  for (const Place& one : own) all += static_cast<double>(bundles.all[one.bundle].size());
  double before = 0;
  for (std::size_t k = 0; k < own.size(); ++k) {
    Place place = own[k];
    const auto size = static_cast<double>(bundles.all[place.bundle].size());
    place.round = std::min(k, kFirstOnes);
    place.position = k < kFirstOnes ? -all : (before + size / 2) / all;
    before += size;
    places.push_back(place);
  }
}

/// Positions of bundles: any beginning has the shares of the classes as nearly as it can.
std::vector<std::size_t> training_order(const Bundles& bundles, bool by_class, Rng rng) {
  const std::vector<Index> random = rng.permutation(bundles.size());
  std::vector<std::vector<Place>> of_class(bundles.class_sizes.size());
  std::vector<Place> places;
  for (std::size_t i = 0; i < random.size(); ++i) {
    const auto b = static_cast<std::size_t>(random[i]);
    const Place place{.round = 0, .position = 0, .shuffled = i, .bundle = b};
    if (by_class) {
      of_class[main_class(bundles.all[b], bundles)].push_back(place);
    } else {
      places.push_back(place);
    }
  }
  for (const std::vector<Place>& own : of_class) place_class(own, bundles, places);
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.key() < b.key(); });
  std::vector<std::size_t> order;
  order.reserve(places.size());
  for (const Place& place : places) order.push_back(place.bundle);
  return order;
}

/// The beginning of the order that is nearest to so many samples, of equals the smaller: positions,
/// ascending.
std::vector<Index> beginning(const Bundles& bundles, std::span<const std::size_t> order,
                             Index samples) {
  std::vector<Index> taken;
  for (const std::size_t b : order) {
    const Bundle& next = bundles.all[b];
    const Index without = std::abs(samples - std::ssize(taken));
    const Index with = std::abs(samples - std::ssize(taken) - next.size());
    if (!taken.empty() && with >= without) break;
    taken.insert(taken.end(), next.members.begin(), next.members.end());
  }
  std::sort(taken.begin(), taken.end());
  return taken;
}

Index wanted_samples(const TrainingSize& size, Index training, std::size_t partition) {
  if (size.samples == 0) {
    return std::max<Index>(
        1, static_cast<Index>(std::llround(size.share * static_cast<double>(training))));
  }
  if (size.samples <= training) return size.samples;
  throw invalid("[[sizes]]: {} training samples are asked for, and partition {} has {}",
                size.samples, partition + 1, training);
}

/// Draws the subsets of one partition.
class Subsets {
 public:
  Subsets(const Partition& partition, std::size_t number, const Labels& labels, Stratify stratify,
          const RngStreams& rng)
      : partition_(partition),
        number_(number),
        labels_(select(labels, partition.train)),
        stratify_(stratify),
        rng_(rng),
        bundles_(detail::bundles_of(labels_.ids, labels_.groups.ids)),
        order_(training_order(bundles_, stratify != Stratify::kNo,
                              rng.stream("training order", number))) {}

  [[nodiscard]] Partition draw(const TrainingSize& size) const {
    const Index all = std::ssize(partition_.train);
    const std::vector<Index> taken =
        beginning(bundles_, order_, wanted_samples(size, all, number_));
    if (std::ssize(taken) == all) return partition_;
    const Labels own = select(labels_, taken);
    check(own, size);
    Partition subset{
        .train = values_at(partition_.train, taken), .test = partition_.test, .fold_of = {}};
    subset.fold_of =
        draw_folds(own, partition_.folds(), stratify_,
                   rng_.child("training size", static_cast<std::uint64_t>(own.size())), number_);
    check_classes(own, subset.fold_of, size);
    return subset;
  }

 private:
  [[nodiscard]] std::string subject(const Labels& own, const TrainingSize& size) const {
    return fmt::format("[[sizes]]: {} of partition {} is {}", size_text(size), number_ + 1,
                       counted(own.size(), "training sample"));
  }
  void check(const Labels& own, const TrainingSize& size) const {
    const bool tied = ties_samples(own.groups.ids);
    const Index pieces = count_pieces(own);
    if (pieces >= partition_.folds()) return;
    throw invalid(
        "{}{}, and the {} folds need at least one {} each; give a larger size or fewer folds",
        subject(own, size), tied ? fmt::format(" of {}", counted(pieces, "group")) : "",
        partition_.folds(), tied ? "group" : "sample");
  }
  void check_classes(const Labels& own, std::span<const int> fold_of,
                     const TrainingSize& size) const {
    if (!class_inside_a_fold(own, fold_of)) return;
    throw invalid("{}, and those outside a fold of it are all of one class; give a larger size",
                  subject(own, size));
  }

  const Partition& partition_;
  std::size_t number_;
  Labels labels_;  // of the training samples
  Stratify stratify_;
  const RngStreams& rng_;
  Bundles bundles_;
  std::vector<std::size_t> order_;
};

}  // namespace

TrainingSize parse_size(std::string_view text) {
  const std::string_view all = trim(text);
  if (all.ends_with('%')) {
    const std::optional<double> percent = parse_double(trim(all.substr(0, all.size() - 1)));
    if (percent && *percent > 0 && *percent <= 100) return {.share = *percent / 100};
  } else if (const auto count = parse_integer(all); count && *count >= 1) {
    return {.share = 1, .samples = static_cast<Index>(*count)};
  }
  throw invalid(
      "[[sizes]]: {} must be a share of the training samples, such as 20%, or a number of them, "
      "such as 50",
      in_quotes(all));
}

std::string size_text(const TrainingSize& size) {
  if (size.samples > 0) return std::to_string(size.samples);
  return format_short(100 * size.share, 12) + "%";
}

std::vector<TrainingSize> parse_sizes(std::string_view list) {
  std::vector<TrainingSize> sizes;
  for (const std::string_view text : split(list, ',')) {
    const TrainingSize size = parse_size(text);
    if (std::find(sizes.begin(), sizes.end(), size) != sizes.end()) {
      throw invalid("[[sizes]]: {} stands twice", size_text(size));
    }
    sizes.push_back(size);
  }
  return sizes;
}

std::vector<SizedPartitions> draw_sizes(std::span<const Partition> partitions, const Labels& labels,
                                        std::span<const TrainingSize> sizes, Stratify stratify,
                                        const RngStreams& rng) {
  std::vector<SizedPartitions> drawn;
  for (const TrainingSize& size : sizes)
    drawn.push_back({.size = size_text(size), .partitions = {}});
  for (std::size_t p = 0; p < partitions.size(); ++p) {
    const Subsets subsets(partitions[p], p, labels, stratify, rng);
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      drawn[k].partitions.push_back(subsets.draw(sizes[k]));
    }
  }
  std::erase_if(drawn, [&](const SizedPartitions& one) {
    return std::ranges::equal(one.partitions, partitions);
  });
  return drawn;
}

}  // namespace kith
