// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kith/core/types.hpp"

namespace kith::mkl {

/// Throws Error(kInvalidArgument) naming the first thing that is not as stated: at least one
/// kernel, each n x n and finite, labels +1 and -1 of both classes, finite costs above 0.
void check_machine(std::span<const Matrix> kernels, const Vector& y, const Vector& cost);

}  // namespace kith::mkl
