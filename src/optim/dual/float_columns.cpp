// SPDX-License-Identifier: Apache-2.0
#include "optim/dual/float_columns.hpp"

#include <algorithm>

#include "optim/dual/vector_kernels.hpp"

namespace kith::dual {
namespace {

constexpr Index kNew = -2;          // not asked for yet
constexpr Index kOnce = -1;         // asked for once: a copy would not have paid
constexpr Index kEagerFrom = 3000;  // samples: beyond the last-level cache a copy pays at once
constexpr Index kMostFloats = Index{64} << 20;  // 256 MiB
constexpr Index kShare = 4;                     // of the columns at most: an eighth of the matrix

}  // namespace

FloatColumns::FloatColumns(const SymmetricView& K, Index room)
    : K_(K),
      stride_(padded<float>(K.size())),
      room_(std::min(room, K.size())),
      slot_(static_cast<std::size_t>(K.size()), K.size() < kEagerFrom ? kNew : kOnce) {}

FloatColumns::FloatColumns(const SymmetricView& K)
    : FloatColumns(K, std::min(kMostFloats / padded<float>(K.size()), K.size() / kShare + 1)) {}

const float* FloatColumns::kept(Index j) const {
  const Index slot = slot_[std::size_t(j)];
  return slot >= 0 ? memory_.data() + slot * stride_ : nullptr;
}

void FloatColumns::gather(Index j, std::span<const Index> rows, float* out) {
  Index& slot = slot_[std::size_t(j)];
  if (slot == kOnce && used_ < room_) {
    memory_.require(static_cast<std::size_t>(room_ * stride_));
    slot = used_++;
    K_.copy_column(j, memory_.data() + slot * stride_);
  }
  if (const float* source = kept(j)) {
    for (std::size_t k = 0; k < rows.size(); ++k) out[k] = source[rows[k]];
    return;
  }
  if (slot == kNew) slot = kOnce;
  K_.gather(j, rows, out);
}

void FloatColumns::add(std::span<const Index> columns, std::span<const double> weights, Vector& g) {
  std::vector<const float*> here;
  std::vector<double> w;
  std::vector<Index> elsewhere;
  std::vector<double> w_elsewhere;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (const float* source = kept(columns[k])) {
      here.push_back(source);
      w.push_back(weights[k]);
    } else {
      elsewhere.push_back(columns[k]);
      w_elsewhere.push_back(weights[k]);
    }
  }
  dual::add_columns(here, w, g);
  if (!elsewhere.empty()) K_.add_columns(elsewhere, w_elsewhere, g);
}

}  // namespace kith::dual
