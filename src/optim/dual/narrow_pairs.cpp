// SPDX-License-Identifier: Apache-2.0
// Pair steps in float: columns, gradient and selection take half the memory and half the vector
// instructions of those in double. The variables stay double, and the gradient is kept as its
// distance from the middle of its ends, so that it is exact where it matters, near the offset. What
// is solved is the problem of the rounded matrix; the rounds around it (dual/smo.cpp) see to the
// rest. The loop stands alone, like that of dual/smo.cpp, for its reason.
#include <algorithm>
#include <cmath>
#include <limits>

#include "optim/dual/block.hpp"

namespace kith::dual {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kFloatEpsilon = 6e-8;
constexpr double kLargest = 1e12;  // of gradients and steps: squares and products stay in range

}  // namespace

const float* WorkingBlock::narrow_column(Index k) {
  Index& slot = narrow_slot_[std::size_t(k)];
  if (slot < 0) {
    slot = narrow_used_++;
    float* out = memory_.narrow.data() + slot * stride_;
    floats_->gather(rows_[std::size_t(k)], rows_, out);
    std::fill(out + m_, out + stride_, 0.0F);
  }
  return memory_.narrow.data() + slot * stride_;
}

/// Loads the vectors; false where they do not fit into floats.
bool WorkingBlock::start_narrow() {
  if (narrow_slot_.empty()) {
    stride_ = padded<float>(m_);
    // For the largest block at once: pages are touched as columns come, and stay warm.
    const Index most = std::max(m_, std::min(kLargestFloatBlock, K_.size()));
    memory_.narrow.require(static_cast<std::size_t>(most * padded<float>(most)));
    narrow_slot_.assign(u_.size(), -1);
    const auto length = static_cast<std::size_t>(stride_);
    narrow_g_.assign(length, 0.0F);
    narrow_diagonal_.assign(length, 1.0F);
    // What lies beyond the block can go neither up nor down.
    narrow_up_.assign(length, kInfinity);
    narrow_low_.assign(length, -kInfinity);
    std::copy(diagonal_.begin(), diagonal_.end(), narrow_diagonal_.begin());
  }
  const GradientEnds ends = scan();
  const double middle = 0.5 * (ends.lowest + ends.highest);
  double largest = std::abs(middle);
  for (std::size_t k = 0; k < u_.size(); ++k) {
    largest = std::max(largest, std::abs(g_[k]));
    narrow_g_[k] = static_cast<float>(g_[k] - middle);
    narrow_up_[k] = static_cast<float>(up_[k]);
    narrow_low_[k] = static_cast<float>(low_[k]);
  }
  return largest < kLargest;
}

/// g += K (u - before) over the block, from the rounded columns.
void WorkingBlock::leave_narrow(const std::vector<double>& before) {
  ColumnSum<float> sum(m_, g_.data());
  for (Index k = 0; k < m_; ++k) {
    const double by = u_[std::size_t(k)] - before[std::size_t(k)];
    if (by != 0) sum.add(narrow_column(k), by);
  }
  sum.finish();
}

/// As pair_steps. Where floats do not suffice it turns them off and leaves the block to double.
bool WorkingBlock::narrow_steps(double tolerance, double budget, BoxProgress& progress,
                                const RunContext& ctx) {
  const PairKernels<float>& kernels = vector_kernels().narrow;
  if (!start_narrow()) {
    progress.narrow = false;
    return false;
  }
  const std::vector<double> before = u_;
  // Curvature below this is rounding. A step as if it were this large is a shorter one, and safe.
  const double floor = 4 * kFloatEpsilon * largest_diagonal_;
  const double work = pair_work(m_, true);
  GradientEnds ends =
      kernels.step_and_scan(stride_, 0.0F, narrow_diagonal_.data(), narrow_diagonal_.data(),
                            narrow_g_.data(), narrow_up_.data(), narrow_low_.data());
  for (double spent = 0; spent < budget; spent += work) {
    if (!(ends.highest - ends.lowest > tolerance)) return true;
    if (progress.iterations >= progress.limit) return true;
    if (progress.iterations % 1024 == 0) ctx.check_stop();
    const Index i = ends.lowest_index;
    const float* ci = narrow_column(i);
    const float gi = narrow_g_[std::size_t(i)];
    const Index j = kernels.select_partner(stride_, gi, narrow_diagonal_[std::size_t(i)],
                                           static_cast<float>(floor), ci, narrow_diagonal_.data(),
                                           narrow_g_.data(), narrow_low_.data());
    const double curvature = j < 0 ? 0.0
                                   : diagonal_[std::size_t(i)] + diagonal_[std::size_t(j)] -
                                         2.0 * static_cast<double>(ci[j]);
    if (j < 0 || std::isnan(curvature)) {
      progress.narrow = false;
      break;
    }
    // Down a curved ridge the step goes to the end of the box, as in double.
    const bool negative = curvature < -floor;
    progress.negative_curvature = progress.negative_curvature || negative;
    const double slope = static_cast<double>(narrow_g_[std::size_t(j)]) - static_cast<double>(gi);
    const double t =
        take_step(i, j, slope, negative ? curvature : std::max(curvature, floor), progress);
    progress.work += work;
    if (!(t > 0 && t < kLargest)) {
      progress.narrow = false;
      break;
    }
    for (const Index k : {i, j}) {
      narrow_up_[std::size_t(k)] = static_cast<float>(up_[std::size_t(k)]);
      narrow_low_[std::size_t(k)] = static_cast<float>(low_[std::size_t(k)]);
    }
    ends = kernels.step_and_scan(stride_, static_cast<float>(t), ci, narrow_column(j),
                                 narrow_g_.data(), narrow_up_.data(), narrow_low_.data());
  }
  if (progress.narrow && !(ends.highest - ends.lowest > tolerance)) return true;
  leave_narrow(before);
  progress.stalled = false;
  return false;
}

}  // namespace kith::dual
