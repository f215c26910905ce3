// SPDX-License-Identifier: Apache-2.0
#include "optim/mkl/check.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "kith/core/error.hpp"

namespace kith::mkl {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kInvalidArgument, message);
}

}  // namespace

void check_machine(std::span<const Matrix> kernels, const Vector& y, const Vector& cost) {
  const Index n = y.size();
  if (kernels.empty()) refuse("a combination of kernels needs at least one kernel");
  if (cost.size() != n) refuse(fmt::format("{} costs for {} labels", cost.size(), n));
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const Matrix& K = kernels[i];
    if (K.rows() != n || K.cols() != n) {
      refuse(fmt::format("kernel {} is {} x {}; there are {} labels", i, K.rows(), K.cols(), n));
    }
    if (!K.allFinite()) refuse(fmt::format("kernel {} is not finite", i));
  }
  for (Index j = 0; j < n; ++j) {
    if (y[j] != 1 && y[j] != -1) {
      refuse(fmt::format("y[{}] = {}; a label is +1 or -1", j, y[j]));
    }
    if (!(cost[j] > 0) || !std::isfinite(cost[j])) {
      refuse(fmt::format("cost[{}] = {}; a cost is finite and above 0", j, cost[j]));
    }
  }
  if (n == 0 || y.minCoeff() == y.maxCoeff()) refuse("the labels must have both classes");
}

}  // namespace kith::mkl
