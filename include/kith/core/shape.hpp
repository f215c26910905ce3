// SPDX-License-Identifier: Apache-2.0
// What is asked of the shape of a matrix.
#pragma once

#include <string_view>

#include "kith/core/types.hpp"

namespace kith {

/// Throws Error(kInvalidArgument) "WHAT is R x C; it must be square" unless it is.
void check_square(std::string_view what, Index rows, Index cols);

}  // namespace kith
