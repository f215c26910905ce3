// SPDX-License-Identifier: Apache-2.0
// The free variables F of a block with the Cholesky factor of K_FF, kept up to date while variables
// reach a bound (leave) or come off one (enter): O(f^2) each, where factoring anew costs O(f^3).
//
// What is factored is K_FF + diag(w), w tiny and positive: each step is then a proximal one, and
// repeated steps converge for singular K_FF too.
#pragma once

#include <functional>
#include <vector>

#include "kith/core/types.hpp"

namespace kith::dual {

class FreeSet {
 public:
  /// Columns of K over the block, by position in the block.
  using Column = std::function<const double*(Index)>;

  /// Factors K_FF. False if it is indefinite beyond rounding.
  [[nodiscard]] bool factor(std::vector<Index> members, const Column& column);
  /// Adds block position k; factors anew where rounding has spoiled the factor. False if K_FF would
  /// become indefinite beyond rounding.
  [[nodiscard]] bool enter(Index k, const Column& column);
  /// Takes out the member at position `at` of members().
  void leave(Index at);

  /// d that minimises 1/2 d'(K_FF + W)d + g'd over sum d = 0, and the multiplier rho of the sum:
  /// (K_FF + W) d = rho - g.
  void direction(const Vector& g, Vector& d, double& rho) const;

  [[nodiscard]] const std::vector<Index>& members() const { return members_; }
  [[nodiscard]] Index size() const { return static_cast<Index>(members_.size()); }
  [[nodiscard]] double weight(Index at) const { return weights_[std::size_t(at)]; }

 private:
  void reserve(Index size);

  std::vector<Index> members_;
  std::vector<double> weights_;
  Matrix L_;  // lower triangle of the leading block; columns are rotated in `leave`
  double ridge_ = 0;
  Index updates_ = 0;  // since the last factorisation
};

}  // namespace kith::dual
