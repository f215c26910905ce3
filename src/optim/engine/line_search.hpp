// SPDX-License-Identifier: Apache-2.0
// Searches in one dimension: steps that become shorter until one is good enough, and roots between
// two ends.
#pragma once

#include <algorithm>
#include <cmath>

namespace kith::engine {

/// What a descent must keep of the decrease that its slope promises (Armijo's rule; sigma of [ZGZZ]
/// Algorithm 1, which the paper leaves open).
inline constexpr double kArmijo = 1e-4;

[[nodiscard]] inline bool passes_armijo(double f, double trial, double promised) {
  return trial <= f - kArmijo * std::max(0.0, promised);
}

/// The first of `length`, a half of it, a quarter, ... that `accept` takes; 0 where none of `most`
/// is taken.
template <class Accept>
[[nodiscard]] double backtrack(double length, int most, Accept accept) {
  for (int trial = 0; trial < most; ++trial, length *= 0.5) {
    if (accept(length)) return length;
  }
  return 0;
}

/// How a root is closed in on.
struct BracketRule {
  int most = 100;        ///< steps
  int halve_every = 3;   ///< step that halves: at a kink, secants creep
  double inside = 1e-6;  ///< of the way: no step is closer to an end
};

/// Moves two ends towards the root between them by Illinois' rule: where the secant through their
/// values meets zero, the value of an end that stays counting half as much each time. The value of
/// `first` is above 0 and that of `second` is not, or the other way round; `at(share)` is the end
/// at that part of the way, and done() ends the search. An End has a `value`.
template <class End, class At, class Done>
void close_in(End& first, End& second, const BracketRule& rule, At at, Done done) {
  const bool falls = first.value > 0;
  double own = 1;
  double other = 1;
  for (int i = 1; i <= rule.most && !done(); ++i) {
    const double from = own * first.value;
    const double secant = from / (from - other * second.value);
    const bool halve = i % rule.halve_every == 0 || !std::isfinite(secant);
    End middle = at(halve ? 0.5 : std::clamp(secant, rule.inside, 1 - rule.inside));
    if (!std::isfinite(middle.value)) return;
    const bool is_first = (middle.value > 0) == falls;
    (is_first ? own : other) = 1;
    (is_first ? other : own) *= 0.5;
    (is_first ? first : second) = std::move(middle);
  }
}

}  // namespace kith::engine
