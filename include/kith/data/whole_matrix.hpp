// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>

#include "kith/core/context.hpp"
#include "kith/data/block.hpp"

namespace kith {

/// What the eigenvalues of a whole matrix say of its blocks: a block of some of the samples has at
/// most as many negative eigenvalues, and at most as many fewer as samples were left out (Cauchy).
struct NegativeCount {
  Index samples = 0;   ///< of the whole matrix
  Index negative = 0;  ///< eigenvalues below -floor
  double floor = 0;

  [[nodiscard]] Index least(Index samples_of_block) const {
    return std::max<Index>(0, negative - (samples - samples_of_block));
  }
};

/// A symmetric matrix whose negative eigenvalues are counted when somebody first asks: one Cholesky
/// factor where there are none, else one of L D L'. Safe to use from several threads.
class WholeMatrix {
 public:
  /// `S` must be symmetric and complete.
  explicit WholeMatrix(DenseBlock S);
  ~WholeMatrix();
  [[nodiscard]] NegativeCount negative_count(const RunContext& ctx);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kith
