// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kith::engine {

/// Illinois' rule for a root between two ends: where the secant through the values there meets
/// zero, the value of an end that stays counting half as much each time.
class IllinoisRule {
 public:
  /// How far from the first end, as a part of the way. The values are of opposite sign.
  [[nodiscard]] double share(double first, double second) const {
    const double from = first_ * first;
    return from / (from - second_ * second);
  }
  void first_moved() {
    first_ = 1;
    second_ *= 0.5;
  }
  void second_moved() {
    second_ = 1;
    first_ *= 0.5;
  }

 private:
  double first_ = 1;
  double second_ = 1;
};

}  // namespace kith::engine
