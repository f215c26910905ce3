// SPDX-License-Identifier: Apache-2.0
#include "optim/mkl/check.hpp"

#include <fmt/format.h>

#include <string>

#include "optim/engine/box.hpp"

namespace kith::mkl {

using engine::refuse;

void check_machine(std::span<const Matrix> kernels, const Vector& y, const Vector& cost) {
  const Index n = y.size();
  if (kernels.empty()) refuse("a combination of kernels needs at least one kernel");
  engine::check_signs(y, cost, n);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    engine::check_square(fmt::format("kernel {}", i), kernels[i], n);
  }
}

}  // namespace kith::mkl
