// SPDX-License-Identifier: Apache-2.0
#include "kith/data/whole_matrix.hpp"

#include <mutex>
#include <optional>
#include <utility>

#include "kith/numerics/negative_part.hpp"

namespace kith {

struct WholeMatrix::State {
  DenseBlock S;
  std::mutex mutex;
  std::optional<NegativeCount> count;
};

WholeMatrix::WholeMatrix(DenseBlock S) : state_(std::make_unique<State>()) {
  state_->S = std::move(S);
}

WholeMatrix::~WholeMatrix() = default;

NegativeCount WholeMatrix::negative_count(const RunContext& ctx) {
  const std::lock_guard lock(state_->mutex);
  if (!state_->count) {
    // Row-major and column-major are the same bytes for a symmetric matrix.
    const Index n = state_->S.rows();
    const Eigen::Map<const Matrix> S(state_->S.values().data(), n, n);
    state_->count = NegativeCount{
        .samples = n, .negative = count_negative(S, ctx), .floor = 2 * definiteness_margin(S)};
  }
  return *state_->count;
}

}  // namespace kith
