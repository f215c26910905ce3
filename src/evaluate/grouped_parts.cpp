// SPDX-License-Identifier: Apache-2.0
#include "evaluate/grouped_parts.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/errors.hpp"
#include "data/bundles.hpp"

namespace kith::detail {
namespace {

class TestPart {
 public:
  TestPart(const Labels& labels, const PartitionSettings& settings, Rng rng)
      : bundles_(bundles_of(labels.ids, labels.groups.ids)),
        by_class_(settings.stratify != Stratify::kNo),
        folds_(settings.folds),
        fraction_(std::round(settings.test_fraction * static_cast<double>(labels.size())) /
                  static_cast<double>(labels.size())),
        order_(rng.permutation(bundles_.size())),
        taken_(bundles_.all.size(), false),
        of_class_(bundles_.class_sizes.size(), 0),
        left_(bundles_.of_class),
        training_(bundles_.size()) {}

  std::vector<Index> draw() {
    for (const Index b : order_) {
      if (allowed(b) && class_change(b, 1) + size_change(b, 1) < 0) move(b, 1);
    }
    while (mended()) {
    }
    while (const std::optional<Index> best = best_for_size()) move(*best, 1);
    if (size_ == 0) move(nearest(), 1);
    std::vector<Index> test;
    for (std::size_t b = 0; b < taken_.size(); ++b) {
      const std::vector<Index>& members = bundles_.all[b].members;
      if (taken_[b]) test.insert(test.end(), members.begin(), members.end());
    }
    std::sort(test.begin(), test.end());
    return test;
  }

 private:
  [[nodiscard]] const Bundle& at(Index b) const {
    return bundles_.all[static_cast<std::size_t>(b)];
  }

  /// Whether enough would be left for training.
  [[nodiscard]] bool allowed(Index b) const {
    constexpr Index kMany = 3;
    if (taken_[static_cast<std::size_t>(b)] || training_ <= folds_) return false;
    return !by_class_ || std::ranges::all_of(at(b).classes, [&](const auto& one) {
      const auto c = static_cast<std::size_t>(one.first);
      return left_[c] > (bundles_.of_class[c] >= kMany ? 2 : 1);
    });
  }

  /// By how much the squared distance of a share from the fraction grows where `more` is added.
  [[nodiscard]] double change(Index there, Index more, Index all) const {
    const double share = static_cast<double>(more) / static_cast<double>(all);
    return share *
           (2 * (static_cast<double>(there) / static_cast<double>(all) - fraction_) + share);
  }
  /// Of taking a bundle (`sign` 1) or of giving it back (-1).
  [[nodiscard]] double class_change(Index b, Index sign) const {
    double sum = 0;
    if (!by_class_) return sum;
    for (const auto& [id, count] : at(b).classes) {
      const auto c = static_cast<std::size_t>(id);
      sum += change(of_class_[c], sign * count, bundles_.class_sizes[c]);
    }
    return sum;
  }
  /// All classes together weigh as much as the size.
  [[nodiscard]] double size_change(Index b, Index sign) const {
    const double weight = by_class_ ? static_cast<double>(of_class_.size()) : 1;
    return weight * change(size_, sign * at(b).size(), bundles_.samples);
  }

  /// One pass over all bundles that takes or gives back what brings the part nearer to what is
  /// wanted; whether it found any. Each step lowers the same distance, so that the passes end.
  bool mended() {
    constexpr double kRounding = 1e-12;
    bool any = false;
    for (const Index b : order_) {
      const Index sign = taken_[static_cast<std::size_t>(b)] ? -1 : 1;
      if (sign > 0 && !allowed(b)) continue;
      if (!(class_change(b, sign) + size_change(b, sign) < -kRounding)) continue;
      move(b, sign);
      any = true;
    }
    return any;
  }

  /// Of those that bring the size nearer, the one that suits the classes best; the first of equals.
  [[nodiscard]] std::optional<Index> best_for_size() const {
    std::optional<Index> best;
    for (const Index b : order_) {
      if (!allowed(b) || !(size_change(b, 1) < 0)) continue;
      if (!best || class_change(b, 1) < class_change(*best, 1)) best = b;
    }
    return best;
  }

  /// Where every group is more than twice as large as the part should be.
  [[nodiscard]] Index nearest() const {
    std::optional<Index> best;
    for (const Index b : order_) {
      if (allowed(b) && (!best || size_change(b, 1) < size_change(*best, 1))) best = b;
    }
    if (best) return *best;
    throw invalid(
        "no group can be a test part: the others would be fewer than the {} folds or would lose a "
        "class. More groups of each class are needed, or fewer folds; [[stratify=no]] does not "
        "keep the classes",
        folds_);
  }

  /// Takes a bundle for the part (`sign` 1) or gives it back for training (-1).
  void move(Index b, Index sign) {
    taken_[static_cast<std::size_t>(b)] = sign > 0;
    size_ += sign * at(b).size();
    training_ -= sign;
    for (const auto& [id, count] : at(b).classes) {
      const auto c = static_cast<std::size_t>(id);
      of_class_[c] += sign * count;
      left_[c] -= sign;
    }
  }

  Bundles bundles_;
  bool by_class_;
  Index folds_;
  double fraction_;
  std::vector<Index> order_;
  std::vector<bool> taken_;
  Index size_ = 0;               // samples taken
  std::vector<Index> of_class_;  // of each class
  std::vector<Index> left_;      // groups of each class for training
  Index training_;               // groups for training
};

}  // namespace

std::vector<Index> grouped_test_part(const Labels& labels, const PartitionSettings& settings,
                                     Rng rng) {
  return TestPart(labels, settings, rng).draw();
}

}  // namespace kith::detail
